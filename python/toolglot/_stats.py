"""Counters of a client's turns."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from ._core import Attempt, Turn

__all__ = ["Stats"]


@dataclass
class Stats:
    """Counters of a client's turns.

    Attributes:
        turns: How many were asked for.
        answered: How many ended with a usable answer.
        requests: How many requests they took.
        fallbacks: How many answers came in another mode, or of another model, than was asked first.
        calls: How many calls there were, by status.
        verdicts: How many requests, by the verdict on their answers.
        input_tokens: Tokens of all requests, as far as servers say.
        output_tokens: Tokens of all answers, as far as servers say.
    """

    turns: int = 0
    answered: int = 0
    requests: int = 0
    fallbacks: int = 0
    calls: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    input_tokens: int = 0
    output_tokens: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    @property
    def success_rate(self) -> float:
        """The share of turns with a usable answer."""
        return self.answered / self.turns if self.turns else 0.0

    @property
    def retries_per_success(self) -> float:
        """How many requests beyond the first a usable answer took."""
        return (self.requests - self.turns) / self.answered if self.answered else 0.0

    @property
    def fallback_share(self) -> float:
        """The share of turns that ended in another mode or model than they began in."""
        return self.fallbacks / self.turns if self.turns else 0.0

    def count(self, turn: Turn | None, attempts: Sequence[Attempt]) -> None:
        """Count a turn and its requests; None is one that had no answer."""
        with self._lock:
            self.turns += 1
            self.requests += len(attempts)
            self.verdicts.update(attempt.verdict for attempt in attempts)
            for attempt in attempts:
                if attempt.usage is not None:
                    self.input_tokens += attempt.usage.input_tokens or 0
                    self.output_tokens += attempt.usage.output_tokens or 0
            if turn is None or not attempts:
                return
            first, last = attempts[0], attempts[-1]
            self.calls.update(call.status for call in turn.tool_calls)
            self.answered += last.verdict == "usable"
            asked = [attempt for attempt in attempts if attempt.why != "arguments"]
            self.fallbacks += (first.mode, first.model) != (asked[-1].mode, asked[-1].model)
