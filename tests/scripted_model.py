"""A server of Chat Completions on the loopback that answers as a script says, faults as they come on the wire included."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def message(said: dict[str, Any]) -> dict[str, Any]:
    """The message that a short form stands for: ``text``, ``calls`` (name and arguments' text), ``envelope``."""
    if "envelope" in said:
        return {"role": "assistant", "content": json.dumps(said["envelope"])}
    calls = [
        {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for number, (name, arguments) in enumerate(said.get("calls", []))
    ]
    made: dict[str, Any] = {"role": "assistant", "content": said.get("text")}
    return {**made, "tool_calls": calls} if calls else made


def finish(said: dict[str, Any]) -> str:
    return said.get("finish") or ("tool_calls" if said.get("calls") else "stop")


USAGE = {"prompt_tokens": 90, "completion_tokens": 10, "total_tokens": 100}


def whole(said: dict[str, Any]) -> bytes:
    choice = {"index": 0, "message": message(said), "finish_reason": finish(said)}
    return json.dumps({"id": "x", "object": "chat.completion", "choices": [choice], "usage": USAGE}).encode()


def pieces(said: dict[str, Any]) -> Iterator[bytes]:
    """The same in SSE: text and arguments in pieces of three characters."""

    def chunk(delta: dict[str, Any], **more: Any) -> bytes:
        body = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, **more}]}
        return f"data: {json.dumps(body)}\n\n".encode()

    full = message(said)
    yield chunk({"role": "assistant", "content": ""})
    text = full["content"] or ""
    for at in range(0, len(text), 3):
        yield chunk({"content": text[at : at + 3]})
    for index, call in enumerate(full.get("tool_calls", [])):
        function = call["function"]
        yield chunk({"tool_calls": [{**call, "index": index, "function": {"name": function["name"], "arguments": ""}}]})
        for at in range(0, len(function["arguments"]), 3):
            part = {"index": index, "function": {"arguments": function["arguments"][at : at + 3]}}
            yield chunk({"tool_calls": [part]})
    yield chunk({}, finish_reason=finish(said))
    yield b'data: {"choices": [], "usage": ' + json.dumps(USAGE).encode() + b"}\n\n"
    yield b"data: [DONE]\n\n"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    script: Script

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self.send_error(404)

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        said = self.script.next(self.path, dict(self.headers), body)
        if "hang" in said:
            self.script.over.wait(said["hang"])
            self.close_connection = True
            return
        if said.get("reset"):
            self.close_connection = True
            return
        status, headers = said.get("status", 200), said.get("headers", {})
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if "body" in said or status != 200 or not body.get("stream"):
            text = said.get("body")
            data = whole(said) if text is None else (text if isinstance(text, str) else json.dumps(text)).encode()
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
            return
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            for number, piece in enumerate(pieces(said)):
                if number == said.get("break"):
                    self.close_connection = True
                    return
                self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                self.wfile.flush()
                if "drip" in said:
                    time.sleep(said["drip"])
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.script.gone += 1


class Script:
    """What is answered, in order; and what was asked."""

    def __init__(self, answers: list[dict[str, Any]], default: dict[str, Any] | None = None) -> None:
        self.answers = list(answers)
        self.default = default
        self.asked: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.gone = 0
        self.over = threading.Event()
        self._lock = threading.Lock()

    def next(self, path: str, headers: dict[str, str], body: dict[str, Any]) -> dict[str, Any]:
        with self._lock:
            self.asked.append(body)
            self.paths.append(path)
            self.headers.append(headers)
            if self.answers:
                return self.answers.pop(0)
            # More is asked than the script has: the test sees it by the count.
            return self.default or {"status": 418, "body": "no more answers"}


@contextmanager
def serve(script: Script) -> Iterator[str]:
    """The base URL of a server that plays the script."""
    handler = type("Handler", (_Handler,), {"script": script})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        script.over.set()
        server.shutdown()
        server.server_close()
