"""What users reported of answers, streams and histories; each names the threads it is from."""

from __future__ import annotations

import json
from typing import Any

import pytest

import toolglot
from toolglot import StreamNormalizer, ToolSet

BASH = ToolSet([{"name": "bash", "parameters": {"type": "object", "properties": {"command": {"type": "string"}}}}])


def chat(arguments: str) -> dict[str, Any]:
    call = {"id": "call_1", "type": "function", "function": {"name": "bash", "arguments": arguments}}
    return {"choices": [{"message": {"content": None, "tool_calls": [call]}, "finish_reason": "tool_calls"}]}


@pytest.mark.parametrize("provider", ["xai", "venice", "xAI"])
@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("cd /p &amp;&amp; ls", "cd /p && ls"),
        ("echo &quot;a&quot; &gt; b", 'echo "a" > b'),
        ("grep &amp;amp; f", "grep &amp; f"),
        ("a & b", "a & b"),
    ],
)
def test_entities_are_decoded_once_on_the_routes_that_write_them(provider: str, written: str, meant: str) -> None:
    """openclaw#35276, openclaw#90260, deepagents#2954, AgenC#1280."""
    body = chat(json.dumps({"command": written}))
    (call,) = toolglot.normalize(body, BASH, provider=provider).tool_calls
    assert call.arguments == {"command": meant}
    assert call.status == ("ok" if written == meant else "repaired")
    for other in ("openai", "auto", "groq"):
        (call,) = toolglot.normalize(body, BASH, provider=other).tool_calls
        assert call.arguments == {"command": written}


def test_entities_are_decoded_in_a_stream() -> None:
    stream = StreamNormalizer("xai", BASH)
    pieces = ['{"command": "a &am', "p; b &lt", '; c"}']
    for place, piece in enumerate(pieces):
        call: dict[str, Any] = {"index": 0, "function": {"arguments": piece}}
        if place == 0:
            call = {"index": 0, "id": "call_1", "function": {"name": "bash", "arguments": piece}}
        stream.feed({"choices": [{"index": 0, "delta": {"tool_calls": [call]}}]})
    stream.feed({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    (call_made,) = stream.finish().tool_calls
    assert call_made.arguments == {"command": "a & b < c"}


ITEMS = {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}}


@pytest.mark.parametrize(
    ("written", "status"),
    [('[{"a": 1}, {"a": 2}]', "repaired"), ('[{"b": 1}]', "invalid"), ("[]", "invalid"), ('{"items": []}', "ok")],
)
def test_a_list_is_the_only_parameter_where_that_fits(written: str, status: str) -> None:
    """langchain#36550."""
    tools = ToolSet([{"name": "bash", "parameters": {"type": "object", "properties": {"items": ITEMS}}}])
    (call,) = toolglot.normalize(chat(written), tools).tool_calls
    assert call.status == status
    if status == "repaired":
        assert call.arguments == {"items": json.loads(written)}
        assert [repair.code for repair in call.repairs] == ["positional"]
    two = {"type": "object", "properties": {"items": ITEMS, "more": {"type": "string"}}}
    (call,) = toolglot.normalize(chat(written), ToolSet([{"name": "bash", "parameters": two}])).tool_calls
    assert call.status == ("ok" if written.startswith("{") else "invalid")


THINKING = {"type": "thinking", "thinking": "I think.", "signature": "S"}
CLAUDE: list[Any] = [
    {"role": "user", "content": "?"},
    {"role": "assistant", "content": [THINKING, {"type": "tool_use", "id": "toolu_1", "name": "bash", "input": {}}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "x"}]},
]
DETAIL = {"type": "reasoning.text", "text": "I think.", "signature": "S", "format": "anthropic-claude-v1", "index": 0}


@pytest.mark.parametrize("provider", ["deepseek", "moonshot", "kimi"])
def test_reasoning_goes_to_routes_that_demand_it(provider: str) -> None:
    """cc-switch-cli#170, bifrost#5274, pi#7994, paper-chat#16."""
    written = toolglot.convert_messages(CLAUDE, provider)
    assert written[1]["reasoning_content"] == "I think."
    assert not any("reasoning" in issue.message for issue in written.issues)
    home = toolglot.convert_messages(written, "anthropic")
    assert home == CLAUDE


