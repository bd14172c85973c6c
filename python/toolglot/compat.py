"""Functions under the names that tool-calling layers are often written with, thin over the real API.

Each does in one call what the name says; ``ToolSet``, ``extract`` and their results say more.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from ._core import Dialect, ToolCall, ToolSet, extract
from ._drop_in_calls import (
    ChatMessage,
    OpenAIToolCall,
    OpenAIToolCallFunction,
    ParsedToolCall,
    StreamingToolCalls,
    create_assistant_tool_call_message,
    create_tool_result_message,
    mcp_tool_data,
    parsed_tool_calls,
    process_llm_response,
)
from .router import transform_response_with_tools

__all__ = [
    "ChatMessage",
    "OpenAIToolCall",
    "OpenAIToolCallFunction",
    "ParsedToolCall",
    "StreamingToolCalls",
    "create_assistant_tool_call_message",
    "create_tool_result_message",
    "extract_json_object",
    "extract_tool_calls_from_text",
    "get_tool_definitions_for_api",
    "inject_tools_into_messages",
    "mcp_tool_data",
    "mcp_tool_to_openai_tool",
    "mcp_tools_to_openai_tools",
    "normalize_xml_tool_calls",
    "openai_tool_calls_to_mcp",
    "parsed_tool_calls",
    "process_llm_response",
    "tools_to_system_prompt",
    "transform_response_with_tools",
]

_INVOKED = re.compile(r'<invoke\s+name="([^"]+)"')
_ANYTHING = ToolSet([{"name": "object"}])


def mcp_tool_to_openai_tool(tool: Any) -> dict[str, Any]:
    """Return an MCP tool as OpenAI wants it, under a name that OpenAI takes.

    Raises:
        BadToolError: It is no tool.
    """
    (declaration,) = ToolSet([tool], on_problem="raise").to_openai()
    return _with_required(declaration)


def mcp_tools_to_openai_tools(tools: Iterable[Any]) -> list[dict[str, Any]]:
    """Return MCP tools as OpenAI wants them; what is no tool is left out."""
    return [_with_required(declaration) for declaration in ToolSet(tools).to_openai()]


def _with_required(declaration: dict[str, Any]) -> dict[str, Any]:
    """The declaration with a list of required parameters, empty where the tool says nothing of it."""
    function = declaration["function"]
    return {**declaration, "function": {**function, "parameters": {"required": [], **function["parameters"]}}}


def openai_tool_calls_to_mcp(tool_calls: Iterable[Any], tools: Iterable[Any] | None = None) -> list[dict[str, Any]]:
    """Return OpenAI's ``tool_calls`` as MCP's ``{"name", "arguments"}``.

    Args:
        tool_calls: Dicts or objects of the SDK.
        tools: The tools that were offered. With them names get their MCP spelling back and arguments are coerced, and
            calls to others or with arguments that do not fit are left out.

    Calls without a name, and those whose arguments are cut off or cannot be read, are left out in any case; ``ToolSet.check``
    says of each call what is wrong.
    """
    offered = None if tools is None else ToolSet(tools)
    calls = []
    for item in tool_calls:
        function = _get(item, "function")
        name, arguments = _get(function, "name"), _get(function, "arguments") or "{}"
        if not isinstance(name, str) or not name:
            continue
        call = (ToolSet([{"name": name}]) if offered is None else offered).check(name, arguments)
        if call.runnable:
            calls.append({"name": call.name, "arguments": call.arguments})
    return calls


def tools_to_system_prompt(tools: Iterable[Any], dialect: str | Dialect = "auto") -> str:
    """Return the system-prompt text for a model without native tools; ``""`` without tools. ``"auto"``: plain JSON."""
    return ToolSet(tools).to_prompt(dialect)


def inject_tools_into_messages(
    messages: Iterable[Any], tools: Iterable[Any], dialect: str | Dialect = "auto"
) -> list[Any]:
    """Return the messages with that text in the system message; the given ones stay as they are."""
    return ToolSet(tools).inject(messages, dialect)


def extract_tool_calls_from_text(
    content: str | None, tools: Iterable[Any] | None = None, dialect: str = "auto"
) -> list[dict[str, Any]] | None:
    """Return the calls in a model's text as OpenAI's ``tool_calls``; None if there are none that may run."""
    calls = _runnable(content, tools, dialect)
    return [call.to_openai() for call in calls] or None


def get_tool_definitions_for_api(registry: Mapping[str, Any] | Iterable[Any]) -> list[dict[str, Any]]:
    """Return a registry's enabled tools as ``{"name", "description", "parameters"}``.

    This is the neutral shape, for a service that makes each API's own of it; ``ToolCalling``'s method of this name returns
    that of the provider at once.

    Args:
        registry: ``{name: {"server", "definition", "enabled"}}``, or a list of ``{name, server, enabled, definition}``.
    """
    if isinstance(registry, Mapping):
        registry = [{"name": name, **entry} for name, entry in registry.items()]
    entries = list(registry)
    definitions = []
    for declaration in ToolSet(entries).to_openai():
        function = declaration["function"]
        parameters = function["parameters"]
        if not parameters.get("properties"):
            parameters = {"required": [], **parameters}
        description = function.get("description", f"MCP tool: {function['name']}")
        definitions.append({"name": function["name"], "description": description, "parameters": parameters})
    return definitions


def extract_json_object(text: str | None) -> dict[str, Any] | None:
    """Return the JSON object in a text (fenced, in prose, or with the usual faults); None if there is none."""
    if not text or "{" not in text:
        return None
    call = _ANYTHING.check("object", text)
    return call.arguments if call.runnable and isinstance(call.arguments, dict) else None


def normalize_xml_tool_calls(content: str | None, tools: Iterable[Any] | None = None) -> dict[str, Any] | None:
    """Return ``{"toolCalls", "content", "needsMoreWork"}`` for a text with calls in any markup; None without calls."""
    if not content:
        return None
    if tools is None:
        # Without the wrapper, only a name that is offered makes an element a call.
        tools = [{"name": name} for name in dict.fromkeys(_INVOKED.findall(content))] or None
    turn = extract(content, tools=tools)
    return turn.to_envelope() if turn.needs_more_work else None


def _runnable(content: str | None, tools: Iterable[Any] | None, dialect: str) -> list[ToolCall]:
    if not content:
        return []
    return [call for call in extract(content, tools=tools, dialect=dialect).tool_calls if call.runnable]


def _get(item: Any, key: str) -> Any:
    """Return a key of a dict, or the attribute of that name of an SDK's object."""
    return item.get(key) if isinstance(item, Mapping) else getattr(item, key, None)
