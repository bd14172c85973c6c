"""Sending the requests of an exchange: over httpx, through the client of an SDK, or by a function of the caller's."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import json
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, AbstractContextManager, suppress
from dataclasses import dataclass
from typing import Any

from .errors import BadOptionError

__all__ = ["AsyncIo", "BrokenError", "Io", "Request", "Target", "target"]


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


class Io:
    """What a turn needs of the outside: sends one request at a time, and reads its answer piece by piece.

    Each method may raise :class:`BrokenError`.
    """

    def __init__(self, target: Target) -> None:
        self._target = target
        self._pieces: Iterator[bytes] = iter(())
        self._opened: AbstractContextManager[Any] | None = None

    def open(self, request: Request) -> tuple[int, Mapping[str, str]]:
        """Send a request, and return the status and the headers of its answer."""
        self.close()
        if self._target.call is not None:
            try:
                status, headers, body = _parts(self._target.call(request))
            except OSError as error:
                raise BrokenError(str(error) or type(error).__name__) from error
            self._pieces = iter([body] if isinstance(body, bytes) else map(_body, body))
            return status, headers
        try:
            opened = self._target.http.stream("POST", request.url, **_sent(self._target.http, request))
            response = opened.__enter__()
        except Exception as error:
            raise _own(error, self._target.http) from error
        self._opened, self._pieces = opened, response.iter_bytes()
        return response.status_code, response.headers

    def read(self) -> bytes | None:
        """Return the next piece of the answer; None behind the last one."""
        try:
            return next(self._pieces, None)
        except Exception as error:
            raise _own(error, self._target.http) from error

    def close(self) -> None:
        """Close the connection of the answer, if one is open."""
        opened, self._opened, self._pieces = self._opened, None, iter(())
        if opened is not None:
            with suppress(library(self._target.http).HTTPError):
                opened.__exit__(None, None, None)

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)

    def ask(self, method: str, url: str, body: Any, headers: Mapping[str, str], seconds: float) -> tuple[int, str]:
        """Return status and text of an answer; status 0 where there is none."""
        try:
            answer = self._target.http.request(method, url, json=body, headers=headers, timeout=seconds)
        except Exception:
            # Whether the server can be reached at all shows when the model is asked.
            return 0, ""
        return answer.status_code, answer.text


class AsyncIo:
    """As :class:`Io`."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._pieces: AsyncIterator[bytes] = _async_pieces(b"")
        self._opened: AbstractAsyncContextManager[Any] | None = None

    async def open(self, request: Request) -> tuple[int, Mapping[str, str]]:
        """As :meth:`Io.open`."""
        await self.close()
        if self._target.call is not None:
            try:
                answer = self._target.call(request)
                if inspect.isawaitable(answer):
                    answer = await asyncio.wait_for(answer, request.seconds)
            except (TimeoutError, asyncio.TimeoutError) as error:
                raise BrokenError(f"no answer within {request.seconds:g} seconds") from error
            except OSError as error:
                raise BrokenError(str(error) or type(error).__name__) from error
            status, headers, body = _parts(answer)
            self._pieces = _async_pieces(body)
            return status, headers
        try:
            opened = self._target.http.stream("POST", request.url, **_sent(self._target.http, request))
            response = await opened.__aenter__()
        except Exception as error:
            raise _own(error, self._target.http) from error
        self._opened, self._pieces = opened, response.aiter_bytes()
        return response.status_code, response.headers

    async def read(self) -> bytes | None:
        """As :meth:`Io.read`."""
        try:
            return await anext(self._pieces, None)
        except Exception as error:
            raise _own(error, self._target.http) from error

    async def close(self) -> None:
        """As :meth:`Io.close`."""
        opened, self._opened = self._opened, None
        if opened is not None:
            with suppress(library(self._target.http).HTTPError):
                await opened.__aexit__(None, None, None)

    async def sleep(self, seconds: float) -> None:
        """As :meth:`Io.sleep`."""
        await asyncio.sleep(seconds)

    async def ask(
        self, method: str, url: str, body: Any, headers: Mapping[str, str], seconds: float
    ) -> tuple[int, str]:
        """As :meth:`Io.ask`."""
        try:
            answer = await self._target.http.request(method, url, json=body, headers=headers, timeout=seconds)
        except Exception:
            return 0, ""
        return answer.status_code, answer.text


def _sent(http: Any, request: Request) -> dict[str, Any]:
    kind = library(http)
    timeout = kind.Timeout(request.seconds, connect=min(request.seconds, 10.0))
    return {"content": request.body, "headers": request.headers, "timeout": timeout}


def _own(error: Exception, http: Any) -> Exception:
    """The error of an HTTP library as one of our own; any other as it is."""
    kind = library(http)
    if kind is None or not isinstance(error, kind.HTTPError):
        return error
    return BrokenError(f"{type(error).__name__}: {error}")


async def _async_pieces(body: Any) -> AsyncIterator[bytes]:
    if isinstance(body, bytes):
        yield body
    elif hasattr(body, "__aiter__"):
        async for piece in body:
            yield _body(piece)
    else:
        for piece in body:
            yield _body(piece)
