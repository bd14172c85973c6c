"""Payloads that are not what they should be: a Turn with issues, or an error that names provider, place and reason."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import toolglot
from support import ROOT
from test_providers import TOOLS, add_up

CASES = [
    case
    for path in sorted((ROOT / "tests/data/providers").glob("*.jsonl"))
    for case in map(json.loads, path.read_text(encoding="utf-8").splitlines())
]
PROVIDERS = ["openai", "openai_responses", "anthropic", "gemini", "mistral", "cohere", "ollama", "bedrock"]
WRONG = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


def paths(value: Any, here: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a payload."""
    found = [here]
    members = enumerate(value) if isinstance(value, list) else value.items() if isinstance(value, dict) else ()
    for key, inner in members:
        found += paths(inner, (*here, key))
    return found


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """The payload with another value at `path`."""
    if not path:
        return new
    value = copy.deepcopy(value)
    place = value
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = new
    return value


def read(payload: Any, case: dict[str, Any], as_bytes: bool) -> toolglot.Turn | None:
    """The turn, or None after an error that says what it should; nothing else may be raised."""
    provider = case["provider"] or "auto"
    try:
        if case["kind"] != "stream":
            return toolglot.normalize(json.dumps(payload) if as_bytes else payload, tools=TOOLS, provider=provider)
        stream = toolglot.StreamNormalizer(provider, tools=TOOLS)
        events = []
        for chunk in payload if isinstance(payload, list) else [payload]:
            events += stream.feed(f"data: {json.dumps(chunk)}\n\n" if as_bytes or isinstance(chunk, str) else chunk)
        events += stream.close()
        turn = stream.finish()
    except toolglot.ProviderError as error:
        said = str(error)
    except TypeError as error:
        # A number or the like in place of a chunk's object.
        said = f"{provider}: {error}"
        if "JSON" not in said:
            raise
    else:
        add_up(events, turn)
        return turn
    assert said.removeprefix(f"{case['provider']}:").strip()
    assert provider == "auto" or case["provider"] not in PROVIDERS or provider in said
    return None


@given(st.data())
def test_any_value_anywhere(data: st.DataObject) -> None:
    case = data.draw(st.sampled_from(CASES))
    for _ in range(data.draw(st.integers(1, 3))):
        payload = replaced(case["input"], data.draw(st.sampled_from(paths(case["input"]))), data.draw(WRONG))
        read(payload, case, data.draw(st.booleans()))


