"""A fleet of models that answer as real ones do, asked by the client: how often a turn succeeds, and what it costs.

Run by ``nox -s fleet``, beside the same fleet through LiteLLM, pydantic-ai and LangChain (``fleet_peers.py``) where they are installed.
The rates are those of 41 models' answers in the Berkeley Function Calling Leaderboard's runs of 2024, read by this library: how many in a
hundred have calls that can all be run, calls that may not, and none. Each answer is drawn anew, a correction as well, which is worse than
models are. The forms are those of the models, the words our own.

Of three servers of a model one refuses native tools, one drops them without a word and one takes them: there the calls come as native
ones. All keep to a schema. A turn succeeds where there is a call with arguments that fit; requests are counted by the server.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import logging
import random
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from loopback import completion, serve
from toolglot import CapabilityStore, ProviderError, SyncClient, ToolSet

QUESTION = "What is the weather in Oslo?"
PARAMETERS = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
    "additionalProperties": False,
}
TOOL = {"name": "get_weather", "description": "The weather in a city.", "parameters": PARAMETERS}


@dataclass(frozen=True)
class Model:
    """How a model answers."""

    name: str
    tier: str
    good: float
    bad: float
    form: str
    """Its calls: ``{call}`` is the JSON of one, ``{arguments}`` are those of Python."""


HERMES = "<tool_call>\n{call}\n</tool_call>"
PYTHON = "[get_weather({arguments})]"
FENCE = "```json\n{call}\n```"
MODELS = [
    Model("gpt-4-0125-preview", "strong", 0.985, 0.015, PYTHON),
    Model("gpt-4o-2024-08-06", "strong", 1.0, 0.0, f"```json\n{PYTHON}\n```"),
    Model("mistral-large-2407", "strong", 1.0, 0.0, FENCE),
    Model("Hermes-2-Pro-Llama-3-70B", "XML-prone", 0.98, 0.02, HERMES),
    Model("Hermes-2-Pro-Llama-3-8B", "XML-prone", 0.955, 0.045, HERMES),
    Model("claude-3-haiku-20240307", "XML-prone", 0.90, 0.10, PYTHON),
    Model("deepseek-coder-6.7b-instruct", "weak", 0.90, 0.02, FENCE),
    Model("mistral-tiny-2312", "weak", 0.88, 0.06, PYTHON),
    Model("Meta-Llama-3-8B-Instruct", "weak", 0.84, 0.16, PYTHON),
    Model("gemma-7b-it", "weak", 0.77, 0.09, FENCE),
]
ASKED = {"strong": 0.99, "XML-prone": 0.95, "weak": 0.85}
SERVERS = ("refuses tools", "drops tools", "takes tools")


class Server:
    """Answers for a model, and counts how often it is asked."""

    def __init__(self, model: Model, kind: str, seed: int) -> None:
        self.model, self.kind, self.random = model, kind, random.Random(seed)
        self.requests = 0

    def answer(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """Return status and body."""
        if any(message["role"] == "tool" and "degrees" in str(message["content"]) for message in body["messages"]):
            # The turn is over: what an agent asks behind it is no cost of it.
            return 200, completion("It is cold.")
        self.requests += 1
        if "tools" in body and self.kind == "refuses tools":
            return 400, {"error": {"message": f"{self.model.name} does not support tools"}}
        drawn = self.random.random()
        good = drawn < self.model.good
        arguments: dict[str, Any] = {"city": "Oslo", "days": 3} if good else {"city": ["Oslo"], "when": "soon"}
        call = {"name": "get_weather", "arguments": arguments}
        if (body.get("response_format") or {}).get("type") == "json_schema":
            # Under a schema, calls cannot be wrong in form: that of an envelope of calls, or of one call's arguments.
            right = {"city": "Oslo"}
            envelope = {"toolCalls": [{**call, "arguments": right}], "content": "", "needsMoreWork": True}
            return 200, completion(
                json.dumps(envelope if "toolCalls" in json.dumps(body["response_format"]) else right)
            )
        if not good and drawn >= self.model.good + self.model.bad:
            return 200, completion("I would need to look up the weather in Oslo for you.")
        if "tools" in body and self.kind == "takes tools":
            # By whatever name the one tool is offered.
            name = body["tools"][0]["function"]["name"]
            return 200, completion(None, [(name, json.dumps(arguments))], prefix=f"call_{self.requests}")
        words = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
        return 200, completion(self.model.form.replace("{call}", json.dumps(call)).replace("{arguments}", words))


@dataclass
class Count:
    """What came of turns."""

    turns: int = 0
    answered: int = 0
    requests: int = 0
    fallbacks: float = 0.0

    def __add__(self, other: Count) -> Count:
        return Count(*(mine + theirs for mine, theirs in zip(vars(self).values(), vars(other).values(), strict=True)))

    @property
    def success(self) -> float:
        return self.answered / self.turns

    @property
    def extra(self) -> float:
        """Requests beyond the first of a turn, per turn that succeeded."""
        return (self.requests - self.turns) / self.answered if self.answered else float("nan")

    @property
    def fallback(self) -> float:
        return self.fallbacks / self.turns

    def __str__(self) -> str:
        extra = f"{self.extra:.3f}" if self.answered else "-"
        return f"{self.success:8.1%} {extra:>6} {self.fallback:9.1%}"


Ask = Callable[[], bool]
"""Asks once for the weather, and returns whether there was a call that could be run."""


def fits(arguments: Any) -> bool:
    """Whether arguments are what the tool takes."""
    call = ToolSet([TOOL]).check("get_weather", arguments)
    return call.status == "ok"


@contextmanager
def toolglot(model: str, url: str) -> Iterator[tuple[Ask, Callable[[], int]]]:
    """Ask by the client; and how many turns fell back."""
    tools = ToolSet([TOOL])
    with SyncClient(model, url, capabilities=CapabilityStore()) as client:

        def ask() -> bool:
            with contextlib.suppress(ProviderError):
                turn = client.complete([{"role": "user", "content": QUESTION}], tools, tool_choice="required")
                return any(call.runnable for call in turn.tool_calls)
            return False

        yield ask, lambda: client.stats.fallbacks


def asked(library: Any, model: Model, kind: str, seed: int, turns: int) -> Count:
    """What comes of so many turns through a library."""
    server = Server(model, kind, seed)
    with serve(server.answer) as url, library(model.name, url) as (ask, fallbacks):
        answered = sum(ask() for _ in range(turns))
        return Count(turns, answered, server.requests, fallbacks())


def libraries() -> dict[str, Any]:
    """The libraries that are installed."""
    found: dict[str, Any] = {"toolglot": toolglot}
    try:
        import fleet_peers
    except ImportError:
        return found
    return {**found, **fleet_peers.LIBRARIES}


def main() -> int:
    """Print a line for each library, tier and kind of server; 1 if a tier does not reach with toolglot what is asked of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=100, help="turns for each model and server")
    turns = parser.parse_args().turns
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    failed = False
    print(f"{'library':22} {'models':10} {'server':14} {'success':>8} {'extra':>6} {'fallback':>9}")
    for name, library in libraries().items():
        counts = {(model.tier, kind): Count() for model in MODELS for kind in SERVERS}
        for number, model in enumerate(MODELS):
            for kind in SERVERS:
                counts[model.tier, kind] += asked(library, model, kind, number, turns)
        for tier, wanted in ASKED.items():
            for kind in SERVERS:
                print(f"{name:22} {tier:10} {kind:14} {counts[tier, kind]}")
            total = sum((counts[tier, kind] for kind in SERVERS), Count())
            print(f"{name:22} {tier:10} {'all':14} {total}  asked: {wanted:.0%}, 0.2, 5 %", flush=True)
            if name == "toolglot":
                failed |= not (total.success >= wanted and total.extra <= 0.2 and total.fallback < 0.05)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
