"""A model output as a case of a test: what was written, the tools, and what it is read as now."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

from . import StreamParser, Turn, extract

# Longer texts are cut at so many places, not at every one.
MAX_CUTS = 400


def expectation(turn: Turn) -> dict[str, Any]:
    """What a case says of its turn: content, reasoning, calls, and the codes of the issues."""
    calls = []
    for call in turn.tool_calls:
        entry: dict[str, Any] = {"name": call.name, "arguments": call.arguments}
        if call.status != "ok":
            entry["status"] = call.status
        calls.append(entry)
    expect: dict[str, Any] = {"content": turn.content}
    if turn.reasoning is not None:
        expect["reasoning"] = turn.reasoning
    expect["calls"] = calls
    if turn.issues:
        expect["issues"] = [issue.code for issue in turn.issues]
    return expect


def case(text: str, about: str, source: str, tools: list[Any] | None, options: dict[str, Any]) -> dict[str, Any]:
    """The case: one line of a file in tests/data/dialects. Options that are the defaults are left out."""
    made: dict[str, Any] = {"about": about, "source": source, "dialect": options["dialect"], "text": text}
    if tools is not None:
        made["tools"] = tools
    if options["starts_in"] != "content":
        made["starts_in"] = options["starts_in"]
    if options["policy"]:
        made["policy"] = options["policy"]
    made["expect"] = expectation(extract(text, tools=tools, **options))
    if options["dialect"] != "auto":
        auto = expectation(extract(text, tools=tools, **{**options, "dialect": "auto"}))
        if auto != made["expect"]:
            # Only the dialect that is named reads it so.
            made["auto"] = False
    return made


def differs_in_pieces(text: str, tools: list[Any] | None, options: dict[str, Any]) -> list[str] | None:
    """Return pieces in which the streamed text is read otherwise than the whole; None if there are none."""
    whole = summary(extract(text, tools=tools, **options))
    for pieces in cuts(text):
        parser = StreamParser(tools=tools, **options)
        for piece in pieces:
            parser.feed(piece)
        if summary(parser.finish()) != whole:
            return pieces
    return None


def summary(turn: Turn) -> str:
    """The turn as text, without the ids, which are new each time."""
    said = turn.to_dict()
    for call, of in zip(said["tool_calls"], turn.tool_calls, strict=True):
        del call["id"]
        call["arguments_json"] = of.arguments_json
    return json.dumps(said, default=str)


def cuts(text: str) -> Iterator[list[str]]:
    """The text in pieces: every character alone, in two at many places, and at random."""
    yield list(text)
    choice = random.Random(text)
    places: Sequence[int] = range(1, len(text))
    if len(text) > MAX_CUTS:
        places = sorted(choice.sample(places, MAX_CUTS))
    for at in places:
        yield [text[:at], text[at:]]
    for _ in range(20):
        several = sorted(choice.randrange(len(text) + 1) for _ in range(8))
        yield [text[i:j] for i, j in zip([0, *several], [*several, len(text)], strict=True)]
