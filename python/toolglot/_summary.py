"""What many model outputs came to: counts for the command's ``--summary``, and a line of progress on a terminal."""

from __future__ import annotations

import sys
import time
from collections import Counter
from typing import TextIO

from ._core import Turn

STATUSES = ("ok", "repaired", "invalid", "malformed", "incomplete", "unknown_tool")

# A run that is over before shows no progress, and then so often a second it is written anew.
_PATIENCE = 1.0
_EVERY = 0.2


class Summary:
    """Counts of what was read.

    Args:
        progress: Where to show how far it is: nowhere unless that is a terminal.
    """

    def __init__(self, progress: TextIO | None = None) -> None:
        self.outputs = 0
        self.failed = 0
        self.without = 0
        self.calls: Counter[str] = Counter()
        self.dialects: Counter[str] = Counter()
        self.repairs: Counter[str] = Counter()
        self.issues: Counter[str] = Counter()
        self._progress = progress if progress is not None and progress.isatty() else None
        self._begun = self._shown = time.monotonic()

    def add(self, turn: Turn) -> None:
        """Count an output that was read."""
        self.outputs += 1
        self.without += not turn.tool_calls
        self.calls.update(call.status for call in turn.tool_calls)
        self.repairs.update(repair.code for call in turn.tool_calls for repair in call.repairs)
        self.issues.update(issue.code for issue in turn.issues)
        if turn.dialect:
            self.dialects[turn.dialect] += 1
        self._tick()

    def fail(self) -> None:
        """Count one that could not be read."""
        self.failed += 1
        self._tick()

    def _tick(self) -> None:
        now = time.monotonic()
        if self._progress is not None and now - self._begun > _PATIENCE and now - self._shown > _EVERY:
            self._shown = now
            rate = (self.outputs + self.failed) / (now - self._begun)
            self._progress.write(f"\r{self.outputs:,} read, {self.calls.total():,} calls, {rate:,.0f} a second ")
            self._progress.flush()

    def end(self) -> None:
        """Take the line of progress away."""
        if self._progress is not None and self._shown > self._begun:
            self._progress.write("\r\x1b[K")
            self._progress.flush()

    def __str__(self) -> str:
        total = self.calls.total()
        lines = [f"{self.outputs} read, {self.failed} not readable, {self.without} without a call"]
        share = ", ".join(f"{self.calls[status]} {status}" for status in STATUSES if self.calls[status])
        runnable = self.calls["ok"] + self.calls["repaired"]
        rate = f", {100 * runnable / total:.1f} % may run" if total else ""
        lines.append(f"{total} calls" + (f": {share}{rate}" if share else ""))
        for what, counts in (("dialects", self.dialects), ("repairs", self.repairs), ("issues", self.issues)):
            if counts:
                lines.append(f"{what}: " + ", ".join(f"{count} {name}" for name, count in counts.most_common()))
        return "\n".join(lines)


def progress() -> TextIO | None:
    """Return the stream for progress: standard error, and only if the result does not go to the same terminal."""
    return sys.stderr if sys.stdout is not None and not sys.stdout.isatty() else None
