"""toolglot beside the peers that are Python packages, on the same texts in the same run.

    python benches/python/compare.py [--quick] [--json FILE]

Reading whole texts, arguments as dicts; streaming 4 characters a chunk; JSON repair. Each row gives the median time
of each contender, and in brackets how many times toolglot's (told the dialect) it is. A contender that finds other
calls than the text was made from shows as "wrong". Times are thread CPU time: the machine may be busy.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import re
import statistics
import sys
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
    out: list[str] = []
    length = 0
    while length < size:
        name, key, value = choice.choice(NOUNS), choice.choice(NOUNS), choice.choice(NOUNS)
        out.append(f'def {name}_{choice.randrange(999)}(x):\n    return "{value}\\t%s" % x["{key}"]\n\n')
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
        from agent_tool_parser import ToolParser
    except ImportError:
        return found
    # It renames arguments by default (query to pattern, say); the names that the tools declare are to stay.
    names = {key: key for entry in TOOLS for key in entry["function"]["parameters"]["properties"]}
    peer = ToolParser(param_aliases=names)
    found["agent-tool-parser"] = dict.fromkeys(
        WRITERS, lambda text: [(c.name, c.args) for c in peer.try_parse_calls(text)]
    )
    return found


Repairer = Callable[[str], Any]


def repairers() -> dict[str, Repairer]:
    """Contenders in JSON repair: broken text to value."""
    found: dict[str, Repairer] = {}
    if hasattr(toolglot, "repair_json"):
        found["toolglot"] = toolglot.repair_json
    for module, name in (("json_repair", "json_repair"), ("fast_json_repair", "fast-json-repair")):
        try:
            found[name] = __import__(module).loads
        except ImportError:
            continue
    return found


def broken() -> dict[str, tuple[str, Any]]:
    """Broken JSON and what it means."""
    choice = random.Random(3)
    rows = [
        {"title": choice.choice(NOUNS), "words": choice.sample(NOUNS, 3), "n": choice.randrange(99), "done": True}
        for _ in range(50)
    ]
    good = dumps(rows)
    return {
        "valid, 50 rows": (good, rows),
        "trailing commas": (good.replace("]", ",]").replace("}", ",}"), rows),
        "single quotes": (good.replace('"', "'"), rows),
        "unquoted keys": (re.sub(r'"(\w+)":', r"\1:", good), rows),
    }


# Measuring


def fresh(text: str) -> str:
    """A new str with nothing cached on it."""
    return (text + " ")[:-1]


def median(work: Callable[[Any], object], make: Callable[[], Any], budget: float) -> float:
    """The median time of `work` on a fresh input, in microseconds."""
    samples: list[float] = []
    value = make()
    begin = now()
    work(value)
    inner = max(1, min(5000, int(1e6 / max(now() - begin, 100))))
    end = time.perf_counter() + budget
    while len(samples) < 5 or (time.perf_counter() < end and len(samples) < 200):
        values = [make() for _ in range(inner)]
        begin = now()
        for value in values:
            work(value)
        samples.append((now() - begin) / inner / 1000)
    return statistics.median(samples)


def streaming(dialect: str, chunks: list[str]) -> Callable[[Any], object]:
    tools = toolglot.ToolSet(TOOLS)

    def work(_: Any) -> Calls:
        parser = toolglot.StreamParser(tools=tools, dialect=dialect)
        feed = parser.feed
        for chunk in chunks:
            feed(chunk)
        return [(c.name, c.arguments) for c in parser.finish().tool_calls]

    return work


def table(title: str, unit: str, contenders: list[str], rows: list[tuple[str, dict[str, Any]]]) -> None:
    """Print one table: times, and how many times the first contender's each is."""
    print(f"\n{title} ({unit})\n")
    width = max(len(name) for name, _ in rows) + 2
    print(" " * width + "".join(f"{name:>26}" for name in contenders))
    for name, cells in rows:
        base = cells.get(contenders[0])
        line = f"{name:{width}}"
        for contender in contenders:
            cell = cells.get(contender, "-")
            if isinstance(cell, float):
                ratio = f" ({cell / base:.1f}x)" if isinstance(base, float) and contender != contenders[0] else ""
                cell = f"{cell:,.2f}{ratio}"
            line += f"{cell:>26}"
        print(line)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--quick", action="store_true", help="a tenth of the time, for a first look")
    options.add_argument("--json", metavar="FILE", help="write the numbers there too")
    given = options.parse_args()
    budget = 0.05 if given.quick else 0.5
    gc.disable()
    contenders = readers()
    whole: list[tuple[str, dict[str, Any]]] = []
    streamed: list[tuple[str, dict[str, Any]]] = []
    for name, (before, calls) in workloads().items():
        for fmt, write in WRITERS.items():
            text = before + write(calls)
            cells: dict[str, Any] = {}
            for contender, formats in contenders.items():
                if fmt in formats:
                    read = formats[fmt]
                    cells[contender] = median(read, lambda t=text: fresh(t), budget) if read(text) == calls else "wrong"
            whole.append((f"{name}, {fmt}", cells))
            chunks = [text[at : at + 4] for at in range(0, len(text), 4)]
            each = {}
            for contender, dialect in (("toolglot", fmt), ("toolglot auto", "auto")):
                work = streaming(dialect, chunks)
                each[contender] = (
                    median(work, lambda: None, budget) * 1000 / len(chunks) if work(None) == calls else "wrong"
                )
            streamed.append((f"{name}, {fmt}", each))
    fixers = repairers()
    repaired = []
    for name, (text, value) in broken().items():
        cells = {}
        for contender, repair in fixers.items():
            cells[contender] = median(repair, lambda t=text: fresh(t), budget) if repair(text) == value else "wrong"
        repaired.append((name, cells))
    table("Whole texts, arguments as dicts", "us", list(contenders), whole)
    table("Streamed, 4 characters a chunk", "ns a chunk", ["toolglot", "toolglot auto"], streamed)
    table("JSON repair", "us", list(fixers), repaired)
    if given.json:
        with open(given.json, "w", encoding="utf-8") as out:
            json.dump({"whole_us": whole, "stream_ns": streamed, "repair_us": repaired}, out, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
