"""What toolglot is made to do while a build counts what runs often: `nox -s wheel` runs it.

Answers as models write them, in every dialect, told and in auto, whole and streamed: calls first, and of long texts only
as many as take about as long. Then broken JSON, tools, and what providers answer, as the benches beside this folder have
them. A build by these counts lays out what runs often in one place, and leaves out of it what does not.
"""

from __future__ import annotations

import json
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import toolglot

ROOT = Path(__file__).resolve().parents[1]
BENCHES = ROOT / "benches" / "python"
CASES = ROOT / "tests" / "data" / "dialects"
# How many bytes of one kind of text are read, in repetitions of each.
BYTES = 40_000_000


class Answer(NamedTuple):
    text: str
    tools: toolglot.ToolSet | None
    dialect: str


def clean_cases() -> Iterator[Answer]:
    """The cases in which a model did what its template says; what goes wrong now and then is not to count as much."""
    names = {dialect.name for dialect in toolglot.dialects()}
    for file in sorted(CASES.glob("*.jsonl")):
        for line in file.read_text(encoding="utf-8").splitlines():
            case = json.loads(line)
            calls = case["expect"].get("calls", [])
            clean = calls and not case["expect"].get("issues") and all("status" not in call for call in calls)
            if clean and file.stem in names and case.get("dialect", file.stem) == file.stem:
                tools = case.get("tools")
                yield Answer(case["text"], toolglot.ToolSet(tools) if tools else None, file.stem)


def workloads(bench: dict[str, Any]) -> Iterator[Answer]:
    """The texts whose times are compared with those of others."""
    tools = toolglot.ToolSet(bench["TOOLS"])
    for before, calls in bench["workloads"]().values():
        for dialect, write in bench["WRITERS"].items():
            yield Answer(before + write(calls), tools, dialect)


def read(answer: Answer, dialect: str) -> None:
    for call in toolglot.extract(answer.text, tools=answer.tools, dialect=dialect).tool_calls:
        _ = call.name, call.arguments


def stream(answer: Answer, dialect: str) -> None:
    parser = toolglot.StreamParser(tools=answer.tools, dialect=dialect)
    for at in range(0, len(answer.text), 4):
        parser.feed(answer.text[at : at + 4])
    for call in parser.finish().tool_calls:
        _ = call.name, call.arguments


def main() -> int:
    bench = runpy.run_path(str(BENCHES / "compare.py"))
    for answer in workloads(bench):
        times = max(1, BYTES // max(len(answer.text), 400))
        for dialect in (answer.dialect, "auto"):
            for _ in range(times):
                read(answer, dialect)
            for _ in range(times // 100):
                stream(answer, dialect)
    for answer in clean_cases():
        for dialect in (answer.dialect, "auto"):
            for _ in range(100):
                read(answer, dialect)
            for _ in range(2):
                stream(answer, dialect)
    for text, _ in bench["broken"]().values():
        for _ in range(40):
            toolglot.repair_json(text)
    for name, options in (("tools", []), ("providers", ["--seconds", "0.1"])):
        sys.argv[1:] = options
        runpy.run_path(str(BENCHES / f"{name}.py"), run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