@pytest.mark.parametrize("case", CASES, ids=[f"{case['name']}-{number}" for number, case in enumerate(CASES)])
def test_every_member_may_be_missing_or_of_another_type(case: dict[str, Any]) -> None:
    places = paths(case["input"])
    # Long streams repeat themselves: of their places every so many.
    for number, path in enumerate(places[:: len(places) // 150 + 1]):
        read(replaced(case["input"], path, [None, 7, "x", [], {}, [[1]], {"a": {}}][number % 7]), case, False)


def test_truncated_responses_name_provider_and_place() -> None:
    for case in CASES:
        if case["kind"] != "response" or case["provider"] is None:
            continue
        body = json.dumps(case["input"]).encode()
        for cut in range(1, len(body), 13):
            with pytest.raises(toolglot.ProviderError) as caught:
                toolglot.normalize(body[:cut], provider=case["provider"])
            assert "byte" in str(caught.value)


@pytest.mark.parametrize("provider", PROVIDERS)
def test_what_is_no_payload(provider: str) -> None:
    page = b"<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head></html>"
    for body, reason in [(b"", "empty"), (b" \n", "empty"), (page, "HTML"), (b"upstream timeout", "no JSON")]:
        for given_body in (body, body.decode()):
            with pytest.raises(toolglot.ProviderError, match=reason) as caught:
                toolglot.normalize(given_body, provider=provider)
            assert provider in str(caught.value)
        stream = toolglot.StreamNormalizer(provider)
        stream.feed(body)
        with pytest.raises(toolglot.ProviderError) as caught:
            stream.finish()
        assert provider in str(caught.value)


@pytest.mark.parametrize("provider", ["openai_responses", "anthropic", "cohere", "bedrock"])
def test_unknown_events_are_reported(provider: str) -> None:
    (case,) = [c for c in CASES if c["kind"] == "stream" and c["name"] == f"{provider}/stream_text_and_two_calls"]
    new = {"brandNewEvent": {"x": 1}} if provider == "bedrock" else {"type": "response.brand.new", "x": 1}
    chunks = [*case["input"][:2], new, *case["input"][2:]]
    with_it, without = read(chunks, case, False), read(case["input"], case, False)
    assert with_it is not None
    assert without is not None
    assert "unknown_event" in [issue.code for issue in with_it.issues]
    assert (with_it.content, with_it.tool_calls) == (without.content, without.tool_calls)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: toolglot.extract("", tools=5), "tools is a list of tools, not an int"),
        (lambda: toolglot.extract("", tools={"server": 5}), r'tools\["server"\] is a list'),
        (lambda: toolglot.Turn("", "abc"), "a list of ToolCall is needed, not a str"),
        (lambda: toolglot.Turn("", [{"name": "f"}]), "a list of ToolCall is needed, not one of dict"),
        (lambda: toolglot.extract("", policy={"max_calls": "5"}), "a whole number is needed, not a str"),
    ],
)
def test_messages_say_what_was_expected(make: Callable[[], object], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        make()


def test_what_has_not_run_is_no_result() -> None:
    async def look() -> int:
        return 1

    def rows() -> Any:
        yield 1

    async def pages() -> Any:
        yield 1

    pending = look()
    for result in (pending, rows(), pages()):
        with pytest.raises(TypeError, match="no result yet"):
            toolglot.format_tool_result("call_1", result)
        with pytest.raises(TypeError, match="no result yet"):
            toolglot.format_tool_results([("call_1", result)], provider="anthropic")
    pending.close()


def test_arguments_that_would_be_passed_over_are_refused() -> None:
    messages = [{"role": "user", "content": "Hi"}]
    for convert in (
        lambda **more: toolglot.convert_messages(messages, to="gemini", **more),
        lambda **more: toolglot.repair_history(messages, "anthropic", **more),
    ):
        with pytest.raises(TypeError, match="side is a dict"):
            convert(side=[1])
        with pytest.raises(TypeError, match="system is a text"):
            convert(system=3)
    with pytest.raises(toolglot.BadMessageError):
        toolglot.format_tool_result("", "x")


def nested(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels - 1):
        value = {"a": value}
    return value


def answer(provider: str, arguments: Any) -> dict[str, Any]:
    """An answer with a text and two calls of ``f``, the second without arguments."""
    both = (arguments, {})
    if provider == "gemini":
        parts = [{"text": "Hi"}, *({"functionCall": {"name": "f", "args": value}} for value in both)]
        return {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]}
    if provider == "anthropic":
        calls = [{"type": "tool_use", "id": f"call_{i}", "name": "f", "input": value} for i, value in enumerate(both)]
        content = [{"type": "text", "text": "Hi"}, *calls]
        return {"type": "message", "role": "assistant", "content": content, "stop_reason": "tool_use"}
    if provider == "bedrock":
        uses = [{"toolUseId": f"call_{i}", "name": "f", "input": value} for i, value in enumerate(both)]
        content = [{"text": "Hi"}, *({"toolUse": use} for use in uses)]
        return {"output": {"message": {"role": "assistant", "content": content}}, "stopReason": "tool_use"}
    message = {"role": "assistant", "content": "Hi", "tool_calls": []}
    message["tool_calls"] = [{"id": f"c{i}", "function": {"name": "f", "arguments": v}} for i, v in enumerate(both)]
    if provider == "ollama":
        return {"model": "m", "message": message, "done": True}
    return {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "bedrock", "ollama"])
