"""The command ``toolglot``: read tool calls out of model outputs, say why, and look up how models write them."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NoReturn, TextIO, TypeAlias

from . import Policy, Turn, __version__, _capture, _cli_capabilities, dialects, explain, extract, normalize
from ._cli_help import (
    CAPTURE_EPILOG,
    CAPTURE_HELP,
    DIALECTS_EPILOG,
    DIALECTS_HELP,
    EXPLAIN_EPILOG,
    EXPLAIN_HELP,
    EXTRACT_EPILOG,
    EXTRACT_HELP,
    NORMALIZE_EPILOG,
    NORMALIZE_HELP,
)
from ._cli_inputs import Failure, outputs, read, read_tools, responses, say
from ._marked import marked, visible
from ._summary import Summary, progress
from .errors import ProviderError, ToolglotError

EXIT_OK = 0
EXIT_NO_CALLS = 1
EXIT_USAGE = 2
EXIT_DIFFERS = 3

Run: TypeAlias = Callable[[argparse.Namespace, TextIO], int]
"""What a command does: prints to a stream, and returns the exit code."""


def parser() -> argparse.ArgumentParser:
    """The command's arguments."""
    main = argparse.ArgumentParser(
        prog="toolglot",
        description="Tool calling that works the same with every model and every provider.",
        epilog="'toolglot COMMAND --help' describes a command.",
    )
    main.add_argument("--version", action="version", version=f"toolglot {__version__}")
    commands = main.add_subparsers(title="commands", dest="command", metavar="COMMAND", required=True)

    def add(name: str, run: Run, help: str, description: str, epilog: str) -> argparse.ArgumentParser:
        raw = argparse.RawDescriptionHelpFormatter
        command = commands.add_parser(name, help=help, description=description, epilog=epilog, formatter_class=raw)
        command.set_defaults(run=run)
        return command

    command = add("extract", run_extract, "read the calls out of model outputs", EXTRACT_HELP, EXTRACT_EPILOG)
    add_files(command)
    add_options(command)
    command.add_argument("--jsonl", action="store_true", help="the files are JSON Lines")
    command.add_argument(
        "--field",
        metavar="NAME",
        help="with --jsonl: the field that holds the output, with dots where it is in another: a.0.b (default: text)",
    )
    add_forms(command)

    logged = "read the calls out of logged responses of providers"
    command = add("normalize", run_normalize, logged, NORMALIZE_HELP, NORMALIZE_EPILOG)
    add_files(command)
    add_options(command)
    command.add_argument("--provider", default="auto", metavar="NAME", help="whose responses they are (default: auto)")
    command.add_argument(
        "--field", metavar="NAME", help="the field that holds the response, with dots where it is in another: a.0.b"
    )
    add_forms(command)

    why = "say what was seen where, and why something is no call"
    command = add("explain", run_explain, why, EXPLAIN_HELP, EXPLAIN_EPILOG)
    add_files(command)
    add_options(command)
    command.add_argument(
        "--color",
        choices=("auto", "always", "never"),
        default="auto",
        help="mark the text up in colour (default: auto)",
    )
    command.add_argument("--json", action="store_true", help="print each explanation as one line of JSON")

    command = add("capture", run_capture, "turn a model output into a case for a test", CAPTURE_HELP, CAPTURE_EPILOG)
    command.add_argument(
        "file", nargs="?", default="-", metavar="FILE", help="a model output (default: standard input)"
    )
    add_options(command)
    command.add_argument("--name", metavar="NAME", help="what the case is about (default: the name of the file)")
    command.add_argument(
        "--source",
        metavar="SOURCE",
        default="captured",
        help="where the output is from: the URL of a thread, a model (default: captured)",
    )
    command.add_argument(
        "-o", "--output", default="-", metavar="FILE", help="a JSON Lines file to add the case to (default: print it)"
    )

    command = add("dialects", run_dialects, "list how model families spell tool calls", DIALECTS_HELP, DIALECTS_EPILOG)
    command.add_argument(
        "name", nargs="?", metavar="NAME", help="show in full what this name, parser or model id means"
    )
    command.add_argument("--json", action="store_true", help="print the catalogue as JSON")

    what = "say what a model at a base URL can do"
    command = add("capabilities", _cli_capabilities.run, what, _cli_capabilities.HELP, _cli_capabilities.EPILOG)
    _cli_capabilities.add_arguments(command)
    return main


