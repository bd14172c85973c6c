"""Text about tool calling that calls nothing: no call comes out of it, and not a byte of it is changed.

tests/data/no_calls holds prose, documentation and source code; the project's own documents are read as well. A fence
whose whole body is a call to an offered tool is one by policy, so files of such fences (*.fences.md) are read as an
agent would that discusses tools: with fences="ignore".
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import toolglot
from support import ROOT

OWN = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CHANGELOG.md")]
FILES = sorted([*(ROOT / "tests" / "data" / "no_calls").iterdir(), *(ROOT / "docs").glob("*.md"), *OWN])

PARAMETERS = {
    "get_weather": ("city", "days"),
    "get_time": ("zone",),
    "search": ("query", "limit"),
    "write_file": ("path", "content"),
    "ping": (),
}
TOOLS = [
    {"name": name, "parameters": {"type": "object", "properties": {key: {} for key in keys}}}
    for name, keys in PARAMETERS.items()
]

# How a file is read: without tools, with all of them offered, or each paragraph as an answer of its own.
MODES = ("no tools", "tools", "paragraphs")
# What is not right yet. It must fail; an entry that passes is fixed and goes.
KNOWN_ISSUES: dict[tuple[str, str], str] = {}


def cases() -> list[Any]:
    found = []
    for path in FILES:
        # Without their fences, these are calls.
        for mode in MODES[:2] if path.name.endswith(".fences.md") else MODES:
            reason = KNOWN_ISSUES.get((path.name, mode))
            marks = [pytest.mark.xfail(strict=True, reason=reason)] if reason else []
            found.append(pytest.param(path, mode, id=f"{path.name}-{mode}", marks=marks))
    return found


def answers(path: Path, mode: str) -> list[str]:
    text = path.read_text("utf-8")
    if mode != "paragraphs":
        return [text]
    # A part of a fence is no fence.
    return [part for part in re.split(r"\n{2,}", text) if part.count("```") % 2 == part.count("~~~") % 2 == 0]


@pytest.mark.parametrize(("path", "mode"), cases())
def test_no_calls(path: Path, mode: str) -> None:
    policy = {"fences": "ignore"} if path.name.endswith(".fences.md") else None
    for text in answers(path, mode):
        turn = toolglot.extract(text, tools=TOOLS if mode == "tools" else None, policy=policy)
        assert [(call.name, call.raw) for call in turn.tool_calls] == []
        assert turn.reasoning is None
        assert turn.content == text
