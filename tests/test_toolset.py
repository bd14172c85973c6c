"""ToolSet: tools in, every provider's shape out, and the way back for names and values."""

from __future__ import annotations

import copy
import dataclasses
import enum
import functools
import json
import pickle
import types
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

import pytest
from hypothesis import given
from hypothesis import strategies as st

import subsets
import toolglot
from support import ROOT
from toolglot import ToolSet

TRICKY: dict[str, Any] = json.loads((ROOT / "tests/data/schema/tricky.json").read_text())
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}


def tool(name: str, schema: Any = SCHEMA, **more: Any) -> dict[str, Any]:
    return {"name": name, "description": f"Does {name}.", "inputSchema": schema, **more}


@pytest.mark.parametrize(("provider", "options", "rule", "names"), subsets.TARGETS)
@pytest.mark.parametrize("key", TRICKY)
def test_tricky_schemas_are_taken(key: str, provider: str, options: dict[str, Any], rule: Any, names: str) -> None:
    tools = ToolSet([tool("a.b/c d", TRICKY[key])])
    assert not tools.problems
    subsets.check(tools, provider, options, rule, names)


# Every shape of declaration: the same tool must come out.
def gemini(field: str, functions: str, schema: Any) -> dict[str, Any]:
    return {functions: [{"name": "read", "description": "Reads.", field: schema}]}


OPENAPI = {"type": "OBJECT", "properties": {"path": {"type": "STRING"}}, "required": ["path"]}
SHAPES = {
    "mcp": {"name": "read", "description": "Reads.", "inputSchema": SCHEMA},
    "mcp-sdk": {"name": "read", "description": "Reads.", "input_schema": SCHEMA, "output_schema": None},
    "openai": {"type": "function", "function": {"name": "read", "description": "Reads.", "parameters": SCHEMA}},
    "responses": {"type": "function", "name": "read", "description": "Reads.", "parameters": SCHEMA, "strict": None},
    "anthropic": {"name": "read", "description": "Reads.", "input_schema": SCHEMA, "type": "custom"},
    "bedrock": {"toolSpec": {"name": "read", "description": "Reads.", "inputSchema": {"json": SCHEMA}}},
    "bedrock-config": {
        "tools": [{"toolSpec": {"name": "read", "description": "Reads.", "inputSchema": {"json": SCHEMA}}}]
    },
    "gemini-json": gemini("parametersJsonSchema", "functionDeclarations", SCHEMA),
    "gemini-json-snake": gemini("parameters_json_schema", "function_declarations", SCHEMA),
    "gemini-openapi": gemini("parameters", "functionDeclarations", OPENAPI),
    "gemini-openapi-snake": gemini("parameters", "function_declarations", OPENAPI),
    "registry": {
        "name": "read",
        "server": None,
        "enabled": True,
        "definition": {"description": "Reads.", "parameters": SCHEMA},
    },
    "cohere-1": {
        "name": "read",
        "description": "Reads.",
        "parameter_definitions": {"path": {"type": "str", "required": True}},
    },
    "schema-as-text": {"name": "read", "description": "Reads.", "parameters": json.dumps(SCHEMA)},
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape(shape: str) -> None:
    tools = ToolSet([SHAPES[shape]])
    assert tools.to_openai() == [SHAPES["openai"]]
    assert ToolSet(tools.to_mcp()) == tools


@pytest.mark.parametrize(("provider", "options"), [(name, options) for name, options, _, _ in subsets.TARGETS])
def test_there_and_back(provider: str, options: dict[str, Any]) -> None:
    tools = ToolSet([tool("read"), tool("ping", {"type": "object", "properties": {}})])
    again = ToolSet(tools.to(provider, **options))
    assert [t.name for t in again] == ["read", "ping"]
    assert [t.description for t in again] == ["Does read.", "Does ping."]
    assert again["read"].schema["properties"] == SCHEMA["properties"]


def test_mcp_fields_come_back() -> None:
    fields = {
        "title": "Read a file",
        "outputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": True},
        "icons": [{"src": "https://example.com/i.png"}],
        "_meta": {"k": 1},
    }
    item = tool("read", **fields)
    tools = ToolSet([item])
    assert tools.to_mcp() == [item]
    (read,) = tools
    assert (read.title, read.output_schema, read.annotations) == (
        "Read a file",
        {"type": "object"},
        {"readOnlyHint": True},
    )
    assert {loss.kind for loss in tools.losses("openai")} == {"metadata"}
    assert not tools.losses("mcp")


