"""The promises that hold for every input, searched for exceptions with hypothesis."""

from __future__ import annotations

import decimal
import json
import time
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import toolglot
from support import EXAMPLE_TOOLS, check_events, snapshot, stream
from toolglot import convert_messages

TOOLS = toolglot.ToolSet(
    [
        {
            "name": "search",
            "parameters": {"type": "object", "properties": {"query": {"type": "string"}, "n": {"type": "integer"}}},
        },
        {
            "name": "write_file",
            "parameters": {"type": "object", "properties": {"path": {"type": "string"}, "content": {"type": "string"}}},
        },
    ]
)

# Pieces of all dialects, so that random sequences of them are nearly calls.
FRAGMENTS = sorted(
    {
        piece
        for dialect in toolglot.dialects()
        for line in dialect.example.split("\n")
        for piece in (line, line[: len(line) // 2], line[len(line) // 2 :], "\n")
        if piece
    }
    | {
        "{",
        "}",
        "[",
        "]",
        '"',
        "\\",
        "```json\n",
        "```",
        "`",
        "<think>",
        "</think>",
        "</",
        "<|",
        "search",
        '"name"',
        "é",
        "😀",
        "\x00",
        " ",
    }
)

soup = st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=8)), max_size=12).map("".join)
json_value = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(10**22, 10**24)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(text=soup, told=st.sampled_from(["auto", *(dialect.name for dialect in toolglot.dialects())]), data=st.data())
def test_p1_a_stream_is_the_complete_turn(text: str, told: str, data: st.DataObject) -> None:
    starts_in = data.draw(st.sampled_from(["content", "reasoning"]))
    tools = data.draw(st.sampled_from([None, TOOLS]))
    # Limits that are met soon: what is waited for no longer has to be refused where it came all at once.
    markup = data.draw(st.sampled_from([4096, 16, 8, 1]))
    policy = toolglot.Policy(max_markup_bytes=markup)
    given: dict[str, Any] = {"dialect": told, "starts_in": starts_in, "tools": tools, "policy": policy}
    whole = snapshot(toolglot.extract(text, **given))
    encoded = text.encode()
    places = sorted(data.draw(st.lists(st.integers(0, len(encoded)), max_size=8)))
    pieces: list[bytes] = [encoded[i:j] for i, j in zip([0, *places], [*places, len(encoded)], strict=True)]
    for cut in (pieces, [encoded[i : i + 1] for i in range(len(encoded))], list(text)):
        turn, events = stream(cut, **given)
        assert snapshot(turn) == whole
        check_events(turn, events)


@pytest.mark.parametrize("space", [10, 4090, 4100, 5000])
@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{space}{{"name": "search", "arguments": {{}}}}</tool_call>x',
        '<function_calls>{space}<invoke name="search"></invoke></function_calls>x',
        "search{space}(query='x')\nx",
        "<search>{space}<query>x</query></search>x",
        '{{"name"{space}: "search", "arguments": {{}}}} {{{space}"name": "search", "arguments": {{}}}}x',
        '{{"name": "search", "arguments": {{}}}} {{{space}"name": "search", "arguments": {{}}}}x',
        '[{{"name": "search", "arguments": {{}}}} {{{space}"name": "search", "arguments": {{}}}}]x',
        "x</s>{space}",
        "x</s>{space}x",
        "{space}to=functions.search<|message|>{{}}<|call|>x",
        " to=functions.search{space}\n<|message|>{{}}<|call|>x",
    ],
)
def test_p1_long_white_space_is_the_same_at_once(text: str, space: int) -> None:
    text = text.format(space=" " * space)
    for dialect in ("auto", "harmony"):
        whole = snapshot(toolglot.extract(text, tools=TOOLS, dialect=dialect))
        for size in (1, 50, 4500):
            turn, _ = stream((text[at : at + size] for at in range(0, len(text), size)), tools=TOOLS, dialect=dialect)
            assert snapshot(turn) == whole


