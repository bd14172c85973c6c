"""A history that our own functions write is valid for its provider, whatever the model's calls are worth."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import toolglot
from toolglot import ToolCall, ToolSet, Turn
from toolglot.service import ToolCalling

PROVIDERS = ["openai", "openai_responses", "anthropic", "gemini", "mistral", "cohere", "ollama", "bedrock"]
TOOLS = ToolSet(
    [
        {"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}},
        {"name": "clock:get.time", "parameters": {"type": "object", "properties": {"time zone": {"type": "string"}}}},
        {"type": "custom", "name": "apply_patch"},
    ]
)
STATUSES = ["ok", "repaired", "invalid", "malformed", "incomplete", "unknown_tool"]
ARGUMENTS = [
    "{}",
    '{"input": "*** Begin Patch"}',
    '{"city": "Bern"}',
    '{"time zone": "UTC"}',
    "[1]",
    '"x"',
    "null",
    '{"a": {"b": [1, null]}}',
]
NAMES = [
    "get_weather",
    "apply_patch",
    "clock:get.time",
    "clock_get_time",
    "nope",
    "no such tool!",
    "ünïcode",
    "a" * 100,
    "9x",
    "",
]

calls = st.builds(
    lambda name, arguments, status, freeform, id: ToolCall(
        name, arguments, status=status, freeform=freeform, id=id, raw="<tool_call>{" * 2
    ),
    st.sampled_from(NAMES),
    st.sampled_from(ARGUMENTS),
    st.sampled_from(STATUSES),
    st.booleans(),
    st.one_of(st.none(), st.text(max_size=50), st.sampled_from(["call_0", "call_1", "toolu_1", "a b"])),
)
turns = st.lists(
    st.tuples(
        st.sampled_from(["", "Let me see.", " "]), st.lists(calls, min_size=1, max_size=4, unique_by=lambda c: c.id)
    ),
    min_size=1,
    max_size=3,
)
RESULTS: list[Any] = ["sunny", "", None, {"a": 1}, [1], b"\x89PNG", ValueError("no")]


def flat(message: Any) -> list[Any]:
    return message if isinstance(message, list) else [message] if message else []


def written(provider: str, answers: list[tuple[str, list[ToolCall]]], results: list[Any], tools: Any) -> list[Any]:
    """The history as README's loop writes it."""
    messages: list[Any] = [*toolglot.convert_messages([{"role": "user", "content": "?"}], to=provider)]
    for number, (content, made) in enumerate(answers):
        # An id of an earlier answer once more is seen only by who sees both: the service, and `repair_history`.
        turn = Turn(content, [call._with_id(f"{number}{call.id}") for call in made])
        messages += flat(toolglot.assistant_message(turn, provider=provider, tools=tools))
        outcomes = [
            (call, results[(number + place) % len(results)])
            if call.runnable
            else (call, call.error_message(TOOLS, provider=provider), True)
            for place, call in enumerate(turn.tool_calls)
        ]
        messages += toolglot.format_tool_results(outcomes, provider=provider, tools=tools)
    return messages


@pytest.mark.parametrize("tools", [None, TOOLS])
@pytest.mark.parametrize("provider", PROVIDERS)
@given(answers=turns, results=st.lists(st.sampled_from(RESULTS), min_size=1, max_size=4))
@example(answers=[("", [ToolCall("get_weather", "{}", status="incomplete")])], results=["x"])
@example(answers=[("", [ToolCall("", "{}", status="unknown_tool"), ToolCall("get_weather", "{}")])], results=["x"])
def test_a_history_of_any_calls_is_valid(
    provider: str, tools: Any, answers: list[tuple[str, list[ToolCall]]], results: list[Any]
) -> None:
    messages = written(provider, answers, results, tools)
    assert toolglot.check_history(messages, provider) == []


def chat(calls: list[tuple[str, str]], finish: str) -> dict[str, Any]:
    entries = [
        {"id": f"call_{place}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for place, (name, arguments) in enumerate(calls)
    ]
    message = {"role": "assistant", "content": None, "tool_calls": entries}
    return {"choices": [{"index": 0, "message": message, "finish_reason": finish}]}


WRITTEN = ['{"city": "Bern"}', "{'city': 'Bern'}", '{"city": 5}', "no JSON", '{"city": "Be', "", "[1]", '"{}"']


@pytest.mark.parametrize("provider", PROVIDERS)
@given(
    rounds=st.lists(
        st.lists(st.tuples(st.sampled_from(["get_weather", "clock_get_time", "nope", "x y"]), st.sampled_from(WRITTEN)),
                 min_size=1, max_size=4),
        min_size=1, max_size=3,
    ),
    finish=st.sampled_from(["tool_calls", "length", "stop"]),
)  # fmt: skip
def test_a_history_of_read_calls_is_valid(provider: str, rounds: list[list[tuple[str, str]]], finish: str) -> None:
    messages: list[Any] = [*toolglot.convert_messages([{"role": "user", "content": "?"}], to=provider)]
    for number, made in enumerate(rounds):
        body = json.dumps(chat(made, finish)).replace("call_", f"call_{number}_")
        turn = toolglot.normalize(body, tools=TOOLS)
        messages += flat(toolglot.assistant_message(turn, provider=provider))
        outcomes: list[Any] = [
            (call, "done") if call.runnable else (call, call.error_message(provider=provider), True)
            for call in turn.tool_calls
        ]
        messages += toolglot.format_tool_results(outcomes, provider=provider)
    assert toolglot.check_history(messages, provider) == []


ITEMS = st.lists(
    st.tuples(
        st.sampled_from(["custom_tool_call", "function_call"]),
        st.sampled_from(["apply_patch", "get_weather", "nope"]),
        st.sampled_from([*WRITTEN, '{"input": "x"}']),
    ),
    min_size=1,
    max_size=4,
)


@pytest.mark.parametrize("tools", [None, TOOLS])
@pytest.mark.parametrize("provider", PROVIDERS)
@given(items=ITEMS, status=st.sampled_from(["completed", "incomplete"]))
def test_a_history_of_free_text_calls_is_valid(
    provider: str, tools: Any, items: list[tuple[str, str, str]], status: str
) -> None:
    output = [
        {
            "type": kind,
            "id": f"{kind[0]}tc_{at}" if kind[0] == "c" else f"fc_{at}",
            "call_id": f"call_{at}",
            "name": name,
        }
        | ({"input": text} if kind == "custom_tool_call" else {"arguments": text})
        for at, (kind, name, text) in enumerate(items)
    ]
    turn = toolglot.normalize({"object": "response", "status": status, "output": output}, tools=tools)
    messages: list[Any] = [*toolglot.convert_messages([{"role": "user", "content": "?"}], to=provider)]
    messages += flat(toolglot.assistant_message(turn, provider=provider))
    messages += toolglot.format_tool_results([(call, "done") for call in turn.tool_calls], provider=provider)
    assert toolglot.check_history(messages, provider) == []


@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_service_and_the_functions_write_the_same(provider: str) -> None:
    """Cut off and unreadable calls keep their place, with `{}` for what was written."""
    response = chat(
        [("get_weather", '{"city": "Bern"}'), ("get_weather", "no JSON"), ("get_weather", '{"city": "')], "length"
    )
    service = ToolCalling(TOOLS, provider="openai")
    service.use_tools(TOOLS, provider=provider)
    turn = service.observe(toolglot.normalize(response, tools=TOOLS))
    assert [call.status for call in turn.tool_calls] == ["ok", "malformed", "incomplete"]
    (message, *_) = flat(toolglot.assistant_message(turn, provider=provider))[-1:]
    assert message in service.conversation_messages()
