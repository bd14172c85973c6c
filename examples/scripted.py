"""A backend that says what it is told to, over real HTTP, and how to run an ASGI application for a test.

The model's name is the script. ``native``, or a dialect of ``SPELLING``, asks for the time; ``/20`` behind it makes 20
calls one after the other, ``/x3`` three calls at once. ``outputs/hermes`` says what is in `outputs/hermes.txt`, and
``outputs/20`` what is in the first 20 files, one an answer.
"""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import uvicorn

NAME = "get_current_time"
ZONES = ["UTC", "Europe/Oslo", "Asia/Tokyo", "America/Lima", "Africa/Cairo"]
TOOL = {
    "type": "function",
    "function": {
        "name": NAME,
        "description": "The time in a zone",
        "parameters": {"type": "object", "properties": {"timezone": {"type": "string"}}, "required": ["timezone"]},
    },
}

# What models wrote, a file for each dialect, to these tools.
HERE = Path(__file__).parent
OUTPUTS = {path.stem: path.read_text("utf-8") for path in sorted((HERE / "outputs").glob("*.txt"))}
TOOLS = [{"type": "function", "function": tool} for tool in json.loads((HERE / "tools.json").read_text("utf-8"))]
# What they call, by how they begin. All end with ENDING or with the call.
TRIP = '# Trip\n\n- Bergen, 3 days\n- take a "rain coat"\n'
MEANT: dict[str, tuple[str, dict[str, Any]]] = {
    "I'll check the forecast before you pack.": ("get_weather", {"city": "Bergen", "days": 3}),
    "One moment, I look up the local time.": ("get_time", {"zone": "Europe/Oslo"}),
    "Let me find the timetable first.": (
        "search",
        {"query": "ferry timetable", "limit": 5, "tags": ["boat", "summer"]},
    ),
    "I'll write that down for you.": ("write_file", {"path": "notes/trip.md", "content": TRIP}),
}
ENDING = "I will answer as soon as I have the result."

# How ten families of models spell the same call.
SPELLING = {
    "hermes": '<tool_call>\n{"name": "get_current_time", "arguments": {"timezone": "ZONE"}}\n</tool_call>',
    "mistral": '[TOOL_CALLS]get_current_time[ARGS]{"timezone": "ZONE"}',
    "qwen3_coder": "<tool_call>\n<function=get_current_time>\n<parameter=timezone>\nZONE\n</parameter>\n</function>\n"
    "</tool_call>",
    "deepseek_v31": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_current_time<｜tool▁sep｜>"
    '{"timezone": "ZONE"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    "kimi_k2": "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_current_time:0"
    '<|tool_call_argument_begin|>{"timezone": "ZONE"}<|tool_call_end|><|tool_calls_section_end|>',
    "glm45": "<tool_call>get_current_time\n<arg_key>timezone</arg_key>\n<arg_value>ZONE</arg_value>\n</tool_call>",
    "minimax_m2": '<minimax:tool_call>\n<invoke name="get_current_time">\n<parameter name="timezone">ZONE</parameter>\n'
    "</invoke>\n</minimax:tool_call>",
    "claude_xml": '<function_calls>\n<invoke name="get_current_time">\n<parameter name="timezone">ZONE</parameter>\n'
    "</invoke>\n</function_calls>",
    "llama3_json": '<|python_tag|>{"name": "get_current_time", "parameters": {"timezone": "ZONE"}}',
    "granite": '<|tool_call|>[{"name": "get_current_time", "arguments": {"timezone": "ZONE"}}]',
}


def meant(text: str) -> tuple[str, tuple[str, dict[str, Any]]]:
    """How an output begins, and the call that it makes."""
    found = [(words, call) for words, call in MEANT.items() if words in text]
    assert found, f"an output begins with words of MEANT, to make the call that goes with them: {text!r}"
    return found[0]


def reply(body: dict[str, Any]) -> dict[str, Any]:
    """The assistant's message, from the script and the number of answers that it has given."""
    kind, _, count = body["model"].partition("/")
    outputs = [OUTPUTS[count]] if count in OUTPUTS else list(OUTPUTS.values())
    at_once = int(count[1:]) if count[:1] == "x" and count[1:].isdigit() else 1
    rounds = int(count) if count.isdigit() else 1
    given = sum(message["role"] == "assistant" for message in body["messages"])
    if given >= rounds:
        return {"role": "assistant", "content": f"Done after {given * at_once} calls."}
    if kind == "outputs":
        return {"role": "assistant", "content": outputs[given]}
    zones = [ZONES[(given + offset) % len(ZONES)] for offset in range(at_once)]
    if kind != "native":
        text = "I look it up.\n" + "\n".join(SPELLING[kind].replace("ZONE", zone) for zone in zones)
        return {"role": "assistant", "content": text}
    calls = [
        {
            "id": f"call_{given}_{place}",
            "type": "function",
            "function": {"name": NAME, "arguments": json.dumps({"timezone": zone})},
        }
        for place, zone in enumerate(zones)
    ]
    return {"role": "assistant", "content": "I look it up.", "tool_calls": calls}


