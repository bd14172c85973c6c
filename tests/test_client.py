"""The client over real HTTP: every fault that a server shows, and the path of attempts that it leads to."""

from __future__ import annotations

import asyncio
import json
import struct
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

import toolglot
from scripted_model import Script, serve
from support import ROOT
from toolglot import CapabilityStore, Client, SyncClient

TOOL = {
    "name": "get_time",
    "description": "What time it is.",
    "inputSchema": {
        "type": "object",
        "properties": {"zone": {"type": "string", "enum": ["UTC", "CET"]}},
        "required": ["zone"],
        "additionalProperties": False,
    },
}
ASK = [{"role": "user", "content": "What time is it?"}]

FAULTS = [json.loads(line) for line in (ROOT / "tests/data/exchange/faults.jsonl").read_text("utf-8").splitlines()]


def path(attempts: Any) -> list[str]:
    return [f"{attempt.mode} {attempt.verdict}" for attempt in attempts]


def client_of(case: dict[str, Any], url: str, kind: type[Any] = Client) -> Any:
    store = CapabilityStore()
    for capability, outcome in case.get("know", {}).items():
        store.record("m", url, capability, outcome)
    options = {"request_seconds": 5.0, **case.get("options", {})}
    options.pop("tool_choice", None)
    return kind("m", url, capabilities=store, discover=False, escalate=case.get("escalate", ()), **options)


def asked_with(case: dict[str, Any]) -> dict[str, Any]:
    choice = case.get("options", {}).get("tool_choice")
    return {} if choice is None else {"tool_choice": choice}


def judge(case: dict[str, Any], script: Script, turn: toolglot.Turn | None, attempts: Any, took: float) -> None:
    assert path(attempts) == case["path"]
    # No storm: what the script has is all that was asked.
    assert len(script.asked) == len(case["path"])
    least, most = case.get("seconds", [0.0, 10.0])
    assert least <= took <= most
    if "models" in case:
        assert [asked["model"] for asked in script.asked] == case["models"]
    if turn is not None:
        assert turn.attempts == attempts
        if "calls" in case:
            assert [call.status for call in turn.tool_calls] == case["calls"]
        elif case["runs"]:
            assert [(call.name, call.arguments) for call in turn.tool_calls] == [("get_time", {"zone": "UTC"})]
            assert all(call.runnable for call in turn.tool_calls)


WAYS = [
    pytest.param(case, way, id=f"{case['name']}, {way}")
    for case in FAULTS
    for way in ("whole", "stream", "sync", "sync stream")
    if case.get("only") in (None, way.split()[-1].replace("sync", "whole"))
    # The slow ones once.
    if not (way.startswith("sync") and case.get("seconds", [0])[0] > 1)
]


@pytest.mark.parametrize(("case", "way"), WAYS)
def test_fault(case: dict[str, Any], way: str) -> None:
    script = Script(case["answers"])
    with serve(script) as url:
        turn, failed, events = None, None, []
        began = time.monotonic()

        async def ask() -> toolglot.Turn:
            async with client_of(case, url) as client:
                if way == "whole":
                    return await client.complete(ASK, [TOOL], **asked_with(case))
                async with client.stream(ASK, [TOOL], **asked_with(case)) as stream:
                    async for event in stream:
                        events.append(event)
                    return stream.turn

        def ask_sync() -> toolglot.Turn:
            with client_of(case, url, SyncClient) as client:
                if way == "sync":
                    return client.complete(ASK, [TOOL], **asked_with(case))
                with client.stream(ASK, [TOOL], **asked_with(case)) as stream:
                    events.extend(stream)
                    return stream.turn

        try:
            turn = ask_sync() if way.startswith("sync") else asyncio.run(ask())
        except toolglot.ProviderError as error:
            failed = error
        took = time.monotonic() - began
    assert (failed is not None) == bool(case.get("error")), failed
    judge(case, script, turn, (failed or turn).attempts, took)
    if "partial" in case:
        assert failed is not None
        assert failed.turn is not None
        assert [call.status for call in failed.turn.tool_calls] == case["partial"]
    if turn is not None and "stream" in way:
        # The events of the answer that counts, and of no other.
        ended = [event.call for event in events if event.kind == "call_ended"]
        assert [(call.id, call.status) for call in ended] == [(call.id, call.status) for call in turn.tool_calls]
        assert "".join(event.text for event in events if event.kind == "text") == turn.content


