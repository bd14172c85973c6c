"""What it costs to read providers' answers: `python benches/python/providers.py`.

Whole responses as dict, JSON text and bytes, and the chunks of streams as SSE bytes, one feed a chunk. Medians of
thread CPU time in microseconds: the machine may be busy. Beside them `json.loads` of the same bytes, and the objects
that the openai SDK makes of them, where it is installed. The payloads are test data of the repository.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import toolglot

try:
    from openai._models import construct_type
    from openai.types.chat import ChatCompletion, ChatCompletionChunk
except ImportError:
    construct_type = None

DATA = Path(__file__).resolve().parents[2] / "tests" / "data" / "providers"
TEXT = {"type": "string"}
TOOLS = toolglot.ToolSet(
    [
        {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": properties}}}
        for name, properties in [("get_weather", {"city": TEXT, "unit": TEXT}), ("get_time", {"timezone": TEXT})]
    ]
)
RESPONSES = {
    "openai": ("openai_chat", "openai_chat/response_text_and_two_calls"),
    "openai_responses": ("openai_responses", "openai_responses/response_text_and_two_calls"),
    "anthropic": ("anthropic", "anthropic/response_thinking_and_two_calls"),
    "gemini": ("gemini", "text_and_two_calls"),
    "mistral": ("mistral", "mistral/response_text_and_two_calls"),
    "cohere": ("cohere", "cohere/response_text_and_two_calls"),
    "ollama": ("ollama", "ollama/response_text_and_two_calls"),
    "bedrock": ("bedrock", "bedrock/response_reasoning_and_two_calls"),
}
now = time.thread_time_ns


def case(file: str, name: str) -> Any:
    for line in (DATA / f"{file}.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["name"] == name:
            return row["input"]
    raise LookupError(name)


def median(work: Callable[[], Any], seconds: float) -> float:
    """Microseconds of one call, of many batches the median."""
    start = now()
    work()
    batch = max(1, 200_000 // max(1, now() - start))
    times = []
    gc.disable()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 5:
        start = now()
        for _ in range(batch):
            work()
        times.append((now() - start) / batch / 1000)
    gc.enable()
    return statistics.median(times)


def pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]


WORDS = "The quick brown fox jumps over the lazy dog. " * 12
ARGUMENTS = json.dumps({"city": "Paris", "unit": WORDS})


def openai_chunks(deltas: list[dict[str, Any]]) -> list[bytes]:
    head = {"id": "chatcmpl-9vYz3rKq0bTfW1mX", "object": "chat.completion.chunk", "created": 1763770000}
    head |= {"model": "gpt-5.1-2025-11-13", "service_tier": "default", "system_fingerprint": "fp_86b1e2c07a"}
    choices = [[{"index": 0, "delta": delta, "logprobs": None, "finish_reason": None}] for delta in deltas]
    choices.append([{"index": 0, "delta": {}, "logprobs": None, "finish_reason": "stop"}])
    return [sse(head | {"choices": choice, "usage": None}) for choice in choices]


def sse(payload: dict[str, Any], event: str = "") -> bytes:
    name = f"event: {event}\n" if event else ""
    return f"{name}data: {json.dumps(payload, separators=(',', ':'))}\n\n".encode()


def anthropic_chunks(kind: str, field: str, block: dict[str, Any], deltas: list[str]) -> list[bytes]:
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "content": [], "usage": {}}
    start = {"type": "content_block_start", "index": 0, "content_block": block}
    return [
        sse({"type": "message_start", "message": message}, "message_start"),
        sse(start, "content_block_start"),
        *(
            sse(
                {"type": "content_block_delta", "index": 0, "delta": {"type": kind, field: delta}},
                "content_block_delta",
            )
            for delta in deltas
        ),
        sse({"type": "content_block_stop", "index": 0}, "content_block_stop"),
        sse({"type": "message_stop"}, "message_stop"),
    ]


def streams() -> dict[str, tuple[str, list[bytes]]]:
    call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "get_weather", "arguments": ""}}
    arguments = [{"tool_calls": [{"index": 0, "function": {"arguments": piece}}]} for piece in pieces(ARGUMENTS, 4)]
    leaked = f'<tool_call>\n{{"name": "get_weather", "arguments": {ARGUMENTS}}}\n</tool_call>'
    tool_use = {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {}}
    head = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "get_weather", "arguments": ""}
    responses: list[dict[str, Any]] = [{"type": "response.output_item.added", "output_index": 0, "item": head}]
    for number, piece in enumerate(pieces(ARGUMENTS, 4)):
        event = {"type": "response.function_call_arguments.delta", "item_id": "fc_1", "output_index": 0}
        responses.append(event | {"sequence_number": number, "delta": piece})
    gemini = [
        {"candidates": [{"content": {"parts": [{"text": piece}], "role": "model"}, "index": 0}], "modelVersion": "g"}
        for piece in pieces(WORDS, 4)
    ]
    ollama = [
        {"model": "m", "created_at": "2026-01-01T00:00:00Z", "message": {"role": "assistant", "content": piece}}
        for piece in pieces(WORDS, 4)
    ]
    return {
        "openai text": ("openai", openai_chunks([{"content": piece} for piece in pieces(WORDS, 4)])),
        "openai arguments": ("openai", openai_chunks([{"tool_calls": [call]}, *arguments])),
        "openai call in text": ("openai", openai_chunks([{"content": piece} for piece in pieces(leaked, 4)])),
        "anthropic text": (
            "anthropic",
            anthropic_chunks("text_delta", "text", {"type": "text", "text": ""}, pieces(WORDS, 4)),
        ),
        "anthropic arguments": (
            "anthropic",
            anthropic_chunks("input_json_delta", "partial_json", tool_use, pieces(ARGUMENTS, 4)),
        ),
        "responses arguments": ("openai_responses", [sse(event, event["type"]) for event in responses]),
        "gemini text": ("gemini", [sse(chunk) for chunk in gemini]),
        "ollama text": ("ollama", [json.dumps(chunk).encode() + b"\n" for chunk in ollama]),
    }


def read(provider: str, chunks: list[bytes]) -> toolglot.Turn:
    stream = toolglot.StreamNormalizer(provider, tools=TOOLS)
    feed = stream.feed
    for chunk in chunks:
        feed(chunk)
    return stream.finish()


def row(name: str, *cells: float | None) -> None:
    print(f"{name:22}" + "".join(f"{cell:11.2f}" if cell is not None else f"{'':11}" for cell in cells))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=0.5, help="for each figure")
    seconds = parser.parse_args().seconds
    print(f"{'response (us)':22}{'dict':>11}{'text':>11}{'bytes':>11}{'json.loads':>11}{'openai SDK':>11}")
    for provider, (file, name) in RESPONSES.items():
        value = case(file, name)
        text = json.dumps(value)
        body = text.encode()
        assert len(toolglot.normalize(value, tools=TOOLS, provider=provider).tool_calls) == 2
        cells = [
            median(lambda given=given: toolglot.normalize(given, tools=TOOLS, provider=provider), seconds)  # noqa: B023
            for given in (value, text, body)
        ]
        cells.append(median(lambda: json.loads(body), seconds))  # noqa: B023
        if construct_type and provider == "openai":
            cells.append(median(lambda: construct_type(type_=ChatCompletion, value=json.loads(body)), seconds))  # noqa: B023
        row(provider, *cells)
    print(f"\n{'stream (us a chunk)':22}{'toolglot':>11}{'':11}{'':11}{'json.loads':>11}{'openai SDK':>11}")
    for name, (provider, chunks) in streams().items():
        turn = read(provider, chunks)
        assert turn.content == WORDS or turn.tool_calls[0].arguments_json == ARGUMENTS, turn
        payloads = [chunk[chunk.index(b"{") :] for chunk in chunks]
        cells = [median(lambda: read(provider, chunks), seconds) / len(chunks), None, None]  # noqa: B023
        cells.append(median(lambda: [json.loads(payload) for payload in payloads], seconds) / len(chunks))  # noqa: B023
        if construct_type and provider == "openai":
            made = median(
                lambda: [construct_type(type_=ChatCompletionChunk, value=json.loads(p)) for p in payloads],  # noqa: B023
                seconds,
            )
            cells.append(made / len(chunks))
        row(name, *cells)


if __name__ == "__main__":
    main()