@pytest.mark.parametrize("levels", [100, 120, 128, 129, 200, 900])
def test_a_call_that_is_nested_too_deep_is_malformed_alone(provider: str, levels: int) -> None:
    response = answer(provider, nested(levels))
    text = json.dumps(response)
    turns = [toolglot.normalize(response, provider=provider), toolglot.normalize(text, provider=provider)]
    for chunks in ([f"data: {text}\n\n"], [response]) if provider in ("gemini", "ollama", "openai") else ():
        stream = toolglot.StreamNormalizer(provider)
        events = [event for chunk in chunks for event in stream.feed(chunk)]
        events += stream.close()
        turns.append(stream.finish())
        add_up(events, turns[-1])
    for turn in turns:
        assert turn.content == "Hi"
        deep, other = turn.tool_calls
        assert (other.status, other.arguments) == ("ok", {})
        if levels <= 128:
            assert (deep.status, deep.arguments) == ("ok", nested(levels))
        else:
            assert (deep.status, deep.arguments) == ("malformed", {})
            assert deep.raw.replace(" ", "").startswith('{"a":{"a":{')


def test_a_deep_call_beside_half_a_character() -> None:
    text = json.dumps(answer("ollama", nested(500))).replace('"Hi"', '"Hi\\ud83d"')
    turn = toolglot.normalize(text)
    assert (turn.content, [call.status for call in turn.tool_calls]) == ("Hi\ufffd", ["malformed", "ok"])


def test_arguments_that_are_too_deep_are_malformed_when_they_are_checked() -> None:
    tools = toolglot.ToolSet([{"name": "f", "parameters": {"type": "object"}}])
    for levels, status in [(128, "ok"), (129, "malformed"), (200, "malformed")]:
        for arguments in (nested(levels), json.dumps(nested(levels))):
            assert tools.check("f", arguments).status == status
    # No member of theirs is a payload's.
    assert tools.check("f", {"prompt": 1, "context": {"tools": 2}}).arguments == {"prompt": 1, "context": {"tools": 2}}


def test_a_value_that_holds_itself_is_refused() -> None:
    chain: dict[str, Any] = {}
    chain["a"] = chain
    both: list[Any] = []
    both += [both, both]
    tools = toolglot.ToolSet([{"name": "f"}])
    for value in (chain, {"a": both}):
        for make in (lambda v: toolglot.ToolCall("f", v), lambda v: tools.check("f", v)):
            with pytest.raises(toolglot.BadJsonError, match="holds itself"):
                make(value)
    with pytest.raises(toolglot.BadJsonError, match="holds itself"):
        toolglot.normalize(answer("ollama", {"a": both}))


@pytest.mark.parametrize(
    "response",
    [
        {"choices": [{"message": {}}]},
        {"choices": [{"message": None}]},
        {"choices": [{"message": float("nan")}]},
        {"choices": [{}]},
        {"choices": {}},
        {"message": {}},
        {"output": {"message": {}}},
        {"candidates": [{}]},
        {"candidates": [{"index": 0, "content": {}}]},
    ],
)
def test_an_answer_that_is_none_is_no_empty_one(response: Any) -> None:
    for given_response in (response, json.dumps(response)):
        with pytest.raises(toolglot.ProviderError, match="no answer"):
            toolglot.normalize(given_response)


@pytest.mark.parametrize(
    "response",
    [
        {"choices": [{"message": {"role": "assistant", "content": ""}, "finish_reason": "stop"}]},
        {"choices": [{"message": {}, "finish_reason": "stop"}]},
        {"choices": [{"text": ""}]},
        {"message": {"role": "assistant", "content": ""}, "done": True},
        {"message": {}, "finish_reason": "COMPLETE"},
        {"candidates": [{"content": {}, "finishReason": "STOP"}]},
        {"output": {"message": {"role": "assistant", "content": []}}, "stopReason": "end_turn"},
    ],
)
def test_an_answer_may_be_empty(response: Any) -> None:
    assert toolglot.normalize(response).content == ""