MCP_PLAIN = {"name": "ping", "inputSchema": {"type": "object", "properties": {}}}
ANTHROPIC = {"name": "a", "input_schema": {"type": "object", "properties": {"x": {"type": "string"}}}}
CLOSED = {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"], "additionalProperties": False}


@pytest.mark.parametrize("plain", [[], [MCP_PLAIN]], ids=["alone", "among plain ones"])
def test_fields_of_one_provider_go_back_there_and_are_lost_aloud_elsewhere(plain: list[Any]) -> None:
    own = {"cache_control": {"type": "ephemeral"}, "input_examples": [{"x": "1"}]}
    tools = toolglot.ToolSet([{**ANTHROPIC, **own, "vendor": 1, "empty": None}, *plain])
    assert tools.to_anthropic()[0] == {**ANTHROPIC, **own}
    assert json.loads(tools.to_json("anthropic")) == tools.to_anthropic()
    assert [loss.message for loss in tools.losses("anthropic")] == ["`vendor` has no place at this provider"]
    lost = {loss.message.split("`")[1] for loss in tools.losses("openai")}
    assert lost == {"cache_control", "input_examples", "vendor"}
    assert "cache_control" not in str(tools.to_openai())
    copy = pickle.loads(pickle.dumps(tools))
    assert copy.to_anthropic() == tools.to_anthropic()


def test_fields_beside_a_wrapper_are_read_and_those_of_a_registry_are_not() -> None:
    wrapped = {"type": "function", "function": {"name": "a"}, "cache_control": {"type": "ephemeral"}}
    assert toolglot.ToolSet([wrapped]).to_anthropic()[0]["cache_control"] == {"type": "ephemeral"}
    entry = {"name": "a", "server": "s", "status": "up", "definition": {"inputSchema": CLOSED}}
    assert toolglot.ToolSet([entry]).losses("openai") == ()


def test_a_tool_that_asks_for_strict_mode_gets_it_where_there_is_one() -> None:
    strict = {"type": "function", "function": {"name": "a", "strict": True, "parameters": CLOSED}}
    tools = toolglot.ToolSet([strict, MCP_PLAIN])
    assert tools.to_openai() == [strict, *toolglot.ToolSet([MCP_PLAIN]).to_openai()]
    assert [tool["strict"] for tool in tools.to_openai_responses()] == [True, False]
    assert [(loss.kind, loss.tool) for loss in tools.losses("mistral")] == [("not_strict", "a")]
    assert {loss.tool for loss in tools.losses("gemini", strict=True) if loss.kind == "not_strict"} == {"a", "ping"}


def test_servers() -> None:
    tools = ToolSet({"github": [tool("search"), tool("clone")], "jira": [tool("search")]})
    assert [t.name for t in tools] == ["github:search", "clone", "jira:search"]
    assert [(t.server, t.original_name) for t in tools] == [
        ("github", "search"),
        ("github", "clone"),
        ("jira", "search"),
    ]
    assert tools.names("openai") == {"github_search": "github:search", "clone": "clone", "jira_search": "jira:search"}
    assert tools.resolve("github__search") == "github:search"
    assert tools.resolve("search") is None
    assert pickle.loads(pickle.dumps(tools)) == tools


def test_registry_leaves_disabled_tools_out() -> None:
    entries = [
        {"name": "on", "server": "a", "enabled": True, "definition": {"description": "x"}},
        {"name": "off", "server": "a", "enabled": False, "definition": {}},
    ]
    assert [t.name for t in ToolSet(entries)] == ["on"]


def deep(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = {}
    for _ in range(levels):
        schema = {"properties": {"x": schema}}
    return schema


class Endless:
    def __init__(self) -> None:
        self.value: dict[str, Any] = {}
        self.value["self"] = self.value


@pytest.mark.parametrize(
    ("item", "place", "message"),
    [
        (5, "/1", "cannot be read|not a number"),
        ("name", "/1", "not a string"),
        (None, "/1", "not null"),
        ({}, "/1", "needs a name"),
        ({"name": ""}, "/1/name", "empty"),
        ({"name": 3}, "/1/name", "string"),
        ({"name": "x", "inputSchema": [1]}, "/1/inputSchema", "a list"),
        ({"type": "function", "function": {"description": "x"}}, "/1/function", "needs a name"),
        ({"type": "web_search"}, "/1", "needs a name"),
        ({"type": "web_search_20250305", "name": "web_search"}, "/1", "web_search_20250305"),
        ({"name": "x", "parameters": {"default": float("nan")}}, "/1", "NaN"),
        ({"name": "x", "parameters": deep(10_000)}, "/1", "nested"),
        ({"name": "x", "parameters": deep(60)}, "/1", "nested"),
        ({"name": "x", "parameters": Endless().value}, "/1", "nested"),
        (tool("read", {"type": "object"}), "read", "two different tools"),
        (
            tool("x", {"properties": {"a": {"$ref": "https://example.com/s.json"}}}),
            "/x/properties/a/$ref",
            "nothing is fetched",
        ),
        (tool("x", {"properties": {"a": {"$ref": "#/$defs/n"}}}), "/x/properties/a/$ref", "points to nothing"),
        (tool("x", {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}}), "/x/$ref", "back to itself"),
    ],
)
def test_a_bad_tool_is_named_and_spoils_no_other(item: Any, place: str, message: str) -> None:
    tools = ToolSet([tool("read"), item, tool("write")])
    assert {"read", "write"} <= {t.name for t in tools}
    problem = tools.problems[0]
    assert problem.place == place
    with pytest.raises(toolglot.ToolglotError, match=message):
        raise problem
    with pytest.raises(toolglot.ToolglotError):
        ToolSet([tool("read"), item], on_problem="raise")
    for provider, options, rule, names in subsets.TARGETS:
        subsets.check(tools, provider, options, rule, names)


def test_bad_json_raises_and_bad_tools_in_json_are_named() -> None:
    deep_text = '[{"name": "x", "inputSchema": ' + '{"not": ' * 10_000 + "{}" + "}" * 10_000 + "}]"
    for wrong in ("", "[", '[{"name": NaN}]', '[{"name": "x", "x": "\\ud800"}]', deep_text, b"\xff"):
        with pytest.raises(toolglot.BadJsonError):
            ToolSet.from_json(wrong)
    with pytest.raises(toolglot.BadToolError, match="needs a name"):
        ToolSet.from_json("[{}]")
    tools = ToolSet.from_json(json.dumps([tool("read"), {"name": "x", "inputSchema": 5}, tool("write")]))
    assert [t.name for t in tools] == ["read", "write"]
    assert [problem.place for problem in tools.problems] == ["/1/inputSchema"]
    assert len(ToolSet.from_json("[]")) == 0


def test_a_schema_that_holds_itself_is_written_out_twice_and_then_cut() -> None:
    node = {"type": "object", "properties": {"value": {"type": "integer"}, "next": {"$ref": "#/$defs/node"}}}
    schema = {"type": "object", "properties": {"list": {"$ref": "#/$defs/node"}}, "$defs": {"node": node}}
    tools = ToolSet([tool("f", schema)])
    told = tools.to_gemini(schema="parameters")[0]["functionDeclarations"][0]["parameters"]
    levels = 0
    while "properties" in told:
        told, levels = told["properties"].get("list") or told["properties"]["next"], levels + 1
    assert (levels, told) == (3, {"type": "OBJECT"})
    (loss,) = [loss for loss in tools.losses("gemini", schema="parameters") if "contains itself" in loss.message]
    assert (loss.kind, loss.pointer) == ("rewritten", "/properties/list/properties/next/properties/next/$ref")
    # Where references are taken, nothing is cut, and nothing is lost.
    for provider in ("openai", "anthropic"):
        assert "#/$defs/node" in str(tools.to(provider))
        assert not tools.losses(provider)
    call = tools.check("f", {"list": {"value": "1", "next": {"next": {"next": {"next": {"value": "5"}}}}}})
    assert call.arguments["list"]["next"]["next"]["next"]["next"] == {"value": 5}


def test_literals_are_of_the_type_that_the_schema_says() -> None:
    word = {"allOf": [{"type": "string"}, {"enum": ["a", 1, None]}]}
    tools = ToolSet([tool("f", {"type": "object", "properties": {"word": word}})])
    (told,) = tools.to_gemini()[0]["functionDeclarations"]
    assert told["parametersJsonSchema"]["properties"]["word"] == {"type": "string", "enum": ["a"]}
    word = {"enum": ["a", "b", 1, True], "type": ["integer", "string", "array"], "items": {"type": "string"}}
    tools = ToolSet([tool("f", {"type": "object", "properties": {"word": word}})])
    subsets.check(tools, "gemini", {}, subsets.gemini_json_schema, r"[a-z]+")
    (told,) = tools.to_gemini()[0]["functionDeclarations"]
    assert told["parametersJsonSchema"]["properties"]["word"]["anyOf"] == [
        {"type": "string", "enum": ["a", "b"]},
        {"type": "integer", "enum": [1]},
    ]


def test_nothing_but_bad_tools_raises() -> None:
    with pytest.raises(toolglot.BadToolError, match="needs a name"):
        ToolSet([{}])
    for wrong in (5, "tools", b"x", {"a": 5}):
        with pytest.raises(TypeError):
            ToolSet(wrong)
    with pytest.raises(toolglot.UnknownProviderError, match="nobody"):
        ToolSet([tool("a")]).to("nobody")
    with pytest.raises(TypeError, match="colour"):
        ToolSet([tool("a")]).to("openai", colour="red")
    assert len(ToolSet([])) == 0
    assert ToolSet([]).to_gemini() == []
    assert ToolSet([]).to_prompt() == ""


NAMES = st.text(st.sampled_from("ab_-./: A9é天"), min_size=1, max_size=8) | st.text("ab.", min_size=60, max_size=140)


@given(st.lists(NAMES.filter(str.strip), unique=True, min_size=1, max_size=8))
def test_names_are_legal_unique_stable_and_reversible(names: list[str]) -> None:
    tools = ToolSet([tool(name) for name in names])
    again = ToolSet([tool(name) for name in reversed(names)])
    for provider, options, rule, legal in subsets.TARGETS:
        spelt = tools.names(provider, **options)
        assert list(spelt.values()) == names
        assert spelt == again.names(provider, **options)
        subsets.check(tools, provider, options, rule, legal)
        for spelling, name in spelt.items():
            assert tools.resolve(spelling) == name


def ways(tools: ToolSet) -> list[Any]:
    """Everything that a set hands out as dicts."""
    return [tools.to(provider, **options) for provider, options, _, _ in subsets.TARGETS] + [tools.to_mcp()]


def spoil(value: Any) -> None:
    """Change every dict and list in a value."""
    for inner in list(value.values() if isinstance(value, dict) else value):
        if isinstance(inner, (dict, list)):
            spoil(inner)
    value.clear()


def declarations(served: list[Any]) -> list[Any]:
    """The declarations of what was handed out: Gemini's stand in a group."""
    return [one for item in served for one in item.get("functionDeclarations", [item])]


@pytest.mark.parametrize("schema", [SCHEMA, TRICKY["recursive"], {"properties": {"a": {"enum": [1, [2]]}}}])
def test_lists_are_the_callers_own_and_share_their_declarations(schema: Any) -> None:
    items = [tool(name, copy.deepcopy(schema), annotations={"readOnlyHint": True}) for name in ("read", "write")]
    odd = [{**item, "name": f"a.{item['name']}"} for item in items]
    for tools in (ToolSet(items), ToolSet(odd), ToolSet.from_json(json.dumps(items))):
        first = ways(tools)
        before, shared = copy.deepcopy(first), [declarations(served) for served in first]
        for served in first:
            for group in served:
                group.get("functionDeclarations", []).clear()
            served.clear()
        again = ways(tools)
        assert again == before
        for served, same in zip(again, shared, strict=True):
            assert all(a is b for a, b in zip(declarations(served), same, strict=True))
        assert tools.to_json("openai") is tools.to_json("openai")
        assert json.loads(tools.to_json("openai")) == tools.to_openai()


@pytest.mark.parametrize("shape", ["mcp", "openai"])
def test_a_set_is_neither_its_items_nor_what_it_hands_out(shape: str) -> None:
    item = (
        tool("read", copy.deepcopy(SCHEMA), annotations={"readOnlyHint": True})
        if shape == "mcp"
        else {"type": "function", "function": {"name": "read", "parameters": copy.deepcopy(SCHEMA)}}
    )
    for read in (ToolSet, lambda items: ToolSet.from_json(json.dumps(items))):
        other = ways(read([copy.deepcopy(item)]))
        for place, (provider, options) in enumerate([(p, o) for p, o, _, _ in subsets.TARGETS] + [("mcp", {})]):
            tools = read([given := copy.deepcopy(item)])
            spoil(tools.to(provider, **options))
            assert given == item
            spoil(given)
            served = ways(tools)
            assert served[:place] + served[place + 1 :] == other[:place] + other[place + 1 :]
            assert json.loads(tools.to_json(provider, **options)) == other[place]
            assert tools["read"].schema == SCHEMA
            assert tools.names("openai") == {"read": "read"}


PLAIN = [
    SCHEMA,
    {"type": "object", "properties": {}},
    *(case["schema"] for case in json.loads((ROOT / "tests/data/schema/settle.json").read_text())),
    *TRICKY.values(),
]


@pytest.mark.parametrize("shape", ["mcp", "openai"])
def test_tools_that_are_only_wrapped_are_the_same_as_tools_that_are_read(shape: str) -> None:
    for number, schema in enumerate(PLAIN):
        item = (
            tool(f"t{number}", schema, title="T")
            if shape == "mcp"
            else {"type": "function", "function": {"name": f"t{number}", "description": "é", "parameters": schema}}
        )
        # A tuple is always read; a list of plain dicts and JSON text may only be wrapped.
        read = ToolSet((item,))
        for tools in (ToolSet([item]), ToolSet.from_json(json.dumps([item]))):
            for provider, options, _, _ in subsets.TARGETS:
                assert tools.to(provider, **options) == read.to(provider, **options)
                assert json.loads(tools.to_json(provider, **options)) == read.to(provider, **options)
            assert tools == read
            assert (len(tools), repr(tools)) == (len(read), repr(read))
            assert list(map(str, tools.problems)) == list(map(str, read.problems))
            assert tools.losses("openai") == read.losses("openai")


ODD = {
    "a name": tool("dotted.name"),
    "a reference": tool("refers", {"properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {"type": "integer"}}}),
    "no properties": tool("bare", {"type": "object"}),
    "disabled": {"enabled": False, **tool("off")},
    "several": {"functionDeclarations": [{"name": "x"}, {"name": "y", "parametersJsonSchema": SCHEMA}]},
    "a server": {"server": "files", **tool("read")},
    "no name": {"inputSchema": SCHEMA},
    "a reference to nothing": tool("lost", {"type": "object", "properties": {"a": {"$ref": "#/nowhere"}}}),
    "the name of another": tool("plain_3", {"type": "object"}),
    "the spelling of another": tool("plain.3"),
    "a function": print,
    "no tool": 7,
}


# In a dict, everything is read as JSON.
@pytest.mark.parametrize(
    ("case", "wrapped"),
    [(case, wrapped) for case in ODD for wrapped in (False, True) if not (wrapped and case == "a function")],
)
def test_a_tool_that_is_not_plain_is_the_same_among_plain_ones(case: str, wrapped: bool) -> None:
    items: list[Any] = [tool(f"plain_{i}") for i in range(8)]
    items.insert(4, ODD[case])
    read = ToolSet({"tools": tuple(items)} if wrapped else tuple(items))
    given: list[ToolSet] = [ToolSet({"tools": items, "nextCursor": "x"} if wrapped else items)]
    if case != "a function":
        given.append(ToolSet.from_json(json.dumps({"nextCursor": None, "tools": items} if wrapped else items)))
    for tools in given:
        for provider, options, _, _ in subsets.TARGETS:
            for _ in range(2):
                assert tools.to(provider, **options) == read.to(provider, **options)
            assert json.loads(tools.to_json(provider, **options)) == read.to(provider, **options)
            assert tools.names(provider, **options) == read.names(provider, **options)
            assert tools.losses(provider, **options) == read.losses(provider, **options)
        assert tools == read
        assert len(tools) == len(read)
        assert [str(problem) for problem in tools.problems] == [str(problem) for problem in read.problems]
    if read.problems:
        with pytest.raises(toolglot.ToolglotError):
            ToolSet(items, on_problem="raise")


def test_dicts_that_are_not_quite_json_are_read_with_care() -> None:
    class Word(str):
        pass

    odd = {"type": "object", "properties": {"a": {"type": "string", "enum": ("x", Word("y")), "default": Word("x")}}}
    (declaration,) = ToolSet([tool("f", odd)]).to_openai()
    assert declaration["function"]["parameters"] == odd | {
        "properties": {"a": {**odd["properties"]["a"], "enum": ["x", "y"]}}
    }
    assert type(declaration["function"]["parameters"]["properties"]["a"]["default"]) is str
    with pytest.raises(toolglot.BadToolError, match="NaN"):
        ToolSet([tool("f", {"type": "object", "properties": {"a": {"default": float("nan")}}})])


def test_what_was_given_is_not_changed() -> None:
    item = tool("a b", copy.deepcopy(TRICKY["recursive"]))
    before = copy.deepcopy(item)
    tools = ToolSet([item])
    for provider, options, _, _ in subsets.TARGETS:
        tools.to(provider, **options)
    assert item == before
    assert tools["a b"].schema == before["inputSchema"]


def test_describe_moves_constraints_into_words() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer", "description": "How many.", "multipleOf": 5}}}
    tools = ToolSet([tool("f", schema)])
    (plain,) = tools.to_gemini()[0]["functionDeclarations"]
    (said,) = tools.to_gemini(describe=True)[0]["functionDeclarations"]
    assert plain["parametersJsonSchema"]["properties"]["n"]["description"] == "How many."
    assert said["parametersJsonSchema"]["properties"]["n"]["description"] == "How many. (multipleOf: 5)"
    assert [(x.pointer, x.kind) for x in tools.losses("gemini", describe=True)] == [
        ("/properties/n/multipleOf", "described")
    ]


def test_a_budget_keeps_every_tool() -> None:
    words = {"type": "string", "description": "word " * 100}
    schema = {
        "type": "object",
        "properties": {f"p{i}": {"type": "object", "properties": {"x": words}} for i in range(20)},
    }
    tools = ToolSet([tool(f"t{i}", schema) for i in range(20)])
    assert len(tools.to_json("llama_cpp", budget=40_000)) <= 40_000
    assert len(tools.to("llama_cpp", budget=40_000)) == 20
    assert all(loss.message.endswith("40000 bytes") for loss in tools.losses("llama_cpp", budget=40_000))


def test_strict_nulls_and_respelt_values_come_back() -> None:
    schema = {
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "days": {"type": "integer", "enum": [1, 3]},
            "$top": {"type": "integer"},
        },
        "required": ["city"],
    }
    tools = ToolSet([tool("f", schema)])
    call = tools.check("f", {"city": "Paris", "days": None, "$top": None})
    assert (call.status, call.arguments) == ("repaired", {"city": "Paris"})
    call = tools.check("f", {"city": "Paris", "days": "3", "_top": 5})
    assert (call.status, call.arguments) == ("repaired", {"city": "Paris", "days": 3, "$top": 5})


def test_messages_to_the_model() -> None:
    tools = ToolSet([tool("read_file"), tool("write_file")])
    wrong = tools.check("read_file", {"path": 5.5, "more": 1})
    assert wrong.status == "repaired"  # A number has its digits, and more is allowed.
    wrong = tools.check("read_file", {"path": ["a"]})
    message = wrong.error_message(tools)
    assert message is not None
    assert wrong.status == "invalid"
    assert "/path" in message
    assert json.dumps(SCHEMA, separators=(",", ":")) in message
    unknown = tools.check("reed_file", "{}")
    assert unknown.status == "unknown_tool"
    assert '"read_file"' in str(unknown.error_message(tools))
    assert tools.check("read_file", {"path": "a"}).error_message() is None
    assert tools.check("read_file", "{'path': 'a'}").status == "repaired"
    assert tools.check("read_file", "5 apples").status in ("malformed", "invalid")


def test_normalized_calls_know_their_tools() -> None:
    def response(name: str, arguments: str) -> dict[str, Any]:
        call = {"id": "1", "type": "function", "function": {"name": name, "arguments": arguments}}
        return {"choices": [{"index": 0, "message": {"role": "assistant", "tool_calls": [call]}}]}

    for name, arguments, words in (
        ("read_file", '{"path": [1]}', ["/path", json.dumps(SCHEMA, separators=(",", ":"))]),
        ("reed_file", "{}", ['Did you mean "read_file"?']),
    ):
        (call,) = toolglot.normalize(response(name, arguments), tools=[tool("read_file")]).tool_calls
        stream = toolglot.StreamNormalizer("openai", tools=[tool("read_file")])
        message = response(name, arguments)["choices"][0]["message"]
        stream.feed({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, **message["tool_calls"][0]}]}}]})
        stream.close()
        (streamed,) = stream.finish().tool_calls
        for message in (call.error_message(), streamed.error_message()):
            assert all(word in str(message) for word in words), message


