"""Arguments as annotations say, and functions that are run with them."""

from __future__ import annotations

import asyncio
import copy
import dataclasses
import datetime
import decimal
import enum
import functools
import gc
import importlib
import pathlib
import pickle
import sys
import uuid
import weakref
from typing import Annotated, Any, Literal, NamedTuple, NewType, TypedDict

import pytest

import toolglot
from toolglot import BadOptionError, BadToolError, CallError, Context, ToolCall, ToolglotError, ToolSet
from toolglot.service import ToolCalling

UTC = datetime.timezone.utc


class Color(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Level(enum.IntEnum):
    LOW = 1


class Flag(enum.Flag):
    A = 1
    B = 2


@dataclasses.dataclass
class Leg:
    city: str
    day: datetime.date
    seats: int = 1


@dataclasses.dataclass
class Trip:
    legs: list[Leg]
    color: Color = Color.RED

    def __post_init__(self) -> None:
        if not self.legs:
            raise ValueError("a trip has legs")


class Place(TypedDict):
    lat: float
    lon: float


class Pair(NamedTuple):
    low: int
    high: int = 9


Metres = NewType("Metres", int)


class Tag(str):
    pass


def call(arguments: Any) -> ToolCall:
    return ToolCall("f", arguments)


FITS: list[tuple[str, Any, Any]] = [
    ('"2026-03-01"', datetime.date, datetime.date(2026, 3, 1)),
    ('"2026-03-01T00:00:00Z"', datetime.date, datetime.date(2026, 3, 1)),
    ('"2026-03-01T09:30:00Z"', datetime.datetime, datetime.datetime(2026, 3, 1, 9, 30, tzinfo=UTC)),
    ('"2026-03-01t09:30:00.25z"', datetime.datetime, datetime.datetime(2026, 3, 1, 9, 30, 0, 250000, tzinfo=UTC)),
    ('"2026-03-01T09:30:00"', datetime.datetime, datetime.datetime(2026, 3, 1, 9, 30)),
    ('"09:30:00"', datetime.time, datetime.time(9, 30)),
    ('"P1DT2H30M"', datetime.timedelta, datetime.timedelta(days=1, hours=2, minutes=30)),
    ('"-PT0.5S"', datetime.timedelta, datetime.timedelta(seconds=-0.5)),
    ('"12345678-1234-5678-1234-567812345678"', uuid.UUID, uuid.UUID("12345678-1234-5678-1234-567812345678")),
    ("19.90", decimal.Decimal, decimal.Decimal("19.90")),
    ('"19.90"', decimal.Decimal, decimal.Decimal("19.90")),
    ("0.1000000000000000055511151231257827", decimal.Decimal, decimal.Decimal("0.1000000000000000055511151231257827")),
    ('"aGk="', bytes, b"hi"),
    ('"a/b"', pathlib.Path, pathlib.Path("a/b")),
    ("3", float, 3.0),
    ("4.0", int, 4),
    ("123456789012345678901234567890", int, 123456789012345678901234567890),
    ('"red"', Color, Color.RED),
    ("1", Level, Level.LOW),
    ("3", Flag, Flag.A | Flag.B),
    ("1", Literal["a", 1], 1),
    ("null", datetime.date | None, None),
    ('"2026-03-01"', datetime.date | None, datetime.date(2026, 3, 1)),
    ("3", float | int, 3),
    ("3.5", int | float, 3.5),
    ('"x"', int | str, "x"),
    ('"soon"', datetime.date | str, "soon"),
    ('["red", "blue"]', tuple[Color, ...], (Color.RED, Color.BLUE)),
    ('[1, "red"]', tuple[int, Color], (1, Color.RED)),
    ("[1, 2, 1]", set[int], {1, 2}),
    ("[1]", frozenset[int], frozenset({1})),
    ('{"1": "red"}', dict[int, Color], {1: Color.RED}),
    ('{"lat": 1, "lon": 2.5}', Place, {"lat": 1.0, "lon": 2.5}),
    ("[1]", Pair, Pair(1, 9)),
    ('{"low": 2, "high": 3}', Pair, Pair(2, 3)),
    ('{"low": 2}', Leg | Pair, Pair(2)),
    ("5", Metres, Metres(5)),
    ('"x"', Tag, Tag("x")),
    ("[1.5, null]", Any, [1.5, None]),
    ('{"city": "Bern", "day": "2026-03-01"}', Leg, Leg("Bern", datetime.date(2026, 3, 1))),
    ('{"city": "Bern", "day": "2026-03-01", "more": 1}', Leg, Leg("Bern", datetime.date(2026, 3, 1))),
    ("1.5", Annotated[float, "metres"], 1.5),
]


@pytest.mark.parametrize(("json", "hint", "value"), FITS)
def test_a_value_is_what_its_annotation_says(json: str, hint: Any, value: Any) -> None:
    read = call(f'{{"x": {json}}}').into(dict[str, hint])
    assert read == {"x": value}
    assert type(read["x"]) is type(value)


UNFIT: list[tuple[str, Any, str]] = [
    ('"tomorrow"', datetime.date, "/x: a date in ISO 8601 is expected"),
    ('"2026-03-01T09:30:00Z"', datetime.date, "/x: a date"),
    ('"2026-13-01"', datetime.datetime, "/x: a date and time"),
    ("5", datetime.date, "/x: text is expected"),
    ('"P"', datetime.timedelta, "/x: a duration"),
    ('"NaN"', decimal.Decimal, "/x: a finite number"),
    ("true", int, "/x: a whole number"),
    ("1.5", int, "/x: a whole number"),
    ('"1"', int, "/x: a whole number"),
    ("1", bool, "/x: true or false"),
    ("true", Literal[1], "/x: it must be one of 1"),
    ('"green"', Color, '/x: it must be one of "red", "blue"'),
    ("true", Level, "/x: it must be one of 1"),
    ("[1]", tuple[int, int], "/x: 2 items are expected"),
    ('"?"', bytes, "/x: base64"),
    ('{"lat": 1}', Place, "/x: 'lon' is required"),
    ('{"a/b": "green"}', dict[str, Color], "/x/a~1b: it must be"),
    ("[]", int | str, "/x: the value is none of: int, str"),
    ('{"legs": []}', Trip, "/x: a trip has legs"),
    ('{"legs": [{"city": "Bern", "day": "x"}]}', Trip, "/x/legs/0/day: a date"),
    ("1e999", float, "/x: the number is too large"),
    ("[1]", dict[str, int], "/x: an object"),
]


@pytest.mark.parametrize(("json", "hint", "said"), UNFIT)
def test_what_does_not_fit_is_told_with_its_place(json: str, hint: Any, said: str) -> None:
    with pytest.raises(CallError) as caught:
        call(f'{{"x": {json}}}').into(dict[str, hint])
    assert f"- {said}" in str(caught.value)
    assert str(caught.value).startswith('The call of "f" was not run')
    assert caught.value.call.status == "invalid"
    assert caught.value.code == "bad_call"
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.call) == (str(caught.value), caught.value.call)


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(CallError) as caught:
        call({"legs": [{"day": "x", "seats": "y"}], "color": 5}).into(Trip)
    places = [(error.pointer, error.keyword) for error in caught.value.call.errors]
    assert places == [("/legs/0", "required"), ("/legs/0/day", "format"), ("/legs/0/seats", "type"), ("/color", "enum")]


