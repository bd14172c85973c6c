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
from examples.scripted import ENDING, NAME, OUTPUTS, SPELLING, TOOL, TOOLS, Backend, meant, serve
from toolglot.router import error_body

ASK = [{"role": "user", "content": "What time is it?"}]


@pytest.fixture(scope="module")
def scripted() -> Iterator[Backend]:
    app = Backend()
    with serve(app) as app.url:
        yield app


@pytest.fixture(autouse=True)
def backend(scripted: Backend) -> Backend:
    scripted.reset()
    return scripted


def client(url: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=url, api_key="none", max_retries=0, timeout=60)


@pytest.fixture(scope="module")
def old(scripted: Backend) -> Iterator[openai.OpenAI]:
    with serve(before.create_app(scripted.url)) as url, client(url) as sdk:
        yield sdk


@pytest.fixture(scope="module")
def new(scripted: Backend) -> Iterator[openai.OpenAI]:
    with serve(after.create_app(scripted.url)) as url, client(url) as sdk:
        yield sdk


@pytest.fixture(scope="module")
def plain(scripted: Backend) -> Iterator[openai.OpenAI]:
    """The new router in front of a backend that knows no tools."""
    with serve(after.create_app(scripted.url, mode="text")) as url, client(url) as sdk:
        yield sdk


def ask(
    sdk: openai.OpenAI, model: str, messages: list[Any], *, stream: bool, tools: list[Any] | None = None
) -> dict[str, Any]:
    """The assistant's message and its finish_reason, whole or put together from a stream by plain rules."""
    request: dict[str, Any] = {"model": model, "messages": messages, "tools": tools or [TOOL]}
    if not stream:
        choice = sdk.chat.completions.create(**request).choices[0]
        message = choice.message.model_dump(exclude_none=True)
        return {"message": message, "finish": choice.finish_reason}
    content, calls, finish = "", {}, None
    for chunk in sdk.chat.completions.create(**request, stream=True):
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


def called(answer: dict[str, Any]) -> list[tuple[str, Any]]:
    functions = [call["function"] for call in answer["message"].get("tool_calls") or []]
    return [(function["name"], json.loads(function["arguments"])) for function in functions]


def converse(sdk: openai.OpenAI, model: str, *, stream: bool, tools: list[Any] | None = None) -> list[Any]:
    """A conversation to its end; the history is valid at every step."""
    messages = list(ASK)
    for _ in range(30):
        answer = ask(sdk, model, messages, stream=stream, tools=tools)
        messages.append(answer["message"])
        calls = answer["message"].get("tool_calls") or []
        assert answer["finish"] == ("tool_calls" if calls else "stop")
        messages += [toolglot.format_tool_result(call, "12:00") for call in calls]
        assert toolglot.check_history(messages, "openai") == []
        if not calls:
            break
    return messages


def made(messages: list[Any]) -> list[tuple[str, Any]]:
    """All calls of a conversation, each with an id of its own."""
    calls = [call for message in messages for call in message.get("tool_calls") or []]
    assert len({call["id"] for call in calls}) == len(calls)
    return [call for message in messages for call in called({"message": message})]


streamed = pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])


@streamed
@pytest.mark.parametrize("name", OUTPUTS)
def test_every_output(new: openai.OpenAI, name: str, stream: bool) -> None:
    """What models of every dialect wrote: the call arrives, the words round it arrive, the markup does not."""
    words, call = meant(OUTPUTS[name])
    answer = ask(new, f"outputs/{name}", ASK, stream=stream, tools=TOOLS)
    assert called(answer) == [call]
    assert answer["finish"] == "tool_calls"
    content = answer["message"]["content"]
    assert words in content
    # Two dialects mark prose in a way that may be prose where nobody says which dialect it is.
    assert content.replace(words, "").replace(ENDING, "").strip() in ("", ">>>all", "Thought:")


