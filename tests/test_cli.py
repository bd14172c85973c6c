"""The command: what it prints, what it refuses, how it exits."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

import toolglot
from toolglot.cli import main

CALL = 'Sure.\n<tool_call>\n{"name": "search", "arguments": {"query": "é"}}\n</tool_call>'
TOOLS = [{"name": "search", "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}}}]


@pytest.fixture
def answer(tmp_path: Path) -> Path:
    path = tmp_path / "answer.txt"
    path.write_text(CALL, "utf-8")
    return path


def test_for_people(answer: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["extract", str(answer)]) == 0
    out = capsys.readouterr().out
    assert "call search  [ok]" in out
    assert '{"query": "é"}' in out
    assert "content\n  Sure." in out


def test_for_programs(answer: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["extract", "--json", str(answer)]) == 0
    turn = json.loads(capsys.readouterr().out)
    assert turn["tool_calls"][0]["arguments"] == {"query": "é"}
    assert main(["extract", "--openai", "--dialect", "hermes", str(answer)]) == 0
    message = json.loads(capsys.readouterr().out)
    assert message["role"] == "assistant"
    assert message["tool_calls"][0]["function"]["name"] == "search"


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["extract"], ["extract", "-"]):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(CALL.encode())))
        assert main(arguments) == 0
        assert "call search" in capsys.readouterr().out


def test_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps({"out": CALL}) + "\n\n" + json.dumps({"out": "no call"}) + "\n", "utf-8")
    assert main(["extract", "--jsonl", "--field", "out", "--json", str(log)]) == 0
    turns = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [len(turn["tool_calls"]) for turn in turns] == [1, 0]
    assert [turn["file"] for turn in turns] == [f"{log}:1", f"{log}:3"]


def test_tools(answer: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tools = tmp_path / "tools.json"
    for content in (TOOLS, {"tools": TOOLS}, TOOLS[0]):
        tools.write_text(json.dumps(content))
        assert main(["extract", "--tools", str(tools), str(answer)]) == 0
        assert "[ok]" in capsys.readouterr().out
    tools.write_text(json.dumps([{"name": "other"}]))
    assert main(["extract", "--tools", str(tools), str(answer)]) == 0
    assert "[unknown_tool]" in capsys.readouterr().out


def test_no_call(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "prose.txt"
    path.write_text("Nothing to do.")
    assert main(["extract", str(path)]) == 1
    assert "no call" in capsys.readouterr().out


def test_bytes_that_are_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "broken.txt"
    path.write_bytes(b"\xff\xfe" + CALL.encode())
    assert main(["extract", str(path)]) == 0
    assert "issue invalid_utf8" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["extract", "/no/such/file"], "/no/such/file: No such file"),
        (["extract", "--dialect", "nothing", "{answer}"], "dialect"),
        (["extract", "--tools", "{answer}", "{answer}"], "no JSON"),
        (["extract", "--tools", "{number}", "{answer}"], "a list of tools"),
        (["extract", "--tools", "{nameless}", "{answer}"], "name"),
        (["extract", "--jsonl", "{answer}"], "answer.txt:1: no JSON"),
        (["extract", "--jsonl", "{number}"], "no field 'text'; it is no object"),
        (["extract", "--jsonl", "--field", "x", "{object}"], "no field 'x'; it has 'text'"),
        (["extract", "--jsonl", "{object}"], "'text' is no string"),
        (["extract", "--json", "--openai"], "not allowed with"),
        (["dialects", "nothing"], 'unknown dialect "nothing"'),
        (["dialects", "hermess"], 'did you mean "hermes"?'),
        (["extract", "--policy", "max_calls=-1", "{answer}"], "max_calls: the number is negative"),
        (["extract", "--policy", f"max_markup_bytes={2**64 - 1}", "{answer}"], "max_markup_bytes"),
        (["explain", "--policy", "max_depth=129", "{answer}"], "max_depth: 129 is more than 128"),
        (["extract", "--policy", "max_calls=many", "{answer}"], "max_calls takes a number"),
        (["extract", "--policy", "fences=some", "{answer}"], "fences"),
        ([], "required"),
        (["no-such-command"], "invalid choice"),
    ],
)
def test_errors(
    arguments: list[str], message: str, answer: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {"answer": answer}
    for name, content in (("number", "1"), ("object", '{"text": 1}'), ("nameless", "[{}]")):
        files[name] = tmp_path / name
        files[name].write_text(content)
    assert main([argument.format(**files) for argument in arguments]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert "Traceback" not in said.err
    assert said.out == ""


def test_auto_means_the_list_of_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dialects"]) == 0
    listed = capsys.readouterr().out
    assert main(["dialects", "auto"]) == 0
    assert capsys.readouterr().out == listed


def test_dialects(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dialects"]) == 0
    out = capsys.readouterr().out
    rows = toolglot.dialects()
    assert all(row.name in out for row in rows)
    assert main(["dialects", rows[0].name]) == 0
    out = capsys.readouterr().out
    assert all(line in out for line in rows[0].example.split("\n"))
    for name in ("Qwen/Qwen3-Coder-30B-A3B-Instruct", "qwen3_xml"):
        assert main(["dialects", name]) == 0
        assert capsys.readouterr().out.startswith("qwen3_coder ")
    assert main(["dialects", "--json"]) == 0
    assert [toolglot.Dialect(**row) for row in json.loads(capsys.readouterr().out)] == rows


@pytest.mark.parametrize("command", [["--help"], ["extract", "--help"], ["dialects", "--help"], ["--version"]])
def test_help(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(command) == 0
    assert "toolglot" in capsys.readouterr().out


def test_as_a_process(answer: Path) -> None:
    """As users run it: the module, an ASCII terminal, a reader that goes away."""
    run = [sys.executable, "-m", "toolglot", "extract", str(answer)]
    done = subprocess.run(run, capture_output=True, env={"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}, check=True)
    assert '{"query": "é"}'.encode() in done.stdout
    many = [*run, *[str(answer)] * 5000]
    with subprocess.Popen(many, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


def test_a_bad_line_does_not_end_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log.jsonl"
    lines = ["{", '{"text": null}', '{"text": 1}', "[]", json.dumps({"text": CALL})]
    log.write_text("\n".join(lines), "utf-8")
    assert main(["extract", "--jsonl", "--json", str(log)]) == 2
    said = capsys.readouterr()
    assert [json.loads(line)["file"] for line in said.out.splitlines()] == [f"{log}:2", f"{log}:5"]
    assert [line.split(": ")[1] for line in said.err.splitlines()] == [f"{log}:{number}" for number in (1, 3, 4)]
    log.write_text("\n".join(lines[1:2]), "utf-8")
    assert main(["extract", "--jsonl", str(log)]) == 1


def test_fields_in_fields(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "log.jsonl"
    record = {"choices": [{"message": {"content": CALL}}], "a.b": CALL}
    log.write_text(json.dumps(record), "utf-8")
    for field in ("choices.0.message.content", "a.b"):
        assert main(["extract", "--jsonl", "--field", field, str(log)]) == 0
        assert "call search" in capsys.readouterr().out
    for field in ("choices.1.message.content", "choices.x", "choices.0.message.content.x", "b.a"):
        assert main(["extract", "--jsonl", "--field", field, str(log)]) == 2
        assert f"no field {field!r}" in capsys.readouterr().err


def test_what_is_printed_is_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def no_constant(name: str) -> None:
        raise AssertionError(name)

    path = tmp_path / "answer.txt"
    path.write_text('<tool_call>{"name": "f", "arguments": {"a": 1e999, "b": [-1e999, 0.5]}}</tool_call>')
    for command in ("extract", "explain"):
        assert main([command, "--json", str(path)]) == 0
        printed = json.loads(capsys.readouterr().out, parse_constant=no_constant)
        (call,) = printed.get("turn", printed)["tool_calls"]
        assert call["arguments"] == {"a": "1E+999", "b": ["-1E+999", 0.5]}


def test_problems_of_tools_are_told(answer: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([*TOOLS, {"description": "nameless"}]))
    assert main(["extract", "--tools", str(tools), str(answer)]) == 0
    said = capsys.readouterr()
    assert "[ok]" in said.out
    assert f"toolglot: {tools}: /1: a tool needs a name" in said.err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the file that is always full")
def test_streams_that_are_closed_or_full(answer: Path) -> None:
    run = f"{sys.executable} -m toolglot extract"
    for command, message in (
        (f"{run} {answer} >/dev/full", b"cannot be written: No space left"),
        (f"{run} {answer} >&-", b"standard output is closed"),
        (f"{run} <&-", b"standard input is closed"),
    ):
        done = subprocess.run(["sh", "-c", command], capture_output=True, check=False)
        assert done.returncode == 2
        assert message in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_a_terminal_obeys_nothing_that_a_model_wrote(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "answer.txt"
    path.write_text('a\x1b[2Jb <tool_call>{"name": "f\\u001b[2J", "arguments": {}}</tool_call>')
    for command in (["extract"], ["explain", "--color", "never"], ["capture"]):
        main([*command, str(path)])
        said = capsys.readouterr()
        shown = said.err if command == ["capture"] else said.out
        assert "\x1b" not in shown


def test_a_field_is_for_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = tmp_path / "answer.txt"
    answer.write_text("x", encoding="utf-8")
    assert main(["extract", "--field", "x", str(answer)]) == 2
    assert "--field is for --jsonl" in capsys.readouterr().err
