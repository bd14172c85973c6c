"""Every provider's answers through the package: the cases of tests/data/providers, quirks combined at random."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import toolglot
from support import ROOT

TEXT = {"type": "string"}
TOOLS = toolglot.ToolSet(
    [
        {"type": "function", "function": {"name": name, "parameters": {"type": "object", "properties": properties}}}
        for name, properties in {
            "get_weather": {"city": TEXT, "unit": TEXT},
            "get_time": {"timezone": TEXT},
            "ping": {},
            "run_py": {"input": TEXT},
            "find_customer": {"q": TEXT},
        }.items()
    ]
)

CASES = [
    pytest.param(case, id=f"{path.stem}-{case['name']}")
    for path in sorted((ROOT / "tests/data/providers").glob("*.jsonl"))
    for case in map(json.loads, path.read_text(encoding="utf-8").splitlines())
    if path.stem != "errors" and "needs" not in case["expect"]
]


def add_up(events: list[toolglot.Event], turn: toolglot.Turn) -> None:
    """The events of calls may alternate here, else this is P1."""
    content, reasoning, pieces = "", "", {}
    ended = {}
    for event in events:
        if event.kind == "text":
            content += event.text
        elif event.kind == "reasoning":
            reasoning += event.text
        elif event.kind == "reclassified":
            content, reasoning = "", content + reasoning
        elif event.kind == "call_started":
            assert event.index == len(pieces)
            pieces[event.index] = ""
        elif event.kind == "arguments":
            pieces[event.index] += event.text
        elif event.kind == "call_ended":
            ended[event.index] = event.call
    assert content == turn.content
    assert reasoning == (turn.reasoning or "")
    # A call that never ended was one in the text, and native ones came.
    assert [ended[index] for index in sorted(ended)] == list(turn.tool_calls)
    for index, call in ended.items():
        if call.status == "ok":
            assert pieces[index] == call.arguments_json


def check(turn: toolglot.Turn, expect: dict[str, Any]) -> None:
    assert turn.content == expect["content"]
    assert (turn.reasoning or "") == expect.get("reasoning", "")
    assert [call.name for call in turn.tool_calls] == [call["name"] for call in expect["calls"]]
    for call, expected in zip(turn.tool_calls, expect["calls"], strict=True):
        assert call.status == expected["status"]
        assert call.id == expected["id"] or expected["id"] is None
        assert expected["arguments"] is None or call.arguments == expected["arguments"]
    assert turn.stop_reason == expect["stop_reason"]
    assert turn.source == expect["source"]
    assert sorted(turn.provider_state or {}) == expect.get("state", [])


def stream_of(chunks: list[Any], provider: str = "auto") -> tuple[toolglot.Turn, list[toolglot.Event]]:
    stream = toolglot.StreamNormalizer(provider, tools=TOOLS)
    events = [event for chunk in chunks for event in stream.feed(chunk)]
    events += stream.close()
    return stream.finish(), events


@pytest.mark.parametrize("case", CASES)
def test_payload(case: dict[str, Any]) -> None:
    provider = case["provider"] or "auto"
    if case["kind"] == "response":
        for response in (case["input"], json.dumps(case["input"]), json.dumps(case["input"]).encode()):
            check(toolglot.normalize(response, tools=TOOLS, provider=provider), case["expect"])
        return
    turn, events = stream_of(case["input"], provider)
    check(turn, case["expect"])
    add_up(events, turn)
    lines = [line for chunk in case["input"] for line in (f"data: {json.dumps(chunk)}", "")] + ["data: [DONE]", ""]
    for chunks in (["\n".join(lines) + "\n"], lines, [line.encode() + b"\r\n" for line in lines]):
        turn, events = stream_of(chunks, provider)
        check(turn, case["expect"])
        add_up(events, turn)


def test_errors_name_provider_and_reason() -> None:
    with pytest.raises(toolglot.ProviderError, match=r"openai.*upstream said no"):
        toolglot.normalize(
            {"error": {"code": 502, "message": "bad", "metadata": {"raw": "upstream said no"}}}, provider="openai"
        )
    with pytest.raises(toolglot.ProviderError, match="HTML") as caught:
        toolglot.normalize("<html>502</html>", provider="anthropic")
    assert caught.value.code == "provider_error"
    with pytest.raises(toolglot.ProviderError):
        toolglot.StreamNormalizer("openai").finish()
    # Which provider it is, nobody said; and one whose stream showed it.
    with pytest.raises(toolglot.ProviderError, match=r"^the response holds no answer$"):
        toolglot.StreamNormalizer().finish()
    stream = toolglot.StreamNormalizer()
    stream.feed({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}})
    with pytest.raises(toolglot.ProviderError, match=r"anthropic: busy"):
        stream.finish()
    with pytest.raises(toolglot.UnknownProviderError):
        toolglot.normalize({}, provider="nobody")


def test_choices_stay_apart() -> None:
    def choice(index: int, **delta: Any) -> dict[str, Any]:
        return {"index": index, "delta": delta, "finish_reason": None}

    stream = toolglot.StreamNormalizer("openai")
    stream.feed({"choices": [choice(0, content="a"), choice(1, content="b")]})
    stream.feed({"choices": [choice(1, content="B")]})
    stream.feed({"choices": [choice(0, content="A")]})
    assert [turn.content for turn in stream.choices()] == ["aA", "bB"]
    # Whichever begins, the events are those of the first.
    stream = toolglot.StreamNormalizer("openai")
    events = stream.feed({"choices": [choice(1, content="b")]})
    events += stream.feed({"choices": [choice(0, content="a")]})
    events += stream.close()
    add_up(events, stream.finish())
    assert stream.finish().content == "a"
    response = {
        "choices": [{"index": i, "message": {"content": text}, "finish_reason": "stop"} for i, text in enumerate("xy")]
    }
    assert [turn.content for turn in toolglot.normalize_choices(response)] == ["x", "y"]


def test_calls_in_text_do_not_count_beside_native_ones() -> None:
    text = 'Look: <tool_call>{"name": "ping", "arguments": {}}</tool_call> done'
    call = {"index": 0, "id": "call_a", "type": "function", "function": {"name": "get_time", "arguments": "{}"}}
    message = {"role": "assistant", "content": text, "tool_calls": [call]}
    complete = toolglot.normalize({"choices": [{"message": message, "finish_reason": "tool_calls"}]}, tools=TOOLS)
    assert [c.name for c in complete.tool_calls] == ["get_time"]
    assert complete.content == text
    deltas: list[dict[str, Any]] = [{"content": piece} for piece in (text[:10], text[10:40], text[40:])]
    for at in range(4):
        order = [*deltas[:at], {"tool_calls": [call]}, *deltas[at:]]
        turn, events = stream_of([{"choices": [{"index": 0, "delta": delta}]} for delta in order])
        add_up(events, turn)
        assert [c.name for c in turn.tool_calls] == ["get_time"], at
        assert turn.content == text, at
        assert "quoted_call" in [issue.code for issue in turn.issues]
    assert "quoted_call" in [issue.code for issue in complete.issues]
    turn, events = stream_of([{"choices": [{"index": 0, "delta": delta}]} for delta in deltas])
    add_up(events, turn)
    assert turn.source == "text"
    assert [c.name for c in turn.tool_calls] == ["ping"]


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "ollama", "cohere", "bedrock"])
def test_a_call_in_the_text_is_announced_while_it_streams(provider: str) -> None:
    def chunk(text: str) -> dict[str, Any]:
        message = {"role": "assistant", "content": text}
        return {
            "openai": {"choices": [{"index": 0, "delta": message}]},
            "anthropic": {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
            "gemini": {"candidates": [{"content": {"parts": [{"text": text}]}}]},
            "ollama": {"model": "m", "message": message},
            "cohere": {"type": "content-delta", "index": 0, "delta": {"message": {"content": {"text": text}}}},
            "bedrock": {"contentBlockDelta": {"contentBlockIndex": 0, "delta": {"text": text}}},
        }[provider]

    text = 'Look: <tool_call>{"name": "get_time", "arguments": {"timezone": "Asia/Tokyo"}}</tool_call>'
    stream = toolglot.StreamNormalizer(provider, tools=TOOLS)
    kinds: dict[int, set[str]] = {}
    for at in range(0, len(text), 5):
        kinds[at + 5] = {event.kind for event in stream.feed(chunk(text[at : at + 5]))}
    # The name is certain with its quote, and pieces of arguments leave with the chunk that brings them.
    started = min(at for at, found in kinds.items() if "call_started" in found)
    assert text[:started].count("get_time") == 1
    assert started <= text.index('": {"timezone') + 10
    assert sum("arguments" in found for found in kinds.values()) >= 5
    # It may run when no native call can follow any more.
    assert not any("call_ended" in found for found in kinds.values())
    end = [event.kind for event in stream.close()]
    assert "call_ended" in end
    turn = stream.finish()
    assert (turn.source, turn.content) == ("text", "Look: ")


ARGUMENTS = st.dictionaries(
    st.text('abcü"\\ ', min_size=1, max_size=4),
    st.recursive(
        st.none() | st.integers() | st.text('a{}"\\é, ', max_size=6), lambda x: st.lists(x, max_size=2), max_leaves=3
    ),
    max_size=3,
)
CALLS = st.lists(st.tuples(st.sampled_from(["get_weather", "get_time", "ping"]), ARGUMENTS), min_size=1, max_size=4)


@given(CALLS, st.data())
def test_quirks_never_lose_merge_or_invent_a_call(calls: list[tuple[str, Any]], data: st.DataObject) -> None:
    """Servers' habits combined at random. Without ids and without indices, calls must at least come one by one."""
    ids = data.draw(st.sampled_from(["first", "each", "late", "none", "empty"]))
    index = data.draw(st.sampled_from(["right", "zero", "missing", "null", "gaps"]))
    names = data.draw(st.sampled_from(["first", "each"]))
    form = data.draw(st.sampled_from(["text", "object", "snapshots", "double"]))
    keyed = ids not in ("none", "empty") or index not in ("zero", "missing", "null")
    together = data.draw(st.booleans())
    finish = data.draw(st.sampled_from(["tool_calls", "stop", "", None, "early"]))
    chunks: list[Any] = [{"choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]}]
    if finish == "early":
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]})
    deltas: list[dict[str, Any]] = []
    previous = ""
    for number, (name, arguments) in enumerate(calls):
        text = json.dumps(arguments, ensure_ascii=data.draw(st.booleans()))
        cuts = sorted(data.draw(st.lists(st.integers(1, len(text)), max_size=3, unique=True)))
        pieces: list[Any] = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        if form == "object":
            pieces = [arguments]
        elif form == "double":
            pieces = [json.dumps(text)]
        elif form == "snapshots":
            pieces = [text[:cut] for cut in sorted({*cuts, len(text)})]
        pieces = [piece for piece in pieces if piece != ""]
        if form == "snapshots" and not keyed and number > 0 and calls[number - 1][0] == name:
            # A second call that begins with all of the first one's arguments may be the first one said once more.
            assume(not str(pieces[0]).startswith(previous))
        previous = text
        for at, piece in enumerate(pieces):
            function: dict[str, Any] = {"arguments": piece}
            delta: dict[str, Any] = {"function": function}
            if at == 0 or names == "each":
                function["name"] = name
            if ids == "each" or (ids == "first" and at == 0) or (ids == "late" and at == len(pieces) - 1):
                delta["id"] = f"call_{number}"
            elif ids == "empty":
                delta["id"] = ""
            if index == "right":
                delta["index"] = number
            elif index == "zero":
                delta["index"] = 0
            elif index == "gaps":
                delta["index"] = number * 2 + 1
            elif index == "null":
                delta["index"] = None
            deltas.append(delta)
    if together:
        chunks.append({"choices": [{"index": 0, "delta": {"content": "", "tool_calls": deltas}}]})
    else:
        chunks += [{"choices": [{"index": 0, "delta": {"content": None, "tool_calls": [delta]}}]} for delta in deltas]
    if finish not in (None, "early"):
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    chunks.append({"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}})
    stream = toolglot.StreamNormalizer("openai")
    events = [event for chunk in chunks for event in stream.feed(chunk)]
    events += stream.close()
    turn = stream.finish()
    add_up(events, turn)
    assert [(call.name, call.arguments) for call in turn.tool_calls] == calls
    assert len({call.id for call in turn.tool_calls}) == len(calls)
    assert turn.usage is not None


def test_vertex_arguments_flow_while_they_come() -> None:
    def chunk(**call: Any) -> dict[str, Any]:
        return {"candidates": [{"content": {"role": "model", "parts": [{"functionCall": call}]}, "index": 0}]}

    def piece(path: str, more: bool = False, **value: Any) -> list[dict[str, Any]]:
        return [{"jsonPath": path, "willContinue": more, **value}]

    chunks = [
        chunk(name="get_weather", willContinue=True),
        chunk(partialArgs=piece("$.city", True, stringValue='Ne"w'), willContinue=True),
        chunk(partialArgs=piece("$.city", stringValue=" York}"), willContinue=True),
        chunk(partialArgs=piece("$.days[0]", numberValue=3), willContinue=True),
        chunk(partialArgs=piece("$.of.unit", stringValue="null"), willContinue=True),
        chunk(),
    ]
    stream = toolglot.StreamNormalizer("gemini")
    said = [[event.text for event in stream.feed(chunk) if event.kind == "arguments"] for chunk in chunks]
    (call,) = stream.finish().tool_calls
    assert call.status == "ok"
    assert call.arguments == {"city": 'Ne"w York}', "days": [3], "of": {"unit": "null"}}
    assert said[:3] == [["{"], ['"city":"Ne\\"w'], [" York}"]]
    assert "".join(text for texts in said for text in texts) == call.arguments_json

    # A piece that goes back to what was sent: the last word counts, and it is said that it differs.
    chunks.insert(5, chunk(partialArgs=piece("$.city", stringValue="!"), willContinue=True))
    stream = toolglot.StreamNormalizer("gemini")
    for chunk_ in chunks:
        stream.feed(chunk_)
    (call,) = stream.finish().tool_calls
    assert (call.status, call.arguments["city"]) == ("repaired", 'Ne"w York}!')


def test_a_lone_choice_of_any_number_is_heard() -> None:
    def chunk(index: int, text: str) -> dict[str, Any]:
        return {"choices": [{"index": index, "delta": {"content": text}}]}

    stream = toolglot.StreamNormalizer("openai")
    early = [event.text for _ in range(30) for event in stream.feed(chunk(1, "a"))]
    assert "".join(early).startswith("a" * 20)
    # One that comes late is another turn: events and turn stay those of one choice.
    late = [event.text for event in stream.feed(chunk(0, "b"))]
    rest = [event.text for event in stream.close() if event.kind == "text"]
    turn = stream.finish()
    assert turn.content == "a" * 30 == "".join(early + late + rest)
    assert [turn.content for turn in stream.choices()] == ["a" * 30, "b"]

    # Two that begin in the wrong order are told in the right one.
    stream = toolglot.StreamNormalizer("openai")
    events = [event for index in (1, 0, 1, 0) for event in stream.feed(chunk(index, str(index)))]
    assert "".join(event.text for event in [*events, *stream.close()] if event.kind == "text") == "00"
    assert stream.finish().content == "00"


def test_what_only_the_provider_knows_of_an_answer_is_kept() -> None:
    """Fields that nobody here reads, of the message and of the pieces of its blocks, complete and streamed."""
    container = {"id": "container_1", "expires_at": "2026-01-01T00:00:00Z"}
    start = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "content": [], "usage": {}}
    block = {"type": "text", "text": "Hello", "mark": "ab", "parts": [1, 2]}
    turn, _ = stream_of([
        {"type": "message_start", "message": {**start, "container": container}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hel", "mark": "a", "parts": [1]}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "lo", "mark": "b", "parts": [2]}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn", "container": container}, "usage": {}},
        {"type": "message_stop"},
    ])  # fmt: skip
    whole = toolglot.normalize({**start, "content": [block], "stop_reason": "end_turn", "container": container})
    assert turn.provider_state == whole.provider_state
    assert turn.provider_state == {
        "anthropic": {"content": [block], "model": "claude", "fields": {"container": container}}
    }
    message = toolglot.assistant_message(turn, provider="anthropic")
    # The container is named by the request; a message has no place for it.
    assert message == {"role": "assistant", "content": [block]}

    call = {"toolUse": {"toolUseId": "c1", "name": "ping", "input": {}, "mark": "x"}}
    blocks = [{"text": "Hello", "mark": "ab"}, call, {"reasoningContent": {"reasoningText": {"text": "Hm", "mark": 1}}}]
    turn, _ = stream_of([
        {"messageStart": {"role": "assistant"}},
        {"contentBlockDelta": {"delta": {"text": "Hel", "mark": "a"}, "contentBlockIndex": 0}},
        {"contentBlockDelta": {"delta": {"text": "lo", "mark": "b"}, "contentBlockIndex": 0}},
        {"contentBlockStart": {"start": {"toolUse": {"toolUseId": "c1", "name": "ping"}}, "contentBlockIndex": 1}},
        {"contentBlockDelta": {"delta": {"toolUse": {"input": "{}", "mark": "x"}}, "contentBlockIndex": 1}},
        {"contentBlockDelta": {"delta": {"reasoningContent": {"text": "Hm", "mark": 1}}, "contentBlockIndex": 2}},
        {"messageStop": {"stopReason": "tool_use"}},
    ])  # fmt: skip
    assert toolglot.assistant_message(turn, provider="bedrock") == {"role": "assistant", "content": blocks}