@pytest.mark.parametrize("length", [250, 256, 257, 300, 500, 510, 512, 520, 1200])
@pytest.mark.parametrize("opening", ["```{label}", "{ticks}", "{tildes}", "```{label}```", "x ```{label}"])
def test_p1_a_fence_opens_alike_however_long_its_line_is(opening: str, length: int) -> None:
    """How long a line or a run of backticks is waited for does not depend on how much of it came at once."""
    call = '<tool_call>{"name": "search", "arguments": {"query": "x"}}</tool_call>'
    line = opening.format(label="a" * length, ticks="`" * length, tildes="~" * length)
    for text in (f"{line}\n{call}\n{line}\n{call}", f"{line}{call}\n", f"{line} {call} {'x' * 600}\n{call}"):
        whole = snapshot(toolglot.extract(text, tools=TOOLS))
        for size in (1, 7, 50, 600):
            turn, _ = stream((text[at : at + size] for at in range(0, len(text), size)), tools=TOOLS)
            assert snapshot(turn) == whole


@given(
    arguments=st.dictionaries(st.text(), json_value, max_size=5),
    indent=st.sampled_from([None, 1, 2]),
    escape=st.booleans(),
)
@example(
    arguments={"code": "x = True", "n": 12345678901234567890123, "c": "/* no comment */"}, indent=None, escape=False
)
@example(arguments={"a": "</tool_call>", "b": "<tool_call>"}, indent=None, escape=False)
def test_p3_valid_arguments_pass_byte_for_byte(arguments: dict[str, Any], indent: int | None, escape: bool) -> None:
    written = json.dumps(arguments, indent=indent, ensure_ascii=escape)
    text = f'<tool_call>\n{{"name": "search", "arguments": {written}}}\n</tool_call>'
    for dialect in ("hermes", "auto"):
        (call,) = toolglot.extract(text, dialect=dialect).tool_calls
        assert call.status == "ok"
        assert call.arguments_json == written
        assert json.dumps(call.arguments) == json.dumps(arguments)
        assert call.repairs == ()


@given(text=st.text())
def test_p4_text_without_calls_is_the_content(text: str) -> None:
    turn = toolglot.extract(text, dialect="hermes")
    if not any(mark in text for mark in ("<tool_call", "<think", "</think", "<|")):
        assert turn.content == text
        assert turn.tool_calls == ()


@given(
    before=st.text(alphabet="abc é.\n"),
    after=st.text(alphabet="abc é.\n"),
    broken=st.sampled_from(['{"name": 1}', "nothing", "{"]),
)
def test_p4_one_bad_call_costs_no_other(before: str, after: str, broken: str) -> None:
    good = '<tool_call>\n{"name": "search", "arguments": {"query": "x"}}\n</tool_call>'
    bad = f"<tool_call>\n{broken}\n</tool_call>"
    for text in (f"{before}{good}{bad}{after}", f"{before}{bad}{good}{after}"):
        turn = toolglot.extract(text, dialect="hermes", tools=TOOLS)
        assert [call.name for call in turn.tool_calls if call.runnable] == ["search"]
        kept = turn.content + "".join(call.raw for call in turn.tool_calls)
        assert before.strip() in kept
        assert after.strip() in kept
        assert broken in kept
        assert turn.issues


@pytest.mark.parametrize("dialect", [dialect.name for dialect in toolglot.dialects()])
def test_p5_a_cut_off_call_is_never_runnable(dialect: str) -> None:
    """Every prefix of an example runs no call that the whole does not, with the same arguments."""
    (row,) = [row for row in toolglot.dialects() if row.name == dialect]
    whole = [
        (call.name, call.arguments)
        for call in toolglot.extract(row.example, dialect=dialect, tools=EXAMPLE_TOOLS).tool_calls
    ]
    for end in range(len(row.example)):
        turn = toolglot.extract(row.example[:end], dialect=dialect, tools=EXAMPLE_TOOLS)
        runnable = [(call.name, call.arguments) for call in turn.tool_calls if call.runnable]
        assert runnable == whole[: len(runnable)], row.example[:end]
        assert turn.needs_more_work == bool(runnable)


# What a call may say: nothing that a cut could turn into a marker of its own.
SAID = st.lists(
    st.sampled_from(
        ["a", "Oslo", "it's", 'say "x"', "line\nline", "{", "}", "[1]", "日本", "😀", "a < b", "1", "null", "\\d"]
    ),
    max_size=3,
).map("".join)
CUT_TOOLS = {
    "search": {"query": SAID, "n": st.integers(), "tags": st.lists(SAID, max_size=3), "exact": st.booleans()},
    "write_file": {"path": SAID, "content": SAID},
    "ping": {},
}
TYPES = {"query": "string", "n": "integer", "exact": "boolean", "path": "string", "content": "string"}
CUT_SET = toolglot.ToolSet(
    [
        {
            "name": name,
            "parameters": {
                "type": "object",
                "properties": {key: {"type": TYPES.get(key, "array")} for key in keys},
            },
        }
        for name, keys in CUT_TOOLS.items()
    ]
)
CALL = st.sampled_from(sorted(CUT_TOOLS)).flatmap(
    lambda name: st.tuples(st.just(name), st.fixed_dictionaries({}, optional=CUT_TOOLS[name]))
)


