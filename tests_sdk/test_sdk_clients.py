"""Real SDK clients over real HTTP on loopback: what their objects give, toolglot takes, and what it writes, they take.

Run by `nox -s sdks`; skipped where an SDK is not installed.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
import struct
import threading
import warnings
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import toolglot

# The SDKs' own warnings are none of ours.
pytestmark = pytest.mark.filterwarnings("ignore")

DATA = Path(__file__).resolve().parents[1] / "tests" / "data"
MESSAGES: list[Any] = [{"role": "user", "content": "What is the weather in Paris, and the time in Tokyo?"}]
CALLS = [("get_weather", {"city": "Paris", "unit": "celsius"}), ("get_time", {"timezone": "Asia/Tokyo"})]
CONTENT = "I'll look both up."


def case(file: str, name: str) -> Any:
    for line in (DATA / "providers" / f"{file}.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["name"] == name:
            return row["input"]
    raise LookupError(name)


def sse(chunks: list[Any], done: bool = True) -> bytes:
    parts = [": hello\n\n"] if done else []
    for chunk in chunks:
        name = f"event: {chunk['type']}\n" if isinstance(chunk.get("type"), str) else ""
        parts.append(f"{name}data: {json.dumps(chunk)}\n\n")
    return "".join([*parts, "data: [DONE]\n\n" if done else ""]).encode()


class Replay:
    """Answers every request with the same bytes, in small pieces."""

    def __init__(self) -> None:
        self.body, self.kind, self.requests = b"", "application/json", []
        replay = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                size = int(self.headers.get("content-length") or 0)
                replay.requests.append((self.path, self.rfile.read(size)))
                self.send_response(200)
                self.send_header("content-type", replay.kind)
                self.send_header("transfer-encoding", "chunked")
                self.end_headers()
                for at in range(0, len(replay.body), 77):
                    piece = replay.body[at : at + 77]
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                self.wfile.write(b"0\r\n\r\n")

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def serve(self, body: Any, kind: str = "application/json") -> str:
        self.body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.kind = kind
        return self.url

    def stream(self, chunks: list[Any]) -> str:
        return self.serve(sse(chunks), "text/event-stream")


@pytest.fixture(scope="module")
def replay() -> Iterator[Replay]:
    replay = Replay()
    yield replay
    replay.server.shutdown()
    replay.server.server_close()


def check(turn: toolglot.Turn, content: str = CONTENT) -> None:
    assert turn.content == content
    assert [(call.name, call.arguments) for call in turn.tool_calls] == CALLS
    assert all(call.status == "ok" and call.id for call in turn.tool_calls)
    assert turn.stop_reason == "tool_calls"
    assert turn.source == "native"


def check_stream(chunks: Any, provider: str) -> None:
    for given in (provider, "auto"):
        chunks = list(chunks)
        stream = toolglot.stream(chunks, provider=given)
        events = list(stream)
        check(stream.turn)
        check_events(events)


def check_events(events: list[toolglot.Event]) -> None:
    assert "".join(event.text for event in events if event.kind == "text") == CONTENT
    assert sum(event.kind == "call_ended" for event in events) == 2
    # Gemini has no word but STOP, and the turn says that it means something else.
    assert [event.issue for event in events if event.issue and event.issue.code != "stop_reason"] == []


def check_helper(manager: Any) -> None:
    """A stream helper of an SDK: what it hands out beside the events of the wire says nothing twice."""
    with manager as helper, toolglot.stream(helper) as stream:
        events = list(stream)
    check(stream.turn)
    check_events(events)
    with pytest.raises(TypeError, match=r"`with \.\.\. as stream`"):
        toolglot.stream(manager)


def check_async(made: Callable[[], Any], opened: Callable[[Any], Any]) -> None:
    """The same from an async client; `opened` gives a helper's manager, or a coroutine of a stream."""

    async def read(source: Any) -> None:
        stream = toolglot.stream(source)
        events = [event async for event in stream]
        check(stream.turn)
        check_events(events)

    async def run() -> None:
        async with made() as client:
            given = opened(client)
            if hasattr(given, "__aenter__"):
                async with given as helper:
                    await read(helper)
            else:
                await read(await given)

    asyncio.run(run())


