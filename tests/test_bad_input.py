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
        (lambda: toolglot.extract("", tools=5), "tools is a list of tools, not a int"),
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
