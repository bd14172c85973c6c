"""Tool calling for classes shaped like an ``llm_service.py``: a mixin, and the same as a component to hold.

    class LLMService(ToolCalling):
        async def _call_llm(self) -> str:
            response = await self.api.call(messages=self.history, tools=self.get_tool_definitions_for_api())
            turn: Turn = self.observe(response)
            return turn.content

        async def answer(self) -> str:
            while True:
                text = await self._call_llm()
                if self.has_pending_tool_calls():
                    await self.execute_native_tool_calls(self.run_tool)
                self.history += self.conversation_messages()
                ...

Native calls and calls in text are read by one reader, so the same call is never there twice.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import inspect
import json
import logging
import math
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, overload

from ._core import (
    Dialect,
    Policy,
    StreamNormalizer,
    ToolCall,
    ToolSet,
    Turn,
    _refused,
    assistant_message,
    extract,
    format_tool_result,
    format_tool_results,
    normalize,
)
from ._exchanges import Exchange, Exchanges
from ._executed import Execute, Executes, OwnTimeoutError, attempt, executor, judged, words
from ._observed import StreamReader, own_ids, stop_word, written
from .capability import CapabilityStore
from .errors import BadOptionError, BadToolError, CallError
from .messages import convert_messages

if TYPE_CHECKING:
    from ._core import _AnyEvent

__all__ = ["ToolCalling", "ToolOutcome"]

_log = logging.getLogger("toolglot.service")

_DECLARES = ("definition", "description", "parameters", "inputSchema", "input_schema")
"""What says of a registry's entry that it is a tool: nothing else in it must be there."""


@dataclass(frozen=True)
class ToolOutcome:
    """What became of one call."""

    call: ToolCall
    success: bool
    output: Any = None
    """The tool's result, where it succeeded."""
    error: str = ""
    """Why the call has no output, in words for the model."""
    exception: Exception | None = field(default=None, compare=False, repr=False)
    """What the tool raised, if it did; it is logged as well."""

    @property
    def tool_id(self) -> str:
        """The id of the call that this answers."""
        return self.call.id


@dataclass(frozen=True)
class _Route:
    """Whom the mode "auto" asks about, and where it keeps what it learns."""

    store: CapabilityStore
    model: str
    base_url: str | None

    def record(self, outcome: Literal["success", "failure", "ignored"]) -> None:
        self.store.record(self.model, self.base_url, "native_tools", outcome)


@dataclass
class _Settings:
    tools: ToolSet
    provider: str = "openai"
    mode: Literal["native", "text"] = "native"
    dialect: str | Dialect = "auto"
    policy: Policy | dict[str, Any] | None = None
    timeout: float | None = None
    starts_in: Literal["content", "reasoning"] = "content"
    route: _Route | None = None
    wire: str = "openai"
    """The provider's wire format."""
    exchanges: Exchanges = field(default_factory=Exchanges)


