"""Asking a model: reliable tool calls from any model, whatever its route can do.

    client = Client("qwen3:8b", "http://localhost:11434/v1")
    turn = await client.complete(messages, tools)
    result = await client.run(messages, tools)

Both clients drive :class:`toolglot.Exchange`, which decides all that is not I/O.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from . import _send
from ._core import Config, Endpoint, Event, Exchange, Step, ToolSet, Turn, _Probe
from ._telemetry import Chat
from .capability import CapabilityStore
from .errors import BadOptionError, ProviderError
from .loop import RunResult, run_tools

__all__ = ["AsyncTurnStream", "Client", "Stats", "SyncClient", "TurnStream"]

_DEFAULT_STORE = CapabilityStore()


@dataclass
class Stats:
    """What became of the turns of a client.

    Attributes:
        turns: How many were asked for.
        answered: How many ended with a usable answer.
        requests: How many requests they took.
        fallbacks: How many answers came in another mode, or of another model, than was asked first.
        calls: How many calls there were, by status.
        verdicts: How many requests, by what their answers were worth.
        input_tokens: Tokens of all requests, as far as servers say.
        output_tokens: Tokens of all answers, as far as servers say.
    """

    turns: int = 0
    answered: int = 0
    requests: int = 0
    fallbacks: int = 0
    calls: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    input_tokens: int = 0
    output_tokens: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    @property
    def success_rate(self) -> float:
        """The share of turns with a usable answer."""
        return self.answered / self.turns if self.turns else 0.0

    @property
    def retries_per_success(self) -> float:
        """How many requests beyond the first a usable answer took."""
        return (self.requests - self.turns) / self.answered if self.answered else 0.0

    @property
    def fallback_share(self) -> float:
        """The share of turns that ended in another mode or model than they began in."""
        return self.fallbacks / self.turns if self.turns else 0.0

    def _count(self, turn: Turn | None, attempts: Sequence[Any]) -> None:
        with self._lock:
            self.turns += 1
            self.requests += len(attempts)
            self.verdicts.update(attempt.verdict for attempt in attempts)
            for attempt in attempts:
                if attempt.usage is not None:
                    self.input_tokens += attempt.usage.input_tokens or 0
                    self.output_tokens += attempt.usage.output_tokens or 0
            if turn is None or not attempts:
                return
            first, last = attempts[0], attempts[-1]
            self.calls.update(call.status for call in turn.tool_calls)
            self.answered += last.verdict == "usable"
            asked = [attempt for attempt in attempts if attempt.why != "arguments"]
            self.fallbacks += (first.mode, first.model) != (asked[-1].mode, asked[-1].model)


@dataclass(frozen=True)
class _Model:
    """A model to ask, as the caller named it."""

    model: str
    base_url: str | None = None
    provider: str = "auto"
    api_key: str | None = None


class _Client:
    """What both clients have in common: all but the I/O."""

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
        self._discover = discover
        self._discovered: set[str] = set()
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
        # Made for its errors, and for the wire format of the history.
        endpoints = self._endpoints()
        self.model, self.provider, self.base_url = model, endpoints[0].provider, endpoints[0].base_url
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
        made = []
        for entry in self._models:
            model, url, provider = entry.model, entry.base_url, entry.provider
            # The base URL of the provider's own API belongs to the route.
            known = self.capabilities.get(model, url or Endpoint(model, provider=provider).base_url)
            made.append(Endpoint(model, url, provider=provider, capabilities=known, config=self._config))
        return made

    def _begin(self, messages: Any, tools: Any, stream: bool, options: dict[str, Any]) -> tuple[Exchange, Chat]:
        asked = {"seconds": self._seconds, **self._options, **options}
        beside = {}
        if hasattr(messages, "side"):
            beside = {"system": messages.system, "side": messages.side, "source": messages.provider}
        exchange = Exchange(
            messages,
            _tools(tools),
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
        self.stats._count(turn, attempts)
        span.end(turn, attempts, failed)
        if failed is not None:
            raise failed
        assert turn is not None
        return turn

    def _own_headers(self, endpoint: int) -> dict[str, str]:
        """The headers of requests to an endpoint. Those of an SDK's client hold its key, which is for its server alone."""
        same = self._models[endpoint].base_url == self._models[0].base_url
        return {**((self._target.headers or {}) if same else {}), **self._headers}

    def _unknown(self) -> list[tuple[int, str, str]]:
        """The routes that are to be asked what they can do: number of the endpoint, model and base URL."""
        if not self._discover or self._target.call is not None:
            return []
        found = []
        for number, endpoint in enumerate(self._endpoints()):
            known = endpoint.capabilities
            place = f"{endpoint.base_url} {endpoint.model}"
            # What a server says wins over tables; and who is in the tables says nothing.
            local = known.provider in (None, "ollama", "lm_studio", "llama_cpp", "vllm", "sglang")
            if local and endpoint.provider in ("openai", "ollama") and place not in self._discovered:
                self._discovered.add(place)
                if known.native_tools.source not in ("learned", "server"):
                    found.append((number, endpoint.model, endpoint.base_url))
        return found

    def _probe(self, model: str, base_url: str) -> Iterator[tuple[_Probe, str, str, Any]]:
        machine = _Probe(model, base_url, False)
        while (request := machine.next()) is not None:
            yield machine, *request

    def _auth(self, endpoint: int) -> dict[str, str]:
        key = self._models[endpoint].api_key
        return {**self._own_headers(endpoint), **({} if key is None else {"Authorization": f"Bearer {key}"})}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r}, {self.base_url!r}, provider={self.provider!r})"