@pytest.mark.parametrize("case", [c for c in FAULTS if c.get("only") != "stream"], ids=lambda case: case["name"])
def test_no_tool_runs_twice_and_none_on_a_bad_call(case: dict[str, Any]) -> None:
    """The whole loop on the same faults: each call runs once, and only if it may."""
    if case["path"][-1] not in ("native usable", "json_schema usable", "native incomplete") or "tool_choice" in str(
        case
    ):
        pytest.skip("what ends without an answer has no loop, and what must call never ends")
    runs = []

    async def execute(call: toolglot.ToolCall) -> str:
        runs.append((call.id, call.status))
        return "12:00"

    script = Script(case["answers"], default={"text": "It is noon."})
    with serve(script) as url:

        async def go() -> Any:
            async with client_of(case, url) as client:
                try:
                    return await client.run(ASK, [TOOL], execute=execute)
                except toolglot.ProviderError as error:
                    return error.result

        result = asyncio.run(go())
    assert len(runs) == case["runs"]
    assert all(status in ("ok", "repaired") for _, status in runs)
    assert result is not None
    assert toolglot.check_history(result.messages) == []


def test_what_is_known_is_not_tried_again() -> None:
    """The second turn begins where the first one ended up."""
    refused = {"status": 400, "body": {"error": {"message": "m does not support tools"}}}
    envelope = {"envelope": {"toolCalls": [{"name": "get_time", "arguments": {"zone": "UTC"}}], "content": ""}}
    script = Script([refused, envelope, envelope])
    with serve(script) as url, client_of({}, url, SyncClient) as client:
        assert path(client.complete(ASK, [TOOL]).attempts) == ["native refused", "json_schema usable"]
        assert path(client.complete(ASK, [TOOL]).attempts) == ["json_schema usable"]
        assert client.capabilities.get("m", url).native_tools.value == "no"
        assert (client.stats.turns, client.stats.answered, client.stats.requests) == (2, 2, 3)
        assert (client.stats.fallbacks, client.stats.retries_per_success) == (1, 0.5)
        assert client.stats.calls == {"ok": 2}


def test_a_cancelled_turn_leaves_nothing_running() -> None:
    script = Script([{"text": "and so on " * 500, "drip": 0.02}])
    with serve(script) as url:

        async def go() -> None:
            async with client_of({}, url) as client:

                async def read() -> None:
                    async for _ in client.stream(ASK):
                        pass

                task = asyncio.create_task(read())
                await asyncio.sleep(0.3)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                before = asyncio.all_tasks()
                assert before == {asyncio.current_task()}

        asyncio.run(go())
        # The server sees that the client is gone, and nobody asks again.
        for _ in range(100):
            if script.gone:
                break
            time.sleep(0.02)
        assert script.gone == 1
        assert len(script.asked) == 1


def test_a_stream_that_is_given_up_closes_its_connection() -> None:
    script = Script([{"text": "and so on " * 500, "drip": 0.02}])
    with serve(script) as url:
        with client_of({}, url, SyncClient) as client, client.stream(ASK) as stream:
            assert next(stream).kind == "text"
            with pytest.raises(toolglot.BadOptionError):
                _ = stream.turn
        for _ in range(100):
            if script.gone:
                break
            time.sleep(0.02)
        assert script.gone == 1