class ToolCalling:
    """The calls of the model's last answer: read, executed, and written back.

    As a component, make one; as a mixin, ``use_tools`` sets it up, and no ``__init__`` is needed.

    Turns that run at once in one service do not mix: what a task or thread observes belongs to it, and to the one that
    started it (``create_task``, ``gather``, ``TaskGroup``, ``wait_for``, ``to_thread``) where that asks for it. An answer of
    which nothing says what it belongs to (``run_in_executor`` carries no context along) goes to who asks next. Where there are
    several of these, asking raises: open each turn with ``begin_turn``, or observe what the task returns.

    Args:
        tools: See ``use_tools``, which takes the same options.

    >>> from toolglot.service import ToolCalling
    >>> service = ToolCalling([{"name": "ping", "description": "Ping", "parameters": {"type": "object"}}])
    >>> service.observe('<tool_call>{"name": "ping", "arguments": {}}</tool_call>').content
    ''
    >>> service.has_pending_tool_calls(), service.last_stop_reason
    (True, 'tool_calls')
    """

    _toolglot: _Settings

    def __init__(self, tools: Any = (), **options: Any) -> None:
        super().__init__()
        self.use_tools(tools, **options)

    # -- the tools --

    def use_tools(
        self,
        tools: Any,
        *,
        provider: str = "openai",
        mode: Literal["native", "text", "auto"] = "native",
        dialect: str | Dialect = "auto",
        policy: Policy | dict[str, Any] | None = None,
        timeout: float | None = None,
        starts_in: Literal["content", "reasoning"] = "content",
        model: str | None = None,
        base_url: str | None = None,
        capabilities: CapabilityStore | None = None,
    ) -> None:
        """Say which tools there are and who is asked.

        Args:
            tools: A ToolSet, whatever makes one, or an MCP registry: ``{name: {"server", "definition", "enabled"}}``, where
                the definition is a tool as MCP lists it, or its description and parameters; disabled ones are left out.
            provider: Whose API is called.
            mode: ``"text"`` for models without native tools: the tools go into the prompt (``with_tool_prompt``), and
                results into text. ``"auto"`` is ``"native"`` unless it is known that ``model`` at ``base_url`` takes no tools, or drops
                them; :meth:`refused` learns that.
            dialect: How the model spells calls in text. With ``"auto"``, the default, text mode asks for plain JSON;
                whatever dialect the model then answers in, its results come in the form that this one has for them.
            policy: A Policy, or a dict of its options.
            timeout: Seconds that one tool may take, more than 0; None, the default, sets no limit.
            starts_in: ``"reasoning"`` where the model's prompt has already opened the reasoning block (R1, QwQ, thinking
                Qwens).
            model: With ``mode="auto"``, the model that is asked.
            base_url: With ``mode="auto"``, where it is asked.
            capabilities: With ``mode="auto"``, where it is looked up and kept what routes can do; without one, in this service.

        Raises:
            BadOptionError: An option's value is not one of those it may have.
            BadToolError: Nothing given is a tool; or an entry of a registry has no definition, and ``place`` names it.
            UnknownProviderError: No provider is called so.
            UnknownDialectError: No dialect, parser or model of that name is known.
            BadDialectError: In text mode, the dialect does not show how a call is written: it lacks an example.
        """
        route = None
        if mode == "auto":
            if not isinstance(model, str):
                raise BadOptionError('with mode="auto", the model is needed', "model")
            route = _Route(CapabilityStore() if capabilities is None else capabilities, model, base_url)
            mode, dialect = _known_mode(route, dialect)
        settings = _Settings(_tool_set(tools), provider, mode, dialect, policy, timeout, starts_in, route)
        _check(settings)
        self._toolglot = settings

    @property
    def _settings(self) -> _Settings:
        settings: _Settings | None = self.__dict__.get("_toolglot")
        if settings is None:
            settings = self._toolglot = _Settings(ToolSet([]))
        return settings

    def __repr__(self) -> str:
        settings = self._settings
        return f"<{type(self).__name__}: {len(settings.tools)} tools, {settings.provider}, {settings.mode}>"

    @property
    def tool_mode(self) -> Literal["native", "text"]:
        """How tools are offered now."""
        return self._settings.mode

    def refused(self, error: Any) -> bool:
        """Take what the provider raised or answered instead of an answer, and return whether to ask again.

        With ``mode="auto"``, an error that denies tools is remembered, and the next request is in text mode.

        Args:
            error: An exception of the provider's SDK or of ``httpx``, with its response, or a dict of ``status`` and ``body``.
        """
        settings = self._settings
        if settings.route is None or settings.mode == "text":
            return False
        status, body = _error_of(error)
        if _refused(status, body, None) != "native_tools":
            return False
        settings.route.record("failure")
        settings.mode, settings.dialect = _known_mode(settings.route, settings.dialect)
        return settings.mode == "text"

    @property
    def tool_set(self) -> ToolSet:
        """The tools as a ToolSet."""
        return self._settings.tools

    def get_tool_definitions_for_api(self) -> list[Any] | None:
        """The tools in the provider's shape, for the ``tools`` of its request; None if there are none to pass.

        :func:`toolglot.compat.get_tool_definitions_for_api` is for services that make that shape themselves.
        """
        settings = self._settings
        if settings.mode == "text" or not len(settings.tools):
            return None
        return settings.tools.to(settings.provider)

    def with_tool_prompt(self, messages: list[Any]) -> list[Any]:
        """The messages to send: in text mode with the tools in the system prompt, else as they are.

        Where the provider takes its system prompt beside the messages (Anthropic, Gemini, Bedrock), the tools are put at the
        beginning of the first user message.
        """
        settings = self._settings
        if settings.mode == "native" or not len(settings.tools):
            return messages
        if not _prompt_stands_beside(settings.provider):
            return settings.tools.inject(messages, settings.dialect)
        (prompt,) = convert_messages([_chat("user", settings.tools.to_prompt(settings.dialect))], to=settings.provider)
        return _before_question(prompt, messages)

    # -- what the model answered --

    def begin_turn(self) -> None:
        """Forget the last answer. What is observed from here on, in this task or one that it starts, belongs here.

        So does what is observed in a thread that has this task's context: ``asyncio.to_thread`` carries it along, but
        ``loop.run_in_executor`` and a bare ``threading.Thread`` do not. There, call the model in the thread and ``observe``
        what it answers outside.
        """
        self._settings.exchanges.begin()

    @overload
    def observe(
        self, response: AsyncIterator[Any], *, starts_in: Literal["content", "reasoning"] | None = None
    ) -> AsyncIterator[_AnyEvent]: ...
    @overload
    def observe(
        self, response: Iterator[Any], *, starts_in: Literal["content", "reasoning"] | None = None
    ) -> Iterator[_AnyEvent]: ...
    @overload
    def observe(self, response: Any, *, starts_in: Literal["content", "reasoning"] | None = None) -> Turn: ...
    def observe(self, response: Any, *, starts_in: Literal["content", "reasoning"] | None = None) -> Any:
        """Read what the provider answered.

        Args:
            response: A provider's response (dict, JSON bytes, SDK object), the model's text, or a stream: an iterator
                or async iterator of the provider's chunks, of its bytes, or of text. A Turn is taken as it is.
            starts_in: As in ``use_tools``, for this answer.

        Returns:
            The Turn. For a stream, an iterator of events: the turn is there when it is used up. A stream that breaks
            off or is given up leaves no turn, so nothing of it is executed, and is closed. Calls in text get ids of
            their own, in the events as in the turn: models that write ids write the same ones in every answer.

        Raises:
            ProviderError: The response holds no answer.
        """
        if isinstance(response, Turn):
            return self._take(response, written(response))
        settings = self._settings
        options = _reading(settings, starts_in)
        if isinstance(response, str):
            return self._take(own_ids(extract(response, **options)), response)
        if hasattr(response, "__aiter__"):
            return self._observe_async(response, self._reader(options), self._settings.exchanges.observed())
        if hasattr(response, "__next__") or (hasattr(response, "__iter__") and hasattr(response, "close")):
            return self._observe_sync(response, self._reader(options), self._settings.exchanges.observed())
        try:
            turn = normalize(response, provider=settings.provider, **options)
        except Exception:
            self._settings.exchanges.observed()
            raise
        return self._take(own_ids(turn), written(turn))

    def _reader(self, options: dict[str, Any]) -> StreamReader:
        settings = self._settings
        return StreamReader(settings.provider, keep_text=settings.mode == "text", options=options)

    async def _observe_async(self, stream: Any, reader: StreamReader, exchange: Exchange) -> AsyncIterator[_AnyEvent]:
        try:
            async for chunk in stream:
                for event in reader.feed(chunk):
                    yield event
        finally:
            close = getattr(stream, "aclose", None) or getattr(stream, "close", None)
            closing = close() if close is not None else None
            if inspect.isawaitable(closing):
                await closing
        for event in reader.close():
            yield event
        exchange.turn, exchange.raw = reader.finish()

    def _observe_sync(self, stream: Any, reader: StreamReader, exchange: Exchange) -> Iterator[_AnyEvent]:
        try:
            for chunk in stream:
                yield from reader.feed(chunk)
        finally:
            close = getattr(stream, "close", None)
            if close is not None:
                close()
        yield from reader.close()
        exchange.turn, exchange.raw = reader.finish()

    def _take(self, turn: Turn, raw: str | None) -> Turn:
        route = self._settings.route
        if route is not None and self._settings.mode == "native" and turn.source == "native":
            route.record("success")
        exchange = self._settings.exchanges.observed()
        exchange.turn, exchange.raw = turn, raw
        return turn

    def _exchange(self, *, take: bool = True) -> Exchange:
        return self._settings.exchanges.asked(take=take)

    @property
    def last_turn(self) -> Turn | None:
        """What the model answered last.

        Raises:
            BadOptionError: Here and wherever the last answer is asked for: it is one of several that were observed in other
                tasks or threads, and nothing says which.
        """
        return self._exchange(take=False).turn

    @property
    def last_stop_reason(self) -> str | None:
        """Why the model stopped, in the provider's own word: ``"tool_use"`` of Anthropic, ``"tool_calls"`` of OpenAI.

        It is decided by what is there, so calls in text have that word as well, and so have those that must not run;
        where the provider has none for calls (Gemini, Ollama), it is ``"tool_calls"``. ``last_turn.stop_reason`` is the same in
        one spelling for all. :meth:`has_pending_tool_calls` is what to loop on.
        """
        turn = self.last_turn
        return stop_word(turn.stop_reason, self._settings.wire) if turn is not None else None

    def has_pending_tool_calls(self) -> bool:
        """There are calls that have no result yet, also if all that can be said to them is what is wrong."""
        exchange = self._exchange()
        return exchange.turn is not None and bool(exchange.turn.tool_calls) and exchange.outcomes is None

    def get_last_tool_calls(self) -> list[ToolCall]:
        """The calls of the last answer, native ones or those in the text, also those that may not run."""
        turn = self.last_turn
        return list(turn.tool_calls) if turn is not None else []

    # -- what becomes of the calls --

    async def execute_native_tool_calls(
        self, execute: Executes | None = None, *, context: Any = None
    ) -> list[ToolOutcome]:
        """Execute the pending calls at once and return their outcomes in the model's order.

        Args:
            execute: Takes a ToolCall and returns the result: a coroutine function, or a function, which runs in a
                thread. Or functions by the names of their tools, which get the arguments as their annotations say; or a
                ToolSet of functions. None means the functions that the service's own tools were made of.
                What a function raises becomes an error result, is logged (``toolglot.service``), and is the outcome's
                ``exception``; a result that says so as MCP's do (``isError``, ``is_error``), or as a service's own
                executor (``success``, ``output``, ``error``), is an error as well. Which server has the tool is
                ``tool_set[call.name].server``.
            context: For parameters that are annotated ``toolglot.Context[T]``.

        A call that is not runnable is never executed: its outcome says what was wrong, for the model. Calls that have
        an outcome are not executed again, and who asks while they run waits for the same outcomes.

        Raises:
            BadOptionError: ``execute`` is no function of one argument, or has no function for a call that may run.
        """
        exchange = self._exchange()
        run = executor(execute, exchange.turn.tool_calls if exchange.turn is not None else (), self.tool_set, context)
        if exchange.turn is None:
            return []
        if exchange.outcomes is not None:
            return list(exchange.outcomes)
        # Not read from the exchange once they are done: by then it may hold another answer.
        if exchange.running is None:
            outcomes = await self._run_all(exchange, run, exchange.turn.tool_calls)
        else:
            outcomes = await asyncio.wrap_future(exchange.running)
        return list(outcomes)

    async def _run_all(self, exchange: Exchange, execute: Execute, calls: Sequence[ToolCall]) -> list[ToolOutcome]:
        running = exchange.running = concurrent.futures.Future()
        # Whoever waits for it may be cancelled, it may not.
        running.set_running_or_notify_cancel()
        interrupted = "The call was interrupted; whether it took effect is not known."
        outcomes = [ToolOutcome(call, False, error=interrupted) for call in calls]
        try:
            outcomes = list(await asyncio.gather(*(self._outcome(execute, call) for call in calls)))
        finally:
            # The exchange may hold a new answer by now.
            if exchange.running is running:
                exchange.outcomes = outcomes
            running.set_result(outcomes)
        return outcomes

    async def _outcome(self, execute: Execute, call: ToolCall) -> ToolOutcome:
        settings = self._settings
        if not call.runnable:
            return ToolOutcome(call, False, error=self._why_not(call))
        try:
            result = await asyncio.wait_for(attempt(execute, call), settings.timeout)
        except (TimeoutError, asyncio.TimeoutError):
            return ToolOutcome(call, False, error=f"{call.name} timed out")
        except CallError as error:
            # The arguments are not what the annotations say: nothing was run, and nothing failed.
            return ToolOutcome(call, False, error=str(error))
        except Exception as error:
            raised = error.__cause__ if isinstance(error, OwnTimeoutError) else error
            said = words(error)
            _log.warning("the tool %s failed: %s", call.name, said)
            _log.debug("the tool %s failed", call.name, exc_info=raised)
            return ToolOutcome(call, False, error=said, exception=raised if isinstance(raised, Exception) else error)
        success, output, why = judged(result)
        return ToolOutcome(call, success, output=output, error=why)

    def _why_not(self, call: ToolCall) -> str:
        settings = self._settings
        told = None if settings.mode == "text" else settings.provider
        why = settings.tools.error_message(call, provider=told) or f"The call was not executed: it is {call.status}."
        if call.status in ("malformed", "incomplete") and call.raw:
            why += f"\nThis was written:\n{call.raw[:2000]}"
        return why

    # -- the way back --

    def format_tool_result(self, tool_id: str, result: Any, is_error: bool = False) -> Any:
        """One result as the message that the provider wants, found by the id of the call it answers."""
        settings = self._settings
        calls = {call.id: call for call in self.get_last_tool_calls()}
        known = calls.get(tool_id, tool_id)
        if settings.mode == "text":
            dialect = self._result_dialect()
            message = format_tool_result(
                known, result, is_error=is_error, provider="text", dialect=dialect, tools=settings.tools
            )
            return self._as_provider([message])[0]
        return format_tool_result(known, result, is_error=is_error, provider=settings.provider, tools=settings.tools)

    def conversation_messages(self) -> list[Any]:
        """What to add to the history for the last answer: the assistant's message, and the results of its calls.

        Every call in it has its result, also those that were never executed or still run, so that the history is valid
        for the provider. An answer that says nothing leaves nothing: providers refuse empty messages.
        """
        exchange, settings = self._exchange(), self._settings
        exchange.closed = True
        turn = exchange.turn
        if turn is None or not (turn.content.strip() or turn.tool_calls or turn.provider_state):
            return []
        outcomes = exchange.outcomes
        if outcomes is None:
            why = "The call was not executed." if exchange.running is None else "The call has no result yet."
            outcomes = [ToolOutcome(call, False, error=why) for call in turn.tool_calls]
        results = [(outcome.call, outcome.error or outcome.output, not outcome.success) for outcome in outcomes]
        if settings.mode == "text":
            raw = exchange.raw if _goes_back(turn) else None
            return self._as_provider([self._as_written(turn, raw), *self._text_results(results)])
        message = assistant_message(turn, provider=settings.provider, tools=settings.tools)
        first = message if isinstance(message, list) else [message] if message else []
        return [*first, *format_tool_results(results, provider=settings.provider, tools=settings.tools)]

    def _as_provider(self, messages: list[Any]) -> list[Any]:
        """Messages that hold nothing but text, in the provider's shape."""
        provider = self._settings.provider
        return messages if provider == "openai" else list(convert_messages(messages, to=provider, source="openai"))

    def _as_written(self, turn: Turn, raw: str | None) -> Any:
        """The answer in text mode: what the model wrote, or native calls in the form that it would have written."""
        if raw:
            return _chat("assistant", raw)
        return assistant_message(turn, provider="text", dialect=self._result_dialect())

    def _text_results(self, results: list[Any]) -> list[Any]:
        if not results:
            return []
        dialect = self._result_dialect()
        return format_tool_results(results, provider="text", dialect=dialect, tools=self._settings.tools)

    def _result_dialect(self) -> str | Dialect | None:
        dialect, turn = self._settings.dialect, self.last_turn
        return dialect if dialect != "auto" else turn.dialect if turn is not None else None


