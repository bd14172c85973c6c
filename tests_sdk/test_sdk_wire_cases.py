"""Every answer of the providers' cases, through every client's API: the SDKs' own models take what a client gets, whole and
event by event, their accumulators make one answer of it, and what is read of it is what was read of the backend's answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

import anthropic
import anthropic.types
import httpx
import httpx2
import openai
import openai.types.chat
import openai.types.responses
import pydantic
import pytest

import toolglot

DATA = Path(__file__).parent.parent / "tests" / "data" / "providers"
BACKENDS = {
    "openai_chat": ("chat", "openai"),
    "compat_streams": ("chat", "openai"),
    "openai_responses": ("responses", "openai_responses"),
    "anthropic": ("anthropic", "anthropic"),
    "gemini": ("gemini", "gemini"),
}
PROVIDERS = {"chat": "openai", "responses": "openai_responses", "anthropic": "anthropic"}
RESPONSE = pydantic.TypeAdapter(openai.types.responses.Response)
RESPONSE_EVENT: Any = pydantic.TypeAdapter(openai.types.responses.ResponseStreamEvent)
MESSAGE_EVENT: Any = pydantic.TypeAdapter(anthropic.types.RawMessageStreamEvent)


class Case(NamedTuple):
    backend: str
    provider: str
    stream: bool
    body: bytes


def sse(chunk: Any) -> bytes:
    name = f"event: {chunk['type']}\n" if isinstance(chunk.get("type"), str) else ""
    return f"{name}data: {json.dumps(chunk)}\n\n".encode()


def cases() -> list[Any]:
    found = []
    for file, (backend, provider) in BACKENDS.items():
        for line in (DATA / f"{file}.jsonl").read_text("utf-8").splitlines():
            case = json.loads(line)
            # Those of other APIs that are read by shape stand in other files.
            if case["kind"] not in ("response", "stream") or case["provider"] not in (None, provider):
                continue
            given = case["input"]
            stream = case["kind"] == "stream"
            if stream and not (isinstance(given, list) and all(isinstance(chunk, dict) for chunk in given)):
                continue
            body = b"".join(map(sse, given)) if stream else json.dumps(given).encode()
            found.append(pytest.param(Case(backend, provider, stream, body), id=f"{file}-{case['name']}"))
    return found


def read(case: Case, **options: Any) -> Any:
    if not case.stream:
        return toolglot.normalize(case.body, provider=case.provider, **options)
    reader = toolglot.StreamNormalizer(case.provider, **options)
    reader.feed(case.body)
    return reader.finish()


def request(client: str, names: set[str], stream: bool) -> bytes:
    schema = {"type": "object"}
    tools: list[Any] = []
    for name in sorted(names):
        if client == "chat":
            tools.append({"type": "function", "function": {"name": name, "parameters": schema}})
        elif client == "responses":
            tools.append({"type": "function", "name": name, "parameters": schema})
        else:
            tools.append({"name": name, "input_schema": schema})
    body: dict[str, Any] = {"model": "m", "stream": stream, "tools": tools}
    if client == "responses":
        body["input"] = "?"
    else:
        body["messages"] = [{"role": "user", "content": "?"}]
    if client == "chat":
        body["stream_options"] = {"include_usage": True}
    return json.dumps(body).encode()


def check(client: str, stream: bool, body: bytes) -> None:
    """The SDK's models take it."""
    if not stream:
        if client == "chat":
            openai.types.chat.ChatCompletion.model_validate_json(body)
        elif client == "responses":
            RESPONSE.validate_json(body)
        else:
            anthropic.types.Message.model_validate_json(body)
        return
    for block in body.decode().split("\n\n"):
        data = "".join(line[6:] for line in block.split("\n") if line.startswith("data: "))
        if not data or data == "[DONE]" or "error" in json.loads(data) or json.loads(data).get("type") == "ping":
            continue
        if client == "chat":
            openai.types.chat.ChatCompletionChunk.model_validate_json(data)
        elif client == "responses":
            RESPONSE_EVENT.validate_json(data)
        else:
            MESSAGE_EVENT.validate_json(data)


def takes(client: str, stream: bool, body: bytes) -> bool:
    try:
        check(client, stream, body)
    except pydantic.ValidationError:
        return False
    return True


class Accumulated(NamedTuple):
    """An answer as an SDK has it at the end."""

    calls: list[tuple[str, Any]]
    content: str