def add_files(command: argparse.ArgumentParser) -> None:
    """The arguments of everything that reads several outputs."""
    command.add_argument("files", nargs="*", metavar="FILE", help="a model output ('-' or none: standard input)")


def add_forms(command: argparse.ArgumentParser) -> None:
    """How results are printed."""
    form = command.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print each result as one line of JSON")
    form.add_argument("--openai", action="store_true", help="print each result as an OpenAI assistant message")
    form.add_argument("--summary", action="store_true", help="print counts of what was found, and no result")


def add_options(command: argparse.ArgumentParser) -> None:
    """The options of everything that reads an output."""
    command.add_argument(
        "--tools", metavar="FILE", help='the tools the model was given: a JSON list, or {"tools": [...]}'
    )
    command.add_argument("--dialect", default="auto", metavar="NAME", help="how the model writes calls (default: auto)")
    command.add_argument(
        "--starts-in",
        choices=("content", "reasoning"),
        default="content",
        help="'reasoning' if the prompt has already opened the reasoning block",
    )
    command.add_argument(
        "--policy",
        action="append",
        default=[],
        metavar="OPTION=VALUE",
        help="an option of the policy, such as fences=ignore or reasoning=run; may be repeated",
    )


def options_of(arguments: argparse.Namespace) -> dict[str, Any]:
    """What the options say, as arguments of :func:`extract`."""
    policy: dict[str, Any] = {}
    for option in arguments.policy:
        name, equals, value = option.partition("=")
        if not equals:
            raise Failure(f"--policy {option}: OPTION=VALUE is needed, such as fences=ignore")
        name, value = name.strip(), value.strip()
        known = Policy().to_dict()
        if name not in known:
            raise Failure(f"--policy {name}: no such option; there are {', '.join(known)}")
        try:
            policy[name] = int(value) if isinstance(known[name], int) else value
        except ValueError:
            raise Failure(f"--policy {option}: {name} takes a number") from None
    Policy(**policy)
    return {"dialect": arguments.dialect, "starts_in": arguments.starts_in, "policy": policy or None}


def run_extract(arguments: argparse.Namespace, out: TextIO) -> int:
    """``toolglot extract``."""
    if arguments.field is not None and not arguments.jsonl:
        raise Failure("--field is for --jsonl: without it, a file is one output")
    tools = None if arguments.tools is None else read_tools(arguments.tools)
    options = options_of(arguments)
    several = len(arguments.files) > 1 or arguments.jsonl

    def turns() -> Iterator[tuple[str, Turn | Failure]]:
        for label, text in outputs(arguments.files or ["-"], arguments.jsonl, arguments.field or "text"):
            yield label, text if isinstance(text, Failure) else extract(text, tools=tools, **options)

    return print_all(turns(), several, arguments, out)


def print_all(
    turns: Iterable[tuple[str, Turn | Failure]], several: bool, arguments: argparse.Namespace, out: TextIO
) -> int:
    """Print each result as the arguments say, and count them."""
    summary = Summary(progress())
    for label, turn in turns:
        if isinstance(turn, Failure):
            say(turn)
            summary.fail()
            continue
        summary.add(turn)
        if arguments.summary:
            continue
        if arguments.openai:
            print(json.dumps(turn.to_openai(), ensure_ascii=False), file=out)
        elif arguments.json:
            result = {"file": label, **turn.to_dict()} if several else turn.to_dict()
            print(as_json(result), file=out)
        else:
            show(turn, label if several else None, out)
    summary.end()
    if arguments.summary:
        print(summary, file=out)
    return EXIT_USAGE if summary.failed else EXIT_OK if summary.calls else EXIT_NO_CALLS


