"""What a chunk of a backend's stream costs through Python, beside passing its bytes on.

    python benches/python/router.py [--size CHARACTERS] [--rounds N]

Microseconds of this thread's CPU a chunk, the best and the median of several rounds: the machine may be busy. ``bytes`` takes
each chunk and gives it on; ``transcoder`` is ``TranscodedStream.feed``, one call a chunk; ``router`` is
``stream_with_tool_detection`` around an async iterator, less what the same loop costs without it.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import statistics
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import toolglot
from toolglot.router import stream_with_tool_detection

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}, "content": {"type": "string"}}}
REQUESTS: dict[str, dict[str, Any]] = {
    "chat": {
        "messages": [{"role": "user", "content": "?"}],
        "tools": [{"type": "function", "function": {"name": "write_file", "parameters": SCHEMA}}],
    },
    "responses": {"input": "?", "tools": [{"type": "function", "name": "write_file", "parameters": SCHEMA}]},
    "anthropic": {
        "max_tokens": 999,
        "messages": [{"role": "user", "content": "?"}],
        "tools": [{"name": "write_file", "input_schema": SCHEMA}],
    },
}
DONE = b"data: [DONE]\n\n"


def request(client: str) -> dict[str, Any]:
    return {"model": "m", "stream": True, **REQUESTS[client]}


def event(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    frame = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return b"data: " + json.dumps(frame).encode() + b"\n\n"


def workloads(size: int) -> dict[str, list[bytes]]:
    """Streams of four characters a chunk."""
    words = "The quick brown fox jumps over the lazy dog. " * (size // 45)
    arguments = json.dumps({"path": "a.txt", "content": words})
    call = f'<tool_call>\n{{"name": "write_file", "arguments": {arguments}}}\n</tool_call>'
    head = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "write_file", "arguments": ""}}
    native = [event({"tool_calls": [head]})]
    native += [event({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]}) for piece in cut(arguments)]
    return {
        "prose": [event({"content": piece}) for piece in cut(words)] + [event({}, "stop")],
        "a call in text": [event({"content": piece}) for piece in cut(call)] + [event({}, "stop")],
        "a native call": [*native, event({}, "tool_calls")],
    }


def cut(text: str) -> list[str]:
    return [text[start : start + 4] for start in range(0, len(text), 4)]


def pass_on(chunks: list[bytes]) -> Callable[[], None]:
    def run() -> None:
        for chunk in chunks:
            memoryview(chunk)

    return run


def transcode(chunks: list[bytes], client: str) -> Callable[[], None]:
    translation = toolglot.Transcoder(client, "chat").request(json.dumps(request(client)))

    def run() -> None:
        stream = translation.stream()
        feed = stream.feed
        for chunk in chunks:
            feed(chunk)
        stream.finish()

    return run


async def backend(chunks: list[bytes]) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk
    yield DONE


def route(chunks: list[bytes], *, transcoded: bool) -> Callable[[], None]:
    async def go() -> None:
        source = backend(chunks)
        async for _ in stream_with_tool_detection(source, request("chat")) if transcoded else source:
            pass

    return lambda: asyncio.run(go())


def measure(run: Callable[[], None], chunks: int, rounds: int) -> list[float]:
    """Microseconds of CPU a chunk, a round each."""
    spent = []
    for _ in range(rounds):
        start = time.thread_time_ns()
        run()
        spent.append((time.thread_time_ns() - start) / 1000 / chunks)
    return sorted(spent)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=40_000, help="characters that the model writes")
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    gc.disable()
    print(f"{'us CPU a chunk':46} {'chunks':>7} {'best':>8} {'median':>8}")
    for name, chunks in workloads(options.size).items():
        rows = [("bytes", pass_on(chunks))]
        rows += [(f"transcoder, {client} of chat", transcode(chunks, client)) for client in REQUESTS]
        for row, run in rows:
            show(f"{name}: {row}", len(chunks), measure(run, len(chunks), options.rounds))
        bare = measure(route(chunks, transcoded=False), len(chunks), options.rounds)
        routed = measure(route(chunks, transcoded=True), len(chunks), options.rounds)
        show(f"{name}: router", len(chunks), [with_it - statistics.median(bare) for with_it in routed])


def show(name: str, chunks: int, spent: list[float]) -> None:
    print(f"{name:46} {chunks:7} {spent[0]:8.2f} {statistics.median(spent):8.2f}")


if __name__ == "__main__":
    main()
