"""The parts of the README, and the tables in docs/formats.md and docs/repair.md, that can be checked.

As a script: `run` and `tests` print the command that the README gives for it, so that the CI runs the README itself;
`formats` writes the table of formats anew from the catalogue, `repairs` that of repairs from tests/data/json/repair.jsonl.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "README.md"
FORMAT = ROOT / "docs" / "formats.md"
REPAIR = ROOT / "docs" / "repair.md"
COMMANDS = ("run", "tests")


def blocks(language: str) -> list[tuple[int, str]]:
    """The line and the text of each fenced block in this language."""
    text = README.read_text("utf-8")
    found = re.finditer(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return [(text.count("\n", 0, match.start(1)) + 1, match[1]) for match in found]


def command(name: str) -> str:
    """One of the two commands that set everything up."""
    return blocks("sh")[COMMANDS.index(name)][1].replace("$ ", "")


def formats() -> str:
    """The table of formats."""
    import toolglot

    rows = ["| dialect | models | also called |", "| --- | --- | --- |"]
    for dialect in toolglot.dialects():
        also = ", ".join(f"`{name}`" for name in dialect.parsers if name != dialect.name)
        rows.append(f"| `{dialect.name}` | {dialect.about} | {also} |")
    return "\n".join(rows)


def code(text: str) -> str:
    """The text as code in a cell: white space that would vanish is spelt out, what would end the cell is escaped."""
    shown = text.replace("\n", "⏎").replace("\t", "⇥").replace("|", "\\|")
    shown = "".join(chr(0x2400 + ord(c)) if ord(c) < 0x20 else "[BOM]" if c == "\ufeff" else c for c in shown)
    if "`" in shown:
        return f"`` {shown} ``" if "``" not in shown else f"```` {shown} ````"
    return f"`{shown}`"


def repairs() -> str:
    """The table of repairs, one section for each kind of slip."""
    cases = [json.loads(line) for line in (ROOT / "tests/data/json/repair.jsonl").read_text("utf-8").splitlines()]
    families: dict[str, list[str]] = {}
    for case in cases:
        value = json.dumps(case["json"], ensure_ascii=False)
        cut = "" if case["ending"] == "closed" else f" ({case['ending']})"
        row = f"| {code(case['text'])} | {code(value)}{cut} | {', '.join(case['codes']) or '-'} |"
        families.setdefault(case["family"], []).append(row)
    parts = [f"{len(cases)} rows.\n"]
    for family, rows in families.items():
        parts.append(
            "\n".join([f"## {family.capitalize()}\n", "| text | value | changed |", "| --- | --- | --- |", *rows, ""])
        )
    return "\n".join(parts)


FORMATS = re.compile(r"(?<=<!-- formats -->\n).*?(?=<!-- /formats -->)", re.DOTALL)
REPAIRS = re.compile(r"(?<=<!-- repairs -->\n).*?(?=<!-- /repairs -->)", re.DOTALL)


if __name__ == "__main__":
    if sys.argv[1] == "formats":
        FORMAT.write_text(FORMATS.sub(lambda _: formats() + "\n", FORMAT.read_text("utf-8")), "utf-8")
    elif sys.argv[1] == "repairs":
        REPAIR.write_text(REPAIRS.sub(lambda _: repairs() + "\n", REPAIR.read_text("utf-8")), "utf-8")
    else:
        print(command(sys.argv[1]))
