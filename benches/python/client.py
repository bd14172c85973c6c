"""What a turn of the client costs beyond the HTTP library, where nothing fails: ``nox -s bench`` prints it.

CPU time of the process, best of many rounds, for an answer with a native call, one with a call in text, one that is streamed and one
step of a run; the model is a function. And what ``httpx`` takes for the same request, answered in memory.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import httpx

from toolglot import CapabilityStore, Client, SyncClient, ToolSet

TOOL = {
    "name": "get_time",
    "description": "What time it is.",
    "inputSchema": {"type": "object", "properties": {"zone": {"type": "string"}}, "required": ["zone"]},
}
URL = "http://localhost:8000/v1"
ASK = [{"role": "user", "content": "What time is it?"}]
CALL = {"id": "c", "type": "function", "function": {"name": "get_time", "arguments": '{"zone": "UTC"}'}}
USAGE = {"prompt_tokens": 90, "completion_tokens": 12, "total_tokens": 102}


def body(message: dict[str, Any]) -> bytes:
    return json.dumps({"choices": [{"message": {"role": "assistant", **message}}], "usage": USAGE}).encode()


NATIVE = body({"content": None, "tool_calls": [CALL]})
TEXT = body({"content": '<tool_call>\n{"name": "get_time", "arguments": {"zone": "UTC"}}\n</tool_call>'})
DELTAS = [{"tool_calls": [{**CALL, "index": 0}]}, {}]
STREAM = [b"data: " + json.dumps({"choices": [{"index": 0, "delta": delta}]}).encode() + b"\n\n" for delta in DELTAS]
STREAM.append(b"data: [DONE]\n\n")


def best(run: Callable[[], Any], rounds: int = 600, turns: int = 5) -> float:
    """Microseconds of CPU that a turn takes."""
    took = float("inf")
    for _ in range(rounds):
        began = time.process_time()
        for _ in range(turns):
            run()
        took = min(took, time.process_time() - began)
    return took / turns * 1e6


def sync(answer: Any) -> SyncClient:
    return SyncClient("m", URL, client=lambda request: (200, {}, answer), capabilities=CapabilityStore())


def main() -> int:
    """Print a line each; 1 if a plain turn takes 200 us or more."""
    tools = ToolSet([TOOL])
    native, text, stream = sync(NATIVE), sync(TEXT), sync(STREAM)
    plain = best(lambda: native.complete(ASK, tools))
    print(f"{plain:7.0f} us  a turn, native call")
    print(f"{best(lambda: text.complete(ASK, tools)):7.0f} us  a turn, call in text")
    print(f"{best(lambda: list(stream.stream(ASK, tools))):7.0f} us  a turn, streamed")

    client = Client("m", URL, client=lambda request: (200, {}, NATIVE), capabilities=CapabilityStore())
    loop = asyncio.new_event_loop()
    print(
        f"{best(lambda: loop.run_until_complete(client.complete(ASK, tools))):7.0f} us  a turn, async (with the start of a task)"
    )
    loop.close()

    transport = httpx.MockTransport(lambda request: httpx.Response(200, content=NATIVE))
    with httpx.Client(transport=transport) as http:
        sent = {"content": b"{}", "headers": {"content-type": "application/json"}}
        print(
            f"{best(lambda: http.post(URL, **sent).content, rounds=200):7.0f} us  a request of httpx, answered in memory"
        )
    return int(plain >= 200)


if __name__ == "__main__":
    sys.exit(main())
