"""What the client costs beside the HTTP library, where nothing fails."""

from __future__ import annotations

import json
import time
from typing import Any

from toolglot import CapabilityStore, SyncClient, ToolSet

TOOL = {
    "name": "get_time",
    "description": "What time it is.",
    "inputSchema": {"type": "object", "properties": {"zone": {"type": "string"}}, "required": ["zone"]},
}


def test_a_turn_that_goes_well_costs_little() -> None:
    """The exchange, the request's body, the answer's reading and what is learned: without HTTP, best of several rounds."""
    call = {"id": "c", "type": "function", "function": {"name": "get_time", "arguments": '{"zone": "UTC"}'}}
    answer = json.dumps({"choices": [{"message": {"content": None, "tool_calls": [call]}}]}).encode()

    def server(request: Any) -> Any:
        return 200, {}, answer

    client = SyncClient("m", "http://localhost:8000/v1", client=server, capabilities=CapabilityStore())
    tools, messages = ToolSet([TOOL]), [{"role": "user", "content": "What time is it?"}]
    best = float("inf")
    for _ in range(20):
        began = time.process_time()
        for _ in range(20):
            client.complete(messages, tools)
        best = min(best, (time.process_time() - began) / 20)
    print(f"{best * 1e6:.0f} us a turn")
    # An unoptimised build of the core takes some ten times as long as the one that is released.
    assert best < 5e-3
