"""A fleet of models that answer as real ones do, asked by the client: how often a turn succeeds, and what it costs.

Run by ``nox -s fleet``. The rates are those of 41 models' answers in the Berkeley Function Calling Leaderboard's runs of 2024, read by
this library: how many in a hundred have calls that can all be run, calls that may not, and none. Each answer is drawn anew, a
correction as well, which is worse than models are. The servers take no native tools: half of them refuse, half drop them without a
word; they keep to a schema. The forms are those of the models, the words our own.
"""

from __future__ import annotations

import contextlib
import json
import random
import sys
from dataclasses import dataclass
from typing import Any

from toolglot import CapabilityStore, ProviderError, SyncClient, ToolSet

TURNS = 300
TOOL = {
    "name": "get_weather",
    "description": "The weather in a city.",
    "parameters": {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
        "additionalProperties": False,
    },
}


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


class Server:
    """Answers for a model."""

    def __init__(self, model: Model, drops: bool, seed: int) -> None:
        self.model, self.drops, self.random = model, drops, random.Random(seed)

    def __call__(self, request: Any) -> tuple[int, dict[str, str], Any]:
        body = request.json
        if "tools" in body and not self.drops:
            return 400, {}, {"error": {"message": f"{self.model.name} does not support tools"}}
        drawn = self.random.random()
        good = drawn < self.model.good
        arguments: dict[str, Any] = {"city": "Oslo", "days": 3} if good else {"city": ["Oslo"], "when": "soon"}
        call = {"name": "get_weather", "arguments": arguments}
        if "response_format" in body and body["response_format"]["type"] == "json_schema":
            # Under a schema, calls cannot be wrong in form.
            call["arguments"] = {"city": "Oslo"}
            text = json.dumps({"toolCalls": [call], "content": "", "needsMoreWork": True})
        elif not good and drawn >= self.model.good + self.model.bad:
            text = "I would need to look up the weather in Oslo for you."
        else:
            said = ", ".join(f"{key}={value!r}" for key, value in arguments.items())
            text = self.model.form.replace("{call}", json.dumps(call)).replace("{arguments}", said)
        usage = {"prompt_tokens": 200, "completion_tokens": 30, "total_tokens": 230}
        return 200, {}, {"choices": [{"message": {"role": "assistant", "content": text}}], "usage": usage}


def asked(model: Model, number: int) -> SyncClient:
    """The client after its turns with a model."""
    server = Server(model, drops=number % 2 == 0, seed=number)
    client = SyncClient(model.name, "http://localhost:8000/v1", client=server, capabilities=CapabilityStore())
    tools = ToolSet([TOOL])
    for _ in range(TURNS):
        with contextlib.suppress(ProviderError):
            client.complete(
                [{"role": "user", "content": "What is the weather in Oslo?"}], tools, tool_choice="required"
            )
    return client


def main() -> int:
    """Print a line a model and one a tier; 1 if a tier does not reach what is asked of it."""
    print(f"{'model':32} {'success':>8} {'extra':>6} {'fallback':>9}")
    tiers: dict[str, list[Any]] = {}
    for number, model in enumerate(MODELS):
        stats = asked(model, number).stats
        tiers.setdefault(model.tier, []).append(stats)
        print(f"{model.name:32} {stats.success_rate:8.1%} {stats.retries_per_success:6.3f} {stats.fallback_share:9.1%}")
    failed = False
    for tier, all_stats in tiers.items():
        turns, answered = sum(s.turns for s in all_stats), sum(s.answered for s in all_stats)
        extra = (sum(s.requests for s in all_stats) - turns) / max(answered, 1)
        share = sum(s.fallbacks for s in all_stats) / turns
        reached = answered / turns >= ASKED[tier] and extra <= 0.2 and share < 0.05
        failed |= not reached
        print(f"{tier:32} {answered / turns:8.1%} {extra:6.3f} {share:9.1%}  asked: {ASKED[tier]:.0%}, 0.2, 5 %")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