def run_normalize(arguments: argparse.Namespace, out: TextIO) -> int:
    """``toolglot normalize``."""
    tools = None if arguments.tools is None else read_tools(arguments.tools)
    options = {**options_of(arguments), "provider": arguments.provider}
    normalize({"choices": [{"message": {"content": ""}}]}, **options)  # Wrong options are reported once.

    def turns() -> Iterator[tuple[str, Turn | Failure]]:
        for label, body in responses(arguments.files or ["-"], arguments.field):
            try:
                yield label, body if isinstance(body, Failure) else normalize(body, tools=tools, **options)
            except ProviderError as error:
                yield label, Failure(f"{label}: {error}")

    return print_all(turns(), True, arguments, out)


def as_json(value: Any) -> str:
    """The value as a line of JSON, which has no infinity: a number too large for a float is written as text."""
    try:
        return json.dumps(value, ensure_ascii=False, default=str, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(value), ensure_ascii=False, default=str)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "-Infinity" if value < 0 else "Infinity"
    return value


def run_explain(arguments: argparse.Namespace, out: TextIO) -> int:
    """``toolglot explain``."""
    tools = None if arguments.tools is None else read_tools(arguments.tools)
    options = options_of(arguments)
    colour = in_colour(arguments.color, out)
    found = 0
    several = len(arguments.files) > 1
    for number, label in enumerate(arguments.files or ["-"]):
        explanation = explain(read(label), tools, **options)
        found += len(explanation.turn.tool_calls)
        if arguments.json:
            result = {"file": label, **explanation.to_dict()} if several else explanation.to_dict()
            print(as_json(result), file=out)
            continue
        if several:
            print(("\n" if number else "") + f"== {label}", file=out)
        print(marked(explanation) if colour else visible(str(explanation)), file=out)
    return EXIT_OK if found else EXIT_NO_CALLS


def in_colour(wanted: str, out: TextIO) -> bool:
    """Return whether to print colour: as asked for, else whether the output is a terminal that has it."""
    if wanted != "auto":
        return wanted == "always"
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and out.isatty()


def run_capture(arguments: argparse.Namespace, out: TextIO) -> int:
    """``toolglot capture``."""
    tools = None if arguments.tools is None else read_tools(arguments.tools)
    options = options_of(arguments)
    try:
        text = read(arguments.file).decode()
    except UnicodeDecodeError as error:
        raise Failure(f"{arguments.file}: no UTF-8, and a case holds text: {error}") from None
    if not text:
        raise Failure(f"{arguments.file}: it is empty")
    stem = os.path.splitext(os.path.basename(arguments.file))[0]
    about = arguments.name or ("captured" if arguments.file == "-" else stem)
    case = _capture.case(text, about, arguments.source, tools, options)
    line = json.dumps(case, ensure_ascii=False, default=str)
    if arguments.output == "-":
        print(line, file=out)
    else:
        add_case(arguments.output, about, line)
    read_as = ", ".join(f"{call['name']} [{call.get('status', 'ok')}]" for call in case["expect"]["calls"]) or "no call"
    say(f'case {about!r}: read as {visible(read_as)}; correct "expect" to what it means')
    pieces = _capture.differs_in_pieces(text, tools, options)
    if pieces is None:
        return EXIT_OK
    cut = pieces if len(pieces) < 12 else "single characters"
    say(f"read in pieces it is something else, which is a bug in toolglot: {cut}")
    return EXIT_DIFFERS


