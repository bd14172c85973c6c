"""What two builds of toolglot read differently: `nox -s differ -- BEFORE [AFTER] [options]`.

A build is a Python interpreter that has toolglot installed, a wheel, a git revision (it is built, and kept under
target/differ), or `.`, this tree as it is, which is the default of AFTER. Both read every text of tests/data and
examples/outputs, of the case files given with --cases, and mutations of all of them (the same ones for the same --seed):
told the dialect where the case names one, and in auto. What differs is listed by kind, with counts and first examples.
The exit code is 1 if anything differs.

A case file has one JSON object a line (`.gz` is unpacked): `text`, and optionally `tools`, `dialect` or `format`, `starts_in`
and `policy`; all else is ignored. A reading that one of the builds refuses (it does not know the dialect or the option)
is counted and compared no further, and so is a field that only one of them has.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import gzip
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "tests" / "data"
BUILDS = ROOT / "target" / "differ"

# Kinds of differences, the gravest first: a reading is listed under the first that it has.
KINDS = (
    "error",
    "call lost",
    "call gained",
    "arguments changed",
    "status changed",
    "stream differs from whole",
    "content",
    "reasoning",
    "issues",
    "other fields of calls",
)
# What is compared of a call under a kind of its own.
NAMED_FIELDS = {"name", "arguments", "status"}
# How many differences from one file are shown under one kind, so that one file does not hide the others.
SHOWN_PER_FILE = 3
# Characters of text and readings that an example shows.
SHOWN = 600


class Job(NamedTuple):
    """One text and how it is read; `dialect` is None where only auto is meant."""

    source: str
    text: str
    tools: list[Any] | None
    dialect: str | None
    starts_in: str
    policy: dict[str, Any] | None


# -- in the build that reads


def read_all(jobs: IO[str], readings: IO[str], *, streamed: bool) -> None:
    """Read the jobs, one JSON list a line, and write a line for each: what was read told (or null) and in auto."""
    import toolglot

    sets: dict[str, toolglot.ToolSet | None] = {"null": None}

    def reading(job: Job, dialect: str) -> dict[str, Any]:
        try:
            key = json.dumps(job.tools)
            if key not in sets:
                sets[key] = toolglot.ToolSet(job.tools)
            options: dict[str, Any] = {"tools": sets[key], "dialect": dialect}
            # Given only where needed, so that builds without an option read all texts that do not use it.
            if job.starts_in != "content":
                options["starts_in"] = job.starts_in
            if job.policy:
                options["policy"] = job.policy
            read = as_dict(toolglot.extract(job.text, **options))
            if streamed:
                parser = toolglot.StreamParser(**options)
                for at in range(0, len(job.text), 5):
                    parser.feed(job.text[at : at + 5])
                read["streams"] = as_dict(parser.finish()) == read
            return read
        except (TypeError, ValueError, LookupError) as error:
            return {"refused": type(error).__name__}
        except BaseException as error:  # A panic is no Exception everywhere.
            if isinstance(error, KeyboardInterrupt):
                raise
            return {"error": f"{type(error).__name__}: {error}"}

    for line in jobs:
        job = Job(*json.loads(line))
        told = reading(job, job.dialect) if job.dialect and job.dialect != "auto" else None
        print(json.dumps([told, reading(job, "auto")]), file=readings)


def as_dict(turn: Any) -> dict[str, Any]:
    """What is compared of a turn; ids are left out, since those that are not in the text are random."""
    return {
        "calls": [
            {
                "name": call.name,
                "arguments": call.arguments_json,
                "status": call.status,
                "repairs": [repair.code for repair in call.repairs],
                **({"evidence": call.evidence} if hasattr(call, "evidence") else {}),
            }
            for call in turn.tool_calls
        ],
        "content": turn.content,
        "reasoning": turn.reasoning,
        "issues": [issue.code for issue in turn.issues],
    }


# -- texts


def own_jobs() -> Iterator[Job]:
    """The texts of the repository."""
    for path in sorted((DATA / "dialects").glob("*.jsonl")):
        yield from case_jobs(path, path.stem)
    yield from case_jobs(DATA / "explain.jsonl")
    for case in lines(DATA / "parallel.jsonl"):
        yield Job("parallel", case["text"], None, case["dialect"], "content", None)
    for case in lines(DATA / "hostile.jsonl"):
        yield Job("hostile", case["before"] + case["unit"] * 20 + case["after"], EXAMPLE_TOOLS, None, "content", None)
    for path in sorted((ROOT / "examples" / "outputs").glob("*.txt")):
        yield Job(f"outputs/{path.stem}", path.read_text("utf-8"), EXAMPLE_TOOLS, path.stem, "content", None)
    for path in sorted((DATA / "no_calls").iterdir()):
        text = path.read_text("utf-8")
        for part in (text, *re.split(r"\n{2,}", text)):
            for tools in (None, EXAMPLE_TOOLS):
                yield Job(f"no_calls/{path.name}", part, tools, None, "content", None)


EXAMPLE_TOOLS = json.loads((ROOT / "examples" / "tools.json").read_text("utf-8"))


def case_jobs(path: Path, dialect: str | None = None) -> Iterator[Job]:
    """The cases of a file; those that name no dialect are of `dialect`."""
    for case in lines(path):
        named = case.get("dialect") or (case.get("format") or "").removesuffix(".jinja") or dialect
        starts_in = case.get("starts_in") or "content"
        yield Job(path.name.split(".")[0], case["text"], case.get("tools"), named, starts_in, case.get("policy"))


def lines(path: Path) -> Iterator[Any]:
    """The JSON values of a file of one a line."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        for line in file:
            if line.strip():
                yield json.loads(line)


