"""The cases in tests/data/dialects, each read whole and in one stream; `tests/dialects.rs` cuts them everywhere.

A case is one JSON object a line:
    about, source, text, tools?, dialect? (default: the file's name), starts_in?, policy?, auto? (false: only when told),
    expect: {content, reasoning?, calls: [{name, arguments, status?}], issues?: [code]}
`source` is where the text comes from: a thread's URL, a peer's test, a model, or `made`.

known_issues.jsonl holds what is not right yet: cases with their `dialect`, the `reason`, and what `fails`, "complete"
or "stream". They must fail; one that passes is fixed and moves to its dialect's file. known_limits.jsonl holds plausible texts that
are read otherwise than meant, as docs/what-is-a-call.md says: what is read today is expected, `meant` says what would be right.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import toolglot
from support import EXAMPLE_TOOLS, ROOT, check_events, snapshot, stream

NAMES = [dialect.name for dialect in toolglot.dialects()]
KNOWN_ISSUES = "known_issues"
# What holds for all of them is in auto.jsonl.
FILES = sorted((ROOT / "tests" / "data" / "dialects").glob("*.jsonl"))


def load(path: Path, what: str) -> list[Any]:
    """The cases of a file; those in which `what` ("complete" or "stream") is known to fail are expected to."""
    cases = []
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        if line.strip():
            case = json.loads(line)
            case.setdefault("dialect", path.stem)
            known = path.stem == KNOWN_ISSUES and case["fails"] == what
            marks = [pytest.mark.xfail(strict=True, reason=case["reason"])] if known else []
            cases.append(pytest.param(case, id=f"{path.stem}-{case.get('about', number)}", marks=marks))
    return cases


def options(case: dict[str, Any], dialect: str) -> dict[str, Any]:
    tools = case.get("tools")
    return {
        "tools": None if tools is None else toolglot.ToolSet(tools),
        "dialect": dialect,
        "starts_in": case.get("starts_in", "content"),
        "policy": case.get("policy"),
    }


def modes(case: dict[str, Any]) -> list[str]:
    return [case["dialect"], "auto"] if case.get("auto", True) and case["dialect"] != "auto" else [case["dialect"]]


def check(case: dict[str, Any], turn: toolglot.Turn) -> None:
    expect = case["expect"]
    calls = [{"name": c.name, "arguments": c.arguments, "status": c.status} for c in turn.tool_calls]
    wanted = [{**call, "status": call.get("status", "ok")} for call in expect.get("calls", [])]
    assert calls == wanted
    # == of Python says that 1 == 1.0 == True.
    assert json.dumps(calls, default=str) == json.dumps(wanted)
    assert turn.content == expect.get("content", "")
    assert turn.reasoning == expect.get("reasoning")
    if "issues" in expect:
        assert [issue.code for issue in turn.issues] == expect["issues"]


def test_there_are_cases_for_every_dialect() -> None:
    assert set(NAMES) <= {path.stem for path in FILES}


def test_every_case_says_where_it_is_from() -> None:
    """`python tests/sources.py` gives `made` to those that do not."""
    cases = [(path.stem, json.loads(line)) for path in FILES for line in path.read_text("utf-8").splitlines()]
    assert [(file, case["about"]) for file, case in cases if not case.get("source")] == []


@pytest.mark.parametrize("case", [case for path in FILES for case in load(path, "complete")])
def test_complete(case: dict[str, Any]) -> None:
    for dialect in modes(case):
        check(case, toolglot.extract(case["text"], **options(case, dialect)))


# What servers, editors and templates do to white space where it parts lines, tags and members.
TRANSPORTS: dict[str, Callable[[str], str]] = {
    "lines that end in two bytes": lambda text: re.sub("\r?\n", "\r\n", text),
    "blank lines before the text": lambda text: "\n\n" + text,
    "blank lines between tags": lambda text: text.replace(">\n<", ">\n\n<"),
    "a blank before each colon": lambda text: text.replace('": ', '" : '),
}


@pytest.mark.parametrize("case", [case for path in FILES for case in load(path, "complete")])
def test_white_space_of_transports_changes_no_call(case: dict[str, Any]) -> None:
    """Neither is a call lost, nor one found in text that held none."""
    for dialect in modes(case):
        given = options(case, dialect)
        calls = [(call.name, call.status) for call in toolglot.extract(case["text"], **given).tool_calls]
        for what, sent in TRANSPORTS.items():
            turn = toolglot.extract(sent(case["text"]), **given)
            assert [(call.name, call.status) for call in turn.tool_calls] == calls, what


@pytest.mark.parametrize("case", [case for path in FILES for case in load(path, "stream")])
def test_streamed(case: dict[str, Any]) -> None:
    """A letter at a time: the same turn, and events that add up to it. Wherever else it is cut: `tests/dialects.rs`."""
    for dialect in modes(case):
        given = options(case, dialect)
        events = toolglot.stream(list(case["text"]), provider="text", **given)
        said = list(events)
        check_events(events.turn, said)
        assert snapshot(events.turn) == snapshot(toolglot.extract(case["text"], **given))


@pytest.mark.parametrize("dialect", toolglot.dialects(), ids=lambda dialect: dialect.name)
def test_examples_of_the_catalogue(dialect: toolglot.Dialect) -> None:
    """Every example is read, told and in auto, and every name of its parser is known."""
    turn = toolglot.extract(dialect.example, dialect=dialect, tools=EXAMPLE_TOOLS)
    assert turn.tool_calls
    assert all(call.runnable for call in turn.tool_calls)
    auto = toolglot.extract(dialect.example, tools=EXAMPLE_TOOLS)
    assert [(c.name, c.arguments) for c in auto.tool_calls] == [(c.name, c.arguments) for c in turn.tool_calls]
    for parser in dialect.parsers:
        toolglot.StreamParser(dialect=parser)


# The tokens of an answer: a value is one with the white space round it, which is its own where no quotes are; so are an
# id, a label, a recipient, and markers with words between special tokens.
TOKENS = re.compile(
    r"""\s*(?:Paris|UTC)\s*|"[^"]*"|'[^']*'|<\|(?:open|close)\|>.*?<\|sep\|>|<｜tool▁call▁begin｜>function<｜tool▁sep｜>"""
    r"""|\[unused\d+\]|<<function>>|<\|im_start\|>assistant -> tool/function_call"""
    r"""|\]<\]minimax\[>\[<[^<>]*>|<[^<>]*>|functions\.\w+(?::\d)?|Action(?: Input)?:|to=|>>>\w+|functools\[|```\w*"""
    r"""|\[/?[A-Z_]+\]|\w+|\s+|.""",
    re.DOTALL,
)
EXAMPLES = [
    pytest.param(row.name, text, id=f"{row.name}-{number}")
    for row in toolglot.dialects()
    for forms in [row.to_dict()["forms"]]
    for number, text in enumerate(
        [
            row.example,
            row.to_dict()["parallel"],
            *(form["example"] for form in forms),
            *(form["parallel"] for form in forms),
        ]
    )
    if text
]
# What servers leave before an answer and behind it.
BEFORE = (
    "assistant\n\n",
    "<|im_start|>assistant\n",
    "Sure.\n\n",
    "<think>\nI call it.\n</think>\n\n",
    "### Response:\n",
)
BEHIND = ("<|im_end|>", "</s>", "<|eot_id|>", "\n", "<|im_start|>user\n", "\nUser:", "\nObservation:", "\nassistant\n")