@pytest.mark.parametrize("status", ["invalid", "malformed", "incomplete", "unknown_tool"])
def test_what_must_not_run_is_not_read(status: Any) -> None:
    refused = ToolCall("f", {"city": "Bern", "day": "2026-03-01"}, status=status)
    with pytest.raises(CallError) as caught:
        refused.into(Leg)
    assert str(caught.value) == refused.error_message()


def test_a_type_that_nothing_is_known_of_is_the_programmers_to_mend() -> None:
    class Odd:
        def __init__(self, x: int, y: int) -> None: ...

    with pytest.raises(BadOptionError):
        call({"x": 1}).into(dict[str, Odd])
    with pytest.raises(BadOptionError):
        call({"x": 1}).into("Leg")


RAN: list[Any] = []


def book(day: datetime.date, color: Color = Color.RED, *, seats: int = 1) -> tuple[Any, ...]:
    """Book a trip."""
    return (day, color, seats)


async def later(leg: Leg) -> Leg:
    await asyncio.sleep(0)
    return leg


def counted(db: Context[list[int]], n: int, other: Context[list[int]] | None = None) -> int:
    db.append(n)
    return len(db)


def loose(n: int, **rest: datetime.date) -> dict[str, Any]:
    return {"n": n, **rest}


class Host:
    def __init__(self) -> None:
        self.tools = ToolSet([self.hello, functools.partial(book, color=Color.BLUE)])

    def hello(self, name: str) -> str:
        return f"hello {name}"


def both(tools: ToolSet, name: str, arguments: Any, **options: Any) -> Any:
    """The result of `run`, which `run_sync` has as well."""
    checked = tools.check(name, arguments)
    result = tools.run_sync(checked, **options)
    assert asyncio.run(tools.run(checked, **options)) == result
    return result


