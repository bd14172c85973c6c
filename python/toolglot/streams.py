"""One loop over an answer as it arrives, which misses no event: :func:`toolglot.stream`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Generator, Iterable, Iterator, Mapping
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, Literal, overload

from ._core import Dialect, Policy, StreamNormalizer, StreamParser, ToolSet, Turn
from .errors import BadOptionError

if TYPE_CHECKING:
    from ._core import _AnyEvent

__all__ = ["AsyncEventStream", "EventStream", "stream"]


class _Reading:
    """Chooses the reader by the first chunk, and keeps the turn."""

    def __init__(self, provider: str, options: dict[str, Any]) -> None:
        self._options = options
        self._reader: StreamParser | StreamNormalizer
        # Made at once, so that wrong options are an error of the call and not of the loop.
        if provider == "text":
            self._reader = StreamParser(**options)
        else:
            self._reader = StreamNormalizer(provider, **options)
        self._undecided = provider == "auto"
        self._ended = False

    def feed(self, chunk: Any) -> list[_AnyEvent]:
        """What has become certain with this chunk."""
        if self._undecided:
            self._undecided = False
            if isinstance(chunk, str):
                self._reader = StreamParser(**self._options)
        return self._reader.feed(chunk)

    def end(self) -> list[_AnyEvent]:
        """The events of what was held back."""
        events = self._reader.close()
        self._ended = True
        return events

    def turn(self) -> Turn:
        if not self._ended:
            raise BadOptionError("the turn was asked for before the end: the stream was not read to its end")
        return self._reader.finish()


class EventStream(Iterator["_AnyEvent"]):
    """The events of one answer, in order; made by :func:`toolglot.stream`.

    The source is closed when it ends, when it raises, and by :meth:`close`, which a ``with`` block calls.
    """

    def __init__(self, source: Iterable[Any], reading: _Reading) -> None:
        self._source = source
        self._reading = reading
        self._events = self._read()

    def _read(self) -> Generator[_AnyEvent, None, None]:
        try:
            for chunk in self._source:
                yield from self._reading.feed(chunk)
            yield from self._reading.end()
        finally:
            self._close_source()

    def _close_source(self) -> None:
        close = getattr(self._source, "close", None)
        if close is not None:
            close()

    @property
    def turn(self) -> Turn:
        """The whole answer, once the source has ended; always the same object.

        Raises:
            BadOptionError: The source has not ended: the loop was left early, or the source raised.
            ProviderError: There was no answer: an error and nothing before it, HTML, or no chunk at all, unless
                ``provider="text"``, where that is an empty answer.
        """
        return self._reading.turn()

    def __iter__(self) -> Iterator[_AnyEvent]:
        # The generator itself: a method of ours would take longer than the reading.
        return self._events

    def __next__(self) -> _AnyEvent:
        return next(self._events)

    def __enter__(self) -> EventStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the source, if it has a ``close``, for whoever leaves the loop early. No further event comes."""
        self._events.close()
        # Where no event was asked for, the generator did not begin and closes nothing.
        self._close_source()