TOKENS = re.compile(r"<[^<>\s]*>|\[/?[A-Z_]+\]|```\w*|\w+|\s+|.", re.DOTALL)
# What stands before and behind calls in answers, and what changes how a text is read.
WORDS = (
    "Sure.\n\n",
    "\n\nDone.",
    "> ",
    "`",
    "```\n",
    "```json\n",
    '"',
    "<think>",
    "</think>",
    "\n",
    "Example: ",
    "<b>",
    "{",
    "}",
)


def mutants(jobs: list[Job], number: int, seed: int) -> Iterator[Job]:
    """`number` mutations of each job, the same ones for the same jobs and seed."""
    for job in jobs:
        choice = random.Random(f"{seed} {job.source} {job.text}")
        for _ in range(number):
            other = choice.choice(jobs).text
            yield job._replace(source=f"mutants of {job.source}", text=mutant(job.text, other, choice))


def mutant(text: str, other: str, choice: random.Random) -> str:
    """The text with tokens lost, doubled, swapped or put in, cut off, or with a piece of another text in it."""
    tokens = TOKENS.findall(text)
    for _ in range(choice.choice((1, 1, 1, 2, 3))):
        at = choice.randrange(len(tokens) + 1)
        rest = choice.randrange(at, len(tokens) + 1)
        match choice.randrange(8):
            case 0:
                tokens = tokens[:at]
            case 1:
                tokens = tokens[at:]
            case 2:
                del tokens[at : at + 1]
            case 3:
                tokens[at:at] = tokens[at : at + 1]
            case 4:
                tokens[at : at + 2] = tokens[at : at + 2][::-1]
            case 5:
                tokens.insert(at, choice.choice(WORDS))
            case 6:
                word = choice.choice(WORDS)
                tokens[at:at], tokens[rest + 1 : rest + 1] = [word], [word]
            case _:
                piece = TOKENS.findall(other)
                start = choice.randrange(len(piece) + 1)
                tokens[at:at] = piece[start : start + choice.randrange(1, 80)]
    return "".join(tokens)


# -- builds


