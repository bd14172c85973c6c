"""Tools of free text (OpenAI's `custom`): declared, called, answered and carried between providers.

Sources: CLIProxyAPI#5753, sub2api#3390, sub2api#5659, unsloth#9121, 9router#1371, copilot-api#242, codex-relay#37.
"""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

import toolglot
from toolglot import ToolCall, ToolSet, Turn

GRAMMAR = {"type": "grammar", "syntax": "lark", "definition": "start: begin_patch"}
PATCH = {"type": "custom", "name": "apply_patch", "description": "Edits files.", "format": GRAMMAR}
# As Chat Completions has it.
CHAT = {
    "type": "custom",
    "custom": {
        "name": "apply_patch",
        "description": "Edits files.",
        "format": {"type": "grammar", "grammar": {"syntax": "lark", "definition": "start: begin_patch"}},
    },
}
TOOLS = ToolSet([PATCH, {"name": "get_weather"}])
OTHERS = ["openai", "anthropic", "gemini", "mistral", "cohere", "ollama", "bedrock"]
INPUT = "*** Begin Patch\n*** End Patch"
CALL = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "call_1", "name": "apply_patch", "input": INPUT}
RESULT = {"type": "custom_tool_call_output", "call_id": "call_1", "output": "Done"}


def answer(*items: dict[str, Any]) -> dict[str, Any]:
    return {"object": "response", "status": "completed", "output": list(items)}


def chat(arguments: str) -> dict[str, Any]:
    call = {"id": "call_1", "type": "function", "function": {"name": "apply_patch", "arguments": arguments}}
    return {"choices": [{"message": {"content": None, "tool_calls": [call]}, "finish_reason": "tool_calls"}]}


@pytest.mark.parametrize("declared", [PATCH, CHAT])
def test_it_is_a_function_with_one_string_to_all_but_responses(declared: dict[str, Any]) -> None:
    tools = ToolSet([declared])
    assert tools.to("openai_responses") == [PATCH]
    assert list(tools.losses("openai_responses")) == []
    for provider in OTHERS:
        said = json.dumps(tools.to(provider))
        assert '"custom"' not in said, provider
        assert '"input"' in said, provider
        assert "start: begin_patch" in said, provider
    choice = tools.tool_choice("apply_patch", provider="openai_responses")
    assert choice == {"tool_choice": {"type": "custom", "name": "apply_patch"}}
    assert pickle.loads(pickle.dumps(tools)).to("openai_responses") == [PATCH]
    (tool,) = tools
    assert ToolSet([tool.to_dict()]).to("openai_responses") == [PATCH]


@pytest.mark.parametrize("tools", [TOOLS, None])
def test_a_call_of_responses_goes_back_as_it_came(tools: ToolSet | None) -> None:
    turn = toolglot.normalize(answer(CALL), tools=tools)
    (call,) = turn.tool_calls
    assert (call.arguments, call.status, call.freeform) == ({"input": INPUT}, "ok", True)
    assert pickle.loads(pickle.dumps(call)) == call
    assert toolglot.assistant_message(turn, "openai_responses") == [CALL]
    assert toolglot.format_tool_result(call, "Done", provider="openai_responses") == RESULT
    assert toolglot.format_tool_results([(call, "Done")], "openai_responses") == [RESULT]
    for provider in OTHERS:
        said = json.dumps(
            [toolglot.assistant_message(turn, provider), toolglot.format_tool_results([(call, "Done")], provider)]
        )
        assert "custom" not in said, provider


@pytest.mark.parametrize(
    "made",
    [
        lambda: toolglot.normalize(chat(json.dumps({"input": INPUT})), tools=TOOLS),
        lambda: toolglot.extract(
            "<tool_call>" + json.dumps({"name": "apply_patch", "arguments": {"input": INPUT}}) + "</tool_call>",
            tools=TOOLS,
        ),
    ],
)
def test_a_call_of_another_model_goes_to_responses_as_free_text(made: Any) -> None:
    turn = made()
    (call,) = turn.tool_calls
    assert call.freeform
    (item,) = toolglot.assistant_message(turn, "openai_responses")
    assert (item["type"], item["name"], item["input"]) == ("custom_tool_call", "apply_patch", INPUT)
    result = toolglot.format_tool_result(call, "Done", provider="openai_responses")
    assert result["type"] == "custom_tool_call_output"
    assert toolglot.check_history([{"role": "user", "content": "?"}, item, result], "openai_responses") == []


