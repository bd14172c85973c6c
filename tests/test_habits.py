"""What one function taught holds for the others: where tools and providers stand, what is said of slips, what reads well."""

from __future__ import annotations

import dataclasses
import datetime
import inspect
import json
import logging
from typing import Any

import pytest

import toolglot
from toolglot.mcp import McpTools
from toolglot.service import ToolCalling

TOOLS = toolglot.ToolSet([{"name": "files.read", "inputSchema": {"type": "object", "properties": {"path": {}}}}])
TEXT = '<tool_call>{"name": "files.read", "arguments": {"path": "a"}}</tool_call>'
TURN = toolglot.extract(TEXT, TOOLS)
(CALL,) = TURN.tool_calls
MESSAGES = [
    {"role": "user", "content": "Read a"},
    toolglot.assistant_message(TURN),
    toolglot.format_tool_result(CALL, "text"),
]


def parameters(function: Any) -> list[str]:
    return list(inspect.signature(function).parameters)


@pytest.mark.parametrize("name", ["extract", "explain", "normalize", "normalize_choices", "stream"])
def test_tools_are_second(name: str) -> None:
    assert parameters(getattr(toolglot, name))[1] == "tools"
    toolglot.stream([TEXT], TOOLS).close()


@pytest.mark.parametrize(
    "said",
    [
        lambda: toolglot.assistant_message(TURN, "anthropic"),
        lambda: toolglot.format_tool_results([(CALL, "text")], "anthropic"),
        lambda: toolglot.format_tool_result(CALL, "text", True, "anthropic"),
        lambda: toolglot.convert_messages(MESSAGES, "anthropic"),
        lambda: toolglot.convert_messages(MESSAGES, provider="anthropic"),
        lambda: toolglot.check_history(MESSAGES, "anthropic"),
        lambda: toolglot.repair_history(MESSAGES, "anthropic"),
        lambda: TURN.to_message("anthropic"),
        lambda: TOOLS.to("anthropic"),
        lambda: TOOLS.names("anthropic"),
        lambda: TOOLS.tool_choice("required", "anthropic"),
        lambda: TOOLS.response_schema(None, "openai"),
        lambda: TOOLS.error_message(TOOLS.check("x", {}), "anthropic"),
        lambda: CALL.error_message(TOOLS, "anthropic"),
        lambda: toolglot.provider_id("a", "anthropic"),
        lambda: toolglot.StreamNormalizer("anthropic", TOOLS),
    ],
)
def test_a_provider_by_position(said: Any) -> None:
    said()


def test_text_is_a_providers_name_wherever_messages_and_names_are_written() -> None:
    assert TOOLS.names("text") == {"files.read": "files.read"}
    unknown = TOOLS.check("file.raed", {})
    own = unknown.error_message(provider="text")
    assert own == TOOLS.error_message(unknown, "text")
    assert "files.read" in (own or "")
    assert "files_read" in (unknown.error_message() or "")
    written = toolglot.convert_messages(MESSAGES, "text", dialect="hermes")
    assert [message["role"] for message in written] == ["user", "assistant", "user"]
    assert toolglot.extract(written[1]["content"], TOOLS).tool_calls[0].arguments == {"path": "a"}
    assert not toolglot.check_history(written)
    assert not toolglot.check_history(written, "text")
    assert toolglot.repair_history(written).provider == "text"
    with pytest.raises(toolglot.UnknownProviderError, match="to_prompt"):
        TOOLS.to("text")
    with pytest.raises(toolglot.BadOptionError, match="dialect"):
        toolglot.convert_messages(MESSAGES, "openai", dialect="hermes")


@pytest.mark.parametrize(
    "asked",
    [
        lambda name: TOOLS.to(name),
        lambda name: toolglot.normalize({}, provider=name),
        lambda name: toolglot.assistant_message(TURN, name),
        lambda name: toolglot.convert_messages([], name),
        lambda name: toolglot.StreamNormalizer(name),
        lambda name: ToolCalling(TOOLS, provider=name),
    ],
)
def test_a_slip_in_a_providers_name(asked: Any) -> None:
    with pytest.raises(toolglot.UnknownProviderError, match='did you mean "anthropic"'):
        asked("antropic")


class Session:
    async def list_tools(self) -> Any: ...


