"""The drop-in names do what the documents that use them show."""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

import toolglot
from toolglot import compat, router

READ = {
    "name": "filesystem:read_file",
    "description": "Read a file from the filesystem",
    "inputSchema": {
        "type": "object",
        "properties": {"path": {"type": "string", "description": "Path to the file to read"}},
        "required": ["path"],
    },
}


def test_mcp_and_openai() -> None:
    tool = compat.mcp_tool_to_openai_tool(READ)
    assert tool == {
        "type": "function",
        "function": {
            "name": "filesystem_read_file",
            "description": READ["description"],
            "parameters": READ["inputSchema"],
        },
    }
    assert compat.mcp_tools_to_openai_tools([READ, {"bad": 1}]) == [tool]
    with pytest.raises(toolglot.BadToolError):
        compat.mcp_tool_to_openai_tool({"bad": 1})
    function = {"name": "filesystem_read_file", "arguments": '{"path": "/etc/hosts"}'}
    calls = [{"id": "call_abc123", "type": "function", "function": function}]
    mcp = [{"name": "filesystem:read_file", "arguments": {"path": "/etc/hosts"}}]
    assert compat.openai_tool_calls_to_mcp(calls, [READ]) == mcp
    assert compat.openai_tool_calls_to_mcp([SimpleNamespace(function=SimpleNamespace(**function))], [READ]) == mcp
    assert compat.openai_tool_calls_to_mcp(calls)[0]["name"] == "filesystem_read_file"
    function["arguments"] = '{"path": 5, "path2"'
    assert compat.openai_tool_calls_to_mcp(calls, [READ]) == []


def test_registry() -> None:
    parameters = {"type": "object", "properties": {"a": {"type": "string"}}}
    registry = {
        "on": {"server": "s", "enabled": True, "definition": {"description": "On.", "parameters": parameters}},
        "bare": {"server": "s", "enabled": True, "definition": {}},
        "off": {"server": "s", "enabled": False, "definition": {}},
    }
    expected = [
        {"name": "on", "description": "On.", "parameters": parameters},
        {
            "name": "bare",
            "description": "MCP tool: bare",
            "parameters": {"type": "object", "properties": {}, "required": []},
        },
    ]
    assert compat.get_tool_definitions_for_api(registry) == expected
    assert (
        compat.get_tool_definitions_for_api([{"name": name, **entry} for name, entry in registry.items()]) == expected
    )


@dataclass
class Tool:
    """A request's tool, as frameworks hold it."""

    type: str
    function: dict[str, Any]


def test_prompts() -> None:
    prompt = compat.tools_to_system_prompt([READ])
    assert "tool_calls" in prompt
    assert "read_file" in compat.tools_to_system_prompt([Tool("function", {"name": "read_file", "parameters": {}})])
    assert READ["description"] in prompt
    assert compat.tools_to_system_prompt([]) == ""
    messages = [{"role": "user", "content": "Hi"}]
    assert compat.inject_tools_into_messages(messages, [READ]) == [{"role": "system", "content": prompt}, *messages]


FENCED = """I'll read it.
```json
{
  "tool_calls": [
    {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": "{\\"path\\":\\"/etc/hosts\\"}"}}
  ]
}
```"""
CALL = {"name": "read_file", "arguments": {"path": "/etc/hosts"}}
TOOLS = [{"type": "function", "function": {"name": "read_file", "parameters": READ["inputSchema"]}}]


def test_calls_in_text() -> None:
    assert compat.extract_tool_calls_from_text(None) is None
    assert compat.extract_tool_calls_from_text("Just prose.") is None
    calls = compat.extract_tool_calls_from_text(FENCED, TOOLS)
    assert calls is not None
    assert [(c["type"], c["function"]["name"]) for c in calls] == [("function", "read_file")]
    assert json.loads(calls[0]["function"]["arguments"]) == CALL["arguments"]
    # The documents show it without tools, in a fence and bare; the model's own id stays.
    function = {"name": "read_file", "arguments": "{}"}
    envelope = json.dumps({"tool_calls": [{"id": "call_1", "type": "function", "function": function}]})
    for text in (f"```json\n{envelope}\n```", envelope):
        assert compat.extract_tool_calls_from_text(text) == [{"id": "call_1", "type": "function", "function": function}]


@dataclass(frozen=True)
class Request:
    """A request, as frameworks hold it."""

    tools: Any


@pytest.mark.parametrize(
    "content",
    [
        FENCED,
        "<think>Read it?</think>" + FENCED,
        '<tool_call>{"name": "write_file", "arguments": {}}</tool_call>',
        'Now. <tool_call>{"name": "read_file", "argum',
        "Nothing to call.",
    ],
)
def test_one_meaning_of_a_response(content: str) -> None:
    """The router's: reasoning apart, calls of unknown tools for the client to refuse, cut-off ones nowhere."""
    message = {"role": "assistant", "content": content}
    response = {"id": "x", "choices": [{"index": 0, "finish_reason": "stop", "message": message}]}
    request = {"tools": TOOLS}
    for same in (request, Request(TOOLS), SimpleNamespace(**request)):
        ours = compat.transform_response_with_tools(response, same)
        theirs = router.transform_response_with_tools(response, request)
        for choice in (*ours["choices"], *theirs["choices"]):
            for call in choice["message"].get("tool_calls", []):
                call["id"] = "c"
        assert ours == theirs


def test_responses() -> None:
    response = {
        "id": "x",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": FENCED}}],
    }
    before = copy.deepcopy(response)
    assert compat.transform_response_with_tools(response, {"tools": None}) == before
    (choice,) = compat.transform_response_with_tools(response, SimpleNamespace(tools=TOOLS))["choices"]
    assert response == before
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"].strip() == "I'll read it."
    assert choice["message"]["tool_calls"][0]["function"]["name"] == "read_file"


@pytest.mark.parametrize(
    "text",
    [
        '<function_calls>\n<invoke name="read_file">\n<parameter name="path">/etc/hosts</parameter>\n'
        "</invoke>\n</function_calls>",
        '<invoke name="read_file">\n<parameter name="path">/etc/hosts</parameter>\n</invoke>',
        '<function_calls>\n[{"name": "read_file", "arguments": {"path": "/etc/hosts"}}]\n</function_calls>',
    ],
)
def test_xml(text: str) -> None:
    assert compat.normalize_xml_tool_calls(text) == {"toolCalls": [CALL], "content": "", "needsMoreWork": True}
    assert compat.normalize_xml_tool_calls("no calls") is None


def test_json_objects() -> None:
    for text in ('{"a": 1}', 'Here: ```json\n{"a": 1}\n```', "The answer is {'a': 1,} I think."):
        assert compat.extract_json_object(text) == {"a": 1}, text
    for text in (None, "", "no object", "[1, 2]"):
        assert compat.extract_json_object(text) is None


def test_a_call_without_a_name_is_left_out() -> None:
    calls = [{"function": {"name": name, "arguments": "{}"}} for name in ("", None, "ping")]
    assert compat.openai_tool_calls_to_mcp(calls) == [{"name": "ping", "arguments": {}}]