class AsyncEventStream(AsyncIterator["_AnyEvent"]):
    """The events of one answer that arrives asynchronously, in order; made by :func:`toolglot.stream`.

    The source is closed when it ends, when it raises or the task is cancelled, and by :meth:`aclose`, which an ``async
    with`` block calls.
    """

    def __init__(self, source: AsyncIterable[Any], reading: _Reading) -> None:
        self._source = source
        self._reading = reading
        self._events = self._read()

    async def _read(self) -> AsyncGenerator[_AnyEvent, None]:
        try:
            async for chunk in self._source:
                for event in self._reading.feed(chunk):
                    yield event
            for event in self._reading.end():
                yield event
        finally:
            await self._close_source()

    async def _close_source(self) -> None:
        close = getattr(self._source, "aclose", None) or getattr(self._source, "close", None)
        if close is not None:
            closing = close()
            if isawaitable(closing):
                await closing

    @property
    def turn(self) -> Turn:
        """The whole answer, once the source has ended, as :attr:`EventStream.turn`."""
        return self._reading.turn()

    def __aiter__(self) -> AsyncIterator[_AnyEvent]:
        return self._events

    async def __anext__(self) -> _AnyEvent:
        return await anext(self._events)

    async def __aenter__(self) -> AsyncEventStream:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close the source, if it can be closed, for whoever leaves the loop early. No further event comes."""
        await self._events.aclose()
        await self._close_source()


class _EitherEventStream(EventStream):
    """The events of a source that is an iterable and an async one; only its caller knows how it was opened."""

    def __init__(self, source: Any, reading: _Reading) -> None:
        super().__init__(source, reading)
        self._awaited = AsyncEventStream(source, reading)

    def __aiter__(self) -> AsyncIterator[_AnyEvent]:
        return aiter(self._awaited)

    async def __anext__(self) -> _AnyEvent:
        return await anext(self._awaited)

    async def __aenter__(self) -> _EitherEventStream:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._awaited.aclose()

    async def aclose(self) -> None:
        """As :meth:`AsyncEventStream.aclose`."""
        await self._awaited.aclose()


@overload
def stream(
    source: Iterable[Any],
    tools: ToolSet | Iterable[Any] | None = None,
    *,
    provider: str = "auto",
    dialect: str | Dialect | Literal[False] | None = "auto",
    starts_in: Literal["content", "reasoning"] | None = "content",
    policy: Policy | dict[str, Any] | None = None,
) -> EventStream: ...
@overload
def stream(
    source: AsyncIterable[Any],
    tools: ToolSet | Iterable[Any] | None = None,
    *,
    provider: str = "auto",
    dialect: str | Dialect | Literal[False] | None = "auto",
    starts_in: Literal["content", "reasoning"] | None = "content",
    policy: Policy | dict[str, Any] | None = None,
) -> AsyncEventStream: ...
def stream(
    source: Iterable[Any] | AsyncIterable[Any],
    tools: ToolSet | Iterable[Any] | None = None,
    *,
    provider: str = "auto",
    dialect: str | Dialect | Literal[False] | None = "auto",
    starts_in: Literal["content", "reasoning"] | None = "content",
    policy: Policy | dict[str, Any] | None = None,
) -> EventStream | AsyncEventStream:
    """Read an answer as it arrives: every event of it, also of what is held back to the end, then the whole turn.

    Args:
        source: What yields the answer, read with ``for`` or, if it is an async iterable, with ``async for``. It may yield

            - text of a model: ``str``;
            - a provider's chunks: dicts or an SDK's objects, those of the SDKs' own stream helpers too
              (``client.chat.completions.stream()``, ``client.responses.stream()``, ``client.messages.stream()``, once
              entered with ``with``);
            - a provider's raw stream (server-sent events, JSON lines): ``bytes``, cut anywhere.

            The first chunk says which.
        tools: The tools that were offered.
        provider: As in :func:`normalize`; named, ``str`` is the provider's raw stream as well. ``"text"``: all is text of a
            model, ``bytes`` too.
        dialect: As in :func:`extract` and :func:`normalize`.
        starts_in: As in :func:`extract`.
        policy: A Policy, or a dict of its options.

    Returns:
        An iterator of events, or an async one. Its ``turn`` is the whole answer after the loop. The source is closed at the
        end and where the loop ends by an exception of its own; who leaves it early closes it with a ``with`` block (``async
        with``) round the loop. What the source raises is raised in the loop.

    Raises:
        TypeError: The source is a whole answer, or yields nothing that can be read.
        UnknownProviderError: No provider of that name.
        UnknownDialectError: No dialect, parser or model of that name is known.
        BadToolError: No entry of ``tools`` can be read as a tool.
        BadOptionError: An option's value is not one of those it may have.

    >>> import toolglot
    >>> events = toolglot.stream(["Hello <tool", '_call>{"name": "f", "arguments": {}}</tool_call>'], dialect="hermes")
    >>> [event.kind for event in events]
    ['text', 'call_started', 'arguments', 'call_ended']
    >>> events.turn.tool_calls[0].status
    'ok'
    """
    if tools is not None and not isinstance(tools, ToolSet):
        tools = ToolSet(tools)
    # Whole answers are iterable as well: over characters, numbers, keys or fields.
    if isinstance(source, str | bytes | bytearray | Mapping) or hasattr(source, "model_dump"):
        reader = "extract" if isinstance(source, str | bytes | bytearray) else "normalize"
        raise TypeError(f"{type(source).__name__} is a whole answer, no stream: toolglot.{reader} reads it")
    reading = _Reading(provider, {"tools": tools, "dialect": dialect, "starts_in": starts_in, "policy": policy})
    if isinstance(source, AsyncIterable):
        return (_EitherEventStream if isinstance(source, Iterable) else AsyncEventStream)(source, reading)
    if isinstance(source, Iterable):
        return EventStream(source, reading)
    # What `client.messages.stream()` and the like return before they are entered.
    way = "async with" if hasattr(source, "__aenter__") else "with" if hasattr(source, "__enter__") else None
    hint = f": enter it by `{way} ... as stream`, and pass `stream`" if way else ""
    raise TypeError(f"{type(source).__name__} is neither an iterable nor an async iterable{hint}")