def test_lists_in_text_are_as_deep_as_the_policy_allows() -> None:
    tools = [{"name": "f", "parameters": {"type": "object", "properties": {"a": {"type": "array"}}}}]
    for depth, status in ((3, "repaired"), (4, "malformed")):
        function = {"name": "f", "arguments": json.dumps({"a": "[" * depth + "]" * depth})}
        message = {"role": "assistant", "tool_calls": [{"id": "call_1", "type": "function", "function": function}]}
        response = {"choices": [{"message": message, "finish_reason": "tool_calls"}]}
        (call,) = toolglot.normalize(response, tools=tools, policy={"max_depth": 4}).tool_calls
        assert call.status == status


LONG = "word " * 400_000
CHAT = {"choices": [{"index": 0, "message": {"role": "assistant", "content": LONG}, "finish_reason": "stop"}]}
CHUNK = {"choices": [{"index": 0, "delta": {"content": LONG}}]}
HISTORY = [{"role": "user", "content": LONG}, {"role": "assistant", "content": LONG}]


@pytest.mark.parametrize(
    "work",
    [
        pytest.param(lambda: toolglot.normalize(json.dumps(CHAT).encode()), id="bytes"),
        pytest.param(lambda: toolglot.normalize(CHAT), id="dict"),
        pytest.param(lambda: toolglot.normalize_choices(CHAT), id="choices"),
        pytest.param(
            lambda: toolglot.StreamNormalizer("openai").feed(b"data: %s\n\n" % json.dumps(CHUNK).encode()), id="sse"
        ),
        pytest.param(lambda: toolglot.StreamNormalizer("openai").feed(CHUNK), id="chunk"),
        pytest.param(lambda: toolglot.harden(LONG), id="harden"),
        pytest.param(lambda: toolglot.convert_messages(HISTORY, to="anthropic"), id="history"),
    ],
)
def test_long_work_lets_other_threads_run(work: Callable[[], object]) -> None:
    """No thread is made to give the interpreter up here, so another one runs only where it is released."""
    before = sys.getswitchinterval()
    # On a machine whose processors are all busy the other thread may come too late many times.
    for _ in range(200):
        go, ran = threading.Lock(), threading.Event()
        go.acquire()
        other = threading.Thread(target=lambda go=go, ran=ran: (go.acquire(), ran.set()))  # type: ignore[misc]
        other.start()
        time.sleep(0.01)
        sys.setswitchinterval(1000)
        try:
            go.release()
            work()
            meanwhile = ran.is_set()
        finally:
            sys.setswitchinterval(before)
        other.join()
        if meanwhile:
            return
    raise AssertionError("the interpreter was not released")