def test_openai_chat(replay: Replay) -> None:
    openai = pytest.importorskip("openai")

    def client(url: str) -> Any:
        return openai.OpenAI(base_url=url, api_key="x", max_retries=0)

    create = client(
        replay.serve(case("openai_chat", "openai_chat/response_text_and_two_calls"))
    ).chat.completions.create
    check(toolglot.normalize(create(model="m", messages=MESSAGES)))
    for name in ("openai_chat", "groq", "openrouter"):
        url = replay.stream(case("openai_chat", f"{name}/stream_text_and_two_calls"))
        check_stream(client(url).chat.completions.create(model="m", messages=MESSAGES, stream=True), "openai")


def test_openai_responses(replay: Replay) -> None:
    openai = pytest.importorskip("openai")
    url = replay.serve(case("openai_responses", "openai_responses/response_text_and_two_calls"))
    client = openai.OpenAI(base_url=url, api_key="x", max_retries=0)
    turn = toolglot.normalize(client.responses.create(model="m", input="hi"))
    check(turn)
    assert "encrypted_content" in json.dumps(turn.provider_state)
    replay.stream(case("openai_responses", "openai_responses/stream_text_and_two_calls"))
    check_stream(client.responses.create(model="m", input="hi", stream=True), "openai_responses")


def test_anthropic(replay: Replay) -> None:
    anthropic = pytest.importorskip("anthropic")
    url = replay.serve(case("anthropic", "anthropic/response_thinking_and_two_calls"))
    client = anthropic.Anthropic(base_url=url, api_key="x", max_retries=0)
    turn = toolglot.normalize(client.messages.create(model="m", max_tokens=10, messages=MESSAGES))
    check(turn)
    assert toolglot.assistant_message(turn, provider="anthropic")["content"][0]["signature"].startswith("EqQB")
    replay.serve(sse(case("anthropic", "anthropic/stream_text_and_two_calls"), done=False), "text/event-stream")
    check_stream(client.messages.create(model="m", max_tokens=10, messages=MESSAGES, stream=True), "anthropic")


def test_stream_helpers_of_openai(replay: Replay) -> None:
    openai = pytest.importorskip("openai")
    options = {"base_url": replay.url, "api_key": "x", "max_retries": 0}
    client, awaited = openai.OpenAI(**options), lambda: openai.AsyncOpenAI(**options)
    replay.stream(case("openai_chat", "openai_chat/stream_text_and_two_calls"))
    check_helper(client.chat.completions.stream(model="m", messages=MESSAGES))
    check_async(awaited, lambda client: client.chat.completions.stream(model="m", messages=MESSAGES))
    check_async(awaited, lambda client: client.chat.completions.create(model="m", messages=MESSAGES, stream=True))
    replay.stream(case("openai_responses", "openai_responses/stream_text_and_two_calls"))
    check_helper(client.responses.stream(model="m", input="hi"))
    check_async(awaited, lambda client: client.responses.stream(model="m", input="hi"))


def test_stream_helpers_of_anthropic(replay: Replay) -> None:
    anthropic = pytest.importorskip("anthropic")
    options = {"base_url": replay.url, "api_key": "x", "max_retries": 0}
    client, awaited = anthropic.Anthropic(**options), lambda: anthropic.AsyncAnthropic(**options)
    replay.serve(sse(case("anthropic", "anthropic/stream_text_and_two_calls"), done=False), "text/event-stream")
    asked: dict[str, Any] = {"model": "m", "max_tokens": 10, "messages": MESSAGES}
    check_helper(client.messages.stream(**asked))
    check_helper(client.beta.messages.stream(**asked))
    check_async(awaited, lambda client: client.messages.stream(**asked))
    check_async(awaited, lambda client: client.messages.create(**asked, stream=True))


