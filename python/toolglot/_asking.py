"""What both clients have in common: all but the I/O. A turn is a generator of what is to be done, which either client carries out."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from . import _send
from ._core import Config, Endpoint, Event, Exchange, Step, ToolSet, Turn, _Probe
from ._stats import Stats
from ._telemetry import Chat
from .capability import CapabilityStore
from .errors import BadOptionError, ProviderError

__all__ = ["Asking", "Steps", "tool_set"]

Steps: TypeAlias = Generator["Event | Callable[[Any], Any]", Any, Turn]
"""The steps of a turn: an event for the caller, or a function to call with the I/O, whose result is sent back."""

_DEFAULT_STORE = CapabilityStore()

# How long a server may take to say what it can do.
_DISCOVERY_SECONDS = 3.0

# Servers that say what they can do, and that no list knows well.
_LOCAL = (None, "ollama", "lm_studio", "llama_cpp", "vllm", "sglang")


@dataclass(frozen=True)
class _Model:
    """A model to ask, as the caller named it."""

    model: str
    base_url: str | None = None
    provider: str = "auto"
    api_key: str | None = None


class Asking:
    """A client without its I/O."""

    _asynchronous = True

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        *,
        api_key: str | None = None,
        provider: str = "auto",
        client: Any = None,
        capabilities: CapabilityStore | None = None,
        config: Config | Any = None,
        escalate: Sequence[str | Mapping[str, Any]] = (),
        headers: Mapping[str, str] | None = None,
        discover: bool = True,
        seconds: float = 600.0,
        request_seconds: float = 300.0,
        max_connections: int = 100,
        **options: Any,
    ) -> None:
        """Make a client.

        Args:
            model: The model's id, as the server takes it.
            base_url: The server's base URL; without one, that of the provider's own API.
            api_key: The key. Without one, ``OPENAI_API_KEY``, ``ANTHROPIC_API_KEY`` and so on is read, where no base URL is given.
            provider: Whose API it is, as for :class:`toolglot.Endpoint`; "auto" tells by the base URL.
            client: What sends the requests: an ``httpx`` client, a client of openai, anthropic or google-genai (which brings
                base URL and key along), or a function that takes a Request and returns (status, headers, body). Without one,
                an ``httpx`` client is made (``pip install toolglot[client]``).
            capabilities: Where it is looked up and kept what routes can do; without one, in the memory of this process.
            config: A Config, or what makes one.
            escalate: Models to ask where this one led to nothing: ids, or dicts of ``model``, ``base_url``, ``provider``, ``api_key``.
            headers: Headers of all requests.
            discover: Whether a server that is not known is asked what it can do before its first request (llama.cpp's ``/props`` and
                such), which no model is asked for.
            seconds: How long a turn may take, all retries included.
            request_seconds: How long one request may take; between two pieces of a stream as well.
            max_connections: How many connections the ``httpx`` client that is made here may have.
            **options: Defaults of :meth:`complete`: ``temperature``, ``max_tokens``, ``extra``, ``requests``, ``tokens``, ``parallel``,
                ``policy``, ``starts_in``.

        Raises:
            BadOptionError: An option's value is not one of those it may have, or there is no ``httpx``.
            UnknownProviderError: No provider is called so.
        """
        self._target = _send.target(client, asynchronous=self._asynchronous)
        if base_url is None and self._target.base_url is not None:
            base_url = self._target.base_url
        if provider == "auto" and self._target.provider is not None:
            provider = self._target.provider
        self.capabilities = _DEFAULT_STORE if capabilities is None else capabilities
        self.stats = Stats()
        self._config = config if config is None or isinstance(config, Config) else Config(config)
        self._headers = dict(headers or {})
        self._seconds, self._request_seconds = seconds, request_seconds
        self._options = options
        key = api_key if api_key is not None else self._own_key(base_url, provider)
        self._models = [_Model(model, base_url, provider, key)]
        for other in escalate:
            entry = {"model": other} if isinstance(other, str) else dict(other)
            if "model" not in entry or set(entry) - {"model", "base_url", "provider", "api_key"}:
                message = f"a model's id is needed, or a dict with model, base_url, provider, api_key, not {other!r}"
                raise BadOptionError(message, "escalate")
            if "base_url" not in entry and "provider" not in entry:
                entry = {"base_url": base_url, "provider": provider, "api_key": key, **entry}
            self._models.append(_Model(**entry))
        # Of the provider's own API, if no base URL is given: the route's, whatever is known of it.
        self._urls = [each.base_url or Endpoint(each.model, provider=each.provider).base_url for each in self._models]
        # Made for its errors, and for the wire format of the history.
        endpoints = self._endpoints()
        self.model, self.provider, self.base_url = model, endpoints[0].provider, endpoints[0].base_url
        # A function in place of HTTP is asked for answers of models and nothing else.
        self._undiscovered = discover and self._target.call is None
        self._owns = self._target.owned
        if self._owns:
            self._target.http = self._make_http(max_connections)

    def _own_key(self, base_url: str | None, provider: str) -> str | None:
        # A key is for who made it: it is not sent to a server that the caller names.
        if base_url is not None or not self._target.owned:
            return None
        name = {"auto": "openai", "openai_responses": "openai"}.get(provider, provider)
        return os.environ.get(f"{name.upper()}_API_KEY")

    def _make_http(self, max_connections: int) -> Any:
        http = _send.own_library()
        limits = http.Limits(max_connections=max_connections, max_keepalive_connections=20)
        return (http.AsyncClient if self._asynchronous else http.Client)(limits=limits)

    def _endpoints(self) -> list[Endpoint]:
        return [
            Endpoint(
                entry.model,
                entry.base_url,
                provider=entry.provider,
                capabilities=self.capabilities.get(entry.model, url),
                config=self._config,
            )
            for entry, url in zip(self._models, self._urls, strict=True)
        ]

    def _turn(self, messages: Any, tools: Any, options: dict[str, Any], *, stream: bool) -> Steps:
        """Return the steps of a turn; where it is streamed, the events of its answer are among them."""
        if self._undiscovered:
            self._undiscovered = False
            yield from self._discovery()
        exchange, span = self._begin(messages, tools, stream, options)
        try:
            while (step := exchange.next()).kind != "done":
                if step.kind == "wait":
                    yield partial(_sleep, step.seconds or 0.0)
                    continue
                try:
                    yield from self._answer(exchange, span, self._request(step))
                except _send.BrokenError as error:
                    exchange.fail(str(error))
                yield _close
            yield from _given(exchange.close(), span)
        except BaseException as error:
            span.end(None, exchange.attempts, error)
            raise
        return self._end(exchange, span)

    def _answer(self, exchange: Exchange, span: Chat, request: _send.Request) -> Generator[Any, Any, None]:
        until = time.monotonic() + request.seconds
        status, headers = yield partial(_open, request)
        exchange.answer(status, headers)
        while (piece := (yield _read)) is not None:
            if events := exchange.feed(piece):
                yield from _given(events, span)
            # To a server that sends a byte now and then, no time-out of the connection's comes.
            if time.monotonic() > until:
                raise _send.BrokenError(f"no whole answer within {request.seconds:g} seconds")
        yield from _given(exchange.end(), span)

    def _begin(self, messages: Any, tools: Any, stream: bool, options: dict[str, Any]) -> tuple[Exchange, Chat]:
        asked = {"seconds": self._seconds, **self._options, **options}
        beside = {}
        if hasattr(messages, "side"):
            beside = {"system": messages.system, "side": messages.side, "source": messages.provider}
        exchange = Exchange(
            messages,
            tool_set(tools),
            endpoints=self._endpoints(),
            stream=stream,
            **{**beside, **asked},
        )
        span = Chat(
            self.model,
            self.provider,
            self.base_url,
            stream=stream,
            messages=messages,
            max_tokens=asked.get("max_tokens"),
        )
        return exchange, span

    def _request(self, step: Step) -> _send.Request:
        assert step.url is not None
        assert step.body is not None
        assert step.key is not None
        assert step.endpoint is not None
        headers = {**step.headers, **self._own_headers(step.endpoint)}
        name, before = step.key
        key = self._models[step.endpoint].api_key
        if key is not None:
            headers[name] = before + key
        return _send.Request(step.url, headers, step.body, min(self._request_seconds, step.seconds or 0.0))

    def _end(self, exchange: Exchange, span: Chat, error: BaseException | None = None) -> Turn:
        """Count what came out, keep what was learned, and return the turn."""
        turn, failed = None, error
        try:
            turn = exchange.finish()
        except ProviderError as none:
            failed = error or none
        attempts = exchange.attempts
        for model, base_url, capability, outcome in exchange._learned():
            self.capabilities.record(model, base_url, capability, outcome)  # type: ignore[arg-type]
        self.stats.count(turn, attempts)
        span.end(turn, attempts, failed)
        if failed is not None:
            raise failed
        assert turn is not None
        return turn

    def _own_headers(self, endpoint: int) -> dict[str, str]:
        """The headers of requests to an endpoint. Those of an SDK's client hold its key, which is for its server alone."""
        same = self._models[endpoint].base_url == self._models[0].base_url
        return {**((self._target.headers or {}) if same else {}), **self._headers}

    def _discovery(self) -> Generator[Any, Any, None]:
        """Ask servers that are not known what they can do; none that is in the tables says anything, and hardly any says more."""
        asked = set()
        for number, endpoint in enumerate(self._endpoints()):
            model, base_url, known = endpoint.model, endpoint.base_url, endpoint.capabilities
            tells = known.provider in _LOCAL and endpoint.provider in ("openai", "ollama")
            if not tells or (model, base_url) in asked or known.native_tools.source in ("learned", "server"):
                continue
            asked.add((model, base_url))
            machine = _Probe(model, base_url, False)
            while (request := machine.next()) is not None:
                method, url, body = request
                status, text = yield partial(_ask, method, url, body, self._auth(number))
                self.capabilities._answer(machine, model, base_url, status, text)

    def _auth(self, endpoint: int) -> dict[str, str]:
        key = self._models[endpoint].api_key
        return {**self._own_headers(endpoint), **({} if key is None else {"Authorization": f"Bearer {key}"})}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r}, {self.base_url!r}, provider={self.provider!r})"


def tool_set(tools: Any) -> Any:
    """Return the ToolSet that something makes; None stays None."""
    return tools if tools is None or isinstance(tools, ToolSet) else ToolSet(tools)


def _given(events: Sequence[Event], span: Chat) -> Iterator[Event]:
    for event in events:
        span.event()
        yield event


# What a turn asks of the I/O, that of either client: see `_send.Io` and `_send.AsyncIo`.


def _sleep(seconds: float, io: Any) -> Any:
    return io.sleep(seconds)


def _open(request: _send.Request, io: Any) -> Any:
    return io.open(request)


def _read(io: Any) -> Any:
    return io.read()


def _close(io: Any) -> Any:
    return io.close()


def _ask(method: str, url: str, body: Any, headers: Mapping[str, str], io: Any) -> Any:
    return io.ask(method, url, body, headers, _DISCOVERY_SECONDS)
