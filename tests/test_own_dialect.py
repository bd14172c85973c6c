"""A user's own dialect: from keyword arguments, from a chat template, from a response template."""

from typing import Any

import pytest

import toolglot
from toolglot.router import transform_request
from toolglot.service import ToolCalling

TEMPLATE = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% for c in m.tool_calls %}"
    '<run tool="{{ c.function.name }}">{% for k, v in c.function.arguments.items() %}'
    '<p k="{{ k }}">{{ v if v is string else v | tojson }}</p>{% endfor %}</run>'
    "{% endfor %}<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
TEXT = 'Hi <run tool="f"><p k="city">Zürich</p><p k="days">3</p></run><run tool="g"></run>'


TOOL = {"name": "f", "inputSchema": {"type": "object", "properties": {"city": {"type": "string"}}}}


def own() -> toolglot.Dialect:
    return toolglot.Dialect(
        name="own",
        calls=["<run {@tool=name}> {parameters} </run>"],
        parameters=["<p {@k=key}>{value}</p>"],
        json_first=True,
    )


@pytest.mark.parametrize("make", [own, lambda: toolglot.Dialect.from_chat_template(TEMPLATE, name="own")])
def test_reads_whole_and_cut_anywhere(make):
    dialect = make()
    assert dialect.name == "own"
    whole = toolglot.extract(TEXT, dialect=dialect)
    assert [(c.name, c.arguments) for c in whole.tool_calls] == [("f", {"city": "Zürich", "days": 3}), ("g", {})]
    assert whole.content.strip() == "Hi"
    for cut in range(len(TEXT) + 1):
        parser = toolglot.StreamParser(dialect=dialect)
        parser.feed(TEXT[:cut])
        parser.feed(TEXT[cut:])
        turn = parser.finish()
        assert [(c.name, c.arguments) for c in turn.tool_calls] == [(c.name, c.arguments) for c in whole.tool_calls]
        assert turn.content == whole.content


@pytest.mark.parametrize(
    ("call", "parameter", "text"),
    [
        ("|call {name}| {parameters} |end|", "|{key}:{value}|", "|call f||a: 1||end| and so on: 2|"),
        ("<{name}> {parameters} </{name}>", "<{key}>{value}</{key}>", "<f><query>x</quer<n>3</n></f>"),
        ("<t>{name}=>x {parameters} </t>", "<p {@k=key}>{value}</p>", '<t>f=>x <p k="a">1</p></t>'),
        ("<t>{name}~>~ {parameters} </t>", "<p {@k=key}>{value}</p>", '<t>f~>~ <p k="a">1</p></t>'),
        ('<t>"{name},{ }"is"> {parameters} </t>', "<p {@k=key}>{value}</p>", '<t>"f, "is"> <p k="a">1</p></t>'),
    ],
)
def test_what_may_yet_be_a_parameter_is_waited_for(call, parameter, text):
    dialect = toolglot.Dialect(name="own", calls=[call], parameters=[parameter])
    whole = toolglot.extract(text, dialect=dialect)
    parser = toolglot.StreamParser(dialect=dialect)
    for letter in text:
        parser.feed(letter)
    turn = parser.finish()
    said = [(call.name, call.arguments_json, call.status) for call in turn.tool_calls]
    assert said == [(call.name, call.arguments_json, call.status) for call in whole.tool_calls]
    assert turn.content == whole.content


@pytest.mark.parametrize("end", ["</key:x>", "</key:x><val:x>", "</keys:x>", "</key:x><val:x>Rome</val:x>"])
def test_a_suffix_of_all_tags_tells_none_of_them(end):
    dialect = toolglot.Dialect(
        name="own",
        calls=["<call:x>{name} {parameters} </call:x>"],
        parameters=["<key:x>{key}</key:x><val:x>{value}</val:x>"],
    )
    (call,) = toolglot.extract(f"<call:x>f\n<key:x>city{end}", tools=[TOOL], dialect=dialect).tool_calls
    assert call.status == "incomplete"


def test_a_derived_dialect_is_data():
    dialect = toolglot.Dialect.from_chat_template(TEMPLATE)
    assert dialect.to_dict()["calls"] == ["<run {@tool=name}> {parameters} </run>"]
    assert toolglot.Dialect(**dialect.to_dict()) == dialect


