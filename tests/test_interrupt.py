"""A long call can be interrupted: the exception of a signal's handler comes before the work is done."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

import toolglot

if sys.platform == "win32":
    pytest.skip("no SIGINT can be sent to one process there", allow_module_level=True)

# Reading it takes seconds: looks at many places, calls without end, reasoning that opens and closes, and a value that is repaired.
UNITS = [
    "</tool_call> x <b ",
    "search(query='x')\n",
    "<think>x</think> ",
    '<tool_call> {"name": x <b>search(</b> ` [search( ',
]

TEXT = """
unit = UNIT
text = unit * (64 * 1024 * 1024 // len(unit))
"""

CALLS = {
    "extract": "toolglot.extract(text, tools=tools)",
    "bytes": "toolglot.extract(text.encode(), tools=tools)",
    "feed": "toolglot.StreamParser(tools=tools).feed(text)",
    "explain": "toolglot.explain(text, tools=tools)",
    "normalize": (
        "toolglot.normalize({'choices': [{'message': {'role': 'assistant', 'content': text}}]}, 'openai', tools=tools)"
    ),
}

SCRIPT = """
import sys, time, toolglot
tools = toolglot.ToolSet([{"name": "search", "parameters": {"type": "object", "properties": {"query": {}}}}])
TEXT
try:
    print("begun", flush=True)
    CALL
    print("ended", flush=True)
except KeyboardInterrupt:
    print("interrupted", time.time(), flush=True)
"""


def interrupt(call: str, unit: str) -> float:
    """How long after the signal the call is over, in seconds."""
    script = SCRIPT.replace("TEXT", TEXT).replace("UNIT", repr(unit)).replace("CALL", call)
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        # Texts that are bytes or messages are made before the core has them.
        time.sleep(1)
        sent = time.time()
        process.send_signal(signal.SIGINT)
        said = process.stdout.readline().split()
        process.wait()
    assert said[0] == "interrupted", said
    return float(said[1]) - sent


@pytest.mark.parametrize(
    ("call", "unit"), [*((call, UNITS[0]) for call in CALLS), *(("extract", unit) for unit in UNITS)]
)
def test_a_long_call_is_interrupted(call: str, unit: str) -> None:
    # The machine may have something else to do just then.
    assert min(interrupt(CALLS[call], unit) for _ in range(3)) < 0.1


def test_an_interrupted_parser_says_so() -> None:
    class Stop(Exception):
        pass

    def stop(number: int, frame: object) -> None:
        raise Stop

    parser = toolglot.StreamParser(tools=[{"name": "search"}])
    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(Stop):
            parser.feed(UNITS[0] * 4_000_000)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    with pytest.raises(RuntimeError, match="interrupted"):
        parser.feed("x")
    assert toolglot.extract("x").content == "x"
