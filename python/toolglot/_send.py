"""Sending the requests of an exchange: over httpx, through the client of an SDK, or by a function of the caller's."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

from .errors import BadOptionError

__all__ = ["Answer", "AsyncAnswer", "BrokenError", "Request", "Target", "target"]


@dataclass(frozen=True)
class Request:
    """A POST to a model, as a function in place of an HTTP client gets it.

    Attributes:
        url: Where it goes.
        headers: All headers, that of the key as well.
        body: JSON.
        seconds: How long it may take.
    """

    url: str
    headers: Mapping[str, str]
    body: bytes
    seconds: float

    @property
    def json(self) -> Any:
        """The body as a value."""
        return json.loads(self.body)


class BrokenError(Exception):
    """No answer came, or it broke off."""


@dataclass
class Answer:
    """An answer, read in pieces."""

    status: int
    headers: Mapping[str, str]
    pieces: Iterator[bytes]


@dataclass
class AsyncAnswer:
    """An answer, read in pieces."""

    status: int
    headers: Mapping[str, str]
    pieces: AsyncIterator[bytes]


@dataclass
class Target:
    """What the caller gave in place of a base URL and a key: an HTTP client, an SDK's, or a function."""

    http: Any = None
    call: Callable[[Request], Any] | None = None
    base_url: str | None = None
    provider: str | None = None
    headers: Mapping[str, str] | None = None

    @property
    def owned(self) -> bool:
        """Whether the HTTP client is to be made here."""
        return self.http is None and self.call is None


# The package of an SDK, and the provider that its client asks.
_SDKS = {"openai": "openai", "anthropic": "anthropic"}


def target(client: Any, *, asynchronous: bool) -> Target:
    """Return what `client` stands for.

    Raises:
        BadOptionError: It is nothing that sends requests, or of the other colour.
    """
    if client is None:
        return Target()
    package = type(client).__module__.split(".")[0]
    if library(client) is not None:
        _same_colour(client, hasattr(client, "aclose"), asynchronous)
        return Target(http=client)
    if package in _SDKS:
        _same_colour(client, hasattr(getattr(client, "_client", None), "aclose"), asynchronous)
        # Its base URL, headers and key are public; the pool of connections is the one that it was made with.
        headers = {
            name: value
            for name, value in {**client.default_headers, **client.auth_headers}.items()
            if isinstance(value, str) and name.lower() not in ("content-type", "accept")
        }
        return Target(http=client._client, base_url=str(client.base_url), provider=_SDKS[package], headers=headers)
    if package == "google" and hasattr(client, "_api_client"):
        return _google(client, asynchronous)
    if callable(client):
        return Target(call=client)
    raise BadOptionError(
        f"an httpx client, a client of openai, anthropic or google-genai, or a function is needed, not {type(client).__name__}",
        "client",
    )


def _google(client: Any, asynchronous: bool) -> Target:
    api = client._api_client
    options = api._http_options
    if api.vertexai or not api.api_key:
        raise BadOptionError(
            "a google-genai client with an API key is needed; for Vertex give base_url and headers", "client"
        )
    http = api._async_httpx_client if asynchronous else api._httpx_client
    base = f"{str(options.base_url).rstrip('/')}/{options.api_version or 'v1beta'}"
    return Target(http=http, base_url=base, provider="gemini", headers={"x-goog-api-key": api.api_key})


def _same_colour(client: Any, is_async: bool, asynchronous: bool) -> None:
    if is_async != asynchronous:
        wanted = "an async one for Client" if asynchronous else "one that is not async for SyncClient"
        raise BadOptionError(f"{type(client).__name__}: {wanted} is needed", "client")


# The SDKs went from httpx to its successor, whose clients are used alike.
_LIBRARIES = ("httpx", "httpx2")


def library(http: Any) -> Any:
    """Return the module that an HTTP client is of; None if it is none that is known."""
    for kind in type(http).__mro__:
        name = kind.__module__.split(".")[0]
        if name in _LIBRARIES:
            return importlib.import_module(name)
    return None


def own_library() -> Any:
    """Return the module of which HTTP clients are made.

    Raises:
        BadOptionError: None is installed.
    """
    for name in _LIBRARIES:
        try:
            return importlib.import_module(name)
        except ImportError:
            pass
    raise BadOptionError("without `client`, httpx is needed: pip install toolglot[client]", "client")


def _body(body: Any) -> Any:
    """The body of a function's answer: bytes, or pieces of it as they are."""
    if isinstance(body, str):
        return body.encode()
    if isinstance(body, dict):
        return json.dumps(body).encode()
    return body


def _parts(answer: Any) -> tuple[int, Mapping[str, str], Any]:
    try:
        status, headers, body = answer
    except (TypeError, ValueError):
        message = f"the function returns (status, headers, body), not {type(answer).__name__}"
        raise BadOptionError(message, "client") from None
    return int(status), headers or {}, _body(body)


@contextmanager
def opened(target: Target, request: Request) -> Iterator[Answer]:
    """Send a request and give its answer, closed afterwards.

    Raises:
        BrokenError: There is none.
    """
    if target.call is not None:
        try:
            status, headers, body = _parts(target.call(request))
        except OSError as error:
            raise BrokenError(str(error) or type(error).__name__) from error
        yield Answer(status, headers, iter([body] if isinstance(body, bytes) else body))
        return
    http = library(target.http)
    timeout = http.Timeout(request.seconds, connect=min(request.seconds, 10.0))
    try:
        sent = {"content": request.body, "headers": dict(request.headers), "timeout": timeout}
        with target.http.stream("POST", request.url, **sent) as response:
            yield Answer(response.status_code, response.headers, response.iter_bytes())
    except http.HTTPError as error:
        raise BrokenError(f"{type(error).__name__}: {error}") from error


@asynccontextmanager
async def opened_async(target: Target, request: Request) -> AsyncIterator[AsyncAnswer]:
    """As :func:`opened`."""
    if target.call is not None:
        try:
            answer = target.call(request)
            if inspect.isawaitable(answer):
                answer = await asyncio.wait_for(answer, request.seconds)
        except (TimeoutError, asyncio.TimeoutError) as error:
            raise BrokenError(f"no answer within {request.seconds:g} seconds") from error
        except OSError as error:
            raise BrokenError(str(error) or type(error).__name__) from error
        status, headers, body = _parts(answer)
        yield AsyncAnswer(status, headers, _async_pieces(body))
        return
    http = library(target.http)
    timeout = http.Timeout(request.seconds, connect=min(request.seconds, 10.0))
    try:
        sent = {"content": request.body, "headers": dict(request.headers), "timeout": timeout}
        async with target.http.stream("POST", request.url, **sent) as response:
            yield AsyncAnswer(response.status_code, response.headers, response.aiter_bytes())
    except http.HTTPError as error:
        raise BrokenError(f"{type(error).__name__}: {error}") from error


async def _async_pieces(body: Any) -> AsyncIterator[bytes]:
    if isinstance(body, bytes):
        yield body
    elif hasattr(body, "__aiter__"):
        async for piece in body:
            yield _body(piece)
    else:
        for piece in body:
            yield _body(piece)
