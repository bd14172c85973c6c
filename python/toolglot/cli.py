"""The command ``toolglot``: read tool calls out of model outputs, say why, and look up how models write them."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NoReturn, TextIO, TypeAlias

from . import Policy, ToolSet, Turn, __version__, _capture, _cli_capabilities, dialects, explain, extract, normalize
from ._marked import marked, visible
from ._summary import Summary, progress
from .errors import ProviderError, ToolglotError

EXIT_OK = 0
EXIT_NO_CALLS = 1
EXIT_USAGE = 2
EXIT_DIFFERS = 3

EXTRACT_HELP = """\
Read model outputs and print each call, its status, its repairs and the text round the calls.

Files hold one model output each; with --jsonl, one in the field --field of every line, null being an empty one. A line
that has none is told on standard error, and the others are read. Without a file, or for the file "-", standard input is
read. A call's status is one of
  ok            as the model wrote it
  repaired      mended; every change is listed
  invalid       readable, but not what the tool's schema allows (needs --tools)
  malformed     a call whose arguments cannot be read
  incomplete    cut off; never to be executed
  unknown_tool  names none of the tools (needs --tools)
"""

EXTRACT_EPILOG = """\
examples:
  toolglot extract answer.txt
  ollama run qwen3 "..." | toolglot extract --dialect hermes
  toolglot extract --tools tools.json --json answer.txt | jq '.tool_calls[].arguments'
  toolglot extract --jsonl --field completion log.jsonl --openai
  toolglot extract --jsonl --field choices.0.message.content log.jsonl --json

--tools takes a JSON file with a list of tools as OpenAI, Anthropic or MCP write them. With it, calls that carry no
marker are found too, names and values are checked, and bare text becomes numbers where the schema says so.

exit code: 0 if a call was found, 1 if none was, 2 if the command, a file or a line of one is wrong, or the result cannot
be written.
"""

NORMALIZE_HELP = """\
Read logged responses of providers and print each call, its status, its repairs and the text round the calls.

Each line of the files is one response as the API gave it, of any provider (OpenAI's APIs, Anthropic, Gemini, Mistral, Cohere,
Ollama, Bedrock); with --field it stands in that field of the line. Native calls are read, and those that the server left in the
text. An error that holds what the model wrote is read as well. A line that holds no response is told on standard error, and the
others are read.
"""

NORMALIZE_EPILOG = """\
examples:
  toolglot normalize log.jsonl --summary
  toolglot normalize --field response --tools tools.json --json log.jsonl | jq '.tool_calls[].name'
  toolglot normalize --provider xai --openai log.jsonl

exit code: 0 if a call was found, 1 if none was, 2 if the command, a file or a line of one is wrong, or the result cannot
be written.
"""

EXPLAIN_HELP = """\
Say what was seen where in model outputs, and why what looks like a call is none.

On a terminal, the text is printed in colour, with a legend and the reasons beneath; elsewhere, piece by piece with
places in characters. What looked like a call and is text is told with its reason, for example
  name_not_offered  none of the tools has this name; the nearest ones are named
  inline_code       it stands in `backticks`: quoted, never run
  fence_of_code     it stands in a fence that holds something else as well
  place             without markers, a call begins a line or is all of the answer
  draft             it stands in reasoning that was closed
  no_tools          without markers, only an offered name makes it a call: give --tools
  other_dialect     --dialect names another than the one it is written in
"""

EXPLAIN_EPILOG = """\
examples:
  toolglot explain --tools tools.json answer.txt
  toolglot explain --tools tools.json --color always answer.txt | less -R
  toolglot explain --dialect mistral answer.txt
  toolglot explain --tools tools.json --policy fences=ignore --json answer.txt | jq '.spans[] | select(.reason)'

Colour is used on a terminal, unless the environment variable NO_COLOR is set; --color says otherwise.

exit code: 0 if a call was found, 1 if none was, 2 if the command or a file is wrong, or the result cannot be written.
"""

CAPTURE_HELP = """\
Turn a model output that was read wrongly into a case for a test.

