"""Chat Completions, Responses and Messages in an application of FastAPI's, in front of one backend."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, Literal

from ._asked import as_asked
from ._core import Transcoder, Translation, Turn
from ._stream import note_outcome, passed_on
from .errors import WireError

__all__ = ["create_app", "create_router"]

_log = logging.getLogger("toolglot.router")
_JSON = "application/json"
_PATHS: dict[str, Literal["chat", "responses", "anthropic"]] = {
    "/v1/chat/completions": "chat",
    "/v1/responses": "responses",
    "/v1/messages": "anthropic",
}
# What a backend of Anthropic's API reads of a client's headers, beside its key.
_PASSED = ("anthropic-version", "anthropic-beta", "x-request-id")

OnRequest = Callable[[Any, Translation], Awaitable[None] | None]
OnTurn = Callable[[Turn, Translation], Awaitable[None] | None]


class _Httpx:
    """Sends with httpx."""

    def __init__(self, client: Any, limits: dict[str, Any]) -> None:
        import httpx

        self.errors: tuple[type[Exception], ...] = (httpx.HTTPError, httpx.StreamError)
        self._own = client is None
        self._client = (
            client
            if client is not None
            else httpx.AsyncClient(
                timeout=httpx.Timeout(limits["timeout"], connect=limits["connect_timeout"]),
                limits=httpx.Limits(
                    max_connections=limits["max_connections"], max_keepalive_connections=limits["max_connections"]
                ),
            )
        )

    async def send(self, method: str, url: str, headers: dict[str, str], body: bytes | None) -> Any:
        request = self._client.build_request(method, url, headers=headers, content=body)
        response = await self._client.send(request, stream=True)
        return response.status_code, response.aiter_bytes(), response.aclose

    async def close(self) -> None:
        if self._own:
            await self._client.aclose()


class _Aiohttp:
    """Sends with a session of aiohttp's."""

    def __init__(self, session: Any) -> None:
        import aiohttp

        self.errors: tuple[type[Exception], ...] = (aiohttp.ClientError, TimeoutError)
        self._session = session

    async def send(self, method: str, url: str, headers: dict[str, str], body: bytes | None) -> Any:
        response = await self._session.request(method, url, headers=headers, data=body)

        async def close() -> None:
            response.close()

        return response.status, response.content.iter_any(), close

    async def close(self) -> None:
        """It is the application's own."""


