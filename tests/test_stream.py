"""`toolglot.stream`: one loop over any source, which misses no event, and what becomes of the source."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Any

import pytest

import toolglot
from support import EXAMPLE_TOOLS, check_events

TOOLS = [{"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}]
TEXT = 'Let me look.\n<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>'
# Bare JSON is judged once nothing follows it: its call ends with the text.
HELD_BACK = '{"name": "get_weather", "arguments": {"city": "Oslo"}}'
CHUNKS: list[Any] = [
    {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "Let me "}}]},
    {"choices": [{"index": 0, "delta": {"content": 'look.\n<tool_call>{"name": "get_weather", '}}]},
    {"choices": [{"index": 0, "delta": {"content": '"arguments": {"city": "Oslo"}}</tool_call>'}}]},
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
]
SSE = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in CHUNKS).encode() + b"data: [DONE]\n\n"


class Source:
    """An iterable of both kinds that knows whether it was closed."""

    def __init__(self, chunks: Iterable[Any], error: Exception | None = None) -> None:
        self.chunks, self.error, self.closed = list(chunks), error, 0

    def close(self) -> None:
        self.closed += 1


class Plain(Source):
    def __iter__(self) -> Iterator[Any]:
        yield from self.chunks
        if self.error:
            raise self.error


class Awaited(Source):
    async def __aiter__(self) -> AsyncIterator[Any]:
        for chunk in self.chunks:
            await asyncio.sleep(0)
            yield chunk
        if self.error:
            raise self.error

    async def close(self) -> None:  # type: ignore[override]
        await asyncio.sleep(0)
        self.closed += 1


class Either(Plain, Awaited):
    def close(self) -> None:  # type: ignore[override]
        self.closed += 1


Read = Callable[..., tuple[list[toolglot.Event], toolglot.Turn]]


def read(source: Any, **options: Any) -> tuple[list[toolglot.Event], toolglot.Turn]:
    stream = toolglot.stream(source, **options)
    events = list(stream)
    return events, stream.turn


def read_awaited(source: Any, **options: Any) -> tuple[list[toolglot.Event], toolglot.Turn]:
    async def run() -> tuple[list[toolglot.Event], toolglot.Turn]:
        stream = toolglot.stream(source, **options)
        events = [event async for event in stream]
        return events, stream.turn

    return asyncio.run(run())


BOTH = pytest.mark.parametrize(
    ("kind", "read"), [(Plain, read), (Awaited, read_awaited), (Either, read), (Either, read_awaited)]
)


def letters(text: str | bytes) -> list[Any]:
    return [text[i : i + 1] for i in range(len(text))]


@BOTH
@pytest.mark.parametrize(
    ("chunks", "provider"),
    [
        (letters(TEXT), "auto"),
        (letters(TEXT), "text"),
        (letters(TEXT.encode()), "text"),
        (CHUNKS, "auto"),
        (CHUNKS, "openai"),
        (letters(SSE), "auto"),
        (letters(SSE.decode()), "openai"),
        (SSE.decode().splitlines(keepends=True), "vllm"),
    ],
)
def test_every_kind_of_source(kind: type[Source], read: Read, chunks: list[Any], provider: str) -> None:
    source = kind(chunks)
    events, turn = read(source, tools=TOOLS, provider=provider)
    check_events(turn, events)
    assert turn.content == "Let me look.\n"
    assert [(call.name, call.arguments, call.status) for call in turn.tool_calls] == [
        ("get_weather", {"city": "Oslo"}, "ok")
    ]
    assert [event.call.runnable for event in events if event.kind == "call_ended"] == [True]
    assert source.closed


def test_what_is_held_back_to_the_end_comes() -> None:
    events, turn = read([HELD_BACK], tools=TOOLS)
    assert [event.kind for event in events][-1] == "call_ended"
    assert turn.tool_calls[0].runnable


def test_an_event_comes_before_the_next_chunk_is_asked_for() -> None:
    asked = []

    def source() -> Iterator[str]:
        for word in ("Hello ", "again ", "and more"):
            asked.append(word)
            yield word

    stream = toolglot.stream(source())
    assert asked == []
    assert next(stream).text == "Hello "
    assert asked == ["Hello "]
    assert "".join(event.text for event in stream) == "again and more"


def test_wrong_options_are_an_error_of_the_call() -> None:
    source = Plain(["never read"])
    for error, wrong in (
        (toolglot.UnknownDialectError, {"dialect": "nope"}),
        (toolglot.UnknownProviderError, {"provider": "nope"}),
        (toolglot.BadOptionError, {"policy": {"fences": "nope"}}),
        (toolglot.BadOptionError, {"starts_in": "nope"}),
        (toolglot.BadToolError, {"tools": [1]}),
    ):
        with pytest.raises(error):
            toolglot.stream(source, **wrong)
    assert not source.closed


@pytest.mark.parametrize("whole", ["text", b"bytes", {"choices": []}, 3, None])
def test_a_whole_answer_is_no_stream(whole: Any) -> None:
    with pytest.raises(TypeError):
        toolglot.stream(whole)


def test_what_has_yet_to_be_entered_is_named() -> None:
    class Manager:
        def __enter__(self) -> list[str]:
            return []

        def __exit__(self, *_: object) -> None: ...

    with pytest.raises(TypeError, match=r"`with \.\.\. as stream`"):
        toolglot.stream(Manager())  # type: ignore[call-overload]


@BOTH
def test_the_error_of_a_source_is_raised_and_there_is_no_turn(kind: type[Source], read: Read) -> None:
    source = kind(["Hello "], error=ConnectionError("gone"))
    with pytest.raises(ConnectionError, match="gone"):
        read(source)
    assert source.closed


def test_who_leaves_early_has_no_turn_and_closes_the_source() -> None:
    source = Plain(letters(TEXT))
    with toolglot.stream(source, tools=TOOLS) as stream:
        for event in stream:
            if event.kind == "call_started":
                break
        assert not source.closed
    assert source.closed
    assert list(stream) == []
    with pytest.raises(toolglot.BadOptionError, match="not read to its end"):
        _ = stream.turn


def test_who_leaves_an_async_loop_early_closes_the_source() -> None:
    async def run(kind: type[Source]) -> None:
        source = kind(letters(TEXT))
        async with toolglot.stream(source, tools=TOOLS) as stream:  # type: ignore[attr-defined]
            async for _ in stream:
                break
        assert source.closed
        with pytest.raises(toolglot.BadOptionError):
            _ = stream.turn

    for kind in (Awaited, Either):
        asyncio.run(run(kind))


def test_a_cancelled_task_closes_the_source() -> None:
    source = Awaited([])

    async def forever() -> AsyncIterator[str]:
        try:
            yield "Hello "
            await asyncio.Event().wait()
        finally:
            source.closed += 1

    async def run() -> None:
        async def loop() -> None:
            async for _ in toolglot.stream(forever()):
                pass

        task = asyncio.create_task(loop())
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert source.closed


def test_a_source_that_was_never_read_is_closed_by_its_block() -> None:
    source = Plain(["x"])
    with toolglot.stream(source):
        pass
    assert source.closed == 1


def test_nothing_at_all_is_an_empty_text_or_no_answer() -> None:
    events, turn = read([], provider="text")
    assert (events, turn.content, turn.tool_calls) == ([], "", ())
    with pytest.raises(toolglot.ProviderError):
        read([])


def test_the_error_of_a_provider_is_that_of_the_turn() -> None:
    with pytest.raises(toolglot.ProviderError):
        read([{"error": {"message": "overloaded", "type": "server_error"}}], provider="openai")


def test_chunks_of_another_kind_are_refused() -> None:
    with pytest.raises(TypeError):
        read(["text", {"choices": []}])
    with pytest.raises(TypeError):
        read([object()])


# What the stream helpers of SDKs put between the events of the wire, as `model_dump` gives it.
OPENAI_HELPER = [
    event
    for chunk in CHUNKS
    for event in (
        {"type": "chunk", "chunk": chunk, "snapshot": {"choices": [{"message": {"content": "all so far"}}]}},
        {"type": "content.delta", "delta": "x", "snapshot": "all so far", "parsed": None},
    )
] + [{"type": "content.done", "content": "all", "parsed": None}]
ANTHROPIC_HELPER = [
    {
        "type": "message_start",
        "message": {"type": "message", "role": "assistant", "content": [], "model": "m", "usage": {}},
    },
    {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hi"}},
    {"type": "text", "text": "Hi", "snapshot": "Hi"},
    {"type": "content_block_stop", "index": 0, "content_block": {"type": "text", "text": "Hi"}},
    {
        "type": "content_block_start",
        "index": 1,
        "content_block": {"type": "tool_use", "id": "t1", "name": "get_weather", "input": {}},
    },
    {
        "type": "content_block_delta",
        "index": 1,
        "delta": {"type": "input_json_delta", "partial_json": '{"city": "Oslo"}'},
    },
    {"type": "input_json", "partial_json": '{"city": "Oslo"}', "snapshot": {"city": "Oslo"}},
    {
        "type": "content_block_stop",
        "index": 1,
        "content_block": {"type": "tool_use", "id": "t1", "name": "get_weather"},
    },
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 3}},
    {"type": "message_stop", "message": {"type": "message", "content": [{"type": "text", "text": "Hi"}]}},
]


class Dumped:
    """An SDK's event; to write it out is counted."""

    dumps = 0

    def __init__(self, event: dict[str, Any]) -> None:
        self.__dict__.update(
            {key: Dumped(value) if key in ("chunk", "message") else value for key, value in event.items()}
        )

    def model_dump(self, **_: Any) -> dict[str, Any]:
        Dumped.dumps += 1
        return {key: value.model_dump() if isinstance(value, Dumped) else value for key, value in vars(self).items()}