The case is one line of JSON: the output, the tools, and under "expect" what it is read as now. Correct "expect" to what
the output means, and the case fails until toolglot reads it so. --source says where the output is from. The same output is also read in pieces, cut at many
places: it must come out the same, and you are told if it does not.
"""

CAPTURE_EPILOG = """\
examples:
  toolglot capture --tools tools.json answer.txt
  toolglot capture --tools tools.json --name "a list after prose" -o tests/data/dialects/auto.jsonl answer.txt
  pbpaste | toolglot capture --tools tools.json --dialect hermes -o cases.jsonl

With -o the case is added at the end of the file, which tests/test_dialects.py reads if it lies in tests/data/dialects.

exit code: 0 if the case was written, 2 if the command or a file is wrong, 3 if it was written, but the output is read
differently in pieces (a bug in toolglot: please report it with the case).
"""

DIALECTS_HELP = """\
List how model families spell tool calls. A name from this list, a name that a server gives its parser, or the id of a
model can stand after --dialect and in dialect=...; without one, all are recognised.
"""

DIALECTS_EPILOG = """\
examples:
  toolglot dialects             names, and the models that write them
  toolglot dialects hermes      one dialect in full, with an example
  toolglot dialects Qwen/Qwen3-Coder-30B-A3B-Instruct
                                the dialect that this model writes
  toolglot dialects --json      everything, for programs
"""


Run: TypeAlias = Callable[[argparse.Namespace, TextIO], int]
"""What a command does: prints to a stream, and returns the exit code."""


class Failure(Exception):
    """What ends the command: a sentence for people."""


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


def responses(files: Sequence[str], field: str | None) -> Iterator[tuple[str, Any]]:
    """Each logged response with a name for it, or what is wrong with its line."""
    for file in files:
        for number, line in enumerate(read(file).split(b"\n"), 1):
            place = f"{file}:{number}"
            if not line.strip():
                continue
            try:
                yield place, line if field is None else member_of(line, field, place)
            except Failure as failure:
                yield place, failure


def say(what: object) -> None:
    """Print a message on standard error."""
    print(f"toolglot: {what}", file=sys.stderr)


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


def outputs(files: Sequence[str], jsonl: bool, field: str) -> Iterator[tuple[str, str | bytes | Failure]]:
    """Each model output with a name for it, or what is wrong with its line."""
    for file in files:
        data = read(file)
        if not jsonl:
            yield file, data
            continue
        for number, line in enumerate(data.split(b"\n"), 1):
            if not line.strip():
                continue
            place = f"{file}:{number}"
            try:
                yield place, field_of(line, field, place)
            except Failure as failure:
                yield place, failure


def field_of(line: bytes, field: str, place: str) -> str:
    """The text in ``field`` of a line of JSON."""
    text = member_of(line, field, place)
    if text is None:
        # What APIs write where there are calls and no words.
        return ""
    if not isinstance(text, str):
        raise Failure(f"{place}: field {field!r} is no string")
    return text


def member_of(line: bytes, field: str, place: str) -> Any:
    """Return the value of ``field`` in a line of JSON."""
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise Failure(f"{place}: no JSON: {error}") from None
    text = record
    for name in [field] if isinstance(record, dict) and field in record else field.split("."):
        if isinstance(text, dict) and name in text:
            text = text[name]
        elif isinstance(text, list) and name.isdecimal() and int(name) < len(text):
            text = text[int(name)]
        else:
            has = f"it has {', '.join(map(repr, record))}" if isinstance(record, dict) else "it is no object"
            raise Failure(f"{place}: no field {field!r}; {has} (--field names it)")
    return text


def read(file: str) -> bytes:
    """The bytes of a file, or of standard input for "-"."""
    try:
        if file == "-":
            if sys.stdin is None:
                raise Failure("standard input is closed")
            return sys.stdin.buffer.read()
        with open(file, "rb") as stream:
            return stream.read()
    except OSError as error:
        raise Failure(f"{file}: {error.strerror or error}") from None


def read_tools(file: str) -> list[Any]:
    """The tools in a JSON file."""
    try:
        tools = json.loads(read(file))
    except (ValueError, RecursionError) as error:
        raise Failure(f"{file}: no JSON: {error}") from None
    if isinstance(tools, dict):
        tools = tools.get("tools", [tools])
    if not isinstance(tools, list):
        raise Failure(f"{file}: a list of tools is needed")
    for problem in ToolSet(tools).problems:
        say(f"{file}: {problem}")
    return tools


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
