"""The Python classes: what they hold, how they compare, print, pickle and refuse."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import decimal
import enum
import gc
import json
import math
import pickle
import subprocess
import sys
import threading
import tracemalloc
import types
from collections.abc import Callable
from typing import Any

import pytest

import toolglot
from toolglot import _core

TEXT = """Let me look.
<tool_call>
{"name": "search", "arguments": {"query": "x = True", "n": 12345678901234567890123}}
</tool_call>"""
TOOL = {
    "name": "search",
    "description": "Search",
    "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}, "n": {"type": "integer"}}},
}


def test_a_turn() -> None:
    turn = toolglot.extract(TEXT, tools=[TOOL])
    assert turn.content.strip() == "Let me look."
    assert turn.reasoning is None
    assert turn.stop_reason == "tool_calls"
    assert turn.source == "text"
    assert turn.dialect == "hermes"
    assert turn.usage is None
    assert turn.needs_more_work
    (call,) = turn.tool_calls
    assert call.name == "search"
    assert call.arguments == {"query": "x = True", "n": 12345678901234567890123}
    assert call.arguments is call.arguments
    assert call.arguments_json == '{"query": "x = True", "n": 12345678901234567890123}'
    assert call.status == "ok"
    assert call.runnable
    assert call.repairs == call.errors == ()
    assert call.raw == TEXT[TEXT.index("<") :]
    assert turn.to_openai() == {
        "role": "assistant",
        "content": turn.content,
        "tool_calls": [
            {"id": call.id, "type": "function", "function": {"name": "search", "arguments": call.arguments_json}}
        ],
    }
    assert turn.to_envelope() == {
        "toolCalls": [{"name": "search", "arguments": call.arguments}],
        "content": turn.content,
        "needsMoreWork": True,
    }
    assert json.loads(json.dumps(turn.to_dict())) == turn.to_dict()


def test_prose_comes_back_as_the_very_same_object() -> None:
    text = "No call here, though it is long. " * 10_000
    assert toolglot.extract(text, dialect="hermes").content is text


def test_a_truncated_call_is_not_runnable() -> None:
    turn = toolglot.extract(TEXT[:-40])
    assert [call.status for call in turn.tool_calls] == ["incomplete"]
    assert not turn.needs_more_work
    assert turn.to_envelope()["toolCalls"] == []


ISSUE = toolglot.Issue("stray_marker", "a marker", offset=3)
REPAIR = toolglot.Repair("comma", "a comma was removed", offset=7)
ERROR = toolglot.ArgumentError("/n", "type", "no integer")
USAGE = toolglot.Usage(input_tokens=10, output_tokens=3)
CALL = toolglot.ToolCall(
    "search", {"n": 2**80}, id="call_1", status="repaired", repairs=[REPAIR], errors=[ERROR], raw="raw"
)
TURN = toolglot.Turn(
    "text",
    [CALL],
    reasoning="hm",
    usage=USAGE,
    source="text",
    dialect="hermes",
    issues=[ISSUE],
    provider_state={"x": [1]},
)
RECORDS = [
    ISSUE,
    REPAIR,
    ERROR,
    USAGE,
    CALL,
    TURN,
    toolglot.Policy(fences="ignore", max_calls=3),
    toolglot.Event("text", text="a"),
    toolglot.Event("reasoning", text="a"),
    toolglot.Event("call_started", index=0, id="call_1", name="search"),
    toolglot.Event("arguments", index=0, text="{"),
    toolglot.Event("call_ended", index=0, call=CALL),
    toolglot.Event("reclassified"),
    toolglot.Event("issue", issue=ISSUE),
    toolglot.dialects()[0],
]


@pytest.mark.parametrize("record", RECORDS, ids=repr)
def test_records_are_values(record: Any) -> None:
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(record, protocol))
        assert again == record
        assert hash(again) == hash(record)
        assert repr(again) == repr(record)
    assert copy.copy(record) == copy.deepcopy(record) == record
    assert repr(record).startswith(type(record).__name__ + "(")
    assert record != object()
    assert json.dumps(record.to_dict())
    with pytest.raises(AttributeError):
        record.anything = 1
    assert type(record).__module__ == "toolglot"


def test_records_differ() -> None:
    assert len(set(RECORDS)) == len(RECORDS)
    assert toolglot.ToolCall("f", {}, id="a") != toolglot.ToolCall("f", {}, id="b")
    assert toolglot.ToolCall("f", {}, id="a") != toolglot.ToolCall("f", {}, id="a", raw="x")
    assert toolglot.ToolCall("f", {}).id != toolglot.ToolCall("f", {}).id
    assert toolglot.Turn("a") != toolglot.Turn("b")
    assert toolglot.Turn("a", issues=[ISSUE]) != toolglot.Turn("a")
    assert toolglot.Event("text", text="a") != toolglot.Event("reasoning", text="a")


def test_matching() -> None:
    match TURN:
        case toolglot.Turn(content, [toolglot.ToolCall("search", {"n": n})]):
            assert (content, n) == ("text", 2**80)
        case _:
            raise AssertionError
    match toolglot.Event("text", text="hi"):
        case toolglot.Event("text", text):
            assert text == "hi"
        case _:
            raise AssertionError


@pytest.mark.parametrize(
    "make",
    [
        lambda: toolglot.Issue("no such code"),
        lambda: toolglot.Repair("no such code"),
        lambda: toolglot.ToolCall("f", {}, status="fine"),
        lambda: toolglot.ToolCall("f", "{"),
        lambda: toolglot.Turn(stop_reason="tired"),
        lambda: toolglot.Turn(source="heaven"),
        lambda: toolglot.Event("text"),
        lambda: toolglot.Event("text", text="a", index=1),
        lambda: toolglot.Policy(fences="sometimes"),
        lambda: toolglot.Policy(max_depth=1000),
        lambda: toolglot.Policy(max_calls=-1),
        lambda: toolglot.Policy(max_arguments_bytes=2**70),
        lambda: toolglot.Policy(max_markup_bytes=2**64 - 1),
        lambda: toolglot.extract("", policy={"max_markup_bytes": 2**63}),
        lambda: toolglot.repair_json("{}", max_depth=-1),
        lambda: toolglot.parse_partial_json("{}", max_depth=2**64),
        lambda: toolglot.format_tool_result("id", "result", max_chars=-1),
        lambda: toolglot.extract("", policy={"fence": "calls"}),
        lambda: toolglot.extract("", policy={1: "calls"}),
        lambda: toolglot.extract("", starts_in="middle"),
        lambda: toolglot.StreamParser(starts_in="middle"),
        lambda: toolglot.Dialect(name="x", no_such_field=1),
        lambda: toolglot.Issue("unknown_tool", offset=-1),
        lambda: toolglot.Repair("comma", offset=2**70),
        lambda: toolglot.Usage(-1),
        lambda: toolglot.Event("arguments", index=-1, text=""),
        lambda: toolglot.Span(-1, 0, "content", ""),
        lambda: toolglot.RepairedJson("{}", consumed=-1),
        lambda: toolglot.ToolSet([{"name": "f"}]).to("llama_cpp", budget=-1),
    ],
)
def test_bad_options(make: Callable[[], object]) -> None:
    with pytest.raises(toolglot.ToolglotError) as caught:
        make()
    assert isinstance(caught.value, ValueError)
    assert caught.value.message
    assert pickle.loads(pickle.dumps(caught.value)).args == caught.value.args


@pytest.mark.parametrize(
    ("make", "place", "word"),
    [
        (lambda: toolglot.ToolCall("f", {}, status="fine"), "status", "malformed"),
        (lambda: toolglot.Turn(stop_reason="tired"), "stop_reason", "length"),
        (lambda: toolglot.Turn(source=""), "source", "native"),
        (lambda: toolglot.Issue("no such code"), "code", "stray_marker"),
        (lambda: toolglot.Loss("f", "", "lost"), "kind", "dropped"),
        (lambda: toolglot.Span(0, 1, "word", "a"), "kind", "content"),
        (lambda: toolglot.Span(0, 1, "content", "a", reason="none"), "reason", "inline_code"),
        (lambda: toolglot.RepairedJson("{}", ending="open"), "ending", "closed"),
        (lambda: toolglot.Policy(fences="sometimes"), "fences", "last"),
        (lambda: toolglot.extract("", starts_in="middle"), "starts_in", "reasoning"),
    ],
)
def test_an_error_says_which_words_there_are(make: Callable[[], object], place: str, word: str) -> None:
    with pytest.raises(toolglot.BadOptionError) as caught:
        make()
    assert caught.value.place == place
    assert f'"{word}"' in caught.value.message


@pytest.mark.parametrize("name", ["no-such-dialect", "", "\ud800", "a\x00b", "x" * 100_000])
def test_unknown_dialect(name: str) -> None:
    for call in (lambda: toolglot.extract("", dialect=name), lambda: toolglot.StreamParser(dialect=name)):
        with pytest.raises(toolglot.UnknownDialectError, match="dialect") as caught:
            call()
        assert isinstance(caught.value, LookupError)
        assert isinstance(caught.value, ValueError)
        assert caught.value.code == "unknown_dialect"


@pytest.mark.parametrize("kind", [bytes, bytearray])
def test_bytes_are_text_everywhere(kind: type[bytes]) -> None:
    written, json_text = kind(TEXT.encode()), kind(b'{"a": 1,')

    def calls(turn: toolglot.Turn) -> list[Any]:
        return [(call.name, call.arguments) for call in turn.tool_calls]

    parser = toolglot.StreamParser(tools=[TOOL])
    parser.feed(written)
    expected = calls(toolglot.extract(TEXT, tools=[TOOL]))
    assert calls(toolglot.extract(written, tools=[TOOL])) == calls(parser.finish()) == expected
    assert calls(toolglot.explain(written, [TOOL]).turn) == expected
    assert toolglot.repair_json(json_text) == toolglot.parse_partial_json(json_text) == {"a": 1}
    assert toolglot.repair_json(kind(b'["\xff"]')) == ["\ufffd"]


@pytest.mark.parametrize("arguments", [[1], "[1]", "1", '"a"', None])
def test_a_call_whose_arguments_are_no_object_does_not_run(arguments: Any) -> None:
    call = toolglot.ToolCall("f", arguments)
    assert (call.status, call.runnable, call.errors[0].keyword) == ("invalid", False, "type")
    assert toolglot.ToolCall("f", arguments, status="malformed").errors == ()
    assert pickle.loads(pickle.dumps(call)) == call


def test_copies_of_a_call_know_the_tools() -> None:
    tools = toolglot.ToolSet([{"name": "files.read", "parameters": {"required": ["path"]}}])
    turn = toolglot.extract('{"name": "files.read", "arguments": {"lines": 1}}', tools=tools)
    for call in (turn.tool_calls[0], tools.check("files.read", "{}")):
        for again in (copy.copy(call), copy.deepcopy(call), pickle.loads(pickle.dumps(call))):
            assert again == call
            assert again.arguments is not call.arguments
            assert again.error_message() == call.error_message() != toolglot.ToolCall("files.read", {}).error_message()
            message = toolglot.format_tool_result(again, "x", provider="gemini")
            assert message["parts"][0]["functionResponse"]["name"] == "files_read"
    for again in (copy.copy(turn), copy.deepcopy(turn), pickle.loads(pickle.dumps(turn))):
        assert again == turn
        message = toolglot.assistant_message(again, provider="anthropic")
        assert message["content"][0]["name"] == "files_read"


@pytest.mark.parametrize("number", ["1e999", "-1E+400", "123456789" * 100 + ".5e1"])
def test_a_number_beyond_a_float_is_none_of_infinity(number: str) -> None:
    call = toolglot.ToolSet([{"name": "f"}]).check("f", f'{{"n":{number}}}')
    assert (call.status, call.arguments_json) == ("ok", f'{{"n":{number}}}')
    assert call.arguments == {"n": decimal.Decimal(number)}
    assert isinstance(call.arguments["n"], decimal.Decimal)
    again = toolglot.ToolCall("f", call.arguments)
    assert again.arguments == call.arguments
    assert toolglot.repair_json(f"[{number},]") == [decimal.Decimal(number)]
    # No computer could write this one out.
    assert toolglot.repair_json("[1e99999999999999999999999]") == [math.inf]
    with pytest.raises(TypeError):
        toolglot.ToolCall("f", {"n": decimal.Decimal("nan")})


@pytest.mark.parametrize("text", [None, 1, 1.5, [], {}, object(), memoryview(b"a"), str, float("nan")])
def test_text_of_the_wrong_type(text: Any) -> None:
    with pytest.raises(TypeError, match="str or bytes"):
        toolglot.extract(text)
    with pytest.raises(TypeError, match="str or bytes"):
        toolglot.StreamParser().feed(text)


@pytest.mark.parametrize(
    "options",
    [
        {"dialect": 1},
        {"policy": 1},
        {"policy": "calls"},
        {"starts_in": 1},
        {"tools": 1},
        {"tools": "search"},
        {"tools": {"a": 1}},
        {"tool": []},
    ],
)
def test_options_of_the_wrong_type(options: dict[str, Any]) -> None:
    for make in (lambda: toolglot.extract("", **options), lambda: toolglot.StreamParser(**options)):
        with pytest.raises((TypeError, toolglot.ToolglotError)):
            make()


def endless() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["self"] = value
    return value


def deep(levels: int) -> Any:
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "error"),
    [
        (endless(), toolglot.errors.BadJsonError),
        (deep(200), toolglot.errors.BadJsonError),
        (deep(50_000), toolglot.errors.BadJsonError),
        (float("nan"), toolglot.errors.BadJsonError),
        (float("inf"), toolglot.errors.BadJsonError),
        ({1: 2}, TypeError),
        ({1, 2}, TypeError),
        (object(), TypeError),
        (b"bytes", TypeError),
        (int, TypeError),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_that_json_cannot_say(value: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        toolglot.ToolCall("f", {"value": value})
    with pytest.raises((error, toolglot.ToolglotError)):
        toolglot.extract("", tools=[{**TOOL, "extra": value, "inputSchema": {"type": "object", "default": value}}])


class Model:
    def __init__(self, **fields: Any) -> None:
        self.fields = fields

    def model_dump(self, *, mode: str = "python", by_alias: bool = False, exclude_none: bool = False) -> dict[str, Any]:
        assert (mode, by_alias, exclude_none) == ("json", True, True)
        return self.fields


class OldModel:
    def model_dump(self) -> dict[str, Any]:
        return {"a": 1}


class WithToDict:
    def to_dict(self) -> dict[str, Any]:
        return {"a": 1}


@dataclasses.dataclass
class Data:
    a: int
    b: Any = None


class Colour(enum.Enum):
    RED = "red"


class Number(enum.IntEnum):
    ONE = 1


class Text(str):
    pass


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (Model(a=1), {"a": 1}),
        (OldModel(), {"a": 1}),
        (WithToDict(), {"a": 1}),
        (Data(1, Data(2)), {"a": 1, "b": {"a": 2, "b": None}}),
        (types.MappingProxyType({"a": (1, 2)}), {"a": [1, 2]}),
        (Colour.RED, "red"),
        (Number.ONE, 1),
        (Text("t"), "t"),
        (2**200, 2**200),
        (-(2**63), -(2**63)),
        (True, True),
        (1.5e300, 1.5e300),
        ("a\x00\n\U0001f600", "a\x00\n\U0001f600"),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else type(value).__name__,
)
def test_objects_are_read_as_what_they_say(value: Any, read: Any) -> None:
    call = toolglot.ToolCall("f", {"value": value})
    assert call.arguments == {"value": read}
    assert type(call.arguments["value"]) is type(read)
    assert json.loads(call.arguments_json) == {"value": read}


def test_an_object_that_fails_says_so_itself() -> None:
    class Failing:
        def model_dump(self, **_: Any) -> Any:
            raise KeyError("its own error")

    with pytest.raises(KeyError, match="its own error"):
        toolglot.ToolCall("f", {"value": Failing()})


def test_tools_in_every_form() -> None:
    openai = {"type": "function", "function": {"name": "search", "parameters": TOOL["inputSchema"]}}
    for tools in ([TOOL], (TOOL,), [openai], [Model(**TOOL)], toolglot.ToolSet([TOOL]), iter([TOOL])):
        turn = toolglot.extract(TEXT.replace("search", "other"), tools=tools)
        assert [call.status for call in turn.tool_calls] == ["unknown_tool"]


def test_a_parser_is_finished_once() -> None:
    parser = toolglot.StreamParser()
    assert "open" in repr(parser)
    events = parser.feed(TEXT[:50]) + parser.feed(TEXT[50:].encode())
    events += parser.close()
    assert parser.close() == []
    turn = parser.finish()
    assert parser.finish() is turn
    assert [event.kind for event in events][-1] == "call_ended"
    with pytest.raises(ValueError, match=r"finished: .* a new StreamParser"):
        parser.feed("more")
    assert "finished" in repr(parser)


def test_a_stream_is_finished_once() -> None:
    stream = toolglot.StreamNormalizer("openai")
    stream.feed({"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": "stop"}]})
    assert stream.finish() is stream.finish()
    with pytest.raises(ValueError, match=r"finished: .* a new StreamNormalizer"):
        stream.feed(b"more")


def test_text_events_hand_back_the_chunk() -> None:
    chunk = "some words "
    (event,) = toolglot.StreamParser(dialect="hermes").feed(chunk)
    assert event.text is chunk


def test_a_panic_is_an_exception() -> None:
    with pytest.raises(toolglot.InternalError, match="on purpose") as caught:
        _core._panic("on purpose")
    assert isinstance(caught.value, Exception)


def test_threads() -> None:
    """Results are the same from many threads at once; a parser shared by mistake is safe, though one may be refused."""
    tools = toolglot.ToolSet([TOOL])
    prose = "Some words. " * 5_000
    failures: list[BaseException] = []
    shared = toolglot.StreamParser(dialect="hermes")

    def work() -> None:
        try:
            for _ in range(20):
                turn = toolglot.extract(prose + TEXT, tools=tools)
                assert turn.tool_calls[0].arguments["n"] == 12345678901234567890123
                parser = toolglot.StreamParser(tools=tools)
                for at in range(0, len(TEXT), 7):
                    parser.feed(TEXT[at : at + 7])
                assert parser.finish().tool_calls[0].arguments_json == turn.tool_calls[0].arguments_json
                with contextlib.suppress(RuntimeError):
                    shared.feed(prose)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert set(shared.finish().content.split()) == {"Some", "words."}


def test_names_of_members_are_what_they_are() -> None:
    """Names are kept for the next call: each must still be its own, however many there are and whoever asks."""
    written = {f"{name}{i}": i for name in ("a", "key_", "x" * 50, "schl\u00fcssel", "") for i in range(800)}
    text = '{"rows": [' + json.dumps(written, ensure_ascii=False) + ", " + json.dumps(written) + "]}"

    def read() -> None:
        for _ in range(3):
            assert toolglot.parse_partial_json(text) == {"rows": [written, written]}

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    read()


@pytest.mark.parametrize(
    ("written", "status", "arguments"),
    [('["Paris"]', "invalid", ["Paris"]), ('"Paris, Rome"', "malformed", {}), ("<args-json-object>", "malformed", {})],
)
def test_arguments_that_cannot_be_read_are_a_dict(written: str, status: str, arguments: Any) -> None:
    tools = [{"name": "route", "parameters": {"type": "object", "properties": {"start": {}, "end": {}}}}]
    (call,) = toolglot.extract(
        f'<tool_call>{{"name": "route", "arguments": {written}}}</tool_call>', tools=tools
    ).tool_calls
    assert (call.status, call.arguments, call.to_dict()["arguments"]) == (status, arguments, arguments)
    assert call.arguments is call.arguments
    assert json.loads(call.arguments_json) == json.loads(written if written[0] in '["' else f'"{written}"')


def test_arguments_are_made_once() -> None:
    xml = "<tool_call>\n<function=f>\n<parameter=n>\n3\n</parameter>\n</function>\n</tool_call>"
    for text in ('<tool_call>{"name": "f", "arguments": {"n": "3"}}</tool_call>', xml):
        (call,) = toolglot.extract(text).tool_calls
        assert call.arguments is call.arguments == {"n": "3"}
        assert call.arguments_json is call.arguments_json


def test_nothing_leaks() -> None:
    def work() -> None:
        parser = toolglot.StreamParser(tools=[TOOL])
        for at in range(0, len(TEXT), 5):
            parser.feed(TEXT[at : at + 5])
        turn = parser.finish()
        _ = turn.to_dict(), turn.to_openai(), repr(turn), turn.tool_calls[0].arguments

    for _ in range(50):
        work()
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(500):
        work()
    gc.collect()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    # One lost object a run would be 25 KB at the least; one an event, half a megabyte.
    assert grown < 100_000


def test_all_is_all() -> None:
    for name in toolglot.__all__:
        assert hasattr(toolglot, name)
    assert toolglot.__all__ == sorted(toolglot.__all__)


def test_import_is_light() -> None:
    """The package needs nothing but itself: no framework, no asyncio."""
    code = "import sys, toolglot; print([m for m in ('asyncio', 'httpx', 'pydantic', 'argparse') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_parser_that_is_fed_can_be_shown() -> None:
    parser = toolglot.StreamParser(tools=[{"name": "f", "parameters": {}}])
    text = "{[<`" * 500_000
    thread = threading.Thread(target=parser.feed, args=(text,))
    thread.start()
    shown = {repr(parser)}
    while thread.is_alive():
        shown.add(repr(parser))
    thread.join()
    assert all(each.startswith("<toolglot.StreamParser ") for each in shown)


def test_a_wrong_provider_is_told_every_name_there_is() -> None:
    with pytest.raises(toolglot.UnknownProviderError, match=r"groq, vllm, .*openrouter$"):
        toolglot.normalize({}, provider="grok")
    with pytest.raises(toolglot.UnknownProviderError, match="openrouter, and text for"):
        toolglot.assistant_message(toolglot.Turn("x"), provider="texts")


@pytest.mark.parametrize(
    "arguments", ['{"a": "x"}', '{"a":}x', '{"a": 1}'], ids=["invalid", "malformed", "unknown_tool"]
)
def test_a_turn_with_calls_that_must_not_run_waits_for_an_answer(arguments: str) -> None:
    name = "g" if arguments == '{"a": 1}' else "f"
    tools = [{"name": "f", "parameters": {"properties": {"a": {"type": "integer"}}}}]
    text = f'<tool_call>{{"name": "{name}", "arguments": {arguments}}}</tool_call>'
    turn = toolglot.extract(text, tools=tools)
    assert [call.runnable for call in turn.tool_calls] == [False]
    assert turn.stop_reason == toolglot.Turn("", turn.tool_calls).stop_reason == "tool_calls"


def test_a_key_that_stands_twice_is_recorded() -> None:
    arguments = '{"a": 1, "b": {}, "a": 2}'
    (call,) = toolglot.extract(f'<tool_call>{{"name": "f", "arguments": {arguments}}}</tool_call>').tool_calls
    assert (call.status, call.arguments_json) == ("repaired", '{"a":2,"b":{}}')
    (repair,) = call.repairs
    assert (repair.code, repair.offset) == ("duplicate_key", arguments.rindex("a"))


def test_half_characters_in_names_and_ids() -> None:
    half = json.loads('"f\\ud800"')
    tools = toolglot.ToolSet([TOOL])
    assert tools.resolve(half) is None
    assert tools.nearest(half) == []
    assert half not in tools
    with pytest.raises(KeyError):
        tools[half]
    assert tools.check("f", {}, id=half).id == toolglot.ToolCall("f", {}, id=half).id == "f\ufffd"
    assert toolglot.Event("text", text=half).text == toolglot.Turn(half).content == "f\ufffd"
    for provider in ("openai", "mistral"):
        assert toolglot.provider_id(half, provider) == toolglot.provider_id("f\ufffd", provider)


def test_integers_of_any_length() -> None:
    number = 10**5000 + 7
    digits = "1" + "0" * 4999 + "7"
    for value in (number, -number):
        call = toolglot.ToolCall("f", {"a": value})
        assert call.arguments_json.replace("-", "") == f'{{"a":{digits}}}'
        assert toolglot.ToolSet([]).check("f", {"a": value}).arguments_json == call.arguments_json
    assert toolglot.format_tool_result("call_1", number)["content"] == digits
