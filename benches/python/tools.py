"""A thousand MCP tools to OpenAI's and other providers' declarations.

    python benches/python/tools.py [COUNT]

The best and the median of thread CPU time in milliseconds: the machine may be busy. The garbage collector is off.
"""

from __future__ import annotations

import copy
import gc
import json
import random
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import toolglot

WORDS = "file path branch issue query limit state order label owner title body page commit search filter token".split()


def schema(dice: random.Random, depth: int = 0) -> dict[str, Any]:
    """An object as servers describe it: some eight properties, a few of them lists, choices and objects."""
    properties: dict[str, Any] = {}
    for number in range(dice.randint(5, 11) if depth == 0 else 2):
        kind = dice.choice(
            ["string", "string", "integer", "boolean", "array", "choice", "object" if depth == 0 else "string"]
        )
        words = " ".join(dice.choices(WORDS, k=6))
        name = f"{dice.choice(WORDS)}_{number}"
        if kind == "object":
            properties[name] = {**schema(dice, depth + 1), "description": words}
        elif kind == "array":
            properties[name] = {"type": "array", "items": {"type": "string"}, "description": words}
        elif kind == "choice":
            properties[name] = {"type": "string", "enum": dice.sample(WORDS, 4), "description": words}
        else:
            properties[name] = {"type": kind, "description": words}
    return {"type": "object", "properties": properties, "required": list(properties)[:2]}


def tools(count: int) -> list[dict[str, Any]]:
    """Tools as ``tools/list`` gives them."""
    dice = random.Random(1)
    return [
        {
            "name": f"{dice.choice(WORDS)}_{number}",
            "title": "A tool",
            "description": " ".join(dice.choices(WORDS, k=20)),
            "inputSchema": schema(dice),
            "annotations": {"readOnlyHint": True},
        }
        for number in range(count)
    ]


def measure(name: str, work: Callable[[], Any], rounds: int = 40) -> None:
    """Print how long some work takes."""
    times = []
    for _ in range(rounds):
        begun = time.thread_time_ns()
        result = work()
        times.append((time.thread_time_ns() - begun) / 1e6)
        del result
    print(f"{name:44}{min(times):9.2f}{statistics.median(times):9.2f}")


def main() -> None:
    """Measure."""
    items = tools(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
    text = json.dumps({"tools": items}).encode()
    again = toolglot.ToolSet(items)
    again.to_json("openai")
    gc.disable()
    print(f"{len(items)} tools, {len(text) / 1e6:.2f} MB{'best':>30}{'median':>9}")
    measure("dicts to OpenAI's dicts", lambda: toolglot.ToolSet(items).to_openai())
    wrapped = {"tools": items, "nextCursor": "x"}
    measure("tools/list's dict to OpenAI's dicts", lambda: toolglot.ToolSet(wrapped).to_openai())
    odd = [*items, {"name": "a.b", "inputSchema": {"properties": {"x": {"$ref": "#/nowhere"}}}}]
    measure("the same with one that is not plain", lambda: toolglot.ToolSet(odd).to_openai())
    measure("dicts to Anthropic's dicts", lambda: toolglot.ToolSet(items).to_anthropic())
    measure("JSON to OpenAI's JSON", lambda: toolglot.ToolSet.from_json(text).to_json("openai"))
    measure("the same set to dicts again", again.to_openai)
    measure("the same set to JSON again", lambda: again.to_json("openai"))
    measure("dicts to OpenAI's strict dicts", lambda: toolglot.ToolSet(items).to_openai(strict=True), 5)
    measure("dicts to Gemini's dicts", lambda: toolglot.ToolSet(items).to_gemini(), 5)
    measure("json.loads of the JSON, as a reference", lambda: json.loads(text))
    measure("copy.deepcopy of the tools", lambda: copy.deepcopy(items), 5)


if __name__ == "__main__":
    main()
