"""What the router's generator adds to a backend's chunk: `python benches/python/router.py`."""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import time
from collections.abc import AsyncIterator
from typing import Any

from toolglot.router import stream_with_tool_detection

SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}, "content": {"type": "string"}}}
TOOLS = [{"type": "function", "function": {"name": "write_file", "parameters": SCHEMA}}]
REQUEST = {"model": "m", "messages": [{"role": "user", "content": "?"}], "tools": TOOLS, "stream": True}


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


async def measure(chunks: list[bytes]) -> list[int]:
    """Nanoseconds from handing over each chunk to being asked for the next."""
    spent: list[int] = []

    async def backend() -> AsyncIterator[bytes]:
        for chunk in chunks:
            start = time.perf_counter_ns()
            yield chunk
            spent.append(time.perf_counter_ns() - start)
        yield b"data: [DONE]\n\n"

    async for _ in stream_with_tool_detection(backend(), REQUEST):
        pass
    return spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=40_000, help="characters that the model writes")
    options = parser.parse_args()
    for name, chunks in workloads(options.size).items():
        spent = sorted(asyncio.run(measure(chunks)))
        p50, p99 = statistics.median(spent) / 1000, spent[len(spent) * 99 // 100] / 1000
        print(f"{name:16} {len(chunks):7} chunks   p50 {p50:6.1f} us   p99 {p99:6.1f} us")


if __name__ == "__main__":
    main()
