"""A tool's result is never refused: the tool has run."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

import toolglot
from conversations import PROVIDERS


class Raises:
    """Its own code raises whatever it is asked."""

    def __str__(self) -> str:
        raise ValueError("no text")

    __repr__ = __str__


class Dumps(Raises):
    def model_dump(self, **options: Any) -> Any:
        raise OSError("gone")


class ToDict(Raises):
    def to_dict(self) -> Any:
        raise KeyError("gone")


class DumpsItself(Raises):
    def model_dump(self, **options: Any) -> Any:
        return {"a": 1, "b": Raises()}


class Attributes(Raises):
    def __getattr__(self, name: str) -> Any:
        raise LookupError(name)


class Closed(Mapping[str, Any]):
    def __getitem__(self, key: str) -> Any:
        raise RuntimeError("closed")

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError("closed")

    def __len__(self) -> int:
        raise RuntimeError("closed")

    def __str__(self) -> str:
        return "a closed mapping"


class NoText:
    def __str__(self) -> str:
        return 1  # type: ignore[return-value]


class Unset:
    def isoformat(self) -> str:
        raise TypeError("unset")

    def __str__(self) -> str:
        return "unset"


@dataclasses.dataclass(init=False)
class Half:
    a: int

    def __str__(self) -> str:
        return "half"


class Odd(enum.Enum):
    ONE = Raises()


class Broken(Exception):
    def __str__(self) -> str:
        raise ValueError("no text")


CASES = [
    (Raises(), "<Raises>"),
    (Dumps(), "<Dumps>"),
    (ToDict(), "<ToDict>"),
    (DumpsItself(), '{"a":1,"b":"<Raises>"}'),
    (Attributes(), "<Attributes>"),
    (Closed(), "a closed mapping"),
    (NoText(), "<NoText>"),
    (Unset(), "unset"),
    (Half(), "half"),
    (Odd.ONE, "<Raises>"),
    ([1, Raises()], '[1,"<Raises>"]'),
    ({"a": Raises()}, '{"a":"<Raises>"}'),
    ({Raises(): 1}, '{"<Raises>":1}'),
    ({frozenset([Raises()]): {Raises()}}, '{"[\\"<Raises>\\"]":["<Raises>"]}'),
    (Broken(), "Error: Broken"),
]


@pytest.mark.parametrize(("result", "expected"), CASES, ids=[text for _, text in CASES])
def test_a_result_that_raises_is_named(result: Any, expected: str) -> None:
    assert toolglot.format_tool_result("call_1", result)["content"] == expected
    call = {"id": "call_1", "name": "f"}
    for provider in [*PROVIDERS, "text"]:
        assert toolglot.format_tool_results([(call, result)], provider=provider)


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_is_no_result(stop: type[BaseException]) -> None:
    class Stops:
        def __str__(self) -> str:
            raise stop

    with pytest.raises(stop):
        toolglot.format_tool_result("call_1", [Stops()])


def test_text_without_end() -> None:
    class Itself:
        def __str__(self) -> str:
            return str(self)

    assert "too deep" in toolglot.format_tool_result("call_1", Itself())["content"]
