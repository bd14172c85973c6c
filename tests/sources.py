"""Give each case of tests/data/dialects that has no `source` one: `python tests/sources.py [FILE ...]`.

A source is where the text comes from: the URL of a thread, a peer's test, a model, or `made` where somebody thought it up.
The files named are cases of peers' suites (JSON Lines, `.gz` is unpacked) with `text`, `id` and `source`: a case whose text is
one of theirs has that test as its source, under the name of the suite, with which the `id` begins. All others are `made`.
What a case has already stays.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter
from pathlib import Path

CASES = Path(__file__).resolve().parent / "data" / "dialects"
MADE = "made"
ABOUT = '{"about": '
# Shorter texts are the same by chance.
SHORTEST = 25


def tests_of_peers(paths: list[str]) -> dict[str, str]:
    """The tests, by the text that they read."""
    tests: dict[str, str] = {}
    for path in paths:
        with gzip.open(path, "rt", encoding="utf-8") if path.endswith(".gz") else open(path, encoding="utf-8") as file:
            for case in map(json.loads, file):
                text = case["text"].strip()
                if len(text) >= SHORTEST:
                    tests.setdefault(text, f"{case['id'].split('/')[0]}: {case['source']}")
    return tests


def main() -> int:
    tests = tests_of_peers(sys.argv[1:])
    given: Counter[str] = Counter()
    for path in sorted(CASES.glob("*.jsonl")):
        lines = []
        for line in path.read_text("utf-8").splitlines():
            case = json.loads(line)
            if not case.get("source"):
                source = tests.get(case["text"].strip(), MADE)
                given[source] += 1
                # Behind what it is about, and the rest as it is written.
                if not line.startswith(ABOUT):
                    raise SystemExit(f"{path}: a case does not begin with what it is about: {line[:100]}")
                _, end = json.JSONDecoder().raw_decode(line, len(ABOUT))
                line = f'{line[:end]}, "source": {json.dumps(source)}{line[end:]}'
            lines.append(f"{line}\n")
        path.write_text("".join(lines), "utf-8")
    for source, count in given.most_common():
        print(f"{count:5} {source}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
