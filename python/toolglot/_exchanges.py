"""Which answer belongs to which turn, where one service holds several conversations and its answers come in tasks and threads.

A :class:`_Line` is one conversation's way through the code: the task or thread that observes or asks, and those started from
there. Who asks gets the answer of their own line, or of one that began below it (``create_task``, ``wait_for``, ``gather``,
``to_thread`` carry the context along). Where nothing says what an answer belongs to (``run_in_executor``, a first task that
was started before the service was touched), the one that nobody has asked for belongs to who asks next. If there are several
such answers, nothing can tell them apart: that raises, since running another conversation's calls would be worse.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextvars
import threading
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ._core import Turn
from .errors import BadOptionError

if TYPE_CHECKING:
    from .service import ToolOutcome

__all__ = ["Exchange", "Exchanges"]

_MOST = 256
"""The number of unclaimed answers that are kept."""


@dataclass(eq=False)
class Exchange:
    """One answer of the model and what became of its calls."""

    turn: Turn | None = None
    raw: str | None = None
    """What the model wrote, where that goes into the history."""
    outcomes: list[ToolOutcome] | None = None
    running: concurrent.futures.Future[list[ToolOutcome]] | None = None
    """The outcomes of the calls that are being executed, for whoever asks in the meantime."""
    closed: bool = False
    """Its messages were written: the conversation goes on with the next one."""
    origin: _Line | None = None
    """Where it was observed."""
    holder: _Line | None = None
    """Who asked for it."""

    @property
    def is_left(self) -> bool:
        """Nobody but the task that observed it has asked for it, which is over without having written its messages."""
        return not self.closed and self.origin is not None and self.holder is self.origin and self.origin.is_over


@dataclass(eq=False)
class _Line:
    owner: object = None
    """The task, or the thread's number; None if it was begun for all that start from there."""
    parent: _Line | None = None
    exchange: Exchange = field(default_factory=Exchange)

    def is_below(self, other: _Line) -> bool:
        line = self.parent
        while line is not None and line is not other:
            line = line.parent
        return line is not None

    @property
    def observes_itself(self) -> bool:
        """Its last answer was read here, so it does not wait for one from another task."""
        return self.exchange.turn is not None and self.exchange.origin is self

    @property
    def is_over(self) -> bool:
        return isinstance(self.owner, asyncio.Task) and self.owner.done()


class Exchanges:
    """The answers of one service, each of its conversation."""

    def __init__(self) -> None:
        self._line: contextvars.ContextVar[_Line | None] = contextvars.ContextVar("toolglot_line", default=None)
        # Those that can still be asked for, in order of arrival.
        self._open: list[Exchange] = []
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Begin a line that all tasks share which start from here."""
        self._line.set(_Line(parent=self._line.get()))

    def observed(self) -> Exchange:
        """A new exchange, for an answer that is read here."""
        line, me = self._line.get(), _whoami()
        if line is None or (line.owner is not None and line.owner != me):
            # A task inherits its parent's line: it may look at what that has, but what it observes is its own.
            line = _Line(me, line)
            self._line.set(line)
        exchange = line.exchange = Exchange(origin=line)
        with self._lock:
            # What was read below, or before, is not what the line goes on with.
            self._open = [other for other in self._open if not (_within(other, line) or other.closed)]
            self._open = [*self._open, exchange][-_MOST:]
        return exchange

    def asked(self, *, take: bool = True) -> Exchange:
        """The exchange that belongs to who asks. To look at it (not ``take``) leaves it for the one who goes on with it.

        Raises:
            BadOptionError: Several may be meant.
        """
        line = self._line.get()
        if line is None:
            line = _Line(_whoami())
            self._line.set(line)
        with self._lock:
            found = self._for(line)
            if found is not None:
                line.exchange = found
            exchange = line.exchange
            if take and (exchange.holder is None or exchange.holder.is_over):
                exchange.holder = line
        return exchange

    def _for(self, line: _Line) -> Exchange | None:
        """The answer from elsewhere that `line` goes on with; None for what it has itself."""
        known = [other for other in self._open if other.turn is not None and other is not line.exchange]
        below = [other for other in known if other.origin is not None and other.origin.is_below(line)]
        if waiting := [other for other in below if other.holder is None]:
            return _only(waiting)
        # What a task below has asked for itself may be its own business, if there are several.
        left = [other for other in below if other.is_left]
        if len(left) == 1:
            return left[0]
        # A line that was begun says itself what belongs to it.
        if line.owner is None or line.observes_itself or (line.exchange.turn is not None and not line.exchange.closed):
            return None
        return _only([other for other in known if _is_free(other, line)])


def _within(exchange: Exchange, line: _Line) -> bool:
    origin = exchange.origin
    if origin is not line:
        return origin is not None and origin.is_below(line)
    # A thread of a pool works for one conversation, and then for another.
    return not isinstance(line.owner, int) or exchange.holder is not None


def _is_free(exchange: Exchange, line: _Line) -> bool:
    """Whether no task is known to own the exchange, and no live task has asked for it."""
    origin, holder = exchange.origin, exchange.holder
    if origin is None or origin is line or origin.owner is None or origin.parent is not None or exchange.closed:
        return False
    if isinstance(origin.owner, asyncio.Task) and not origin.is_over:
        return False
    return holder is None or (holder is not line and holder is not origin and holder.is_over)


def _only(found: Iterable[Exchange]) -> Exchange | None:
    several = list(found)
    if len(several) > 1:
        raise BadOptionError(
            f"{len(several)} answers were observed in other tasks or threads, and nothing says which one belongs here: "
            "call begin_turn() before such a task is started, or observe what it returns",
            "begin_turn",
        )
    return several[0] if several else None


def _whoami() -> object:
    """The running task, or the thread if no task runs."""
    try:
        return asyncio.current_task() or threading.get_ident()
    except RuntimeError:
        return threading.get_ident()