def test_functions_run_with_arguments_as_they_say() -> None:
    tools = ToolSet([book, later, loose])
    assert both(tools, "book", {"day": "2026-03-01", "color": "blue"}) == (datetime.date(2026, 3, 1), Color.BLUE, 1)
    assert both(tools, "later", {"leg": {"city": "Bern", "day": "2026-03-01"}}) == Leg(
        "Bern", datetime.date(2026, 3, 1)
    )
    assert both(tools, "loose", {"n": 1, "a": "2026-03-01"}) == {"n": 1, "a": datetime.date(2026, 3, 1)}
    assert tools["book"].function is book
    assert [tool.function for tool in tools] == [book, later, loose]


def test_a_call_is_judged_by_the_set_that_runs_it() -> None:
    tools = ToolSet([book])
    turn = toolglot.extract('<tool_call>{"name": "Book", "arguments": {"day": "2026-03-01", "seats": "2"}}</tool_call>')
    assert tools.run_sync(turn.tool_calls[0]) == (datetime.date(2026, 3, 1), Color.RED, 2)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (ToolCall("nope", {}), "There is no tool called"),
        (ToolCall("book", {"day": "2026-03-01"}, status="incomplete"), "cut off"),
        (ToolCall("book", {"day": "2026-03-01"}, status="invalid"), "do not fit"),
        (ToolCall("book", {}), "day"),
        (ToolCall("book", {"day": "soon"}), "/day: a date"),
        (ToolCall("book", {"day": "2026-03-01", "color": "green"}), "/color"),
        (ToolCall("book", {"day": "2026-03-01", "more": 1}), "more"),
    ],
)
def test_what_must_not_run_does_not(given: ToolCall, said: str) -> None:
    tools = ToolSet([book])
    for run in (tools.run_sync, lambda given: asyncio.run(tools.run(given))):
        with pytest.raises(ToolglotError) as caught:
            run(given)
        assert isinstance(caught.value, CallError)
        assert said in str(caught.value)
        assert not caught.value.call.runnable


def test_a_context_is_the_hosts_and_the_model_is_not_shown_it() -> None:
    tools = ToolSet([counted])
    assert tools["counted"].schema["properties"].keys() == {"n"}
    db: list[int] = []
    assert tools.run_sync(tools.check("counted", {"n": 5}), context=db) == 1
    assert db == [5]
    with pytest.raises(BadOptionError, match="context"):
        tools.run_sync(tools.check("counted", {"n": 5}))
    with pytest.raises(CallError):
        tools.run_sync(ToolCall("counted", {"n": 5, "db": [1]}), context=db)


def test_what_the_host_gave_is_not_the_models_to_set() -> None:
    def open_any(path: str, **options: Any) -> dict[str, Any]:
        return {"path": path, **options}

    tools = ToolSet([functools.partial(open_any, path="/safe")])
    assert tools.run_sync(ToolCall("open_any", {"mode": "r"})) == {"path": "/safe", "mode": "r"}
    with pytest.raises(CallError):
        tools.run_sync(ToolCall("open_any", {"path": "/etc"}))


def test_methods_and_partials_run_and_make_no_ring_that_stays() -> None:
    host = Host()
    assert both(host.tools, "hello", {"name": "you"}) == "hello you"
    assert both(host.tools, "book", {"day": "2026-03-01"}) == (datetime.date(2026, 3, 1), Color.BLUE, 1)
    gone = weakref.ref(host)
    del host
    gc.collect()
    assert gone() is None


def test_functions_go_along_with_their_tools() -> None:
    tools = ToolSet({"a": [book], "b": [later, {"name": "book"}]})
    assert tools["a:book"].function is book
    assert tools["b:book"].function is None
    again = ToolSet([*tools, counted])
    assert again["a:book"].function is book
    assert again["counted"].function is counted
    assert ToolSet(tools)["later"].function is later
    assert copy.deepcopy(tools)["later"].function is later
    assert copy.copy(tools["later"]).function is None or copy.copy(tools["later"]).function is later
    with pytest.raises(BadToolError):
        tools.run_sync(tools.check("b:book", {}))
    pickled = pickle.loads(pickle.dumps(tools))
    with pytest.raises(BadToolError):
        pickled.run_sync(pickled.check("later", {"leg": {"city": "Bern", "day": "2026-03-01"}}))


def test_what_a_tool_raises_comes_as_it_is() -> None:
    def fails() -> None:
        raise KeyError("x")

    tools = ToolSet([fails])
    with pytest.raises(KeyError):
        both(tools, "fails", {})


