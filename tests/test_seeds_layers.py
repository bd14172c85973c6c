"""The documents "Native Tool Calling API Proposal" and "Reliable Tool Calling Architecture": their functions over toolglot's.

What the client does about refusals, bad answers and missing capabilities is in tests/test_client.py and tests/test_capability.py.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

import toolglot
from toolglot import compat

READ: dict[str, Any] = {
    "name": "filesystem:read_file",
    "description": "Read a file from the filesystem",
    "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
}
ENVELOPE = {
    "toolCalls": [{"name": "read_file", "arguments": {"path": "/etc/hosts"}}],
    "content": "",
    "needsMoreWork": True,
}


def chat(content: str | None = None, *calls: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, **({"tool_calls": list(calls)} if calls else {})}
    return {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}]}


def function(name: str, **arguments: Any) -> dict[str, Any]:
    return {"id": "call_abc123", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}


# -- the proposal --


def test_the_three_fields_of_an_answer_in_json() -> None:
    """The model's own word on whether it goes on counts where it calls nothing."""
    for more in (True, False):
        text = json.dumps({"content": "I will look at it.", "needsMoreWork": more})
        assert compat.process_llm_response(chat(text), False) == {
            "toolCalls": [],
            "content": "I will look at it.",
            "needsMoreWork": more,
        }
    assert compat.process_llm_response(chat(json.dumps(ENVELOPE)), False) == ENVELOPE


def test_tools_and_calls_of_mcp() -> None:
    (tool,) = compat.mcp_tools_to_openai_tools([READ])
    assert tool["function"]["parameters"] == READ["inputSchema"]
    open_schema = compat.mcp_tool_to_openai_tool({"name": "now", "inputSchema": {"type": "object"}})
    assert open_schema["function"]["parameters"]["required"] == []
    called = compat.openai_tool_calls_to_mcp([function(tool["function"]["name"], path="/etc/hosts")], [READ])
    assert called == [{"name": "filesystem:read_file", "arguments": {"path": "/etc/hosts"}}]


@pytest.mark.parametrize("used_native_tools", [True, False])
def test_a_response_with_native_calls(used_native_tools: bool) -> None:
    answer = compat.process_llm_response(chat(None, function("read_file", path="/etc/hosts")), used_native_tools)
    assert answer == ENVELOPE


def test_a_result_of_mcp() -> None:
    result = {"content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]}
    assert compat.create_tool_result_message("call_abc123", result) == {
        "role": "tool",
        "tool_call_id": "call_abc123",
        "content": "one\ntwo",
    }


@pytest.mark.parametrize(
    ("model", "base_url", "supported"),
    [
        ("gpt-4o", "https://api.openai.com/v1", True),
        ("llama-3.3-70b-versatile", "https://api.groq.com/openai/v1", True),
        ("anthropic/claude-3.5-sonnet", "https://openrouter.ai/api/v1", True),
    ],
)
def test_which_models_take_tools(model: str, base_url: str, supported: bool) -> None:
    assert toolglot.supports_native_tool_calling(model, base_url) is supported


def test_what_openrouter_says_of_a_model() -> None:
    store = toolglot.CapabilityStore()
    for model, parameters, value in (("acme/one", ["tools"], "yes"), ("acme/two", ["temperature"], "no")):
        store.tell(model, "https://openrouter.ai/api/v1", {"data": {"id": model, "supported_parameters": parameters}})
        assert store.get(model, "https://openrouter.ai/api/v1").native_tools.value == value


def test_a_call_with_tools_or_with_structured_output() -> None:
    """`makeOpenAICompatibleCall`: native tools where the route takes them, else the envelope by JSON Schema."""
    sent: list[Any] = []

    def server(asked: Any) -> Any:
        sent.append(json.loads(asked.body))
        if "tools" in sent[-1]:
            return 400, {}, {"error": {"message": "this model does not support tools"}}
        return 200, {}, chat(json.dumps(ENVELOPE))

    client = toolglot.SyncClient("proposed", "http://localhost:1/v1", client=server)
    tool = {**READ, "name": "read_file"}
    turn = client.complete([{"role": "user", "content": "Which hosts?"}], [tool])
    assert turn.to_envelope() == ENVELOPE
    assert sent[0]["tools"][0]["function"]["name"] == "read_file"
    assert sent[1]["response_format"]["type"] == "json_schema"


# -- the architecture --


@pytest.mark.parametrize(
    "text",
    [
        '<function_calls>\n<invoke name="read_file">\n<parameter name="path">/etc/hosts</parameter>\n</invoke>\n'
        "</function_calls>",
        '<function_calls>\n[{"name": "read_file", "arguments": {"path": "/etc/hosts"}}]\n</function_calls>',
        json.dumps(ENVELOPE),
        f"```json\n{json.dumps(ENVELOPE)}\n```",
    ],
)
def test_every_pattern_is_the_one_envelope(text: str) -> None:
    assert toolglot.extract(text).to_envelope() == ENVELOPE
    assert toolglot.normalize(chat(text)).to_envelope() == ENVELOPE


def test_the_pattern_of_markers_alone() -> None:
    """It holds no arguments: a call with none, which a tool with a required parameter refuses, and nothing for the user."""
    text = "<|tool_calls_section_begin|>\n<|tool_call_begin|>read_file<|tool_call_end|>\n<|tool_calls_section_end|>"
    turn = toolglot.extract(text, [{**READ, "name": "read_file"}])
    assert [(call.name, call.arguments, call.status) for call in turn.tool_calls] == [("read_file", {}, "invalid")]
    assert turn.content == ""


def test_calls_of_unknown_tools_are_left_out() -> None:
    text = json.dumps({"toolCalls": [{"name": "rm", "arguments": {}}, *ENVELOPE["toolCalls"]], "content": ""})
    turn = toolglot.extract(text, [{**READ, "name": "read_file"}])
    assert turn.to_envelope() == ENVELOPE
    assert [issue.code for issue in turn.issues] == ["unknown_tool"]


def test_a_failed_generation_is_recovered() -> None:
    body = {"message": "...", "code": "tool_use_failed", "failed_generation": json.dumps(ENVELOPE)}
    for error in (body, {"error": body}):
        assert toolglot.normalize(error).to_envelope() == ENVELOPE


def test_what_was_learned_counts_before_what_is_known() -> None:
    store = toolglot.CapabilityStore()
    assert store.get("gpt-4o", "https://api.openai.com/v1").native_tools.value == "yes"
    store.record("gpt-4o", "https://api.openai.com/v1", "native_tools", "failure")
    assert store.get("gpt-4o", "https://api.openai.com/v1").native_tools.value == "no"
    store.record("gpt-4o", "https://api.openai.com/v1", "native_tools", "success")
    assert store.get("gpt-4o", "https://api.openai.com/v1").native_tools.value == "yes"


def test_what_is_configured_per_model() -> None:
    config = toolglot.Config(
        {
            "modelOverrides": {
                "anthropic/claude-3.5-sonnet": {"preferNativeTools": True, "enableXmlNormalization": True},
                "meta-llama/llama-3.3-70b": {"forceTextMode": True},
            }
        }
    )
    claude = config.model("anthropic/claude-3.5-sonnet")
    assert claude.preferred_modes[0] == "native"
    assert claude.expect_text_calls is True
    assert config.model("meta-llama/llama-3.3-70b").preferred_modes == ["text"]
    assert config.model("other").max_retries == 3