def as_written(calls: list[Any], dialect: str) -> str:
    """The calls as the dialect's model writes them."""
    written = [
        {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
        for n, (name, arguments) in enumerate(calls)
    ]
    (message,) = convert_messages(
        [{"role": "assistant", "content": None, "tool_calls": written}], to="text", source="openai", dialect=dialect
    )
    text: str = message["content"]
    return text


@given(st.lists(CALL, min_size=1, max_size=3), st.sampled_from([dialect.name for dialect in toolglot.dialects()]))
def test_p5_no_part_of_an_answer_runs_what_the_whole_does_not(calls: list[Any], dialect: str) -> None:
    """Calls as the dialect's model writes them, those without arguments among them, cut at every place."""
    text = as_written(calls, dialect)
    for reader in (dialect, "auto"):
        whole = [call for call in toolglot.extract(text, tools=CUT_SET, dialect=reader).tool_calls if call.runnable]
        expected = [(call.name, call.arguments) for call in whole]
        for end in range(len(text)):
            turn = toolglot.extract(text[:end], tools=CUT_SET, dialect=reader)
            run = [(call.name, call.arguments) for call in turn.tool_calls if call.runnable]
            assert run == expected[: len(run)], text[:end]


@pytest.mark.parametrize("dialect", [dialect.name for dialect in toolglot.dialects()])
def test_p1_a_part_tells_the_beginning_of_what_the_whole_does(dialect: str) -> None:
    text = as_written([("write_file", {"path": "a.txt", "content": "Hello there,\nyou two"})], dialect)
    (whole,) = toolglot.extract(text, tools=CUT_SET, dialect=dialect).tool_calls
    for end in range(len(text)):
        turn, events = stream([text[at : min(at + 4, end)] for at in range(0, end, 4)], tools=CUT_SET, dialect=dialect)
        check_events(turn, events)
        told = "".join(event.text for event in events if event.kind == "arguments")
        assert whole.arguments_json.startswith(told), text[:end]


TORN = [
    '{"path": "x, "content": "y"}',
    '{"path": "x","content":","u": 1}',
    '{"path": "x  ,  "content": "y"}',
    '{"path": "x\',"content": "y"}',
    '{"path": "x", "content": "a "b" c"}',
    '{"path": "say "a", "b" c", "content": "y"}',
    '{"path": "x", "content": {"a", "b"}}',
    '{"path": "x", "content": 1:2}',
    '{"path": "x", "content": true or}',
    '{"path": "x" "content": "y",}',
]


@pytest.mark.parametrize("arguments", TORN)
@pytest.mark.parametrize(
    ("dialect", "form"),
    [
        ("hermes", '<tool_call>{"name": "write_file", "arguments": %s}</tool_call>'),
        ("auto", '{"name": "write_file", "arguments": %s}'),
        ("json", '{"tool_calls": [{"name": "write_file", "arguments": %s}]}'),
        ("mistral", "[TOOL_CALLS]write_file[ARGS]%s"),
        ("kimi_k2", "<|tool_call_begin|>functions.write_file:0<|tool_call_argument_begin|>%s<|tool_call_end|>"),
    ],
)
def test_p1_what_was_told_of_torn_arguments_holds(dialect: str, form: str, arguments: str) -> None:
    """Repair does not take back what has left, wherever the text ends."""
    text = form % arguments
    for end in range(1, len(text) + 1):
        turn, events = stream(text[:end], dialect=dialect)
        check_events(turn, events)
        for index, call in enumerate(turn.tool_calls):
            told = "".join(event.text for event in events if event.kind == "arguments" and event.index == index)
            assert call.status == "incomplete" or call.arguments_json.startswith(told), text[:end]


# What models write round their calls, of which a part looks like the beginning of one.
ROUND = st.lists(
    st.sampled_from(
        [
            "Hello.",
            "a < b",
            "f(x)",
            "[1, 2]",
            '{"a": 1}',
            "{",
            "{a",
            "{a, b}",
            "{'a': 1,",
            '{"a":',
            "x = {y}",
            "}",
            "</p>",
            "<b>x</b>",
            "- item",
            "\n",
            "{\n  color: red\n",
            '"q"',
            "[link](url)",
            "日本",
            "$5",
            "<",
        ]
    ),
    max_size=5,
).map(" ".join)
MARKED = ["cohere", "deepseek_v31", "glm45", "hermes", "kimi_k2", "minimax_m2", "mistral", "qwen3_coder", "seed_oss"]


@given(ROUND, ROUND, st.sampled_from(MARKED), st.lists(CALL, min_size=1, max_size=2))
def test_p4_text_round_calls_hides_none_and_is_kept(before: str, after: str, dialect: str, calls: list[Any]) -> None:
    text = f"{before}\n{as_written(calls, dialect)}\n{after}"
    for reader in (dialect, "auto"):
        turn = toolglot.extract(text, tools=CUT_SET, dialect=reader)
        assert [(call.name, call.arguments) for call in turn.tool_calls] == calls
        assert "".join(turn.content.split()) == "".join((before + after).split())


@pytest.mark.parametrize(
    "prose",
    [
        "{a, b} is a set. ",
        "{\n  color: red\n",
        '{"a": \n',
        "{'a': 1,\n",
        "[{\n",
        '{"q" and so on\n',
        "{name: " + "\"'" * 400,
        "{arguments:" + " \n" * 400,
    ],
)
def test_p2_prose_that_begins_with_a_bracket_does_not_wait(prose: str) -> None:
    """Nothing of it is a call's: it leaves while it streams."""
    parser = toolglot.StreamParser(tools=CUT_SET)
    text = prose + "Some words. " * 100
    events = [event for at in range(0, len(text), 4) for event in parser.feed(text[at : at + 4])]
    assert len(text) - sum(len(event.text) for event in events if event.kind == "text") < 300
    assert parser.finish().content == text


@pytest.mark.parametrize("length", [10, 60, 200, 1000])
def test_p2_a_long_head_waits_a_quarter_longer_at_most(length: int) -> None:
    """What is undecided for long is not looked at with every chunk, but soon after it is decided."""
    name = "f" * length
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    tools = toolglot.ToolSet([{"name": name, "inputSchema": schema}])
    head = f"<tool_call>\n<function={name}>\n<parameter=city>\n"
    parser = toolglot.StreamParser(tools=tools, dialect="qwen3_coder")
    told = 0
    for letter in head + "x" * 1000:
        told += 1
        if any(event.kind == "call_started" for event in parser.feed(letter)):
            break
    assert told <= len(head) + max(len(head) - 64, 0) // 4 + 20


# A fence may hold anything up to its last line, so nothing of it is a call before that; names as keys are read when the
# object is over.
HELD_BACK = {"gemma3", "sarashina", "apertus"}


@pytest.mark.parametrize("row", toolglot.dialects(), ids=lambda row: row.name)
@pytest.mark.parametrize("tools", [EXAMPLE_TOOLS, None], ids=["tools", "no tools"])
def test_p2_strings_leave_while_they_are_written(row: toolglot.Dialect, tools: list[Any] | None) -> None:
    """Of a file of 4 KB no more than the longest marker is ever held back."""
    if row.name in HELD_BACK or (tools is None and row.name == "cline"):
        pytest.skip("held back, for a reason")
    written = "The quick brown fox reads <b>books</b>, (all) of them. " * 80
    assert "Paris" in row.example
    text = row.example.replace("Paris", written, 1)
    begin = text.index(written)
    parser = toolglot.StreamParser(tools=tools, dialect=row)
    told = 0
    for at in range(0, begin + len(written) - 200, 4):
        told += sum(len(event.text or "") for event in parser.feed(text[at : at + 4]) if event.kind == "arguments")
        # A call without markers is certain when it is longer than what a sentence may speak of.
        assert at < begin + 1000 or at - begin - told < 100


@given(text=soup, starts_in=st.sampled_from(["content", "reasoning"]))
def test_p7_any_text_is_answered(text: str, starts_in: str) -> None:
    turn = toolglot.extract(text, tools=TOOLS, starts_in=starts_in)
    assert isinstance(turn.content, str)
    for call in turn.tool_calls:
        assert isinstance(call.arguments, dict)
        assert call.status in {"ok", "repaired", "invalid", "malformed", "incomplete", "unknown_tool"}
        assert call.runnable == (call.status in {"ok", "repaired"})
        json.loads(call.arguments_json)
    repr(turn)
    json.dumps(turn.to_dict(), default=str)
    turn.to_openai()
    envelope = turn.to_envelope()
    assert envelope["needsMoreWork"] == bool(envelope["toolCalls"])


@given(data=st.binary(max_size=60), told=st.sampled_from(["auto", "hermes"]))
def test_p7_any_bytes_are_answered(data: bytes, told: str) -> None:
    """What is no UTF-8 becomes U+FFFD as Python's own decoder has it, and an issue."""
    turn, events = stream([data], dialect=told)
    again, _ = stream([data[i : i + 1] for i in range(len(data))], dialect=told)
    assert again.content == turn.content == toolglot.extract(data, dialect=told).content
    check_events(turn, events)
    if not any(mark in data for mark in b"<[{`|"):
        assert turn.content == data.decode("utf-8", "replace")
        valid = turn.content.encode() == data
        assert valid == ("invalid_utf8" not in {issue.code for issue in turn.issues})
    whole = toolglot.extract(data, dialect=told)
    replaced = [[i.offset for i in read.issues if i.code == "invalid_utf8"] for read in (whole, turn, again)]
    assert replaced[0] == replaced[1] == replaced[2]


@given(text=st.text(alphabet=st.characters() | st.characters(categories=["Cs"]), max_size=30), data=st.data())
def test_p7_lone_surrogates_are_replaced(text: str, data: st.DataObject) -> None:
    """Python's str can hold what no UTF-8 can."""
    turn = toolglot.extract(text, dialect="hermes")
    replaced = "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)
    assert snapshot(turn)["content"] == toolglot.extract(replaced, dialect="hermes").content
    assert (replaced != text) == ("invalid_utf8" in {issue.code for issue in turn.issues})
    cut = data.draw(st.integers(0, len(text)))
    streamed, events = stream([text[:cut], text[cut:]], dialect="hermes")
    assert snapshot(streamed) == snapshot(turn)
    check_events(streamed, events)


# One of each width that Python keeps characters in, and the half of one.
@pytest.mark.parametrize("character", ["", "é", "中", "😀", "\ud83d"])
@pytest.mark.parametrize("before", [0, 4095, 4096, 20_000])
def test_long_texts_are_read_as_short_ones(character: str, before: int) -> None:
    call = f'<tool_call>{{"name": "search", "arguments": {{"query": "{character}"}}}}</tool_call>'
    text = "x" * before + character + call + "y" * 20_000 + character
    read = character.replace("\ud83d", "\ufffd")
    turn = toolglot.extract(text, tools=TOOLS)
    assert turn.content == "x" * before + read + "y" * 20_000 + read
    assert [(c.raw, c.arguments) for c in turn.tool_calls] == [
        (call.replace("\ud83d", "\ufffd"), {"query": read}),
    ]
    assert [i.code for i in turn.issues] == ["invalid_utf8"] * (read != character)
    assert toolglot.extract(turn.content, tools=TOOLS).content == turn.content
    assert (
        "".join(span.text for span in toolglot.explain(text, tools=TOOLS).spans if span.kind == "content")
        == turn.content
    )
    assert snapshot(stream([text], tools=TOOLS)[0]) == snapshot(turn)


def test_a_long_text_of_a_class_of_its_own_is_read_as_it_is() -> None:
    class Odd(str):
        def isascii(self) -> bool:
            return False

        def __getitem__(self, key: Any) -> str:
            return "odd"

    text = "x" * 20_000 + 'é<tool_call>{"name": "search", "arguments": {"query": "é"}}</tool_call>'
    assert [call.arguments for call in toolglot.extract(Odd(text), tools=TOOLS).tool_calls] == [{"query": "é"}]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\x00" * 1000,
        "{" * 100_000,
        "[" * 100_000,
        '{"a":' * 50_000,
        "<tool_call>" * 20_000,
        '<tool_call>{"name": "search", "arguments": ' + "[" * 100_000,
        "<think>" * 20_000,
        "```json\n" * 20_000,
        "`" * 100_000,
        '"' * 100_000,
        "\\" * 100_000,
        "<function=" * 20_000,
        '<invoke name="' * 20_000,
        "search(" * 20_000,
        "[search(query=" * 20_000,
        '{"name": "search", "arguments": {"query": "' + "x" * 1_000_000,
        "a" * 5_000_000,
    ],
    ids=lambda text: f"{text[:12]!r}-{len(text)}",
)
@pytest.mark.parametrize("dialect", ["auto", "hermes"])
def test_p7_hostile_texts(text: str, dialect: str) -> None:
    turn = toolglot.extract(text, tools=TOOLS, dialect=dialect)
    assert not turn.needs_more_work
    said = turn.content + (turn.reasoning or "") + "".join(call.raw for call in turn.tool_calls)
    assert len(said) >= len(text) * 0.5 or turn.issues or text.startswith("<think>")