def _check(settings: _Settings) -> None:
    """Raise what the first answer would raise, where it is the caller's to mend."""
    if settings.mode not in ("native", "text"):
        raise BadOptionError(f"{settings.mode!r} is neither 'native' nor 'text'", "mode")
    timeout = settings.timeout
    if timeout is not None and (isinstance(timeout, bool) or not isinstance(timeout, (int, float))):
        raise BadOptionError(f"seconds are a number, not a {type(timeout).__name__}", "timeout")
    if timeout is not None and (math.isnan(timeout) or timeout <= 0):
        raise BadOptionError(f"{timeout} seconds are no time to wait; None sets no limit", "timeout")
    # Made for its errors as well.
    settings.wire = StreamNormalizer(settings.provider, **_reading(settings, None)).provider or "openai"
    # A dialect that cannot be shown to the model raises here, not in the middle of a conversation.
    settings.tools.to_prompt(settings.dialect if settings.mode == "text" else "auto")


def _known_mode(route: _Route, dialect: str | Dialect) -> tuple[Literal["native", "text"], str | Dialect]:
    """The mode that a route is asked in, and the dialect of its text."""
    known = route.store.get(route.model, route.base_url)
    if known.native_tools.value not in ("no", "ignored"):
        return "native", dialect
    return "text", (known.dialect.value or "auto") if dialect == "auto" else dialect


