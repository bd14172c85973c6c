"""The tools of live MCP sessions as a ``ToolSet``, and calls on the session that offers the tool.

Works with every object that has the ``list_tools`` and ``call_tool`` of the ``mcp`` SDK: its ``ClientSession`` and its
``Client``, over stdio or streamable HTTP. The SDK itself is not imported; ``pip install toolglot[mcp]`` brings it.

    async with Client(StdioServerParameters(command="mcp-server-time")) as clock:
        servers = await McpTools.connect({"time": clock})
        ...
        outcomes = await service.execute_native_tool_calls(servers.call)
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, Protocol

from ._core import ToolCall, ToolSet
from .errors import BadOptionError, BadToolError

__all__ = ["McpTools", "Session", "call", "list_tools"]

_MAX_PAGES = 1000


class Session(Protocol):
    """What is needed of an MCP session."""

    async def list_tools(self, **options: Any) -> Any:
        """Answer with a page of tools."""

    async def call_tool(self, name: str, arguments: dict[str, Any] | None = None, /) -> Any:
        """Call a tool by its name at the server."""


async def _pages(session: Any) -> list[Any]:
    """All tools of one session, page by page."""
    if not hasattr(session, "list_tools"):
        raise BadOptionError(f"a session has a list_tools, {type(session).__name__} has none", "sessions")
    accepts = inspect.signature(session.list_tools).parameters
    found: list[Any] = []
    cursor: str | None = None
    for _ in range(_MAX_PAGES):
        if cursor is None:
            page = await session.list_tools()
        elif "cursor" in accepts:
            page = await session.list_tools(cursor=cursor)
        else:
            from mcp.types import PaginatedRequestParams

            page = await session.list_tools(params=PaginatedRequestParams(cursor=cursor))
        found.extend(page.tools)
        following = getattr(page, "next_cursor", None) or getattr(page, "nextCursor", None)
        # A server that repeats its cursor would be asked for ever.
        if not following or following == cursor:
            break
        cursor = following
    return found


async def list_tools(sessions: Any) -> ToolSet:
    """List the tools of one session, or of several by the names of their servers.

    Args:
        sessions: A session, or a dict of sessions by server. A name that two servers offer becomes ``server:name`` for
            both, in the spelling that each provider allows.

    Raises:
        BadOptionError: Something given is no session.
        BadToolError: The sessions offer tools, and not one of them can be read.
    """
    if not isinstance(sessions, Mapping):
        return ToolSet(await _pages(sessions))
    return ToolSet({server: await _pages(session) for server, session in sessions.items()})


async def call(session: Any, call: ToolCall, tools: ToolSet | None = None) -> Any:
    """Call the tool on its session and return the ``CallToolResult``, which ``format_tool_result`` takes.

    Args:
        session: A session, or the dict of sessions that ``list_tools`` was given.
        call: A runnable call.
        tools: What ``list_tools`` returned; needed where a tool's name is not its name at the server.

    Raises:
        BadOptionError: The call is not runnable (``call.error_message()`` says why), or is no ToolCall.
        BadToolError: No session offers the tool.
    """
    if not isinstance(call, ToolCall):
        raise BadOptionError(f"a ToolCall is needed, not {type(call).__name__}; ToolSet.check makes one", "call")
    if not call.runnable:
        raise BadOptionError(f"a call with status {call.status!r} is not run", call.name)
    name, server = call.name, None
    if tools is not None and call.name in tools:
        tool = tools[call.name]
        name, server = tool.original_name, tool.server
    if isinstance(session, Mapping):
        if server is None and len(session) == 1:
            server = next(iter(session))
        if server not in session:
            unknown = "; which one has it is known by `tools`, what list_tools returned" if tools is None else ""
            raise BadToolError(f"no session offers this tool{unknown}", call.name)
        session = session[server]
    return await session.call_tool(name, call.arguments)


class McpTools:
    """Live sessions with the tools they offer: what ``list_tools`` and ``call`` need, kept together."""

    def __init__(self, sessions: Any, tools: ToolSet) -> None:
        self.sessions = dict(sessions) if isinstance(sessions, Mapping) else sessions
        self.tools = tools

    def __repr__(self) -> str:
        servers = sorted(self.sessions) if isinstance(self.sessions, dict) else [type(self.sessions).__name__]
        return f"<McpTools: {len(self.tools)} tools of {', '.join(servers)}>"

    @classmethod
    async def connect(cls, sessions: Any) -> McpTools:
        """List the tools of one session, or of several by the names of their servers, as ``list_tools`` does."""
        return cls(sessions, await list_tools(sessions))

    async def refresh(self) -> ToolSet:
        """List again, after a server said that its tools changed."""
        self.tools = await list_tools(self.sessions)
        return self.tools

    async def call(self, call: ToolCall) -> Any:
        """Call the tool on the session that offers it; made to be given to ``execute_native_tool_calls``."""
        return await _call(self.sessions, call, self.tools)


_call = call
