"""A transport for httpx that makes any SDK or framework on it read calls in text.

    client = AsyncOpenAI(http_client=httpx.AsyncClient(transport=toolglot.AsyncTransport(mode="text")))

Requests to ``/chat/completions``, ``/responses`` and ``/messages`` go through a :class:`toolglot.Transcoder`; every other
request goes through untouched. Neither httpx nor httpx2 is imported: the module is that of the request which comes.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator
from types import ModuleType
from typing import Any, Literal

from ._asked import as_asked
from ._core import TranscodedStream, Transcoder, Translation
from ._stream import passed_on
from .errors import BadOptionError, WireError

__all__ = ["AsyncTransport", "Transport", "wrap"]

_APIS: dict[str, Literal["chat", "responses", "anthropic"]] = {
    "/chat/completions": "chat",
    "/responses": "responses",
    "/messages": "anthropic",
}
# The body is another one, and was decoded; a new length and a new encoding are its own.
_OF_THE_BODY = frozenset({"content-length", "content-encoding", "transfer-encoding", "etag"})


class _Transcodes:
    """What both transports share: which requests are read, and what becomes of requests and answers."""

    def __init__(
        self,
        transport: Any = None,
        *,
        backend: Literal["chat", "responses", "anthropic", "gemini"] | None = None,
        **options: Any,
    ) -> None:
        self._transport = transport
        self._backend = backend
        self._options = {"show_errors": True, **options}
        # Made now for its errors.
        self._transcoders = {api: Transcoder(api, backend or api, **self._options) for api in _APIS.values()}

    def _transcoder(self, request: Any) -> Transcoder | None:
        if request.method != "POST":
            return None
        path = request.url.path.rstrip("/")
        return next((self._transcoders[api] for end, api in _APIS.items() if path.endswith(end)), None)

    def _inner(self, request: Any, name: str) -> Any:
        if self._transport is None:
            self._transport = getattr(_module(request), name)()
        return self._transport

    def _translated(self, request: Any, transcoder: Transcoder, body: bytes) -> tuple[Translation, Any]:
        """The translation, and the request for the backend."""
        translation = transcoder.request(body)
        path = request.url.path.rstrip("/")
        url = request.url
        if transcoder.backend != transcoder.client:
            end = next(end for end in _APIS if path.endswith(end))
            raw, _, query = translation.path.partition("?")
            url = url.copy_with(path=path[: -len(end)] + raw, query=query.encode() or None)
        headers = [(name, value) for name, value in request.headers.raw if name.lower() != b"content-length"]
        if transcoder.backend != transcoder.client and request.headers.get("x-api-key"):
            # Anthropic's clients say their key in a header of their own.
            headers.append((b"authorization", b"Bearer " + request.headers["x-api-key"].encode()))
        module = _module(request)
        sent = module.Request(
            request.method, url, headers=headers, content=translation.body, extensions=dict(request.extensions)
        )
        return translation, sent

    def _refused(self, request: Any, error: WireError) -> Any:
        headers = {"content-type": "application/json"}
        return _module(request).Response(error.status, headers=headers, content=error.body, request=request)

    def _whole(self, request: Any, translation: Translation, response: Any, body: bytes) -> Any:
        answered = translation.answer(body, response.status_code)
        headers = [(name, value) for name, value in response.headers.multi_items() if name not in _OF_THE_BODY]
        headers = [(name, value) for name, value in headers if name != "content-type"]
        content, kind = as_asked(translation, answered, body)
        headers.append(("content-type", kind))
        module = _module(request)
        return module.Response(answered.status, headers=headers, content=content, extensions=response.extensions)

    def _streamed(self, request: Any, response: Any, stream: Any) -> Any:
        headers = [(name, value) for name, value in response.headers.multi_items() if name not in _OF_THE_BODY]
        return _module(request).Response(200, headers=headers, stream=stream, extensions=response.extensions)


def _module(value: Any) -> ModuleType:
    """httpx, or what newer SDKs have in its place: the package whose class ``value`` is of, or of one derived from that."""
    for known in type(value).__mro__:
        module = sys.modules.get(known.__module__.partition(".")[0])
        if module is not None and hasattr(module, "HTTPTransport"):
            return module
    raise BadOptionError(f"{type(value).__name__} is not a class of httpx", "transport")


def _streams(translation: Translation, response: Any) -> bool:
    kind = response.headers.get("content-type", "")
    return translation.is_stream and response.status_code == 200 and not kind.startswith("application/json")


class Transport(_Transcodes):
    """A transport for ``httpx.Client`` (or ``httpx2.Client``) that has the calls in a model's text made native.

    Args:
        transport: What sends the requests; by default the module's own ``HTTPTransport``.
        backend: The API that the server speaks, if it is not that of the client: ``"chat"``, ``"responses"``,
            ``"anthropic"`` or ``"gemini"``.
        options: Those of :class:`toolglot.Transcoder`: ``mode``, ``dialect``, ``policy``, ``starts_in``, ...

    >>> import httpx, json, toolglot
    >>> def server(request):
    ...     message = {"content": '<tool_call>{"name": "ls", "arguments": {}}</tool_call>'}
    ...     return httpx.Response(200, json={"choices": [{"message": message, "finish_reason": "stop"}]})
    >>> client = httpx.Client(transport=toolglot.Transport(httpx.MockTransport(server)))
    >>> tools = [{"type": "function", "function": {"name": "ls"}}]
    >>> request = {"model": "m", "messages": [{"role": "user", "content": "?"}], "tools": tools}
    >>> answer = client.post("http://model/v1/chat/completions", json=request).json()
    >>> answer["choices"][0]["message"]["tool_calls"][0]["function"]["name"]
    'ls'
    """

    def handle_request(self, request: Any) -> Any:
        """Send a request."""
        inner = self._inner(request, "HTTPTransport")
        transcoder = self._transcoder(request)
        if transcoder is None:
            return inner.handle_request(request)
        try:
            translation, sent = self._translated(request, transcoder, request.read())
        except WireError as error:
            return self._refused(request, error)
        response = inner.handle_request(sent)
        if _streams(translation, response):
            stream = _body(_module(request), response, translation.stream())
            return self._streamed(request, response, stream)
        body = response.read()
        response.close()
        return self._whole(request, translation, response, body)

    def close(self) -> None:
        """Close the transport beneath."""
        if self._transport is not None:
            self._transport.close()

    def __enter__(self) -> Transport:
        if self._transport is not None:
            self._transport.__enter__()
        return self

    def __exit__(self, *exception: Any) -> None:
        self.close()


class AsyncTransport(_Transcodes):
    """As :class:`Transport`, for ``httpx.AsyncClient`` (or ``httpx2.AsyncClient``)."""

    async def handle_async_request(self, request: Any) -> Any:
        """Send a request."""
        inner = self._inner(request, "AsyncHTTPTransport")
        transcoder = self._transcoder(request)
        if transcoder is None:
            return await inner.handle_async_request(request)
        try:
            translation, sent = self._translated(request, transcoder, await request.aread())
        except WireError as error:
            return self._refused(request, error)
        response = await inner.handle_async_request(sent)
        if _streams(translation, response):
            stream = _async_body(_module(request), response, translation.stream())
            return self._streamed(request, response, stream)
        body = await response.aread()
        await response.aclose()
        return self._whole(request, translation, response, body)

    async def aclose(self) -> None:
        """Close the transport beneath."""
        if self._transport is not None:
            await self._transport.aclose()

    async def __aenter__(self) -> AsyncTransport:
        if self._transport is not None:
            await self._transport.__aenter__()
        return self

    async def __aexit__(self, *exception: Any) -> None:
        await self.aclose()


def _body(module: Any, response: Any, stream: TranscodedStream) -> Any:
    """The body of a streamed response: a class of the module's, which is known only now."""

    def pieces(_: Any) -> Iterator[bytes]:
        for chunk in response.iter_bytes():
            if out := stream.feed(chunk):
                yield out
            if stream.is_over:
                return
        if out := stream.finish():
            yield out

    def close(_: Any) -> None:
        response.close()

    return type("Body", (module.SyncByteStream,), {"__iter__": pieces, "close": close})()