def names() -> list[str]:
    """Every name there is, as the error for one that is none lists them."""
    with pytest.raises(toolglot.UnknownProviderError) as caught:
        TOOLS.to("nobody")
    return caught.value.message.split("there are ")[1].split(", ")


@pytest.mark.parametrize("name", names())
def test_every_entry_point_takes_every_name(name: str) -> None:
    assert TOOLS.to(name)
    assert TOOLS.to_json(name)
    assert len(TOOLS.names(name)) == len(TOOLS)
    assert isinstance(TOOLS.losses(name), tuple)
    if name == "mcp":
        return
    turn = toolglot.Turn(content="Hi")
    history = [{"role": "user", "content": "Hi"}]
    assert toolglot.StreamNormalizer(name).provider
    assert toolglot.assistant_message(turn, provider=name)
    assert turn.to_message(name)
    call = toolglot.ToolCall("ping", {})
    assert toolglot.format_tool_result(call, "ok", provider=name)
    assert toolglot.format_tool_results([(call, "ok")], provider=name)
    assert toolglot.provider_id("id", name)
    assert list(toolglot.convert_messages(history, to=name))
    assert isinstance(toolglot.check_history(history, name), list)
    assert toolglot.repair_history(history, name) is not None
    with pytest.raises(toolglot.ProviderError):
        toolglot.normalize(b"", provider=name)