def test_an_early_exit_closes_the_response(replay: Replay) -> None:
    openai = pytest.importorskip("openai")
    url = replay.stream(case("openai_chat", "openai_chat/stream_text_and_two_calls"))
    client = openai.OpenAI(base_url=url, api_key="x", max_retries=0)
    source = client.chat.completions.create(model="m", messages=MESSAGES, stream=True)
    with toolglot.stream(source) as stream:
        next(stream)
        assert not source.response.is_closed
    assert source.response.is_closed
    with pytest.raises(toolglot.BadOptionError):
        _ = stream.turn


def test_bytes_of_a_connection(replay: Replay) -> None:
    httpx = pytest.importorskip("httpx")
    url = replay.stream(case("openai_chat", "openai_chat/stream_text_and_two_calls"))
    with httpx.stream("POST", url, json={}) as response:
        stream = toolglot.stream(response.iter_bytes())
        events = list(stream)
    check(stream.turn)
    check_events(events)


def test_gemini(replay: Replay) -> None:
    genai = pytest.importorskip("google.genai")
    url = replay.serve(case("gemini", "text_and_two_calls"))
    client = genai.Client(api_key="x", http_options={"base_url": url})
    turn = toolglot.normalize(client.models.generate_content(model="m", contents="hi"))
    check(turn)
    signature = toolglot.assistant_message(turn, provider="gemini")["parts"][1]["thoughtSignature"]
    assert signature == "ZXhhbXBsZS10aG91Z2h0LXNpZ25hdHVyZS0wMDAx"
    replay.serve(sse(case("gemini", "stream"), done=False), "text/event-stream")
    check_stream(client.models.generate_content_stream(model="m", contents="hi"), "gemini")


def test_mistral(replay: Replay) -> None:
    try:
        from mistralai.client import Mistral
    except ImportError:
        Mistral = pytest.importorskip("mistralai").Mistral
    client = Mistral(api_key="x", server_url=replay.serve(case("mistral", "mistral/response_text_and_two_calls")))
    check(toolglot.normalize(client.chat.complete(model="m", messages=MESSAGES), provider="mistral"))
    replay.stream(case("mistral", "mistral/stream_text_and_two_calls"))
    check_stream(client.chat.stream(model="m", messages=MESSAGES), "mistral")


def test_cohere(replay: Replay) -> None:
    cohere = pytest.importorskip("cohere")
    client = cohere.ClientV2(api_key="x", base_url=replay.serve(case("cohere", "cohere/response_text_and_two_calls")))
    check(toolglot.normalize(client.chat(model="m", messages=MESSAGES), provider="cohere"))
    replay.stream(case("cohere", "cohere/stream_text_and_two_calls"))
    check_stream(client.chat_stream(model="m", messages=MESSAGES), "cohere")


def test_groq(replay: Replay) -> None:
    groq = pytest.importorskip("groq")
    url = replay.serve(case("openai_chat", "groq/response_text_and_two_calls"))
    client = groq.Groq(base_url=url, api_key="x", max_retries=0)
    check(toolglot.normalize(client.chat.completions.create(model="m", messages=MESSAGES)))
    replay.stream(case("openai_chat", "groq/stream_text_and_two_calls"))
    check_stream(client.chat.completions.create(model="m", messages=MESSAGES, stream=True), "groq")


def test_ollama(replay: Replay) -> None:
    ollama = pytest.importorskip("ollama")
    client = ollama.Client(host=replay.serve(case("ollama", "ollama/response_text_and_two_calls")))
    check(toolglot.normalize(client.chat(model="m", messages=MESSAGES)))
    lines = "".join(json.dumps(chunk) + "\n" for chunk in case("ollama", "ollama/stream_text_and_two_calls"))
    replay.serve(lines.encode(), "application/x-ndjson")
    check_stream(client.chat(model="m", messages=MESSAGES, stream=True), "ollama")


NAMES = ["get_weather", "get_time", "ping", "run_py", "find_customer"]
TOOLS = toolglot.ToolSet([{"name": name, "input_schema": {"type": "object"}} for name in NAMES])