def _tools(tools: Any) -> Any:
    return tools if tools is None or isinstance(tools, ToolSet) else ToolSet(tools)


# How long a server may take to say what it can do.
_DISCOVERY_SECONDS = 3.0


class AsyncTurnStream:
    """The events of one answer, and its ``turn`` when they are used up. To give it up early, ``await stream.aclose()``."""

    def __init__(self, events: Any, over: list[Turn]) -> None:
        self._events, self._over = events, over

    @property
    def turn(self) -> Turn:
        """The turn.

        Raises:
            BadOptionError: The events are not used up.
        """
        return _over(self._over)

    def __aiter__(self) -> AsyncTurnStream:
        return self

    async def __anext__(self) -> Event:
        event: Event = await self._events.__anext__()
        return event

    async def aclose(self) -> None:
        """Give up: the connection is closed, and nothing more is asked."""
        await self._events.aclose()

    async def __aenter__(self) -> AsyncTurnStream:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class TurnStream:
    """The events of one answer, and its ``turn`` when they are used up. To give it up early, ``close`` it."""

    def __init__(self, events: Any, over: list[Turn]) -> None:
        self._events, self._over = events, over

    @property
    def turn(self) -> Turn:
        """The turn.

        Raises:
            BadOptionError: The events are not used up.
        """
        return _over(self._over)

    def __iter__(self) -> TurnStream:
        return self

    def __next__(self) -> Event:
        event: Event = next(self._events)
        return event

    def close(self) -> None:
        """Give up: the connection is closed, and nothing more is asked."""
        self._events.close()

    def __enter__(self) -> TurnStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _over(over: list[Turn]) -> Turn:
    if not over:
        raise BadOptionError("the turn was asked for before the end: the stream was not read to its end")
    return over[0]