def test_reasoning_of_claude_goes_through_openrouter_and_back() -> None:
    written = toolglot.convert_messages(CLAUDE, "openrouter")
    assert written[1]["reasoning_details"] == [DETAIL]
    # Without what stands beside the messages, as a stored history is.
    home = toolglot.convert_messages(list(written), "anthropic", source="openai")
    assert home[1]["content"][0] == THINKING


def test_reasoning_that_openrouter_does_not_sign_is_told() -> None:
    messages = [
        {"role": "user", "content": "?"},
        {"role": "assistant", "content": "Hi.", "reasoning_details": [{"type": "reasoning.text", "text": "I think."}]},
        {"role": "user", "content": "And?"},
    ]
    written = toolglot.convert_messages(messages, "anthropic")
    assert any("reasoning" in issue.message for issue in written.issues)


def test_a_turn_keeps_its_reasoning_for_such_a_route() -> None:
    turn = toolglot.normalize({"type": "message", "role": "assistant", "content": CLAUDE[1]["content"]})
    assert toolglot.assistant_message(turn, "deepseek")["reasoning_content"] == "I think."
    assert "reasoning_content" not in toolglot.assistant_message(turn, "openai")
    assert toolglot.assistant_message(turn, "openrouter")["reasoning_details"] == [DETAIL]


def signature(message: Any) -> Any:
    return next(part for part in message["parts"] if "functionCall" in part).get("thoughtSignature")


CALL = {"id": "call_1", "type": "function", "function": {"name": "bash", "arguments": "{}"}}


@pytest.mark.parametrize(
    "source", ["openai", "anthropic", "bedrock", "mistral", "cohere", "ollama", "openai_responses"]
)
def test_every_foreign_call_has_geminis_stand_in(source: str) -> None:
    """req_llm#427."""
    history: list[Any] = [
        {"role": "user", "content": "?"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": "x"},
    ]
    own = list(toolglot.convert_messages(history, source)) if source != "openai" else history
    assert signature(toolglot.convert_messages(own, "gemini", source=source)[1])


def test_the_real_signature_stands_where_google_has_it_in_the_shape_of_openai() -> None:
    """req_llm#427, OmniRoute#11669."""
    signed = {**CALL, "extra_content": {"google": {"thought_signature": "REAL"}}}
    history: list[Any] = [
        {"role": "user", "content": "?"},
        {"role": "assistant", "content": None, "tool_calls": [signed]},
    ]
    assert signature(toolglot.convert_messages(history, "gemini")[1]) == "REAL"
    body = {"choices": [{"message": {"content": None, "tool_calls": [signed]}, "finish_reason": "tool_calls"}]}
    turn = toolglot.normalize(body)
    assert signature(toolglot.assistant_message(turn, "gemini")) == "REAL"
    parts = [{"functionCall": {"name": "bash", "args": {}}, "thoughtSignature": "REAL"}]
    turn = toolglot.normalize({"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]})
    (call,) = toolglot.assistant_message(turn, "openai")["tool_calls"]
    assert call["extra_content"] == signed["extra_content"]


@pytest.mark.parametrize("name", ["acme/foo-7b", "gpt-4o", "tiiuae/Falcon-H1-7B-Instruct"])
def test_a_model_that_nothing_is_known_of_is_read_as_auto(name: str) -> None:
    text = '<tool_call>\n{"name": "bash", "arguments": {"command": "ls"}}\n</tool_call>'
    turn = toolglot.extract(text, BASH, dialect=name)
    assert [call.arguments for call in turn.tool_calls] == [{"command": "ls"}]
    assert [issue.code for issue in turn.issues] == ["unknown_model"]
    assert BASH.to_prompt(dialect=name) == BASH.to_prompt(dialect="auto")
    with pytest.raises(toolglot.UnknownDialectError, match="did you mean"):
        toolglot.extract(text, BASH, dialect="hermess")


def test_the_nearest_name_of_a_provider_is_told() -> None:
    with pytest.raises(toolglot.UnknownProviderError, match='did you mean "openai"'):
        toolglot.normalize(chat("{}"), provider="opnai")