def streams(*files: str) -> list[Any]:
    """Every example stream of these files."""
    rows = [
        json.loads(line) for file in files for line in (DATA / "providers" / f"{file}.jsonl").open(encoding="utf-8")
    ]
    rows = [row for row in rows if row["kind"] == "stream" and "needs" not in row["expect"]]
    return [pytest.param(row, id=f"{number}-{row['name']}") for number, row in enumerate(rows)]


def same_as_expected(chunks: Any, row: dict[str, Any], broken: type[Exception]) -> None:
    """What the client's objects give is the example's turn, unless the client itself cannot read the stream."""
    stream = toolglot.StreamNormalizer(row["provider"] or "auto", tools=TOOLS)
    try:
        chunks = list(chunks)
    except broken:
        pytest.skip("the SDK raises")
    for chunk in chunks:
        stream.feed(chunk)
    turn, expect = stream.finish(), row["expect"]
    assert turn.content == expect["content"]
    names = [call["name"] for call in expect["calls"]]
    assert [call.name for call in turn.tool_calls] == names
    for call, expected in zip(turn.tool_calls, expect["calls"], strict=True):
        if expected["status"] in ("ok", "repaired"):
            assert call.runnable
            assert call.arguments == expected["arguments"]
    assert turn.stop_reason == expect["stop_reason"]


@pytest.mark.parametrize("row", streams("openai_chat", "compat_streams"))
def test_every_stream_through_openai(replay: Replay, row: dict[str, Any]) -> None:
    openai = pytest.importorskip("openai")
    client = openai.OpenAI(base_url=replay.stream(row["input"]), api_key="x", max_retries=0)
    same_as_expected(client.chat.completions.create(model="m", messages=MESSAGES, stream=True), row, openai.APIError)


@pytest.mark.parametrize("row", streams("openai_responses"))
def test_every_stream_through_openai_responses(replay: Replay, row: dict[str, Any]) -> None:
    openai = pytest.importorskip("openai")
    client = openai.OpenAI(base_url=replay.stream(row["input"]), api_key="x", max_retries=0)
    same_as_expected(client.responses.create(model="m", input="hi", stream=True), row, openai.APIError)


@pytest.mark.parametrize("row", streams("anthropic"))
def test_every_stream_through_anthropic(replay: Replay, row: dict[str, Any]) -> None:
    anthropic = pytest.importorskip("anthropic")
    replay.serve(sse(row["input"], done=False), "text/event-stream")
    client = anthropic.Anthropic(base_url=replay.url, api_key="x", max_retries=0)
    create = client.messages.create
    same_as_expected(create(model="m", max_tokens=10, messages=MESSAGES, stream=True), row, anthropic.APIError)


def aws_event(name: str, payload: Any) -> bytes:
    """One message of AWS's binary event stream."""

    def header(key: str, value: str) -> bytes:
        return struct.pack(">B", len(key)) + key.encode() + struct.pack(">BH", 7, len(value)) + value.encode()

    body = json.dumps(payload).encode()
    headers = (
        header(":event-type", name) + header(":content-type", "application/json") + header(":message-type", "event")
    )
    prelude = struct.pack(">II", len(headers) + len(body) + 16, len(headers))
    message = prelude + struct.pack(">I", binascii.crc32(prelude)) + headers + body
    return message + struct.pack(">I", binascii.crc32(message))


def test_bedrock(replay: Replay) -> None:
    session = pytest.importorskip("botocore.session")
    replay.serve(case("bedrock", "bedrock/response_reasoning_and_two_calls"))
    client = session.get_session().create_client(
        "bedrock-runtime",
        region_name="us-east-1",
        endpoint_url=replay.url,
        aws_access_key_id="x",
        aws_secret_access_key="x",
    )
    messages = [{"role": "user", "content": [{"text": "hi"}]}]
    check(toolglot.normalize(client.converse(modelId="m", messages=messages)))
    events = [aws_event(*next(iter(chunk.items()))) for chunk in case("bedrock", "bedrock/stream_text_and_two_calls")]
    replay.serve(b"".join(events), "application/vnd.amazon.eventstream")
    check_stream(client.converse_stream(modelId="m", messages=messages)["stream"], "bedrock")


