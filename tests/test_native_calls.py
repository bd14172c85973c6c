"""Native calls as frameworks, gateways and SDKs hand them on: where their arguments stand, and what is odd about them."""

from __future__ import annotations

from typing import Any

import pytest

import toolglot
from toolglot import ToolSet

CITY = {"city": "Bern"}
TOOLS = ToolSet([{"name": "clock:now", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}])


def chat(function: dict[str, Any], **beside: Any) -> dict[str, Any]:
    call = {"id": "call_1", "type": "function", "function": function, **beside}
    return {"choices": [{"message": {"role": "assistant", "tool_calls": [call]}, "finish_reason": "tool_calls"}]}


# LangChain's AIMessage (langchain-core's `tool_calls`: name, args, id, type), and each API's own word at the others.
ELSEWHERE: dict[str, Any] = {
    "langchain": {"content": "", "tool_calls": [{"name": "f", "args": CITY, "id": "1", "type": "tool_call"}]},
    "args": chat({"name": "f", "args": CITY}),
    "input": chat({"name": "f", "input": CITY}),
    "text": chat({"name": "f", "args": '{"city": "Bern"}'}),
    "empty": chat({"name": "f", "arguments": "", "args": CITY}),
    "null": chat({"name": "f", "arguments": None, "input": CITY}),
    "legacy": {
        "choices": [
            {"message": {"role": "assistant", "function_call": {"name": "f", "args": CITY}}, "finish_reason": "stop"}
        ]
    },
    "anthropic": {
        "type": "message",
        "role": "assistant",
        "stop_reason": "tool_use",
        "content": [{"type": "tool_use", "id": "t", "name": "f", "args": CITY}],
    },
    "gemini": {
        "candidates": [
            {"content": {"parts": [{"functionCall": {"name": "f", "arguments": CITY}}]}, "finishReason": "STOP"}
        ]
    },
    "ollama": {
        "model": "m",
        "done": True,
        "message": {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "args": CITY}}]},
    },
    "responses": {
        "object": "response",
        "status": "completed",
        "output": [{"type": "function_call", "call_id": "c", "name": "f", "args": CITY}],
    },
    "bedrock": {
        "stopReason": "tool_use",
        "output": {
            "message": {
                "role": "assistant",
                "content": [{"toolUse": {"toolUseId": "t", "name": "f", "arguments": CITY}}],
            }
        },
    },
    "cohere": {
        "id": "x",
        "finish_reason": "TOOL_CALL",
        "message": {
            "role": "assistant",
            "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "args": CITY}}],
        },
    },
}


@pytest.mark.parametrize("name", ELSEWHERE)
def test_arguments_are_read_wherever_an_api_has_them(name: str) -> None:
    turn = toolglot.normalize(ELSEWHERE[name])
    (call,) = turn.tool_calls
    assert (call.arguments, call.status) == (CITY, "ok")
    message = toolglot.assistant_message(turn)
    (entry,) = message["tool_calls"]
    assert entry["function"].keys() == {"name", "arguments"}
    assert entry.keys() <= {"id", "type", "function"}


@pytest.mark.parametrize("key", ["kwargs", "params", "tool_input"])
def test_arguments_under_a_key_that_nobody_knows_are_not_left_out_in_silence(key: str) -> None:
    turn = toolglot.normalize(chat({"name": "f", key: CITY}))
    (call,) = turn.tool_calls
    assert call.status == "malformed"
    assert "city" in call.raw
    assert "provider_field" in [issue.code for issue in turn.issues]


def test_a_call_without_arguments_stays_one() -> None:
    for function in ({"name": "f"}, {"name": "f", "arguments": ""}, {"name": "f", "arguments": None}):
        (call,) = toolglot.normalize(chat(function, extra_content={"google": {"thought_signature": "x"}})).tool_calls
        assert (call.arguments, call.status) == ({}, "ok")


@pytest.mark.parametrize("to", ["anthropic", "gemini", "bedrock", "openai_responses", "ollama"])
def test_histories_keep_arguments_wherever_they_stand(to: str) -> None:
    call = {"name": "f", "args": CITY, "id": "1", "type": "tool_call"}
    history = [
        {"role": "user", "content": "?"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "name": "f", "content": "ok"},
    ]
    assert "Bern" in str(toolglot.convert_messages(history, to=to))


