"""Turns and results as messages; histories from one provider to another and back."""

from __future__ import annotations

import base64
import dataclasses
import datetime
import decimal
import enum
import itertools
import json
import os
import pathlib
import pickle
import re
import uuid
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import toolglot
import toolglot.compat
from conversations import PROVIDERS, conversations, strange
from support import EXAMPLE_TOOLS, ROOT, check_events, stream

WORDS = st.text("ab é\n{}", min_size=1, max_size=8).filter(lambda text: text.strip() and not text.startswith("Error"))
ARGUMENTS = st.dictionaries(st.text("abc", min_size=1, max_size=3), st.integers() | WORDS | st.none(), max_size=3)


@pytest.mark.parametrize("provider", PROVIDERS)
@given(data=st.data())
def test_a_history_in_its_own_shape_stays_as_it_is(provider: str, data: st.DataObject) -> None:
    messages, system = data.draw(conversations(provider))
    assert toolglot.check_history(messages, provider) == []
    same = toolglot.convert_messages(messages, to=provider, source=provider, system=system)
    assert (list(same), same.system) == (messages, system)
    assert same.issues == []


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("other", PROVIDERS)
@settings(max_examples=settings().max_examples // 12)
@given(data=st.data())
def test_what_is_lost_on_the_way_there_and_back_is_reported(provider: str, other: str, data: st.DataObject) -> None:
    messages, system = data.draw(conversations(provider))
    there = toolglot.convert_messages(messages, to=other, source=provider, system=system)
    assert toolglot.check_history(there, other) == []
    back = toolglot.convert_messages(there, to=provider)
    assert toolglot.check_history(back, provider) == []
    assert back.system == system
    reported = {issue.place.strip("/") for issue in there.issues}
    differ = [at for at, (was, now) in enumerate(itertools.zip_longest(messages, back)) if was != now]
    assert len(messages) == len(back) or reported, there.issues
    if len(messages) == len(back):
        assert {str(at) for at in differ} <= reported, there.issues
    if not any("image" in repr(message) for message in messages):
        # Only media have no place everywhere.
        assert differ == [], there.issues


@pytest.mark.parametrize("provider", PROVIDERS)
@settings(max_examples=settings().max_examples // 3)
@given(data=st.data())
def test_what_nobody_knows_is_back_on_the_way_home(provider: str, data: st.DataObject) -> None:
    messages, system = data.draw(strange(provider))
    other = data.draw(st.sampled_from(PROVIDERS))
    there = toolglot.convert_messages(messages, to=other, source=provider, system=system)
    back = toolglot.convert_messages(there, to=provider)
    assert (list(back), back.system) == (messages, system)
    assert back.issues == []
    if other != provider:
        # It means nothing there.
        assert not any(name in repr([there, there.system]) for name in ("x_note", "x_block", "videoMetadata"))
        third = data.draw(st.sampled_from(PROVIDERS))
        home = toolglot.convert_messages(toolglot.convert_messages(there, to=third), to=provider)
        assert (list(home), home.system) == (messages, system)


@pytest.mark.parametrize("provider", PROVIDERS)
@settings(max_examples=settings().max_examples // 6)
@given(data=st.data())
def test_what_was_kept_goes_to_no_other_message(provider: str, data: st.DataObject) -> None:
    """Whoever changes a history between two conversions loses what stood beside it, and is told."""
    words = "Words that stand nowhere else."
    messages, system = data.draw(strange(provider))
    other = data.draw(st.sampled_from(PROVIDERS))
    there = toolglot.convert_messages(messages, to=other, source=provider, system=system)
    added = toolglot.convert_messages([{"role": "user", "content": words}], to=other)
    there.extend(added)
    grown = toolglot.convert_messages(there, to=provider)
    assert list(grown)[: len(messages)] == messages
    assert words in repr(list(grown)[len(messages) :])
    assert grown.issues == []
    del there[0]
    shrunk = toolglot.convert_messages(there, to=provider)
    assert words in repr(shrunk[-1])


@st.composite
def openai_conversations(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Chat Completions as they should be: calls answered, in order."""
    messages: list[dict[str, Any]] = []
    if draw(st.booleans()):
        messages.append({"role": "system", "content": draw(WORDS)})
    number = 0
    for _ in range(draw(st.integers(1, 3))):
        messages.append({"role": "user", "content": draw(WORDS)})
        calls = []
        for _ in range(draw(st.integers(0, 3))):
            function = {"name": draw(st.sampled_from(["f", "g_1", "h-2"])), "arguments": json.dumps(draw(ARGUMENTS))}
            calls.append({"id": f"call_x{number}", "type": "function", "function": function})
            number += 1
        if calls:
            messages.append({"role": "assistant", "content": draw(st.none() | WORDS), "tool_calls": calls})
            messages += [{"role": "tool", "tool_call_id": call["id"], "content": draw(WORDS)} for call in calls]
        messages.append({"role": "assistant", "content": draw(WORDS)})
    return messages


def told(messages: list[Any]) -> list[Any]:
    """Who says what and calls what, without ids, arguments as values."""
    out: list[Any] = []
    for message in messages:
        calls = [
            (call["function"]["name"], json.loads(call["function"]["arguments"]))
            for call in message.get("tool_calls", [])
        ]
        out.append((message["role"], message["content"], calls))
    return out


@given(openai_conversations(), st.sampled_from(PROVIDERS))
def test_there_and_back(messages: list[dict[str, Any]], provider: str) -> None:
    there = toolglot.convert_messages(messages, to=provider, source="openai")
    assert toolglot.check_history(there, provider) == []
    back = toolglot.convert_messages(there, to="openai")
    assert toolglot.check_history(back, "openai") == []
    home = list(back)
    if there.system is not None:
        assert home[0]["role"] == "system"
    assert told(home) == told(messages)
    assert toolglot.repair_history(there, provider).issues == []


@pytest.mark.parametrize("provider", PROVIDERS)
@settings(max_examples=settings().max_examples // 12)
@given(data=st.data())
def test_what_is_in_order_is_not_mended(provider: str, data: st.DataObject) -> None:
    messages, _ = data.draw(strange(provider))
    mended = toolglot.repair_history(messages, provider)
    assert (list(mended) == messages) or mended.issues
    if toolglot.check_history(messages, provider) == []:
        assert list(mended) == messages


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("other", PROVIDERS)
@settings(max_examples=settings().max_examples // 12)
@given(data=st.data())
def test_what_stands_beside_a_history_is_there_when_it_is_mended(
    provider: str, other: str, data: st.DataObject
) -> None:
    messages, system = data.draw(strange(provider))
    there = toolglot.convert_messages(messages, to=other, source=provider, system=system)
    mended = toolglot.repair_history(there)
    assert list(mended) == list(toolglot.repair_history(list(there), other))
    if toolglot.check_history(there):
        return
    assert (list(mended), mended.provider, mended.system, mended.side) == (there, other, there.system, there.side)
    back = toolglot.convert_messages(mended, to=provider)
    assert (list(back), back.system) == (messages, system)


THINKING = [
    {"role": "user", "content": "?"},
    {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "SIG"},
            {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}},
        ],
    },
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_1", "content": "no", "is_error": True}]},
    {"role": "assistant", "content": "Done."},
]
EMPTY = {
    "gemini": {"role": "model", "parts": [{"text": ""}]},
    "bedrock": {"role": "assistant", "content": [{"text": ""}]},
}


# Of Responses, whose items of one answer are one message, an empty one becomes the first of it.
@pytest.mark.parametrize("other", sorted({*PROVIDERS} - {"anthropic", "openai_responses"}))
def test_what_stands_beside_messages_moves_with_them(other: str) -> None:
    system = [{"type": "text", "text": "Be nice.", "cache_control": {"type": "ephemeral"}}]
    there = toolglot.convert_messages(THINKING, to=other, source="anthropic", system=system)
    at = len(toolglot.convert_messages(THINKING[:1], to=other, source="anthropic", system=system))
    side = {str(int(key) + 1) if key.isdigit() and int(key) >= at else key: kept for key, kept in there.side.items()}
    broken = [*there[:at], EMPTY.get(other, {"role": "assistant", "content": ""}), *there[at:]]
    given_history = toolglot.Messages(broken, provider=other, system=there.system, side=side)
    mended = toolglot.repair_history(given_history)
    assert [issue.code for issue in mended.issues] == ["empty_content"]
    assert (list(mended), mended.side) == (list(there), there.side)
    back = toolglot.convert_messages(mended, to="anthropic")
    assert (list(back), back.system) == (THINKING, system)
    # An answer that is left out takes what stood beside it with it, and that is told.
    gone = toolglot.Messages(
        [EMPTY.get(other, {"role": "assistant", "content": ""})], provider=other, side={"0": {"anthropic": {}}}
    )
    assert "left out with it" in toolglot.repair_history(gone).issues[-1].message


ITEMS = [
    {"role": "user", "content": "?"},
    {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "ONE"},
    {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "phase": "commentary",
        "content": [{"type": "output_text", "text": "I look.", "annotations": [{"type": "url_citation"}]}],
    },
    {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": "{}", "status": "completed"},
    {"type": "function_call_output", "call_id": "call_1", "output": "3"},
    {"type": "item_reference", "id": "msg_9"},
    {"type": "message", "id": "msg_2", "role": "assistant", "content": [{"type": "output_text", "text": "It is 3."}]},
    {"role": "user", "content": "And?"},
    {"type": "reasoning", "id": "rs_2", "summary": [], "encrypted_content": "TWO"},
    {"type": "message", "id": "msg_3", "role": "assistant", "content": [{"type": "output_text", "text": "No."}]},
]


@pytest.mark.parametrize("other", sorted({*PROVIDERS} - {"openai_responses"}))
def test_what_stands_beside_a_message_is_given_to_no_other(other: str) -> None:
    def home(messages: list[Any]) -> toolglot.Messages:
        there_now = toolglot.Messages(messages, provider=other, system=there.system, side=there.side)
        return toolglot.convert_messages(there_now, to="openai_responses")

    there = toolglot.convert_messages(ITEMS, to=other)
    assert list(home(there)) == ITEMS
    # A beginning that is cut off takes its own with it.
    cut = home(there[-2:])
    assert list(cut) == ITEMS[-3:]
    assert any("not what it was" in issue.message for issue in cut.issues)
    assert list(home(there[:-2])) == ITEMS[:-3]
    # What a message says now counts, not what it said.
    edited = home(json.loads(json.dumps(list(there)).replace("I look.", "I cook.")))
    assert "I look." not in json.dumps(list(edited))
    assert "I cook." in json.dumps(list(edited))
    assert list(edited)[-5:] == ITEMS[-5:]
    assert any("not what it was" in issue.message for issue in edited.issues)
    assert toolglot.check_history(edited) == []


def test_a_system_prompt_beside_and_among_the_messages() -> None:
    messages = [{"role": "system", "content": "Two."}, {"role": "user", "content": "?"}]
    mended = toolglot.repair_history(messages, "anthropic", system="One.")
    assert (mended.system, list(mended)) == ("One.\n\nTwo.", messages[1:])
    assert toolglot.repair_history(messages).provider == "openai"
    assert toolglot.repair_history(messages, "claude", system=None).provider == "anthropic"


def test_a_history_is_checked_for_its_own_provider() -> None:
    """By its shape alone, Mistral's is taken for OpenAI's, which has no rules for ids."""
    wire = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "", "tool_calls": [wire]}]
    messages.append({"role": "tool", "tool_call_id": "call_1", "content": "x"})
    assert toolglot.check_history(messages) == []
    assert {issue.code for issue in toolglot.check_history(toolglot.Messages(messages, provider="mistral"))} == {
        "bad_id"
    }


@given(openai_conversations(), st.data())
def test_whatever_is_broken_is_found_and_mended(messages: list[dict[str, Any]], data: st.DataObject) -> None:
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(messages) - 1))
        match data.draw(st.sampled_from(["drop", "swap", "repeat"])):
            case "drop":
                messages = messages[:at] + messages[at + 1 :] or messages
            case "swap":
                messages = messages[at:] + messages[:at]
            case "repeat":
                messages = [*messages[:at], messages[at], *messages[at:]]
    for provider in ("openai", "anthropic", "mistral"):
        given_messages = list(toolglot.convert_messages(messages, to=provider, source="openai"))
        mended = toolglot.repair_history(given_messages, provider)
        assert toolglot.check_history(mended, provider) == [], mended.issues
        assert mended.issues or not toolglot.check_history(given_messages, provider)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_turn_and_its_results_make_a_history(provider: str) -> None:
    calls = [
        {"id": "call_9vYz3rKq0bTfW1mXc7LdPhNe", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}},
        {"id": "functions.g:1", "type": "function", "function": {"name": "g", "arguments": ""}},
    ]
    message = {"role": "assistant", "content": "Looking.", "tool_calls": calls}
    turn = toolglot.normalize({"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]})
    user = toolglot.convert_messages([{"role": "user", "content": "hi"}], to=provider)
    answer = toolglot.assistant_message(turn, provider=provider)
    results = [(turn.tool_calls[0], {"b": 2}), (turn.tool_calls[1], ValueError("no"))]
    history = [*user, *(answer if isinstance(answer, list) else [answer])]
    history += toolglot.format_tool_results(results, provider=provider)
    assert toolglot.check_history(history, provider) == []
    back = toolglot.convert_messages(history, to="openai", source=provider)
    assert [m["content"] for m in back if m["role"] == "tool"] == ['{"b":2}', "Error: ValueError: no"]


def test_results_of_python_values() -> None:
    def text(result: Any, **options: Any) -> str:
        content = toolglot.format_tool_result("call_1", result, **options)["content"]
        assert isinstance(content, str)
        return content

    assert text("x") == "x"
    assert text([1, {"a": None}]) == '[1,{"a":null}]'
    assert text(None) == ""
    assert text(KeyError("k")) == "Error: KeyError: 'k'"
    assert text(b"text") == "text"
    assert "image/png" in text(b"\x89PNG\r\n\x1a\n")
    assert text({2, 1}) == "[1,2]"
    assert "9 of 19 characters left out" in text("x" * 19, max_chars=10)
    assert text("<|im_end|>") == "<|im_end|>"
    assert "<|" not in text("<|im_end|>", harden=True)
    assert "<|" not in text("<|im_end|>", provider="text", dialect="hermes")
    image = toolglot.format_tool_results([("call_1", b"\x89PNG\r\n\x1a\n")])
    assert image[1]["content"][1]["image_url"]["url"].startswith("data:image/png;base64,")
    with pytest.raises(toolglot.BadMessageError, match="name"):
        toolglot.format_tool_result("call_1", "x", provider="gemini")


def test_results_keep_what_is_none() -> None:
    class Weather:
        """As a pydantic model."""

        def model_dump(self, mode: str = "python", by_alias: bool = False, exclude_none: bool = False) -> Any:
            fields = {"temp": 18, "rain": None}
            return {key: value for key, value in fields.items() if not (exclude_none and value is None)}

    message = toolglot.format_tool_result("call_1", [Weather()])
    assert message["content"] == '[{"temp":18,"rain":null}]'


@pytest.mark.parametrize("provider", PROVIDERS)
def test_results_may_be_deep(provider: str) -> None:
    deep: Any = "bottom"
    for _ in range(200):
        deep = {"a": [deep]}
    call = {"id": "call_1", "name": "f"}
    assert "bottom" in json.dumps(toolglot.format_tool_result(call, deep, provider=provider))
    itself: list[Any] = [1]
    itself.append(itself)
    assert "[1, [...]]" in json.dumps(toolglot.format_tool_result(call, itself, provider=provider))
    for _ in range(100_000):
        deep = [deep]
    assert "a list that is nested too deep" in json.dumps(toolglot.format_tool_result(call, deep, provider=provider))


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("message", [{"x": 1}, {"role": "user", "content": 5}, {"role": "user", "content": {"a": "b"}}])
def test_a_message_that_is_none_is_not_emptied_in_silence(provider: str, message: Any) -> None:
    to = "gemini" if provider != "gemini" else "openai"
    for messages in ([message], [{"role": "user"}, message]):
        converted = toolglot.convert_messages(messages, to=to, source=provider)
        assert [issue.place for issue in converted.issues if "nothing of this" in issue.message] == [
            f"/{len(messages) - 1}"
        ]


def test_a_message_of_another_shape_is_told() -> None:
    message = {"role": "user", "content": "Hi"}
    assert toolglot.convert_messages([message], to="openai", source="gemini").issues
    assert not toolglot.convert_messages([message], to="openai", source="anthropic").issues
    assert not toolglot.convert_messages([{"role": "user", "content": ""}], to="openai", source="anthropic").issues


PNG = b"\x89PNG\r\n\x1a\n\xff\xfe"


def bedrock_image(data: Any) -> Any:
    return {"image": {"format": "png", "source": {"bytes": data}}}


@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_boto3_encodes_are_bytes(provider: str) -> None:
    encoded = base64.b64encode(PNG).decode()
    own = [{"role": "user", "content": [{"text": "Look."}, bedrock_image(PNG)]}]
    there = toolglot.convert_messages(own, to=provider, source="bedrock")
    assert provider == "bedrock" or encoded in json.dumps(there)
    again = toolglot.Messages(json.loads(json.dumps(there)), provider=provider) if provider != "bedrock" else there
    assert toolglot.convert_messages(again, to="bedrock") == own
    results = toolglot.format_tool_results([({"id": "call_1", "name": "draw"}, PNG)], provider=provider)
    assert provider == "bedrock" or encoded in json.dumps(results)


def test_boto3_gets_bytes_and_json_text_is_read() -> None:
    hidden = {"reasoningContent": {"redactedContent": PNG}}
    answer = {"role": "assistant", "content": [hidden, {"text": "Hm."}]}
    for data in (PNG, bytearray(PNG), base64.b64encode(PNG).decode(), base64.encodebytes(PNG * 20).decode()):
        read = toolglot.repair_history([{"role": "user", "content": [bedrock_image(data)]}], "bedrock")
        assert read == [{"role": "user", "content": [bedrock_image(PNG * 20 if len(data) > 99 else PNG)]}]
    turn = toolglot.normalize({"output": {"message": answer}, "stopReason": "end_turn"})
    json.dumps(turn.provider_state)
    assert toolglot.assistant_message(turn, provider="bedrock") == answer
    # A value of a tool's that only looks like a medium is JSON.
    call = {"toolUse": {"toolUseId": "c1", "name": "f", "input": bedrock_image("aGk=")}}
    history = [{"role": "user", "content": [{"text": "Go."}]}, {"role": "assistant", "content": [call]}]
    assert toolglot.convert_messages(history, to="bedrock", source="bedrock") == history
    assert toolglot.convert_messages(history[:1], to="bedrock", system=[bedrock_image(PNG)]).system == [
        bedrock_image(PNG)
    ]
    no_base64 = [{"role": "user", "content": [bedrock_image("no base64!")]}]
    assert toolglot.convert_messages(no_base64, to="bedrock", source="bedrock") == no_base64


@pytest.mark.parametrize(
    ("block", "format"), [("video", "mov"), ("audio", "mp3"), ("document", "docx"), ("audio", "pcm")]
)
def test_media_of_bedrock_survive_a_repair(block: str, format: str) -> None:
    name = {"name": "My report (1)"} if block == "document" else {}
    message = {
        "role": "user",
        "content": [{"text": "See."}, {block: {"format": format, "source": {"bytes": PNG}, **name}}],
    }
    mended = toolglot.repair_history([message], "bedrock")
    assert (list(mended), mended.issues) == ([message], [])


def test_drop_in_names() -> None:
    calls = [{"server": "files", "tool": "read", "arguments": {"path": "a"}, "raw": "", "id": "call_1"}]
    message = toolglot.compat.create_assistant_tool_call_message("Reading.", calls)
    assert message["tool_calls"][0]["function"] == {"name": "files___read", "arguments": '{"path": "a"}'}
    assert "tool_calls" not in toolglot.compat.create_assistant_tool_call_message("Reading.", calls, use_native=False)
    response = {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
    assert toolglot.compat.process_llm_response(response) == {
        "toolCalls": [{"name": "files___read", "arguments": {"path": "a"}}],
        "content": "Reading.",
        "needsMoreWork": True,
    }
    streaming = toolglot.compat.StreamingToolCalls()
    assert streaming.is_empty()
    streaming.process_streaming_tool_call_delta(
        [{"index": 0, "id": "call_1", "function": {"name": "files___read", "arguments": '{"path"'}}]
    )
    streaming.process_streaming_tool_call_delta([{"index": 0, "function": {"arguments": ': "a"}'}}])
    (parsed,) = streaming.into_parsed_calls()
    assert (parsed["server"], parsed["tool"], parsed["id"]) == ("files", "read", "call_1")
    assert parsed["arguments"] == {"path": "a"}


WRITTEN = [
    ("run_it", {"city": 'Bergen, "é"', "days": 3, "ok": True, "tags": ["a", "b c"], "of": {"a": 1, "b": "x"}}),
    ("ping", {}),
    ("run_it", {"city": "if a < b and c > d:\n  print('hi')", "tags": []}),
]
PARALLEL = [json.loads(line) for line in (ROOT / "tests" / "data" / "parallel.jsonl").read_text("utf-8").splitlines()]
PROPERTIES = {
    "city": {"type": "string"},
    "days": {"type": "integer"},
    "ok": {"type": "boolean"},
    "tags": {"type": "array", "items": {"type": "string"}},
    "of": {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}},
}
RUN_IT = {"name": "run_it", "parameters": {"type": "object", "properties": PROPERTIES}}


# Each form that the catalogue has: the dialect, a name that means the form, and the examples of one call and of two.
FORMS = [
    (row.name, name, form["example"], form["parallel"])
    for row in toolglot.dialects()
    for form in row.to_dict()["forms"]
    for name in form["names"]
]
WRITERS = [
    *(row.name for row in toolglot.dialects()),
    "auto",
    *{example: name for _, name, example, _ in FORMS}.values(),
]


@pytest.mark.parametrize("dialect", WRITERS)
def test_calls_as_text_are_read_back(dialect: str) -> None:
    """What a model of the dialect is shown as its own calls is what it would have written."""
    # An element without children is a call nowhere.
    made = [call for call in WRITTEN if call[1] or dialect != "cline"]
    calls = [toolglot.ToolCall(name, arguments) for name, arguments in made]
    message = toolglot.assistant_message(toolglot.Turn("Words.", calls), provider="text", dialect=dialect)
    tools = toolglot.ToolSet([RUN_IT, {"name": "ping"}])
    for reader in (dialect, "auto"):
        turn = toolglot.extract(message["content"], tools=tools, dialect=reader)
        assert [(call.name, call.arguments) for call in turn.tool_calls] == made
        assert turn.content.strip() == "Words."
    # One call stands there as the prompt shows it.
    one = toolglot.Turn("", [toolglot.ToolCall("TOOL_NAME", '{"PARAMETER": "VALUE"}')])
    written = toolglot.assistant_message(one, provider="text", dialect=dialect)["content"]
    assert written.strip("[]").replace("'", '"') in tools.to_prompt(dialect).replace("'", '"')


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("dialect", WRITERS)
def test_parallel_calls_as_text_are_read_back(dialect: str, count: int) -> None:
    made = [WRITTEN[0], WRITTEN[2], WRITTEN[0]][:count]
    calls = [toolglot.ToolCall(name, arguments) for name, arguments in made]
    content = toolglot.assistant_message(toolglot.Turn("Words.", calls), provider="text", dialect=dialect)["content"]
    tools = toolglot.ToolSet([RUN_IT, {"name": "ping"}])
    for reader in (dialect, "auto"):
        for size in (len(content), 1, 5):
            pieces = [content[at : at + size] for at in range(0, len(content), size)]
            turn, events = stream(pieces, tools=tools, dialect=reader)
            check_events(turn, events)
            assert [(call.name, call.arguments) for call in turn.tool_calls] == made
            assert all(call.runnable for call in turn.tool_calls)
            assert turn.content.strip() == "Words."


@pytest.mark.parametrize("case", PARALLEL, ids=lambda case: str(case.get("name", case["dialect"])))
def test_parallel_calls_are_written_as_the_template_writes_them(case: dict[str, Any]) -> None:
    calls = [toolglot.ToolCall(name, json.dumps(arguments, ensure_ascii=False)) for name, arguments in case["calls"]]
    dialect = case.get("name", case["dialect"])
    message = toolglot.assistant_message(toolglot.Turn("", calls), provider="text", dialect=dialect)
    assert "".join(message["content"].split()) == "".join(case["text"].split())
    said = zip(calls, ("a.txt", "2 entries"), strict=True)
    (results,) = toolglot.format_tool_results(list(said), provider="text", dialect=dialect)
    named = [f'<tool_result>{{"name":"{call.name}","content":"{{}}"}}</tool_result>' for call in calls]
    form = case.get("results") or "".join(named).replace("{}", "a.txt", 1).replace("{}", "2 entries", 1)
    assert "".join(results["content"].split()) == "".join(form.split())


@pytest.mark.parametrize(
    ("dialect", "name", "example", "parallel"),
    [
        *((row.name, row.name, row.example, row.to_dict()["parallel"]) for row in toolglot.dialects()),
        *(pytest.param(*form, id=form[1]) for form in FORMS),
    ],
)
def test_two_calls_of_the_catalogue(dialect: str, name: str, example: str, parallel: str) -> None:
    """The example of two calls is read as two, and is what is written for them."""
    made = [("get_weather", {"city": "Paris"}), ("get_time", {"zone": "UTC"})]
    calls = [toolglot.ToolCall(name, arguments) for name, arguments in made]

    def written(calls: list[toolglot.ToolCall]) -> str:
        return str(toolglot.assistant_message(toolglot.Turn("", calls), provider="text", dialect=name)["content"])

    two = parallel or written(calls)
    assert "".join(written(calls).split()) == "".join(two.split())
    turn = toolglot.extract(two, tools=EXAMPLE_TOOLS, dialect=dialect)
    assert [(call.name, call.arguments) for call in turn.tool_calls] == made
    assert all(call.runnable for call in turn.tool_calls)
    if dialect != name:
        assert toolglot.extract(example, tools=EXAMPLE_TOOLS, dialect=name).dialect == dialect
        assert "".join(written(calls[:1]).split()) == "".join(example.split())
    # Where several calls share markers, the prompt shows that; these say it in words, or in the form of one call.
    if parallel and name not in ("json", "react"):
        form = written([toolglot.ToolCall("TOOL_NAME", '{"PARAMETER": "VALUE"}')] * 2)
        assert form in toolglot.ToolSet([RUN_IT]).to_prompt(name)


def test_calls_as_text_round_one_that_cannot_be_read() -> None:
    """What is no object has no form in a dialect of parameters: it stands alone, and the others keep their order."""
    calls = [toolglot.ToolCall("ls", arguments) for arguments in ('{"a": 1}', '{"a": 2}', "[1]", '{"a": 3}')]
    message = toolglot.assistant_message(toolglot.Turn("", calls), provider="text", dialect="kimi_k3")
    lines = message["content"].split("\n")
    assert [line.count("<|open|>tools") for line in lines] == [1, 0, 1]
    assert [re.findall(r'index="(\d+)"', line) for line in lines] == [["1", "2"], [], ["4"]]


def test_calls_as_text_that_cannot_be_read() -> None:
    calls = [
        toolglot.ToolCall("ls", "[1]"),
        toolglot.ToolCall("ls", {}, status="malformed", raw="<tool_call>ls {</tool_call>"),
    ]
    message = toolglot.assistant_message(toolglot.Turn("", calls), provider="text", dialect="glm45")
    assert message == {"role": "assistant", "content": "ls [1]\n<tool_call>ls {</tool_call>"}
    with pytest.raises(toolglot.UnknownDialectError):
        toolglot.assistant_message(toolglot.Turn("", calls), provider="text", dialect="none such")


def files_tools(*names: str) -> toolglot.ToolSet:
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    return toolglot.ToolSet([{"name": name, "inputSchema": schema} for name in names])


def answered(tools: toolglot.ToolSet, name: str) -> toolglot.Turn:
    (told,) = [told for told, real in tools.names("anthropic").items() if real == name]
    call = {"type": "tool_use", "id": "toolu_1", "name": told, "input": {"path": "a.txt"}}
    response = {"type": "message", "role": "assistant", "content": [call], "stop_reason": "tool_use"}
    turn = toolglot.normalize(response, tools=tools)
    assert [call.name for call in turn.tool_calls] == [name]
    return turn


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("offered", [["files.read"], ["files.read", "files_read", "files read"]])
def test_a_history_has_the_names_that_the_provider_was_told(provider: str, offered: list[str]) -> None:
    tools = files_tools(*offered)
    for name in offered:
        (told,) = [told for told, real in tools.names(provider).items() if real == name]
        turn = answered(tools, name)
        remade = toolglot.Turn(turn.content, turn.tool_calls)
        for message in (
            toolglot.assistant_message(turn, provider=provider),
            toolglot.assistant_message(remade, provider=provider),
            toolglot.assistant_message(pickle.loads(pickle.dumps(turn)), provider=provider, tools=tools),
            turn.to_message(provider),
        ):
            assert json.dumps(message).count(json.dumps(told)) == 1
        result = toolglot.format_tool_result(turn.tool_calls[0], "x", provider=provider)
        results = toolglot.format_tool_results([(turn.tool_calls[0], "x")], provider=provider, tools=tools)
        for message in (result, results):
            assert json.dumps(name) not in json.dumps(message) or name == told
    call = answered(tools, "files.read").tool_calls[0]
    assert call.to_openai()["function"]["name"] in tools.names("openai")
    # Read without tools, there is only the provider's grammar to go by.
    alone = toolglot.Turn("", [toolglot.ToolCall("files.read", {})])
    assert alone.to_openai()["tool_calls"][0]["function"]["name"] == "files_read"


def test_no_name_becomes_that_of_another_tool_when_a_history_is_mended() -> None:
    def history(*names: str) -> list[Any]:
        calls = [{"type": "tool_use", "id": f"t{i}", "name": name, "input": {}} for i, name in enumerate(names)]
        results = [{"type": "tool_result", "tool_use_id": f"t{i}", "content": "x"} for i in range(len(names))]
        return [{"role": "user", "content": "?"}, assistant(calls), {"role": "user", "content": results}]

    def assistant(calls: list[Any]) -> dict[str, Any]:
        return {"role": "assistant", "content": calls}

    def mended(names: list[str], tools: Any = None) -> list[str]:
        messages = toolglot.repair_history(history(*names), "anthropic", tools=tools)
        return [call["name"] for call in messages[1]["content"]]

    assert mended(["files.read"]) == ["files_read"]
    assert mended(["files.read", "files_read"])[1] == "files_read"
    assert len(set(mended(["a.b", "a/b", "a_b"]))) == 3
    tools = files_tools("a.b", "a_b")
    (told,) = [told for told, real in tools.names("anthropic").items() if real == "a.b"]
    assert mended(["a.b"], tools) == [told] != ["a_b"]


def test_results_hold_whatever_python_has() -> None:
    @dataclasses.dataclass
    class Row:
        at: Any

    class Colour(enum.Enum):
        RED = "red"

    class Broken:
        def model_dump(self, **options: Any) -> Any:
            raise ValueError("cannot")

        def __str__(self) -> str:
            return "broken"

    day = datetime.datetime(2024, 1, 2, 3, 4)

    def text(result: Any) -> Any:
        return toolglot.format_tool_result("call_1", result)["content"]

    assert text(day) == "2024-01-02T03:04:00"
    assert json.loads(text([{"id": 1, "at": day}])) == [{"id": 1, "at": "2024-01-02T03:04:00"}]
    assert json.loads(text({1: 2, None: 3, (1, 2): 5})) == {"1": 2, "null": 3, "[1,2]": 5}
    many = [
        Row(day.date()),
        {Colour.RED: {3, 1, 2}},
        decimal.Decimal("1.10"),
        uuid.UUID(int=0),
        pathlib.PurePosixPath("/x"),
    ]
    written = [{"at": "2024-01-02"}, {"red": [1, 2, 3]}, "1.10", str(uuid.UUID(int=0)), "/x"]
    assert json.loads(text(many)) == written
    assert json.loads(text([float("nan"), Broken(), b"\xff", Row(Broken())])) == [
        "nan",
        "broken",
        "/w==",
        {"at": "broken"},
    ]


def test_half_characters_are_replaced_wherever_text_comes_in() -> None:
    name = os.fsdecode(b"caf\xe9.txt")
    half, whole = "\ud800", "\ufffd"
    assert toolglot.format_tool_result("call_1", name)["content"] == f"caf{whole}.txt"
    assert (
        toolglot.format_tool_result("call_1", [name, "\ud83d\ude00"])["content"] == f'["caf{whole}.txt","\U0001f600"]'
    )
    assert toolglot.format_tool_result("call_1", ValueError(name))["content"] == f"Error: ValueError: caf{whole}.txt"
    assert toolglot.harden(half) == whole
    turn = toolglot.Turn(half, [toolglot.ToolCall(half, {half: half}, raw=half)], reasoning=half)
    assert (turn.content, turn.reasoning, turn.tool_calls[0].arguments) == (whole, whole, {whole: whole})
    assert toolglot.convert_messages([{"role": "user", "content": half}], to="anthropic")[0]["content"] == whole
    answer = {"choices": [{"message": {"role": "assistant", "content": half}, "finish_reason": "stop"}]}
    assert toolglot.normalize(answer).content == whole
    tools = toolglot.ToolSet([{"name": "f", "description": half}])
    assert (
        tools.check("f", {"a": half}).arguments == tools.check("f", json.dumps({"a": half})).arguments == {"a": whole}
    )
    assert tools.inject([{"role": "system", "content": half}])[0]["content"].startswith(whole)
    stream = toolglot.StreamNormalizer("openai")
    events = stream.feed({"choices": [{"index": 0, "delta": {"content": half}}]})
    assert [event.text for event in events] == [whole]


def test_a_deep_result_is_json_all_the_same() -> None:
    deep: Any = "bottom"
    for _ in range(200):
        deep = {"a": [deep]}
    result = {"ok": True, "when": datetime.date(2026, 1, 2), "deep": deep}
    content = toolglot.format_tool_result("call_1", result)["content"]
    assert json.loads(content) == {**result, "when": "2026-01-02"}


@pytest.mark.parametrize(
    ("provider", "message"),
    [
        ("openai", {"role": "boss", "content": "x"}),
        ("openai", {"role": "model", "content": "x"}),
        ("openai", {"role": None, "content": "x"}),
        ("openai", {"content": "x"}),
        ("mistral", {"role": "developer", "content": "x"}),
        ("openai_responses", {"role": "tool", "content": "x"}),
        ("openai_responses", {"type": "message", "role": "sytem", "content": "x"}),
        ("anthropic", {"role": "tool", "content": "x"}),
        ("anthropic", {"role": "system", "content": "x"}),
        ("bedrock", {"role": "system", "content": [{"text": "x"}]}),
        ("gemini", {"role": "assistant", "parts": [{"text": "x"}]}),
    ],
)
def test_a_role_that_the_provider_does_not_have(provider: str, message: Any) -> None:
    hello = {"role": "user", "parts": [{"text": "Hi"}]} if provider == "gemini" else {"role": "user", "content": "Hi"}
    hello = {"role": "user", "content": [{"text": "Hi"}]} if provider == "bedrock" else hello
    issues = toolglot.check_history([hello, message], provider)
    assert [(issue.code, issue.place) for issue in issues if issue.code == "bad_role"] == [("bad_role", "/1")]
    assert "bad_role" in [issue.code for issue in toolglot.repair_history([hello, message], provider).issues]


@pytest.mark.parametrize("provider", PROVIDERS)
def test_roles_that_a_provider_has(provider: str) -> None:
    user, model = {"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}
    system = {"role": "system", "content": "Be kind."}
    messages = toolglot.convert_messages([system, user, model, user], to=provider, source="openai")
    assert messages.issues == []
    assert toolglot.check_history(messages, provider) == []
    assert toolglot.convert_messages(messages, to="openai").issues == []


@pytest.mark.parametrize("to", ["anthropic", "gemini", "mistral"])
def test_a_misspelt_role_is_told(to: str) -> None:
    messages: list[Any] = [{"role": "sytem", "content": "be safe"}, {"content": "x"}, {"role": "user", "content": "y"}]
    issues = toolglot.convert_messages(messages, to=to, source="openai").issues
    assert [issue.place for issue in issues if "taken for the user's" in issue.message] == ["/0", "/1"]


def test_what_is_no_part_of_a_message_is_found() -> None:
    for part in (5, None, True, [], [{"type": "text", "text": "x"}]):
        issues = toolglot.check_history([{"role": "user", "content": [part, {"type": "text", "text": "x"}]}], "openai")
        assert [issue.code for issue in issues] == ["empty_content"]


def test_text_of_a_message_is_not_bytes() -> None:
    messages: list[Any]
    for messages in (
        [{"role": "user", "content": "Hi"}, {"role": "user", "content": b"hello"}],
        [{"role": "user", "content": "Hi"}, {"role": "user", "content": [{"type": "text", "text": bytearray(b"hi")}]}],
        [{"role": "user", "content": "Hi"}, {"role": "user", "parts": [{"text": b"hi"}]}],
    ):
        for use in (
            lambda messages: toolglot.convert_messages(messages, to="anthropic"),
            lambda messages: toolglot.check_history(messages, "openai"),
            lambda messages: toolglot.repair_history(messages, "openai"),
        ):
            with pytest.raises(toolglot.BadMessageError, match="decode it") as caught:
                use(messages)
            assert caught.value.place.startswith("/1/")
    picture = {"image": {"format": "png", "source": {"bytes": b"\x89PNG"}}}
    (message,) = toolglot.convert_messages([{"role": "user", "content": [picture]}], to="openai", source="bedrock")
    assert "base64" in json.dumps(message)
    for system in (b"be safe", [1], [None], ["x", 2.5]):
        with pytest.raises(TypeError, match="system is a text"):
            toolglot.convert_messages([{"role": "user", "content": "Hi"}], to="anthropic", system=system)


def test_messages_that_are_no_list_of_them() -> None:
    wrong: list[Any] = [None, 5, "x", {}]
    for use in (
        lambda messages: toolglot.convert_messages(messages, to="anthropic"),
        lambda messages: toolglot.check_history(messages, "openai"),
        lambda messages: toolglot.ToolSet([]).inject(messages),
    ):
        for messages in wrong:
            with pytest.raises(TypeError, match="messages is a list of messages, not a"):
                use(messages)