@pytest.mark.parametrize("provider", ["auto", "openai"])
def test_the_wire_format_stays_known(provider: str) -> None:
    stream = toolglot.StreamNormalizer(provider)
    stream.feed({"choices": [{"index": 0, "delta": {"content": "Hi"}, "finish_reason": "stop"}]})
    assert stream.provider == "openai"
    stream.finish()
    assert stream.provider == "openai"


THOUGHT = "I should think.</think>Yes."
CALLED = 'Hm. <tool_call>{"name": "ping", "arguments": {}}</tool_call>'


def streamed(message: dict[str, Any], **options: Any) -> tuple[toolglot.Turn, list[toolglot.Event]]:
    stream = toolglot.StreamNormalizer("openai", **options)
    events = []
    for key, text in message.items():
        for letter in text:
            events += stream.feed({"choices": [{"index": 0, "delta": {key: letter}}]})
    events += stream.feed({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}) + stream.close()
    return stream.finish(), events


@pytest.mark.parametrize("policy", ["if_unclosed", "ignore", "run"])
@pytest.mark.parametrize("starts_in", ["content", "reasoning"])
@pytest.mark.parametrize(
    "message",
    [
        {"content": THOUGHT},
        {"content": "I should"},
        {"content": CALLED},
        {"content": CALLED + "</think>Yes." + CALLED},
        {"reasoning_content": "Hm.", "content": "Yes."},
        {"reasoning_content": "Hm.", "content": CALLED},
        {"reasoning_content": CALLED, "content": " "},
    ],
    ids=json.dumps,
)
def test_a_prompt_that_opened_the_reasoning(message: dict[str, str], starts_in: Any, policy: Any) -> None:
    """What a provider sends as text is read as that text is read alone, and a stream as the whole."""
    options: dict[str, Any] = {"starts_in": starts_in, "policy": {"reasoning": policy}}
    whole = toolglot.normalize({"choices": [{"message": message, "finish_reason": "stop"}]}, **options)
    turn, events = streamed(message, **options)
    (choice,) = toolglot.normalize_choices({"choices": [{"message": message, "finish_reason": "stop"}]}, **options)

    def said(turn: toolglot.Turn) -> Any:
        return [turn.content, turn.reasoning, [(call.name, call.status) for call in turn.tool_calls], turn.stop_reason]

    assert said(turn) == said(whole) == said(choice)
    add_up(events, turn)
    if "reasoning_content" not in message:
        alone = toolglot.extract(message["content"], **options)
        assert said(whole)[:3] == said(alone)[:3]
    else:
        # Who tells reasoning apart has closed it.
        other = "content" if starts_in == "reasoning" else "reasoning"
        assert said(whole) == said(streamed(message, **{**options, "starts_in": other})[0])
    if starts_in == "reasoning":
        assert "reclassified" not in {event.kind for event in events}