def test_an_async_function_is_awaited_where_a_loop_runs() -> None:
    tools = ToolSet([later])
    leg = tools.check("later", {"leg": {"city": "Bern", "day": "2026-03-01"}})

    async def go() -> None:
        with pytest.raises(BadOptionError, match="await"):
            tools.run_sync(leg)

    asyncio.run(go())


@pytest.mark.parametrize("given", [{"name": "book"}, "book", None])
def test_only_a_call_is_run(given: Any) -> None:
    with pytest.raises(BadOptionError, match="ToolCall"):
        ToolSet([book]).run_sync(given)


# -- the service --

WROTE = '<tool_call>{"name": "book", "arguments": {"day": "2026-03-01"}}</tool_call>'


@pytest.mark.parametrize("execute", [None, ToolSet([book]), {"book": book}])
def test_a_service_runs_functions_as_they_are(execute: Any) -> None:
    service = ToolCalling([book])
    service.observe(WROTE)
    (outcome,) = asyncio.run(service.execute_native_tool_calls(execute))
    assert outcome.output == (datetime.date(2026, 3, 1), Color.RED, 1)


def test_a_service_tells_the_model_what_does_not_fit(caplog: pytest.LogCaptureFixture) -> None:
    service = ToolCalling([book])
    service.observe(WROTE.replace("2026-03-01", "soon"))
    (outcome,) = asyncio.run(service.execute_native_tool_calls())
    assert not outcome.success
    assert "/day: a date" in outcome.error
    assert outcome.exception is None
    assert not caplog.records


def test_a_service_gives_the_context() -> None:
    service = ToolCalling([counted])
    db: list[int] = []
    service.observe('<tool_call>{"name": "counted", "arguments": {"n": 3}}</tool_call>')
    (outcome,) = asyncio.run(service.execute_native_tool_calls(context=db))
    assert (outcome.output, db) == (1, [3])


@pytest.mark.parametrize("execute", [{}, {"other": book}, {"book": 5}, ToolSet([later])])
def test_a_missing_function_is_the_programmers_to_mend(execute: Any) -> None:
    service = ToolCalling([book])
    service.observe(WROTE)
    with pytest.raises(BadOptionError, match="book"):
        asyncio.run(service.execute_native_tool_calls(execute))
    assert service.has_pending_tool_calls()


# -- pydantic --


def test_pydantic_is_asked_where_it_has_a_say() -> None:
    pydantic = pytest.importorskip("pydantic")

    class Meal(pydantic.BaseModel):  # type: ignore[misc, name-defined, unused-ignore]
        portions: int = pydantic.Field(ge=1)
        day: datetime.date

        @pydantic.field_validator("day")  # type: ignore[untyped-decorator, unused-ignore]
        @classmethod
        def no_sunday(cls, day: datetime.date) -> datetime.date:
            if day.weekday() == 6:
                raise ValueError("closed on Sundays")
            return day

    def cook(meal: Meal, tags: Annotated[list[str], pydantic.Field(max_length=1)] = pydantic.Field([])) -> Any:  # noqa: B008
        return meal, tags

    cook.__annotations__["meal"] = Meal
    cook.__annotations__["tags"] = Annotated[list[str], pydantic.Field(max_length=1)]
    meal = call({"portions": 2, "day": "2026-03-02"}).into(Meal)
    assert meal == Meal(portions=2, day=datetime.date(2026, 3, 2))
    with pytest.raises(CallError) as caught:
        call({"portions": 0, "day": "2026-03-01"}).into(Meal)
    assert "/portions: Input should be greater than or equal to 1" in str(caught.value)
    assert "/day: Value error, closed on Sundays" in str(caught.value)
    tools = ToolSet([cook, Meal])
    assert both(tools, "cook", {"meal": {"portions": 2, "day": "2026-03-02"}}) == (meal, [])
    assert both(tools, "Meal", {"portions": 2, "day": "2026-03-02"}) == meal
    with pytest.raises(CallError, match="/meal/day"):
        tools.run_sync(tools.check("cook", {"meal": {"portions": 2, "day": "2026-03-01"}}))


def test_without_pydantic_all_else_works(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "pydantic"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "pydantic", None)
    with pytest.raises(ImportError):
        importlib.import_module("pydantic")
    assert call({"city": "Bern", "day": "2026-03-01"}).into(Leg) == Leg("Bern", datetime.date(2026, 3, 1))
    with pytest.raises(BadOptionError):
        call({"x": 1}).into(dict[str, Exception])