def test_extracted_calls_know_their_tools() -> None:
    text = '<tool_call>\n{"name": "reed_file", "arguments": {"path": "a"}}\n</tool_call>'
    (call,) = toolglot.extract(text, tools=[tool("read_file")]).tool_calls
    assert '"read_file"' in str(call.error_message())


@pytest.mark.parametrize("dialect", [row.name for row in toolglot.dialects()])
def test_prompts_are_read_back_by_their_dialects(dialect: str) -> None:
    tools = ToolSet([tool("TOOL_NAME", {"type": "object", "properties": {"PARAMETER": {"type": "string"}}})])
    prompt = tools.to_prompt(dialect)
    assert "Does TOOL_NAME." in prompt
    turn = toolglot.extract(prompt.replace("TOOL_NAME with", ""), tools=tools, dialect=dialect)
    assert [c for c in turn.tool_calls if c.arguments == {"PARAMETER": "VALUE"}], turn


def test_prompts_are_for_dialects_that_there_are() -> None:
    with pytest.raises(toolglot.UnknownDialectError):
        ToolSet([tool("read")]).to_prompt("no such dialect")
    assert ToolSet([tool("read")]).to_prompt("auto") == ToolSet([tool("read")]).to_prompt("json")


def test_inject_merges_with_a_system_message() -> None:
    tools = ToolSet([tool("read")])
    prompt = tools.to_prompt("hermes")
    messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}]
    before = copy.deepcopy(messages)
    injected = tools.inject(messages, "hermes")
    assert messages == before
    assert injected == [{"role": "system", "content": f"Be brief.\n\n{prompt}"}, messages[1]]
    assert tools.inject(injected, "hermes") == injected
    assert tools.inject(messages[1:], "hermes") == [{"role": "system", "content": prompt}, messages[1]]
    parts = [{"role": "system", "content": [{"type": "text", "text": "Be brief."}]}]
    assert tools.inject(parts, "hermes")[0]["content"][1] == {"type": "text", "text": prompt}
    assert ToolSet([]).inject(messages) == messages