@pytest.mark.parametrize(("dialect", "text"), EXAMPLES)
def test_what_is_left_round_an_answer_changes_no_call(dialect: str, text: str) -> None:
    for reader in (dialect, "auto"):
        made = [(c.name, c.arguments) for c in toolglot.extract(text, tools=EXAMPLE_TOOLS, dialect=reader).tool_calls]
        for sent in (*(before + text for before in BEFORE), *(text + behind for behind in BEHIND)):
            turn = toolglot.extract(sent, tools=EXAMPLE_TOOLS, dialect=reader)
            assert [(call.name, call.arguments) for call in turn.tool_calls] == made, sent
            assert all(call.runnable for call in turn.tool_calls), sent


# White space, and what is as good as it at the beginning of a text.
SPACE = (" ", "\n", "\r\n")
BLANK = ("\ufeff", "\u200b", "\xa0", " \xa0", "\u3000", "\u2060", "\n\u200b", "\ufeff\n", "\t", "\x0c")


@pytest.mark.parametrize(("dialect", "text"), EXAMPLES)
def test_white_space_between_tokens_changes_no_call(dialect: str, text: str) -> None:
    tokens = TOKENS.findall(text)
    assert "".join(tokens) == text
    places = [
        (i, space)
        for i in range(1, len(tokens))
        if not {"Paris", "UTC"} & {tokens[i - 1].strip(), tokens[i].strip()}
        for space in SPACE
    ]
    for reader in (dialect, "auto"):
        plain = toolglot.extract(text, tools=EXAMPLE_TOOLS, dialect=reader)
        made = [(call.name, call.arguments) for call in plain.tool_calls]
        for i, space in places:
            spaced = "".join([*tokens[:i], space, *tokens[i:]])
            turn = toolglot.extract(spaced, tools=EXAMPLE_TOOLS, dialect=reader)
            assert [(call.name, call.arguments) for call in turn.tool_calls] == made, spaced
            assert all(call.runnable for call in turn.tool_calls), spaced
            assert "".join(turn.content.split()) == "".join(plain.content.split()), spaced
        for space in BLANK:
            for round in (space + text, text + space):
                turn, events = stream(list(round), tools=EXAMPLE_TOOLS, dialect=reader)
                check_events(turn, events)
                assert snapshot(turn) == snapshot(toolglot.extract(round, tools=EXAMPLE_TOOLS, dialect=reader)), round
                assert [(call.name, call.arguments) for call in turn.tool_calls] == made, round


