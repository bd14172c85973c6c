"""Asking a model: reliable tool calls from any model, whatever its route can do.

    client = Client("qwen3:8b", "http://localhost:11434/v1")
    turn = await client.complete(messages, tools)
    result = await client.run(messages, tools)

Both clients drive :class:`toolglot.Exchange`, which decides all that is not I/O.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from ._asking import Asking, Steps, tool_set
from ._core import Event, ToolSet, Turn
from ._send import AsyncIo, Io
from ._stats import Stats
from .errors import BadOptionError
from .loop import RunResult, run_tools

__all__ = ["AsyncTurnStream", "Client", "Stats", "SyncClient", "TurnStream"]


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


def _advance(steps: Steps, io: Io) -> Event | Turn:
    """Carry out the steps of a turn up to its next event, or to its end."""
    reply, error = None, None
    while True:
        try:
            step = steps.send(reply) if error is None else steps.throw(error)
        except StopIteration as over:
            turn: Turn = over.value
            return turn
        if isinstance(step, Event):
            return step
        reply, error = None, None
        try:
            reply = step(io)
        except BaseException as raised:
            error = raised


async def _advance_async(steps: Steps, io: AsyncIo) -> Event | Turn:
    """As :func:`_advance`."""
    reply, error = None, None
    while True:
        try:
            step = steps.send(reply) if error is None else steps.throw(error)
        except StopIteration as over:
            turn: Turn = over.value
            return turn
        if isinstance(step, Event):
            return step
        reply, error = None, None
        try:
            reply = await step(io)
        except BaseException as raised:
            error = raised


def _events(steps: Steps, io: Io, over: list[Turn]) -> Generator[Event, None, None]:
    try:
        while not isinstance(item := _advance(steps, io), Turn):
            yield item
        over.append(item)
    finally:
        steps.close()
        io.close()


async def _events_async(steps: Steps, io: AsyncIo, over: list[Turn]) -> AsyncGenerator[Event, None]:
    try:
        while not isinstance(item := await _advance_async(steps, io), Turn):
            yield item
        over.append(item)
    finally:
        steps.close()
        await io.close()


class Client(Asking):
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
        io = AsyncIo(self._target)
        steps = self._turn(messages, tools, {"tool_choice": tool_choice, **options}, stream=False)
        try:
            turn = await _advance_async(steps, io)
        finally:
            await io.close()
        assert isinstance(turn, Turn)
        return turn

    def stream(self, messages: Any, tools: Any = None, *, tool_choice: str = "auto", **options: Any) -> AsyncTurnStream:
        """Ask for one answer, event by event; afterwards it is the stream's ``turn``.

        An answer is replaced by another attempt only as long as none of its events has been given out.

        Raises:
            ProviderError: While the events are read: there was no answer, or it broke off (``error.turn`` is what there was).
        """
        over: list[Turn] = []
        steps = self._turn(messages, tools, {"tool_choice": tool_choice, **options}, stream=True)
        return AsyncTurnStream(_events_async(steps, AsyncIo(self._target), over), over)

    async def run(self, messages: Any, tools: Any = None, **options: Any) -> RunResult:
        """Ask, run the calls, tell the results, until the model answers without a call: :func:`toolglot.run_tools`.

        Args:
            messages: Any provider's, as dicts or SDK objects.
            tools: A ToolSet, or what makes one; functions are run without ``execute``.
            **options: Those of :func:`toolglot.run_tools`, and those of :meth:`complete` under ``ask``.
        """
        return await _run(self, messages, tools, options)

    async def aclose(self) -> None:
        """Close the connections, where the HTTP client was made here."""
        if self._owns:
            await self._target.http.aclose()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class SyncClient(Asking):
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
        io = Io(self._target)
        try:
            turn = _advance(self._turn(messages, tools, {"tool_choice": tool_choice, **options}, stream=False), io)
        finally:
            io.close()
        assert isinstance(turn, Turn)
        return turn

    def stream(self, messages: Any, tools: Any = None, *, tool_choice: str = "auto", **options: Any) -> TurnStream:
        """As :meth:`Client.stream`."""
        over: list[Turn] = []
        steps = self._turn(messages, tools, {"tool_choice": tool_choice, **options}, stream=True)
        return TurnStream(_events(steps, Io(self._target), over), over)

    def run(self, messages: Any, tools: Any = None, **options: Any) -> RunResult:
        """As :meth:`Client.run`. Async tools get an event loop of their own."""
        return _blocking(lambda: _run(self, messages, tools, options))

    def close(self) -> None:
        """Close the connections, where the HTTP client was made here."""
        if self._owns:
            self._target.http.close()

    def __enter__(self) -> SyncClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


async def _run(client: Client | SyncClient, messages: Any, tools: Any, options: dict[str, Any]) -> RunResult:
    tools = ToolSet([]) if tools is None else tool_set(tools)
    options = {"provider": client.provider, **options}
    asked = options.pop("ask", {})
    return await run_tools(lambda history: client.complete(history, tools, **asked), messages, tools, **options)


def _blocking(start: Callable[[], Coroutine[Any, Any, RunResult]]) -> RunResult:
    """Run a coroutine to its end, in a thread of its own where a loop runs in this one."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(start())
    context = contextvars.copy_context()
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(context.run, lambda: asyncio.run(start())).result()
