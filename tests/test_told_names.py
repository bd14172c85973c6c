"""Names of members that a provider refuses go back to it as it was told them."""

from __future__ import annotations

import asyncio
import json
import pickle
from typing import Any

import pytest

import toolglot
import toolglot.service
from conversations import PROVIDERS
from toolglot import ToolCall, ToolSet, Turn

ODD = {"type": "object", "properties": {"a/b~c": {"type": "integer"}, "x.y": {}, "plain": {}}}
NODE = {"type": "object", "properties": {"a/b~c": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}}}


def sent(message: Any) -> Any:
    """The arguments of the one call in a provider's message."""
    if isinstance(message, list):
        (item,) = message
        return json.loads(item["arguments"])
    if "parts" in message:
        return message["parts"][0]["functionCall"]["args"]
    if message.get("tool_calls"):
        arguments = message["tool_calls"][0]["function"]["arguments"]
        return json.loads(arguments) if isinstance(arguments, str) else arguments
    (block,) = message["content"]
    return block["toolUse"]["input"] if "toolUse" in block else block["input"]


def respelt(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {names.get(key, key): respelt(member, names) for key, member in value.items()}
    return [respelt(item, names) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        (ODD, {"a/b~c": 1, "x.y": "z", "plain": [1.0, 10**30, {"a/b~c": 0}]}),
        ({"type": "object", "properties": {"q": {"anyOf": [ODD, {"type": "string"}]}}}, {"q": {"a/b~c": 1}}),
        ({"type": "object", "properties": {"q": {"type": "array", "items": ODD}}}, {"q": [{"a/b~c": 1}, {"plain": 1}]}),
        ({"type": "object", "properties": {"q": NODE}, "$defs": {"node": NODE}}, {"q": {"next": {"a/b~c": 1}}}),
        ({**ODD, "additionalProperties": ODD}, {"more": {"a/b~c": 1}}),
    ],
)
def test_a_message_has_the_members_that_the_provider_was_told(provider: str, schema: Any, arguments: Any) -> None:
    tools = ToolSet([{"name": "f", "parameters": schema}])
    told = json.dumps(tools.to(provider))
    names = {"a/b~c": "a_b_c"} if provider in ("anthropic", "bedrock", "gemini") else {}
    names |= {"x.y": "x_y"} if provider == "gemini" else {}
    assert all((f'"{names.get(name, name)}"' in told) for name in ("a/b~c", "x.y") if f'"{name}"' in json.dumps(schema))
    # What is no property's is the caller's own.
    expected = respelt({**arguments, "plain": None}, names) | {"plain": arguments.get("plain")}
    expected = {key: value for key, value in expected.items() if key in arguments or key in names.values()}
    call = tools.check("f", json.dumps(arguments))
    turn = Turn("", [ToolCall("f", arguments, id="call_1")])
    for message in (
        toolglot.assistant_message(turn, provider=provider, tools=tools),
        toolglot.assistant_message(pickle.loads(pickle.dumps(turn)), provider=provider, tools=tools),
        Turn("", [call]).to_message(provider),
    ):
        assert sent(message) == expected
        # And they come back.
        assert tools.check("f", json.dumps(sent(message))).arguments == arguments
    assert turn.tool_calls[0].arguments == arguments
    assert sent(toolglot.assistant_message(turn, provider=provider)) == arguments


def test_no_member_takes_the_place_of_another() -> None:
    tools = ToolSet([{"name": "f", "parameters": {"type": "object", "properties": {"a/b": {}}}}])
    turn = Turn("", [ToolCall("f", {"a/b": 1, "a_b": 2}, id="call_1")])
    assert sent(toolglot.assistant_message(turn, provider="gemini", tools=tools)) == {"a/b": 1, "a_b": 2}
    branches = [{"type": "object", "properties": {name: {} for name in names}} for names in (["$a"], ["$a", "@a"])]
    union = {"type": "object", "properties": {"u": {"anyOf": branches}}}
    turn = Turn("", [ToolCall("f", {"u": {"$a": 1}}, id="call_1")])
    written = sent(
        toolglot.assistant_message(turn, provider="gemini", tools=ToolSet([{"name": "f", "parameters": union}]))
    )
    assert list(written["u"].values()) == [1]


