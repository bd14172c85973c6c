"""Both routers over real HTTP: uvicorn, the official SDK, a scripted backend. What `before` gets wrong, `after` does not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import openai
import pytest

import toolglot
from examples.fastapi_router import after, before
from examples.scripted import NAME, SPELLING, TOOL, Backend, serve

ASK = [{"role": "user", "content": "What time is it?"}]


@pytest.fixture
def backend() -> Iterator[Backend]:
    app = Backend()
    with serve(app) as app.url:  # type: ignore[attr-defined]
        yield app


def client(url: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=url, api_key="none", max_retries=0, timeout=20)


@pytest.fixture
def old(backend: Any) -> Iterator[openai.OpenAI]:
    with serve(before.create_app(backend.url)) as url, client(url) as sdk:
        yield sdk


@pytest.fixture
def new(backend: Any) -> Iterator[openai.OpenAI]:
    with serve(after.create_app(backend.url)) as url, client(url) as sdk:
        yield sdk


def ask(sdk: openai.OpenAI, model: str, messages: list[Any], *, stream: bool) -> dict[str, Any]:
    """The assistant's message and its finish_reason, whole or put together from a stream by plain rules."""
    if not stream:
        choice = sdk.chat.completions.create(model=model, messages=messages, tools=[TOOL]).choices[0]
        message = choice.message.model_dump(exclude_none=True)
        return {"message": message, "finish": choice.finish_reason}
    content, calls, finish = "", {}, None
    for chunk in sdk.chat.completions.create(model=model, messages=messages, tools=[TOOL], stream=True):
        for choice in chunk.choices:
            content += choice.delta.content or ""
            for piece in choice.delta.tool_calls or []:
                if piece.id:
                    assert piece.index not in calls
                    calls[piece.index] = {"id": piece.id, "type": "function", "function": {"name": "", "arguments": ""}}
                    calls[piece.index]["function"]["name"] = piece.function.name
                calls[piece.index]["function"]["arguments"] += piece.function.arguments or ""
            finish = choice.finish_reason or finish
    message: dict[str, Any] = {"role": "assistant", "content": content or None}
    if calls:
        message["tool_calls"] = [calls[index] for index in sorted(calls)]
    return {"message": message, "finish": finish}


def converse(sdk: openai.OpenAI, model: str, *, stream: bool) -> tuple[list[Any], int]:
    """A conversation to its end; the history is valid at every step."""
    messages, made = list(ASK), 0
    for _ in range(30):
        answer = ask(sdk, model, messages, stream=stream)
        messages.append(answer["message"])
        calls = answer["message"].get("tool_calls") or []
        assert answer["finish"] == ("tool_calls" if calls else "stop")
        if not calls:
            break
        for call in calls:
            made += 1
            assert call["function"]["name"] == NAME
            assert set(json.loads(call["function"]["arguments"])) == {"timezone"}
            messages.append(toolglot.format_tool_result(call, "12:00"))
        assert toolglot.check_history(messages, "openai") == []
    return messages, made


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("kind", ["native", *SPELLING])
def test_every_dialect(new: openai.OpenAI, kind: str, stream: bool) -> None:
    answer = ask(new, kind, ASK, stream=stream)
    (call,) = answer["message"]["tool_calls"]
    assert (call["function"]["name"], json.loads(call["function"]["arguments"])) == (NAME, {"timezone": "UTC"})
    assert answer["finish"] == "tool_calls"
    assert (answer["message"].get("content") or "").strip() == "I look it up."


@pytest.mark.parametrize("kind", sorted(SPELLING))
def test_before_finds_none_of_them(old: openai.OpenAI, kind: str) -> None:
    answer = ask(old, kind, ASK, stream=True)
    assert "tool_calls" not in answer["message"]
    assert SPELLING[kind].replace("ZONE", "UTC") in answer["message"]["content"]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("kind", ["native", "hermes"])
def test_twenty_calls_in_a_row(new: openai.OpenAI, kind: str, stream: bool) -> None:
    messages, made = converse(new, f"{kind}/20", stream=stream)
    assert made == 20
    assert messages[-1]["content"] == "Done after 20 calls."
    assert len({call["id"] for message in messages for call in message.get("tool_calls", [])}) == 20


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("kind", ["native", "hermes", "minimax_m2", "kimi_k2"])
def test_calls_at_once(new: openai.OpenAI, kind: str, stream: bool) -> None:
    messages, made = converse(new, f"{kind}/x3", stream=stream)
    assert made == 3
    assert messages[-1]["content"] == "Done after 3 calls."


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_a_backend_without_tools(backend: Any, stream: bool) -> None:
    """In text mode the backend gets neither ``tools`` nor a ``tool`` message."""
    with serve(after.create_app(backend.url, mode="text")) as url, client(url) as sdk:
        messages, made = converse(sdk, "hermes/20", stream=stream)
    assert made == 20
    assert messages[-1]["content"] == "Done after 20 calls."
    for request in backend.requests:
        assert "tools" not in request
        assert {message["role"] for message in request["messages"]} <= {"system", "user", "assistant"}
        assert all("tool_calls" not in message for message in request["messages"])
        assert NAME in request["messages"][0]["content"]
        assert toolglot.check_history(request["messages"], "openai") == []


