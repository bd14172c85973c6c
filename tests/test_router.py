"""The streaming generator without a network: what goes wrong has a defined outcome, however the bytes are cut."""

from __future__ import annotations

import asyncio
import contextlib
import copy
import json
import logging
from collections.abc import AsyncIterator
from typing import Any
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st

import toolglot
from support import ROOT
from toolglot import convert_messages
from toolglot.errors import ProviderError
from toolglot.router import (
    RequestError,
    read_answer,
    stream_with_tool_detection,
    transform_request,
    transform_response_with_tools,
    validate_request,
)

TOOL = {"type": "function", "function": {"name": "ls", "parameters": {"type": "object", "properties": {"path": {}}}}}
REQUEST = {"model": "m", "messages": [{"role": "user", "content": "?"}], "tools": [TOOL], "stream": True}
CALL = '<tool_call>{"name": "ls", "arguments": {"path": "é"}}</tool_call>'


def event(finish: str | None = None, **delta: Any) -> bytes:
    frame = {"id": "1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    return b"data: " + json.dumps(frame, ensure_ascii=False).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"


def run(
    pieces: list[bytes], request: Any = REQUEST, error: Exception | None = None, starts_in: Any = "content"
) -> bytes:
    async def backend() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece
        if error is not None:
            raise error

    async def go() -> bytes:
        stream = stream_with_tool_detection(backend(), request, starts_in=starts_in)
        return b"".join([chunk async for chunk in stream])

    return asyncio.run(go())


def read(stream: bytes) -> tuple[str, dict[int, str], str | None]:
    content, calls, finish = "", {}, None
    for line in stream.decode().split("\n"):
        if not line.startswith("data: {"):
            continue
        for choice in json.loads(line[6:]).get("choices", []):
            content += choice["delta"].get("content") or ""
            for call in choice["delta"].get("tool_calls", []):
                calls[call["index"]] = calls.get(call["index"], "") + call["function"]["arguments"]
            finish = choice["finish_reason"] or finish
    return content, calls, finish


def test_cut_anywhere() -> None:
    whole = event(content="é ") + event(content=CALL[:20]) + event(content=CALL[20:]) + event("stop") + DONE
    for cut in range(len(whole)):
        assert read(run([whole[:cut], whole[cut:]])) == ("é ", {0: '{"path": "é"}'}, "tool_calls")


@pytest.mark.parametrize(
    ("first", "chunks"),
    [(word, 1) for word in ("Hello", "I", "Let", "1", "- ", "lsof", "é")]
    + [(word, 2) for word in ("l", "ls", "-", "<tool", "[TOOL_CALLS")],
)
def test_only_what_may_begin_a_call_waits_and_only_for_one_chunk(first: str, chunks: int) -> None:
    asked = []

    async def backend() -> AsyncIterator[bytes]:
        for piece in (first, " of it", " all"):
            asked.append(piece)
            yield event(content=piece)

    async def go() -> bytes:
        stream = stream_with_tool_detection(backend(), REQUEST)
        piece = await anext(stream)
        await stream.aclose()
        return piece

    content, _, _ = read(asyncio.run(go()))
    assert content == "".join(asked)
    assert len(asked) == chunks


@pytest.mark.parametrize("kept", range(1, len(CALL)))
def test_a_call_that_is_cut_off_is_never_finished(kept: int) -> None:
    """The backend says that it stopped, or it dies: what the client joins is not reported as a finished call."""
    text = CALL[:kept]
    content, calls, finish = read(run([event(content=text), event("stop"), DONE]))
    whole = calls.get(0) == '{"path": "é"}'
    assert finish in ("stop", "length") or (finish == "tool_calls" and whole)
    assert calls or content or finish == "length"
    dead = run([event(content=text)], error=OSError("/secret/path"))
    assert read(dead)[2] is None
    assert b"backend_disconnected" in dead
    assert b"secret" not in dead
    assert DONE not in dead


def test_an_end_without_a_word_is_a_death() -> None:
    assert b"backend_disconnected" in run([event(content="Hi ")])
    assert run([event(content="Hi "), event("stop")]).endswith(DONE)


def test_a_backends_error() -> None:
    out = run([event(content="Hi "), b'data: {"error": {"message": "secret"}}\n\n', event("stop"), DONE])
    assert b"backend_error" in out
    assert b"secret" not in out
    assert b'"stop"' not in out


def test_a_line_without_end() -> None:
    async def go() -> bytes:
        async def backend() -> AsyncIterator[bytes]:
            while True:
                yield b"data: " + b"x" * 1000

        return b"".join([c async for c in stream_with_tool_detection(backend(), REQUEST, max_line=10_000)])

    assert b"backend_bad_stream" in asyncio.run(go())


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"dialect": "nope!!"}, toolglot.UnknownDialectError),
        ({"policy": {"nope": 1}}, toolglot.BadOptionError),
        ({"policy": {"fences": "nope"}}, toolglot.BadOptionError),
        ({"starts_in": "nope"}, toolglot.BadOptionError),
        ({"request": {"tools": [1]}}, toolglot.BadToolError),
        ({"request": 1}, TypeError),
        ({"backend_stream": 1}, TypeError),
    ],
    ids=str,
)
def test_the_callers_mistakes_are_raised_at_once(options: Any, error: type[Exception]) -> None:
    """Not told to the client as the backend's death, with its first chunk."""

    async def backend() -> AsyncIterator[bytes]:
        yield event(content="Hi")

    with pytest.raises(error):
        stream_with_tool_detection(**{"backend_stream": backend(), "request": REQUEST, **options})


