"""Chat Completions as dicts: what the router's request, response and stream share."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

from ._core import ToolCall, ToolSet

__all__ = [
    "MORE_CALLS",
    "REASONING",
    "as_dict",
    "asks_with_functions",
    "choice_of",
    "declared",
    "error_body",
    "finish_reason",
    "fresh_id",
    "new_id",
    "offered",
    "used_ids",
    "whole_characters",
    "with_tools",
]

REASONING = ("reasoning_content", "reasoning", "thinking")
"""The fields in which servers tell reasoning apart."""

MORE_CALLS = "the client asked with `functions`, which means one call an answer: further calls were left out"
"""What is logged where a client cannot be told all calls."""


def error_body(message: str, *, code: str | None = None, param: str | None = None, type: str | None = None) -> Any:
    """An error as OpenAI's API words it.

    >>> from toolglot.router import error_body
    >>> error_body("No.", code="invalid_tool_schema", param="tools")["error"]["type"]
    'invalid_request_error'
    """
    kind = type if type is not None else "invalid_request_error"
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def as_dict(value: Any) -> dict[str, Any]:
    """A request or response as a dict of its own: shallow for dicts and plain objects, dumped for pydantic models."""
    if isinstance(value, Mapping):
        return dict(value)
    dump = getattr(value, "model_dump", None) or getattr(value, "to_dict", None)
    if dump is None and isinstance(value, SimpleNamespace):
        return dict(vars(value))
    if dump is None and dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if dump is None:
        raise TypeError(f"a dict, a dataclass or an object with model_dump is needed, not {type(value).__name__}")
    # Fields that the client did not send must not reach the backend as null.
    return dict(dump(exclude_unset=True)) if hasattr(value, "model_dump") else dict(dump())


def asks_with_functions(body: Mapping[str, Any]) -> bool:
    """Whether the client has ``functions``, as before there were ``tools``: it reads a ``function_call``."""
    return bool(body.get("functions")) and not body.get("tools")


def declared(body: Mapping[str, Any]) -> Any:
    """The request's tools, and what it has as ``functions``."""
    tools, functions = body.get("tools"), body.get("functions")
    if not isinstance(functions, list) or not isinstance(tools, list | None):
        return tools
    return [*(tools or []), *({"type": "function", "function": function} for function in functions)]


def choice_of(body: Mapping[str, Any]) -> Any:
    """The request's ``tool_choice``, or what ``function_call`` says of functions."""
    choice = body.get("function_call")
    if body.get("tool_choice") is not None or not body.get("functions"):
        return body.get("tool_choice")
    return {"type": "function", "function": choice} if isinstance(choice, Mapping) else choice


def offered(body: Mapping[str, Any]) -> ToolSet | None:
    """The tools that the client lets the model call; None if there are none."""
    tools = declared(body)
    if not tools or choice_of(body) == "none":
        return None
    return ToolSet(tools)


def with_tools(messages: Iterable[Any]) -> list[Any]:
    """The messages with each ``function_call`` as a call of a tool, and those of the role ``function`` as its result."""
    out: list[Any] = []
    # The calls that wait for their result, by the function's name, which is all that pairs them.
    waiting: dict[Any, list[str]] = {}
    for message in messages:
        role, call = message.get("role"), message.get("function_call")
        if role == "assistant" and isinstance(call, Mapping) and not message.get("tool_calls"):
            identity = new_id()
            waiting.setdefault(call.get("name"), []).append(identity)
            called = {key: value for key, value in message.items() if key != "function_call"}
            out.append({**called, "tool_calls": [{"id": identity, "type": "function", "function": dict(call)}]})
        elif role == "function":
            calls = waiting.get(message.get("name"))
            out.append({**message, "role": "tool", "tool_call_id": calls.pop(0) if calls else ""})
        else:
            out.append(message)
    return out


def finish_reason(calls: Iterable[ToolCall], said: str | None) -> str | None:
    """OpenAI's word for why a turn with these calls ended; ``said`` is the backend's."""
    statuses = {call.status for call in calls}
    if statuses & {"incomplete", "malformed"}:
        return "length"
    if statuses:
        return "length" if said == "length" else "tool_calls"
    return "stop" if said in ("tool_calls", "function_call") else said


def used_ids(body: Mapping[str, Any]) -> set[str]:
    """The ids of the calls in a request's history."""
    messages = body.get("messages") or []
    calls = [call for message in messages if isinstance(message, Mapping) for call in message.get("tool_calls") or []]
    return {str(call.get("id")) for call in calls if isinstance(call, Mapping)}


def new_id() -> str:
    """An id that no other call has."""
    return f"call_{uuid4().hex[:24]}"


def fresh_id(identity: str | None, used: set[str]) -> str:
    """The id, or a new one if a call has it already: models that write their ids themselves repeat them."""
    if not identity or identity in used:
        identity = new_id()
    used.add(identity)
    return identity


def whole_characters(value: dict[str, Any]) -> dict[str, Any]:
    """JSON without halves of characters: a lone surrogate, which JSON can write and no text can hold, is replaced."""
    try:
        text = json.dumps(value, ensure_ascii=False)
        text.encode()
    except UnicodeEncodeError:
        pass
    else:
        return value
    whole: dict[str, Any] = json.loads(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
    return whole