@streamed
@pytest.mark.parametrize("name", OUTPUTS)
def test_before_finds_none_of_them(old: openai.OpenAI, name: str, stream: bool) -> None:
    answer = ask(old, f"outputs/{name}", ASK, stream=stream, tools=TOOLS)
    assert "tool_calls" not in answer["message"]
    assert answer["message"]["content"].strip() == OUTPUTS[name].strip()


@streamed
@pytest.mark.parametrize("kind", ["native", *SPELLING])
def test_calls_at_once(new: openai.OpenAI, kind: str, stream: bool) -> None:
    messages = converse(new, f"{kind}/x3", stream=stream)
    assert made(messages) == [(NAME, {"timezone": zone}) for zone in ("UTC", "Europe/Oslo", "Asia/Tokyo")]
    assert messages[1]["content"].strip() == "I look it up."
    assert messages[-1]["content"] == "Done after 3 calls."


@streamed
@pytest.mark.parametrize("kind", ["native", "hermes"])
def test_twenty_calls_in_a_row(new: openai.OpenAI, kind: str, stream: bool) -> None:
    messages = converse(new, f"{kind}/20", stream=stream)
    assert len(made(messages)) == 20
    assert messages[-1]["content"] == "Done after 20 calls."


@streamed
def test_twenty_dialects_in_a_row(new: openai.OpenAI, stream: bool) -> None:
    messages = converse(new, "outputs/20", stream=stream, tools=TOOLS)
    assert made(messages) == [meant(text)[1] for text in list(OUTPUTS.values())[:20]]


@streamed
@pytest.mark.parametrize(("script", "count"), [("hermes/20", 20), ("hermes/x3", 3)])
def test_a_backend_without_tools(backend: Backend, plain: openai.OpenAI, script: str, count: int, stream: bool) -> None:
    """In text mode the backend gets neither ``tools`` nor a ``tool`` message."""
    messages = converse(plain, script, stream=stream)
    assert len(made(messages)) == count
    assert messages[-1]["content"] == f"Done after {count} calls."
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


def test_the_first_word_does_not_wait(backend: Backend, new: openai.OpenAI, old: openai.OpenAI) -> None:
    """A backend that says a word and hangs: its word arrives, and its connection is closed when the client leaves."""
    backend.raw, backend.hangs = [event("Hello")], True
    stream = new.chat.completions.create(model="m", messages=ASK, tools=[TOOL], stream=True)
    assert next(iter(stream)).choices[0].delta.content == "Hello"
    stream.close()
    assert backend.disconnected.wait(30)
    stream = old.with_options(timeout=0.5).chat.completions.create(model="m", messages=ASK, tools=[TOOL], stream=True)
    with pytest.raises((openai.APITimeoutError, httpx.ReadTimeout)):
        next(iter(stream))


CUT = '<tool_call>\n{"name": "get_current_time", "arguments": {"timezone": "Eur'


def raw(sdk: openai.OpenAI) -> str:
    body = {"model": "m", "messages": ASK, "tools": [TOOL], "stream": True}
    return httpx.post(f"{sdk.base_url}chat/completions", json=body, timeout=60).text


def test_the_backend_dies(backend: Backend, old: openai.OpenAI, new: openai.OpenAI) -> None:
    backend.raw, backend.dies = [event("One moment. "), event(CUT)], True
    # The words of the exception, and nothing of what the model had said.
    assert "peer closed connection" in raw(old)
    assert "One moment." not in raw(old)
    text = raw(new)
    assert "One moment." in text
    assert '"code":"backend_disconnected"' in text
    assert "[DONE]" not in text
    assert '"finish_reason":"' not in text
    assert "secret" not in text
    assert "Error" not in text.replace("server_error", "")
    with pytest.raises(openai.APIError):
        list(new.chat.completions.create(model="m", messages=ASK, tools=[TOOL], stream=True))