def test_what_ends_a_turn_in_brackets_is_no_content():
    template = (
        "{% for m in messages %}[|{{ m.role }}|]{{ m.content }}{% for c in m.tool_calls %}"
        "<call:{{ c.function.name }}>{{ c.function.arguments | tojson }}</call>{% endfor %}[|over|]\n{% endfor %}"
        "{% if add_generation_prompt %}[|assistant|]{% endif %}"
    )
    dialect = toolglot.Dialect.from_chat_template(template)
    turn = toolglot.extract('Hi. <call:f>{"a": 1}</call>[|over|]', dialect=dialect)
    assert (turn.content.strip(), turn.tool_calls[0].arguments) == ("Hi.", {"a": 1})


@pytest.mark.parametrize("body", ["json", "python"])
def test_an_id_beside_what_holds_the_name_is_the_calls(body):
    dialect = toolglot.Dialect(name="own", calls=[f"<call {{@id=id}}> {{{body}}} </call>"])
    inside = '{"name": "f", "arguments": {"city": "x"}}' if body == "json" else "f(city='x')"
    text = f'<call id="abc">{inside}</call>'
    assert [(c.id, c.arguments) for c in toolglot.extract(text, dialect=dialect).tool_calls] == [("abc", {"city": "x"})]
    parser = toolglot.StreamParser(dialect=dialect)
    events = [event for letter in text for event in parser.feed(letter)]
    assert [event.id for event in events if event.kind == "call_started"] == ["abc"]
    own = text.replace('"name"', '"id": "mine", "name"')
    if body == "json":
        assert toolglot.extract(own, dialect=dialect).tool_calls[0].id == "mine"


def test_response_template():
    fields = {
        "thinking": {"open": "<think>", "close": "</think>"},
        "tool_calls": {"open_pattern": r"<call:(?P<name>\w+)>", "close": "</call>", "content": "json"},
    }
    dialect = toolglot.Dialect.from_response_template({"fields": fields})
    turn = toolglot.extract('<think>r</think><call:f>{"a": 1}</call>', dialect=dialect)
    assert (turn.reasoning, turn.tool_calls[0].name, turn.tool_calls[0].arguments) == ("r", "f", {"a": 1})


def test_a_response_template_of_another_type_says_what_is_one() -> None:
    with pytest.raises(TypeError, match="a dict or its JSON as a str, not a bytes"):
        toolglot.Dialect.from_response_template(b"{}")


def test_what_its_kin_writes_is_read_as_well() -> None:
    text = "<tool_call>\n<function=f>\n<parameter=city>\nOslo\n</parameter>\n</function>\n</tool_call>"
    alone = {"name": "own", "calls": ["<run> {json} </run>"]}
    assert not toolglot.extract(text, tools=[TOOL], dialect=toolglot.Dialect(**alone)).tool_calls
    with_kin = toolglot.Dialect(**alone, kin=["qwen3_coder"])
    (call,) = toolglot.extract(text, tools=[TOOL], dialect=with_kin).tool_calls
    assert (call.name, call.arguments) == ("f", {"city": "Oslo"})
    (call,) = toolglot.extract('<run>{"name": "f", "arguments": {}}</run>', tools=[TOOL], dialect=with_kin).tool_calls
    assert (call.name, call.arguments) == ("f", {})


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: toolglot.Dialect(name="x", calls=["{nonsense}"]), "nonsense"),
        (lambda: toolglot.Dialect(name="x", colour="red"), "colour"),
        (lambda: toolglot.Dialect(name="x", calls=["<a>{json}</a>"], kin=["none such"]), "none such"),
        (lambda: toolglot.Dialect(name="x", calls=["<a>" * 8000 + "{json}"]), "24000 bytes"),
        (lambda: toolglot.Dialect(name="x", calls=["<a>{json}"], tokens=["<b>" * 8000]), "24000 bytes"),
        (lambda: toolglot.Dialect.from_chat_template("{% if %}"), "cannot be read"),
        (lambda: toolglot.Dialect.from_chat_template("{{ messages }}{{ raise_exception('no') }}"), "no"),
        (lambda: toolglot.Dialect.from_chat_template("plain"), "ignores tool_calls"),
        (lambda: toolglot.Dialect.from_response_template({"fields": {"content": {}}}), "tool_calls"),
        (lambda: toolglot.Dialect.from_response_template("no json"), "no JSON"),
    ],
)
def test_what_makes_no_sense_says_why(make, why):
    with pytest.raises(toolglot.BadDialectError, match=why):
        make()


