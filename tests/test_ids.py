"""Ids of calls that came without one: never twice, or always the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from typing import Any

import pytest

import toolglot
from support import EXAMPLE_TOOLS

TOOLS = toolglot.ToolSet(EXAMPLE_TOOLS)
CALL = '<tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</tool_call>'
DERIVED = toolglot.Policy(ids="derived")


def made() -> list[str]:
    """Ids from every way in."""
    parser = toolglot.StreamParser(dialect="hermes")
    events = [*parser.feed(CALL), *parser.close()]
    native = {
        "message": {"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]},
        "done": True,
    }
    return [
        toolglot.extract(CALL).tool_calls[0].id,
        *[event.id for event in events if event.kind == "call_started"],
        toolglot.normalize(native, provider="ollama").tool_calls[0].id,
        toolglot.ToolCall("f", {}).id,
    ]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_forks_make_ids_of_their_own() -> None:
    ids = made()
    reading, writing = os.pipe()
    children = []
    for _ in range(6):
        child = os.fork()
        if child == 0:
            os.write(writing, (json.dumps(made() + made()) + "\n").encode())
            os._exit(0)
        children.append(child)
    os.close(writing)
    for child in children:
        os.waitpid(child, 0)
    with os.fdopen(reading) as lines:
        for line in lines:
            ids += json.loads(line)
    ids += made()
    assert len(ids) == len(set(ids)) == 4 * 14


@pytest.mark.skipif(not hasattr(os, "register_at_fork"), reason="no forks here")
def test_forked_children_are_registered() -> None:
    # Ids hold the clock too, so that equal ones would show this in few runs only.
    code = """
import os
hooks = []
os.register_at_fork = lambda **options: hooks.append(options.get("after_in_child"))
import toolglot
[forked] = [hook for hook in hooks if getattr(hook, "__name__", "") == "forked"]
forked()
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_threads_make_ids_of_their_own() -> None:
    ids: list[str] = []
    threads = [
        threading.Thread(target=lambda: ids.extend(toolglot.ToolCall("f", {}).id for _ in range(500))) for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(ids)) == 4000


def streamed(text: str, size: int, dialect: str) -> tuple[list[str], list[str]]:
    """The ids as they were announced, and those of the turn."""
    parser = toolglot.StreamParser(tools=TOOLS, dialect=dialect, policy=DERIVED)
    events = [event for at in range(0, len(text), size) for event in parser.feed(text[at : at + size])]
    events += parser.close()
    told = {event.index: event.id for event in events if event.kind == "call_started"}
    calls = parser.finish().tool_calls
    return [told[index] for index in range(len(calls))], [call.id for call in calls]


@pytest.mark.parametrize("dialect", toolglot.dialects(), ids=lambda dialect: dialect.name)
def test_derived_ids_are_those_of_the_text(dialect: toolglot.Dialect) -> None:
    for text in (dialect.example, f"Two.\n{dialect.example}\n{dialect.example}"):
        for reader in (dialect.name, "auto"):
            calls = toolglot.extract(text, tools=TOOLS, dialect=reader, policy=DERIVED).tool_calls
            ids = [call.id for call in calls]
            # Some models write ids of their own, and the same ones again.
            given = [one for one in ids if one.startswith("call_") and len(one) == 25]
            assert len(set(given)) == len(given)
            for size in (1, 3, 7, len(text)):
                assert streamed(text, size, reader) == (ids, ids), (reader, size)


def test_derived_ids_say_place_and_name() -> None:
    def ids(text: str) -> list[str]:
        return [call.id for call in toolglot.extract(text, policy=DERIVED).tool_calls]

    assert ids(CALL) == ids(CALL)
    assert len(set(ids(CALL + CALL))) == 2
    assert ids(CALL + CALL)[0] == ids(CALL)[0]
    texts = [CALL, f"Hi. {CALL}", CALL.replace("get_weather", "get_time"), f"\n{CALL}"]
    assert len({ids(text)[0] for text in texts}) == len(texts)
    assert all(one.startswith("call_") and len(one) == 25 for one in ids(CALL))
    # An id in the text stays.
    (kimi,) = (dialect.example for dialect in toolglot.dialects("kimi_k2"))
    assert ids(kimi) == ["functions.get_weather:0"]


def test_derived_ids_of_native_calls() -> None:
    def answer(*names: str) -> dict[str, Any]:
        calls = [{"function": {"name": name, "arguments": {}}} for name in names]
        return {"model": "m", "message": {"role": "assistant", "content": "", "tool_calls": calls}, "done": True}

    def ids(*names: str) -> list[str]:
        turn = toolglot.normalize(answer(*names), provider="ollama", policy=DERIVED)
        stream = toolglot.StreamNormalizer("ollama", policy=DERIVED)
        events = [*stream.feed(answer(*names)), *stream.close()]
        whole = [call.id for call in turn.tool_calls]
        assert [event.id for event in events if event.kind == "call_started"] == whole
        return whole

    assert ids("f", "f") == ids("f", "f")
    assert len({*ids("f", "f"), *ids("g")}) == 3