class Unit(enum.Enum):
    C = "celsius"
    F = "fahrenheit"


@dataclass
class Place:
    city: str
    near: list[Place] | None = None


class Options(TypedDict):
    days: int


def forecast(
    place: Place,
    unit: Unit = Unit.C,
    mode: Literal["fast", "slow"] = "fast",
    options: Options | None = None,
    tags: Annotated[list[str], "Words to look for."] = [],  # noqa: B006
    *,
    limit: int = 3,
) -> str:
    """Tell the weather.

    More of it.

    Args:
        place: Where, in two
            lines.
        limit (int): How many days.

    Returns:
        Text.
    """
    return ""


def test_functions_become_tools() -> None:
    tools = ToolSet([forecast])
    (described,) = tools
    schema = described.schema
    assert described.name == "forecast"
    assert described.description == "Tell the weather.\n\nMore of it."
    assert schema["required"] == ["place"]
    assert schema["properties"]["unit"]["enum"] == ["celsius", "fahrenheit"]
    assert schema["properties"]["mode"] == {"enum": ["fast", "slow"], "default": "fast"}
    assert schema["properties"]["limit"] == {"type": "integer", "description": "How many days.", "default": 3}
    assert schema["properties"]["tags"]["description"] == "Words to look for."
    assert schema["properties"]["place"]["description"] == "Where, in two lines."
    assert schema["$defs"]["Place"]["required"] == ["city"]
    call = tools.check(
        "forecast", {"place": {"city": "Paris", "near": [{"city": "Lille"}]}, "limit": "5", "unit": "CELSIUS"}
    )
    assert (call.status, call.arguments["limit"], call.arguments["unit"]) == ("repaired", 5, "celsius")
    for provider, options, rule, names in subsets.TARGETS:
        subsets.check(tools, provider, options, rule, names)


