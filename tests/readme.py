"""The parts of the README that can be checked.

As a script: `run` and `tests` print the command that the README gives for it, so that the CI runs the README itself;
`formats` writes the table of formats anew from the catalogue.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

README = Path(__file__).resolve().parent.parent / "README.md"
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


FORMATS = re.compile(r"(?<=<!-- formats -->\n).*?(?=<!-- /formats -->)", re.DOTALL)


if __name__ == "__main__":
    if sys.argv[1] == "formats":
        README.write_text(FORMATS.sub(lambda _: formats() + "\n", README.read_text("utf-8")), "utf-8")
    else:
        print(command(sys.argv[1]))
