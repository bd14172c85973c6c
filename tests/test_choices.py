"""Members of requests: which calls may or must be made, and answers that are JSON by a schema."""

from __future__ import annotations

import json
from typing import Any

import pytest

import toolglot
from toolglot import BadOptionError, ToolSet, UnknownProviderError

CITY = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
TREE = {
    "type": "object",
    "properties": {"node": {"$ref": "#/$defs/Node"}},
    "required": ["node"],
    "$defs": {
        "Node": {
            "type": "object",
            "properties": {"next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]}},
            "required": ["next"],
            "additionalProperties": False,
        }
    },
}
TOOLS = ToolSet([{"name": "get_weather", "parameters": CITY}, {"name": "clock:now", "parameters": CITY}])
FUNCTION = {"type": "function", "function": {"name": "clock_now"}}

# provider, choice, options, the request's members without its tools, the tools that are offered (None: the request's own).
CASES: list[tuple[str, str, dict[str, Any], Any, list[str] | None]] = [
    ("openai", "auto", {}, {"tool_choice": "auto"}, None),
    ("openai", "none", {"parallel": False}, {"tool_choice": "none"}, None),
    ("openai", "required", {"parallel": False}, {"tool_choice": "required", "parallel_tool_calls": False}, None),
    ("openai", "clock:now", {}, {"tool_choice": FUNCTION}, None),
    ("openai", "clock_now", {}, {"tool_choice": FUNCTION}, None),
    (
        "azure",
        "auto",
        {"allowed": ["clock:now"]},
        {"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [FUNCTION]}}},
        None,
    ),
    ("groq", "required", {"allowed": ["clock:now"]}, {"tool_choice": "required"}, ["clock_now"]),
    ("openrouter", "clock:now", {"parallel": True}, {"tool_choice": FUNCTION, "parallel_tool_calls": True}, None),
    ("lmstudio", "clock:now", {}, {"tool_choice": "required"}, ["clock_now"]),
    ("openai_responses", "clock:now", {}, {"tool_choice": {"type": "function", "name": "clock_now"}}, None),
    (
        "openai_responses",
        "required",
        {"allowed": ["get_weather"]},
        {
            "tool_choice": {
                "type": "allowed_tools",
                "mode": "required",
                "tools": [{"type": "function", "name": "get_weather"}],
            }
        },
        None,
    ),
    ("anthropic", "auto", {"parallel": False}, {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}, None),
    ("anthropic", "none", {"parallel": False}, {"tool_choice": {"type": "none"}}, None),
    ("anthropic", "required", {}, {"tool_choice": {"type": "any"}}, None),
    ("anthropic", "clock:now", {}, {"tool_choice": {"type": "tool", "name": "clock_now"}}, None),
    ("anthropic", "auto", {"allowed": ["get_weather"]}, {"tool_choice": {"type": "auto"}}, ["get_weather"]),
    ("gemini", "none", {}, {"toolConfig": {"functionCallingConfig": {"mode": "NONE"}}}, None),
    (
        "gemini",
        "clock:now",
        {},
        {"toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["clock_now"]}}},
        None,
    ),
    (
        "gemini",
        "auto",
        {"allowed": ["clock:now"]},
        {"toolConfig": {"functionCallingConfig": {"mode": "VALIDATED", "allowedFunctionNames": ["clock_now"]}}},
        None,
    ),
    ("mistral", "required", {}, {"tool_choice": "any"}, None),
    ("mistral", "clock:now", {}, {"tool_choice": FUNCTION}, None),
    ("cohere", "auto", {}, {}, None),
    ("cohere", "required", {}, {"tool_choice": "REQUIRED"}, None),
    ("cohere", "clock:now", {}, {"tool_choice": "REQUIRED"}, ["clock_now"]),
    ("ollama", "auto", {}, {}, None),
    ("ollama", "none", {}, {}, []),
    ("ollama", "auto", {"allowed": ["get_weather"]}, {}, ["get_weather"]),
    ("bedrock", "required", {}, {"toolConfig": {"toolChoice": {"any": {}}}}, ["get_weather", "clock_now"]),
    ("bedrock", "clock:now", {}, {"toolConfig": {"toolChoice": {"tool": {"name": "clock_now"}}}}, ["get_weather", "clock_now"]),
    ("bedrock", "auto", {"allowed": ["get_weather"]}, {"toolConfig": {"toolChoice": {"auto": {}}}}, ["get_weather"]),
]  # fmt: skip


@pytest.mark.parametrize(("provider", "choice", "options", "members", "offered"), CASES)
def test_a_choice_is_said_as_the_provider_has_it(
    provider: str, choice: str, options: dict[str, Any], members: Any, offered: list[str] | None
) -> None:
    said = TOOLS.tool_choice(choice, provider=provider, **options)
    holder = said["toolConfig"] if provider == "bedrock" else said
    tools = holder.pop("tools", None)
    assert said == members
    names = None if tools is None else [str(tool).split("'name': '")[1].split("'")[0] for tool in tools]
    assert names == offered
    if tools and provider != "bedrock":
        assert all(tool in TOOLS.to(provider) for tool in tools)


@pytest.mark.parametrize(
    ("provider", "choice", "options", "place"),
    [
        ("ollama", "required", {}, "choice"),
        ("ollama", "clock:now", {}, "choice"),
        ("bedrock", "none", {}, "choice"),
        ("gemini", "auto", {"parallel": False}, "parallel"),
        ("cohere", "auto", {"parallel": False}, "parallel"),
        ("openai", "no_tool", {}, "choice"),
        ("openai", "auto", {"allowed": ["no_tool"]}, "allowed"),
        ("openai", "auto", {"allowed": []}, "allowed"),
        ("openai", "none", {"allowed": ["get_weather"]}, "allowed"),
    ],
)
def test_what_cannot_be_said_raises(provider: str, choice: str, options: dict[str, Any], place: str) -> None:
    with pytest.raises(BadOptionError) as caught:
        TOOLS.tool_choice(choice, provider=provider, **options)
    assert caught.value.place == place


@pytest.mark.parametrize("provider", ["mcp", "nope"])
def test_only_a_model_is_asked(provider: str) -> None:
    with pytest.raises((UnknownProviderError, BadOptionError)):
        TOOLS.tool_choice("auto", provider=provider)
    with pytest.raises((UnknownProviderError, BadOptionError)):
        TOOLS.response_schema(provider=provider)


def schema_of(provider: str, request: dict[str, Any]) -> Any:
    paths = {
        "openai_responses": ["text", "format", "schema"],
        "anthropic": ["output_config", "format", "schema"],
        "gemini": ["generationConfig", "responseJsonSchema"],
        "cohere": ["response_format", "json_schema"],
        "ollama": ["format"],
        "bedrock": ["outputConfig", "textFormat", "structure", "jsonSchema", "schema"],
    }
    found: Any = request
    for key in paths.get(provider, ["response_format", "json_schema", "schema"]):
        found = found[key]
    return json.loads(found) if isinstance(found, str) else found


PROVIDERS = [
    "openai",
    "openai_responses",
    "anthropic",
    "gemini",
    "mistral",
    "cohere",
    "ollama",
    "bedrock",
    "groq",
    "openrouter",
    "llama_cpp",
]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_envelope_is_what_is_read_back(provider: str) -> None:
    request = TOOLS.response_schema(provider=provider)
    schema = schema_of(provider, request)
    assert schema["required"] == ["toolCalls", "content", "needsMoreWork"]
    assert schema["additionalProperties"] is False
    branches = schema["properties"]["toolCalls"]["items"]["anyOf"]
    assert [branch["properties"]["name"]["enum"] for branch in branches] == [["get_weather"], ["clock:now"]]
    for branch in branches:
        assert branch["properties"]["arguments"]["required"] == ["city"]
    call = {"name": "clock:now", "arguments": {"city": "Bern"}}
    turn = toolglot.extract(json.dumps({"toolCalls": [call], "content": "Wait.", "needsMoreWork": True}), tools=TOOLS)
    assert [(call.name, call.status, call.arguments) for call in turn.tool_calls] == [
        ("clock:now", "ok", {"city": "Bern"})
    ]
    assert turn.content == "Wait."


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_arguments_of_one_tool(provider: str) -> None:
    schema = schema_of(provider, TOOLS.response_schema("clock_now", provider=provider))
    assert schema["required"] == ["city"]
    assert TOOLS.check("clock_now", '{"city": "Bern"}').runnable


def references(schema: Any) -> list[str]:
    if isinstance(schema, dict):
        own = [schema["$ref"]] if isinstance(schema.get("$ref"), str) else []
        return own + [found for value in schema.values() for found in references(value)]
    return [found for item in schema for found in references(item)] if isinstance(schema, list) else []


@pytest.mark.parametrize("provider", [name for name in PROVIDERS if name != "anthropic"])
def test_definitions_of_several_tools_do_not_mix(provider: str) -> None:
    other = json.loads(json.dumps(TREE))
    other["$defs"]["Node"]["properties"]["next"] = {"type": "integer"}
    whole = {"type": "object", "properties": {"inner": {"$ref": "#"}}}
    tools = ToolSet(
        [{"name": name, "parameters": schema} for name, schema in (("a", TREE), ("b", other), ("c", whole))]
    )
    schema = schema_of(provider, tools.response_schema(provider=provider))
    for reference in references(schema):
        found: Any = schema
        for key in reference.removeprefix("#/").split("/"):
            found = found[key]
        assert isinstance(found, dict)
        assert reference != "#"


def test_what_a_provider_does_not_keep_to_is_said() -> None:
    tree = ToolSet([{"name": "a", "parameters": TREE}])
    with pytest.raises(BadOptionError, match="kept to"):
        tree.response_schema(provider="anthropic")
    open_ = ToolSet([{"name": "a", "parameters": {"type": "object", "additionalProperties": {"type": "integer"}}}])
    assert open_.response_schema()["response_format"]["json_schema"]["strict"] is False
    assert TOOLS.response_schema()["response_format"]["json_schema"]["strict"] is True
    for tools, tool in ((ToolSet([]), None), (TOOLS, "nope")):
        with pytest.raises(BadOptionError):
            tools.response_schema(tool)