def test_what_json_has_no_form_for_is_no_default() -> None:
    def wait(seconds: float = float("inf"), factor: float = 1.5) -> None: ...

    properties = ToolSet([wait])["wait"].schema["properties"]
    assert properties == {"seconds": {"type": "number"}, "factor": {"type": "number", "default": 1.5}}


def test_a_class_is_described_in_its_own_words() -> None:
    class Base:
        """The words of a library."""

        @classmethod
        def model_json_schema(cls) -> dict[str, Any]:
            return {"type": "object", "properties": {"q": {"type": "string"}}}

    class Search(Base): ...

    class Find(Base):
        """Find it."""

    assert [tool.description for tool in ToolSet([Search, Find])] == ["", "Find it."]


def test_methods_partials_and_other_docstrings() -> None:
    class Service:
        def look(self, name: str, /) -> None: ...

        def find(self, name: str, depth: int = 1) -> None:
            """Find it.

            :param name: What to find.
            """

    tools = ToolSet([Service().find, Service().look, len])
    assert [t.name for t in tools] == ["find"]
    assert tools["find"].schema["properties"]["name"]["description"] == "What to find."
    assert "cannot be given by name" in str(tools.problems[0])


def test_classes_of_one_name_are_two() -> None:
    def place(kind: type) -> Any:
        made = dataclasses.make_dataclass("Place", [("city", kind), ("near", Any)])
        made.__annotations__["near"] = list[made]  # type: ignore[valid-type]
        return made

    first, second = place(str), place(int)

    def go(start, end, via) -> None: ...

    go.__annotations__ = {"start": first, "end": second, "via": list[first]}
    schema = ToolSet([go])["go"].schema
    start, end = (schema["properties"][name]["$ref"].removeprefix("#/$defs/") for name in ("start", "end"))
    assert schema["properties"]["via"]["items"] == schema["properties"]["start"]
    assert set(schema["$defs"]) == {start, end}
    for name, kind in ((start, "string"), (end, "integer")):
        assert schema["$defs"][name]["properties"]["city"] == {"type": kind}
        assert schema["$defs"][name]["properties"]["near"]["items"] == {"$ref": f"#/$defs/{name}"}