def interpreter(build: str) -> Path:
    """The Python that has this build, which is made first if it is a wheel or a revision."""
    path = Path(build)
    if build != "." and path.suffix != ".whl" and path.is_file():
        return path.absolute()
    if path.suffix == ".whl":
        return with_wheel(path.resolve(), BUILDS / path.stem)
    if build == ".":
        return built(ROOT, BUILDS / "tree")
    commit = run("git", "rev-parse", "--verify", f"{build}^{{commit}}").strip()
    home = BUILDS / commit
    python = home / "venv" / "bin" / "python"
    if not python.exists():
        # Not below this tree, whose .cargo/config.toml would hold there as well.
        with tempfile.TemporaryDirectory() as folder:
            tree = Path(folder) / "source"
            run("git", "worktree", "add", "--quiet", "--detach", str(tree), commit)
            try:
                built(tree, home)
            finally:
                run("git", "worktree", "remove", "--force", str(tree))
    return python


def built(tree: Path, home: Path) -> Path:
    """A quick build of a source tree: dependencies are compiled once for all of them."""
    env = {"CARGO_PROFILE_DEV_DEBUG": "0", "CARGO_PROFILE_DEV_OPT_LEVEL": "1"} | os.environ
    wheels = home / "wheels"
    for old in wheels.glob("*.whl"):
        old.unlink()
    command = [sys.executable, "-m", "maturin", "build", "--profile", "dev", "--out", str(wheels)]
    command += ["--interpreter", "python", "--target-dir", str(BUILDS / "target")]
    subprocess.run(command, cwd=tree, env=env, check=True)
    (wheel,) = wheels.glob("*.whl")
    return with_wheel(wheel, home)


def with_wheel(wheel: Path, home: Path) -> Path:
    """A venv with the wheel in it."""
    python = home / "venv" / "bin" / "python"
    run(sys.executable, "-m", "venv", str(home / "venv"))
    run(str(python), "-m", "pip", "install", "--quiet", "--force-reinstall", str(wheel))
    return python


