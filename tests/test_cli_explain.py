"""`toolglot explain` and `toolglot capture`, as a shell runs them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import toolglot
from support import ROOT
from test_dialects import check, options
from toolglot import _capture, _marked
from toolglot.cli import main

TOOLS = [{"name": "search", "parameters": {"type": "object", "properties": {"query": {"type": "string"}}}}]
CALL = '<tool_call>\n{"name": "search", "arguments": {"query": "é"}}\n</tool_call>'
TEXT = f"Try `search(query=1)`, \x1b[2Jor:\n{CALL}\n"
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    """--tools FILE, and a file with an output."""
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))
    (tmp_path / "answer.txt").write_text(TEXT, "utf-8")
    return ["--tools", str(tmp_path / "tools.json"), str(tmp_path / "answer.txt")]


def run(*arguments: str, stdin: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """The real command."""
    env = {key: value for key, value in os.environ.items() if key not in {"NO_COLOR", "TERM"}} | environment
    return subprocess.run(
        [sys.executable, "-m", "toolglot", *arguments], input=stdin, capture_output=True, encoding="utf-8", env=env
    )


def test_elsewhere_than_on_a_terminal_it_is_the_report(files: list[str]) -> None:
    done = run("explain", *files)
    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout == f"{toolglot.explain(TEXT, TOOLS)}\n"
    assert "\x1b" not in done.stdout


def test_in_colour(files: list[str]) -> None:
    done = run("explain", "--color", "always", *files)
    text, legend, notes = done.stdout.split("\n\n")
    plain = COLOUR.sub("", text)
    assert plain == TEXT.rstrip().replace("\x1b", "␛").replace("`,", "[1]`,").replace(")[1]`,", ")[1]`,")
    assert f"{_marked.KEPT}search(query=1){_marked.RESET}" in text
    assert f"{_marked.KINDS['name'][0]}search{_marked.RESET}" in text
    assert "looked like a call" in legend
    assert "markup that was taken out" not in legend
    assert "1 call: search [ok], read as hermes" in notes
    assert "[1] no call at 5 (inline_code): " in notes


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a terminal")
@pytest.mark.parametrize(
    ("arguments", "environment", "coloured"),
    [
        ([], {}, True),
        ([], {"NO_COLOR": "1"}, False),
        ([], {"NO_COLOR": ""}, True),
        ([], {"TERM": "dumb"}, False),
        (["--color", "never"], {}, False),
        (["--color", "always"], {"NO_COLOR": "1"}, True),
    ],
)
def test_on_a_terminal(files: list[str], arguments: list[str], environment: dict[str, str], coloured: bool) -> None:
    ours, theirs = os.openpty()
    env = {**os.environ, "TERM": "xterm"} | environment
    if "NO_COLOR" not in environment:
        env.pop("NO_COLOR", None)
    command = [sys.executable, "-m", "toolglot", "explain", *arguments, *files]
    with subprocess.Popen(command, stdout=theirs, env=env) as process:
        os.close(theirs)
        out = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            out += piece
    os.close(ours)
    assert process.returncode == 0
    assert (b"\x1b[" in out) == coloured
    assert b"search" in out


def test_for_programs(files: list[str]) -> None:
    said = json.loads(run("explain", "--json", *files).stdout)
    assert [span["reason"] for span in said["spans"] if span["reason"]] == ["inline_code"]
    assert said["turn"]["tool_calls"][0]["name"] == "search"
    several = run("explain", "--json", *files, files[-1]).stdout.splitlines()
    assert [json.loads(line)["file"] for line in several] == [files[-1]] * 2
    assert f"== {files[-1]}\n" in run("explain", *files, files[-1]).stdout


def test_without_a_call() -> None:
    done = run("explain", stdin="Nothing.")
    assert done.returncode == 1
    assert "only where tools are given" in done.stdout


def test_a_policy(files: list[str]) -> None:
    fenced = f"```\n{CALL}\n```"
    done = run("explain", *files[:2], "--policy", "fences=ignore", "--policy", "max_calls=3", stdin=fenced)
    assert done.returncode == 1
    assert "(fence_policy)" in done.stdout
    assert run("extract", *files[:2], "--policy", "fences=ignore", stdin=fenced).returncode == 1
    assert run("extract", *files[:2], stdin=fenced).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["explain", "no such file"], ["no such file", "No such file"]),
        (["explain", "--policy", "fences"], ["OPTION=VALUE"]),
        (["explain", "--policy", "fence=ignore"], ["fence", "fences, bare"]),
        (["explain", "--policy", "fences=never"], ["fences", "ignore"]),
        (["explain", "--dialect", "klingon"], ["klingon"]),
        (["explain", "--color", "pink"], ["--color", "always"]),
        (["capture", "--tools", "no such file"], ["no such file"]),
        (["capture"], ["-: it is empty"]),
        (["capture", "-o", "/no/such/place"], ["/no/such/place"]),
    ],
)
def test_what_is_wrong_is_said(arguments: list[str], words: list[str]) -> None:
    done = run(*arguments, stdin="" if arguments == ["capture"] else "Hi")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    for word in words:
        assert word in done.stderr


def test_help_names_every_reason() -> None:
    """Every reason that --help tells of is one."""
    done = run("explain", "--help")
    assert done.returncode == 0
    told = set(re.findall(r"^  ([a-z_]+)  ", done.stdout, re.MULTILINE))
    reasons = set(re.findall(r'"reason": "(\w+)"', (ROOT / "tests" / "data" / "explain.jsonl").read_text("utf-8")))
    assert told
    assert told <= reasons


def test_a_captured_case_is_a_test(files: list[str], tmp_path: Path) -> None:
    """The line is what tests/test_dialects.py takes, and holds as long as the reading stays as it is."""
    printed = run("capture", *files)
    assert printed.returncode == 0
    assert "read as search [ok]" in printed.stderr
    case = json.loads(printed.stdout)
    assert list(case) == ["about", "source", "dialect", "text", "tools", "expect"]
    assert (case["about"], case["source"]) == ("answer", "captured")
    assert case["text"] == TEXT
    check(case, toolglot.extract(case["text"], **options(case, case["dialect"])))
    case["expect"]["calls"][0]["arguments"] = {"query": "e"}
    with pytest.raises(AssertionError):
        check(case, toolglot.extract(case["text"], **options(case, case["dialect"])))


def test_captured_into_a_file(files: list[str], tmp_path: Path) -> None:
    cases = tmp_path / "cases.jsonl"
    cases.write_text('{"about": "the first"}', "utf-8")
    again = ["capture", *files, "-o", str(cases)]
    assert run(*again, "--name", "the second", "--dialect", "hermes").returncode == 0
    assert run(*again, "--starts-in", "reasoning", "--policy", "reasoning=run").returncode == 0
    first, second, third = map(json.loads, cases.read_text("utf-8").splitlines())
    assert first == {"about": "the first"}
    assert (second["about"], second["dialect"], second.get("auto")) == ("the second", "hermes", None)
    assert third["starts_in"] == "reasoning"
    assert third["policy"] == {"reasoning": "run"}
    assert third["expect"]["reasoning"]
    taken = run(*again)
    assert taken.returncode == 2
    assert f"{cases}:3: there is a case 'answer' already" in taken.stderr
    assert len(cases.read_text("utf-8").splitlines()) == 3
    cases.write_text("prose", "utf-8")
    assert "no file of cases" in run(*again).stderr


def test_a_dialect_that_only_the_named_reading_finds(files: list[str]) -> None:
    case = json.loads(
        run(
            "capture", *files[:2], "--dialect", "mistral", stdin=CALL + ' or {"name": "search", "arguments": {}}'
        ).stdout
    )
    assert case["auto"] is False


def test_a_difference_in_pieces_is_told(
    files: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Forgetful:
        """A parser that loses what it is fed in single characters."""

        def __init__(self, **options: Any) -> None:
            self.parser = toolglot.StreamParser(**options)

        def feed(self, piece: str) -> None:
            if len(piece) > 1:
                self.parser.feed(piece)

        def finish(self) -> toolglot.Turn:
            return self.parser.finish()

    monkeypatch.setattr(_capture, "StreamParser", Forgetful)
    assert main(["capture", *files]) == 3
    said = capsys.readouterr()
    assert json.loads(said.out)["about"] == "answer"
    assert "a bug in toolglot: single characters" in said.err


def test_cuts_are_the_text() -> None:
    for text in ("", "a", TEXT, TEXT * 50):
        assert all("".join(pieces) == text for pieces in _capture.cuts(text))