class Model:
    """What pydantic's classes have in common."""

    @classmethod
    def model_json_schema(cls, ref_template: str = "") -> dict[str, Any]:
        return json.loads(json.dumps(cls.schema))  # type: ignore[attr-defined]


def test_what_models_define_under_one_name_is_not_mixed() -> None:
    def model(name: str, kind: str) -> Any:
        item = {"type": "object", "properties": {"a": {"type": kind}, "next": {"$ref": "#/$defs/Item"}}}
        schema = {"$defs": {"Item": item}, "properties": {"items": {"items": {"$ref": "#/$defs/Item"}}}}
        return type(name, (Model,), {"schema": schema})

    first, second = model("A", "string"), model("B", "integer")

    def go(a, b, c) -> None: ...

    go.__annotations__ = {"a": first, "b": second, "c": first}
    tools = ToolSet([go])
    assert tools.check("go", {"a": {"items": [{"a": "x"}]}, "b": {"items": [{"a": 1}]}, "c": {}}).status == "ok"
    call = tools.check("go", {"a": {"items": [{"a": "x", "next": {"a": {}}}]}, "b": {"items": [{"a": []}]}, "c": {}})
    assert {error.pointer for error in call.errors} == {"/a/items/0/next/a", "/b/items/0/a"}


def test_what_a_function_returns_is_of_no_interest() -> None:
    def find(name: str, depth: int | None = None) -> Unknown:  # type: ignore[name-defined]  # noqa: F821
        ...

    schema = ToolSet([find])["find"].schema
    assert schema["properties"]["name"] == {"type": "string"}
    assert schema["properties"]["depth"]["anyOf"] == [{"type": "integer"}, {"type": "null"}]

    def lost(name: Unknown) -> None:  # type: ignore[name-defined]  # noqa: F821
        ...

    assert "Unknown" in str(ToolSet([find, lost]).problems[0])


class FieldInfo:
    """What pydantic's FieldInfo has."""

    def __init__(self, default: Any, description: str | None = None, *metadata: Any) -> None:
        self.default, self.description, self.metadata = default, description, metadata

    def is_required(self) -> bool:
        return self.default is ...


class AtLeast:
    ge = 1


def test_a_field_as_a_default_is_read() -> None:
    many: Any = FieldInfo(3, "How many.", AtLeast())
    needed: Any = FieldInfo(...)

    def find(n: int = many, name: str = needed) -> None: ...

    schema = ToolSet([find])["find"].schema
    assert schema["required"] == ["name"]
    assert schema["properties"] == {
        "n": {"type": "integer", "description": "How many.", "minimum": 1, "default": 3},
        "name": {"type": "string"},
    }


def test_what_a_partial_has_given_is_not_told() -> None:
    def fetch(url: str, key: str, depth: int = 1) -> None: ...

    schema = ToolSet([functools.partial(functools.partial(fetch, key="secret"), depth=2)])["fetch"].schema
    assert schema["properties"] == {"url": {"type": "string"}}

    class Fetch:
        def __call__(self, url: str, depth: int = 1) -> None: ...

    assert ToolSet([functools.partial(Fetch(), depth=2)])["Fetch"].schema["properties"] == {"url": {"type": "string"}}


def test_what_is_no_tool_says_what_is_one() -> None:
    class Plain:
        def __call__(self, city: str) -> str:
            return city

    for item, name in ((Plain, "the class Plain"), (Plain(), "a Plain")):
        with pytest.raises(toolglot.BadToolError, match=f"{name} is no tool: .*typed function"):
            toolglot.ToolSet([item])


def test_a_lambda_is_no_tool() -> None:
    with pytest.raises(toolglot.BadToolError, match="lambda"):
        ToolSet([lambda x: x])


def test_defaults_that_json_has_a_form_for_are_told() -> None:
    fields = [("size", int, 10), ("unit", Unit, Unit.F), ("tags", list, dataclasses.field(default_factory=list))]
    Page = dataclasses.make_dataclass("Page", fields)

    def find(page, unit=Unit.C) -> None: ...

    find.__annotations__ = {"page": Page, "unit": Unit}
    schema = ToolSet([find])["find"].schema
    assert schema["properties"]["unit"] == {"enum": ["celsius", "fahrenheit"], "default": "celsius"}
    assert schema["$defs"]["Page"]["properties"]["size"] == {"type": "integer", "default": 10}
    assert "default" not in schema["$defs"]["Page"]["properties"]["tags"]


@pytest.mark.parametrize("key", ["tools", "functionDeclarations"])
def test_a_bad_tool_in_a_wrapper_does_not_spoil_its_siblings(key: str) -> None:
    good = {"name": "good", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}
    tools = toolglot.ToolSet(
        {key: [good, {"name": "bad", "parameters": {"default": object()}}, {**good, "name": "last"}]}
    )
    assert [tool.name for tool in tools] == ["good", "last"]
    (problem,) = tools.problems
    assert problem.place == "/1"
    assert "object" in str(problem)


@pytest.mark.parametrize(
    ("arguments", "status", "read"),
    [
        ("nope", "malformed", {}),
        ('{"path":1', "incomplete", {}),
        ('{"path":"a', "incomplete", {"path": "a"}),
        ("{'path':'a'}", "repaired", {"path": "a"}),
        ("", "invalid", {}),
    ],
)
def test_arguments_that_are_no_json_are_settled_too(arguments: str, status: str, read: Any) -> None:
    call = ToolSet([tool("read")]).check("read", arguments)
    assert (call.status, call.arguments) == (status, read)
    assert call.runnable == (status == "repaired")
    assert status in ("repaired", "invalid") or call.raw == arguments
    assert pickle.loads(pickle.dumps(call)) == call


@pytest.mark.parametrize(
    "declared",
    [
        {"schema": SCHEMA},
        {"arguments": SCHEMA},
        {"args": {"a": {"type": "string"}}},
        {"parameters": {"a": {"type": "string"}}},
        {"parameters": {"type": {"enum": ["a"]}, "b": {"description": "B."}}},
    ],
)
def test_a_schema_under_the_wrong_key_is_a_problem(declared: dict[str, Any]) -> None:
    for item in ({"name": "f", **declared}, {"type": "function", "function": {"name": "f", **declared}}):
        for tools in (ToolSet([item]), ToolSet.from_json(json.dumps([item]))):
            (problem,) = tools.problems
            assert isinstance(problem, toolglot.BadSchemaError)
            assert "f" in tools