THOUGHT = ["I should ", "think. ", "More.</th", "ink>Ans", "wer."]


def test_reasoning_that_the_prompt_opened() -> None:
    pieces = [*(event(content=piece) for piece in THOUGHT), event("stop"), DONE]
    out = run(pieces, starts_in="reasoning")
    assert read(out) == ("Answer.", {}, "stop")
    thought = [json.loads(line[6:])["choices"][0]["delta"] for line in out.decode().split("\n") if "reasoning" in line]
    assert "".join(delta["reasoning_content"] for delta in thought) == "I should think. More."
    answer = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "".join(THOUGHT)}}]}
    for option in ("content", "reasoning"):
        (choice,) = transform_response_with_tools(answer, REQUEST, starts_in=option)["choices"]
        assert choice["message"]["reasoning_content"] == "I should think. More."
        assert choice["message"]["content"] == "Answer."
    cut = {"choices": [{"index": 0, "message": {"role": "assistant", "content": "I should"}}]}
    (choice,) = transform_response_with_tools(cut, REQUEST, starts_in="reasoning")["choices"]
    assert choice["message"]["reasoning_content"] == "I should"


def test_reasoning_that_nobody_opened_stays_what_it_was_sent_as(caplog: pytest.LogCaptureFixture) -> None:
    assert read(run([*(event(content=piece) for piece in THOUGHT), event("stop"), DONE])) == (
        "I should think. More.Answer.",
        {},
        "stop",
    )
    assert 'starts_in="reasoning"' in caplog.text


def test_a_backend_that_tells_reasoning_apart_has_closed_it() -> None:
    pieces = [event(role="assistant"), event(reasoning_content="Hm."), event(content="Ans"), event(content="wer.")]
    out = run([*pieces, event(content=CALL), event("stop"), DONE], starts_in="reasoning")
    assert read(out) == ("Answer.", {0: '{"path": "é"}'}, "tool_calls")
    message = {"role": "assistant", "reasoning_content": "Hm.", "content": "Answer." + CALL}
    answer = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    (choice,) = transform_response_with_tools(answer, REQUEST, starts_in="reasoning")["choices"]
    assert (choice["message"]["content"], choice["finish_reason"]) == ("Answer.", "tool_calls")


