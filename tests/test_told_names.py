"""Names of members that a provider refuses go back to it as it was told them."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

import toolglot
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
