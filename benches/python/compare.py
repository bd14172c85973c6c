"""toolglot beside the peers that are Python packages, on the same texts in the same run.

    python benches/python/compare.py [--quick] [--json FILE]

Reading whole texts, arguments as dicts; streaming 4 characters a chunk; JSON repair. Each row gives the median time of each
contender, and in brackets how many times toolglot's (told the dialect) it is. A contender that finds other calls than the
text was made from shows as "wrong". Times are thread CPU time: the machine may be busy.
"""

from __future__ import annotations

import json
import random
import re
import time
from collections.abc import Callable
from typing import Any

import toolglot

Calls = list[tuple[str, Any]]
now = time.thread_time_ns


# Texts


def tool(name: str, **properties: str) -> dict[str, Any]:
    schema = {"type": "object", "properties": {key: {"type": kind} for key, kind in properties.items()}}
    return {"type": "function", "function": {"name": name, "description": name, "parameters": schema}}


TOOLS = [
    tool("find_flights", origin="string", destination="string", passengers="integer", direct="boolean"),
    tool("save_note", title="string", body="string", tags="array", options="object"),
    tool("put_file", path="string", text="string", replace="boolean"),
]
NOUNS = [
    "river",
    "mountain",
    "engine",
    "ledger",
    "station",
    "harbour",
    "kitchen",
    "signal",
    "market",
    "garden",
    "letter",
    "window",
    "bridge",
    "record",
    "journey",
]
VERBS = [
    "holds",
    "carries",
    "follows",
    "measures",
    "opens",
    "crosses",
    "records",
    "reaches",
    "signals",
    "returns",
    "explains",
    "balances",
]


def prose(choice: random.Random, size: int) -> str:
    """Plain sentences with now and then a character that begins a marker."""
    out: list[str] = []
    length = 0
    while length < size:
        sentence = f"The {choice.choice(NOUNS)} {choice.choice(VERBS)} a {choice.choice(NOUNS)}"
        sentence += (
            choice.choice(["", f", as a < b in {choice.choice(NOUNS)}[0]", f" (see `{{{choice.choice(NOUNS)}}}`)", ""])
            + ". "
        )
        out.append(sentence)
        length += len(sentence)
    return "".join(out)[:size]


def source(choice: random.Random, size: int) -> str:
    """Something like a program: line breaks, quotes, backslashes."""
    line = lambda: (
        f'def {choice.choice(NOUNS)}_{choice.randrange(999)}(x):\n    return "{choice.choice(NOUNS)}\\t%s" % x["{choice.choice(NOUNS)}"]\n\n'
    )
    out: list[str] = []
    length = 0
    while length < size:
        out.append(line())
        length += len(out[-1])
    return "".join(out)[:size]


def arguments(choice: random.Random, name: str) -> dict[str, Any]:
    if name == "find_flights":
        return {
            "origin": choice.choice(NOUNS),
            "destination": choice.choice(NOUNS),
            "passengers": choice.randrange(9),
            "direct": True,
        }
    return {
        "title": choice.choice(NOUNS),
        "body": prose(choice, 80),
        "tags": choice.sample(NOUNS, 3),
        "options": {"pin": True, "at": [1, 2]},
    }


def dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def plain(value: Any) -> str:
    return value if isinstance(value, str) else dumps(value)


def hermes(calls: Calls) -> str:
    return "\n".join(f'<tool_call>\n{{"name": {dumps(n)}, "arguments": {dumps(a)}}}\n</tool_call>' for n, a in calls)


def qwen3_coder(calls: Calls) -> str:
    def one(name: str, given: dict[str, Any]) -> str:
        parameters = "".join(f"<parameter={key}>\n{plain(value)}\n</parameter>\n" for key, value in given.items())
        return f"<tool_call>\n<function={name}>\n{parameters}</function>\n</tool_call>"

    return "\n".join(one(*call) for call in calls)


WRITERS: dict[str, Callable[[Calls], str]] = {"hermes": hermes, "qwen3_coder": qwen3_coder}


def workloads() -> dict[str, tuple[str, Calls]]:
    """Text before the calls, and the calls."""
    choice = random.Random(2)
    flight = ("find_flights", arguments(choice, "find_flights"))
    note = ("save_note", arguments(choice, "save_note"))
    file = ("put_file", {"path": "src/main.py", "text": source(choice, 200_000).strip(), "replace": True})
    many = [(name, arguments(choice, name)) for _ in range(32) for name in ("find_flights", "save_note")]
    return {
        "150 B + 1 call": (prose(choice, 150) + "\n", [flight]),
        "2 KB + 2 calls": (prose(choice, 2000) + "\n", [flight, note]),
        "200 KB argument": ("", [file]),
        "64 calls": ("", many),
        "200 KB prose": (prose(choice, 200_000), []),
    }


# Contenders: format -> function from a fresh text to calls

Reader = Callable[[str], Calls]


def readers() -> dict[str, dict[str, Reader]]:
    tools = toolglot.ToolSet(TOOLS)

    def told(dialect: str) -> Reader:
        return lambda text: [
            (c.name, c.arguments) for c in toolglot.extract(text, tools=tools, dialect=dialect).tool_calls
        ]

    found: dict[str, dict[str, Reader]] = {
        "toolglot": {name: told(name) for name in WRITERS},
        "toolglot auto": dict.fromkeys(WRITERS, told("auto")),
    }
    pattern = re.compile(r"<tool_call>\s*(\{.*?\})\s*</tool_call>", re.DOTALL)

    def naive(text: str) -> Calls:
        objects = [json.loads(found) for found in pattern.findall(text)]
        return [(o["name"], o["arguments"]) for o in objects]

    found["regex + json"] = {"hermes": naive}
    try:
        import agent_tool_parser as atp
    except ImportError:
        return found

    def agent_tool_parser(kind: str) -> Reader | None:
        parse = getattr(atp, "parse", None) or getattr(atp, "parse_tool_calls", None)
        return None if parse is None else lambda text: [(c.name, c.arguments) for c in parse(text, kind)]

    found["agent-tool-parser"] = {name: reader for name in WRITERS if (reader := agent_tool_parser(name))}
    return found
