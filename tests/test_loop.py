"""The loop of an agent: what runs when, what the model is told, and what ends it."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

import toolglot
from toolglot import Turn, run_tools

ASK = [{"role": "user", "content": "What time is it?"}]


def now(zone: str = "UTC") -> str:
    """What time it is."""
    return f"12:00 {zone}"


def call(name: str = "now", id: str = "c1", **arguments: Any) -> toolglot.ToolCall:
    return toolglot.ToolSet([now]).check(name, arguments, id=id)


def calls(*made: toolglot.ToolCall, text: str = "") -> Turn:
    return Turn(text, list(made), source="native")


class Model:
    """Answers one after the other; the last one again and again."""

    def __init__(self, *answers: Any) -> None:
        self.answers, self.asked = list(answers), []

    def __call__(self, messages: Any) -> Any:
        self.asked.append(list(messages))
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def run(model: Callable[[Any], Any], tools: Any = (now,), messages: Any = ASK, **options: Any) -> toolglot.RunResult:
    return asyncio.run(run_tools(model, messages, list(tools), **options))


def test_results_keep_the_order_of_the_calls_that_ran_at_once() -> None:
    started, all_started = [], asyncio.Event()

    async def slow(seconds: float) -> str:
        "Wait for the others, and then a while."
        started.append(seconds)
        if len(started) == 3:
            all_started.set()
        await asyncio.wait_for(all_started.wait(), 5)
        await asyncio.sleep(seconds)
        return str(seconds)

    tools = toolglot.ToolSet([slow])
    turn = Turn("", [tools.check("slow", {"seconds": s}, id=f"c{s}") for s in (0.3, 0.2, 0.1)], source="native")
    result = run(Model(turn, "Done."), [slow])
    assert [each.output for each in result.results] == ["0.3", "0.2", "0.1"]
    assert [message.get("tool_call_id") for message in result.messages] == [None, None, "c0.3", "c0.2", "c0.1", None]
    assert (result.content, result.stopped, result.steps) == ("Done.", "done", 2)


@pytest.mark.parametrize("sequential", [True, ["slow"], ["other"]])
def test_sequential_tools_run_one_after_the_other(sequential: Any) -> None:
    running, most = 0, 0
    lock = threading.Lock()

    def slow(number: int) -> str:
        "Wait."
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.05)
        with lock:
            running -= 1
        return str(number)

    tools = toolglot.ToolSet([slow])
    turn = Turn("", [tools.check("slow", {"number": n}, id=f"c{n}") for n in range(3)], source="native")
    result = run(Model(turn, "Done."), [slow], sequential=sequential)
    assert (most == 1) == (sequential != ["other"])
    assert [each.output for each in result.results] == ["0", "1", "2"]


def test_a_call_that_may_not_run_is_told_to_the_model() -> None:
    tools = toolglot.ToolSet([now])
    bad = [tools.check("now", {"zone": []}, id="a"), tools.check("launch", {}, id="b")]
    model = Model(Turn("", bad, source="native"), "I see.")
    result = run(model)
    assert [each.success for each in result.results] == [False, False]
    told = [message["content"] for message in result.messages if message["role"] == "tool"]
    assert "zone" in told[0]
    assert "launch" in told[1]
    assert toolglot.check_history(result.messages) == []


def test_what_a_tool_raises_is_told_and_the_others_keep_their_results() -> None:
    def fails() -> str:
        "Fail."
        raise RuntimeError("no such clock")

    async def cancelled() -> str:
        "Be cancelled."
        raise asyncio.CancelledError

    tools = toolglot.ToolSet([now, fails, cancelled])
    made = [tools.check(name, {}, id=name) for name in ("fails", "now", "cancelled")]
    result = run(Model(Turn("", made, source="native"), "Well."), [now, fails, cancelled])
    first, second, third = result.results
    assert first.error == "no such clock"
    assert isinstance(first.exception, RuntimeError)
    assert second.output == "12:00 UTC"
    assert "interrupted" in third.error
    assert toolglot.check_history(result.messages) == []


def test_approval() -> None:
    seen = []

    async def approve(call: toolglot.ToolCall) -> Any:
        seen.append((call.name, call.evidence))
        return True if call.arguments.get("zone") == "UTC" else "only UTC"

    said = (
        '<tool_call>{"name": "now", "arguments": {"zone": "UTC"}}</tool_call>'
        '<tool_call>{"name": "now", "arguments": {"zone": "CET"}}</tool_call>'
    )
    result = run(Model(said, "Good."), approve=approve)
    assert seen == [("now", "marker"), ("now", "marker")]
    assert [each.success for each in result.results] == [True, False]
    assert "only UTC" in result.results[1].error


@pytest.mark.parametrize(
    ("limits", "stopped", "steps"),
    [
        ({"max_steps": 2}, "steps", 2),
        ({"max_calls": 2}, "calls", 3),
        ({"max_tokens": 250}, "tokens", 3),
        ({"seconds": 0.2}, "seconds", None),
    ],
)
def test_limits_give_what_there_is(limits: dict[str, Any], stopped: str, steps: int | None) -> None:
    number = 0

    def model(messages: Any) -> Turn:
        nonlocal number
        number += 1
        if "seconds" in limits:
            time.sleep(0.06)
        usage = toolglot.Usage(input_tokens=90, output_tokens=10)
        return Turn(f"step {number}", [call(id=f"c{number}", zone=str(number))], source="native", usage=usage)

    result = run(model, **limits)
    assert result.stopped == stopped
    assert steps is None or result.steps == steps
    assert result.content == f"step {result.steps}"
    assert result.input_tokens == 90 * result.steps
    assert toolglot.check_history(result.messages) == []


def test_time_is_over_while_a_tool_runs() -> None:
    async def slow() -> str:
        "Wait."
        await asyncio.sleep(5)
        return "late"

    made = toolglot.ToolSet([slow, now])
    turn = Turn("", [made.check("slow", {}, id="a"), made.check("now", {}, id="b")], source="native")
    result = run(Model(turn, "Done."), [slow, now], seconds=0.3)
    assert result.stopped == "seconds"
    assert "interrupted" in result.results[0].error
    assert result.results[1].output == "12:00 UTC"


def names(result: toolglot.RunResult) -> list[str]:
    return [each.call.name for each in result.results]


@pytest.mark.parametrize("kind", ["good", "failing", "invalid", "unknown"])
def test_a_loop_is_told_after_three_and_ends_after_five(kind: str) -> None:
    """Success is no excuse, and the order of keys no difference."""
    ran = []

    def tool(a: int, b: int) -> str:
        "Do something."
        ran.append((a, b))
        if kind == "failing":
            raise ValueError("no")
        return "written"

    number = 0

    def model(messages: Any) -> Turn:
        nonlocal number
        number += 1
        given = {"a": 1, "b": 2} if number % 2 else {"b": 2, "a": 1}
        if kind == "invalid":
            given["a"] = "x"
        name = "no_such_tool" if kind == "unknown" else "tool"
        return Turn("", [toolglot.ToolSet([tool]).check(name, given, id=f"c{number}")], source="native")

    seen = []
    result = run(model, [tool], on_progress=lambda progress: seen.append(progress.kind))
    assert (result.stopped, result.steps) == ("loop", 5)
    assert len(ran) == (4 if kind in ("good", "failing") else 0)
    assert seen.count("nudge") == 1
    nudges = [message for message in result.messages[1:] if message["role"] == "user"]
    assert len(nudges) == 1
    assert "3 times" in nudges[0]["content"]
    assert toolglot.check_history(result.messages) == []


def test_two_calls_that_take_turns_are_a_loop() -> None:
    number = 0

    def model(messages: Any) -> Turn:
        nonlocal number
        number += 1
        return calls(call(id=f"c{number}", zone="UTC" if number % 2 else "CET"))

    seen = []
    result = run(model, on_progress=lambda progress: seen.append(progress.kind))
    assert (result.stopped, result.steps) == ("loop", 10)
    assert seen.count("nudge") == 1


def test_polling_is_no_loop() -> None:
    number = 0

    def model(messages: Any) -> Any:
        nonlocal number
        number += 1
        return calls(call(id=f"c{number}")) if number < 9 else "Ready."

    assert run(model, loop_key=lambda call: None).stopped == "done"
    number = 0
    assert run(model, loop_key=lambda call: number).stopped == "done"


def test_ids_that_a_model_writes_twice_in_one_answer_are_made_its_own() -> None:
    kimi = '<|tool_call_begin|>functions.now:0<|tool_call_argument_begin|>{"zone": "ZONE"}<|tool_call_end|>'
    both = "".join(kimi.replace("ZONE", zone) for zone in ("UTC", "CET"))
    result = run(Model(f"<|tool_calls_section_begin|>{both}<|tool_calls_section_end|>", "Done."))
    assert [each.output for each in result.results] == ["12:00 UTC", "12:00 CET"]
    assert toolglot.check_history(result.messages) == []


def test_ids_that_a_model_writes_again_are_made_its_own() -> None:
    result = run(Model(calls(call(zone="A")), calls(call(zone="B")), "Done."))
    ids = [message["tool_call_id"] for message in result.messages if message["role"] == "tool"]
    assert len(set(ids)) == 2
    assert toolglot.check_history(result.messages) == []


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "mistral", "cohere", "bedrock", "ollama"])
def test_the_history_is_the_providers(provider: str) -> None:
    model = Model(calls(call(), text="Let me see."), calls(call(id="c2", zone="CET")), "Done.")
    result = run(model, provider=provider)
    assert result.messages.provider == provider
    assert toolglot.check_history(result.messages, provider) == []
    for asked in model.asked:
        assert toolglot.check_history(asked, provider) == []


def test_answers_of_any_kind_are_read() -> None:
    response = {"choices": [{"message": {"content": None, "tool_calls": [
        {"id": "c1", "type": "function", "function": {"name": "now", "arguments": "{}"}}]}}]}  # fmt: skip

    async def model(messages: Any) -> Any:
        return response if len(messages) == 1 else "Done."

    result = run(model)
    assert names(result) == ["now"]
    assert result.content == "Done."


def test_cancelling_leaves_nothing_running() -> None:
    ended = []

    async def slow() -> str:
        "Wait."
        try:
            await asyncio.sleep(5)
        finally:
            ended.append(True)
        return "late"

    turn = Turn("", [toolglot.ToolSet([slow]).check("slow", {}, id="a")], source="native")

    async def go() -> None:
        task = asyncio.create_task(run_tools(Model(turn), ASK, [slow]))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(go())
    assert ended == [True]


def test_an_error_has_what_the_run_had_come_to() -> None:
    def model(messages: Any) -> Any:
        if len(messages) > 1:
            raise toolglot.ProviderError("gone")
        return calls(call())

    with pytest.raises(toolglot.ProviderError) as raised:
        run(model)
    assert raised.value.result is not None
    assert names(raised.value.result) == ["now"]
