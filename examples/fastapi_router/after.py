"""The same router with toolglot: no regular expressions, and the stream streams."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator
from typing import Any, Literal

import httpx
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, ConfigDict

from toolglot.errors import ProviderError
from toolglot.router import (
    RequestError,
    error_body,
    read_answer,
    stream_with_tool_detection,
    transform_request,
    transform_response_with_tools,
)


class ChatRequest(BaseModel):
    model_config = ConfigDict(extra="allow")

    model: str
    messages: list[dict[str, Any]]
    stream: bool = False
    tools: list[dict[str, Any]] | None = None


def create_app(backend: str, mode: Literal["native", "text"] = "native", dialect: str = "hermes") -> FastAPI:
    """``mode`` says whether the backend takes ``tools`` itself; calls in text are found with both."""

    @contextlib.asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await http.aclose()

    app = FastAPI(lifespan=lifespan)
    http = httpx.AsyncClient(timeout=httpx.Timeout(300, connect=10))
    url = f"{backend}/chat/completions"

    @app.exception_handler(RequestError)
    async def refuse(_: Any, error: RequestError) -> JSONResponse:
        return JSONResponse(error.body, status_code=error.status)

    @app.exception_handler(RequestValidationError)
    async def malformed(_: Any, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = ".".join(str(step) for step in first["loc"][1:])
        return JSONResponse(error_body(first["msg"], code="invalid_value", param=where), status_code=400)

    @app.exception_handler(httpx.HTTPError)
    @app.exception_handler(json.JSONDecodeError)
    @app.exception_handler(ProviderError)
    async def unreachable(_: Any, error: Exception) -> JSONResponse:
        return JSONResponse(error_body("The backend does not answer.", type="server_error"), status_code=502)

    @app.exception_handler(Exception)
    async def failed(_: Any, error: Exception) -> JSONResponse:
        return JSONResponse(error_body("The request failed.", type="server_error"), status_code=500)

    @app.post("/v1/chat/completions")
    async def chat(request: ChatRequest) -> Any:
        payload = transform_request(request, mode=mode, dialect=dialect)
        sent = http.build_request("POST", url, json=payload)
        answer = await http.send(sent, stream=True)
        if request.stream and answer.is_success:
            stream = stream_with_tool_detection(answer, request)
            return StreamingResponse(stream, media_type="text/event-stream")
        try:
            body = await read_answer(answer)
        finally:
            await answer.aclose()
        if answer.is_success:
            body = transform_response_with_tools(body, request)
        return JSONResponse(body, status_code=answer.status_code)

    return app
