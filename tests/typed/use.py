"""What a user's own code looks like to a strict checker: mypy --strict and pyright accept it, and find what is wrong in it.

Not run: tests/test_typed.py gives it to the checkers.
"""

from __future__ import annotations

from collections.abc import AsyncIterator

import toolglot
from toolglot.compat import ChatMessage, parsed_tool_calls
from toolglot.service import ToolCalling


def shown(event: toolglot.Event) -> str:
    return event.kind


def narrowed_in_match(tools: toolglot.ToolSet, chunks: list[str]) -> list[str]:
    said: list[str] = []
    stream = toolglot.stream(chunks, tools)
    for event in stream:
        match event.kind:
            case "text":
                said.append(event.text.upper())
            case "call_started":
                said.append(f"{event.index + 1} {event.id.upper()} {event.name.upper()}")
            case "arguments":
                said.append(event.text.strip())
            case "call_ended":
                said.append(event.call.name.upper())
            case "issue":
                said.append(event.issue.code.upper())
            case "reasoning" | "reclassified":
                said.append(shown(event))
    return [*said, stream.turn.content]


def narrowed_by_if(parser: toolglot.StreamParser, normalizer: toolglot.StreamNormalizer) -> list[str]:
    said: list[str] = []
    for event in [*parser.feed("Hi"), *normalizer.feed({}), *parser.close()]:
        if event.kind == "text" or event.kind == "reasoning":
            said.append(event.text.upper())
        elif event.kind == "call_ended":
            said.append(event.call.id.upper())
    return said


async def narrowed_in_a_service(service: ToolCalling, chunks: AsyncIterator[str]) -> list[str]:
    return [event.text.upper() async for event in service.observe(chunks) if event.kind == "text"]


def statuses(turn: toolglot.Turn) -> list[str]:
    return [call.status for call in turn.tool_calls if call.status == "ok" or call.status == "repaired"]


def servers(turn: toolglot.Turn, tools: toolglot.ToolSet) -> list[str]:
    message: ChatMessage = {"role": "assistant", "content": turn.content}
    return [message["role"], *(call["server"] for call in parsed_tool_calls(turn, tools))]


def wrong(event_of: toolglot.StreamParser, call: toolglot.ToolCall) -> None:
    """Each line is an error to both checkers; an ignore that ignores nothing is one as well."""
    for event in event_of.feed("Hi"):
        match event.kind:
            case "text":
                print(event.call.name)  # type: ignore[union-attr] # pyright: ignore[reportOptionalMemberAccess]
            case "tex":  # pyright: ignore[reportUnnecessaryComparison]
                pass
            case _:
                print(event.text.upper())  # type: ignore[union-attr] # pyright: ignore[reportOptionalMemberAccess]
    if call.status == "okay":  # type: ignore[comparison-overlap] # pyright: ignore[reportUnnecessaryComparison]
        pass