def create_router(
    backend: str,
    *,
    backend_api: Literal["chat", "responses", "anthropic", "gemini"] = "chat",
    api_key: str | None = None,
    client: Any = None,
    timeout: float = 600,
    connect_timeout: float = 10,
    max_connections: int = 200,
    silence: float = 10,
    max_answer: int = 32 * 1024 * 1024,
    on_request: OnRequest | None = None,
    on_turn: OnTurn | None = None,
    **options: Any,
) -> Any:
    """A router of FastAPI's that speaks Chat Completions, Responses and Messages in front of one backend.

    Needs ``pip install toolglot[router]``. It serves ``/v1/chat/completions``, ``/v1/responses``, ``/v1/messages``,
    ``/v1/messages/count_tokens`` (an estimate) and ``/v1/models`` (the backend's own answer). It asks no client for a key: include
    it with ``dependencies=[Depends(...)]`` for that.

    Args:
        backend: The backend's base URL, with its version: ``"http://localhost:8000/v1"``.
        backend_api: The API that it speaks.
        api_key: The backend's key; without one, the client's own is passed on.
        client: What sends the requests, an ``httpx.AsyncClient`` or an ``aiohttp.ClientSession`` of yours, with its own
            limits; by default an httpx client with connections that are kept.
        timeout: Seconds of silence after which the backend is given up.
        connect_timeout: Seconds to connect.
        max_connections: Connections to the backend at one time.
        silence: Seconds after which a client whose stream has not begun gets a comment that keeps it waiting: the Claude CLI
            gives up after 20.
        max_answer: Bytes that a whole answer may have, unpacked.
        on_request: Called with the client's request (FastAPI's) and its :class:`toolglot.Translation` before it is sent. To
            refuse it, raise FastAPI's ``HTTPException``.
        on_turn: Called with the :class:`toolglot.Turn` that was read and the translation, after an answer.
        options: Those of :class:`toolglot.Transcoder`: ``mode``, ``dialect``, ``policy``, ``show_errors``, ...
    """
    from fastapi import APIRouter, Request
    from fastapi.responses import JSONResponse, Response, StreamingResponse

    transcoders = {path: Transcoder(api, backend_api, **options) for path, api in _PATHS.items()}
    limits = {"timeout": timeout, "connect_timeout": connect_timeout, "max_connections": max_connections}
    sender: Any = None

    def sending() -> Any:
        # Made where the event loop is.
        nonlocal sender
        if sender is None:
            own = client is not None and type(client).__module__.startswith("aiohttp")
            sender = _Aiohttp(client) if own else _Httpx(client, limits)
        return sender

    @contextlib.asynccontextmanager
    async def lifespan(_: Any) -> AsyncIterator[None]:
        yield
        if sender is not None:
            await sender.close()

    router = APIRouter(lifespan=lifespan)
    base = backend.rstrip("/")

    def headers_of(request: Any) -> dict[str, str]:
        headers = {"content-type": _JSON}
        bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
        key = api_key or request.headers.get("x-api-key") or bearer
        if key:
            names = {"anthropic": "x-api-key", "gemini": "x-goog-api-key"}
            name = names.get(backend_api, "authorization")
            headers[name] = f"Bearer {key}" if name == "authorization" else key
        if backend_api == "anthropic":
            headers["anthropic-version"] = "2023-06-01"
            headers.update({name: request.headers[name] for name in _PASSED if name in request.headers})
        return headers

    async def answer(transcoder: Transcoder, request: Any) -> Any:
        try:
            translation = transcoder.request(await request.body())
        except WireError as error:
            return Response(error.body, error.status, media_type=_JSON)
        if on_request is not None:
            await _called(on_request, request, translation)
        out = sending()
        try:
            status, chunks, close = await out.send(
                "POST", base + translation.path, headers_of(request), translation.body
            )
        except out.errors:
            _log.exception("the backend does not answer")
            unreachable = translation.unreachable()
            return Response(unreachable.body, unreachable.status, media_type=_JSON)
        if translation.is_stream and status == 200:
            stream = translation.stream()

            async def over() -> None:
                note_outcome(stream)
                await _report(on_turn, stream.turn, translation)

            body = passed_on(stream, _or_silence(chunks, silence), over=over, close=close)
            return StreamingResponse(body, media_type="text/event-stream", headers={"cache-control": "no-cache"})
        try:
            whole = await _joined(chunks, max_answer)
        except out.errors:
            _log.exception("the backend's answer broke off")
            whole, status = b"", 502
        finally:
            await close()
        answered = translation.answer(whole, status)
        if answered.error is not None:
            _log.error("the backend's answer is %s: %.2000s", answered.error, answered.detail)
        await _report(on_turn, answered.turn, translation)
        # A message quotes what the model wrote, and a header is one line of ASCII.
        issues = "; ".join(issue.message for issue in answered.issues)[:1000]
        headers = {"x-toolglot-issues": ascii(issues)[1:-1]} if issues else {}
        content, kind = as_asked(translation, answered, whole)
        return Response(content, answered.status, headers=headers, media_type=kind)

    def endpoint(transcoder: Transcoder) -> Any:
        async def answered(request: Any) -> Any:
            return await answer(transcoder, request)

        return answered

    async def count_tokens(request: Any) -> Any:
        # Four bytes a token: an estimate, and marked as one.
        return JSONResponse({"input_tokens": max(1, len(await request.body()) // 4), "estimated": True})

    async def models(request: Any) -> Any:
        out = sending()
        try:
            status, chunks, close = await out.send("GET", f"{base}/models", headers_of(request), None)
        except out.errors:
            _log.exception("the backend does not answer")
            return Response(b'{"error": {"message": "The backend does not answer."}}', 502, media_type=_JSON)
        try:
            return Response(await _joined(chunks, max_answer), status, media_type=_JSON)
        finally:
            await close()

    def add(path: str, handler: Any, method: str) -> None:
        # FastAPI's own routes, so that the dependencies of whoever includes the router count (an API key's). They take the
        # request alone: its bytes are read here, and by nobody else.
        handler.__annotations__ = {"request": Request}
        router.add_api_route(path, handler, methods=[method], response_model=None)

    for path, transcoder in transcoders.items():
        add(path, endpoint(transcoder), "POST")
    add("/v1/messages/count_tokens", count_tokens, "POST")
    add("/v1/models", models, "GET")
    return router


def create_app(backend: str, **options: Any) -> Any:
    """An application of FastAPI's with :func:`create_router` in it, and nothing else: ``uvicorn`` runs it.

    Args:
        backend: The backend's base URL.
        options: Those of :func:`create_router`.
    """
    from fastapi import FastAPI
    from fastapi.responses import Response

    app = FastAPI(title="toolglot")
    app.include_router(create_router(backend, **options))

    async def alive(_: Any) -> Any:
        return Response(b'{"ok": true}', media_type=_JSON)

    # Claude Code asks whether anybody is there.
    app.add_route("/", alive, methods=["GET", "HEAD"])
    return app


async def _called(hook: Callable[..., Any], *arguments: Any) -> None:
    result = hook(*arguments)
    if inspect.isawaitable(result):
        await result


async def _report(on_turn: OnTurn | None, turn: Turn | None, translation: Translation) -> None:
    """Give the application the turn. What goes wrong with that is no concern of the client's, who has its answer."""
    if on_turn is None or turn is None:
        return
    try:
        await _called(on_turn, turn, translation)
    except Exception:
        _log.exception("on_turn failed")


async def _joined(chunks: AsyncIterator[bytes], most: int) -> bytes:
    """The body; nothing, which is no answer, where it is too long: a small body may unpack to gigabytes."""
    body = bytearray()
    async for chunk in chunks:
        body += chunk
        if len(body) > most:
            _log.error("the backend's answer has more than %d bytes", most)
            return b""
    return bytes(body)


async def _or_silence(chunks: Any, seconds: float) -> AsyncIterator[bytes | None]:
    """The chunks; before the first, while the model reads the prompt, None for each so many seconds of silence."""
    iterator = aiter(chunks)
    first = asyncio.ensure_future(anext(iterator, None))
    try:
        while not (await asyncio.wait({first}, timeout=seconds))[0]:
            yield None
        chunk = first.result()
    finally:
        first.cancel()
    if chunk is not None:
        yield chunk
        async for chunk in iterator:
            yield chunk