def test_the_text_with_calls_in_it_is_kept_as_it_was() -> None:
    for message in ({"content": "Hi. " + CALLED}, {"content": "Hi."}):
        whole = toolglot.normalize({"choices": [{"message": message, "finish_reason": "stop"}]})
        for turn in (whole, streamed(message)[0]):
            state = {"text": message} if turn.tool_calls else None
            assert turn.provider_state == state
            # No API is sent it.
            assert "<tool_call>" not in json.dumps(turn.to_openai())


def test_the_halves_of_a_character_in_two_chunks_are_one() -> None:
    def chunk(arguments: str, **more: Any) -> bytes:
        call = {"index": 0, **more, "function": {"arguments": arguments, **more.get("function", {})}}
        payload = {"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None}]}
        return b"data: " + json.dumps(payload).encode() + b"\n\n"

    stream = toolglot.StreamNormalizer(provider="openai")
    name = {"id": "call_1", "type": "function", "function": {"name": "send", "arguments": '{"text": "a\ud83d'}}
    stream.feed(chunk("", **name))
    stream.feed(chunk('\ude00 b"}'))
    stream.feed(b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n')
    turn = stream.finish()
    assert turn.tool_calls[0].arguments == {"text": "a😀 b"}
    assert not turn.issues

    stream = toolglot.StreamNormalizer(provider="openai")
    stream.feed(b'data: {"choices":[{"index":0,"delta":{"content":"a\\ud83d"},"finish_reason":"stop"}]}\n\n')
    assert [issue.code for issue in stream.finish().issues] == ["invalid_utf8"]


def test_issues_of_a_stream_are_those_of_its_turn() -> None:
    def calls(*ids: str) -> bytes:
        each = [
            {"index": at, "id": id, "type": "function", "function": {"name": "f", "arguments": f'{{"n": {at}}}'}}
            for at, id in enumerate(ids)
        ]
        payload = {"choices": [{"index": 0, "delta": {"tool_calls": each}, "finish_reason": "tool_calls"}]}
        return b"data: " + json.dumps(payload).encode() + b"\n\n"

    stream = toolglot.StreamNormalizer(provider="openai")
    events = [*stream.feed(calls("call_1", "call_1")), *stream.close()]
    turn = stream.finish()
    assert tuple(event.issue for event in events if event.kind == "issue") == turn.issues
    assert [issue.code for issue in turn.issues] == ["provider_field"]


def test_a_chunk_may_use_the_stream_that_it_is_fed_to() -> None:
    def chunk(text: str) -> dict[str, Any]:
        return {"choices": [{"index": 0, "delta": {"content": text}}]}

    stream = toolglot.StreamNormalizer(provider="openai")

    class Chunk:
        def model_dump(self, **_: Any) -> dict[str, Any]:
            stream.feed(chunk("inner "))
            return chunk("outer")

    stream.feed(Chunk())
    assert stream.finish().content == "inner outer"


def test_a_result_that_answers_to_any_name_is_one_and_what_has_not_run_is_none() -> None:
    class Loose(dict[str, int]):
        __getattr__ = dict.get

    async def tool() -> int:
        return 1

    message = toolglot.format_tool_result("call_1", Loose(a=1), provider="openai")
    assert json.loads(message["content"]) == {"a": 1}
    waiting = tool()
    for pending in (waiting, (n for n in "ab")):
        with pytest.raises(TypeError, match="is no result yet"):
            toolglot.format_tool_result("call_1", pending, provider="openai")
    waiting.close()


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "Infinity"])
def test_a_number_that_is_none_costs_no_answer(number: str) -> None:
    logprobs = {"content": [{"token": "a", "logprob": float(number.replace("Infinity", "inf"))}]}
    message = {"role": "assistant", "content": 'It is NaN or "Infinity".'}
    body = {"choices": [{"message": message, "finish_reason": "stop", "logprobs": logprobs}]}
    assert toolglot.normalize(body).content == message["content"]
    assert number in json.dumps(body)
    assert toolglot.normalize(json.dumps(body)).content == message["content"]
    stream = toolglot.StreamNormalizer("openai")
    chunk = {"choices": [{"index": 0, "delta": {"content": "hi"}, "logprobs": logprobs, "finish_reason": "stop"}]}
    assert [event.text for event in stream.feed(f"data: {json.dumps(chunk)}\n\n")] == ["hi"]
    assert stream.finish().issues == ()


