"""What ToolSet writes is what the providers' own SDKs take, and the arguments that come back fit the tool."""

from __future__ import annotations

import functools
import json
import os
import subprocess
import sys
import threading
import typing
from pathlib import Path
from typing import Any

import anthropic.types
import botocore.loaders
import botocore.model
import botocore.validate
import cohere
import google.genai.types
import hypothesis_jsonschema
import jsonschema
import mcp.types
import mistralai.client.models
import ollama
import openai.types.chat
import openai.types.responses
import pydantic
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import subsets
import toolglot
from support import ROOT
from toolglot import ToolSet

TRICKY: dict[str, Any] = json.loads((ROOT / "tests/data/schema/tricky.json").read_text())


def strictly(kind: Any) -> Any:
    """A check against a TypedDict of an SDK: unknown keys are refused."""
    adapter = pydantic.TypeAdapter(kind)
    known = typing.get_type_hints(kind)

    def check(value: Any) -> None:
        adapter.validate_python(value)
        assert value.keys() <= known.keys(), value.keys() - known.keys()
        for key in typing.cast(Any, kind).__required_keys__:
            assert key in value, key

    return check


@functools.cache
def bedrock_tools() -> Any:
    """Botocore's shape of Bedrock's list of tools; reading the service's description takes a second."""
    model = botocore.loaders.Loader().load_service_model("bedrock-runtime", "service-2")
    return botocore.model.ServiceModel(model).shape_for("ToolConfiguration")


def botocore_tool(value: Any) -> None:
    report = botocore.validate.ParamValidator().validate({"tools": [value]}, bedrock_tools())
    assert not report.has_errors(), report.generate_report()


MODELS: dict[str, Any] = {
    "openai": strictly(openai.types.chat.ChatCompletionFunctionToolParam),
    "openai_responses": strictly(openai.types.responses.FunctionToolParam),
    "anthropic": strictly(anthropic.types.ToolParam),
    "gemini": google.genai.types.Tool.model_validate,
    "mistral": mistralai.client.models.Tool.model_validate,
    "cohere": cohere.ToolV2.model_validate,
    "ollama": ollama.Tool.model_validate,
    "bedrock": botocore_tool,
}


def check(tools: ToolSet, provider: str, options: dict[str, Any], rule: Any, names: str) -> None:
    """The provider's subset; and where types are JSON Schema's, that the schemas are valid JSON Schema."""
    subsets.check(tools, provider, options, rule, names)
    for _, schema, _ in subsets.declarations(provider, tools.to(provider, **options)):
        if schema is not None and schema.get("type") == "object":
            check_schema(json.dumps(schema))


@functools.cache
def check_schema(text: str) -> None:
    """Raise if a schema is not valid; most are the same for several providers."""
    jsonschema.Draft202012Validator.check_schema(json.loads(text))


TARGETS = [target for target in subsets.TARGETS if target[0] in MODELS]
IDS = [f"{name}-{'-'.join(map(str, options.values()))}" for name, options, _, _ in TARGETS]


@pytest.mark.parametrize(("provider", "options", "rule", "names"), TARGETS, ids=IDS)
def test_tricky_schemas(provider: str, options: dict[str, Any], rule: Any, names: str) -> None:
    for key, schema in TRICKY.items():
        tools = ToolSet([{"name": f"a.{key}", "description": "d", "inputSchema": schema}])
        check(tools, provider, options, rule, names)
        for declaration in tools.to(provider, **options):
            MODELS[provider](declaration)


@functools.cache
def bfcl() -> list[dict[str, Any]]:
    """The functions of the Berkeley Function Calling Leaderboard, with its own names of types."""
    import bfcl_eval

    data = Path(bfcl_eval.__file__).parent / "data"
    functions = {}
    for path in sorted([*data.glob("*.json"), *data.glob("multi_turn_func_doc/*.json")]):
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                continue  # One file is a document of many lines, without functions.
            listed = [entry] if "parameters" in entry else entry.get("function", [])
            functions |= {json.dumps(function): function for function in listed if isinstance(function, dict)}
    return list(functions.values())


@pytest.mark.parametrize(("provider", "options", "rule", "names"), TARGETS, ids=IDS)
def test_bfcl(provider: str, options: dict[str, Any], rule: Any, names: str) -> None:
    functions = bfcl()
    assert len(functions) > 2000
    for function in functions:
        tools = ToolSet([function])
        for declaration in tools.to(provider, **options):
            MODELS[provider](declaration)
        check(tools, provider, options, rule, names)


def objects_of_sdks(tools: ToolSet) -> dict[str, list[Any]]:
    """The tools as the objects that the SDKs make of them."""
    (declared,) = tools.to_gemini()
    (subset,) = tools.to_gemini(schema="parameters")
    return {
        "mcp": [mcp.types.Tool.model_validate(tool) for tool in tools.to_mcp()],
        "mcp list": mcp.types.ListToolsResult.model_validate({"tools": tools.to_mcp()}),  # type: ignore[dict-item]
        "gemini": [google.genai.types.Tool.model_validate(declared)],
        "gemini subset": [google.genai.types.Tool.model_validate(subset)],
        "gemini functions": google.genai.types.Tool.model_validate(declared).function_declarations or [],
        "mistral": [mistralai.client.models.Tool.model_validate(tool) for tool in tools.to_mistral()],
        "cohere": [cohere.ToolV2.model_validate(tool) for tool in tools.to_cohere()],
        "ollama": [ollama.Tool.model_validate(tool) for tool in tools.to_ollama()],
        "responses": [openai.types.responses.FunctionTool.model_validate(tool) for tool in tools.to_openai_responses()],
    }


SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string", "description": "Where."}, "lines": {"type": "integer"}},
    "required": ["path"],
}
SDK_OBJECTS = objects_of_sdks(ToolSet([{"name": "read", "description": "Reads.", "inputSchema": SCHEMA}]))


@pytest.mark.parametrize("sdk", SDK_OBJECTS)
def test_objects_of_sdks_come_in(sdk: str) -> None:
    tools = ToolSet(SDK_OBJECTS[sdk])
    assert not tools.problems
    (read,) = tools
    assert (read.name, read.description) == ("read", "Reads.")
    assert read.schema == SCHEMA


SERVERS = {
    "time": [sys.executable, "-m", "mcp_server_time"],
    "fetch": [sys.executable, "-m", "mcp_server_fetch"],
    "git": [sys.executable, "-m", "mcp_server_git"],
    "filesystem": ["npx", "-y", "@modelcontextprotocol/server-filesystem", "."],
    "memory": ["npx", "-y", "@modelcontextprotocol/server-memory"],
    "everything": ["npx", "-y", "@modelcontextprotocol/server-everything"],
    "sequential-thinking": ["npx", "-y", "@modelcontextprotocol/server-sequential-thinking"],
    "github": ["npx", "-y", "@modelcontextprotocol/server-github"],
    "playwright": ["npx", "-y", "@playwright/mcp"],
}


def listed(command: list[str]) -> list[dict[str, Any]]:
    """The tools that a server lists over stdio."""
    client = {"name": "toolglot-tests", "version": "0"}
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as server:
        assert server.stdin
        assert server.stdout
        late = threading.Timer(180, server.kill)  # The first start of one from npm downloads it.
        late.start()
        try:
            for message in messages:
                server.stdin.write(json.dumps(message) + "\n")
                server.stdin.flush()
            for line in server.stdout:
                answer = json.loads(line)
                if answer.get("id") == 2:
                    return list(answer["result"]["tools"])
        finally:
            late.cancel()
            server.kill()
    raise AssertionError("the server closed without listing its tools")


@pytest.mark.parametrize("server", SERVERS)
def test_real_servers(server: str) -> None:
    items = listed(SERVERS[server])
    assert items
    tools = ToolSet({server: items})
    assert not tools.problems
    assert tools.to_mcp() == items
    for provider, options, rule, names in subsets.TARGETS:
        check(tools, provider, options, rule, names)
        for declaration in tools.to(provider, **options):
            MODELS.get(provider, lambda value: value)(declaration)


def plain(schema: Any) -> Any:
    """Gemini's subset as JSON Schema."""
    if isinstance(schema, list):
        return [plain(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: plain(value) for key, value in schema.items() if key not in ("propertyOrdering", "nullable", "format")}
    if isinstance(out.get("type"), str):
        out["type"] = out["type"].lower()
        if schema.get("nullable"):
            out = {"anyOf": [out, {"type": "null"}]}
    return out


LEAVES = st.sampled_from(
    [
        {"type": "string"},
        {"type": "integer"},
        {"type": "number", "exclusiveMinimum": 0},
        {"type": "boolean"},
        {},
        {"type": ["string", "null"]},
        {"enum": ["a", "b", 1]},
        {"const": 7},
        {"type": "integer", "enum": [1, 2]},
        {"type": "string", "minLength": 2, "maxLength": 4},
        {"type": "array"},
        {"type": "object"},
        True,
        {"type": "string", "nullable": True},
        {"type": ["integer", "array"], "items": {"type": "string"}},
        {"$ref": "#/$defs/Node"},
        {"$ref": "#/$defs/Word", "description": "d"},
        {"not": {"type": "string"}},
        {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}], "items": False},
        {"enum": ["x", None]},
        {"type": "integer", "exclusiveMinimum": 3, "maximum": 9},
    ]
)
PROPERTY_NAMES = st.sampled_from(["a", "b", "type", "properties", "$ref", "x y", "user.name", "_"])


def objects(parts: Any) -> Any:
    return st.builds(
        lambda properties, required, closed: {
            "type": "object",
            "properties": properties,
            "required": [name for name in properties if name in required],
            **closed,
        },
        st.dictionaries(PROPERTY_NAMES, parts, max_size=3),
        st.sets(PROPERTY_NAMES),
        st.sampled_from([{}, {"additionalProperties": False}, {"additionalProperties": {"type": "integer"}}]),
    )