def test_dicts_and_ids_are_answered_by_what_they_say() -> None:
    call = {"id": "call_1", "type": "function", "function": {"name": "apply_patch", "arguments": "{}"}}
    for called in (CALL, {"id": "call_1", "type": "custom", "custom": {"name": "apply_patch", "input": "x"}}):
        assert toolglot.format_tool_result(called, "Done", provider="openai_responses") == RESULT
    assert toolglot.format_tool_result(call, "Done", provider="openai_responses", tools=TOOLS) == RESULT
    assert toolglot.format_tool_result(call, "Done", provider="openai_responses")["type"] == "function_call_output"


@pytest.mark.parametrize("provider", OTHERS)
def test_a_history_goes_there_and_back(provider: str) -> None:
    history = [{"role": "user", "content": "?"}, CALL, RESULT]
    there = toolglot.convert_messages(history, provider)
    assert toolglot.check_history(there, provider) == []
    assert there.issues == []
    assert "custom" not in json.dumps(list(there))
    assert list(toolglot.convert_messages(there, "openai_responses")) == history
    # Without what was kept beside it, the tools tell.
    _, call, result = toolglot.convert_messages(list(there), "openai_responses", source=provider, tools=TOOLS)
    assert (call["type"], call["input"]) == ("custom_tool_call", INPUT)
    assert (result["type"], result["call_id"]) == ("custom_tool_call_output", call["call_id"])
    _, call, result = toolglot.convert_messages(list(there), "openai_responses", source=provider)
    assert (call["type"], result["type"]) == ("function_call", "function_call_output")


def test_a_history_becomes_text() -> None:
    history = [{"role": "user", "content": "?"}, CALL, RESULT]
    there = toolglot.convert_messages(history, "text", dialect="hermes")
    assert (there.provider, toolglot.check_history(there)) == ("text", [])
    _, call, result = there
    turn = toolglot.extract(call["content"], tools=TOOLS, dialect="hermes")
    assert [(made.name, made.arguments) for made in turn.tool_calls] == [("apply_patch", {"input": INPUT})]
    assert result == {"role": "user", "content": "<tool_response>\nDone\n</tool_response>"}
    with pytest.raises(toolglot.BadOptionError):
        toolglot.convert_messages(history, "openai", dialect="hermes")
    with pytest.raises(toolglot.UnknownProviderError, match="to_prompt"):
        TOOLS.to("text")


def test_a_result_of_the_wrong_kind_is_found_and_mended() -> None:
    history = [{"role": "user", "content": "?"}, CALL, {**RESULT, "type": "function_call_output"}]
    (issue,) = toolglot.check_history(history, "openai_responses")
    assert (issue.code, issue.place) == ("orphan_result", "/2")
    assert list(toolglot.repair_history(history, "openai_responses")) == [history[0], CALL, RESULT]


def test_an_unreadable_call_has_no_input() -> None:
    turn = Turn("", [ToolCall("apply_patch", "{}", status="incomplete", freeform=True)])
    (item,) = toolglot.assistant_message(turn, "openai_responses")
    assert (item["type"], item["input"]) == ("custom_tool_call", "")


def test_the_tools_of_codex_are_read_in_their_wrappers() -> None:
    def read(name: str) -> dict[str, Any]:
        schema = {"type": "object", "properties": {"path": {"type": "string"}}}
        tool = {"type": "function", "name": "read", "parameters": schema}
        return {"type": "namespace", "name": name, "description": "Files.", "tools": [tool]}

    tools = ToolSet([read("mcp__fs"), read("mcp__git"), {"type": "additional_tools", "tools": [PATCH]}])
    assert [tool.name for tool in tools] == ["mcp__fs:read", "mcp__git:read", "apply_patch"]
    assert PATCH in tools.to("openai_responses")
    item = {
        "type": "function_call",
        "id": "fc_1",
        "call_id": "c",
        "name": "read",
        "namespace": "mcp__git",
        "arguments": "{}",
    }
    turn = toolglot.normalize(answer(item), tools=tools)
    assert [(call.name, call.status) for call in turn.tool_calls] == [("mcp__git:read", "ok")]
    (back,) = toolglot.assistant_message(turn, "openai_responses")
    assert (back["name"], back["namespace"]) == ("read", "mcp__git")
    # One namespace alone: the name says enough.
    turn = toolglot.normalize(answer(item), tools=ToolSet([read("mcp__git")]))
    assert [(call.name, call.status) for call in turn.tool_calls] == [("read", "ok")]