def test_a_server_that_is_not_known_is_asked_what_it_can_do() -> None:
    """llama.cpp's /props says that the template has no tools: they are not even tried."""
    asked = []
    props = {
        "default_generation_settings": {"n_ctx": 2048},
        "total_slots": 1,
        "chat_template_caps": {"supports_tools": False, "supports_parallel_tool_calls": False},
    }
    envelope = {"toolCalls": [{"name": "get_time", "arguments": {"zone": "UTC"}}], "content": ""}

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.path)
        if request.url.path == "/props":
            return httpx.Response(200, json=props)
        if request.url.path == "/v1/models":
            return httpx.Response(200, json={"object": "list", "data": [{"id": "m", "owned_by": "llamacpp"}]})
        body = json.loads(request.content)
        assert body["response_format"]["type"] == "json_schema"
        return httpx.Response(200, json={"choices": [{"message": {"content": json.dumps(envelope)}}]})

    http = httpx.Client(transport=httpx.MockTransport(answer))
    client = SyncClient("m", "http://localhost:8080/v1", client=http, capabilities=CapabilityStore())
    for _ in range(2):
        assert path(client.complete(ASK, [TOOL]).attempts) == ["json_schema usable"]
    assert asked.count("/props") == 1
    assert client.capabilities.get("m", "http://localhost:8080/v1").native_tools.value == "ignored"


def test_a_function_in_place_of_http() -> None:
    def model(request: Any) -> Any:
        assert request.headers["Authorization"] == "Bearer secret"
        assert request.json["messages"] == ASK
        return 200, {}, {"choices": [{"message": {"content": "It is noon."}}]}

    client = SyncClient("m", "http://localhost/v1", api_key="secret", client=model)
    assert client.complete(ASK).content == "It is noon."

    async def asynchronous(request: Any) -> Any:
        return 200, {}, [b'{"choices": [{"message": ', b'{"content": "It is noon."}}]}']

    asked = Client("m", "http://localhost/v1", client=asynchronous).complete(ASK)
    assert asyncio.run(asked).content == "It is noon."


def aws_frame(kind: str, payload: Any, header: str = ":event-type") -> bytes:
    """A frame of AWS's event stream; its checksums are not compared."""
    head = bytes([len(header)]) + header.encode() + b"\x07" + struct.pack(">H", len(kind)) + kind.encode()
    body = json.dumps(payload).encode()
    return struct.pack(">III", 16 + len(head) + len(body), len(head), 0) + head + body + bytes(4)


