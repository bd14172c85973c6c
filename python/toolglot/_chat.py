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
    "REASONING",
    "as_dict",
    "error_body",
    "finish_reason",
    "fresh_id",
    "new_id",
    "offered",
    "used_ids",
    "whole_characters",
]

REASONING = ("reasoning_content", "reasoning", "thinking")
"""The fields in which servers tell reasoning apart."""


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


def offered(body: Mapping[str, Any]) -> ToolSet | None:
    """The tools that the client lets the model call; None if there are none."""
    tools = body.get("tools")
    if not tools or body.get("tool_choice") == "none":
        return None
    return ToolSet(tools)


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
