"""A long call can be interrupted: the exception of a signal's handler comes long before the work is done.

What is measured is the processor's time of this process, so that other processes make no difference.
"""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

import toolglot

if sys.platform == "win32":
    pytest.skip("no SIGINT can be sent to one process there", allow_module_level=True)

TOOLS = toolglot.ToolSet([{"name": "search", "parameters": {"type": "object", "properties": {"query": {}}}}])

SIZE = 48 * 1024 * 1024

# Reading it takes seconds: looks at many places, calls without end, reasoning that opens and closes, and values that are repaired.
MARKERS = "</tool_call> x <b "
# Of such a call a stream waits for the end.
UNCLOSED = '<tool_call> {"name": x <b>search(</b> ` [search( '
UNITS = [
    MARKERS,
    "search(query='x')\n",
    "<think>x</think> ",
    UNCLOSED,
    '<tool_call>{"name": "search", "arguments": {"query": \'x\'}}</tool_call>\n',
]
VALUES = ['\'a\': "b"c", d, ', '{"a": b "c", /* d */ e: \'f\'} ', "x [y] (z) "]

# The work goes on for so long before the signal, and after it for no longer than that, both in seconds. Ten times as much as it takes
# on a slow machine: without an interruption the calls take longer still.
BEFORE, AFTER = 0.1, 0.5

CALLS: dict[str, Callable[[str], Any]] = {
    "extract": lambda text: toolglot.extract(text, tools=TOOLS),
    "bytes": lambda text: toolglot.extract(text.encode(), tools=TOOLS),
    "feed": lambda text: toolglot.StreamParser(tools=TOOLS).feed(text),
    "explain": lambda text: toolglot.explain(text, tools=TOOLS),
    "normalize": lambda text: toolglot.normalize(
        {"choices": [{"message": {"role": "assistant", "content": text}}]}, TOOLS, provider="openai"
    ),
    "repair_json": toolglot.repair_json,
}


class Stop(Exception):
    """What the handler of the signal raises."""


def stopped_after(work: Callable[[], Any]) -> float:
    """How much longer than until the signal the work takes."""

    def stop(number: int, frame: object) -> None:
        raise Stop

    before = signal.signal(signal.SIGPROF, stop)
    start = time.process_time()
    try:
        signal.setitimer(signal.ITIMER_PROF, BEFORE)
        with pytest.raises(Stop):
            work()
        return time.process_time() - start - BEFORE
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@pytest.mark.parametrize(
    ("call", "unit"),
    [
        *((call, MARKERS) for call in CALLS if call != "repair_json"),
        *(("extract", unit) for unit in UNITS[1:]),
        *(("feed", unit) for unit in UNITS[1:] if unit != UNCLOSED),
        *(("repair_json", f"{{{unit}") for unit in VALUES),
    ],
)
def test_a_long_call_is_interrupted(call: str, unit: str) -> None:
    head, unit = (unit[:1], unit[1:]) if call == "repair_json" else ("", unit)
    text = head + unit * (SIZE // len(unit))
    assert stopped_after(lambda: CALLS[call](text)) < AFTER


def test_an_interrupted_parser_says_so() -> None:
    parser = toolglot.StreamParser(tools=[{"name": "search"}])
    text = MARKERS * (SIZE // len(MARKERS))
    assert stopped_after(lambda: parser.feed(text)) < AFTER
    with pytest.raises(RuntimeError, match="interrupted"):
        parser.feed("x")
    assert toolglot.extract("x").content == "x"


SCRIPT = f"""
import toolglot
text = {MARKERS!r} * {8 * SIZE // len(MARKERS)}
try:
    print("begun", flush=True)
    toolglot.extract(text)
    print("ended", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_ctrl_c_interrupts() -> None:
    with subprocess.Popen([sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
