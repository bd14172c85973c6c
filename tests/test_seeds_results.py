"""The document "Native Tool Result Format": its messages, its calls by server and tool, and its loop, over toolglot.compat."""

from __future__ import annotations

import json
from typing import Any

import pytest

import toolglot
from toolglot import compat
from toolglot.compat import ChatMessage, OpenAIToolCall, ParsedToolCall

TOOLS = toolglot.ToolSet(
    {"fs": [{"name": "read_file", "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}}}]}
)
IN_TEXT = 'Let me look.\n<tool_call>{"name": "read_file", "arguments": {"path": "/etc/hosts"}}</tool_call>'


def native(name: str = "fs___read_file") -> dict[str, Any]:
    function = {"name": name, "arguments": '{"path": "/etc/hosts"}'}
    calls = [{"id": "call_1", "type": "function", "function": function}]
    message = {"role": "assistant", "content": "Let me look.", "tool_calls": calls}
    return {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}


def test_row_41_messages_with_and_without_the_new_fields() -> None:
    call: OpenAIToolCall = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    asked = ChatMessage(role="assistant", content="", tool_calls=[call])
    result: ChatMessage = {"role": "tool", "content": "ok", "tool_call_id": "call_1"}
    old: ChatMessage = {"role": "user", "content": "Hi"}
    assert not toolglot.check_history([old, asked, result], "openai")


def test_row_41_the_system_prompt_of_a_message_comes_back() -> None:
    """No provider has a place for it: it stands beside the messages, and is there again on the way home."""
    kept: ChatMessage = {"role": "user", "content": "Hi", "system_prompt": "Be brief."}
    sent = toolglot.convert_messages([kept], to="anthropic")
    assert list(sent) == [{"role": "user", "content": "Hi"}]
    assert "Be brief." in json.dumps(sent.side)
    assert list(toolglot.convert_messages(sent, to="openai")) == [kept]


def test_row_42_calls_in_openais_shape() -> None:
    (call,) = toolglot.normalize(native("f")).tool_calls
    written: OpenAIToolCall = call.to_openai()
    assert written == {
        "id": "call_1",
        "type": "function",
        "function": {"name": "f", "arguments": '{"path": "/etc/hosts"}'},
    }
    assert isinstance(written["function"]["arguments"], str)


@pytest.mark.parametrize("name", ["read_file", "fs___read_file", "fs:read_file"])
def test_row_43_the_server_of_a_call(name: str) -> None:
    """From the ToolSet that knows its servers, however the model spells the name."""
    (call,) = compat.parsed_tool_calls(toolglot.normalize(native(name), TOOLS), TOOLS)
    assert (call["server"], call["tool"], call["arguments"]) == ("fs", "read_file", {"path": "/etc/hosts"})
    assert call["id"] == "call_1"
    assert json.loads(call["raw"])["arguments"] == {"path": "/etc/hosts"}


def test_row_43_the_server_without_a_tool_set() -> None:
    (call,) = compat.parsed_tool_calls(toolglot.normalize(native()))
    assert (call["server"], call["tool"]) == ("fs", "read_file")
    (call,) = compat.parsed_tool_calls(toolglot.normalize(native("read_file")))
    assert (call["server"], call["tool"]) == ("unknown", "read_file")


@pytest.mark.parametrize("tools", [None, TOOLS])
def test_row_44_the_accumulator_keeps_ids(tools: Any) -> None:
    streaming = compat.StreamingToolCalls(tools)
    assert streaming.is_empty()
    name = "fs___read_file" if tools is None else "read_file"
    streaming.process_streaming_tool_call_delta([{"index": 0, "id": "call_9", "function": {"name": name}}])
    for piece in ('{"path": ', '"/etc/hosts"}'):
        streaming.process_streaming_tool_call_delta([{"index": 0, "function": {"arguments": piece}}])
    assert not streaming.is_empty()
    (call,) = streaming.into_parsed_calls()
    assert (call["server"], call["tool"], call["id"]) == ("fs", "read_file", "call_9")
    assert call["arguments"] == {"path": "/etc/hosts"}


def parsed(id: str | None) -> ParsedToolCall:
    return {
        "server": "fs",
        "tool": "read_file",
        "arguments": {"path": "/"},
        "raw": "",
        "id": id,
        "status": "ok",
        "runnable": True,
    }


def test_row_45_the_assistants_message() -> None:
    assert compat.create_assistant_tool_call_message("Let me look.", [parsed("call_1")], use_native=True) == {
        "role": "assistant",
        "content": "Let me look.",
        "tool_calls": [
            {
                "id": "call_1",
                "type": "function",
                "function": {"name": "fs___read_file", "arguments": '{"path": "/"}'},
            }
        ],
    }
    content_only = {"role": "assistant", "content": "Let me look."}
    assert compat.create_assistant_tool_call_message("Let me look.", [parsed(None)], use_native=True) == content_only
    assert compat.create_assistant_tool_call_message("Let me look.", [parsed("call_1")], False) == content_only


@pytest.mark.parametrize("native_tool_calling_enabled", [True, False])
def test_row_46_the_loop(native_tool_calling_enabled: bool) -> None:
    """The document's agentic loop: a message for each result where calls are native, else one user's message for all."""
    turn = (
        toolglot.normalize(native("read_file"), TOOLS)
        if native_tool_calling_enabled
        else toolglot.extract(IN_TEXT, TOOLS)
    )
    calls = compat.parsed_tool_calls(turn, TOOLS)
    full_history: list[Any] = [{"role": "user", "content": "Which hosts?"}]
    full_history.append(
        compat.create_assistant_tool_call_message(turn.content, calls, use_native=native_tool_calling_enabled)
    )
    tool_results = []
    for call, resolved in zip(turn.tool_calls, calls, strict=True):
        result_text = f"the text of {resolved['arguments']['path']}"
        if native_tool_calling_enabled and resolved["id"] is not None:
            full_history.append(compat.create_tool_result_message(resolved["id"], result_text))
        else:
            tool_results.append((call, result_text))
    full_history += toolglot.format_tool_results(tool_results, "text")
    assert [message["role"] for message in full_history][-1] == ("tool" if native_tool_calling_enabled else "user")
    assert "the text of /etc/hosts" in full_history[-1]["content"]
    assert not toolglot.check_history(full_history, "openai" if native_tool_calling_enabled else "text")


def test_row_47_combined_results() -> None:
    calls = [toolglot.ToolCall("read_file", {}, id=id) for id in ("a", "b")]
    (message,) = toolglot.format_tool_results([(calls[0], "one"), (calls[1], "two")], "text")
    assert message["role"] == "user"
    assert message["content"].count("<tool_result>") == message["content"].count("</tool_result>") == 2


def test_row_48_old_messages() -> None:
    old = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello."}]
    assert not toolglot.check_history(old)
    assert list(toolglot.convert_messages(old, to="openai")) == old