@pytest.mark.parametrize("size", [7, 10_000])
def test_bedrock_streams_in_binary_frames(size: int) -> None:
    frames = [
        aws_frame("messageStart", {"role": "assistant"}),
        aws_frame("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"text": "Wait."}, "p": "abcd"}),
        aws_frame(
            "contentBlockStart", {"contentBlockIndex": 1, "start": {"toolUse": {"toolUseId": "t", "name": "get_time"}}}
        ),
        aws_frame("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"toolUse": {"input": '{"zone": '}}}),
        aws_frame("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"toolUse": {"input": '"UTC"}'}}}),
        aws_frame("contentBlockStop", {"contentBlockIndex": 1}),
        aws_frame("messageStop", {"stopReason": "tool_use"}),
        aws_frame("metadata", {"usage": {"inputTokens": 9, "outputTokens": 3, "totalTokens": 12}}),
    ]
    data = b"".join(frames)

    def server(request: Any) -> Any:
        assert request.url.endswith("/model/amazon.nova-lite-v1%3A0/converse-stream")
        return 200, {}, [data[at : at + size] for at in range(0, len(data), size)]

    client = SyncClient("amazon.nova-lite-v1:0", provider="bedrock", client=server, capabilities=CapabilityStore())
    with client.stream(ASK, [TOOL]) as stream:
        kinds = [event.kind for event in stream]
    assert kinds == ["text", "call_started", "arguments", "arguments", "call_ended"]
    assert [(call.id, call.arguments) for call in stream.turn.tool_calls] == [("t", {"zone": "UTC"})]
    assert stream.turn.usage.total_tokens == 12


def test_an_exception_in_a_stream_of_bedrocks_is_an_error() -> None:
    frames = [
        aws_frame("messageStart", {"role": "assistant"}),
        aws_frame("throttlingException", {"message": "Too many tokens"}, ":exception-type"),
    ]
    client = SyncClient(
        "m", provider="bedrock", client=lambda request: (200, {}, frames), capabilities=CapabilityStore()
    )
    with pytest.raises(toolglot.ProviderError, match="Too many tokens"):
        list(client.stream(ASK, [TOOL]))


def test_wrong_options() -> None:
    with pytest.raises(toolglot.BadOptionError):
        SyncClient("m", client=object())
    with pytest.raises(toolglot.BadOptionError):
        SyncClient("m", client=httpx.AsyncClient())
    with pytest.raises(toolglot.BadOptionError):
        SyncClient("m", escalate=[{"modell": "x"}])
    with pytest.raises(toolglot.UnknownProviderError):
        SyncClient("m", provider="nobody")
    with pytest.raises(toolglot.BadOptionError):
        SyncClient("m", client=print).complete(ASK, [TOOL], tool_choice="no_such_tool")


def test_a_key_goes_only_where_it_belongs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "secret")
    assert SyncClient("m", "http://localhost:1/v1")._models[0].api_key is None
    assert SyncClient("m")._models[0].api_key == "secret"


def test_a_key_is_not_sent_to_another_server() -> None:
    """Neither the client's own nor that of an SDK's client, whose headers hold it."""
    seen = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append((request.url.host, request.method, request.headers.get("authorization"), request.headers.get("x")))
        if request.method == "GET":
            return httpx.Response(404)
        if request.url.host == "first":
            return httpx.Response(401)
        return httpx.Response(200, json={"choices": [{"message": {"content": "It is noon."}}]})

    http = httpx.Client(transport=httpx.MockTransport(answer))
    other = {"model": "n", "base_url": "http://second/v1"}
    client = SyncClient(
        "m",
        "http://first/v1",
        api_key="secret",
        client=http,
        escalate=[other],
        headers={"x": "y"},
        capabilities=CapabilityStore(),
    )
    client._target.headers = {"Authorization": "Bearer of the SDK"}
    assert client.complete(ASK).content == "It is noon."
    assert {host for host, *_ in seen} == {"first", "second"}
    assert all((key == "Bearer secret") if host == "first" else (key is None) for host, _, key, _ in seen)
    assert all(x == "y" for *_, x in seen)


# What each API is sent, natively and otherwise, by the example of its reference.
REQUESTS = json.loads(Path(ROOT / "tests/data/exchange/requests.json").read_text("utf-8"))


@pytest.mark.parametrize("case", REQUESTS, ids=lambda case: f"{case['provider']} {case['mode']}")
def test_request(case: dict[str, Any]) -> None:
    config = toolglot.Config({"preferred_modes": [case["mode"]]})
    at = toolglot.Endpoint(case.get("model", "m"), case.get("base_url"), provider=case["provider"], config=config)
    messages = [{"role": "system", "content": "Be brief."}, *ASK]
    options = {"tool_choice": "required", "max_tokens": 100, "temperature": 0.5}
    exchange = toolglot.Exchange(messages, [TOOL], endpoints=[at], stream=case.get("stream", False), **options)
    step = exchange.next()
    assert step.url == case["url"]
    assert [step.key[0].lower(), *step.headers] == case["headers"]
    body = json.loads(step.body)
    for pointer, wanted in case["body"].items():
        value = body
        for key in pointer.split("/")[1:]:
            value = value[int(key)] if isinstance(value, list) else value.get(key)
        assert value == wanted, pointer
    assert sorted(body) == case["members"]