SCHEMAS = st.recursive(
    LEAVES,
    lambda parts: (
        objects(parts)
        | st.builds(lambda items: {"type": "array", "items": items}, parts)
        | st.builds(
            lambda key, parts: {key: parts},
            st.sampled_from(["anyOf", "oneOf", "allOf"]),
            st.lists(parts, min_size=1, max_size=3),
        )
    ),
    max_leaves=6,
)
DEFINITIONS = {
    "Node": {
        "type": "object",
        "properties": {"v": {"type": "integer"}, "kids": {"type": "array", "items": {"$ref": "#/$defs/Node"}}},
        "required": ["v"],
    },
    "Word": {"type": "string", "enum": ["One", "Two"]},
}
ROOTS = objects(SCHEMAS).map(lambda schema: {**schema, "$defs": DEFINITIONS})
SLOW = settings(
    max_examples=int(os.environ.get("TOOLGLOT_EXAMPLES", "30")), suppress_health_check=list(HealthCheck), deadline=None
)


@pytest.mark.parametrize(("provider", "options", "rule", "names"), subsets.TARGETS)
@SLOW
@given(schema=ROOTS)
def test_any_schema_is_taken(schema: Any, provider: str, options: dict[str, Any], rule: Any, names: str) -> None:
    tools = ToolSet([{"name": "f", "inputSchema": schema}])
    check(tools, provider, options, rule, names)
    for declaration in tools.to(provider, **options):
        if model := MODELS.get(provider):
            model(declaration)


def properties(pointer: str) -> list[str] | None:
    """Return the properties on the way to a place in a schema; None inside a definition, which stands anywhere."""
    names, tokens = [], iter(pointer.replace("~1", "/").split("/")[1:])
    for token in tokens:
        if token == "$defs":
            return None
        if token == "properties":
            names += [name for name in [next(tokens, None)] if name is not None]
    return names


@pytest.mark.parametrize(("provider", "options", "rule", "names"), subsets.TARGETS)
@SLOW
@given(schema=ROOTS, data=st.data())
def test_what_comes_back_fits_or_its_loss_is_told(
    schema: Any, data: st.DataObject, provider: str, options: dict[str, Any], rule: Any, names: str
) -> None:
    tools = ToolSet([{"name": "f", "inputSchema": schema}])
    ((_, told, _),) = subsets.declarations(provider, tools.to(provider, **options))
    try:
        arguments = data.draw(hypothesis_jsonschema.from_schema(plain(told or {"type": "object", "maxProperties": 0})))
    except (hypothesis_jsonschema._resolve.HypothesisRefResolutionError, jsonschema.exceptions.SchemaError):
        assume(False)
    call = tools.check("f", json.loads(json.dumps(arguments)))
    if call.status not in ("ok", "repaired"):
        losses = [properties(loss.pointer) for loss in tools.losses(provider, **options)]
        for error in call.errors:
            place = [name for name in error.pointer.replace("~1", "/").split("/")[1:] if not name.isdigit()]
            told = [names for names in losses if names is None or names[: len(place)] == place[: len(names)]]
            assert told, (arguments, error, tools.losses(provider, **options))
        return
    # The judge here is another validator than the product's.
    jsonschema.Draft202012Validator(read(schema)).validate(call.arguments)


def read(schema: Any) -> Any:
    """A schema with OpenAPI's `nullable` said in JSON Schema."""
    if isinstance(schema, list):
        return [read(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: read(value) for key, value in schema.items()}
    if out.pop("nullable", None) is True:
        out["type"] = [out["type"], "null"]
    return out


@SLOW
@given(schema=ROOTS, data=st.data())
def test_valid_arguments_are_never_touched(schema: Any, data: st.DataObject) -> None:
    """P3 for ToolSet.check: what fits the tool's own schema passes byte for byte."""
    closed = read(schema)
    try:
        arguments = data.draw(hypothesis_jsonschema.from_schema(closed))
    except (hypothesis_jsonschema._resolve.HypothesisRefResolutionError, jsonschema.exceptions.SchemaError):
        assume(False)
    text = json.dumps(arguments, ensure_ascii=False)
    assume("\\ud8" not in text.lower())
    told = {"user_name", "x_y", "_ref"}  # Spellings of properties are read as the properties.
    assume(not told & set(text.replace('"', " ").split()))
    call = ToolSet([{"name": "f", "inputSchema": schema}]).check("f", text)
    assert call.status == "ok", (call.errors, call.repairs)
    assert call.arguments_json == text


@SLOW
@given(
    schema=ROOTS,
    arguments=st.dictionaries(
        PROPERTY_NAMES,
        st.recursive(
            st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["a", "One", "7", "[1]"]),
            lambda v: st.lists(v, max_size=2) | st.dictionaries(PROPERTY_NAMES, v, max_size=2),
            max_leaves=4,
        ),
        max_size=3,
    ),
)
def test_ok_means_valid(schema: Any, arguments: Any) -> None:
    """The quick proof and the full validator never call valid what another validator refuses."""
    call = ToolSet([{"name": "f", "inputSchema": schema}]).check("f", arguments)
    valid = jsonschema.Draft202012Validator(read(schema)).is_valid(call.arguments)
    assert valid == (call.status in ("ok", "repaired")), (call.status, call.errors)
    assert isinstance(toolglot.__version__, str)