def over_lines(frame: bytes) -> bytes:
    """The same event with its payload over several lines of data."""
    payload = json.dumps(json.loads(frame[6:]), indent=1, ensure_ascii=False)
    return "".join(f"data: {line}\n" for line in payload.split("\n")).encode() + b"\n"


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_a_payload_over_several_lines(end: bytes) -> None:
    frames = [event(content="é "), event(content=CALL[:20]), event(content=CALL[20:]), event("stop")]
    whole = (b"".join(over_lines(frame) for frame in frames) + DONE).replace(b"\n", end)
    assert read(run([whole])) == ("é ", {0: '{"path": "é"}'}, "tool_calls")


@pytest.mark.parametrize(
    "garbage",
    [b"data: no JSON\n\n", b"data: {no JSON}\n\n", b"data: {no JSON}\n", b"data: [1]\n\n", b"data:\n", b"x\n"],
)
def test_what_is_no_payload_is_left_out(garbage: bytes) -> None:
    assert read(run([event(content="Hi "), garbage, event(content="you"), event("stop"), DONE])) == (
        "Hi you",
        {},
        "stop",
    )


def test_an_error_body_where_a_stream_should_be() -> None:
    assert b"backend_error" in run([b'{"error": {"message": "secret"}}\n'])


def test_lines_that_never_make_an_event() -> None:
    async def go() -> bytes:
        async def backend() -> AsyncIterator[bytes]:
            yield b"data: {\n"
            while True:
                yield b"data: " + b"x" * 1000 + b"\n"

        return b"".join([c async for c in stream_with_tool_detection(backend(), REQUEST, max_line=10_000)])

    assert b"backend_bad_stream" in asyncio.run(go())


def test_a_bare_carriage_return_ends_a_line() -> None:
    """As the specification has it: what is behind it is read here as the client would read it, and no CR goes on."""
    delta = json.dumps({"content": "Hm. " + CALL})
    chunk = f': ping\rdata: {{"choices":[{{"index":0,"delta":{delta},"finish_reason":"stop"}}]}}\n\n'.encode()

    async def go() -> bytes:
        async def backend() -> AsyncIterator[bytes]:
            yield chunk
            yield DONE

        return b"".join([piece async for piece in stream_with_tool_detection(backend(), REQUEST)])

    sent = asyncio.run(go())
    assert read(sent) == ("Hm. ", {0: '{"path": "é"}'}, "tool_calls")
    assert b"\r" not in sent


def test_a_whole_answer_has_a_limit() -> None:
    async def chunks(count: int) -> AsyncIterator[bytes]:
        yield b"["
        for _ in range(count):
            yield b" " * 1000
        yield b"1]"

    assert asyncio.run(read_answer(chunks(3))) == [1]
    with pytest.raises(ProviderError, match="more than 2000 bytes"):
        asyncio.run(read_answer(chunks(3), max_bytes=2000))


def test_a_whole_answer_that_is_no_json() -> None:
    async def broken(body: bytes) -> AsyncIterator[bytes]:
        yield body

    for body in (b"<html>", b"[" * 100_000, b"\xff"):
        with pytest.raises(ProviderError, match="no JSON"):
            asyncio.run(read_answer(broken(body)))


def test_the_client_leaves() -> None:
    closed = []

    async def backend() -> AsyncIterator[bytes]:
        try:
            while True:
                yield event(content="word ")
        finally:
            closed.append(True)

    async def go() -> None:
        stream = stream_with_tool_detection(backend(), REQUEST)
        assert b"word" in await anext(stream)
        await stream.aclose()

    asyncio.run(go())
    assert closed == [True]


USAGE = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}


