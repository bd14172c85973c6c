"""The loop of an agent: ask, run the calls, tell the results, until the model answers without a call.

    result = await run_tools(ask, messages, tools)

Any function that takes messages and returns an answer is a model here. :meth:`toolglot.Client.run` is this loop with a client.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from . import _telemetry
from ._chat import new_id
from ._core import Attempt, ToolCall, ToolSet, Turn, assistant_message, extract, format_tool_results, normalize
from ._executed import Execute, Executes, OwnTimeoutError, attempt, executor, words
from ._observed import with_calls
from .errors import BadOptionError, CallError, ProviderError
from .messages import Messages, convert_messages

__all__ = ["Progress", "RunResult", "ToolResult", "run_tools"]

Stopped = Literal["done", "length", "steps", "calls", "tokens", "seconds", "loop"]

# After how many turns with the same calls, or rounds of the same two, the model is warned, and after how many the run ends.
_NUDGE, _STOP = 3, 5

_NUDGED = (
    "You have made the same tool call {times} times, and its result does not change. "
    "Do something else, or answer with what you know."
)


@dataclass(frozen=True)
class ToolResult:
    """The outcome of one call.

    Attributes:
        call: The call.
        output: What the tool returned.
        error: Why there is no result, in words for the model; "" where there is one.
        exception: What the tool raised.
    """

    call: ToolCall
    output: Any = None
    error: str = ""
    exception: BaseException | None = field(default=None, compare=False, repr=False)

    @property
    def success(self) -> bool:
        """The tool ran and did not fail."""
        return not self.error


@dataclass(frozen=True)
class Progress:
    """A step of a run, for ``on_progress``.

    Attributes:
        kind: "turn": the model answered. "tool_started", "tool_ended". "nudge": the model is warned that it repeats itself.
            "stopped": the run is over.
        step: Which answer of the model it belongs to, from 1 on.
        turn: The answer.
        call: The call that starts or ended.
        result: What became of it.
        stopped: Why the run is over.
    """

    kind: Literal["turn", "tool_started", "tool_ended", "nudge", "stopped"]
    step: int
    turn: Turn | None = None
    call: ToolCall | None = None
    result: ToolResult | None = None
    stopped: Stopped | None = None


@dataclass
class RunResult:
    """The result of a run.

    Attributes:
        content: The text of the last answer.
        messages: The whole history, in the provider's shape: valid, each call with its result.
        turn: The last answer; None if there was none.
        stopped: Why it is over: "done", the model answered without a call; "length", its answer was cut off; a limit, "steps",
            "calls", "tokens" or "seconds"; "loop".
        steps: How often the model was asked.
        results: What became of the calls, in their order.
        attempts: All requests, where a client made them.
        input_tokens: Tokens of all requests, as far as servers report them.
        output_tokens: Tokens of all answers, as far as servers report them.
    """

    content: str = ""
    messages: Messages = field(default_factory=Messages)
    turn: Turn | None = None
    stopped: Stopped = "done"
    steps: int = 0
    results: list[ToolResult] = field(default_factory=list)
    attempts: list[Attempt] = field(default_factory=list)
    input_tokens: int = 0
    output_tokens: int = 0


async def run_tools(
    ask: Callable[[Messages], Any],
    messages: Any,
    tools: Any = None,
    *,
    execute: Executes | None = None,
    context: Any = None,
    provider: str = "openai",
    approve: Callable[[ToolCall], Any] | None = None,
    sequential: bool | Iterable[str] = False,
    max_steps: int = 25,
    max_calls: int | None = None,
    max_tokens: int | None = None,
    seconds: float | None = None,
    tool_seconds: float | None = None,
    loop_key: Callable[[ToolCall], Any] | None = None,
    on_progress: Callable[[Progress], Any] | None = None,
) -> RunResult:
    """Ask a model and run the calls of its answers until it answers without one.

    Calls of one answer run at once, and their results keep the model's order. A call that may not run is never run: the model is told
    what is wrong with it, and what a tool raises. The history is valid after each step: every call in it has its result.

    A model that makes the same calls three times in a row is told so, after the fifth time the run ends; so with two that take turns.
    Calls that fail or may not run count alike.

    Args:
        ask: Takes the messages and returns an answer: a Turn, a provider's response, or text. It may be async.
        messages: Any provider's; they are brought into the shape of ``provider``. A :class:`Messages` brings its system prompt along.
        tools: A ToolSet, or what makes one; what the calls are judged by.
        execute: Runs a call, as for ``ToolSet.run``: a function of a ToolCall, functions by name, or a ToolSet of functions. None stands
            for the functions that ``tools`` were made of.
        context: For parameters annotated ``toolglot.Context[T]``.
        provider: Whose messages ``ask`` takes; "text" for models that get tools in the prompt.
        approve: Asked before a tool runs, with the call (``call.evidence`` says why it counts as one). True lets it run; False, or a
            text that says why, does not, and is told to the model. It may be async.
        sequential: Tools of which no two calls run at once, by name; True is all of them.
        max_steps: How often the model is asked at most.
        max_calls: How many calls are run at most.
        max_tokens: After how many tokens the model is not asked again.
        seconds: How long all of it may take.
        tool_seconds: How long one tool may take.
        loop_key: What of a call must be the same for it to be a repetition; None exempts it (tools that wait for something). By default it
            is the name and the arguments, however they are spelt.
        on_progress: Called with each step; it may be async.

    Returns:
        The result, also where a limit ended it.

    Raises:
        ProviderError: There was no answer; ``error.result`` is what the run had come to.
        BadOptionError: An option's value is not one of those it may have.

    >>> import asyncio
    >>> from toolglot import run_tools
    >>> def now() -> str:
    ...     "What time it is."
    ...     return "12:00"
    >>> answers = iter(['<tool_call>{"name": "now", "arguments": {}}</tool_call>', "It is noon."])
    >>> result = asyncio.run(run_tools(lambda messages: next(answers), [{"role": "user", "content": "Time?"}], [now]))
    >>> result.content, result.stopped, [message["role"] for message in result.messages]
    ('It is noon.', 'done', ['user', 'assistant', 'tool', 'assistant'])
    """
    if max_steps < 1:
        raise BadOptionError("the model must be asked once at least", "max_steps")
    tools = tools if isinstance(tools, ToolSet) else ToolSet([] if tools is None else tools)
    run = _Run(
        tools=tools,
        execute=execute,
        context=context,
        provider=provider,
        approve=approve,
        sequential=sequential,
        tool_seconds=tool_seconds,
        progress=on_progress,
        loop=_Loop(loop_key),
        result=RunResult(messages=_history(messages, provider)),
    )
    run.until = None if seconds is None else time.monotonic() + seconds
    with _telemetry.agent("", {"gen_ai.provider.name": provider}):
        try:
            stopped = await run.go(ask, max_steps, max_calls, max_tokens)
        except ProviderError as error:
            error.result = run.result
            raise
        run.result.stopped = stopped
        await run.tell(Progress("stopped", run.result.steps, turn=run.result.turn, stopped=stopped))
    return run.result


def _history(messages: Any, provider: str) -> Messages:
    if isinstance(messages, str):
        messages = [{"role": "user", "content": messages}]
    return convert_messages(messages, to="openai" if provider == "text" else provider)


@dataclass
class _Run:
    tools: ToolSet
    execute: Executes | None
    context: Any
    provider: str
    approve: Callable[[ToolCall], Any] | None
    sequential: bool | Iterable[str]
    tool_seconds: float | None
    progress: Callable[[Progress], Any] | None
    loop: _Loop
    result: RunResult
    until: float | None = None
    ids: set[str] = field(default_factory=set)

    async def go(
        self, ask: Callable[[Messages], Any], max_steps: int, max_calls: int | None, max_tokens: int | None
    ) -> Stopped:
        result = self.result
        ran = 0
        while True:
            if result.steps >= max_steps:
                return "steps"
            if max_tokens is not None and result.input_tokens + result.output_tokens >= max_tokens:
                return "tokens"
            left = self._left()
            if left is not None and left <= 0:
                return "seconds"
            try:
                answer = await asyncio.wait_for(_asked(ask, result.messages), left)
            except (TimeoutError, asyncio.TimeoutError):
                if self.until is None or time.monotonic() < self.until:
                    raise
                return "seconds"
            turn = self._took(answer)
            await self.tell(Progress("turn", result.steps, turn=turn))
            if not turn.tool_calls:
                return "length" if turn.stop_reason == "length" else "done"
            times = self.loop.saw(turn.tool_calls)
            runnable = sum(call.runnable for call in turn.tool_calls)
            if times >= _STOP:
                self._refuse(turn, "Not run: the same call was made again and again.")
                return "loop"
            if max_calls is not None and ran + runnable > max_calls:
                self._refuse(turn, "Not run: no more tool calls are allowed.")
                return "calls"
            ran += runnable
            self._add(turn, await self._run_all(turn.tool_calls))
            if self.loop.is_new(times):
                self._say(_NUDGED.format(times=times))
                await self.tell(Progress("nudge", result.steps, turn=turn))

    def _left(self) -> float | None:
        return None if self.until is None else self.until - time.monotonic()

    def _took(self, answer: Any) -> Turn:
        """Read an answer, and put it into the history."""
        result = self.result
        turn = self._read(answer)
        result.steps += 1
        result.attempts += turn.attempts
        spent = [attempt.usage for attempt in turn.attempts if attempt.usage] or ([turn.usage] if turn.usage else [])
        result.input_tokens += sum(usage.input_tokens or 0 for usage in spent)
        result.output_tokens += sum(usage.output_tokens or 0 for usage in spent)
        ids = {call.id for call in turn.tool_calls}
        if len(ids) < len(turn.tool_calls) or ids & self.ids:
            # Models that write ids into text write the same ones again: in every answer, or for each call of one.
            turn = with_calls(turn, [call._with_id(new_id()) for call in turn.tool_calls])
        self.ids.update(call.id for call in turn.tool_calls)
        result.turn, result.content = turn, turn.content
        said = turn.content.strip() or turn.tool_calls or turn.provider_state
        if said:
            message = assistant_message(
                turn, provider=self.provider, tools=None if self.provider == "text" else self.tools
            )
            result.messages.extend(message if isinstance(message, list) else [message])
        return turn

    def _read(self, answer: Any) -> Turn:
        if isinstance(answer, Turn):
            return answer
        if isinstance(answer, str):
            return extract(answer, self.tools)
        provider = "auto" if self.provider == "text" else self.provider
        return normalize(answer, self.tools, provider=provider)

    def _refuse(self, turn: Turn, why: str) -> None:
        self._add(turn, [ToolResult(call, error=self._why_not(call) or why) for call in turn.tool_calls])

    def _why_not(self, call: ToolCall) -> str:
        told = None if self.provider == "text" else self.provider
        return self.tools.error_message(call, provider=told) or (
            "" if call.runnable else f"Not run: it is {call.status}."
        )

    def _add(self, turn: Turn, results: Sequence[ToolResult]) -> None:
        self.result.results += results
        told = [(each.call, each.error or each.output, not each.success) for each in results]
        messages = format_tool_results(told, provider=self.provider, tools=self.tools)
        self.result.messages.extend(messages)

    def _say(self, text: str) -> None:
        to = "openai" if self.provider == "text" else self.provider
        self.result.messages.extend(convert_messages([{"role": "user", "content": text}], to=to, source="openai"))

    async def _run_all(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        run = executor(self.execute, calls, self.tools, self.context) if any(call.runnable for call in calls) else None
        locks: dict[str, asyncio.Lock] = {}
        names = None if self.sequential is True else set(self.sequential or ())
        for call in calls:
            if names is None or call.name in names:
                # In turn, and with True one after the other whatever their names.
                locks[call.id] = locks.setdefault("" if names is None else f"\0{call.name}", asyncio.Lock())
        tasks = [asyncio.ensure_future(self._one(run, call, locks.get(call.id))) for call in calls]
        try:
            done, _ = await asyncio.wait(tasks, timeout=self._left())
        except BaseException:
            for task in tasks:
                task.cancel()
            # No task outlives a run that was cancelled.
            await asyncio.gather(*tasks, return_exceptions=True)
            raise
        for task in tasks:
            if task not in done:
                task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        interrupted = "The call was interrupted; whether it took effect is not known."
        results = []
        for call, task in zip(calls, tasks, strict=True):
            if task.cancelled():
                results.append(ToolResult(call, error=interrupted))
            elif (raised := task.exception()) is not None:
                raise raised
            else:
                results.append(task.result())
        return results

    async def _one(self, run: Execute | None, call: ToolCall, lock: asyncio.Lock | None) -> ToolResult:
        step = self.result.steps
        if run is None or not call.runnable:
            return ToolResult(call, error=self._why_not(call))
        async with lock if lock is not None else _NOTHING:
            if self.approve is not None:
                allowed = self.approve(call)
                allowed = await allowed if inspect.isawaitable(allowed) else allowed
                if allowed is not True:
                    why = f": {allowed}" if isinstance(allowed, str) and allowed else "."
                    return ToolResult(call, error=f"Not run, for it was not approved{why}")
            await self.tell(Progress("tool_started", step, call=call))
            described = self.tools[call.name].description if call.name in self.tools else ""
            with _telemetry.tool(call, described) as seen:
                result = await self._executed(run, call)
                seen["error"], seen["result"] = result.error, result.output
        await self.tell(Progress("tool_ended", step, call=call, result=result))
        return result

    async def _executed(self, run: Execute, call: ToolCall) -> ToolResult:
        try:
            output = await asyncio.wait_for(attempt(run, call), self.tool_seconds)
        except (TimeoutError, asyncio.TimeoutError):
            return ToolResult(call, error=f"{call.name} timed out")
        except CallError as error:
            return ToolResult(call, error=str(error))
        except BadOptionError:
            raise
        except Exception as error:
            raised = error.__cause__ if isinstance(error, OwnTimeoutError) else error
            return ToolResult(call, error=words(error), exception=raised)
        failed = getattr(output, "is_error", None) is True or getattr(output, "isError", None) is True
        if failed or (isinstance(output, Mapping) and output.get("isError") is True):
            return ToolResult(call, output=output, error=_error_text(output))
        return ToolResult(call, output=output)

    async def tell(self, progress: Progress) -> None:
        if self.progress is not None:
            told = self.progress(progress)
            if inspect.isawaitable(told):
                await told


class _Nothing:
    async def __aenter__(self) -> None:
        return None

    async def __aexit__(self, *_: object) -> None:
        return None


_NOTHING = _Nothing()


def _error_text(output: Any) -> str:
    """What the result of an MCP tool says of its failure."""
    content = output.get("content") if isinstance(output, Mapping) else getattr(output, "content", None)
    parts = content if isinstance(content, list) else []
    texts = [part.get("text") if isinstance(part, Mapping) else getattr(part, "text", None) for part in parts]
    return "\n".join(text for text in texts if isinstance(text, str)) or "The tool failed."


async def _asked(ask: Callable[[Messages], Any], messages: Messages) -> Any:
    answer = ask(messages)
    return await answer if inspect.isawaitable(answer) else answer


class _Loop:
    """Sees when a model repeats itself."""

    def __init__(self, key: Callable[[ToolCall], Any] | None) -> None:
        self._key = key or _canonical
        self._seen: list[str | None] = []
        self._nudged = False

    def is_new(self, times: int) -> bool:
        """Return whether to warn the model that it repeats itself: once for each time that it begins to."""
        warned, self._nudged = self._nudged, times >= _NUDGE
        return times >= _NUDGE and not warned

    def saw(self, calls: Sequence[ToolCall]) -> int:
        """Take the calls of a turn, and return how often in a row they came: alone, or taking turns with others."""
        keys = [self._key(call) for call in calls]
        # A turn of nothing but exempt calls is no repetition of anything.
        known = sorted(repr(key) for key in keys if key is not None)
        self._seen.append("\n".join(known) if known else None)
        del self._seen[: -2 * _STOP]
        return max(self._repeated(1), self._repeated(2))

    def _repeated(self, period: int) -> int:
        seen = self._seen
        last = seen[-period:]
        if len(last) < period or None in last or (period > 1 and len(set(last)) == 1):
            return 0
        times = 0
        while seen[len(seen) - (times + 1) * period : len(seen) - times * period] == last:
            times += 1
        return times


def _canonical(call: ToolCall) -> Any:
    if call.status in ("malformed", "incomplete"):
        return call.name, call.raw or call.arguments_json
    return call.name, json.dumps(call.arguments, sort_keys=True, default=str)
