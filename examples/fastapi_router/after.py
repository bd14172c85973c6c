"""The same router with toolglot: no regular expressions, the stream streams, and clients of three APIs are served."""

from __future__ import annotations

import logging
from typing import Literal

from fastapi import FastAPI

import toolglot
from toolglot import router

log = logging.getLogger(__name__)


def create_app(backend: str, mode: Literal["native", "text"] = "native", dialect: str = "hermes") -> FastAPI:
    """``mode`` says whether the backend takes ``tools`` itself; calls in text are found with both."""

    async def count(turn: toolglot.Turn, asked: toolglot.Translation) -> None:
        log.info("%s: %d calls, read from %s", asked.model, len(turn.tool_calls), turn.source)

    # In text mode the model is told how to call, and answers so.
    app: FastAPI = router.create_app(
        backend, mode=mode, dialect=dialect if mode == "text" else "auto", timeout=300, on_turn=count
    )
    return app