HISTORIES = [json.loads(line) for line in (DATA / "histories.jsonl").read_text(encoding="utf-8").splitlines()]


def written(provider: str) -> Iterator[toolglot.Messages]:
    for history in HISTORIES:
        yield toolglot.convert_messages(history["messages"], to=provider, source=history["provider"])


def validates(kind: Any, messages: Any) -> None:
    from pydantic import TypeAdapter

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        TypeAdapter(kind).validate_python(messages)


def test_histories_validate_with_openai() -> None:
    pytest.importorskip("openai")
    from openai.types.chat import ChatCompletionMessageParam
    from openai.types.responses import ResponseInputItemParam

    for messages in written("openai"):
        for message in messages:
            validates(ChatCompletionMessageParam, message)
    for messages in written("openai_responses"):
        for message in messages:
            validates(ResponseInputItemParam, message)


def test_histories_validate_with_anthropic() -> None:
    pytest.importorskip("anthropic")
    from anthropic.types import MessageParam

    for messages in written("anthropic"):
        validates(list[MessageParam], list(messages))


def test_histories_validate_with_gemini() -> None:
    types = pytest.importorskip("google.genai").types
    for messages in written("gemini"):
        for message in messages:
            types.Content.model_validate(message)


def test_histories_validate_with_groq() -> None:
    pytest.importorskip("groq")
    from groq.types.chat import ChatCompletionMessageParam

    for messages in written("groq"):
        for message in messages:
            validates(ChatCompletionMessageParam, message)


def test_histories_validate_with_cohere() -> None:
    pytest.importorskip("cohere")
    import cohere

    kinds = {
        "user": cohere.UserChatMessageV2,
        "assistant": cohere.AssistantMessage,
        "tool": cohere.ToolChatMessageV2,
        "system": cohere.SystemChatMessageV2,
    }
    for messages in written("cohere"):
        for message in messages:
            kinds[message["role"]].model_validate(message)


def test_histories_validate_with_mistral() -> None:
    try:
        from mistralai.client import models
    except ImportError:
        models = pytest.importorskip("mistralai").models
    kinds = {
        "user": models.UserMessage,
        "assistant": models.AssistantMessage,
        "tool": models.ToolMessage,
        "system": models.SystemMessage,
    }
    for messages in written("mistral"):
        for message in messages:
            kinds[message["role"]].model_validate(message)
            for call in message.get("tool_calls") or []:
                assert len(call["id"]) == 9


def test_histories_validate_with_ollama() -> None:
    ollama = pytest.importorskip("ollama")
    for messages in written("ollama"):
        for message in messages:
            images = [ollama.Image(value=image) for image in message.get("images", [])]
            ollama.Message.model_validate({**message, "images": images} if images else message)


def test_histories_validate_with_botocore() -> None:
    session = pytest.importorskip("botocore.session")
    from botocore.serialize import create_serializer
    from botocore.validate import ParamValidator

    converse = session.get_session().get_service_model("bedrock-runtime").operation_model("Converse")
    serializer = create_serializer("rest-json")
    for messages in written("bedrock"):
        body: dict[str, Any] = {"modelId": "m", "messages": list(messages)}
        if messages.system:
            body["system"] = messages.system
        report = ParamValidator().validate(body, converse.input_shape)
        assert not report.has_errors(), report.generate_report()
        serializer.serialize_to_request(body, converse)


def test_botocore_encodes_media_once() -> None:
    session = pytest.importorskip("botocore.session")
    from botocore.serialize import create_serializer

    converse = session.get_session().get_service_model("bedrock-runtime").operation_model("Converse")
    png = b"\x89PNG\r\n\x1a\n"
    url = {"url": "data:image/png;base64," + base64.b64encode(png).decode()}
    messages = toolglot.convert_messages(
        [{"role": "user", "content": [{"type": "image_url", "image_url": url}]}], to="bedrock"
    )
    messages += toolglot.format_tool_results([("call_1", png)], provider="bedrock")
    request = create_serializer("rest-json").serialize_to_request({"modelId": "m", "messages": messages}, converse)
    sent = json.loads(request["body"])["messages"]
    for block in (sent[0]["content"][0], sent[1]["content"][0]["toolResult"]["content"][0]):
        assert base64.b64decode(block["image"]["source"]["bytes"]) == png