def test_choices_that_share_an_index_are_told_apart() -> None:
    said = [{"index": 0, "message": {"role": "assistant", "content": text}} for text in ("a", "b")]
    assert [turn.content for turn in toolglot.normalize_choices({"choices": said})] == ["a", "b"]
    said = [{"index": 1, "content": {"parts": [{"text": "b"}]}}, {"content": {"parts": [{"text": "a"}]}}]
    assert [turn.content for turn in toolglot.normalize_choices({"candidates": said})] == ["a", "b"]


def test_results_in_a_dialect_that_nobody_knows_are_refused() -> None:
    with pytest.raises(toolglot.UnknownDialectError):
        toolglot.format_tool_result("call_1", "18", provider="text", dialect="zz")


WHOLE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "n": {"type": "integer"},
        "either": {"type": ["integer", "string"]},
        "any": {},
        "x": {"type": "number"},
        "f": {"anyOf": [{"type": "integer"}, {"type": "number"}]},
        "text": {"type": "string"},
        "list": {"type": "array", "items": {"$ref": "#/$defs/count"}},
        "map": {"type": "object", "patternProperties": {"^n": {"type": "integer"}}, "additionalProperties": True},
        "one": {"type": "integer", "enum": [1, 2]},
    },
    "$defs": {"count": {"type": "integer", "minimum": 0}},
}