def test_p7_numbers_beyond_python() -> None:
    """An integer of more digits than Python reads as int is exact all the same."""
    digits = "9" * 5000
    (call,) = toolglot.extract(
        f'<tool_call>{{"name": "search", "arguments": {{"n": {digits}}}}}</tool_call>'
    ).tool_calls
    assert str(call.arguments["n"]) == digits
    assert toolglot.ToolCall("f", '{"n": 1e999}').arguments["n"] == decimal.Decimal("1e999")


@pytest.mark.parametrize("depth", [10, 100, 126])
def test_p7_depth_within_the_limit(depth: int) -> None:
    value = "[" * (depth - 1) + "]" * (depth - 1)
    text = f'<tool_call>{{"name": "search", "arguments": {{"query": {value}}}}}</tool_call>'
    (call,) = toolglot.extract(text).tool_calls
    assert call.status == "ok"
    assert json.dumps(call.arguments).count("[") == depth - 1
    assert call.to_dict()
    assert toolglot.extract(text).to_envelope()["toolCalls"][0]["arguments"] == call.arguments


def cost(work: Callable[[str], object], text: str) -> float:
    """The least CPU time of three tries."""
    times = []
    for _ in range(3):
        begin = time.thread_time()
        work(text)
        times.append(time.thread_time() - begin)
    return min(times)


