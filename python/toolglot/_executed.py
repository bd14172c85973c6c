"""The caller's functions on one call: what they may be, how they are run, and what they raise."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from typing import Any, TypeAlias

from ._core import ToolCall, ToolSet
from ._values import invoke
from .errors import BadOptionError, BadToolError, CallError

__all__ = ["Execute", "Executes", "OwnTimeoutError", "attempt", "executor", "judged", "run", "run_sync", "words"]

Execute: TypeAlias = Callable[[ToolCall], Any]
Executes: TypeAlias = Execute | Mapping[str, Callable[..., Any]] | ToolSet


def executor(execute: Executes | None, calls: Iterable[ToolCall], own: ToolSet, context: Any = None) -> Execute:
    """Return a function of one ToolCall for whatever `execute` is; None means the functions of `own`.

    Raises:
        BadOptionError: Every call would fail alike; the model would get an error meant for the programmer.
    """
    if execute is None or isinstance(execute, ToolSet):
        tools = own if execute is None else execute
        names = {tool.name for tool in tools if tool.function is not None}
        _know_all(names, calls, "the ToolSet is made of" if names else "there is no `execute`, and the ToolSet has")
        return functools.partial(run, tools, context=context)
    if isinstance(execute, Mapping):
        for name, function in execute.items():
            if not callable(function):
                raise BadOptionError(f"a function is needed, not {type(function).__name__}", f"execute[{name!r}]")
        functions = {call.name: _of_mapping(execute, call.name, own) for call in calls if call.runnable}
        _know_all({name for name, function in functions.items() if function is not None}, calls, "`execute` has")
        return lambda call: _start(functions[call.name], call, context)
    _check(execute)
    return lambda call: _called(execute, call)


def _know_all(names: set[str], calls: Iterable[ToolCall], where: str) -> None:
    unknown = sorted({call.name for call in calls if call.runnable} - names)
    if unknown:
        raise BadOptionError(f"{where} no function for {', '.join(map(repr, unknown))}", "execute")


def _of_mapping(functions: Mapping[str, Any], name: str, tools: ToolSet) -> Any:
    """The function under the tool's name, or under the one that it has at its server."""
    if name in functions or name not in tools:
        return functions.get(name)
    return functions.get(tools[name].original_name)


def _check(execute: Any) -> None:
    if not callable(execute):
        raise BadOptionError(
            f"a function that takes a ToolCall, a dict of functions or a ToolSet is needed, not {type(execute).__name__}",
            "execute",
        )
    try:
        signature = inspect.signature(execute)
    except (TypeError, ValueError):  # Some built-in functions have no signature.
        return
    try:
        signature.bind(None)
    except TypeError as error:
        message = f"it is called with a ToolCall and nothing else: {error}; functions of arguments go in a dict by name"
        raise BadOptionError(message, "execute") from None


def words(error: Exception) -> str:
    """What an exception says to a model. A missing key alone would say nothing."""
    said = str(error)
    return f"{type(error).__name__}: {said}" if isinstance(error, LookupError) or not said else said


def judged(result: Any) -> tuple[bool, Any, str]:
    """Whether a tool succeeded, by what it returned; its output; and why it failed, where the result says so in words.

    An MCP result says it by ``isError`` (``is_error``), what services' own executors return by ``success``, ``output`` and
    ``error``.
    """
    if all(hasattr(result, name) for name in ("success", "output", "error")) and isinstance(result.success, bool):
        return result.success, result.output, "" if result.success else str(result.error or "The tool failed.")
    failed = getattr(result, "is_error", None) is True or getattr(result, "isError", None) is True
    if isinstance(result, Mapping) and result.get("isError") is True:
        failed = True
    return not failed, result, ""


class OwnTimeoutError(Exception):
    """The tool's own, which is not that of waiting for it."""


async def attempt(execute: Execute, call: ToolCall) -> Any:
    """Return the tool's result; a time-out raised by the tool itself becomes `OwnTimeoutError`."""
    try:
        return await execute(call)
    except (TimeoutError, asyncio.TimeoutError) as error:
        raise OwnTimeoutError(str(error) or type(error).__name__) from error


def _prepared(tools: ToolSet, call: ToolCall, context: Any) -> tuple[Any, Callable[[], Any]]:
    """The function that `call` names, and the call of it with its arguments.

    Raises:
        CallError: The call must not run.
    """
    if not isinstance(call, ToolCall):
        raise BadOptionError(f"a ToolCall is needed, not {type(call).__name__}; ToolSet.check makes one", "call")
    if call.runnable:
        # It may have been read with other tools, or without any.
        call = tools.check(call.name, call.arguments_json, id=call.id)
    if not call.runnable:
        raise CallError(tools.error_message(call) or "", call.name, call=call)
    function = tools[call.name].function
    if function is None:
        raise BadToolError(
            "the tool is a declaration, and none of the functions that the ToolSet was made of", call.name
        )
    return function, invoke(function, call, context)


async def run(tools: ToolSet, call: ToolCall, context: Any = None) -> Any:
    """Run a function of `tools`; see ``ToolSet.run``."""
    function, begin = _prepared(tools, call, context)
    return await _awaited(function, begin)


def run_sync(tools: ToolSet, call: ToolCall, context: Any = None) -> Any:
    """Run a function of `tools` in this thread; see ``ToolSet.run_sync``."""
    function, begin = _prepared(tools, call, context)
    if _is_async(function) and _in_loop():
        raise BadOptionError(f"the tool {call.name!r} is async, and a loop runs here: await `run`", "call")
    result = begin()
    if not isinstance(result, Awaitable):
        return result
    if _in_loop():
        if isinstance(result, Coroutine):
            result.close()
        raise BadOptionError(f"the tool {call.name!r} is async, and a loop runs here: await `run`", "call")
    return asyncio.run(_wait(result))


async def _wait(result: Awaitable[Any]) -> Any:
    return await result


def _in_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def _start(function: Callable[..., Any], call: ToolCall, context: Any) -> Any:
    return await _awaited(function, invoke(function, call, context))


async def _called(execute: Execute, call: ToolCall) -> Any:
    return await _awaited(execute, lambda: execute(call))


async def _awaited(function: Any, begin: Callable[[], Any]) -> Any:
    """What `begin`, a call of `function`, returns. One that is not async must not stop the others: it runs in a thread."""
    if _is_async(function):
        return await begin()
    result = await asyncio.to_thread(begin)
    if isinstance(result, Awaitable):
        return await result
    return result


def _is_async(function: Any) -> bool:
    method = getattr(type(function), "__call__", None)  # noqa: B004 - an object may have an async one
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(method)
