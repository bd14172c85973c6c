"""Why a call counts, where it stands, and the policy about calls for which nothing but their form speaks."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest

import toolglot

TOOLS = toolglot.ToolSet(
    [{"name": "search", "parameters": {"properties": {"query": {"type": "string"}}}}, {"name": "ping"}]
)
JSON = '{"name": "search", "arguments": {"query": "tea"}}'
MARKED = f"<tool_call>\n{JSON}\n</tool_call>"
PYTHON = 'search(query="tea")'
ENVELOPE = f'{{"tool_calls": [{JSON}]}}'


def streamed(text: str, size: int, **options: Any) -> tuple[list[toolglot.Event], toolglot.Turn]:
    parser = toolglot.StreamParser(tools=TOOLS, **options)
    events = [event for at in range(0, len(text), size) for event in parser.feed(text[at : at + size])]
    events += parser.close()
    return events, parser.finish()


EVIDENCE = [
    (MARKED, "marker"),
    (f"```\n{MARKED}\n```", "marker"),
    ("<search><query>tea</query></search>", "marker"),
    ('Action: search\nAction Input: {"query": "tea"}', "marker"),
    (ENVELOPE, "envelope"),
    (f"```json\n{ENVELOPE}\n```", "envelope"),
    (f"```json\n{JSON}\n```", "fence"),
    (f"```\n{PYTHON}\n```", "fence"),
    (f"```{JSON}```", "fence"),
    (JSON, "bare"),
    (f"[{JSON}]", "bare"),
    (PYTHON, "bare"),
    (f"[{PYTHON}]", "bare"),
    ('search{"query": "tea"}', "bare"),
    (f"<think>Hm.</think>{PYTHON}", "bare"),
]


@pytest.mark.parametrize(("text", "evidence"), EVIDENCE)
def test_evidence(text: str, evidence: str) -> None:
    turn = toolglot.extract(text, tools=TOOLS)
    assert [(call.name, call.status, call.evidence) for call in turn.tool_calls] == [("search", "ok", evidence)]
    events, again = streamed(text, 1)
    ended = [event.call for event in events if event.kind == "call_ended"]
    assert [call and call.evidence for call in ended] == [call.evidence for call in again.tool_calls] == [evidence]
    assert turn.to_dict()["tool_calls"][0]["evidence"] == evidence
    assert f"evidence {evidence}" in str(toolglot.explain(text, TOOLS))


@pytest.mark.parametrize("text", [text for text, _ in EVIDENCE])
@pytest.mark.parametrize("before", ["", "Grüße 👋. ", "\N{COMBINING ACUTE ACCENT}\n\n"])
def test_places_are_characters_of_the_text(text: str, before: str) -> None:
    text = f"{before}\n{text}\n\n{text}"
    turn = toolglot.extract(text, tools=TOOLS)
    places = [(call.start, call.end) for call in turn.tool_calls]
    assert [text[start:end] for start, end in places] == [call.raw for call in turn.tool_calls]
    for size in (1, 3, 7):
        events, again = streamed(text, size)
        ended = [(event.call.start, event.call.end) for event in events if event.kind == "call_ended" and event.call]
        assert ended == [(call.start, call.end) for call in again.tool_calls] == places
    encoded = toolglot.extract(text.encode(), tools=TOOLS)
    assert [(call.start, call.end) for call in encoded.tool_calls] == places
    explained = toolglot.explain(text, TOOLS).turn
    assert [(call.start, call.end) for call in explained.tool_calls] == places
    for call in turn.tool_calls:
        assert pickle.loads(pickle.dumps(call)) == call
        assert json.loads(json.dumps(call.to_dict()))["start"] == call.start


@pytest.mark.parametrize(
    ("text", "behind", "starts_in"),
    [
        ("<think>Hä?</think>Yes", "Yes", "content"),
        ("Hä?</think>\nYes", "\nYes", "reasoning"),
        ("Hä?</think>Yes", "Yes", "content"),
        ("<think></think>Yes", "Yes", "content"),
        ("<think>a</think>b\n<think>ö</think>c", "c", "content"),
        (f"<think>ö {MARKED}", MARKED, "content"),
        (f"<think>{MARKED}</think>No.", "No.", "content"),
        ("<|channel|>analysis<|message|>Hä?<|end|><|start|>assistant<|channel|>final<|message|>Yes", None, "content"),
        ("<think>Hm", "", "content"),
        ("Yes", "", "content"),
    ],
)
def test_reasoning_ends_somewhere(text: str, behind: str | None, starts_in: Any) -> None:
    if behind is None:
        behind = text.partition("<|end|>")[2]
    turn = toolglot.extract(text, tools=TOOLS, starts_in=starts_in)
    end = len(text) - len(behind) if behind else None
    assert turn.reasoning_end == end
    assert streamed(text, 1, starts_in=starts_in)[1].reasoning_end == end
    assert turn.to_dict()["reasoning_end"] == end
    assert pickle.loads(pickle.dumps(turn)).reasoning_end == end


def test_a_provider_answers_without_places() -> None:
    message: dict[str, Any] = {"role": "assistant", "content": MARKED}
    turn = toolglot.normalize({"choices": [{"message": message}]}, tools=TOOLS)
    assert [(call.evidence, call.start, call.end) for call in turn.tool_calls] == [("marker", None, None)]
    function = {"name": "search", "arguments": '{"query": "tea"}'}
    message = {"role": "assistant", "tool_calls": [{"id": "a", "type": "function", "function": function}]}
    turn = toolglot.normalize({"choices": [{"message": message}]}, tools=TOOLS)
    assert [(call.evidence, call.start, call.end) for call in turn.tool_calls] == [(None, None, None)]


BARE = [
    (PYTHON, ["search"], []),
    (f"\n{JSON}\n", ["search"], []),
    (f"{PYTHON}\n{PYTHON}", ["search", "search"], []),
    (f"{JSON}\n{JSON}", ["search", "search"], []),
    (f"[{PYTHON}]<|im_end|>", ["search"], []),
    (f"<think>Hm.</think>\n{PYTHON}", ["search"], []),
    (f"I look.\n{PYTHON}", [], []),
    (f"{PYTHON}\nThat is it.", [], []),
    (f"{JSON} That is it.", [], []),
    (f"{PYTHON}\nSo.\n{PYTHON}", [], []),
    (MARKED, ["search"], ["search"]),
    (f"So.\n{MARKED}\nSo.", ["search"], ["search"]),
    (ENVELOPE, ["search"], ["search"]),
    (f"So.\n```\n{PYTHON}\n```\nSo.", ["search"], ["search"]),
]


@pytest.mark.parametrize(("text", "alone", "off"), BARE)
def test_the_policy_closes_the_door_to_bare_calls(text: str, alone: list[str], off: list[str]) -> None:
    for policy, names in (("alone", alone), ("off", off)):
        given = toolglot.Policy(bare=policy)  # type: ignore[arg-type]
        turn = toolglot.extract(text, tools=TOOLS, policy=given)
        assert [call.name for call in turn.tool_calls] == names
        if not names:
            assert turn.content.strip() == text.removeprefix("<think>Hm.</think>").removesuffix("<|im_end|>").strip()
        for size in (1, 5):
            again = streamed(text, size, policy=given)[1]
            assert [call.name for call in again.tool_calls] == names
            assert (again.content, again.reasoning) == (turn.content, turn.reasoning)
    assert toolglot.Policy().bare == "line"
    assert toolglot.Policy(bare="off").to_dict()["bare"] == "off"
    assert toolglot.Policy(bare="off") != toolglot.Policy()
    with pytest.raises(toolglot.BadOptionError):
        toolglot.Policy(bare="maybe")  # type: ignore[arg-type]