def in_small_chunks(text: str) -> object:
    return stream((text[at : at + 4] for at in range(0, len(text), 4)), tools=TOOLS)


@pytest.mark.parametrize(
    "way", [lambda text: toolglot.extract(text, tools=TOOLS), in_small_chunks], ids=["whole", "chunks"]
)
@pytest.mark.parametrize(
    "unit",
    [
        "{", "[", '{"a":', "<", "<|", "<tool_call>", "<tool_call>{", "<think>", "</think>", "```json\n", "```\n{", "`",
        '"', "\\", "<function=", "<parameter=a>", '<invoke name="', "search(", "[search(query=", "search\n", "<search>",
        "[TOOL_CALLS]", '{"name": "search", ', "functions.search:0", "prose, and more. ",
    ],
)  # fmt: skip
def test_p2_time_grows_with_the_text(unit: str, way: Callable[[str], object]) -> None:
    """Four times the text takes about four times as long; sixteen times would be quadratic."""
    few, many = (unit * (size // len(unit)) for size in (30_000, 120_000))
    assert cost(way, many) < 9 * cost(way, few) + 0.02


@pytest.mark.parametrize(
    "head",
    [
        '<tool_call>{"name": "write_file", "arguments": {"content": "',
        "<tool_call>\n<function=write_file>\n<parameter=content>\n",
    ],
)
def test_p2_a_long_argument(head: str) -> None:
    few, many = (head + 'def f(x):\\n    return \\"a\\"\\n' * (size // 30) for size in (50_000, 200_000))
    assert cost(in_small_chunks, many) < 9 * cost(in_small_chunks, few) + 0.02


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("gemma4", '<|tool_call>call:get_weather{city:<|"|>Paris<|"|>}'),
        ("gemma4", '<|tool_call>call:get_weather{city:<|"|>Paris<|"|>,days:3}'),
        ("mistral", '[TOOL_CALLS]get_weather[ARGS]{"city": "Paris"}'),
    ],
)
def test_p2_arguments_leave_with_the_bracket_that_closes_them(dialect: str, text: str) -> None:
    """P2: nothing that may yet come behind it keeps a part of them back."""
    parser = toolglot.StreamParser(dialect=dialect)
    told = "".join(event.text for event in parser.feed(text) if event.kind == "arguments")
    assert told == parser.finish().tool_calls[0].arguments_json