def add_case(file: str, about: str, line: str) -> None:
    """Add a line to a file of cases, in which no case of that name may be."""
    try:
        with open(file, "a+b") as stream:
            stream.seek(0)
            data = stream.read()
            for number, old in enumerate(data.split(b"\n"), 1):
                if old.strip() and about_of(old, f"{file}:{number}") == about:
                    raise Failure(f"{file}:{number}: there is a case {about!r} already (--name gives another name)")
            if data and not data.endswith(b"\n"):
                stream.write(b"\n")
            stream.write(line.encode() + b"\n")
    except OSError as error:
        raise Failure(f"{file}: {error.strerror or error}") from None


def about_of(line: bytes, place: str) -> Any:
    """What the case on a line is about."""
    try:
        case = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Failure(f"{place}: no JSON, so this is no file of cases: {error}") from None
    return case.get("about") if isinstance(case, dict) else None


def show(turn: Turn, label: str | None, out: TextIO) -> None:
    """Print a result for people."""
    if label is not None:
        print(f"== {label}" + (f" ({turn.dialect})" if turn.dialect else ""), file=out)
    for call in turn.tool_calls:
        print(visible(f"call {call.name}  [{call.status}]  {call.evidence}  id {call.id}"), file=out)
        shown = call.raw if call.status == "malformed" else call.arguments_json
        print(indent(shown), file=out)
        for repair in call.repairs:
            print(visible(f"  repair {repair.code}: {repair.message}"), file=out)
        for error in call.errors:
            print(visible(f"  error at {error.pointer or '/'}: {error.message}"), file=out)
    if turn.reasoning:
        print("reasoning", file=out)
        print(indent(turn.reasoning.strip()), file=out)
    if turn.content.strip():
        print("content", file=out)
        print(indent(turn.content.strip()), file=out)
    for issue in turn.issues:
        print(visible(f"issue {issue.code}: {issue.message}"), file=out)
    if not turn.tool_calls:
        print("no call", file=out)


def indent(text: str) -> str:
    """The text, every line two columns in."""
    return "\n".join("  " + line for line in visible(text).split("\n"))


def run_dialects(arguments: argparse.Namespace, out: TextIO) -> int:
    """``toolglot dialects``."""
    rows = dialects(arguments.name)
    if arguments.json:
        print(json.dumps([row.to_dict() for row in rows], ensure_ascii=False, indent=1), file=out)
        return EXIT_OK
    width = max((len(row.name) for row in rows), default=0)
    for row in rows:
        print(f"{row.name:{width}}  {row.about}", file=out)
        if len(rows) > 1:
            first = next((line for line in row.example.split("\n") if line.strip()), "")
            print(f"{'':{width}}  {first if len(first) <= 100 else first[:97] + '...'}", file=out)
            continue
        if row.parsers:
            print(f"also called: {', '.join(row.parsers)}", file=out)
        if row.source:
            print(f"source: {row.source}", file=out)
        print("example:", file=out)
        print(indent(row.example), file=out)
    return EXIT_OK


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with ``argv`` (default: the process's arguments) and return its exit code."""
    try:
        arguments = parser().parse_args(argv)
    except SystemExit as stop:  # argparse has said why
        return stop.code if isinstance(stop.code, int) else EXIT_USAGE
    try:
        run: Run = arguments.run
        if sys.stdout is None:
            raise Failure("standard output is closed")
        code = run(arguments, sys.stdout)
        sys.stdout.flush()
        return code
    except (Failure, ToolglotError) as error:
        say(error)
        return EXIT_USAGE
    except BrokenPipeError:
        # The reader (head, say) has seen enough.
        drop_output()
        return EXIT_OK
    except OSError as error:
        say(f"the result cannot be written: {error.strerror or error}")
        drop_output()
        return EXIT_USAGE
    except KeyboardInterrupt:
        return 130


def drop_output() -> None:
    """Let go of what could not be written: Python would complain once more when it closes standard output."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def entry() -> NoReturn:
    """The console script."""
    # Model output holds every character there is, whatever the terminal's encoding.
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(encoding="utf-8", errors="replace")
    sys.exit(main())