def test_schemas_that_look_like_parameters_are_none() -> None:
    for schema in (
        {"items": {"type": "string"}},
        {"not": {"type": "string"}},
        {"properties": {"type": {"type": "null"}}},
        {},
    ):
        assert not ToolSet([{"name": "f", "parameters": schema}]).problems


def test_a_tool_and_a_loss_can_be_copied_and_pickled() -> None:
    tools = ToolSet({"a": [tool("read.it"), tool("x")], "b": [tool("read.it", {"type": "object"})]})
    for record in (*tools, *tools.losses("openai"), toolglot.repair_json("{a: 1}", report=True)):
        for again in (pickle.loads(pickle.dumps(record)), copy.copy(record), copy.deepcopy(record)):
            assert again == record
            assert hash(again) == hash(record)
    assert [t.name for t in copy.deepcopy(list(tools))] == ["a:read.it", "x", "b:read.it"]
    assert toolglot.Loss("f", "", "dropped", "m").kind == "dropped"
    with pytest.raises(toolglot.BadOptionError):
        toolglot.Loss("f", "", "lost", "m")  # type: ignore[arg-type]


@pytest.mark.parametrize("messages", ["abc", {"role": "user"}, [5], [None], ["abc"]])
def test_prompts_go_into_messages_only(messages: Any) -> None:
    with pytest.raises((TypeError, toolglot.BadMessageError), match="message"):
        ToolSet([tool("read")]).inject(messages)


class Length(NamedTuple):
    """As annotated_types has it; pydantic's Field keeps such notes in its metadata."""

    min_length: int | None = None
    max_length: int | None = None


class Range(NamedTuple):
    ge: float | None = None
    lt: float | None = None


class Field(NamedTuple):
    description: str
    metadata: list[Any]


class Point(NamedTuple):
    x: int
    y: float = 0.0


class Service:
    def search(self, count: Annotated[int, Field("How many.", [Range(ge=1), Range(lt=5)])]) -> None:
        """Search."""


def test_what_annotations_demand() -> None:
    def act(
        count: Annotated[int, Field("How many.", [Range(ge=1), Range(lt=5)])],
        name: Annotated[str, Length(1, 3)],
        tags: Annotated[list[str], Length(max_length=2)],
        point: Point,
        note: Annotated[str | None, Length(max_length=2)] = None,
    ) -> None: ...

    tools = ToolSet([act, Service.search], on_problem="raise")
    properties = tools["act"].schema["properties"]
    assert properties["count"] == {"type": "integer", "description": "How many.", "minimum": 1, "exclusiveMaximum": 5}
    assert properties["name"] == {"type": "string", "minLength": 1, "maxLength": 3}
    assert properties["tags"] == {"type": "array", "items": {"type": "string"}, "maxItems": 2}
    right = {"count": 1, "name": "a", "tags": [], "point": [1, 2.5]}
    assert tools.check("act", right).status == "ok"
    for wrong in (
        {"count": 99},
        {"name": ""},
        {"tags": ["a", "b", "c"]},
        {"note": "abc"},
        {"point": ["q"]},
        {"point": [1, 2, 3]},
    ):
        assert tools.check("act", {**right, **wrong}).status == "invalid"
    assert tools["search"].schema["required"] == ["count"]
    assert list(tools["search"].schema["properties"]) == ["count"]
    bound = ToolSet([Service().search])["search"]
    assert bound.schema == tools["search"].schema


FILTER = {"type": "object", "properties": {"$filter": {"type": "string"}}}
OTHER = {"type": "object", "properties": {"name": {"type": "string"}}}


@pytest.mark.parametrize(
    ("schema", "wrap"),
    [
        ({"anyOf": [FILTER, OTHER]}, lambda filtered: filtered),
        ({"oneOf": [{"$ref": "#/$defs/filter"}, OTHER]}, lambda filtered: filtered),
        ({"type": "array", "prefixItems": [FILTER]}, lambda filtered: [filtered]),
        ({"type": "object", "patternProperties": {"^x": FILTER}}, lambda filtered: {"xy": filtered}),
        ({"anyOf": [{"type": "array", "items": FILTER}, OTHER]}, lambda filtered: [filtered]),
    ],
)
def test_a_respelt_property_gets_its_name_back_wherever_the_schema_has_it(schema: Any, wrap: Any) -> None:
    parameters = {"type": "object", "properties": {"query": schema}, "$defs": {"filter": FILTER}}
    tools = ToolSet([{"name": "search", "inputSchema": parameters}])
    assert "_filter" in json.dumps(tools.to("anthropic"))
    block = {"type": "tool_use", "id": "t", "name": "search", "input": {"query": wrap({"_filter": "a eq 1"})}}
    turn = toolglot.normalize({"type": "message", "role": "assistant", "content": [block]}, tools=tools)
    assert turn.tool_calls[0].arguments == {"query": wrap({"$filter": "a eq 1"})}


def test_one_spelling_of_two_names_stays() -> None:
    branches = [{"type": "object", "properties": {name: {"type": "string"}}} for name in ("$a", "@a")]
    tools = ToolSet([{"name": "f", "inputSchema": {"type": "object", "properties": {"u": {"anyOf": branches}}}}])
    call = tools.check("f", {"u": {"_a": "1"}})
    assert call.arguments == {"u": {"_a": "1"}}


def test_what_no_value_may_be_is_said_or_lost_aloud() -> None:
    properties = {"never": False, "always": True, "nothing": {"const": None}}
    tools = ToolSet([{"name": "f", "inputSchema": {"type": "object", "properties": properties}}])
    told = tools.to("anthropic")[0]["input_schema"]["properties"]
    assert told == {"never": {"not": {}}, "always": {}, "nothing": {"const": None}}
    assert not tools.losses("anthropic")
    lost = {(loss.kind, loss.pointer) for loss in tools.losses("gemini")}
    assert {("dropped", "/properties/never"), ("dropped", "/properties/nothing/const")} <= lost
    strict = tools.to("openai", strict=True)[0]["function"]["parameters"]["properties"]
    assert strict["nothing"]["enum"] == [None]