def event(content: str | None = None, finish: str | None = None, **delta: Any) -> bytes:
    if content is not None:
        delta["content"] = content
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    frame = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]}
    return b"data: " + json.dumps(frame).encode() + b"\n\n"


def test_the_first_word_does_not_wait(backend: Any, new: openai.OpenAI, old: openai.OpenAI) -> None:
    """A backend that says a word and hangs: its word arrives, and its connection is closed when the client leaves."""
    backend.raw, backend.hangs = [event("Hello there")], True
    stream = new.chat.completions.create(model="m", messages=ASK, tools=[TOOL], stream=True)
    assert next(iter(stream)).choices[0].delta.content == "Hello there"
    stream.close()
    assert backend.disconnected.wait(5)
    stream = old.with_options(timeout=0.5).chat.completions.create(model="m", messages=ASK, tools=[TOOL], stream=True)
    with pytest.raises((openai.APITimeoutError, httpx.ReadTimeout)):
        next(iter(stream))


CUT = '<tool_call>\n{"name": "get_current_time", "arguments": {"timezone": "Eur'


def raw(sdk: openai.OpenAI) -> str:
    body = {"model": "m", "messages": ASK, "tools": [TOOL], "stream": True}
    return httpx.post(f"{sdk.base_url}chat/completions", json=body, timeout=20).text


def test_the_backend_dies(backend: Any, new: openai.OpenAI) -> None:
    backend.raw, backend.dies = [event("One moment. "), event(CUT)], True
    text = raw(new)
    assert "One moment." in text
    assert '"code":"backend_disconnected"' in text
    assert "[DONE]" not in text
    assert '"finish_reason":"' not in text
    assert "secret" not in text
    assert "Error" not in text.replace("server_error", "")
    with pytest.raises(openai.APIError):
        list(new.chat.completions.create(model="m", messages=ASK, tools=[TOOL], stream=True))


@pytest.mark.parametrize("said", ["length", "stop"])
def test_a_call_cut_off_is_not_finished(backend: Any, new: openai.OpenAI, said: str) -> None:
    backend.raw = [event(CUT), event(finish=said), b"data: [DONE]\n\n"]
    assert ask(new, "m", ASK, stream=True)["finish"] == "length"


def test_garbage_and_half_lines(backend: Any, new: openai.OpenAI) -> None:
    whole = (
        event("Hel")
        + b"<html>oops</html>\n"
        + b"data: {broken\n\n"
        + b": ping\n\n"
        + event("lo")
        + event(finish="stop")
    )
    whole += b"data: [DONE]\n\n"
    backend.raw = [whole[start : start + 7] for start in range(0, len(whole), 7)]
    assert ask(new, "m", ASK, stream=True) == {"message": {"role": "assistant", "content": "Hello"}, "finish": "stop"}


def test_a_line_of_ten_megabytes(backend: Any, new: openai.OpenAI) -> None:
    text = "word " * 2_000_000
    backend.raw = [event(text), event(finish="stop"), b"data: [DONE]\n\n"]
    assert ask(new, "m", ASK, stream=True)["message"]["content"] == text


def test_usage_when_asked_for(new: openai.OpenAI) -> None:
    options = {"include_usage": True}
    stream = new.chat.completions.create(
        model="hermes", messages=ASK, tools=[TOOL], stream=True, stream_options=options
    )
    *_, last = stream
    assert last.choices == []
    assert last.usage.total_tokens == 12


def test_the_same_call_natively_and_in_text(backend: Any, new: openai.OpenAI) -> None:
    call = {"id": "call_9", "type": "function", "function": {"name": NAME, "arguments": '{"timezone": "UTC"}'}}
    native = event(tool_calls=[{"index": 0, **call}])
    text = event(SPELLING["hermes"].replace("ZONE", "UTC"))
    for order in ([text, native], [native, text]):
        backend.raw = [*order, event(finish="tool_calls"), b"data: [DONE]\n\n"]
        answer = ask(new, "m", ASK, stream=True)
        assert len(answer["message"]["tool_calls"]) == 1
        assert answer["finish"] == "tool_calls"


BAD = [
    ({"tools": [{"type": "function", "function": {"name": "no spaces"}}]}, "invalid_tool_schema"),
    (
        {"tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "array"}}}]},
        "invalid_tool_schema",
    ),
    ({"messages": [*ASK, {"role": "tool", "tool_call_id": "call_1", "content": "x"}]}, "invalid_message_order"),
    (
        {
            "messages": [
                *ASK,
                {
                    "role": "assistant",
                    "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": NAME, "arguments": "{}"}}],
                },
                {"role": "tool", "tool_call_id": "call_2", "content": "x"},
            ]
        },
        "invalid_tool_call_id",
    ),
]


@pytest.mark.parametrize(("change", "code"), BAD, ids=lambda value: value if isinstance(value, str) else "")
def test_what_no_backend_could_answer(backend: Any, new: openai.OpenAI, change: Any, code: str) -> None:
    body = {"model": "m", "messages": ASK, "tools": [TOOL], **change}
    with pytest.raises(openai.BadRequestError) as caught:
        new.chat.completions.create(**body)
    assert caught.value.code == code
    assert caught.value.type == "invalid_request_error"
    assert backend.requests == []