def through_sdk(client: str, stream: bool, body: bytes) -> Accumulated:
    """What the SDK makes of these bytes: of a stream, by its own accumulator."""
    kind = "text/event-stream" if stream else "application/json"

    def answer(request: Any) -> Any:
        return (httpx2 if client == "anthropic" else httpx).Response(200, content=body, headers={"content-type": kind})

    if client == "anthropic":
        http = httpx2.Client(transport=httpx2.MockTransport(answer))
        messages = anthropic.Anthropic(base_url="http://model", api_key="k", http_client=http, max_retries=0).messages
        options: Any = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "?"}]}
        if stream:
            with messages.stream(**options) as events:
                message: Any = events.get_final_message()
        else:
            message = messages.create(**options)
        texts = [block.text for block in message.content if block.type == "text"]
        return Accumulated([(b.name, b.input) for b in message.content if b.type == "tool_use"], "".join(texts))
    plain = httpx.Client(transport=httpx.MockTransport(answer))
    sdk = openai.OpenAI(base_url="http://model/v1", api_key="k", http_client=plain, max_retries=0)
    if client == "chat":
        options = {"model": "m", "messages": [{"role": "user", "content": "?"}]}
        if stream:
            try:
                with sdk.chat.completions.stream(**options) as chunks:
                    completion: Any = chunks.get_final_completion()
            except openai.LengthFinishReasonError as cut:
                # What the helper says of every answer that the length cut off.
                completion = cut.completion
        else:
            completion = sdk.chat.completions.create(**options)
        choice = completion.choices[0].message
        found = [(call.function.name, call.function.arguments) for call in choice.tool_calls or []]
        return Accumulated([(name, json.loads(text)) for name, text in found], choice.content or choice.refusal or "")
    if stream:
        with sdk.responses.stream(model="m", input="?") as items:
            response: Any = None
            for event in items:
                if event.type in ("response.completed", "response.incomplete"):
                    response = event.response
    else:
        response = sdk.responses.create(model="m", input="?")
    calls: list[tuple[str, Any]] = []
    texts: list[str] = []
    for item in response.output:
        if item.type == "function_call":
            calls.append((item.name, json.loads(item.arguments)))
        elif item.type == "custom_tool_call":
            calls.append((item.name, {"input": item.input}))
        elif item.type == "message":
            texts += [part.text if part.type == "output_text" else part.refusal for part in item.content]
    return Accumulated(calls, "".join(texts))


def accumulates(client: str, case: Case) -> bool:
    """The SDK makes an answer of the backend's own bytes."""
    try:
        through_sdk(client, case.stream, case.body)
    except Exception:
        return False
    return True


@pytest.mark.parametrize("client", PROVIDERS)
@pytest.mark.parametrize("case", cases())
def test_every_case(case: Case, client: str) -> None:
    try:
        meant = read(case)
    except toolglot.ToolglotError:
        meant = None
    names = {call.name for call in meant.tool_calls} if meant is not None else set()
    translation = toolglot.Transcoder(client, case.backend, validate=False).request(
        request(client, names or {"ls"}, case.stream)
    )
    if case.stream:
        stream = translation.stream()
        body = stream.feed(case.body) + stream.finish()
        error = stream.error
    else:
        answered = translation.answer(case.body)
        body, error = answered.body, answered.error
    if meant is None or meant.stop_reason == "error":
        assert error is not None
        return
    if error == "backend_disconnected":
        # Nobody said that it is whole: a case of a stream that lost its end.
        assert case.stream
        return
    assert error is None, body
    # What passes on as it came is as odd as it came.
    if case.backend != client or takes(client, case.stream, case.body):
        check(client, case.stream, body)
    got = read(Case(case.backend, PROVIDERS[client], case.stream, body), dialect=False)
    whole = [call for call in meant.tool_calls if call.status not in ("incomplete", "malformed")]
    told = [(call.name, call.arguments) for call in got.tool_calls if call.status != "incomplete"]
    # What has left cannot be taken back: where it is not right the client is told that the answer was cut off.
    assert told == [(call.name, call.arguments) for call in whole] or got.stop_reason == "length"
    assert got.content == meant.content
    assert got.reasoning == meant.reasoning
    if len(whole) < len(meant.tool_calls):
        assert got.stop_reason == "length"
    elif meant.stop_reason in ("stop", "length", "tool_calls"):
        assert got.stop_reason == meant.stop_reason
    assert len({call.id for call in got.tool_calls}) == len(got.tool_calls)
    if any(call.status == "incomplete" for call in got.tool_calls):
        # The accumulators read the arguments of every call, and those that are cut off are no JSON.
        return
    if case.backend == client and not accumulates(client, case):
        # What passes on as it came is as odd as it came.
        return
    held = through_sdk(client, case.stream, body)
    assert held.calls == [(call.name, call.arguments) for call in got.tool_calls]
    assert held.content == got.content