def run(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout


# -- the comparison


def readings(python: Path, jobs: Iterable[Job], *, streamed: bool) -> Iterator[list[Any]]:
    """What a build reads, in the order of the jobs."""
    command = [str(python), str(Path(__file__).resolve()), "--read", *(["--streams"] if streamed else [])]
    # Away from this tree and its folders, so that the build's own package is imported.
    process = subprocess.Popen(command, cwd=BUILDS, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8")
    assert process.stdin
    assert process.stdout
    stdin = process.stdin

    def write() -> None:
        # A reader that died is told below.
        with contextlib.suppress(BrokenPipeError), stdin:
            for job in jobs:
                print(json.dumps(job), file=stdin)

    threading.Thread(target=write, daemon=True).start()
    for line in process.stdout:
        yield json.loads(line)
    if process.wait():
        raise SystemExit(f"{python} could not read the texts (exit code {process.returncode})")


def kinds(before: dict[str, Any], after: dict[str, Any]) -> set[str]:
    """How two readings differ."""
    if "error" in before or "error" in after:
        return {"error"} if before != after else set()
    found = {field for field in ("content", "reasoning", "issues") if before[field] != after[field]}
    if before.get("streams") and after.get("streams") is False:
        found.add("stream differs from whole")
    names = [[call["name"] for call in read["calls"]] for read in (before, after)]
    counts = [collections.Counter(of) for of in names]
    if counts[0] - counts[1]:
        found.add("call lost")
    if counts[1] - counts[0]:
        found.add("call gained")
    if names[0] != names[1]:
        # Which of them are the same is not clear.
        return found if counts[0] != counts[1] else found | {"arguments changed"}
    for old, new in zip(before["calls"], after["calls"], strict=True):
        found |= {f"{field} changed" for field in ("arguments", "status") if old[field] != new[field]}
        if any(old[field] != new[field] for field in (old.keys() & new.keys()) - NAMED_FIELDS):
            found.add("other fields of calls")
    return found


class Difference(NamedTuple):
    job: Job
    mode: str
    before: dict[str, Any]
    after: dict[str, Any]
    kinds: list[str]


def compare(
    before: Path, after: Path, jobs: list[Job], *, streamed: bool
) -> tuple[list[Difference], collections.Counter[str]]:
    """The differences, and how many readings were compared, refused and torn (streamed otherwise than whole) by AFTER."""
    found, counts = [], collections.Counter[str]()
    both = zip(readings(before, jobs, streamed=streamed), readings(after, jobs, streamed=streamed), strict=True)
    for job, pair in zip(jobs, both, strict=True):
        for mode, old, new in zip(("told", "auto"), *pair, strict=True):
            if old is None or new is None:
                continue
            if "refused" in old or "refused" in new:
                counts["refused"] += 1
                continue
            counts["compared"] += 1
            counts["torn"] += new.get("streams") is False
            differs = kinds(old, new)
            if differs:
                found.append(Difference(job, mode, old, new, [kind for kind in KINDS if kind in differs]))
    return found, counts


def report(found: list[Difference], examples: int) -> None:
    """Print the table of kinds and sources, then the first examples of each kind."""
    for kind in KINDS:
        of = [difference for difference in found if difference.kinds[0] == kind]
        if not of:
            continue
        modes = collections.Counter(difference.mode for difference in of)
        sources = collections.Counter(difference.job.source for difference in of)
        print(f"\n== {kind}: {len(of)} ({', '.join(f'{count} {mode}' for mode, count in sorted(modes.items()))})")
        print("   " + ", ".join(f"{source} {count}" for source, count in sources.most_common()))
        shown: collections.Counter[str] = collections.Counter()
        texts: set[str] = set()
        for difference in of:
            job = difference.job
            # Told and in auto mostly differ alike.
            if shown.total() < examples and shown[job.source] < SHOWN_PER_FILE and job.text not in texts:
                shown[job.source] += 1
                texts.add(job.text)
                show(difference)


def show(difference: Difference) -> None:
    """Print one difference: the fields that differ, before and after."""
    job, before, after = difference.job, difference.before, difference.after
    print(f"\n-- {job.source}, {difference.mode} ({job.dialect}): {', '.join(difference.kinds)}")
    print("   text  ", shortened(job.text))
    for field in before.keys() | after.keys():
        if before.get(field) != after.get(field):
            print(f"   {field}\n     before", shortened(before.get(field)))
            print("     after ", shortened(after.get(field)))


def shortened(value: Any) -> str:
    """The value as JSON, without its middle if it is long."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= SHOWN else f"{text[: SHOWN // 2]} ... {text[-SHOWN // 2 :]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", help="an interpreter, a wheel, a git revision, or `.`")
    parser.add_argument("after", nargs="?", default=".", help="the same; `.` by default")
    parser.add_argument(
        "--cases", nargs="+", type=Path, default=[], metavar="PATH", help="files of cases, or folders of them"
    )
    parser.add_argument("--mutations", type=int, default=2, metavar="N", help="mutations of each text: 2")
    parser.add_argument("--seed", type=int, default=0, help="which mutations")
    parser.add_argument("--examples", type=int, default=8, metavar="N", help="how many are shown of each kind: 8")
    parser.add_argument(
        "--streams", action="store_true", help="compare streams with whole readings, too: takes thrice the time"
    )
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write every difference to a file, one JSON object a line"
    )
    given = parser.parse_args()
    jobs = list(own_jobs())
    for path in given.cases:
        for file in sorted(path.glob("*.jsonl*")) if path.is_dir() else [path]:
            jobs += case_jobs(file)
    jobs += list(mutants(jobs, given.mutations, given.seed))
    BUILDS.mkdir(parents=True, exist_ok=True)
    found, counts = compare(interpreter(given.before), interpreter(given.after), jobs, streamed=given.streams)
    if given.json:
        with given.json.open("w", encoding="utf-8") as file:
            for difference in found:
                print(json.dumps(difference._asdict() | {"job": difference.job._asdict()}), file=file)
    report(found, given.examples)
    print(
        f"\n{len(jobs)} texts, {counts['compared']} readings compared, {counts['refused']} refused, {len(found)} differ"
    )
    if given.streams:
        print(f"{counts['torn']} are streamed otherwise than read whole by {given.after}")
    return 1 if found else 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--read"]:
        sys.stdin.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
        read_all(sys.stdin, sys.stdout, streamed="--streams" in sys.argv)
        sys.exit()
    sys.exit(main())
