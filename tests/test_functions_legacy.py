"""Chat Completions as before `tools`: `functions`, `function_call` and the role `function`, through the router."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

import toolglot
from toolglot import convert_messages
from toolglot.router import (
    RequestError,
    stream_with_tool_detection,
    transform_request,
    transform_response_with_tools,
    validate_request,
)

LS = {"name": "ls", "description": "Lists files.", "parameters": {"type": "object", "properties": {"path": {}}}}
CALL = '<tool_call>{"name": "ls", "arguments": {"path": "/"}}</tool_call>'
HISTORY: list[Any] = [
    {"role": "user", "content": "?"},
    {"role": "assistant", "content": None, "function_call": {"name": "ls", "arguments": '{"path": "/"}'}},
    {"role": "function", "name": "ls", "content": "etc usr"},
]
REQUEST = {"model": "m", "messages": HISTORY, "functions": [LS], "stream": True}


def modern(messages: list[Any]) -> list[Any]:
    """The same with tools: one call a message."""
    out = []
    for number, message in enumerate(messages):
        said = dict(message)
        if "function_call" in said:
            said["tool_calls"] = [{"id": f"c{number}", "type": "function", "function": said.pop("function_call")}]
        if said["role"] == "function":
            said = {"role": "tool", "tool_call_id": f"c{number - 1}", "content": said["content"]}
        out.append(said)
    return out


@pytest.mark.parametrize("dialect", ["auto", *(dialect.name for dialect in toolglot.dialects())])
def test_text_mode_says_functions_as_it_says_tools(dialect: str) -> None:
    messages = [*HISTORY, *HISTORY]
    tools = [{"type": "function", "function": LS}]
    told = transform_request({**REQUEST, "messages": messages}, mode="text", dialect=dialect)
    request = {**REQUEST, "messages": modern(messages), "tools": tools}
    del request["functions"]
    assert told == transform_request(request, mode="text", dialect=dialect)
    assert not {"functions", "function_call", "tools"} & set(told)
    assert "Lists files." in json.dumps(told["messages"])
    assert not any("function_call" in message or message["role"] == "function" for message in told["messages"])
    assert messages[1] == HISTORY[1]


@pytest.mark.parametrize(
    ("choice", "shown", "demanded"),
    [(None, True, False), ("auto", True, False), ("none", False, False), ({"name": "ls"}, True, True)],
)
def test_what_function_call_asks_for(choice: Any, shown: bool, demanded: bool) -> None:
    other = {"name": "rm", "parameters": {"type": "object"}}
    told = transform_request({**REQUEST, "functions": [LS, other], "function_call": choice}, mode="text")
    said = json.dumps(told["messages"])
    assert (LS["description"] in said, "must call a tool" in said) == (shown, demanded)
    assert ("rm" in said) == (shown and not demanded)


def test_messages_of_both_kinds() -> None:
    written = convert_messages([*HISTORY, *modern(HISTORY)], to="text", source="openai", dialect="hermes")
    assert [message["role"] for message in written] == ["user", "assistant", "user"] * 2
    assert written[:3] == written[3:]
    # Results pair by name and order; one without a call is one of its name.
    again = [{**HISTORY[1]}, {**HISTORY[1]}, {**HISTORY[2], "content": "one"}, {**HISTORY[2], "content": "two"}]
    assert "one" in convert_messages(again, to="text", source="openai", dialect="hermes")[2]["content"]
    assert "etc usr" in convert_messages(HISTORY[2:], to="text", source="openai", dialect="hermes")[0]["content"]


@pytest.mark.parametrize(
    ("change", "param"),
    [
        ({"functions": "ls"}, "functions"),
        ({"functions": [{"parameters": {}}]}, "functions[0]"),
        ({"functions": [LS, LS]}, "functions[1]"),
        ({"function_call": {"name": "rm"}}, "function_call"),
        ({"function_call": 1}, "function_call"),
        ({"messages": [{"role": "assistant", "function_call": "ls"}]}, "messages[0].function_call"),
        ({"messages": [{"role": "assistant", "function_call": {"arguments": "{}"}}]}, "messages[0].function_call"),
        ({"messages": [{"role": "function", "content": "x"}]}, "messages[0]"),
    ],
    ids=str,
)
def test_what_is_no_function_is_refused(change: Any, param: str) -> None:
    validate_request(REQUEST)
    with pytest.raises(RequestError) as caught:
        transform_request({**REQUEST, **change}, mode="text")
    assert caught.value.body["error"]["param"] == param


def answer(finish: str = "stop", **message: Any) -> Any:
    return {"choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": finish}]}


def test_a_response_is_told_as_it_was_asked_for(caplog: pytest.LogCaptureFixture) -> None:
    called = {"name": "ls", "arguments": '{"path": "/"}'}
    for said in (
        answer(content="Hm. " + CALL),
        answer("function_call", content="Hm. ", function_call=called),
        answer("tool_calls", content="Hm. ", tool_calls=[{"id": "c", "type": "function", "function": called}]),
    ):
        (choice,) = transform_response_with_tools(said, REQUEST)["choices"]
        assert choice["finish_reason"] == "function_call"
        assert choice["message"] == {
            "role": "assistant",
            "content": choice["message"]["content"],
            "function_call": called,
        }
        assert choice["message"]["content"].strip() == "Hm."
    assert not caplog.records
    (choice,) = transform_response_with_tools(answer(content=CALL + CALL.replace("/", "/x", 1)), REQUEST)["choices"]
    assert (choice["finish_reason"], choice["message"]["function_call"]) == ("function_call", called)
    assert "left out" in caplog.text
    (choice,) = transform_response_with_tools(answer(content="Hi."), REQUEST)["choices"]
    assert (choice["finish_reason"], choice["message"]["content"]) == ("stop", "Hi.")
    (choice,) = transform_response_with_tools(answer(content=CALL[:40]), REQUEST)["choices"]
    assert (choice["finish_reason"], "function_call" in choice["message"]) == ("length", False)


def event(finish: str | None = None, **delta: Any) -> bytes:
    frame = {"id": "1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    return b"data: " + json.dumps(frame).encode() + b"\n\n"


def run(*pieces: bytes) -> bytes:
    async def backend() -> AsyncIterator[bytes]:
        for piece in (*pieces, b"data: [DONE]\n\n"):
            yield piece

    async def go() -> bytes:
        return b"".join([chunk async for chunk in stream_with_tool_detection(backend(), REQUEST)])

    return asyncio.run(go())


def read(stream: bytes) -> tuple[str, dict[str, str], str | None]:
    """As a client of functions joins it."""
    content, call, finish = "", {}, None
    for line in stream.decode().split("\n"):
        for choice in json.loads(line[6:])["choices"] if line.startswith("data: {") else []:
            assert "tool_calls" not in choice["delta"]
            content += choice["delta"].get("content") or ""
            for key, piece in choice["delta"].get("function_call", {}).items():
                call[key] = call.get(key, "") + piece
            finish = choice["finish_reason"] or finish
    return content, call, finish


def native(**function: Any) -> bytes:
    return event(tool_calls=[{"index": 0, "id": "c", "type": "function", "function": function}])


def test_a_stream_is_told_as_it_was_asked_for(caplog: pytest.LogCaptureFixture) -> None:
    called = {"name": "ls", "arguments": '{"path": "/"}'}
    text = [event(role="assistant"), event(content="Hm. "), event(content=CALL[:20]), event(content=CALL[20:])]
    for pieces in (
        [*text, event("stop")],
        [event(content="Hm. "), native(name="ls", arguments=""), native(arguments=called["arguments"]), event("stop")],
    ):
        assert read(run(*pieces)) == ("Hm. ", called, "function_call")
    own = [event(function_call={"name": "ls"}), event(function_call={"arguments": called["arguments"]})]
    passed = [event(content="Hm. "), *own, event("function_call")]
    assert read(run(*passed)) == ("Hm. ", called, "function_call")
    assert not caplog.records
    # One call is all that it can be told.
    for pieces in ([*text, event(content=CALL)], [*text, *own]):
        assert read(run(*pieces, event("stop"))) == ("Hm. ", called, "function_call")
    # Behind a native call, one in the text is text.
    told = read(run(event(content="Hm. "), *own, event(content=CALL), event("stop")))
    assert told == ("Hm. " + CALL, called, "function_call")
    assert "left out" in caplog.text
    assert read(run(event(content="Hi."), event("stop"))) == ("Hi.", {}, "stop")
