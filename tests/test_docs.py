"""What the documents say is true: their examples run."""

from __future__ import annotations

import ast
import contextlib
import doctest
import inspect
import io
import json
import operator
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import readme
import toolglot
from support import ROOT
from toolglot import _core
from toolglot.cli import main

PACKAGE = Path(toolglot.__file__).parent


@pytest.mark.parametrize(
    ("line", "code"), readme.blocks("python"), ids=lambda value: f"line{value}" if isinstance(value, int) else ""
)
def test_readme(line: int, code: str) -> None:
    """Each block runs by itself; what it prints is what its comments say (`# -> ...`)."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile("\n" * (line - 1) + code, "README.md", "exec"), {"__name__": "readme"})
    said = re.findall(r"# -> (.*)", code)
    assert printed.getvalue().splitlines()[: len(said)] == said


def guide(name: str) -> list[str]:
    text = (ROOT / "docs" / f"{name}.md").read_text("utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


GUIDES = [
    pytest.param(name, code, id=f"{name}-{number}")
    for name in ("capabilities", "client", "mcp", "migrating", "own-dialects")
    for number, code in enumerate(guide(name))
    # What takes a server or a key says so.
    if not code.startswith("# no-run")
]
# The blocks of this page go on with what those before them made.
GUIDES.append(pytest.param("what-is-a-call", "".join(guide("what-is-a-call")), id="what-is-a-call"))


@pytest.mark.parametrize(("name", "code"), GUIDES)
def test_guides(name: str, code: str) -> None:
    """Each block prints what its comments say."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(code, f"{name}.md", "exec"), {"__name__": name})
    assert printed.getvalue().splitlines() == re.findall(r"# -> (.*)", code)


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node)
            if text and ">>>" in text:
                yield getattr(node, "lineno", 0), text


def documented() -> Iterator[tuple[str, str]]:
    """What the stub says of the module's names, and of the members of its classes."""
    for node in ast.parse((PACKAGE / "_core.pyi").read_text("utf-8")).body:
        members = node.body if isinstance(node, ast.ClassDef) else []
        named = [member for member in members if isinstance(member, ast.FunctionDef)]
        for item, name in [(node, ""), *((member, f"{getattr(node, 'name', '')}.") for member in named)]:
            text = ast.get_docstring(item) if isinstance(item, ast.ClassDef | ast.FunctionDef) else None
            if text:
                yield f"{name}{item.name}", text


@pytest.mark.parametrize(("name", "text"), [pytest.param(*each, id=each[0]) for each in documented()])
def test_help_says_what_the_stub_says(name: str, text: str) -> None:
    said = inspect.getdoc(operator.attrgetter(name)(_core))
    assert said is not None
    assert said.strip() == text


@pytest.mark.parametrize("path", sorted([*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyi")]), ids=lambda path: path.name)
def test_docstrings(path: Path) -> None:
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for line, text in docstrings(path):
        runner.run(doctest.DocTestParser().get_doctest(text, {}, path.name, str(path), line))
    assert runner.failures == 0


def test_table_of_formats() -> None:
    table = readme.FORMATS.search(readme.FORMAT.read_text("utf-8"))
    assert table is not None
    assert table[0].strip() == readme.formats(), "run: python tests/readme.py formats"


def test_table_of_repairs() -> None:
    table = readme.REPAIRS.search(readme.REPAIR.read_text("utf-8"))
    assert table is not None
    assert table[0].strip() == readme.repairs().strip(), "run: python tests/readme.py repairs"


def test_an_example_output_for_every_dialect() -> None:
    have = {path.stem for path in (ROOT / "examples" / "outputs").iterdir()}
    assert {dialect.name for dialect in toolglot.dialects()} <= have


def test_the_page_beside_shows_the_programs_that_are_measured() -> None:
    page = (ROOT / "docs" / "beside.md").read_text("utf-8")
    programs = sorted((ROOT / "benches" / "python" / "beside_agents").glob("with_*.py"))
    assert len(programs) == 5
    for program in programs:
        assert f"```python\n{program.read_text('utf-8').strip()}\n```" in page, program.name


def test_the_agent_of_the_page_beside_has_12_lines_and_stands_nine_broken_answers() -> None:
    folder = ROOT / "benches" / "python"
    agent = (folder / "beside_agents" / "with_toolglot.py").read_text("utf-8")
    assert sum(bool(line.strip()) for line in agent.splitlines()) <= 12
    printed = subprocess.run(
        [sys.executable, "beside.py", "toolglot"],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
        timeout=120,
        check=True,
    ).stdout
    outcomes = json.loads(printed.splitlines()[-1])
    assert len(outcomes) == 9
    # What is not bold is what a user would not want.
    assert all("**" in outcome for outcome in outcomes), outcomes
    table = (ROOT / "docs" / "beside.md").read_text("utf-8").partition("| lines |")[2].splitlines()[1:10]
    assert [row.split(" | ")[1] for row in table] == outcomes


def test_readme_commands() -> None:
    assert re.search(r"toolglot extract .*examples/outputs/\*", readme.command("run"))
    assert "examples/tools.json" in readme.command("run")
    assert "nox -s tests" in readme.command("tests")


def test_what_the_readme_shows_of_its_first_command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    (_, written), (_, printed) = readme.blocks("text")
    output = "examples/outputs/kimi_k2.txt"
    assert (ROOT / output).read_text("utf-8").strip() == written.strip()
    assert main(["extract", "--tools", "examples/tools.json", output, output]) == 0
    assert capsys.readouterr().out == printed * 2