def chunks(message: dict[str, Any], size: int = 4) -> Iterator[dict[str, Any]]:
    """The message as deltas of a few characters."""
    yield {"role": "assistant", "content": ""}
    text = message["content"] or ""
    for start in range(0, len(text), size):
        yield {"content": text[start : start + size]}
    for index, call in enumerate(message.get("tool_calls", [])):
        function = call["function"]
        head = {**call, "index": index, "function": {"name": function["name"], "arguments": ""}}
        yield {"tool_calls": [head]}
        for start in range(0, len(function["arguments"]), size):
            piece = function["arguments"][start : start + size]
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


class Backend:
    """An ASGI application with ``/v1/chat/completions``.

    ``requests`` are the bodies that came. ``raw``, if set, is what is sent as a stream instead, piece by piece; after it
    the connection breaks if ``dies``, and stays open for good if ``hangs``. ``whole``, if set, is the status and the
    body that are sent where no stream is asked for.
    """

    url = ""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget the last test."""
        self.requests: list[dict[str, Any]] = []
        self.raw: list[bytes] | None = None
        self.whole: tuple[int, bytes] | None = None
        self.dies = self.hangs = False
        self.disconnected = threading.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        if scope["method"] != "POST":
            # What it can do, which it does not say.
            await send({"type": "http.response.start", "status": 404, "headers": []})
            await send({"type": "http.response.body", "body": b""})
            return
        data = b""
        while True:
            event = await receive()
            data += event.get("body", b"")
            if not event.get("more_body"):
                break
        body = json.loads(data)
        self.requests.append(body)
        if not body.get("stream"):
            status, answer = self.whole or (200, json.dumps(complete(body)).encode())
            headers = [(b"content-type", b"application/json"), (b"content-length", str(len(answer)).encode())]
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send(
                {"type": "http.response.body", "body": answer[:9] if self.dies else answer, "more_body": self.dies}
            )
            if self.dies:
                raise ConnectionResetError("secret detail of the backend")
            return
        headers = [(b"content-type", b"text/event-stream")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        async for piece in self._stream(body):
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        if self.hangs:
            while (await receive())["type"] != "http.disconnect":
                pass
            self.disconnected.set()
            return
        if self.dies:
            raise ConnectionResetError("secret detail of the backend")
        await send({"type": "http.response.body", "body": b""})

    async def _stream(self, body: dict[str, Any]) -> AsyncIterator[bytes]:
        if self.raw is not None:
            for piece in self.raw:
                # Each is a chunk of HTTP, so it arrives as it was sent.
                yield piece
            return
        for piece in events(body):
            yield piece


def complete(body: dict[str, Any]) -> dict[str, Any]:
    """A whole response."""
    message = reply(body)
    finish = "tool_calls" if message.get("tool_calls") else "stop"
    choice = {"index": 0, "message": message, "finish_reason": finish}
    usage = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}
    return {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}


def events(body: dict[str, Any]) -> Iterator[bytes]:
    """A whole response as server-sent events."""
    message = reply(body)
    frame = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": body["model"]}
    finish = "tool_calls" if message.get("tool_calls") else "stop"
    steps = [(delta, None) for delta in chunks(message)] + [({}, finish)]
    for delta, reason in steps:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        yield b"data: " + json.dumps({**frame, "choices": [choice]}).encode() + b"\n\n"
    if (body.get("stream_options") or {}).get("include_usage"):
        usage = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}
        yield b"data: " + json.dumps({**frame, "choices": [], "usage": usage}).encode() + b"\n\n"
    yield b"data: [DONE]\n\n"


@contextlib.contextmanager
def serve(app: Any) -> Iterator[str]:
    """Serve ``app`` on a free port of the loopback and return its address."""
    # With the protocol named, asyncio switches Nagle's algorithm off, which waits 40 ms between small writes.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
        config = uvicorn.Config(app, log_level="critical", lifespan="auto", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=lambda: server.run(sockets=[listener]), daemon=True)
        thread.start()
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{port}/v1"
        finally:
            server.should_exit = True
            thread.join(30)