@pytest.mark.parametrize("asked", [True, False])
@pytest.mark.parametrize("apart", [True, False], ids=["apart", "with the end"])
def test_usage_is_the_last_chunk_if_asked_for(apart: bool, asked: bool) -> None:
    end = {"id": "1", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}
    last = [end, {"id": "1", "choices": [], "usage": USAGE}] if apart else [{**end, "usage": USAGE}]
    pieces = [b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in last]
    out = run([event(content=CALL), *pieces, DONE], {**REQUEST, "stream_options": {"include_usage": asked}})
    *_, before, done = [json.loads(line[6:]) if b"{" in line else line for line in out.split(b"\n") if line]
    assert done == DONE.strip()
    assert (before["choices"] == []) == asked
    assert not asked or before["usage"] == USAGE


def test_without_tools_nothing_changes() -> None:
    body = event(content=CALL) + event("stop") + DONE
    assert run([body], {"model": "m", "messages": []}) == body


def test_text_mode_says_all_in_text() -> None:
    wire = {"id": "c", "type": "function", "function": {"name": "ls", "arguments": '{"path": "/"}'}}
    messages = [
        {"role": "user", "content": "?"},
        {"role": "assistant", "content": None, "tool_calls": [wire]},
        {"role": "tool", "tool_call_id": "c", "content": "a </tool_response> b"},
    ]
    payload = transform_request(
        {**REQUEST, "messages": messages, "tool_choice": "required"}, mode="text", dialect="hermes"
    )
    assert [message["role"] for message in payload["messages"]] == ["system", "user", "assistant", "user"]
    assert payload["messages"][3]["content"].count("</tool_response>") == 1
    assert "must call" in payload["messages"][0]["content"]
    assert not {"tools", "tool_choice"} & set(payload)
    assert messages[1]["tool_calls"] == [wire]


@pytest.mark.parametrize("dialect", [dialect.name for dialect in toolglot.dialects()])
def test_results_come_in_the_order_of_the_calls(dialect: str) -> None:
    """Where the dialect shows neither names nor ids, nothing else says which result is whose."""
    wires = [
        {"id": identity, "type": "function", "function": {"name": "ls", "arguments": f'{{"path": "{identity}"}}'}}
        for identity in ("one", "two", "six")
    ]
    results = [{"role": "tool", "tool_call_id": wire["id"], "content": f"found {wire['id']}"} for wire in wires]
    asked, later = {"role": "assistant", "content": None, "tool_calls": wires}, {"role": "user", "content": "?"}
    for came in (results, results[::-1]):
        written = convert_messages(
            [later, asked, *came, later, asked, *came], to="text", source="openai", dialect=dialect
        )
        assert [message["role"] for message in written] == ["user", "assistant", "user"] * 2
        assert (
            written[1:3]
            == written[4:6]
            == convert_messages([asked, *results], to="text", source="openai", dialect=dialect)
        )
        said = written[2]["content"]
        assert said.index("found one") < said.index("found two") < said.index("found six")