@pytest.mark.parametrize("provider", ["openai", "openai_responses"])
def test_strict_mode_reads_lists_of_types(provider: str) -> None:
    def told(schema: Any) -> tuple[Any, bool, set[str]]:
        tools = ToolSet([tool("f", {"type": "object", "properties": {"v": schema}, "required": ["v"]})])
        ((_, parameters, strict),) = subsets.declarations(provider, tools.to(provider, strict=True))
        assert parameters is not None
        return parameters["properties"]["v"], strict, {loss.kind for loss in tools.losses(provider, strict=True)}

    written, strict, losses = told({"type": ["string", "array"]})
    assert strict
    assert written["items"] == told({"type": "array"})[0]["items"]
    assert losses == {"rewritten"}
    assert told({"type": ["object", "string"]})[1:] == (False, {"not_strict"})
    assert told({"type": ["string", "object"], "additionalProperties": {"type": "integer"}})[1:] == (
        False,
        {"not_strict"},
    )
    described = {"type": ["object", "string"], "properties": {"a": {"type": "integer"}}}
    written, strict, _ = told(described)
    assert strict
    assert written == {
        "type": ["object", "string"],
        "properties": {"a": {"type": ["integer", "null"]}},
        "additionalProperties": False,
        "required": ["a"],
    }


@pytest.mark.parametrize("provider", ["openai", "openai_responses", "gemini"])
def test_an_array_among_other_types_says_its_items(provider: str) -> None:
    schema = {"type": "object", "properties": {"v": {"type": ["string", "array"]}, "w": {"type": "array"}}}
    ((_, parameters, _),) = subsets.declarations(provider, ToolSet([tool("f", schema)]).to(provider))
    assert parameters is not None
    assert parameters["properties"]["v"] == {"type": ["string", "array"], "items": {}}
    assert parameters["properties"]["w"] == {"type": "array", "items": {}}


@pytest.mark.parametrize(
    ("literals", "kind"),
    [
        (["a", 1], ["string", "integer", "null"]),
        ([1, 2.5], ["number", "null"]),
        ([True, "auto", None], ["boolean", "string", "null"]),
        (["a", "b"], ["string", "null"]),
    ],
)
def test_strict_mode_says_the_types_of_literals(literals: list[Any], kind: list[str]) -> None:
    tools = ToolSet([tool("f", {"type": "object", "properties": {"v": {"enum": literals}}})])
    for provider in ("openai", "openai_responses"):
        ((_, parameters, strict),) = subsets.declarations(provider, tools.to(provider, strict=True))
        assert parameters is not None
        told = parameters["properties"]["v"]
        assert (told["type"], strict) == (kind, True)
        assert told["enum"] == [*literals, None] if None not in literals else literals


@pytest.mark.parametrize(
    ("schema", "places"),
    [
        ({"type": "object", "required": "a"}, ["/required"]),
        ({"type": "object", "properties": ["a"]}, ["/properties"]),
        ({"type": "object", "enum": "x"}, ["/enum"]),
        ({"properties": {"a": {"type": "string", "required": True}}}, ["/properties/a/required"]),
        ({"properties": {"a": {"type": "mystery"}, "b": {"type": []}}}, ["/properties/a/type", "/properties/b/type"]),
        ({"properties": {"a": "string"}}, ["/properties/a"]),
        ({"properties": {"a": {"items": {"minimum": "5", "maximum": 6}}}}, ["/properties/a/items/minimum"]),
        ({"properties": {"a/b": {"anyOf": [{"type": "null"}, {"pattern": 5}]}}}, ["/properties/a~1b/anyOf/1/pattern"]),
        (
            {"properties": {"a": {"minLength": -1, "$ref": "#/$defs/n"}}},
            ["/properties/a/$ref", "/properties/a/minLength"],
        ),
        (
            {"properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {"uniqueItems": "yes"}}},
            ["/$defs/b/uniqueItems"],
        ),
    ],
)
def test_parts_of_schemas_that_mean_nothing_are_problems(schema: dict[str, Any], places: list[str]) -> None:
    items = [tool("read"), tool("f", schema)]
    for tools in (ToolSet(items), ToolSet.from_json(json.dumps(items)), ToolSet([*items, *map(tool, "ghijklm")])):
        assert [problem.place for problem in tools.problems] == [f"/f{place}" for place in places]
        assert {type(problem) for problem in tools.problems} == {toolglot.BadSchemaError}
        assert "f" in tools
        with pytest.raises(toolglot.BadSchemaError):
            ToolSet(items, on_problem="raise")


def test_what_is_said_in_other_words_is_no_problem() -> None:
    properties = {
        "float": {"type": "float", "description": None, "enum": None},
        "any": {"type": "any"},
        "null": None,
        "draft_4": {"type": "number", "minimum": 0, "exclusiveMinimum": True},
        "draft_7": {"type": "array", "items": [{"type": "string"}], "additionalItems": False},
        "openapi": {"type": "string", "nullable": True, "example": "x"},
        "foreign": {"type": "string", "x-order": 1, "options": "a"},
        "required": {"type": "boolean", "default": "yes"},
    }
    schema = {"type": "object", "properties": properties, "dependencies": {"any": ["null"]}}
    assert not ToolSet([tool("f", schema)], on_problem="raise").problems


def test_what_is_no_message_gets_no_prompt() -> None:
    tools = ToolSet([{"name": "f"}])
    user = {"role": "user", "content": "x"}
    for wrong in ([user], object(), b"x", 1.5, lambda: 1, dict, (user,), {"x"}):
        with pytest.raises(toolglot.BadMessageError, match="a message is a dict or an SDK's object") as caught:
            tools.inject([user, wrong])
        assert caught.value.place == "/1"
    for right in (user, types.MappingProxyType(user), toolglot.Turn("x")):
        assert tools.inject([right])[1] is right


def test_options_that_would_say_nothing_are_refused() -> None:
    tools = ToolSet([{"name": "f"}])
    for use in (tools.to, tools.to_json, tools.losses, tools.names):
        for provider, options in [("openai", {"schema": "parameters"}), ("gemini", {"model": "anthropic/claude"})]:
            with pytest.raises(toolglot.BadOptionError, match="it says nothing"):
                use(provider, **options)
        use("gemini", schema="parameters")
        use("openrouter", model="anthropic/claude")
    for options in ({"strict": "yes"}, {"describe": 1}, {"model": 5}, {"budget": "x"}, {"schema": None}):
        (name,) = options
        with pytest.raises(TypeError, match=f"^{name} is an? .*, not an? "):
            tools.to("openai", **options)
