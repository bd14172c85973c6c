"""A server of Chat Completions on the loopback, whose answers a function gives."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["Answers", "completion", "serve"]

Answers = Callable[[dict[str, Any]], tuple[int, dict[str, Any]]]
"""Takes the body of a request, and returns status and body."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    answers: Answers

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self.put(404, {"error": {"message": "not found"}})

    def do_POST(self) -> None:
        self.put(*self.answers(json.loads(self.rfile.read(int(self.headers["Content-Length"])))))

    def put(self, status: int, body: Any) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@contextmanager
def serve(answers: Answers) -> Iterator[str]:
    """The base URL of a server that answers so."""
    handler = type("Handler", (_Handler,), {"answers": staticmethod(answers)})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()


def completion(
    text: str | None, calls: list[tuple[str, str]] | None = None, *, prefix: str = "call", finish: str | None = None
) -> dict[str, Any]:
    """A response with text, or with native calls: name and arguments' text."""
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if calls:
        message["tool_calls"] = [
            {"id": f"{prefix}_{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
            for number, (name, arguments) in enumerate(calls)
        ]
    choice = {"index": 0, "message": message, "finish_reason": finish or ("tool_calls" if calls else "stop")}
    usage = {"prompt_tokens": 200, "completion_tokens": 30, "total_tokens": 230}
    return {"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
