"""Drop-in names for services that keep ``{"server", "tool", "arguments", "raw", "id"}`` dicts: see :mod:`toolglot.compat`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, TypedDict

from . import _core
from ._core import StreamNormalizer, ToolCall, ToolSet, Turn

__all__ = [
    "ChatMessage",
    "OpenAIToolCall",
    "OpenAIToolCallFunction",
    "ParsedToolCall",
    "StreamingToolCalls",
    "create_assistant_tool_call_message",
    "create_tool_result_message",
    "mcp_tool_data",
    "parsed_tool_calls",
    "process_llm_response",
]

SEPARATOR = "___"


class OpenAIToolCallFunction(TypedDict):
    """The function of a call in OpenAI's shape; ``arguments`` is JSON text."""

    name: str
    arguments: str


class OpenAIToolCall(TypedDict):
    """A call in OpenAI's shape."""

    id: str
    type: str
    function: OpenAIToolCallFunction


class _Message(TypedDict):
    role: str


class ChatMessage(_Message, total=False):
    """A message of a history in OpenAI's shape. What is not there is left out, and an old message without calls is one."""

    content: str | None
    system_prompt: str
    """What some services keep with a message; providers are not sent it, and ``Messages.side`` has it."""
    tool_calls: list[OpenAIToolCall]
    tool_call_id: str


class ParsedToolCall(TypedDict):
    """A call as services keep it that know tools by server and name."""

    server: str
    tool: str
    arguments: dict[str, Any]
    raw: str
    id: str | None
    status: str
    runnable: bool


def _parsed(call: ToolCall, tools: ToolSet | None) -> ParsedToolCall:
    offered = tools[call.name] if tools is not None and call.name in tools else None
    server, found, tool = call.name.partition(SEPARATOR)
    if offered is not None and offered.server is not None:
        server, found, tool = offered.server, SEPARATOR, offered.original_name
    return {
        "server": server if found else "unknown",
        "tool": tool if found else call.name,
        "arguments": call.arguments,
        "raw": call.raw or json.dumps({"name": call.name, "arguments": call.arguments}, ensure_ascii=False),
        "id": call.id,
        "status": call.status,
        "runnable": call.runnable,
    }


def parsed_tool_calls(turn: Turn, tools: Any = None) -> list[ParsedToolCall]:
    """Give a turn's calls as dicts with the name split into ``server`` and ``tool``.

    Calls that must not run are in it too, with ``runnable`` False, so that the model can be told.

    Args:
        turn: The turn.
        tools: The tools that were offered: they know their servers (``ToolSet({server: [...]})``). Else the name is split at
            ``___``, and the server of a name without it is ``"unknown"``.

    >>> import toolglot
    >>> from toolglot.compat import parsed_tool_calls
    >>> tools = toolglot.ToolSet({"fs": [{"name": "read"}]})
    >>> (call,) = parsed_tool_calls(toolglot.extract('<tool_call>{"name": "read", "arguments": {}}</tool_call>', tools), tools)
    >>> call["server"], call["tool"]
    ('fs', 'read')
    """
    offered = ToolSet(tools) if tools is not None else None
    return [_parsed(call, offered) for call in turn.tool_calls]


def mcp_tool_data(call: ToolCall) -> dict[str, Any]:
    """Give a call as ``{"type": "mcp_tool", "id", "name", "arguments"}``, which services' own executors take.

    >>> import toolglot
    >>> from toolglot.compat import mcp_tool_data
    >>> mcp_tool_data(toolglot.ToolCall("read", {"path": "a"}, id="call_1"))
    {'type': 'mcp_tool', 'id': 'call_1', 'name': 'read', 'arguments': {'path': 'a'}}
    """
    return {"type": "mcp_tool", "id": call.id, "name": call.name, "arguments": call.arguments}


def create_assistant_tool_call_message(
    content: str, calls: Iterable[Mapping[str, Any]], use_native: bool = True
) -> ChatMessage:
    """Make the assistant's message of a history: with ``tool_calls`` if all calls have an id, else the content alone."""
    calls = list(calls)
    message: ChatMessage = {"role": "assistant", "content": content}
    if use_native and calls and all(call.get("id") for call in calls):
        message["tool_calls"] = [
            {"id": call["id"], "type": "function", "function": {"name": _name(call), "arguments": _json(call)}}
            for call in calls
        ]
    return message


def _name(call: Mapping[str, Any]) -> str:
    server, tool = call.get("server"), str(call["tool"])
    return f"{server}{SEPARATOR}{tool}" if server and server != "unknown" else tool


def _json(call: Mapping[str, Any]) -> str:
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
        self._tools = None if tools is None else ToolSet(tools)
        self._stream = StreamNormalizer("openai", self._tools)
        self._seen = False

    def process_streaming_tool_call_delta(self, tool_calls: Iterable[Any]) -> None:
        """Take the ``tool_calls`` of one delta."""
        for call in tool_calls:
            self._seen = True
            self._stream.feed({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})

    def is_empty(self) -> bool:
        """Whether no call has begun."""
        return not self._seen

    def into_parsed_calls(self) -> list[ParsedToolCall]:
        """Give the calls as :func:`parsed_tool_calls` does. Nothing can be fed after it."""
        if not self._seen:
            return []
        self._stream.feed({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
        return parsed_tool_calls(self._stream.finish(), self._tools)