@pytest.mark.parametrize(
    ("written", "becomes", "places"),
    [
        ('{"n":4.0}', '{"n":4}', ["/n"]),
        (
            '{"n":-4.0,"x":4.0,"f":4.0,"any":4.0,"text":"4.0"}',
            '{"n":-4,"x":4.0,"f":4.0,"any":4.0,"text":"4.0"}',
            ["/n"],
        ),
        ('{"n":1.5e+3,"either":7.0}', '{"n":1500,"either":7}', ["/n", "/either"]),
        ('{"list":[1.0,2,3.00]}', '{"list":[1,2,3]}', ["/list/0", "/list/2"]),
        ('{"map":{"n1":1.0,"x":1.0},"one":2.0}', '{"map":{"n1":1,"x":1.0},"one":2}', ["/map/n1", "/one"]),
        ('{"n":"4.0","list":[5.0]}', '{"n":4,"list":[5]}', ["/n", "/list/0"]),
    ],
)
def test_whole_floats_of_gemini_are_integers_where_those_are_wanted(
    written: str, becomes: str, places: list[str]
) -> None:
    tools = toolglot.ToolSet([{"name": "f", "inputSchema": WHOLE}])
    chunk = f'{{"candidates":[{{"content":{{"parts":[{{"functionCall":{{"name":"f","args":{written}}}}}]}}}}]}}'
    turn = toolglot.normalize(chunk, provider="gemini", tools=tools)
    normalizer = toolglot.StreamNormalizer(provider="gemini", tools=tools)
    events = normalizer.feed(f"data: {chunk}\n\n") + normalizer.close()
    for call in (turn.tool_calls[0], next(event.call for event in events if event.kind == "call_ended")):
        assert call is not None
        assert (call.status, call.arguments_json) == ("repaired", becomes)
        assert [(repair.code, repair.pointer) for repair in call.repairs] == [("coerced", place) for place in places]
    assert all(type(value) is int for value in [turn.tool_calls[0].arguments.get("n", 0)])