TOOLS = toolglot.ToolSet(
    [
        {
            "name": name,
            "parameters": {"type": "object", "properties": {"path": {"type": "string"}, "n": {"type": "integer"}}},
        }
        for name in ("ls", "rm_all")
    ]
)
CALLS = [toolglot.ToolCall("ls", {"path": "/a b", "n": 3}), toolglot.ToolCall("rm_all", {"path": "x"})]
# Their calls stand in messages with headers, which no template of a call shows.
WITH_HEADERS = {"harmony", "muse", "muse_glimmer"}


def without_examples(row: toolglot.Dialect) -> toolglot.Dialect:
    return toolglot.Dialect(**{**row.to_dict(), "name": "mine", "example": "", "parallel": "", "forms": []})


@pytest.mark.parametrize("row", toolglot.dialects(), ids=lambda row: row.name)
def test_what_the_templates_show_is_read_back(row):
    dialect = without_examples(row)
    if row.name in WITH_HEADERS:
        with pytest.raises(toolglot.BadDialectError, match="example"):
            TOOLS.to_prompt(dialect)
        return
    assert "TOOL_NAME" in TOOLS.to_prompt(dialect)
    for calls in (CALLS[:1], CALLS):
        message = toolglot.assistant_message(toolglot.Turn("Let me see.", calls), provider="text", dialect=dialect)
        turn = toolglot.extract(message["content"], tools=TOOLS, dialect=dialect)
        assert [(c.name, c.arguments, c.status) for c in turn.tool_calls] == [
            (c.name, c.arguments, "ok") for c in calls
        ]
        assert turn.content.startswith("Let me see.")


def test_a_row_of_the_catalogue_is_what_its_name_means():
    for row in toolglot.dialects():
        assert TOOLS.to_prompt(row) == TOOLS.to_prompt(row.name)


@pytest.mark.parametrize("make", [own, lambda: toolglot.Dialect.from_chat_template(TEMPLATE, name="own")])
def test_text_mode_speaks_it(make):
    dialect = make()
    service = ToolCalling(TOOLS, mode="text", dialect=dialect)
    form = '<run tool="TOOL_NAME">\n<p k="PARAMETER">VALUE</p>\n</run>'
    assert form in service.with_tool_prompt([{"role": "user", "content": "Hi"}])[0]["content"]
    # Calls that came natively are written in it.
    service.observe(toolglot.Turn("", [toolglot.ToolCall("ls", {"path": "/"})], source="native"))
    first, result = service.conversation_messages()
    assert toolglot.extract(first["content"], tools=TOOLS, dialect=dialect).tool_calls[0].arguments == {"path": "/"}
    assert "not executed" in result["content"]
    asked = {"messages": [{"role": "user", "content": "Hi"}], "tools": TOOLS.to_openai()}
    assert form in transform_request(asked, mode="text", dialect=dialect)["messages"][0]["content"]


def test_a_dialect_that_cannot_be_shown_is_told_at_once():
    dialect = without_examples(toolglot.dialects("harmony")[0])
    assert ToolCalling(TOOLS, dialect=dialect).has_pending_tool_calls() is False
    with pytest.raises(toolglot.BadDialectError, match="get_weather"):
        ToolCalling(TOOLS, mode="text", dialect=dialect)
    with pytest.raises(toolglot.UnknownDialectError):
        ToolCalling(TOOLS, mode="text", dialect="nobody's")


@pytest.mark.parametrize("fields", [{}, {"name": "mine"}, {"name": "mine", "calls": []}])
def test_a_dialect_without_calls_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(toolglot.BadDialectError, match="calls"):
        toolglot.Dialect(**fields)


def test_its_namespace_is_no_part_of_a_name() -> None:
    dialect = toolglot.Dialect(name="mine", calls=["<c {name}> {arguments} </c>"], namespace="ns")
    for tools in (None, [{"name": "f"}]):
        (call,) = toolglot.extract('<c ns.f>{"a": 1}</c>', dialect=dialect, tools=tools).tool_calls
        assert (call.name, [repair.code for repair in call.repairs]) == ("f", ["name"])


@pytest.mark.parametrize(
    ("field", "fields"),
    [
        ("special_markers", {"calls": ["<c {name}> {arguments} </c>"], "special_markers": True}),
        ("tag_prefix", {"calls": ["<c {name}> {elements} </c>"], "tag_prefix": "@"}),
    ],
)
def test_a_field_that_would_do_nothing_is_refused(field: str, fields: dict[str, Any]) -> None:
    with pytest.raises(toolglot.BadDialectError) as caught:
        toolglot.Dialect(name="mine", **fields)
    assert caught.value.place == field
