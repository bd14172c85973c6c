"""What commands read: model outputs, logged responses, tools; from files or standard input."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from . import ToolSet

__all__ = ["Failure", "member_of", "outputs", "read", "read_tools", "responses", "say"]


class Failure(Exception):
    """What ends the command: a sentence for people."""


def say(what: object) -> None:
    """Tell people something, beside the result."""
    print(f"toolglot: {what}", file=sys.stderr)


def responses(files: Sequence[str], field: str | None) -> Iterator[tuple[str, Any]]:
    """Each logged response with a name for it, or what is wrong with its line."""
    for file in files:
        for number, line in enumerate(read(file).split(b"\n"), 1):
            place = f"{file}:{number}"
            if not line.strip():
                continue
            try:
                yield place, line if field is None else member_of(line, field, place)
            except Failure as failure:
                yield place, failure


def outputs(files: Sequence[str], jsonl: bool, field: str) -> Iterator[tuple[str, str | bytes | Failure]]:
    """Each model output with a name for it, or what is wrong with its line."""
    for file in files:
        data = read(file)
        if not jsonl:
            yield file, data
            continue
        for number, line in enumerate(data.split(b"\n"), 1):
            if not line.strip():
                continue
            place = f"{file}:{number}"
            try:
                yield place, field_of(line, field, place)
            except Failure as failure:
                yield place, failure


def field_of(line: bytes, field: str, place: str) -> str:
    """The text in ``field`` of a line of JSON."""
    text = member_of(line, field, place)
    if text is None:
        # What APIs write where there are calls and no words.
        return ""
    if not isinstance(text, str):
        raise Failure(f"{place}: field {field!r} is no string")
    return text


def member_of(line: bytes, field: str, place: str) -> Any:
    """What stands in ``field`` of a line of JSON."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Failure(f"{place}: no JSON: {error}") from None
    text = record
    for name in [field] if isinstance(record, dict) and field in record else field.split("."):
        if isinstance(text, dict) and name in text:
            text = text[name]
        elif isinstance(text, list) and name.isdecimal() and int(name) < len(text):
            text = text[int(name)]
        else:
            has = f"it has {', '.join(map(repr, record))}" if isinstance(record, dict) else "it is no object"
            raise Failure(f"{place}: no field {field!r}; {has} (--field names it)")
    return text


def read(file: str) -> bytes:
    """The bytes of a file, or of standard input for "-"."""
    try:
        if file == "-":
            if sys.stdin is None:
                raise Failure("standard input is closed")
            return sys.stdin.buffer.read()
        with open(file, "rb") as stream:
            return stream.read()
    except OSError as error:
        raise Failure(f"{file}: {error.strerror or error}") from None


def read_tools(file: str) -> list[Any]:
    """The tools in a JSON file."""
    try:
        tools = json.loads(read(file))
    except (ValueError, RecursionError) as error:
        raise Failure(f"{file}: no JSON: {error}") from None
    if isinstance(tools, dict):
        tools = tools.get("tools", [tools])
    if not isinstance(tools, list):
        raise Failure(f"{file}: a list of tools is needed")
    for problem in ToolSet(tools).problems:
        say(f"{file}: {problem}")
    return tools