def _async_body(module: Any, response: Any, stream: TranscodedStream) -> Any:
    def pieces(_: Any) -> AsyncIterator[bytes]:
        # What breaks off is an error of the SDK's.
        return passed_on(stream, response.aiter_bytes(), errors=())

    async def aclose(_: Any) -> None:
        await response.aclose()

    return type("Body", (module.AsyncByteStream,), {"__aiter__": pieces, "aclose": aclose})()


def wrap(client: Any, **options: Any) -> Any:
    """A copy of an SDK's client (openai, anthropic, and those that are built as they are) that reads calls in text.

    Args:
        client: ``OpenAI``, ``AsyncOpenAI``, ``Anthropic``, ``AsyncAnthropic``. It stays as it is, and shares its connections
            with the copy.
        options: Those of :class:`Transport`.

    Raises:
        BadOptionError: The client has no transport of httpx's kind.

    As ``client = toolglot.wrap(openai.OpenAI(base_url="http://localhost:8000/v1", api_key="-"), mode="text")``.
    """
    http = getattr(client, "_client", None)
    inner = getattr(http, "_transport", None)
    copy = getattr(client, "with_options", None)
    if http is None or inner is None or copy is None:
        raise BadOptionError("client is an SDK's client that is built on httpx (openai, anthropic)", "client")
    module = _module(http)
    asynchronous = isinstance(http, module.AsyncClient)
    made = module.AsyncClient if asynchronous else module.Client
    transport = (AsyncTransport if asynchronous else Transport)(inner, **options)
    return copy(
        http_client=made(
            transport=transport, base_url=http.base_url, timeout=http.timeout, follow_redirects=http.follow_redirects
        )
    )
