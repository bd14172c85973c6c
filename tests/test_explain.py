"""`explain`: the spans cover the text, agree with the turn, and say why something is no call.

A case in tests/data/explain.jsonl is one JSON object a line: about, text, tools? (default: those of test_promises.py),
dialect?, starts_in?, policy?, and `kept`: for each place that looked like a call and is none its reason, its text, and
words that the sentence about it holds.
"""

from __future__ import annotations

import copy
import json
import pickle
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import toolglot
from support import EXAMPLE_TOOLS, ROOT, snapshot
from test_promises import TOOLS, soup

CASES = [json.loads(line) for line in (ROOT / "tests" / "data" / "explain.jsonl").read_text("utf-8").splitlines()]
REASONS = {
    "not_readable", "cut_off", "no_name", "no_arguments", "definition", "too_deep", "channel", "no_tools",
    "name_not_offered", "place", "inline_code", "fence_of_code", "fence_policy", "bare_policy", "quoted", "runaway", "draft",
    "limit_reached", "other_dialect",
}  # fmt: skip


def options(case: dict[str, Any]) -> dict[str, Any]:
    return {
        "tools": case.get("tools", TOOLS),
        "dialect": case.get("dialect", "auto"),
        "starts_in": case.get("starts_in", "content"),
        "policy": case.get("policy"),
    }


def check(explanation: toolglot.Explanation) -> None:
    """The spans are the whole text once, and say what the turn says."""
    text, spans, turn = explanation.text, explanation.spans, explanation.turn
    assert [span.start for span in spans] == [0, *(span.end for span in spans)][: len(spans)]
    assert not text or spans[-1].end == len(text)
    by_kind: dict[str, str] = {"content": "", "reasoning": ""}
    for span in spans:
        by_kind[span.kind] = by_kind.get(span.kind, "") + span.text
        # The line break between two messages of reasoning stands nowhere in the text.
        between = span.kind == "reasoning" and span.start == span.end and span.text == "\n"
        if span.kind != "content" and not between:
            assert span.text == text[span.start : span.end]
            assert span.text
        assert (span.call is not None) == (span.kind in {"call", "name", "arguments"})
        assert span.reason is None or (span.kind in {"content", "reasoning"} and span.detail)
        if span.kind == "space":
            assert not span.text.strip()
    assert by_kind["content"] == turn.content
    assert by_kind["reasoning"] == (turn.reasoning or "")
    for kind in ("name", "call"):
        calls = [span.call for span in spans if span.kind == kind]
        assert calls == sorted(calls)
    assert all(span.call < len(turn.tool_calls) for span in spans if span.call is not None)
    assert explanation.kept == tuple(span for span in spans if span.reason is not None)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["about"])
def test_why_it_is_no_call(case: dict[str, Any]) -> None:
    explanation = toolglot.explain(case["text"], **options(case))
    check(explanation)
    assert [(span.reason, span.text) for span in explanation.kept] == [
        (kept["reason"], kept["text"]) for kept in case["kept"]
    ], str(explanation)
    for span, kept in zip(explanation.kept, case["kept"], strict=True):
        assert all(words in span.detail for words in kept["says"]), span.detail
    assert [call.name for call in explanation.turn.tool_calls] == case.get("calls", [])
    if "hint" in case:
        assert case["hint"] in explanation.hint
    report = str(explanation)
    for span in explanation.kept:
        assert f"no call at {span.start} ({span.reason}): {span.detail}" in report


def test_every_reason_has_a_case() -> None:
    assert {kept["reason"] for case in CASES for kept in case["kept"]} == REASONS


@given(
    text=soup,
    told=st.sampled_from(["auto", *(dialect.name for dialect in toolglot.dialects())]),
    starts_in=st.sampled_from(["content", "reasoning"]),
    tools=st.sampled_from([None, TOOLS]),
    policy=st.sampled_from([None, {"fences": "ignore"}, {"fences": "last", "unknown_tools": "text", "max_calls": 1}]),
)
def test_the_spans_are_the_text(text: str, told: str, starts_in: Any, tools: Any, policy: Any) -> None:
    given: dict[str, Any] = {"dialect": told, "starts_in": starts_in, "policy": policy}
    explanation = toolglot.explain(text, tools, **given)
    check(explanation)
    assert snapshot(explanation.turn) == snapshot(toolglot.extract(text, tools=tools, **given))
    str(explanation)
    json.dumps(explanation.to_dict(), default=str)