def test_results_of_the_mcp_sdk() -> None:
    types = pytest.importorskip("mcp.types")
    result = types.CallToolResult(content=[types.TextContent(type="text", text="no such city")], isError=True)
    message = toolglot.format_tool_result("call_1", result, provider="anthropic")
    assert message["content"][0]["is_error"] is True
    assert message["content"][0]["content"] == "no such city"


def _sdk(name: str, url: str, asynchronous: bool) -> Any:
    if name == "openai":
        openai = pytest.importorskip("openai")
        kind = openai.AsyncOpenAI if asynchronous else openai.OpenAI
        return kind(base_url=f"{url}/v1", api_key="secret", max_retries=0)
    if name == "anthropic":
        anthropic = pytest.importorskip("anthropic")
        kind = anthropic.AsyncAnthropic if asynchronous else anthropic.Anthropic
        return kind(base_url=url, api_key="secret", max_retries=0)
    genai = pytest.importorskip("google.genai")
    return genai.Client(api_key="secret", http_options={"base_url": url})


@pytest.mark.parametrize("asynchronous", [False, True], ids=["sync", "async"])
@pytest.mark.parametrize("name", ["openai", "anthropic", "gemini"])
def test_the_client_asks_through_the_client_of_an_sdk(name: str, asynchronous: bool) -> None:
    """One conversation, whatever the SDK: its key, its base URL, its connections."""
    weather = {"name": "get_weather", "arguments": {"city": "Paris"}}
    body = {
        "openai": {"choices": [{"message": {"content": None, "tool_calls": [
            {"id": "c", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}]}}]},
        "anthropic": {"type": "message", "role": "assistant", "stop_reason": "tool_use", "content": [
            {"type": "tool_use", "id": "toolu_1", "name": "get_weather", "input": {"city": "Paris"}}]},
        "gemini": {"candidates": [{"content": {"role": "model", "parts": [
            {"functionCall": {"name": "get_weather", "args": {"city": "Paris"}}}]}, "finishReason": "STOP"}]},
    }[name]  # fmt: skip
    headers: dict[str, str] = {}
    seen: list[tuple[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def do_POST(self) -> None:
            headers.update({key.lower(): value for key, value in self.headers.items()})
            seen.append((self.path, json.loads(self.rfile.read(int(self.headers["content-length"])))))
            said = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

    def get_weather(city: str) -> str:
        "The weather in a city."
        return "sunny"

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        sdk = _sdk(name, f"http://127.0.0.1:{server.server_address[1]}", asynchronous)
        if asynchronous:
            client: Any = toolglot.Client("m", client=sdk)
            result = asyncio.run(client.run(MESSAGES, [get_weather], max_steps=2))
        else:
            result = toolglot.SyncClient("m", client=sdk).run(MESSAGES, [get_weather], max_steps=2)
    finally:
        server.shutdown()
        server.server_close()
    # It calls without end: two turns, each with its result.
    assert [(each.call.name, each.call.arguments, each.output) for each in result.results] == [
        (weather["name"], weather["arguments"], "sunny")
    ] * 2
    assert result.messages.provider == name
    assert toolglot.check_history(result.messages, name) == []
    # The version of Gemini's API is the SDK's choice.
    ends = {"openai": "/v1/chat/completions", "anthropic": "/v1/messages", "gemini": "/models/m:generateContent"}
    assert seen[0][0].endswith(ends[name])
    assert any("secret" in headers.get(key, "") for key in ("authorization", "x-api-key", "x-goog-api-key"))
    assert "sunny" in json.dumps(seen[1][1])