@pytest.mark.parametrize("written", ['{"x":4.0,"any":[1.0]}', '{"n":4,"text":"1.0"}', '{"n":1e999}'])
def test_what_may_be_a_float_comes_as_it_was_written(written: str) -> None:
    tools = toolglot.ToolSet([{"name": "f", "inputSchema": WHOLE}])
    response = f'{{"candidates":[{{"content":{{"parts":[{{"functionCall":{{"name":"f","args":{written}}}}}]}}}}]}}'
    (call,) = toolglot.normalize(response, provider="gemini", tools=tools).tool_calls
    assert (call.status, call.arguments_json) == ("ok", written)


def test_a_fraction_is_no_integer_of_geminis() -> None:
    tools = toolglot.ToolSet([{"name": "f", "inputSchema": WHOLE}])
    parts = [{"functionCall": {"name": "f", "args": {"n": 4.5, "list": [1.0]}}}]
    (call,) = toolglot.normalize({"candidates": [{"content": {"parts": parts}}]}, tools=tools).tool_calls
    assert (call.status, call.arguments) == ("invalid", {"n": 4.5, "list": [1.0]})


def test_a_model_that_writes_a_point_itself_is_taken_at_its_word() -> None:
    tools = toolglot.ToolSet([{"name": "f", "inputSchema": WHOLE}])
    function = {"name": "f", "arguments": '{"n": 4.0}'}
    message = {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": function}]}
    (call,) = toolglot.normalize({"choices": [{"message": message}]}, tools=tools).tool_calls
    assert (call.status, call.arguments_json) == ("ok", '{"n": 4.0}')