@pytest.mark.parametrize(("text", "finish"), [(CALL, "tool_calls"), (CALL[:40], "length"), ("Hi.", "stop")])
def test_response(text: str, finish: str) -> None:
    answer = {"choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}
    (choice,) = transform_response_with_tools(answer, REQUEST)["choices"]
    assert choice["finish_reason"] == finish
    assert ("tool_calls" in choice["message"]) == (finish == "tool_calls")
    assert answer["choices"][0]["message"]["content"] == text


def test_an_unanswered_call_is_refused() -> None:
    wire = {"id": "c", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    with pytest.raises(RequestError) as caught:
        transform_request({"messages": [{"role": "assistant", "tool_calls": [wire]}, {"role": "user", "content": "?"}]})
    assert caught.value.body["error"]["code"] == "invalid_message_order"


@pytest.mark.parametrize(
    "part", [{"type": "string", "required": True}, {"type": "float"}, {"$ref": "#/nowhere"}, "string"]
)
def test_a_schema_with_parts_that_mean_nothing_is_the_backends_to_judge(part: Any) -> None:
    function = {"name": "f", "parameters": {"type": "object", "properties": {"a": part}}}
    validate_request({"messages": REQUEST["messages"], "tools": [{"type": "function", "function": function}]})


# Arguments that repair reads otherwise once it has seen their end: what a stream has told cannot be taken back, so it says
# that the answer is cut off, and nobody runs it.
OVERTAKEN = {
    "a brace too early before a long key",
    "a closing quote of another kind before a bracket",
    "a list is not closed before the next key",
    "a list of objects that lost its end before the next argument",
    "a quote is missing before the next call",
    "a quote is missing before the sign that closes the tag",
    "a quote is missing before what closes the call",
    "a string's closing quote is missing before the last brackets",
    "a string with braces lacks its closing quote",
    "an entity closes a string",
    "a curly quote closes a string",
    "a mark of another kind closes the last string",
    "an object in a list that was closed too early, the list being closed",
    "what was mended makes a parameter of a part of a string",
    "a sign behind the element that an open string shows",
    "a string without its closing quote shows a whole element",
    "a string without its closing quote that shows a whole call, and the marker that closes its own",
    "a string without its end behind an object in a list is an item",
}

CASES = [
    pytest.param(case["text"], case["tools"], case["about"] in OVERTAKEN, id=f"{path.stem}-{number}")
    for path in sorted((ROOT / "tests" / "data" / "dialects").glob("*.jsonl"))
    for number, case in enumerate(map(json.loads, path.read_text("utf-8").splitlines()))
    if case.get("tools")
]


@pytest.mark.parametrize(("text", "tools", "overtaken"), CASES)
def test_a_stream_says_what_a_response_says(text: str, tools: list[Any], overtaken: bool) -> None:
    """For every case of every dialect: the same calls, the same end, and arguments that are JSON if it is a good one."""
    request = {**REQUEST, "tools": toolglot.ToolSet(tools).to_openai()}
    answer = {"choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}
    (choice,) = transform_response_with_tools(answer, request)["choices"]
    pieces = [event(content=text[start : start + 3]) for start in range(0, len(text), 3)]
    _, calls, finish = read(run([*pieces, event("stop"), DONE], request))
    assert finish == ("length" if overtaken else choice["finish_reason"])
    if finish == "tool_calls":
        whole = [json.loads(call["function"]["arguments"]) for call in choice["message"]["tool_calls"]]
        streamed = [json.loads(calls[index]) for index in sorted(calls)]
        # A null that the schema refuses has been told by the time it is left out; it says the same.
        assert [keys(each) for each in streamed] == [keys(each) for each in whole]


def keys(arguments: Any) -> Any:
    if not isinstance(arguments, dict):
        return arguments
    return [key for key, value in arguments.items() if value is not None]


def test_halves_of_characters() -> None:
    """Servers that cut between UTF-16's units send half a character in one chunk and half in the next."""

    def half(**delta: Any) -> bytes:
        return (
            b"data: "
            + json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}).encode()
            + b"\n\n"
        )

    def call(arguments: str) -> bytes:
        return half(tool_calls=[{"index": 0, "id": "c", "function": {"name": "ls", "arguments": arguments}}])

    said = [half(content="Hi \ud83d"), half(content="\ude00"), half(content=" lone \ud83d"), half(content="!")]
    assert read(run([*said, event("stop"), DONE])) == ("Hi \U0001f600 lone !", {}, "stop")
    pieces = [call('{"path": "\ud83d'), call('\ude00"}')]
    assert read(run([*pieces, event("tool_calls"), DONE])) == ("", {0: '{"path": "\U0001f600"}'}, "tool_calls")


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=[])),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=3,
)
CONVERSATION = {
    **REQUEST,
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "?"}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "c", "function": {"name": "ls", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "c", "content": "a"},
    ],
    "tool_choice": {"type": "function", "function": {"name": "ls"}},
    "stream_options": {"include_usage": True},
}
CHUNK = {
    "id": "1",
    "choices": [
        {
            "index": 0,
            "delta": {
                "content": CALL,
                "tool_calls": [{"index": 0, "id": "c", "function": {"name": "ls", "arguments": "{}"}}],
            },
            "finish_reason": None,
        }
    ],
    "usage": {},
}


