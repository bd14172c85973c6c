"""Whose answer is whose: one service, turns in tasks and threads."""

from __future__ import annotations

import asyncio
import concurrent.futures
import sys
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from toolglot import BadOptionError
from toolglot.service import ToolCalling

TOOLS = [{"name": "echo", "parameters": {"type": "object", "properties": {"text": {"type": "string"}}}}]


def wrote(text: str) -> str:
    return f'<tool_call>{{"name": "echo", "arguments": {{"text": "{text}"}}}}</tool_call>'


class Agent(ToolCalling):
    def __init__(self) -> None:
        super().__init__(TOOLS)

    async def call_llm(self, text: str) -> str:
        await asyncio.sleep(0)
        return self.observe(wrote(text) if text else "Done.").content

    def call_llm_sync(self, text: str) -> str:
        return self.observe(wrote(text) if text else "Done.").content

    async def call_and_look(self, text: str) -> str:
        await self.call_llm(text)
        return self.last_turn.content if self.last_turn else ""

    async def call_in_pieces(self, text: str) -> str:
        async for _ in self.observe(self.pieces(text)):
            await asyncio.sleep(0)
        return ""

    async def pieces(self, text: str) -> Any:
        for piece in (wrote(text) if text else "Done.").split(" "):
            yield piece + " "


async def in_task(agent: Agent, text: str) -> None:
    await asyncio.create_task(agent.call_llm(text))


async def in_gather(agent: Agent, text: str) -> None:
    await asyncio.gather(agent.call_llm(text), asyncio.sleep(0))


async def in_wait_for(agent: Agent, text: str) -> None:
    await asyncio.wait_for(agent.call_llm(text), 5)


async def in_group(agent: Agent, text: str) -> None:
    async with asyncio.TaskGroup() as group:  # type: ignore[attr-defined, unused-ignore]
        group.create_task(agent.call_llm(text))


async def in_tasks(agent: Agent, text: str) -> None:
    await asyncio.create_task(in_task(agent, text))


async def in_thread(agent: Agent, text: str) -> None:
    await asyncio.to_thread(agent.call_llm_sync, text)


async def in_executor(agent: Agent, text: str) -> None:
    await asyncio.get_running_loop().run_in_executor(None, agent.call_llm_sync, text)


async def in_bare_thread(agent: Agent, text: str) -> None:
    thread = threading.Thread(target=agent.call_llm_sync, args=(text,))
    thread.start()
    await asyncio.to_thread(thread.join)


async def looking(agent: Agent, text: str) -> None:
    await asyncio.wait_for(asyncio.create_task(agent.call_and_look(text)), 5)


async def in_pieces(agent: Agent, text: str) -> None:
    await asyncio.create_task(agent.call_in_pieces(text))


async def in_place(agent: Agent, text: str) -> None:
    await agent.call_llm(text)


Way = Callable[[Agent, str], Awaitable[None]]
WAYS: list[Way] = [
    in_place,
    in_task,
    in_gather,
    in_wait_for,
    in_tasks,
    in_thread,
    in_executor,
    in_bare_thread,
    looking,
    in_pieces,
]
if sys.version_info >= (3, 11):
    WAYS.append(in_group)


async def conversation(agent: Agent, way: Way, name: str, *, begin: bool = False, tasks: bool = False) -> list[Any]:
    """Three rounds with a call, and an answer."""
    history: list[Any] = []
    for round_ in range(4):
        if begin:
            agent.begin_turn()
        await way(agent, f"{name}{round_}" if round_ < 3 else "")
        assert agent.has_pending_tool_calls() == (round_ < 3)
        executing = agent.execute_native_tool_calls(lambda call: call.arguments["text"])
        outcomes = await (asyncio.create_task(executing) if tasks else executing)
        assert [outcome.output for outcome in outcomes] == ([f"{name}{round_}"] if round_ < 3 else [])
        history += agent.conversation_messages()
    return history


def results(history: list[Any]) -> list[str]:
    return [message["content"] for message in history if message["role"] == "tool"]


@pytest.mark.parametrize("tasks", [False, True])
@pytest.mark.parametrize("way", WAYS)
def test_no_way_of_calling_loses_calls(way: Way, tasks: bool) -> None:
    history = asyncio.run(conversation(Agent(), way, "a", tasks=tasks))
    assert results(history) == ["a0", "a1", "a2"]
    assert history[-1]["content"].strip() == "Done."


@pytest.mark.parametrize("way", [way for way in WAYS if way not in (in_executor, in_bare_thread)])
def test_conversations_at_once_do_not_mix(way: Way) -> None:
    async def both() -> list[list[Any]]:
        agent = Agent()
        names = "abcde"
        return await asyncio.gather(*(conversation(agent, way, name, begin=True) for name in names))

    for name, history in zip("abcde", asyncio.run(both()), strict=True):
        assert results(history) == [f"{name}0", f"{name}1", f"{name}2"]


@pytest.mark.parametrize("way", WAYS)
def test_what_nothing_tells_apart_raises_and_never_mixes(way: Way) -> None:
    async def both() -> list[Any]:
        agent = Agent()
        turns = (conversation(agent, way, name) for name in "abc")
        return await asyncio.gather(*turns, return_exceptions=True)

    for name, history in zip("abc", asyncio.run(both()), strict=True):
        if isinstance(history, BadOptionError):
            assert "begin_turn" in str(history)
        else:
            assert results(history) == [f"{name}0", f"{name}1", f"{name}2"]


def test_conversations_in_threads_do_not_mix() -> None:
    agent = Agent()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        futures = [
            pool.submit(lambda name: asyncio.run(conversation(agent, in_place, name)), name) for name in "abcdef"
        ]
        for name, future in zip("abcdef", futures, strict=True):
            assert results(future.result()) == [f"{name}0", f"{name}1", f"{name}2"]


def test_a_sync_program_runs_each_step_in_a_loop_of_its_own() -> None:
    agent = Agent()
    asyncio.run(agent.call_llm("a"))
    assert agent.has_pending_tool_calls()
    (outcome,) = asyncio.run(agent.execute_native_tool_calls(lambda call: call.arguments["text"]))
    assert outcome.output == "a"
    assert results(agent.conversation_messages()) == ["a"]


def test_a_second_try_in_a_task_counts_and_the_first_does_not() -> None:
    async def go() -> list[str]:
        agent = Agent()
        await asyncio.create_task(agent.call_llm("first"))
        agent.begin_turn()
        await asyncio.create_task(agent.call_llm("second"))
        return [call.arguments["text"] for call in agent.get_last_tool_calls()]

    assert asyncio.run(go()) == ["second"]


def test_of_two_answers_at_once_none_is_taken() -> None:
    async def go() -> None:
        agent = Agent()
        agent.has_pending_tool_calls()
        await asyncio.gather(agent.call_llm("a"), agent.call_llm("b"))
        with pytest.raises(BadOptionError, match="2 answers"):
            agent.has_pending_tool_calls()

    asyncio.run(go())


def test_who_observes_itself_gets_nobody_elses() -> None:
    async def go() -> None:
        agent = Agent()
        agent.observe(wrote("mine"))
        await asyncio.get_running_loop().run_in_executor(None, agent.call_llm_sync, "theirs")
        assert [call.arguments["text"] for call in agent.get_last_tool_calls()] == ["mine"]
        agent.conversation_messages()
        assert [call.arguments["text"] for call in agent.get_last_tool_calls()] == ["mine"]

    asyncio.run(go())