def _error_of(error: Any) -> tuple[int, str]:
    """The status and the body of an error, as SDKs keep them."""
    if isinstance(error, Mapping):
        body = error.get("body", "")
        return int(error.get("status", 400)), body if isinstance(body, str) else json.dumps(body)
    response = getattr(error, "response", None)
    status = getattr(error, "status_code", None) or getattr(response, "status_code", None) or 400
    try:
        text = response.text if response is not None else str(error)
    except Exception:  # The response was streamed, and nobody read it.
        text = str(error)
    return int(status), str(text)


def _chat(role: str, content: str) -> dict[str, Any]:
    return {"role": role, "content": content}


def _prompt_stands_beside(provider: str) -> bool:
    """Whether the provider takes its system prompt in a field of its own, not as a message."""
    return convert_messages([_chat("system", "-"), _chat("user", "-")], to=provider, source="openai").system is not None


def _before_question(prompt: Any, messages: list[Any]) -> list[Any]:
    """The messages with the `prompt`, a user's in the same shape, at the beginning of the first one of the user."""
    messages = list(messages)
    key = "parts" if "parts" in prompt else "content"
    for place, message in enumerate(messages):
        if isinstance(message, Mapping) and message.get("role") == "user" and message.get(key):
            ours, theirs = prompt[key], message[key]
            if isinstance(ours, str) and isinstance(theirs, str):
                joined: Any = f"{ours}\n\n{theirs}"
            else:
                joined = [*_blocks(ours), *_blocks(theirs)]
            messages[place] = {**message, key: joined}
            return messages
    return [prompt, *messages]


def _blocks(content: Any) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else list(content)


def _reading(settings: _Settings, starts_in: str | None) -> dict[str, Any]:
    """The options with which an answer is read."""
    return {
        "tools": settings.tools,
        "dialect": settings.dialect,
        "policy": settings.policy,
        "starts_in": starts_in or settings.starts_in,
    }


def _goes_back(turn: Turn) -> bool:
    """The model wrote calls as text, and is to see in the history what it wrote; but no result that it made up."""
    if turn.source != "text" or not turn.tool_calls:
        return False
    return not any(issue.code == "invented_result" for issue in turn.issues)


def _tool_set(tools: Any) -> ToolSet:
    if isinstance(tools, ToolSet):
        return tools
    if not isinstance(tools, Mapping) or not any(isinstance(entry, Mapping) for entry in tools.values()):
        return ToolSet(tools)
    for name, entry in tools.items():
        declared = isinstance(entry, Mapping) and (
            entry.get("enabled") is False or any(key in entry for key in _DECLARES)
        )
        if not declared:
            message = (
                "an entry of a registry is {server, definition, enabled}, or a tool; without names, tools are a list"
            )
            raise BadToolError(message, str(name))
    return ToolSet([{"name": name, **entry} for name, entry in tools.items()])