@streamed
@pytest.mark.parametrize("said", ["length", "stop", "tool_calls"])
def test_a_call_cut_off_is_not_finished(backend: Backend, new: openai.OpenAI, said: str, stream: bool) -> None:
    backend.raw = [event(CUT), event(finish=said), b"data: [DONE]\n\n"]
    choice = {"index": 0, "message": {"role": "assistant", "content": CUT}, "finish_reason": said}
    backend.whole = 200, json.dumps({"id": "1", "choices": [choice]}).encode()
    assert ask(new, "m", ASK, stream=stream)["finish"] == "length"


@pytest.mark.parametrize("answer", [(200, b"<html>secret</html>"), (503, b"<html>secret</html>"), (200, b"[]"), None])
def test_a_backend_that_talks_nonsense(
    backend: Backend, old: openai.OpenAI, new: openai.OpenAI, answer: tuple[int, bytes] | None
) -> None:
    """Nothing of an exception reaches the client, and what does is an error as OpenAI words it."""
    backend.whole, backend.dies = answer, answer is None
    with pytest.raises(openai.InternalServerError) as caught:
        ask(new, "m", ASK, stream=False)
    assert caught.value.type == "server_error"
    assert "secret" not in str(caught.value.body)
    with pytest.raises(openai.InternalServerError) as caught:
        ask(old, "m", ASK, stream=False)
    assert caught.value.type is None


def test_no_backend() -> None:
    with serve(after.create_app("http://127.0.0.1:9/v1")) as url, client(url) as sdk:
        for stream in (False, True):
            with pytest.raises(openai.InternalServerError) as caught:
                ask(sdk, "m", ASK, stream=stream)
            told = error_body("The backend does not answer.", code="backend_unreachable", type="server_error")
            assert caught.value.body == told["error"]


def test_garbage_and_half_lines(backend: Backend, new: openai.OpenAI) -> None:
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


FENCED = {"id": "call_1", "type": "function", "function": {"name": NAME, "arguments": '{"timezone": "UTC"}'}}


def test_a_line_in_two_pieces(backend: Backend, old: openai.OpenAI, new: openai.OpenAI) -> None:
    """The form that `before` asks for, and reads where each line comes in one piece."""
    text = f"```json\n{json.dumps({'tool_calls': [FENCED]})}\n```"
    whole = [event(text), event(finish="stop"), b"data: [DONE]\n\n"]
    halves = [whole[0][:60], whole[0][60:], *whole[1:]]
    for pieces, found in ((whole, 1), (halves, 0)):
        backend.raw = pieces
        assert len(called(ask(old, "m", ASK, stream=True))) == found
        assert called(ask(new, "m", ASK, stream=True)) == [(NAME, {"timezone": "UTC"})]


def test_a_line_of_ten_megabytes(backend: Backend, new: openai.OpenAI) -> None:
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


def test_the_same_call_natively_and_in_text(backend: Backend, new: openai.OpenAI) -> None:
    call = {"id": "call_9", "type": "function", "function": {"name": NAME, "arguments": '{"timezone": "UTC"}'}}
    native = event(tool_calls=[{"index": 0, **call}])
    text = event(SPELLING["hermes"].replace("ZONE", "UTC"))
    for order in ([text, native], [native, text]):
        backend.raw = [*order, event(finish="tool_calls"), b"data: [DONE]\n\n"]
        answer = ask(new, "m", ASK, stream=True)
        assert len(answer["message"]["tool_calls"]) == 1
        assert answer["finish"] == "tool_calls"


BAD = [
    ({"messages": "hello"}, "invalid_value"),
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
def test_what_no_backend_could_answer(backend: Backend, new: openai.OpenAI, change: Any, code: str) -> None:
    body = {"model": "m", "messages": ASK, "tools": [TOOL], **change}
    with pytest.raises(openai.BadRequestError) as caught:
        new.chat.completions.create(**body)
    assert caught.value.code == code
    assert caught.value.type == "invalid_request_error"
    assert backend.requests == []