@pytest.mark.parametrize("name", ["clock:now", "clock_now"])
def test_a_name_as_the_provider_was_told_it_is_no_repair(name: str) -> None:
    (call,) = toolglot.normalize(chat({"name": name, "arguments": "{}"}), tools=TOOLS).tool_calls
    assert (call.name, call.status, call.repairs) == ("clock:now", "ok", ())
    assert TOOLS.check(name, {}).status == "ok"
    stream = toolglot.StreamNormalizer("openai", tools=TOOLS)
    delta = {"index": 0, "id": "1", "type": "function", "function": {"name": name, "arguments": "{}"}}
    stream.feed({"choices": [{"index": 0, "delta": {"tool_calls": [delta]}, "finish_reason": "tool_calls"}]})
    assert stream.finish().tool_calls[0].status == "ok"


def test_any_other_name_is_one() -> None:
    (call,) = toolglot.normalize(chat({"name": "Clock-Now", "arguments": "{}"}), tools=TOOLS).tool_calls
    assert (call.name, call.status) == ("clock:now", "repaired")


HEALTHY: list[Any] = [
    ELSEWHERE["gemini"],
    ELSEWHERE["ollama"],
    ELSEWHERE["responses"],
    chat({"name": "f", "arguments": "{}"})["choices"][0],
    {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "Hi"}},
    {"id": "x", "finish_reason": "COMPLETE", "message": {"role": "assistant", "content": [{"type": "text", "text": "Hi"}]}},
    {"choices": [{"message": {"role": "assistant", "content": "<tool_call>{\"name\": \"f\", \"arguments\": {}}</tool_call>"},
                  "finish_reason": "stop"}]},
]  # fmt: skip


@pytest.mark.parametrize("response", HEALTHY)
def test_a_healthy_answer_has_no_issue(response: Any) -> None:
    assert toolglot.normalize(response).issues == ()


def test_where_the_provider_has_a_word_for_calls_another_one_is_odd() -> None:
    response = chat({"name": "f", "arguments": "{}"})
    response["choices"][0]["finish_reason"] = "stop"
    assert [issue.code for issue in toolglot.normalize(response).issues] == ["stop_reason"]


WROTE = '<tool_call>{"name": "f", "arguments": {"city": "Bern"}}</tool_call>'
FAILED = {"message": "Failed to call a function.", "code": "tool_use_failed", "failed_generation": WROTE}


class Response:
    text = '{"error": {"message": "Failed", "failed_generation": "' + WROTE.replace('"', '\\"') + '"}}'


class Unwrapped(Exception):  # openai.APIStatusError
    body = FAILED
    response = Response()


class Wrapped(Exception):  # groq.APIStatusError
    body = {"error": FAILED}  # noqa: RUF012


class Written(Exception):  # mistralai's SDKError
    body = Response.text


class OnlyResponse(Exception):  # httpx.HTTPStatusError
    response = Response()


class OfAws(Exception):  # botocore's ClientError, whose response is a dict
    response = {"Error": {"Message": "Failed", "Code": "X", "failed_generation": WROTE}}  # noqa: RUF012


class OfGoogle(Exception):  # google-genai's APIError
    details = {"error": FAILED}  # noqa: RUF012


@pytest.mark.parametrize("error", [FAILED, Unwrapped(), Wrapped(), Written(), OnlyResponse(), OfAws(), OfGoogle()])
def test_what_an_sdk_raises_gives_up_its_call(error: Any) -> None:
    turn = toolglot.normalize(error)
    (call,) = turn.tool_calls
    assert (call.name, call.arguments, turn.source) == ("f", CITY, "failed_generation")


@pytest.mark.parametrize("error", [ValueError("no"), TimeoutError()])
def test_an_exception_without_an_answer_is_named(error: Exception) -> None:
    with pytest.raises(toolglot.ProviderError, match=type(error).__name__):
        toolglot.normalize(error)


def test_each_reader_names_the_other() -> None:
    with pytest.raises(toolglot.ProviderError, match="`extract`"):
        toolglot.normalize(WROTE)
    with pytest.raises(TypeError, match="`normalize`"):
        toolglot.extract(chat({"name": "f", "arguments": "{}"}))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "more"),
    [
        ('{"content": "I will go on", "needsMoreWork": true}', True),
        ('{"toolCalls": [], "content": "Done", "needsMoreWork": false}', False),
        ('```json\n{"toolCalls": [], "content": "And now", "needsMoreWork": true}\n```', True),
        ("Nothing of the kind", False),
    ],
)
def test_needs_more_work_is_what_the_model_said(text: str, more: bool) -> None:
    assert toolglot.extract(text).to_envelope()["needsMoreWork"] is more
