"""`Client.run` with real MCP servers over stdio; the model is scripted, over real HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

import toolglot
from examples.mcp_agent import agent
from examples.scripted import Backend, serve

TIME = {"time": agent.SERVERS["time"]}


@pytest.fixture(scope="module")
def scripted() -> Iterator[Backend]:
    app = Backend()
    with serve(app) as app.url:
        yield app


@pytest.fixture
def backend(scripted: Backend) -> Backend:
    scripted.reset()
    return scripted


def ask(backend: Backend, model: str, question: str = "What time is it?", **options: Any) -> toolglot.RunResult:
    config = options.pop("config", None)

    async def go() -> toolglot.RunResult:
        store = toolglot.CapabilityStore()
        async with toolglot.Client(model, backend.url, capabilities=store, config=config) as client:
            return await agent.answer(client, question, **options)

    return asyncio.run(go())


# Kimi's calls have ids of their own, here all the same.
@pytest.mark.parametrize("form", ["native", "hermes", "kimi_k2"])
def test_calls_of_any_form_run_on_the_servers(backend: Backend, form: str) -> None:
    """Three at once: the time in three zones, as mcp-server-time knows it."""
    result = ask(backend, f"{form}/x3")
    assert (result.stopped, result.content, result.steps) == ("done", "Done after 3 calls.", 2)
    assert [each.success for each in result.results] == [True] * 3
    told = [json.loads(each.output.content[0].text) for each in result.results]
    assert [each["timezone"] for each in told] == ["UTC", "Europe/Oslo", "Asia/Tokyo"]
    assert all(each["datetime"].startswith("20") for each in told)
    assert toolglot.check_history(result.messages) == []
    # The tools that the model was offered are those of both servers.
    offered = {tool["function"]["name"] for tool in backend.requests[0]["tools"]}
    assert {"get_current_time", "convert_time", "git_log", "git_status"} <= offered


def test_in_text_mode(backend: Backend) -> None:
    result = ask(backend, "hermes/x3", config={"force_text_mode": True}, servers=TIME)
    assert [each.success for each in result.results] == [True] * 3
    assert "tools" not in backend.requests[0]
    assert "get_current_time" in backend.requests[0]["messages"][0]["content"]
    assert "Europe/Oslo" in str(backend.requests[1]["messages"][-1]["content"])


def test_what_a_person_or_the_server_refuses_is_said_to_the_model(backend: Backend) -> None:
    def allow(call: toolglot.ToolCall) -> Any:
        return "not that zone" if call.arguments["timezone"] == "Europe/Oslo" else True

    result = ask(backend, "native/x3", approve=allow, servers=TIME)
    assert [each.success for each in result.results] == [True, False, True]
    assert "not that zone" in backend.requests[1]["messages"][3]["content"]
    backend.whole = (200, json.dumps(said(("get_current_time", {"timezone": "Nowhere/Land"}))).encode())
    result = ask(backend, "m", max_steps=2, servers=TIME)
    assert [each.success for each in result.results][:1] == [False]
    assert "Nowhere/Land" in result.results[0].error
    assert toolglot.check_history(result.messages) == []


def said(call: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    function = {"name": call[0], "arguments": json.dumps(call[1])}
    message = {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": function}]}
    return {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}]}
