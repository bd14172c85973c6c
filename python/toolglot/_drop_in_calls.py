"""Drop-in names for services that keep ``{"server", "tool", "arguments", "raw", "id"}`` dicts: see :mod:`toolglot.compat`."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from . import _core
from ._core import StreamNormalizer, ToolCall, Turn

__all__ = [
    "StreamingToolCalls",
    "create_assistant_tool_call_message",
    "create_tool_result_message",
    "parsed_tool_calls",
    "process_llm_response",
]

SEPARATOR = "___"


def _parsed(call: ToolCall) -> dict[str, Any]:
    server, found, tool = call.name.partition(SEPARATOR)
    return {
        "server": server if found else "unknown",
        "tool": tool if found else call.name,
        "arguments": call.arguments,
        "raw": call.raw or json.dumps({"name": call.name, "arguments": call.arguments}, ensure_ascii=False),
        "id": call.id,
        "status": call.status,
        "runnable": call.runnable,
    }


def parsed_tool_calls(turn: Turn) -> list[dict[str, Any]]:
    """Give a turn's calls as dicts with the name split into ``server`` and ``tool`` at ``___``.

    Calls that must not run are in it too, with ``runnable`` False, so that the model can be told.
    """
    return [_parsed(call) for call in turn.tool_calls]


def create_assistant_tool_call_message(
    content: str, calls: Iterable[dict[str, Any]], use_native: bool = True
) -> dict[str, Any]:
    """Make the assistant's message of a history: with ``tool_calls`` if all calls have an id, else the content alone."""
    calls = list(calls)
    message: dict[str, Any] = {"role": "assistant", "content": content}
    if use_native and calls and all(call.get("id") for call in calls):
        message["tool_calls"] = [
            {"id": call["id"], "type": "function", "function": {"name": _name(call), "arguments": _json(call)}}
            for call in calls
        ]
    return message


def _name(call: dict[str, Any]) -> str:
    server, tool = call.get("server"), str(call["tool"])
    return f"{server}{SEPARATOR}{tool}" if server and server != "unknown" else tool


def _json(call: dict[str, Any]) -> str:
    arguments = call.get("arguments")
    return arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)


def create_tool_result_message(tool_call_id: str, result: Any, is_error: bool = False) -> Any:
    """Make the ``role: "tool"`` message that answers a call by its id."""
    return _core.format_tool_result(tool_call_id, result, is_error=is_error, provider="openai")


def process_llm_response(response: Any, used_native_tools: bool = True, *, tools: Any = None) -> dict[str, Any]:
    """Read a response, from whichever provider, as ``{"toolCalls", "content", "needsMoreWork"}``.

    Native calls and calls in the text are both found, however the tools were offered; only calls that may run are in
    ``toolCalls``. ``used_native_tools`` is there for callers that pass it, and changes nothing.
    """
    del used_native_tools
    envelope: dict[str, Any] = _core.normalize(response, tools=tools).to_envelope()
    return envelope


class StreamingToolCalls:
    """Collects the ``tool_calls`` of Chat Completions deltas; what servers do wrong with them is put right."""

    def __init__(self, tools: Any = None) -> None:
        self._stream = StreamNormalizer("openai", tools=tools)
        self._seen = False

    def process_streaming_tool_call_delta(self, tool_calls: Iterable[Any]) -> None:
        """Take the ``tool_calls`` of one delta."""
        for call in tool_calls:
            self._seen = True
            self._stream.feed({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})

    def is_empty(self) -> bool:
        """Whether no call has begun."""
        return not self._seen

    def into_parsed_calls(self) -> list[dict[str, Any]]:
        """Give the calls as :func:`parsed_tool_calls` does. Nothing can be fed after it."""
        if not self._seen:
            return []
        self._stream.feed({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
        return parsed_tool_calls(self._stream.finish())