class Client(_Client):
    """Asks a model, and tries what is left until an answer can be used: other modes, corrections, other models.

    >>> import asyncio
    >>> from toolglot import Client
    >>> def model(request):  # In place of a server.
    ...     return 200, {}, {"choices": [{"message": {"content": "It is noon."}}]}
    >>> client = Client("m", "http://localhost:8000/v1", client=model)
    >>> asyncio.run(client.complete([{"role": "user", "content": "What time is it?"}])).content
    'It is noon.'
    """

    async def complete(self, messages: Any, tools: Any = None, *, tool_choice: str = "auto", **options: Any) -> Turn:
        """Ask for one answer.

        Args:
            messages: Any provider's, as dicts or SDK objects.
            tools: A ToolSet, or what makes one.
            tool_choice: "auto", "required", "none", or a tool's name.
            **options: ``temperature``, ``max_tokens``, ``parallel``, ``extra`` (members of the request), ``requests``, ``tokens`` and
                ``seconds`` (the budget), ``policy``, ``starts_in``: see :class:`toolglot.Exchange`.

        Returns:
            The best turn there was; ``turn.attempts`` says what it took. Its calls need not all be runnable.

        Raises:
            ProviderError: There was no answer at all; ``error.attempts`` says what was tried.
        """
        await self._discovery()
        exchange, span = self._begin(messages, tools, False, {"tool_choice": tool_choice, **options})
        try:
            async for _ in self._drive(exchange):
                pass
        except BaseException as error:
            span.end(None, exchange.attempts, error)
            raise
        return self._end(exchange, span)

    def stream(self, messages: Any, tools: Any = None, *, tool_choice: str = "auto", **options: Any) -> AsyncTurnStream:
        """Ask for one answer, event by event; afterwards it is the stream's ``turn``.

        An answer is replaced by another attempt only as long as none of its events has been given out.

        Raises:
            ProviderError: While the events are read: there was no answer, or it broke off (``error.turn`` is what there was).
        """
        over: list[Turn] = []
        asked = {"tool_choice": tool_choice, **options}
        return AsyncTurnStream(self._events(messages, tools, asked, over), over)

    async def run(self, messages: Any, tools: Any = None, **options: Any) -> RunResult:
        """Ask, run the calls, tell the results, until the model answers without a call: :func:`toolglot.run_tools`.

        Args:
            messages: Any provider's, as dicts or SDK objects.
            tools: A ToolSet, or what makes one; functions are run without ``execute``.
            **options: Those of :func:`toolglot.run_tools`, and those of :meth:`complete` under ``ask``.
        """
        tools = ToolSet([]) if tools is None else _tools(tools)
        asked = options.pop("ask", {})
        return await run_tools(
            lambda told: self.complete(told, tools, **asked), messages, tools, provider=self.provider, **options
        )

    async def _events(
        self, messages: Any, tools: Any, asked: dict[str, Any], over: list[Turn]
    ) -> AsyncGenerator[Event, None]:
        await self._discovery()
        exchange, span = self._begin(messages, tools, True, asked)
        try:
            async with aclosing(self._drive(exchange)) as events:
                async for event in events:
                    span.event()
                    yield event
            for event in exchange.close():
                span.event()
                yield event
        except BaseException as error:
            span.end(None, exchange.attempts, error)
            raise
        over.append(self._end(exchange, span))

    async def _drive(self, exchange: Exchange) -> AsyncGenerator[Event, None]:
        while (step := exchange.next()).kind != "done":
            if step.kind == "wait":
                await asyncio.sleep(step.seconds or 0.0)
                continue
            request = self._request(step)
            until = time.monotonic() + request.seconds
            try:
                async with _send.opened_async(self._target, request) as answer:
                    exchange.answer(answer.status, answer.headers)
                    async for piece in answer.pieces:
                        for event in exchange.feed(piece):
                            yield event
                        # To a server that sends a byte now and then, no time-out of the connection's comes.
                        if time.monotonic() > until:
                            raise _send.BrokenError(f"no whole answer within {request.seconds:g} seconds")
                for event in exchange.end():
                    yield event
            except _send.BrokenError as error:
                exchange.fail(str(error))

    async def _discovery(self) -> None:
        for number, model, base_url in self._unknown():
            for machine, method, url, body in self._probe(model, base_url):
                status, text = 0, ""
                try:
                    sent = {"json": body, "headers": self._auth(number), "timeout": _DISCOVERY_SECONDS}
                    answer = await self._target.http.request(method, url, **sent)
                    status, text = answer.status_code, answer.text
                except Exception:
                    # Whether the server can be reached at all shows when it is asked.
                    pass
                self.capabilities._answer(machine, model, base_url, status, text)

    async def aclose(self) -> None:
        """Close the connections, where the HTTP client was made here."""
        if self._owns:
            await self._target.http.aclose()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class SyncClient(_Client):
    """As :class:`Client`, for code that is not async.

    >>> from toolglot import SyncClient
    >>> def model(request):  # In place of a server.
    ...     return 200, {}, {"choices": [{"message": {"content": "It is noon."}}]}
    >>> client = SyncClient("m", "http://localhost:8000/v1", client=model)
    >>> client.complete([{"role": "user", "content": "What time is it?"}]).content
    'It is noon.'
    """

    _asynchronous = False

    def complete(self, messages: Any, tools: Any = None, *, tool_choice: str = "auto", **options: Any) -> Turn:
        """As :meth:`Client.complete`."""
        self._discovery()
        exchange, span = self._begin(messages, tools, False, {"tool_choice": tool_choice, **options})
        try:
            for _ in self._drive(exchange):
                pass
        except BaseException as error:
            span.end(None, exchange.attempts, error)
            raise
        return self._end(exchange, span)

    def stream(self, messages: Any, tools: Any = None, *, tool_choice: str = "auto", **options: Any) -> TurnStream:
        """As :meth:`Client.stream`."""
        over: list[Turn] = []
        asked = {"tool_choice": tool_choice, **options}
        return TurnStream(self._events(messages, tools, asked, over), over)

    def run(self, messages: Any, tools: Any = None, **options: Any) -> RunResult:
        """As :meth:`Client.run`. Async tools get an event loop of their own."""
        tools = ToolSet([]) if tools is None else _tools(tools)
        asked = options.pop("ask", {})
        return _blocking(
            lambda: run_tools(
                lambda told: self.complete(told, tools, **asked), messages, tools, provider=self.provider, **options
            )
        )

    def _events(
        self, messages: Any, tools: Any, asked: dict[str, Any], over: list[Turn]
    ) -> Generator[Event, None, None]:
        self._discovery()
        exchange, span = self._begin(messages, tools, True, asked)
        try:
            for event in self._drive(exchange):
                span.event()
                yield event
            for event in exchange.close():
                span.event()
                yield event
        except BaseException as error:
            span.end(None, exchange.attempts, error)
            raise
        over.append(self._end(exchange, span))

    def _drive(self, exchange: Exchange) -> Generator[Event, None, None]:
        while (step := exchange.next()).kind != "done":
            if step.kind == "wait":
                time.sleep(step.seconds or 0.0)
                continue
            request = self._request(step)
            until = time.monotonic() + request.seconds
            try:
                with _send.opened(self._target, request) as answer:
                    exchange.answer(answer.status, answer.headers)
                    for piece in answer.pieces:
                        yield from exchange.feed(piece)
                        if time.monotonic() > until:
                            raise _send.BrokenError(f"no whole answer within {request.seconds:g} seconds")
                yield from exchange.end()
            except _send.BrokenError as error:
                exchange.fail(str(error))

    def _discovery(self) -> None:
        for number, model, base_url in self._unknown():
            for machine, method, url, body in self._probe(model, base_url):
                status, text = 0, ""
                try:
                    sent = {"json": body, "headers": self._auth(number), "timeout": _DISCOVERY_SECONDS}
                    answer = self._target.http.request(method, url, **sent)
                    status, text = answer.status_code, answer.text
                except Exception:
                    # Whether the server can be reached at all shows when it is asked.
                    pass
                self.capabilities._answer(machine, model, base_url, status, text)

    def close(self) -> None:
        """Close the connections, where the HTTP client was made here."""
        if self._owns:
            self._target.http.close()

    def __enter__(self) -> SyncClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _blocking(start: Callable[[], Coroutine[Any, Any, RunResult]]) -> RunResult:
    """Run a coroutine to its end, in a thread of its own where a loop runs in this one."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(start())
    context = contextvars.copy_context()
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(context.run, lambda: asyncio.run(start())).result()
