"""A user's own dialect: from keyword arguments, from a chat template, from a response template."""

from typing import Any

import pytest

import toolglot

TEMPLATE = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% for c in m.tool_calls %}"
    '<run tool="{{ c.function.name }}">{% for k, v in c.function.arguments.items() %}'
    '<p k="{{ k }}">{{ v if v is string else v | tojson }}</p>{% endfor %}</run>'
    "{% endfor %}<|end|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
TEXT = 'Hi <run tool="f"><p k="city">Zürich</p><p k="days">3</p></run><run tool="g"></run>'


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


def test_a_derived_dialect_is_data():
    dialect = toolglot.Dialect.from_chat_template(TEMPLATE)
    assert dialect.to_dict()["calls"] == ["<run {@tool=name}> {parameters} </run>"]
    assert toolglot.Dialect(**dialect.to_dict()) == dialect


def test_response_template():
    fields = {
        "thinking": {"open": "<think>", "close": "</think>"},
        "tool_calls": {"open_pattern": r"<call:(?P<name>\w+)>", "close": "</call>", "content": "json"},
    }
    dialect = toolglot.Dialect.from_response_template({"fields": fields})
    turn = toolglot.extract('<think>r</think><call:f>{"a": 1}</call>', dialect=dialect)
    assert (turn.reasoning, turn.tool_calls[0].name, turn.tool_calls[0].arguments) == ("r", "f", {"a": 1})


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: toolglot.Dialect(name="x", calls=["{nonsense}"]), "nonsense"),
        (lambda: toolglot.Dialect(name="x", colour="red"), "colour"),
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


@pytest.mark.parametrize("fields", [{}, {"name": "mine"}, {"name": "mine", "calls": []}])
def test_a_dialect_without_calls_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(toolglot.BadDialectError, match="calls"):
        toolglot.Dialect(**fields)