def places(value: Any, place: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, inner in items for found in ((*place, key), *places(inner, (*place, key)))]


def spoilt(value: Any, place: tuple[Any, ...], put: Any) -> Any:
    """A copy with something else at one place."""
    if not place:
        return put
    copied = copy.copy(value)
    copied[place[0]] = spoilt(copied[place[0]], place[1:], put)
    return copied


@given(st.sampled_from(places(CONVERSATION)), ANYTHING, st.sampled_from(["native", "text"]))
def test_a_request_is_taken_or_refused(place: Any, put: Any, mode: Any) -> None:
    with contextlib.suppress(RequestError):
        transform_request(spoilt(CONVERSATION, place, put), mode=mode)


@given(st.sampled_from(places(CHUNK)), ANYTHING)
def test_a_chunk_of_any_shape_is_passed_on_or_ends_the_stream(place: Any, put: Any) -> None:
    chunk = b"data: " + json.dumps(spoilt(CHUNK, place, put)).encode() + b"\n\n"
    with mock.patch.object(logging.getLogger("toolglot.router"), "exception") as broken:
        out = run([event(content="Hi "), chunk, event("stop"), DONE])
    assert out.endswith(DONE) or b'"error"' in out
    assert not broken.called


def test_done_is_no_finish_reason() -> None:
    out = run([event(content="Hi <tool_"), DONE])
    assert DONE not in out
    assert b'finish_reason":"' not in out.replace(b" ", b"")
    assert b"backend_disconnected" in out
    assert read(out)[0] == "Hi <tool_"


READ = {"type": "function", "function": {"name": "read"}}


@pytest.mark.parametrize(
    ("choice", "refused"),
    [
        ({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [READ]}}, None),
        ({"type": "allowed_tools", "allowed_tools": {"mode": "required", "tools": [READ]}}, None),
        ({"type": "allowed_tools", "allowed_tools": {"mode": "some", "tools": [READ]}}, "mode"),
        ({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}}, "none of the tools"),
        ({"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [{"type": "function"}]}}, "none of"),
        ({"type": "allowed_tools"}, "mode"),
        (5, "must be"),
        (["auto"], "must be"),
        ("some", "must be"),
    ],
)
def test_choices_of_tools(choice: Any, refused: str | None) -> None:
    names = ("read", "delete_all")
    tools = [{"type": "function", "function": {"name": name, "parameters": {"type": "object"}}} for name in names]
    request = {"messages": [{"role": "user", "content": "x"}], "tools": tools, "tool_choice": choice}
    if refused is not None:
        with pytest.raises(RequestError, match=refused) as caught:
            validate_request(request)
        assert caught.value.code == "invalid_value"
        return
    validate_request(request)
    prompt = transform_request(request, mode="text")["messages"][0]["content"]
    assert "read" in prompt
    assert "delete_all" not in prompt
    assert ("must call a tool" in prompt) == (choice["allowed_tools"]["mode"] == "required")


def test_the_client_gets_its_own_names() -> None:
    request = {"messages": [], "tools": [{"type": "function", "function": {"name": "a.b", "parameters": {}}}]}
    answer = {"choices": [{"message": {"content": '<tool_call>{"name": "a.b", "arguments": {}}</tool_call>'}}]}
    message = transform_response_with_tools(answer, request)["choices"][0]["message"]
    assert message["tool_calls"][0]["function"] == {"name": "a.b", "arguments": "{}"}


