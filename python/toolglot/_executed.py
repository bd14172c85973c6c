"""The caller's function on one call: what it may be, and what it raises."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from ._core import ToolCall
from .errors import BadOptionError

__all__ = ["Execute", "OwnTimeoutError", "attempt", "check_execute", "words"]

Execute: TypeAlias = Callable[[ToolCall], Any]


def check_execute(execute: Any) -> None:
    """Raise where every call would fail alike, and the model would be told of it in place of the programmer."""
    if not callable(execute):
        raise BadOptionError(f"a function that takes a ToolCall is needed, not {type(execute).__name__}", "execute")
    try:
        signature = inspect.signature(execute)
    except (TypeError, ValueError):  # Some built-in ones have none.
        return
    try:
        signature.bind(None)
    except TypeError as error:
        raise BadOptionError(f"it is called with a ToolCall and nothing else: {error}", "execute") from None


def words(error: Exception) -> str:
    """What an exception says to a model. A missing key alone would say nothing."""
    said = str(error)
    return f"{type(error).__name__}: {said}" if isinstance(error, LookupError) or not said else said


class OwnTimeoutError(Exception):
    """The tool's own, which is not that of waiting for it."""


async def attempt(execute: Execute, call: ToolCall) -> Any:
    """The tool's result, its own time-outs told from that of the call."""
    try:
        return await _run(execute, call)
    except (TimeoutError, asyncio.TimeoutError) as error:
        raise OwnTimeoutError(str(error) or type(error).__name__) from error


async def _run(execute: Execute, call: ToolCall) -> Any:
    """The tool's result. A function that is not async must not stop the others, so it runs in a thread."""
    method = getattr(type(execute), "__call__", None)  # noqa: B004 - an object may have an async one
    if inspect.iscoroutinefunction(execute) or inspect.iscoroutinefunction(method):
        return await execute(call)
    result = await asyncio.to_thread(execute, call)
    if isinstance(result, Awaitable):
        return await result
    return result
