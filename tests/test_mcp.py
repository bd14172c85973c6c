"""`toolglot.mcp` against sessions that answer like the SDK's; the real ones are in examples/llm_service."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

import toolglot
from toolglot.mcp import McpTools, call, list_tools

SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}}


class Session:
    """Offers its tools a page each."""

    def __init__(self, *names: str) -> None:
        self.names = names
        self.called: list[Any] = []

    async def list_tools(self, *, cursor: str | None = None) -> Any:
        at = int(cursor or 0)
        tools = [{"name": self.names[at], "description": "", "inputSchema": SCHEMA}]
        return SimpleNamespace(tools=tools, next_cursor=str(at + 1) if at + 1 < len(self.names) else None)

    async def call_tool(self, name: str, arguments: Any = None) -> Any:
        self.called.append((name, arguments))
        return {"content": [{"type": "text", "text": name}], "isError": False}


def test_all_pages() -> None:
    tools = asyncio.run(list_tools(Session("a", "b", "c")))
    assert [tool.name for tool in tools] == ["a", "b", "c"]


def test_each_call_on_its_session() -> None:
    one, two = Session("search", "only_one"), Session("search")
    servers = asyncio.run(McpTools.connect({"one": one, "two": two}))
    assert {tool.name for tool in servers.tools} == {"one:search", "two:search", "only_one"}
    for name in ("two:search", "only_one", "one:search"):
        asyncio.run(servers.call(servers.tools.check(name, {"q": "x"})))
    assert one.called == [("only_one", {"q": "x"}), ("search", {"q": "x"})]
    assert two.called == [("search", {"q": "x"})]


def test_what_may_not_run_does_not() -> None:
    session = Session("a")
    tools = asyncio.run(list_tools(session))
    with pytest.raises(toolglot.BadOptionError, match="unknown_tool"):
        asyncio.run(call(session, tools.check("b", {})))
    with pytest.raises(toolglot.BadToolError):
        asyncio.run(call({"one": session, "two": session}, toolglot.ToolCall("a", {}), tools))
    assert session.called == []


def test_a_single_session_needs_no_name() -> None:
    session = Session("a", "b")
    servers = asyncio.run(McpTools.connect(session))
    asyncio.run(servers.call(servers.tools.check("b", {"q": "x"})))
    assert session.called == [("b", {"q": "x"})]
    assert [tool.name for tool in asyncio.run(servers.refresh())] == ["a", "b"]


def test_what_is_no_session_and_no_call_is_said() -> None:
    session = Session("a")
    for wrong in (None, [session]):
        with pytest.raises(toolglot.BadOptionError, match="list_tools"):
            asyncio.run(list_tools(wrong))
    with pytest.raises(toolglot.BadOptionError, match="ToolCall"):
        asyncio.run(call(session, {"name": "a"}))  # type: ignore[arg-type]
    with pytest.raises(toolglot.BadToolError, match="list_tools"):
        asyncio.run(call({"one": session, "two": session}, toolglot.ToolCall("a", {})))