@pytest.mark.parametrize("path", sorted((ROOT / "tests" / "data" / "dialects").glob("*.jsonl")), ids=lambda p: p.stem)
def test_the_spans_of_every_case(path: Any) -> None:
    for line in path.read_text("utf-8").splitlines():
        case = json.loads(line)
        for dialect in {case.get("dialect", path.stem), "auto"} - {"known_issues"}:
            explanation = toolglot.explain(case["text"], **{**options(case), "dialect": dialect})
            check(explanation)


@pytest.mark.parametrize("dialect", toolglot.dialects(), ids=lambda dialect: dialect.name)
def test_names_and_arguments_are_found(dialect: toolglot.Dialect) -> None:
    """In the example of each dialect, every call has its name."""
    explanation = toolglot.explain(dialect.example, EXAMPLE_TOOLS)
    check(explanation)
    names = {span.call: span.text for span in explanation.spans if span.kind == "name"}
    calls = explanation.turn.tool_calls
    assert [names.get(i, "").split(":")[0].removeprefix("functions.") for i in range(len(calls))] == [
        call.name for call in calls
    ]
    # XML elements and FunctionGemma's braces are read into new text.
    if dialect.name not in {"functiongemma", "gemma4", "minimax_m3", "sarashina", "iquest_q1"}:
        assert {span.call for span in explanation.spans if span.kind == "arguments"} == set(range(len(calls)))


def test_places_are_in_characters() -> None:
    text = 'Zürich 東京 🧭 <tool_call>{"name": "search", "arguments": {"query": "é"}}</tool_call>'
    explanation = toolglot.explain(text, TOOLS)
    check(explanation)
    (arguments,) = (span for span in explanation.spans if span.kind == "arguments")
    assert arguments.text == '{"query": "é"}'
    assert explanation.turn.tool_calls[0].arguments == {"query": "é"}


def test_text_that_is_no_unicode() -> None:
    for text in (b"caf\xc3 `search(query=1)`", "\ud800 `search(query=1)`"):
        explanation = toolglot.explain(text, TOOLS)
        check(explanation)
        assert [span.reason for span in explanation.kept] == ["inline_code"]
        assert "invalid_utf8" in {issue.code for issue in explanation.turn.issues}
    with pytest.raises(TypeError, match="str or bytes"):
        toolglot.explain(3)  # type: ignore[arg-type]


def test_the_records() -> None:
    explanation = toolglot.explain("Use `search(query=1)`.\n<tool_call>", TOOLS)
    span = explanation.spans[1]
    assert repr(span).startswith("Span(start=5, end=20, kind='content', text='search(query=1)', ")
    assert toolglot.Span(**span.to_dict()) == span
    assert hash(copy.copy(span)) == hash(span)
    again = pickle.loads(pickle.dumps(explanation))
    assert again == explanation
    assert hash(again) == hash(explanation)
    assert str(again) == str(explanation)
    assert repr(explanation) == "<toolglot.Explanation no call; 4 spans, 1 kept as text>"
    assert json.loads(json.dumps(explanation.to_dict())) == explanation.to_dict()
    with pytest.raises(AttributeError):
        span.start = 1  # type: ignore[misc]
    with pytest.raises(toolglot.BadOptionError):
        toolglot.Span(0, 1, "no kind", "x")


@pytest.mark.parametrize(
    "unit",
    ["{", "[", '{"a":', "<tool_call>", "`", "`search(", "search(query=1) ", "```\n{", '{"name": "search", ', "get_wether(a=1)\n"],
)  # fmt: skip
def test_time_grows_with_the_text(unit: str) -> None:
    def cost(size: int) -> float:
        text = unit * (size // len(unit))
        begin = time.thread_time()
        toolglot.explain(text, TOOLS)
        return time.thread_time() - begin

    few, many = (min(cost(size) for _ in range(2)) for size in (30_000, 120_000))
    assert many < 9 * few + 0.1


@pytest.mark.parametrize("closed", ["}}</tool_call>", "}}", ""])
def test_a_call_that_is_too_deep(closed: str) -> None:
    """It was begun, so it is a call, but malformed; its name says why."""
    text = '<tool_call>{"name": "search", "arguments": {"query": ' + "[" * 6 + "]" * 6 + closed
    explanation = toolglot.explain(text, TOOLS, policy={"max_depth": 4})
    check(explanation)
    assert [call.status for call in explanation.turn.tool_calls] == ["malformed"]
    (name,) = (span for span in explanation.spans if span.kind == "name")
    assert "max_depth" in name.detail