@pytest.mark.parametrize("provider", ["openai", "anthropic", "bedrock", "ollama"])
def test_a_list_of_responses_is_no_response(provider: str) -> None:
    responses = [answer(provider, {}), answer(provider, {"a": 1})]
    for given_responses in (responses, json.dumps(responses)):
        with pytest.raises(toolglot.ProviderError, match="a list of 2 responses"):
            toolglot.normalize(given_responses)
    # Alone in a list it is read.
    assert len(toolglot.normalize(responses[:1]).tool_calls) == 2


@pytest.mark.parametrize("start", ["data: ", "event: message_start\ndata: ", ": ping\n\ndata: ", "\n\ndata: "])
def test_a_stream_is_no_response(start: str) -> None:
    body = f'{start}{{"choices": [{{"delta": {{"content": "Hi"}}}}]}}\n\n'
    for given_body in (body, body.encode()):
        with pytest.raises(toolglot.ProviderError, match="StreamNormalizer"):
            toolglot.normalize(given_body)


def test_a_turn_is_no_response_of_a_provider() -> None:
    turn = toolglot.Turn("x", [toolglot.ToolCall("f", {"a": 1}, id="call_1")])
    assert toolglot.normalize(turn) is turn
    assert toolglot.normalize(turn, provider="anthropic", tools=[]) is turn
    assert toolglot.normalize_choices(turn) == [turn]
    for written in (turn.to_dict(), json.dumps(turn.to_dict())):
        for read_it in (toolglot.normalize, toolglot.normalize_choices):
            with pytest.raises(toolglot.ProviderError, match="pickle the Turn"):
                read_it(written)
    assert toolglot.normalize(turn.to_openai()).tool_calls[0].arguments == {"a": 1}


@pytest.mark.parametrize(
    ("fields", "place", "message"),
    [
        ({"calls": "<a>{json}</a>"}, "calls", "expected a list"),
        ({"calls": ["<a>{json}</a>"], "sections": ["<x>", "</x>"]}, "sections", "a pair, as in"),
        ({"calls": ["<a>{json}</a>"], "trim": "spaces"}, "trim", "unknown variant"),
        ({"calls": ["<a>{json}</a>"], "nonsense": 1}, "nonsense", "unknown field"),
    ],
)
def test_a_dialect_of_ones_own_says_which_field_is_wrong(fields: dict[str, Any], place: str, message: str) -> None:
    with pytest.raises(toolglot.BadDialectError, match=message) as caught:
        toolglot.Dialect(name="a", **fields)
    assert caught.value.place == place


@pytest.mark.parametrize(
    ("make", "place", "message"),
    [
        (lambda: toolglot.Span(0, 1, "zzz", "x"), "kind", "is none of"),
        (lambda: toolglot.Span(0, 1, "content", "x", reason="zzz"), "reason", "is none of"),
        (lambda: toolglot.Loss("f", "", "zzz"), "kind", "is none of"),
        (lambda: toolglot.Issue("zzz"), "code", "is none of"),
        (lambda: toolglot.ToolCall("f", "x"), "arguments", "no JSON"),
    ],
)
def test_errors_name_the_argument(make: Callable[[], object], place: str, message: str) -> None:
    with pytest.raises(toolglot.ToolglotError, match=message) as caught:
        make()
    assert caught.value.place == place


@pytest.mark.parametrize("use", [toolglot.normalize, lambda _, provider: toolglot.ToolSet([]).to(provider)])
def test_an_unknown_provider_is_told_alike(use: Callable[..., object]) -> None:
    with pytest.raises(
        toolglot.UnknownProviderError, match=r'^x: no provider is called "x"; there are openai, '
    ) as caught:
        use({}, provider="x")
    assert caught.value.place == "x"


@pytest.mark.parametrize("results", [None, 5])
def test_results_are_a_list(results: Any) -> None:
    with pytest.raises(TypeError, match="results is a list of results, not a"):
        toolglot.format_tool_results(results)