def test_answers_stay_with_their_choices() -> None:
    call = '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>'
    request = {"messages": [], "tools": [{"type": "function", "function": {"name": "get_weather", "parameters": {}}}]}
    said = [
        {"index": 1, "message": {"role": "assistant", "content": "one"}, "finish_reason": "stop"},
        None,
        {"index": 0, "message": {"role": "assistant", "content": call}, "finish_reason": "stop"},
        {"index": 0, "message": {"role": "assistant", "content": "again"}, "finish_reason": "stop"},
    ]
    choices = transform_response_with_tools({"choices": said}, request)["choices"]
    assert [choice and choice["message"]["content"] for choice in choices] == ["one", None, None, "again"]
    assert choices[2]["message"]["tool_calls"][0]["function"]["name"] == "get_weather"


def test_a_mode_that_is_none_is_refused() -> None:
    with pytest.raises(toolglot.BadOptionError, match="native"):
        transform_request({"messages": []}, mode="Native")  # type: ignore[arg-type]


@pytest.mark.parametrize("request_body", [REQUEST, {"messages": REQUEST["messages"], "stream": True}])
def test_done_alone_is_no_answer(request_body: Any) -> None:
    for pieces in ([DONE], [b": ping\n\n", DONE], []):
        out = run(pieces, request_body)
        assert DONE not in out
        assert b"backend_disconnected" in out


@pytest.mark.parametrize("tools", [None, []])
@pytest.mark.parametrize(
    ("choice", "refused"),
    [
        ("banana", True),
        ({"type": "function", "function": {"name": "zzz"}}, True),
        (None, False),
        ("auto", False),
        ("none", False),
    ],
)
def test_a_choice_of_tools_that_are_not_there(tools: Any, choice: Any, refused: bool) -> None:
    request = {"messages": REQUEST["messages"], "tools": tools, "tool_choice": choice}
    expected = pytest.raises(RequestError, match="tool_choice") if refused else contextlib.nullcontext()
    with expected:
        validate_request(request)


@pytest.mark.parametrize(
    "choice",
    [
        {},
        {"message": None},
        {"message": "x"},
        {"error": {"message": "no"}},
        {"finish_reason": "error", "message": {"role": "assistant", "content": ""}},
    ],
)
def test_a_choice_without_an_answer_is_an_error(choice: Any) -> None:
    whole = {"message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}
    with pytest.raises(toolglot.ProviderError, match=r"choices\[1\]"):
        transform_response_with_tools({"choices": [whole, choice]}, REQUEST)


def test_a_choice_that_broke_off_keeps_what_it_has() -> None:
    choice = {"finish_reason": "error", "message": {"role": "assistant", "content": "Hi"}}
    (read,) = transform_response_with_tools({"choices": [choice]}, REQUEST)["choices"]
    assert read["message"]["content"] == "Hi"
    empty = {"finish_reason": "stop", "message": {"role": "assistant", "content": None}}
    assert transform_response_with_tools({"choices": [empty]}, REQUEST)["choices"][0]["finish_reason"] == "stop"


def test_two_tools_under_one_id() -> None:
    tools = [{"type": "function", "function": {"name": name}} for name in ("read", "delete")]
    said = [
        {
            "index": 0,
            "id": "call_0",
            "type": "function",
            "function": {"name": tool["function"]["name"], "arguments": "{}"},
        }
        for tool in tools
    ]
    request = {**REQUEST, "tools": tools}
    out = run([event(tool_calls=[call]) for call in said] + [event("tool_calls"), DONE], request)
    assert b'"read"' in out
    assert b'"delete"' in out
    message = {"role": "assistant", "content": None, "tool_calls": said}
    answer = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
    calls = transform_response_with_tools(answer, request)["choices"][0]["message"]["tool_calls"]
    assert [call["function"]["name"] for call in calls] == ["read", "delete"]
    assert len({call["id"] for call in calls}) == 2


@pytest.mark.parametrize("body", [[1], "x", None, 5])
def test_a_body_that_is_no_object_is_the_clients_to_mend(body: Any) -> None:
    for refuses in (validate_request, transform_request):
        with pytest.raises(RequestError) as caught:
            refuses(body)
        assert (caught.value.status, caught.value.code) == (400, "invalid_value")
