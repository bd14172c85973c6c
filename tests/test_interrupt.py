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

# Reading it takes seconds: nearly a call at every few bytes.
TEXT = """
unit = '<tool_call> {"name": x <b>search(</b> ` [search( '
text = unit * (48 * 1024 * 1024 // len(unit))
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
{text}
try:
    print("begun", flush=True)
    {call}
    print("ended", flush=True)
except KeyboardInterrupt:
    print("interrupted", time.time(), flush=True)
"""


def interrupt(call: str) -> float:
    """How long after the signal the call is over, in seconds."""
    script = SCRIPT.format(text=TEXT, call=call)
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        # Texts that are bytes or messages are made before the core has them.
        time.sleep(0.5)
        sent = time.time()
        process.send_signal(signal.SIGINT)
        said = process.stdout.readline().split()
        process.wait()
    assert said[0] == "interrupted", said
    return float(said[1]) - sent


@pytest.mark.parametrize("call", CALLS)
def test_a_long_call_is_interrupted(call: str) -> None:
    # The machine may have something else to do just then.
    assert min(interrupt(CALLS[call]) for _ in range(3)) < 0.1


def test_an_interrupted_parser_says_so() -> None:
    class Stop(Exception):
        pass

    def stop(number: int, frame: object) -> None:
        raise Stop

    scope: dict[str, str] = {}
    exec(TEXT, scope)
    parser = toolglot.StreamParser(tools=[{"name": "search"}])
    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(Stop):
            parser.feed(scope["text"])
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    with pytest.raises(RuntimeError, match="interrupted"):
        parser.feed("x")
    assert toolglot.extract("x").content == "x"
