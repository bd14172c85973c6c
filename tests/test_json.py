"""`repair_json` and `parse_partial_json`: the table of repairs through Python, and what only Python shows."""

import contextlib
import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import toolglot

ROWS = [json.loads(line) for line in (Path(__file__).parent / "data/json/repair.jsonl").read_text("utf-8").splitlines()]

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(), inner, max_size=5),
    max_leaves=20,
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["family"])
def test_the_table_holds(row: dict) -> None:
    report = toolglot.repair_json(row["text"], report=True)
    assert json.dumps(report.value) == json.dumps(row["json"])
    assert report.ending == row["ending"]
    assert {repair.code for repair in report.repairs} == set(row["codes"])
    assert json.loads(report.json) == report.value == toolglot.repair_json(row["text"])


@given(VALUES)
def test_valid_json_is_read_as_it_is(value: object) -> None:
    text = json.dumps(value)
    report = toolglot.repair_json(text, report=True)
    assert (report.json, report.repairs, report.ending) == (text, (), "closed")
    assert json.dumps(report.value) == text
    assert json.dumps(toolglot.repair_json(json.dumps(value, indent=1, ensure_ascii=False))) == text
    assert toolglot.parse_partial_json(text) == value or isinstance(value, (int, float))


@given(st.text())
def test_any_text_gives_a_value_or_the_one_error(text: str) -> None:
    for read in (toolglot.repair_json, toolglot.parse_partial_json):
        with contextlib.suppress(toolglot.BadJsonError):
            json.dumps(read(text))


def test_big_integers_are_exact() -> None:
    assert toolglot.repair_json("{'n': 123456789012345678901234567890}") == {"n": 123456789012345678901234567890}


def test_the_report() -> None:
    report = toolglot.repair_json("{'a': 1} tail", report=True)
    assert report.consumed == 8
    assert [(repair.code, repair.offset) for repair in report.repairs] == [("quotes", 1), ("surroundings", 9)]
    assert report.to_dict()["json"] == '{"a": 1}'
    assert repr(report) == 'RepairedJson({"a": 1}, 2 repairs, closed)'


def test_options() -> None:
    assert toolglot.repair_json('{"a": 1}{"a": 2}', join=False) == {"a": 1}
    with pytest.raises(toolglot.BadJsonError):
        toolglot.repair_json("so: {'a': 1}", search=False)
    with pytest.raises(toolglot.BadJsonError):
        toolglot.repair_json("[[[1,]]]", max_depth=2)
    with pytest.raises(toolglot.BadOptionError):
        toolglot.repair_json("[]", max_depth=1000)
    assert toolglot.parse_partial_json('{"a": "x", "b": "y', keep_strings=False) == {"a": "x"}


def test_partial() -> None:
    assert toolglot.parse_partial_json("") is None
    assert toolglot.parse_partial_json('{"a": [1, 2') == {"a": [1]}
    assert toolglot.parse_partial_json('{"a": "x\\u00') == {"a": "x"}


def test_lone_surrogates_are_answered() -> None:
    assert toolglot.repair_json("{'a': '\ud800'}") == {"a": "\ufffd"}
    assert toolglot.repair_json('{"a": "\\ud800"}') == {"a": "\ufffd"}


@pytest.mark.parametrize("text", ['{"a": "\ud800"}', b'{"a": "\xff"}'])
def test_what_is_no_utf8_is_told(text: str | bytes) -> None:
    report = toolglot.repair_json(text, report=True)
    assert [(repair.code, repair.offset) for repair in report.repairs] == [("escape", 7)]


@pytest.mark.parametrize("limit", [2, 4, 100, 128])
@pytest.mark.parametrize(("opens", "closes"), [("[", "]"), ('{"a":', "}"), ('[{"a":', "}]")])
def test_the_depth_is_exact(opens: str, closes: str, limit: int) -> None:
    """Valid JSON takes a way of its own to Python's objects; the limit is the same."""
    times = limit // len(closes)
    text = opens * times + "1" + closes * times
    assert toolglot.repair_json(text, max_depth=limit) == json.loads(text)
    for deeper in (f"[{text}]", f"[{text},]", f'{{"a": {text}}}'):
        with pytest.raises(toolglot.BadJsonError, match="deeper"):
            toolglot.repair_json(deeper, max_depth=limit)


def test_keys_are_told_apart() -> None:
    """Keys are remembered from object to object, in whatever order they come, and however many there are."""
    choice = random.Random(7)
    keys = [f"k{i}" for i in range(60)] + ["", "é", "k\n"]
    rows = [dict.fromkeys(choice.sample(keys, choice.randrange(len(keys))), i) for i in range(200)]
    assert toolglot.repair_json(json.dumps(rows)) == rows
    assert toolglot.repair_json('{"a": 1, "a": 2}') == {"a": 2}


def test_brackets_in_long_code_without_quotes_are_paired() -> None:
    code = "g({" + "k: 1; " * 120 + "}, 2)"
    assert toolglot.repair_json(f'{{"code": {code}, "x": 1}}') == {"code": code, "x": 1}
