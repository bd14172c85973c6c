"""What each provider takes, as checks: from the providers' documents, apart from the converter's tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

Schema = dict[str, Any]
TYPES = {"string", "integer", "number", "boolean", "object", "array", "null"}
ONE = ("items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames")
MANY = ("anyOf", "oneOf", "allOf", "prefixItems")
NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")


def nodes(schema: Any, depth: int = 0) -> Iterator[tuple[Any, int]]:
    """Every schema inside a schema, and how deep in objects it is."""
    yield schema, depth
    if not isinstance(schema, dict):
        return
    for key in ONE:
        if key in schema and not (key == "additionalProperties" and isinstance(schema[key], bool)):
            yield from nodes(schema[key], depth)
    for key in MANY:
        for part in schema.get(key, []):
            yield from nodes(part, depth)
    for key in NAMED:
        for part in schema.get(key, {}).values():
            yield from nodes(part, depth + (key == "properties"))


def plain_root(schema: Schema) -> None:
    assert schema["type"] == "object"
    assert not schema.keys() & {"anyOf", "oneOf", "allOf", "not", "enum", "const", "$ref"}
    assert isinstance(schema["properties"], dict)


def sound_types(schema: Schema) -> None:
    for node, _ in nodes(schema):
        if isinstance(node, dict) and "type" in node:
            names = types_of(node)
            assert names
            assert set(names) <= TYPES, names


def arrays_say_their_items(schema: Schema) -> None:
    for node, _ in nodes(schema):
        if isinstance(node, dict) and "array" in types_of(node):
            assert "items" in node or "prefixItems" in node


def types_of(node: Schema) -> list[str]:
    names = node.get("type", [])
    return names if isinstance(names, list) else [names]


def references_resolve(schema: Schema) -> None:
    for node, _ in nodes(schema):
        if isinstance(node, dict) and "$ref" in node:
            reference = node["$ref"]
            assert reference == "#" or re.fullmatch(r"#/\$defs/[A-Za-z0-9_]+", reference), reference
            assert reference == "#" or reference.removeprefix("#/$defs/") in schema["$defs"]


def only(schema: Schema, keywords: set[str]) -> None:
    for node, _ in nodes(schema):
        assert isinstance(node, dict), "a boolean schema"
        assert node.keys() <= keywords, node.keys() - keywords


def openai(schema: Schema) -> None:
    plain_root(schema)
    sound_types(schema)
    references_resolve(schema)
    arrays_say_their_items(schema)


def moonshot(schema: Schema) -> None:
    """As refusals word it: kimi-cli#1595, #2061, #2475, #2531, kimi-code#792, #1610, opencode#37496."""
    openai(schema)
    for node, _ in nodes(schema):
        if not isinstance(node, dict):
            continue
        if "$ref" in node:
            assert set(node) == {"$ref"}
        # A known limit: no type is made up for what only says what it is not.
        elif "not" not in node:
            assert ("type" in node) != ("anyOf" in node), node
        assert set(node.get("required", [])) <= set(node.get("properties", {}))


