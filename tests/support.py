"""What several test files share: reading streams, comparing turns, checking events."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import toolglot

ROOT = Path(__file__).resolve().parent.parent

# The tools that the examples of the catalogue and the outputs in examples/ call.
EXAMPLE_TOOLS = json.loads((ROOT / "examples" / "tools.json").read_text("utf-8"))


def snapshot(turn: toolglot.Turn) -> dict[str, Any]:
    """Everything a turn says, without ids: those that were not in the text are random."""
    said = turn.to_dict()
    for call, of in zip(said["tool_calls"], turn.tool_calls, strict=True):
        call["arguments_json"] = of.arguments_json
        del call["id"]
    return said


def stream(pieces: Iterable[str | bytes], **options: Any) -> tuple[toolglot.Turn, list[toolglot.Event]]:
    """The turn and all the events of a stream."""
    parser = toolglot.StreamParser(**options)
    events = [event for piece in pieces for event in parser.feed(piece)]
    events += parser.close()
    return parser.finish(), events


def begins(part: Any, whole: Any) -> bool:
    """What was told of a cut-off call is the beginning of what is certain of it."""
    match part, whole:
        case str(), str():
            return whole.startswith(part)
        case dict(), dict():
            return all(key in whole and begins(value, whole[key]) for key, value in part.items())
        case list(), list():
            return len(part) <= len(whole) and all(map(begins, part, whole))
        case _:
            return type(part) is type(whole) and bool(part == whole)


def check_events(turn: toolglot.Turn, events: list[toolglot.Event]) -> None:
    """P1: the events add up to the turn, in a sensible order."""
    content, reasoning = "", ""
    started: dict[int, toolglot.Event] = {}
    pieces: dict[int, str] = {}
    ended: dict[int, toolglot.ToolCall] = {}
    for event in events:
        match event.kind:
            case "text":
                assert event.text
                content += event.text
            case "reasoning":
                assert event.text
                reasoning += event.text
            case "reclassified":
                content, reasoning = "", content + reasoning
            case "call_started":
                assert event.index == len(started) == len(ended), "calls come one after the other"
                started[event.index] = event
                pieces[event.index] = ""
            case "arguments":
                assert event.text
                assert event.index in started
                assert event.index not in ended
                pieces[event.index] += event.text
            case "call_ended":
                assert event.index in started
                assert event.index not in ended
                ended[event.index] = event.call
            case "issue":
                assert event.issue in turn.issues
            case other:
                raise AssertionError(f"unknown event {other}")
    assert content == turn.content
    assert reasoning == (turn.reasoning or "")
    assert len(ended) == len(started) == len(turn.tool_calls)
    for index, call in enumerate(turn.tool_calls):
        assert ended[index] == call
        assert started[index].id == call.id
        assert started[index].name == call.name
        if call.status == "incomplete" and pieces[index]:
            told = toolglot.parse_partial_json(pieces[index])
            assert begins(told, call.arguments), (pieces[index], call.arguments_json)
        # What held all arguments was not told before it was clear.
        unwrapped = any(repair.message.endswith("held all arguments") for repair in call.repairs)
        if call.status == "ok" or (call.runnable and unwrapped):
            assert pieces[index] == call.arguments_json
            assert json.loads(pieces[index]) == call.arguments