FILES = {
    "name": "files.read",
    "parameters": {
        "type": "object",
        "properties": {"a.b c": {"type": "integer"}, "in": {"type": "object", "properties": {"$x": {"type": "null"}}}},
        "required": ["a.b c"],
    },
}


@pytest.mark.parametrize("provider", ["anthropic", "gemini", "bedrock"])
def test_what_was_wrong_is_said_in_the_names_that_the_provider_was_told(provider: str) -> None:
    tools = ToolSet([FILES, {"name": "mail:read"}])
    told = json.dumps(tools.to(provider))
    for name, arguments, said in [
        ("files_read", {}, ['"files_read"', '"a_b_c" is a required property', '"a_b_c":{']),
        ("files_read", {"a_b_c": 1, "in": {"_x": 2}}, ['"files_read"', "- /in/_x: 2 is not of type", '"_x":{']),
        ("files_read", {"a_b_c": "x"}, ['- /a_b_c: "x" is not of type "integer"']),
        ("files_read", "{nonsense", ['The call of "files_read"']),
        ("read", {}, ['called "read"', '"files_read" or "mail_read"', "The tools are: files_read, mail_read"]),
    ]:
        call = tools.check(name, arguments)
        assert not call.runnable
        messages = {
            call.error_message(provider=provider),
            call.error_message(tools, provider=provider),
            tools.error_message(call, provider=provider),
            pickle.loads(pickle.dumps(call)).error_message(provider=provider),
        }
        (message,) = messages
        assert message is not None
        assert all(words in message for words in said), message
        assert not any(name in message for name in ("files.read", "mail:read", "a.b c", "$x"))
        # By itself it says names that APIs take, as messages do; a model in text mode was told the tools' own.
        assert call.error_message() == tools.error_message(call) == call.error_message(provider="openai")
        found = ToolCall(call.name, call.arguments_json, status=call.status, errors=call.errors, evidence="marker")
        assert any(name in (found.error_message(tools) or "") for name in ("files.read", "mail:read"))
    assert '"a_b_c"' in told
    assert tools.check("files_read", {"a_b_c": 1}).error_message(provider=provider) is None
    with pytest.raises(toolglot.UnknownProviderError):
        tools.error_message(call, provider="nobody")


def test_parameters_of_a_long_schema_are_told_too() -> None:
    properties = {f"a.{i} b": {"type": "string", "description": "x" * 100} for i in range(60)}
    tools = ToolSet([{"name": "f.g", "parameters": {"type": "object", "properties": properties}}])
    message = tools.error_message(tools.check("f.g", {"a.1 b": {}}), provider="anthropic")
    assert message is not None
    assert "- /a_1_b: {} is not" in message
    assert 'The parameters of "f_g" are: a_0_b, a_1_b, ' in message


def test_openai_was_told_the_members_as_they_are() -> None:
    tools = ToolSet([FILES])
    message = tools.error_message(tools.check("files_read", {}), provider="openai")
    assert message is not None
    assert '"files_read"' in message
    assert '"a.b c" is a required property' in message


def test_the_service_tells_the_model_its_own_names() -> None:
    for mode, name in [("native", "files_read"), ("text", "files.read")]:
        service = toolglot.service.ToolCalling([FILES], provider="anthropic", mode=mode)
        block = {"type": "tool_use", "id": "call_1", "name": "files_read", "input": {}}
        written = json.dumps({"name": "files.read", "arguments": {}})
        answer = {"type": "message", "role": "assistant", "content": [block], "stop_reason": "tool_use"}
        service.observe(answer if mode == "native" else written)
        (outcome,) = asyncio.run(service.execute_native_tool_calls(lambda call: None))
        assert f'The call of "{name}" was not run' in (outcome.error or "")