def openai_strict(schema: Schema) -> None:
    openai(schema)
    only(
        schema,
        {
            "type",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "anyOf",
            "$ref",
            "$defs",
            "enum",
            "const",
            "description",
            "title",
            "pattern",
            "format",
            "multipleOf",
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "minItems",
            "maxItems",
        },
    )
    formats = {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
    for node, depth in nodes(schema):
        assert depth <= 10
        assert node.keys() & {"type", "anyOf", "$ref"}, "a schema without a type"
        assert "$ref" not in node or len(node) == 1
        assert node.get("format", "uuid") in formats
        assert not re.search(r"\(\?<?[=!]", node.get("pattern", ""))
        if "object" in types_of(node):
            assert node["additionalProperties"] is False
            assert sorted(node["required"]) == sorted(node["properties"])


def anthropic(schema: Schema) -> None:
    plain_root(schema)
    sound_types(schema)
    references_resolve(schema)
    for node, _ in nodes(schema):
        for name in node.get("properties", {}) if isinstance(node, dict) else ():
            assert re.fullmatch(r"[a-zA-Z0-9_.-]{1,64}", name), name


def anthropic_strict(schema: Schema) -> None:
    anthropic(schema)
    only(
        schema,
        {
            "type",
            "properties",
            "required",
            "additionalProperties",
            "items",
            "anyOf",
            "$ref",
            "$defs",
            "enum",
            "const",
            "description",
            "title",
            "format",
            "minItems",
        },
    )
    formats = {"date-time", "time", "date", "duration", "email", "hostname", "uri", "ipv4", "ipv6", "uuid"}
    for node, _ in nodes(schema):
        assert node.keys() & {"type", "anyOf", "$ref"}, "a schema without a type"
        assert not isinstance(node.get("type"), list)
        assert node.get("minItems", 0) <= 1
        assert node.get("format", "uri") in formats
        if node.get("type") == "object":
            assert node["additionalProperties"] is False
            assert set(node.get("required", [])) <= set(node["properties"])
    not_recursive(schema)


def not_recursive(schema: Schema) -> None:
    def follow(node: Any, open_: tuple[str, ...]) -> None:
        for inner, _ in nodes(node):
            if isinstance(inner, dict) and "$ref" in inner:
                name = inner["$ref"].removeprefix("#/$defs/")
                assert name not in open_
                follow(schema["$defs"][name], (*open_, name))

    follow({key: value for key, value in schema.items() if key != "$defs"}, ())


def identifiers(schema: Schema) -> None:
    for node, _ in nodes(schema):
        for name in node.get("properties", {}) if isinstance(node, dict) else ():
            assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,63}", name), name


def gemini_json_schema(schema: Schema) -> None:
    plain_root(schema)
    sound_types(schema)
    arrays_say_their_items(schema)
    identifiers(schema)
    references_resolve(schema)
    not_recursive(schema)
    only(
        schema,
        {
            "$ref",
            "$defs",
            "type",
            "title",
            "description",
            "enum",
            "items",
            "prefixItems",
            "minItems",
            "maxItems",
            "minimum",
            "maximum",
            "anyOf",
            "properties",
            "additionalProperties",
            "required",
            "propertyOrdering",
        }
        | {"format"},
    )
    for node, _ in nodes(schema):
        assert "$ref" not in node or len(node) == 1
        kinds = {type(value) for value in node.get("enum", []) if value is not None}
        assert len(kinds) <= 1 or kinds <= {int, float}


def gemini_parameters(schema: Schema) -> None:
    assert schema["type"] == "OBJECT"
    only(
        schema,
        {
            "type",
            "format",
            "title",
            "description",
            "nullable",
            "enum",
            "items",
            "minItems",
            "maxItems",
            "properties",
            "required",
            "propertyOrdering",
            "minProperties",
            "maxProperties",
            "minLength",
            "maxLength",
            "pattern",
            "minimum",
            "maximum",
            "anyOf",
        },
    )
    identifiers(schema)
    for node, _ in nodes(schema):
        if "anyOf" in node:
            assert node.keys() == {"anyOf"}, node.keys()
            assert len(node["anyOf"]) >= 1
            continue
        assert node["type"] in {"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"}
        if "enum" in node:
            assert node["type"] == "STRING"
            assert all(isinstance(word, str) and word for word in node["enum"])
        if node["type"] == "ARRAY":
            assert "items" in node
        if node["type"] == "OBJECT" and "properties" in node:
            assert node["properties"]
            assert set(node.get("required", [])) <= set(node["properties"])
        assert node.get("format", "enum") in {"enum", "date-time", "int32", "int64", "float", "double"}


def ollama(schema: Schema) -> None:
    plain_root(schema)
    sound_types(schema)
    only(schema, {"type", "properties", "required", "items", "description", "enum", "anyOf"})


def llama_cpp(schema: Schema) -> None:
    plain_root(schema)
    sound_types(schema)
    for node, _ in nodes(schema):
        if isinstance(node, dict):
            assert not node.keys() & {
                "pattern",
                "maxLength",
                "minLength",
                "maxItems",
                "$ref",
                "not",
                "if",
                "oneOf",
                "allOf",
            }


