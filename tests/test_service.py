"""ToolCalling: one reader for native calls and calls in text, and turns that do not mix."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

import toolglot
from toolglot.service import ToolCalling

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
REGISTRY = {
    "time:wait": {"server": "time", "enabled": True, "definition": {"description": "Wait", "parameters": SCHEMA}},
    "off": {"server": "time", "enabled": False, "definition": {}},
}


def openai_response(*arguments: str, name: str = "time_wait", finish: str = "tool_calls") -> dict[str, Any]:
    calls = [
        {"id": f"call_{index}", "type": "function", "function": {"name": name, "arguments": text}}
        for index, text in enumerate(arguments)
    ]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    return {"choices": [{"index": 0, "message": message, "finish_reason": finish}]}


async def wait(call: toolglot.ToolCall) -> str:
    await asyncio.sleep(call.arguments["n"] / 100)
    if call.arguments["n"] == 2:
        raise OSError("no")
    return f"waited {call.arguments['n']}"


def spelt(service: ToolCalling) -> str:
    (tool,) = service.get_tool_definitions_for_api() or []
    return str(tool["function"]["name"])


def test_outcomes_keep_their_order_and_the_history_is_valid() -> None:
    service = ToolCalling(REGISTRY)
    name = spelt(service)
    turn = service.observe(openai_response('{"n": 3}', '{"n": 2}', '{"n": "x"}', '{"n": 1', '{"n": 0}', name=name))
    assert service.has_pending_tool_calls()
    assert service.last_stop_reason == turn.stop_reason
    ran: list[int] = []

    async def execute(call: toolglot.ToolCall) -> str:
        ran.append(call.arguments["n"])
        return await wait(call)

    outcomes = asyncio.run(
        run(service, execute, openai_response('{"n": 3}', '{"n": 2}', '{"n": "x"}', '{"n": 1', '{"n": 0}', name=name))
    )
    assert [outcome.output for outcome in outcomes] == ["waited 3", None, None, None, "waited 0"]
    assert [outcome.success for outcome in outcomes] == [True, False, False, False, True]
    assert sorted(ran) == [0, 2, 3]


async def run(service: ToolCalling, execute: Any, response: Any) -> list[Any]:
    service.observe(response)
    outcomes = await service.execute_native_tool_calls(execute)
    assert not service.has_pending_tool_calls()
    assert await service.execute_native_tool_calls(execute) == outcomes
    messages = [{"role": "user", "content": "?"}, *service.conversation_messages()]
    assert toolglot.check_history(messages, "openai") == []
    return outcomes


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "mistral", "cohere", "ollama", "bedrock"])
def test_every_provider_gets_a_history_it_takes(provider: str) -> None:
    service = ToolCalling(REGISTRY, provider=provider)

    async def go() -> list[Any]:
        service.observe('<tool_call>{"name": "time:wait", "arguments": {"n": 1}}</tool_call>')
        await service.execute_native_tool_calls(wait)
        return service.conversation_messages()

    question = {"role": "user", "content": "?"}
    first = toolglot.convert_messages([question], to=provider)[0] if provider != "openai" else question
    assert toolglot.check_history([first, *asyncio.run(go())], provider) == []


def test_turns_at_once_do_not_mix() -> None:
    service = ToolCalling(REGISTRY)
    name = spelt(service)

    async def conversation(n: int) -> None:
        for _ in range(5):
            service.observe(openai_response(json.dumps({"n": n}), name=name))
            await asyncio.sleep(0.001 * (n % 3))
            (outcome,) = await service.execute_native_tool_calls(wait)
            assert outcome.output == f"waited {n}"

    async def go() -> None:
        service.observe("Hello.")
        await asyncio.gather(*(conversation(n) for n in (0, 1, 3, 4, 5)))
        assert service.last_turn is not None
        assert service.last_turn.content == "Hello."

    asyncio.run(go())


def test_the_model_may_be_called_in_a_task_of_its_own() -> None:
    service = ToolCalling(REGISTRY)

    async def call_llm() -> None:
        service.observe('<tool_call>{"name": "time:wait", "arguments": {"n": 1}}</tool_call>')

    async def go() -> bool:
        service.begin_turn()
        await asyncio.create_task(call_llm())
        return service.has_pending_tool_calls()

    assert asyncio.run(go())


def test_streams() -> None:
    service = ToolCalling(REGISTRY)
    text = 'Hi. <tool_call>{"name": "time:wait", "arguments": {"n": 1}}</tool_call>'
    events = list(service.observe(iter(text)))
    assert "".join(event.text or "" for event in events if event.kind == "text").strip() == "Hi."
    assert len(service.get_last_tool_calls()) == 1

    def broken() -> Any:
        yield text
        raise OSError

    with pytest.raises(OSError):
        list(service.observe(broken()))
    assert not service.has_pending_tool_calls()


def test_a_mixin_needs_no_init() -> None:
    class Service(ToolCalling):
        def __init__(self) -> None:
            self.name = "mine"

    service = Service()
    assert service.get_tool_definitions_for_api() is None
    assert not service.has_pending_tool_calls()
    service.use_tools(REGISTRY)
    assert spelt(service)
