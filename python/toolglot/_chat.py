"""Chat Completions as dicts, and the transcoder over them: what the router's request, response and stream share."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, Literal
from uuid import uuid4

from ._core import Transcoder, Translation
from .errors import BadToolError, WireError

__all__ = ["MORE_CALLS", "as_dict", "as_json", "asks_with_functions", "error_body", "new_id", "translation"]

MORE_CALLS = "the client asked with `functions`, which means one call an answer: further calls were left out"
"""Logged where a client cannot be given all calls."""


def error_body(message: str, *, code: str | None = None, param: str | None = None, type: str | None = None) -> Any:
    """An error as OpenAI's API words it.

    >>> from toolglot.router import error_body
    >>> error_body("No.", code="invalid_tool_schema", param="tools")["error"]["type"]
    'invalid_request_error'
    """
    kind = type if type is not None else "invalid_request_error"
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def as_dict(value: Any) -> dict[str, Any]:
    """Return a request or response as a new dict: a shallow copy of dicts and plain objects, the dump of pydantic models."""
    if isinstance(value, Mapping):
        return dict(value)
    dump = getattr(value, "model_dump", None) or getattr(value, "to_dict", None)
    if dump is None and isinstance(value, SimpleNamespace):
        return dict(vars(value))
    if dump is None and dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if dump is None:
        raise TypeError(f"a dict, a dataclass or an object with model_dump is needed, not {type(value).__name__}")
    # Fields that the client did not send must not reach the backend as null.
    return dict(dump(exclude_unset=True)) if hasattr(value, "model_dump") else dict(dump())


def as_json(body: Any) -> str:
    """The JSON of a request or response that may hold SDKs' objects."""
    return json.dumps(body, default=as_dict)


def asks_with_functions(body: Mapping[str, Any]) -> bool:
    """Whether the client has ``functions``, as before there were ``tools``: it reads a ``function_call``."""
    return bool(body.get("functions")) and not body.get("tools")


def translation(body: dict[str, Any], *, mode: Literal["native", "text"] = "native", **options: Any) -> Translation:
    """Return the translation that reads the answer to a request; the request is not validated.

    Raises:
        BadToolError: One of its tools cannot be read.
    """
    transcoder = Transcoder("chat", "chat", mode=mode, validate=False, **options)
    try:
        return transcoder.request(as_json(body))
    except WireError as error:
        raise BadToolError(error.message, error.param) from None


def new_id() -> str:
    """An id that no other call has."""
    return f"call_{uuid4().hex[:24]}"