#: The provider, the options, where the schema is in a declaration, the check of the schema, and the rule of names.
TARGETS: list[tuple[str, dict[str, Any], Callable[[Schema], None], str]] = [
    ("openai", {}, openai, r"[a-zA-Z0-9_-]{1,64}"),
    ("openai", {"strict": True}, openai_strict, r"[a-zA-Z0-9_-]{1,64}"),
    ("openai_responses", {}, openai, r"[a-zA-Z0-9_-]{1,128}"),
    ("openai_responses", {"strict": True}, openai_strict, r"[a-zA-Z0-9_-]{1,128}"),
    ("anthropic", {}, anthropic, r"[a-zA-Z0-9_-]{1,64}"),
    ("anthropic", {"strict": True}, anthropic_strict, r"[a-zA-Z0-9_-]{1,64}"),
    ("gemini", {}, gemini_json_schema, r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}"),
    ("gemini", {"schema": "parameters"}, gemini_parameters, r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}"),
    ("mistral", {}, openai, r"[a-zA-Z0-9_-]{1,64}"),
    ("cohere", {}, openai, r"[a-zA-Z0-9_-]{1,64}"),
    ("ollama", {}, ollama, r".{1,64}"),
    ("bedrock", {}, anthropic, r"[a-zA-Z0-9_-]{1,64}"),
    ("llama_cpp", {}, llama_cpp, r"[a-zA-Z0-9_-]{1,64}"),
    ("moonshot", {}, moonshot, r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}"),
    ("openrouter", {}, openai, r"[a-zA-Z0-9_-]{1,64}"),
    ("openrouter", {"model": "google/gemini-3-pro"}, openai, r"[a-zA-Z0-9_-]{1,64}"),
    ("openrouter", {"model": "anthropic/claude-sonnet-5"}, anthropic, r"[a-zA-Z0-9_-]{1,64}"),
    ("openrouter", {"model": "qwen/qwen3-coder"}, openai, r"[a-zA-Z0-9_-]{1,64}"),
]


def bodies(provider: str, tools: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """What stands inside the wrapper of each declaration in a provider's list."""
    if provider == "gemini":
        tools = [function for tool in tools for function in tool["functionDeclarations"]]
    for tool in tools:
        yield tool.get("function") or tool.get("toolSpec") or tool


def declarations(provider: str, tools: list[dict[str, Any]]) -> Iterator[tuple[str, Schema | None, bool]]:
    """Name, schema and strictness of each declaration in a provider's list."""
    for body in bodies(provider, tools):
        schemas = [body[key] for key in ("parameters", "input_schema", "parametersJsonSchema") if key in body]
        if "inputSchema" in body:
            schemas.append(body["inputSchema"]["json"])
        yield body["name"], schemas[0] if schemas else None, body.get("strict", False)


def check(tools: Any, provider: str, options: dict[str, Any], rule: Callable[[Schema], None], names: str) -> None:
    """Every declaration of a ToolSet is what the provider takes; a tool that could not be said strictly is loose."""
    loose = {"openai": openai, "openai_responses": openai, "anthropic": anthropic}
    seen = set()
    converted = tools.to(provider, **options)
    for body in bodies(provider, converted):
        # Nobody takes an empty one, and OpenAI none that is longer.
        assert len(body.get("description", "d")) >= 1
        assert len(body.get("description", "d")) <= 1024 or not provider.startswith("openai")
    for name, schema, strict in declarations(provider, converted):
        assert re.fullmatch(names, name), name
        assert name not in seen
        seen.add(name)
        if options.get("strict") and not strict:
            assert any(loss.kind == "not_strict" for loss in tools.losses(provider, **options))
            rule_ = loose[provider]
        else:
            rule_ = rule
        if schema is None:
            assert provider == "gemini"
        else:
            rule_(schema)
    assert len(seen) == len(tools)
