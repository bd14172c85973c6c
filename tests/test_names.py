"""Which names mean a tool: each row of the table in docs/names.md, by every way in."""

from __future__ import annotations

import json
import re
from typing import Any, Literal

import pytest

import toolglot
from support import EXAMPLE_TOOLS, ROOT

TOOLS = toolglot.ToolSet(EXAMPLE_TOOLS)


def table() -> list[Any]:
    """The rows: the offered tools, what is written, and what that means by each policy."""
    rows = []
    for line in (ROOT / "docs" / "names.md").read_text("utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 5 or not cells[0].startswith("`"):
            continue
        tools = [
            {"name": name, "server": server, "definition": {}} if server else {"name": name, "inputSchema": {}}
            for name, server in re.findall(r"`([^`]+)`(?: of (\w+))?", cells[0])
        ]
        written = json.loads(f'"{cells[1].strip("`")}"')
        means = [None if cell == "—" else cell.strip("`") for cell in cells[2:4]]
        rows.append(pytest.param(toolglot.ToolSet(tools), written, *means, id=cells[1].strip("`")))
    return rows


def test_the_table_is_read() -> None:
    assert len(table()) > 40


@pytest.mark.parametrize(("tools", "written", "resolved", "exact"), table())
def test_a_name_means_what_the_table_says(
    tools: toolglot.ToolSet, written: str, resolved: str | None, exact: str | None
) -> None:
    assert tools.resolve(written) == resolved
    choices: tuple[tuple[Literal["resolve", "exact"], str | None], ...] = (("resolve", resolved), ("exact", exact))
    for names, meant in choices:
        policy = toolglot.Policy(names=names)
        text = f"<tool_call>{json.dumps({'name': written, 'arguments': {}})}</tool_call>"
        native = {"choices": [{"message": {"tool_calls": [
            {"id": "1", "type": "function", "function": {"name": written, "arguments": "{}"}}
        ]}, "finish_reason": "tool_calls"}]}  # fmt: skip
        turns = [toolglot.extract(text, tools=tools, dialect=dialect, policy=policy) for dialect in ("hermes", "auto")]
        turns.append(toolglot.normalize(native, tools=tools, provider="openai", policy=policy))
        for turn in turns:
            runs = [call.name for call in turn.tool_calls if call.runnable]
            assert runs == ([] if meant is None else [meant]), (names, turn.tool_calls)
        # Without a call's markers nothing vouches for a name that means no tool.
        bare = toolglot.extract(f"{written}()", tools=tools, policy=policy)
        assert all(call.name == meant for call in bare.tool_calls), (names, bare.tool_calls)


def test_what_means_nothing_is_told() -> None:
    turn = toolglot.extract(
        '<tool_call>{"name": "dry_run.rm", "arguments": {}}</tool_call>', tools=[{"name": "rm", "inputSchema": {}}]
    )
    assert [call.status for call in turn.tool_calls] == ["unknown_tool"]
    assert [issue.code for issue in turn.issues] == ["unknown_tool"]


PREFIXES = [
    "dry_run.",
    "do_not.",
    "never/",
    "simulate:",
    "evil:",
    "mcp__evil__",
    "functions.dry_run.",
    "not_",
    "//",
    "~",
]


@pytest.mark.parametrize("dialect", toolglot.dialects(), ids=lambda dialect: dialect.name)
def test_no_dialect_takes_an_undeclared_prefix_off(dialect: toolglot.Dialect) -> None:
    def runs(text: str, reader: str) -> int:
        calls = toolglot.extract(text, tools=TOOLS, dialect=reader).tool_calls
        return sum(call.runnable for call in calls)

    for reader in (dialect.name, "auto"):
        offered = runs(dialect.example, reader)
        name = toolglot.extract(dialect.example, tools=TOOLS, dialect=dialect.name).tool_calls[0].name
        names = [prefix + name for prefix in PREFIXES]
        names += [f"{name[:3]}{sign}{name[3:]}" for sign in ("\u200b", "\u202e", "\u2060", "\x00", "\u0336")]
        for other in names:
            assert runs(dialect.example.replace(name, other), reader) < offered, (reader, other)
