"""A model that writes its calls as text, behind Chat Completions: what real coding clients are tried on.

The server takes ``tools`` and never answers with ``tool_calls``: every call is text, of another dialect at each step, in
pieces of a few characters. A client that runs them does so only because they were read out of the text on the way.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

SHELLS = (
    "Bash",
    "bash",
    "run_shell_command",
    "exec_command",
    "shell_command",
    "shell",
    "run_commands",
    "execute_command",
)
USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}


def hermes(name: str, arguments: dict[str, Any]) -> str:
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def qwen3_coder(name: str, arguments: dict[str, Any]) -> str:
    values = "".join(
        f"<parameter={key}>\n{value if isinstance(value, str) else json.dumps(value)}\n</parameter>\n"
        for key, value in arguments.items()
    )
    return f"<tool_call>\n<function={name}>\n{values}</function>\n</tool_call>"


def glm45(name: str, arguments: dict[str, Any]) -> str:
    values = "".join(
        f"<arg_key>{key}</arg_key>\n<arg_value>{value if isinstance(value, str) else json.dumps(value)}</arg_value>\n"
        for key, value in arguments.items()
    )
    return f"<tool_call>{name}\n{values}</tool_call>"


def kimi_k2(name: str, arguments: dict[str, Any]) -> str:
    call = f"functions.{name}:0<|tool_call_argument_begin|>{json.dumps(arguments)}"
    return f"<|tool_calls_section_begin|><|tool_call_begin|>{call}<|tool_call_end|><|tool_calls_section_end|>"


def mistral(name: str, arguments: dict[str, Any]) -> str:
    return f"[TOOL_CALLS]{name}[ARGS]{json.dumps(arguments)}"


def fenced(name: str, arguments: dict[str, Any]) -> str:
    return f"```json\n{json.dumps({'name': name, 'arguments': arguments}, indent=2)}\n```"


DIALECTS: tuple[Callable[[str, dict[str, Any]], str], ...] = (hermes, qwen3_coder, glm45, kimi_k2, mistral, fenced)


def shell_arguments(schema: Any, command: str) -> dict[str, Any]:
    """Arguments of a tool that runs a command, whatever the client calls its parameters."""
    out: dict[str, Any] = {}
    for key, part in schema.get("properties", {}).items():
        if key in ("command", "cmd", "commands", "script"):
            out[key] = [command] if part.get("type") == "array" or key == "commands" else command
        elif key in schema.get("required", []):
            values = {"boolean": False, "integer": 1, "number": 1, "array": [], "object": {}}
            out[key] = part["enum"][0] if part.get("enum") else values.get(part.get("type"), "scripted")
    return out


def commands(task: str, step: int) -> list[str]:
    """What the model runs at a step; nothing: it is done."""
    if task == "file":
        both = ["printf 'hello from the model\\n' > hello.txt", "cat hello.txt"]
        return both[step : step + 1]
    kind, count = task.split("-")
    if kind == "row":
        return [f"echo line {step} >> lines.txt; wc -l < lines.txt"] if step < int(count) else []
    return [f"echo part {number} > part{number}.txt" for number in range(int(count))] if step == 0 else []


def said(body: Any, task: str) -> str:
    """The whole answer to a request."""
    tools = {tool["function"]["name"]: tool["function"].get("parameters") or {} for tool in body.get("tools") or []}
    shell = next((name for name in SHELLS if name in tools), None)
    if shell is None:
        return "A title"
    step = sum(message["role"] == "tool" for message in body["messages"])
    calls = commands(task, step)
    if not calls:
        return "DONE"
    dialect = DIALECTS[step % len(DIALECTS)]
    return "I'll do it.\n" + "\n".join(dialect(shell, shell_arguments(tools[shell], command)) for command in calls)


def model(task: str, seen: list[bytes]) -> Starlette:
    """The server; the bodies of its requests are appended to ``seen``."""

    async def complete(request: Request) -> Response:
        seen.append(await request.body())
        body = await request.json()
        text = said(body, task)
        head = {"id": "chatcmpl-1", "created": 1, "model": body["model"]}
        if not body.get("stream"):
            choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            return JSONResponse({**head, "object": "chat.completion", "choices": [choice], "usage": USAGE})

        async def stream() -> AsyncIterator[bytes]:
            def event(choices: list[Any], **more: Any) -> bytes:
                return (
                    b"data: "
                    + json.dumps({**head, "object": "chat.completion.chunk", "choices": choices, **more}).encode()
                    + b"\n\n"
                )

            for at in range(0, len(text), 5):
                yield event([{"index": 0, "delta": {"content": text[at : at + 5]}, "finish_reason": None}])
            yield event([{"index": 0, "delta": {}, "finish_reason": "stop"}])
            if (body.get("stream_options") or {}).get("include_usage"):
                yield event([], usage=USAGE)
            yield b"data: [DONE]\n\n"

        return StreamingResponse(stream(), media_type="text/event-stream")

    async def models(_: Request) -> Response:
        return JSONResponse({"object": "list", "data": [{"id": "scripted", "object": "model", "owned_by": "-"}]})

    return Starlette(routes=[Route("/v1/chat/completions", complete, methods=["POST"]), Route("/v1/models", models)])
