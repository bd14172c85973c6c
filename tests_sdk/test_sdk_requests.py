"""The members of requests that ToolSet writes are what the providers' own SDKs take."""

from __future__ import annotations

from typing import Any

import anthropic.types
import botocore.loaders
import botocore.model
import botocore.validate
import cohere
import google.genai.types
import groq.types.chat
import jsonschema
import mistralai.client.models
import ollama
import openai.types.chat
import openai.types.responses
import openai.types.shared_params
import pydantic
import pytest

from toolglot import BadOptionError, ToolSet

CITY = {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}, "required": ["city"]}
TOOLS = ToolSet([{"name": "get_weather", "parameters": CITY}, {"name": "clock:now", "parameters": CITY}])


def adapter(kind: Any) -> Any:
    return pydantic.TypeAdapter(kind).validate_python


def converse(request: dict[str, Any]) -> None:
    model = botocore.loaders.Loader().load_service_model("bedrock-runtime", "service-2")
    shape = botocore.model.ServiceModel(model).operation_model("Converse").input_shape
    report = botocore.validate.ParamValidator().validate({"modelId": "m", **request}, shape)
    assert not report.has_errors(), report.generate_report()


def config(request: dict[str, Any]) -> None:
    google.genai.types.GenerateContentConfig.model_validate(
        {**request.pop("generationConfig", {}), **request}, extra="forbid"
    )


CHOICES: dict[str, Any] = {
    "openai": adapter(openai.types.chat.ChatCompletionToolChoiceOptionParam),
    "groq": adapter(groq.types.chat.ChatCompletionToolChoiceOptionParam),
    "openrouter": adapter(openai.types.chat.ChatCompletionToolChoiceOptionParam),
    "openai_responses": adapter(openai.types.responses.response_create_params.ToolChoice),
    "anthropic": adapter(anthropic.types.ToolChoiceParam),
    "mistral": adapter(mistralai.client.models.ToolChoice | mistralai.client.models.ToolChoiceEnum),
    "cohere": adapter(cohere.V2ChatRequestToolChoice),
}


@pytest.mark.parametrize("options", [{}, {"allowed": ["clock:now"]}, {"parallel": False}, {"parallel": True}])
@pytest.mark.parametrize("choice", ["auto", "none", "required", "clock:now"])
@pytest.mark.parametrize("provider", [*CHOICES, "gemini", "bedrock", "ollama"])
def test_choices(provider: str, choice: str, options: dict[str, Any]) -> None:
    try:
        request = TOOLS.tool_choice(choice, provider=provider, **options)
    except BadOptionError:
        return
    if provider == "bedrock":
        return converse(request)
    if provider == "gemini":
        return config(request)
    if "tool_choice" in request:
        CHOICES[provider](request["tool_choice"])
    assert request.keys() <= {"tool_choice", "tools", "parallel_tool_calls"}
    assert isinstance(request.get("parallel_tool_calls", True), bool)


def format_of(provider: str, request: dict[str, Any]) -> Any:
    if provider in ("openai", "groq", "openrouter"):
        adapter(openai.types.shared_params.ResponseFormatJSONSchema)(request["response_format"])
        return request["response_format"]["json_schema"]["schema"]
    if provider == "openai_responses":
        adapter(openai.types.responses.ResponseTextConfigParam)(request["text"])
        return request["text"]["format"]["schema"]
    if provider == "anthropic":
        adapter(anthropic.types.OutputConfigParam)(request["output_config"])
        return request["output_config"]["format"]["schema"]
    if provider == "mistral":
        read = mistralai.client.models.ResponseFormat.model_validate(request["response_format"])
        assert read.json_schema
        return request["response_format"]["json_schema"]["schema"]
    if provider == "cohere":
        read = cohere.JsonObjectResponseFormatV2.model_validate(request["response_format"])
        return read.json_schema
    if provider == "ollama":
        return ollama._types.ChatRequest(model="m", format=request["format"]).format
    if provider == "gemini":
        schema = request["generationConfig"]["responseJsonSchema"]
        config(request)
        return schema
    converse(request)
    return pydantic.TypeAdapter(dict[str, Any]).validate_json(
        request["outputConfig"]["textFormat"]["structure"]["jsonSchema"]["schema"]
    )


ENVELOPE = {
    "toolCalls": [{"name": "clock:now", "arguments": {"city": "Bern", "days": 1}}],
    "content": "",
    "needsMoreWork": True,
}


@pytest.mark.parametrize("tool", [None, "get_weather"])
@pytest.mark.parametrize("provider", [*CHOICES, "gemini", "bedrock", "ollama"])
def test_answers_by_a_schema(provider: str, tool: str | None) -> None:
    schema = format_of(provider, TOOLS.response_schema(tool, provider=provider))
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    good = ENVELOPE if tool is None else {"city": "Bern", "days": 1}
    validator.validate(good)
    for bad in ({}, {**ENVELOPE, "toolCalls": [{"name": "nope", "arguments": {}}]}, {**ENVELOPE, "toolCalls": [{}]}):
        assert not validator.is_valid(bad)
