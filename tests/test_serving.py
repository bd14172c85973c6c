"""The transport and the application without a network: httpx's own mocks stand for the connection."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest

import toolglot
from toolglot.router import create_app, create_router

httpx = pytest.importorskip("httpx")

CALL = '<tool_call>\n{"name": "ls", "arguments": {"path": "/"}}\n</tool_call>'
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
REQUESTS: dict[str, Any] = {
    "/v1/chat/completions": {
        "model": "m",
        "messages": [{"role": "user", "content": "?"}],
        "tools": [{"type": "function", "function": {"name": "ls", "parameters": SCHEMA}}],
    },
    "/v1/responses": {"model": "m", "input": "?", "tools": [{"type": "function", "name": "ls", "parameters": SCHEMA}]},
    "/v1/messages": {
        "model": "m",
        "max_tokens": 9,
        "messages": [{"role": "user", "content": "?"}],
        "tools": [{"name": "ls", "input_schema": SCHEMA}],
    },
}
PROVIDERS = {"/v1/chat/completions": "openai", "/v1/responses": "openai_responses", "/v1/messages": "anthropic"}


def chunks(text: str, finish: str | None = "stop") -> list[bytes]:
    deltas = [({"content": text[at : at + 5]}, None) for at in range(0, len(text), 5)]
    if finish:
        deltas.append(({}, finish))  # type: ignore[arg-type]
    events = [{"id": "c", "choices": [{"index": 0, "delta": delta, "finish_reason": end}]} for delta, end in deltas]
    return [b"data: " + json.dumps(event).encode() + b"\n\n" for event in events] + [b"data: [DONE]\n\n"]


def backend(text: str, *, seen: list[Any] | None = None, error: Exception | None = None, status: int = 200) -> Any:
    async def stream() -> AsyncIterator[bytes]:
        for chunk in chunks(text)[: 3 if error else None]:
            yield chunk
        if error is not None:
            raise error

    def answer(request: Any) -> Any:
        if seen is not None:
            seen.append(request)
        if request.url.path.endswith("/models"):
            return httpx.Response(200, json={"data": [{"id": "m"}]})
        if status != 200:
            return httpx.Response(status, json={"error": {"message": "no, secret"}})
        body = json.loads(request.content)
        if body.get("stream"):
            return httpx.Response(200, content=stream(), headers={"content-type": "text/event-stream"})
        message = {"role": "assistant", "content": text}
        return httpx.Response(200, json={"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})

    return httpx.MockTransport(answer)


async def ask(app: Any, path: str, body: Any, method: str = "POST", headers: Any = None) -> Any:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://app") as client:
        return await client.request(method, path, json=body, headers=headers)


def served(text: str, **options: Any) -> Any:
    pytest.importorskip("fastapi")
    made = {key: options.pop(key) for key in ("seen", "error", "status") if key in options}
    client = httpx.AsyncClient(transport=backend(text, **made))
    return create_app("http://model/v1", client=client, **options)


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("mode", ["native", "text"])
@pytest.mark.parametrize("path", REQUESTS)
def test_every_api_is_served(path: str, mode: Any, streamed: bool) -> None:
    turns: list[Any] = []
    asked: list[Any] = []
    app = served(
        CALL,
        mode=mode,
        on_turn=lambda turn, translation: turns.append(turn),
        on_request=lambda request, translation: asked.append(translation.path),
    )
    answer = asyncio.run(ask(app, path, {**REQUESTS[path], "stream": streamed}))
    assert answer.status_code == 200
    if streamed:
        reader = toolglot.StreamNormalizer(PROVIDERS[path], dialect=False)
        reader.feed(answer.content)
        turn = reader.finish()
    else:
        turn = toolglot.normalize(answer.content, provider=PROVIDERS[path], dialect=False)
    assert [(call.name, call.arguments) for call in turn.tool_calls] == [("ls", {"path": "/"})]
    assert turn.stop_reason == "tool_calls"
    assert [turn.tool_calls[0].name for turn in turns] == ["ls"]
    assert asked == ["/chat/completions"]


def test_a_bad_request_is_refused_in_the_clients_api() -> None:
    app = served("Hi")
    answer = asyncio.run(ask(app, "/v1/messages", {**REQUESTS["/v1/messages"], "thread": {"type": "create"}}))
    assert answer.status_code == 400
    assert answer.json()["error"]["details"]["error_code"] == "thread_unsupported_request"
    assert asyncio.run(ask(app, "/v1/chat/completions", [1])).status_code == 400


@pytest.mark.parametrize("path", REQUESTS)
def test_a_backend_that_dies(path: str, caplog: pytest.LogCaptureFixture) -> None:
    app = served("Hello there", error=httpx.ReadError("/secret/path"))
    answer = asyncio.run(ask(app, path, {**REQUESTS[path], "stream": True}))
    assert b"broke off" in answer.content
    assert b"secret" not in answer.content
    assert b"[DONE]" not in answer.content
    assert "secret" in caplog.text


@pytest.mark.parametrize(("status", "tells"), [(400, True), (500, False)])
def test_a_backends_error(status: int, tells: bool) -> None:
    answer = asyncio.run(ask(served("", status=status), "/v1/messages", REQUESTS["/v1/messages"]))
    assert answer.status_code == status
    assert (b"secret" in answer.content) == tells


def test_a_backend_that_is_not_there() -> None:
    def refuse(request: Any) -> Any:
        raise httpx.ConnectError("/secret")

    pytest.importorskip("fastapi")
    logging.getLogger("toolglot.router").disabled = True
    try:
        app = create_app("http://model/v1", client=httpx.AsyncClient(transport=httpx.MockTransport(refuse)))
        for path, body in REQUESTS.items():
            answer = asyncio.run(ask(app, path, body))
            assert answer.status_code == 502
            assert b"secret" not in answer.content
    finally:
        logging.getLogger("toolglot.router").disabled = False


def test_a_client_that_waits_is_told_that_somebody_is_there() -> None:
    async def slow() -> AsyncIterator[bytes]:
        await asyncio.sleep(0.2)
        for chunk in chunks("Hi"):
            yield chunk

    pytest.importorskip("fastapi")
    transport = httpx.MockTransport(lambda request: httpx.Response(200, content=slow()))
    app = create_app("http://model/v1", client=httpx.AsyncClient(transport=transport), silence=0.05)
    for path, body in REQUESTS.items():
        content = asyncio.run(ask(app, path, {**body, "stream": True})).content
        assert content.startswith(b": ping\n\n")
        assert b"Hi" in content


def test_keys_models_and_tokens() -> None:
    seen: list[Any] = []
    app = served("Hi", seen=seen)
    asyncio.run(ask(app, "/v1/messages", REQUESTS["/v1/messages"], headers={"x-api-key": "k"}))
    assert seen[0].headers["authorization"] == "Bearer k"
    assert asyncio.run(ask(app, "/v1/models", None, "GET")).json() == {"data": [{"id": "m"}]}
    assert asyncio.run(ask(app, "/v1/messages/count_tokens", REQUESTS["/v1/messages"])).json()["input_tokens"] > 10
    assert asyncio.run(ask(app, "/", None, "HEAD")).status_code == 200


def test_a_router_in_an_application() -> None:
    fastapi = pytest.importorskip("fastapi")
    app = fastapi.FastAPI()
    client = httpx.AsyncClient(transport=backend(CALL))
    app.include_router(create_router("http://model/v1", client=client), prefix="/llm")
    answer = asyncio.run(ask(app, "/llm/v1/chat/completions", REQUESTS["/v1/chat/completions"]))
    assert answer.json()["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "ls"


class TestTransport:
    @pytest.mark.parametrize("streamed", [False, True])
    @pytest.mark.parametrize("path", REQUESTS)
    def test_any_client_of_a_chat_server(self, path: str, streamed: bool) -> None:
        body = {**REQUESTS[path], "stream": streamed}
        seen: list[Any] = []

        async def asynchronously() -> bytes:
            transport = toolglot.AsyncTransport(backend(CALL, seen=seen), backend="chat", mode="text")
            async with httpx.AsyncClient(transport=transport) as client:
                answer = await client.post(f"http://model{path}", json=body, headers={"x-api-key": "k"})
                return bytes(answer.content)

        content = asyncio.run(asynchronously())
        assert seen[0].url == "http://model/v1/chat/completions"
        assert "tools" not in json.loads(seen[0].content)
        assert int(seen[0].headers["content-length"]) == len(seen[0].content)
        if streamed:
            reader = toolglot.StreamNormalizer(PROVIDERS[path], dialect=False)
            reader.feed(content)
            turn = reader.finish()
        else:
            turn = toolglot.normalize(content, provider=PROVIDERS[path], dialect=False)
        assert [call.name for call in turn.tool_calls] == ["ls"]

    def test_other_requests_pass(self) -> None:
        seen: list[Any] = []
        with httpx.Client(transport=toolglot.Transport(backend("", seen=seen))) as client:
            assert client.get("http://model/v1/models").json() == {"data": [{"id": "m"}]}

    def test_bad_options_are_told_at_once(self) -> None:
        with pytest.raises(toolglot.BadOptionError):
            toolglot.Transport(mode="some")
        with pytest.raises(toolglot.UnknownDialectError):
            toolglot.AsyncTransport(dialect="nope!!")


def test_an_error_can_be_pickled() -> None:
    import pickle

    with pytest.raises(toolglot.WireError) as caught:
        toolglot.Transcoder().request(b"[]")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.code, again.status, again.body) == ("invalid_value", 400, caught.value.body)
    assert json.loads(again.body)["error"]["code"] == "invalid_value"


@pytest.mark.parametrize("option", [{"client": "gemini"}, {"backend": "x"}, {"mode": "x"}, {"policy": {"nope": 1}}])
def test_bad_options(option: Any) -> None:
    with pytest.raises(toolglot.BadOptionError):
        toolglot.Transcoder(**option)


@pytest.mark.parametrize("streamed", [False, True])
def test_a_session_of_aiohttp_sends_as_well(streamed: bool) -> None:
    aiohttp = pytest.importorskip("aiohttp")
    web = pytest.importorskip("aiohttp.web")
    pytest.importorskip("fastapi")

    async def answer(request: Any) -> Any:
        assert request.headers["authorization"] == "Bearer k"
        if not (await request.json()).get("stream"):
            message = {"role": "assistant", "content": CALL}
            return web.json_response({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        for chunk in chunks(CALL):
            await response.write(chunk)
        return response

    async def go() -> Any:
        backend = web.Application()
        backend.router.add_post("/v1/chat/completions", answer)
        runner = web.AppRunner(backend)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = site._server.sockets[0].getsockname()[1]
        async with aiohttp.ClientSession() as session:
            app = create_app(f"http://127.0.0.1:{port}/v1", client=session, api_key="k")
            said = await ask(app, "/v1/messages", {**REQUESTS["/v1/messages"], "stream": streamed})
            await runner.cleanup()
            # Nobody answers there any more.
            gone = await ask(app, "/v1/messages", REQUESTS["/v1/messages"])
        return said, gone

    said, gone = asyncio.run(go())
    assert b'"tool_use"' in said.content
    assert gone.status_code == 502
    assert gone.json()["error"]["details"]["error_code"] == "backend_unreachable"


def test_a_hook_that_fails_is_no_concern_of_the_client(caplog: pytest.LogCaptureFixture) -> None:
    def fail(turn: Any, translation: Any) -> None:
        raise OSError("/secret")

    app = served(CALL, on_turn=fail)
    for streamed in (False, True):
        body = {**REQUESTS["/v1/chat/completions"], "stream": streamed}
        answer = asyncio.run(ask(app, "/v1/chat/completions", body))
        assert answer.status_code == 200
        assert b"tool_calls" in answer.content
        assert b"secret" not in answer.content
    assert "on_turn failed" in caplog.text


def test_a_request_refused_by_the_application() -> None:
    fastapi = pytest.importorskip("fastapi")

    def refuse(request: Any, translation: Any) -> None:
        raise fastapi.HTTPException(403, "not you")

    seen: list[Any] = []
    answer = asyncio.run(
        ask(served(CALL, seen=seen, on_request=refuse), "/v1/messages", {**REQUESTS["/v1/messages"], "stream": True})
    )
    assert (answer.status_code, seen) == (403, [])


def test_what_a_model_names_is_no_header() -> None:
    """An issue quotes the name of a call that the request does not allow."""
    text = json.dumps({"name": "rm\r\nx-evil: é", "arguments": {}})
    body = {**REQUESTS["/v1/chat/completions"], "tool_choice": {"type": "function", "function": {"name": "ls"}}}
    app = served(f"<tool_call>{text}</tool_call>", mode="text", dialect="hermes")
    answer = asyncio.run(ask(app, "/v1/chat/completions", body))
    assert answer.status_code == 200
    assert "x-evil" not in answer.headers