@dataclasses.dataclass
class ModelResponse:
    """As frameworks keep an answer: with objects that no JSON has."""

    parts: list[Any]
    kind: Any = dataclasses.field(default_factory=lambda: datetime.timezone.utc)


@pytest.mark.parametrize(
    ("asked", "next_step"),
    [
        (lambda: toolglot.ToolSet(Session()), "toolglot.mcp.list_tools"),
        (lambda: toolglot.ToolSet({"server": Session()}), "toolglot.mcp.list_tools"),
        (lambda: toolglot.ToolSet([Session()]), "toolglot.mcp.list_tools"),
        (lambda: toolglot.normalize(ModelResponse([])), "what the API answered.*`extract`"),
        (lambda: toolglot.normalize(TEXT), "`extract`"),
        (lambda: toolglot.extract({"choices": []}), "`normalize`"),  # type: ignore[arg-type]
    ],
)
def test_an_error_names_the_next_step(asked: Any, next_step: str) -> None:
    with pytest.raises((TypeError, toolglot.ToolglotError), match=next_step):
        asked()


def test_metadata_of_mcp_is_a_loss_of_its_own() -> None:
    tool = {
        "name": "a",
        "title": "A",
        "inputSchema": {"type": "object"},
        "outputSchema": {"type": "object"},
        "annotations": {"readOnlyHint": True},
        "vendor": 1,
    }
    losses = toolglot.ToolSet([tool]).losses("openai")
    assert sorted(loss.kind for loss in losses) == ["dropped", "metadata", "metadata", "metadata"]


@pytest.mark.parametrize(
    "text",
    [
        "Hello",
        TEXT,
        "<think>Hm.</think>" + TEXT,
        '<tool_call>{"name": "files.read", "arguments": {"path": "é\\n", "n": [1, 12345678901234567890123]}}</tool_call>',
        "<tool_call>{'name': 'files.read', 'arguments': {'path': 'a',}}</tool_call>",
        '<tool_call>{"name": "files.read", "arguments": {"path": "a',
        '<tool_call>{"name": "rm", "arguments": {}}</tool_call>',
        '<tool_call>{"name": "files.read", "arguments": nothing at all}</tool_call>',
    ],
)
def test_to_json_says_what_to_dict_says(text: str) -> None:
    turn = toolglot.extract(text, TOOLS)
    assert json.loads(turn.to_json()) == json.loads(json.dumps(turn.to_dict()))
    assert "\n" not in turn.to_json()
    response = {"choices": [{"message": {"role": "assistant", "content": text}}], "usage": {"prompt_tokens": 3}}
    turn = toolglot.normalize(response, TOOLS)
    assert json.loads(turn.to_json()) == json.loads(json.dumps(turn.to_dict()))


def test_reprs_are_short_and_say_what_it_is() -> None:
    assert repr(ToolCalling(TOOLS)) == "<ToolCalling: 1 tools, openai, native>"
    assert repr(McpTools({"a": Session()}, TOOLS)) == "<McpTools: 1 tools of a>"
    assert str(TURN) == '-> files.read({"path": "a"}) [ok]'


def test_the_submodules_are_there() -> None:
    for name in ("client", "compat", "errors", "functions", "loop", "mcp", "messages", "router", "service", "streams"):
        assert getattr(toolglot, name).__name__ == f"toolglot.{name}"
        assert name in dir(toolglot)


def test_help_begins_with_the_usual_calls() -> None:
    said = inspect.getdoc(toolglot) or ""
    calls = ("ToolSet(", ".to(", "normalize(", "extract(", "assistant_message(", "format_tool_results(")
    places = [said.index(call) for call in calls]
    assert places == sorted(places)
    assert places[-1] < 900


def test_a_tool_that_raises_is_one_line(caplog: pytest.LogCaptureFixture) -> None:
    import asyncio

    def fails(call: Any) -> None:
        raise OSError("no disk")

    async def run() -> None:
        service = ToolCalling(TOOLS)
        service.observe(TEXT)
        await service.execute_native_tool_calls(fails)

    with caplog.at_level(logging.INFO, "toolglot.service"):
        asyncio.run(run())
    (record,) = caplog.records
    assert record.getMessage() == "the tool files.read failed: no disk"
    assert record.exc_info is None
