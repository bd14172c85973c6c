"""An agent with the tools of MCP servers, for any model: ``python -m examples.mcp_agent.agent MODEL BASE_URL QUESTION``.

The servers are those of the official Python packages ``mcp-server-time`` and ``mcp-server-git``, over stdio.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Collection, Mapping
from contextlib import AsyncExitStack
from typing import Any

from mcp import Client, StdioServerParameters

import toolglot
from toolglot.mcp import McpTools


def python_server(module: str) -> StdioServerParameters:
    """How to start an MCP server that is a Python package."""
    return StdioServerParameters(command=sys.executable, args=["-m", module])


SERVERS = {"time": python_server("mcp_server_time"), "git": python_server("mcp_server_git")}


async def answer(
    client: toolglot.Client,
    question: str,
    servers: Mapping[str, Any] = SERVERS,
    *,
    only: Collection[str] | None = None,
    **options: Any,
) -> toolglot.RunResult:
    """Start the servers, and let the model use their tools until it answers; ``only`` some, where its context is small."""
    async with AsyncExitStack() as stack:
        sessions = {name: await stack.enter_async_context(Client(server)) for name, server in servers.items()}
        offered = await McpTools.connect(sessions)
        tools = [tool for tool in offered.tools if only is None or tool.name in only]
        return await client.run(question, toolglot.ToolSet(tools), execute=offered.call, **options)


async def _main(model: str, base_url: str, question: str) -> None:
    async with toolglot.Client(model, base_url) as client:
        print((await answer(client, question)).content)


if __name__ == "__main__":
    asyncio.run(_main(*sys.argv[1:]))