@pytest.mark.parametrize("as_object", [False, True])
@pytest.mark.parametrize(
    ("helper", "content", "provider"),
    [(OPENAI_HELPER, "Let me look.\n", "openai"), (ANTHROPIC_HELPER, "Hi", "anthropic")],
)
def test_events_of_stream_helpers_say_nothing_twice(
    helper: list[Any], content: str, provider: str, as_object: bool
) -> None:
    Dumped.dumps = 0
    for given in ("auto", provider):
        events, turn = read(map(Dumped, helper) if as_object else helper, tools=TOOLS, provider=given)
        check_events(turn, events)
        assert turn.content == content
        assert [(call.name, call.arguments) for call in turn.tool_calls] == [("get_weather", {"city": "Oslo"})]
        assert [issue.code for issue in turn.issues if issue.code == "unknown_event"] == []
        assert turn.stop_reason == "tool_calls"
    if as_object and provider == "openai":
        # Only the chunks of the wire: what holds all that came so far is not written out.
        assert Dumped.dumps == 2 * len(CHUNKS)


def test_examples_of_the_catalogue_are_read_as_sources() -> None:
    for dialect in toolglot.dialects():
        events, turn = read(letters(dialect.example), tools=EXAMPLE_TOOLS)
        check_events(turn, events)
        assert turn.tool_calls