@pytest.mark.parametrize(("dialect", "text"), EXAMPLES)
def test_tokens_lost_doubled_or_swapped_stream_as_they_are_read_whole(dialect: str, text: str) -> None:
    tokens = TOKENS.findall(text)
    broken = [[*tokens[:i], *tokens[i + 1 :]] for i in range(len(tokens))]
    broken += [[*tokens[: i + 1], *tokens[i:]] for i in range(len(tokens))]
    broken += [[*tokens[:i], tokens[i + 1], tokens[i], *tokens[i + 2 :]] for i in range(len(tokens) - 1)]
    broken += [[*tokens[:i], "\n\nSo much for that."] for i in range(len(tokens))]
    for reader in (dialect, "auto"):
        for parts in broken:
            mutant = "".join(parts)
            whole = toolglot.extract(mutant, tools=EXAMPLE_TOOLS, dialect=reader)
            for size in (1, 7):
                pieces = [mutant[at : at + size] for at in range(0, len(mutant), size)]
                turn, events = stream(pieces, tools=EXAMPLE_TOOLS, dialect=reader)
                assert snapshot(turn) == snapshot(whole), mutant
                check_events(turn, events)


@pytest.mark.parametrize("path", sorted((ROOT / "examples" / "outputs").glob("*.txt")), ids=lambda path: path.stem)
def test_examples_of_the_readme(path: Path) -> None:
    turn = toolglot.extract(path.read_text("utf-8"), tools=EXAMPLE_TOOLS)
    assert turn.tool_calls
    # Sarashina writes Python's quotes; that they became JSON's is on record.
    status = "repaired" if path.stem == "sarashina" else "ok"
    assert all(call.status == status for call in turn.tool_calls)
    assert turn.content
