"""The document "OpenAI-Compatible Tool Calling": its models, functions and unit tests, over toolglot.compat and toolglot.router.

Rows 81 (file operations with a real model) and 83 (under 200 ms) are tested by examples/e2e.py and benches/python/router.py. Rows 76
(connection pooling), 78 (retries) and 79 (loops of calls) are the client's: tests/test_client.py, tests/test_loop.py.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

import toolglot
from toolglot import router
from toolglot.compat import (
    extract_tool_calls_from_text,
    inject_tools_into_messages,
    tools_to_system_prompt,
    transform_response_with_tools,
)
from toolglot.router import (
    RequestError,
    error_body,
    stream_with_tool_detection,
    transform_request,
    validate_request,
)

READ: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "read_file",
        "description": "Read contents of a file",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string", "description": "File path"}},
            "required": ["path"],
            "additionalProperties": False,
        },
    },
}
LIST: dict[str, Any] = {"type": "function", "function": {"name": "list_files", "parameters": {"type": "object"}}}
CALL = {"id": "call_1", "type": "function", "function": {"name": "read_file", "arguments": '{"path":"/tmp/test.txt"}'}}
FENCED = f"```json\n{json.dumps({'tool_calls': [CALL]})}\n```"


def request(**members: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": "Read /tmp/test.txt"}]
    return {"model": "gpt-oss-120b", "messages": messages, "tools": [READ], **members}


def response(content: str | None, **members: Any) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, **members}
    return {"id": "chatcmpl-1", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}


def frame(finish: str | None = None, **delta: Any) -> bytes:
    chunk = {"id": "chatcmpl-1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"


def streamed(frames: list[bytes], asked: Any, **options: Any) -> list[dict[str, Any]]:
    """The client's chunks."""

    async def source() -> AsyncIterator[bytes]:
        for piece in frames:
            yield piece

    async def read() -> bytes:
        return b"".join([piece async for piece in stream_with_tool_detection(source(), asked, **options)])

    lines = asyncio.run(read()).decode().split("\n")
    return [json.loads(line[6:]) for line in lines if line.startswith("data: {")]


def told(chunks: list[dict[str, Any]]) -> tuple[list[Any], str | None]:
    """The calls that a client has after a stream, and how it ended."""
    calls: dict[int, list[Any]] = {}
    finish = None
    for chunk in chunks:
        for choice in chunk.get("choices", []):
            finish = choice.get("finish_reason") or finish
            for delta in choice["delta"].get("tool_calls", []):
                call = calls.setdefault(delta["index"], [None, None, ""])
                call[0] = delta.get("id") or call[0]
                call[1] = delta["function"].get("name") or call[1]
                call[2] += delta["function"].get("arguments") or ""
    return [calls[index] for index in sorted(calls)], finish


def code(asked: Any, **options: Any) -> str:
    with pytest.raises(RequestError) as raised:
        validate_request(asked, **options)
    assert raised.value.status == 400
    assert raised.value.body["error"]["type"] == "invalid_request_error"
    return raised.value.code


def test_row_49_a_stream_without_types_and_ids() -> None:
    first = {"index": 0, "function": {"name": "read_file", "arguments": None}}
    rest = {"index": 0, "function": {"arguments": '{"path": "/tmp/test.txt"}'}}
    calls, finish = told(
        streamed([frame(tool_calls=[first]), frame(tool_calls=[rest]), frame("tool_calls"), DONE], request(stream=True))
    )
    ((id, name, arguments),) = calls
    assert (name, json.loads(arguments), finish) == ("read_file", {"path": "/tmp/test.txt"}, "tool_calls")
    assert id.startswith("call_")


def test_row_50_a_stream_without_its_finish_reason() -> None:
    calls, finish = told(streamed([frame(tool_calls=[{"index": 0, **CALL}]), DONE], request(stream=True)))
    assert (len(calls), finish) == (1, "tool_calls")


def test_row_50_text_without_its_finish_reason_is_not_taken_for_a_whole_answer() -> None:
    """Decided otherwise: of text nobody can say whether it is whole. The client has it, and an error event."""
    (text, error) = streamed([frame(content="The file sa"), DONE], request(stream=True))
    assert text["choices"][0]["delta"]["content"] == "The file sa"
    assert error["error"]["code"] == "backend_disconnected"


@pytest.mark.parametrize(
    "parser", ["hermes", "mistral", "llama3_json", "llama4_pythonic", "qwen3_coder", "deepseek_v3"]
)
def test_row_51_the_names_of_vllms_parsers(parser: str) -> None:
    assert toolglot.dialects(parser)


def test_row_52_any_model_by_its_prompt() -> None:
    payload = transform_request(request(), mode="text")
    assert "tools" not in payload
    assert "read_file" in payload["messages"][0]["content"]


def test_row_53_native_first_then_the_prompt() -> None:
    """The client's: it asks natively, and in text once the server has refused that."""
    bodies: list[Any] = []

    def server(sent: Any) -> Any:
        body = json.loads(sent.body)
        bodies.append(body)
        if "tools" in body:
            return 400, {}, {"error": {"message": "this model does not support tools"}}
        if "response_format" in body:
            return 400, {}, {"error": {"message": "'response_format.type' must be 'text'"}}
        return 200, {}, response(FENCED)

    client = toolglot.SyncClient("refuses-tools", "http://localhost:1/v1", client=server)
    turn = client.complete([{"role": "user", "content": "Read it"}], [READ])
    assert turn.tool_calls[0].arguments == {"path": "/tmp/test.txt"}
    assert "tools" in bodies[0]
    assert "tools" not in bodies[-1]


def test_row_54_a_request_passes_as_it_is() -> None:
    asked = request(parallel_tool_calls=True, top_k=5, tool_choice="auto")
    assert transform_request(asked) == asked


def test_row_55_the_shape_of_a_response() -> None:
    backend = {**response(FENCED), "usage": {"prompt_tokens": 82, "completion_tokens": 17, "total_tokens": 99}}
    made = transform_response_with_tools(backend, request())
    (choice,) = made["choices"]
    assert choice["message"]["content"] is None
    assert choice["message"]["tool_calls"] == [CALL]
    assert choice["finish_reason"] == "tool_calls"
    assert made["usage"] == backend["usage"]


def turns(count: int) -> list[Any]:
    """A conversation of so many calls, one after the other."""
    messages: list[Any] = [{"role": "user", "content": "Read them all"}]
    for number in range(count):
        call = {**CALL, "id": f"call_{number}"}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": f"call_{number}", "name": "read_file", "content": "..."})
    return messages


@pytest.mark.parametrize("mode", ["native", "text"])
def test_rows_56_82_and_87_many_turns(mode: Any) -> None:
    asked = request(messages=turns(20))
    payload = transform_request(asked, mode=mode)
    assert len([m for m in payload["messages"] if m["role"] == "assistant"]) == 20
    if mode == "native":
        assert payload == asked


def test_row_57_new_ids_begin_with_call() -> None:
    text = '<tool_call>{"name": "read_file", "arguments": {"path": "/"}}</tool_call>'
    (choice,) = transform_response_with_tools(response(text), request())["choices"]
    assert choice["message"]["tool_calls"][0]["id"].startswith("call_")


def test_rows_58_and_59_null_content_and_roles() -> None:
    validate_request(request(messages=turns(1)))
    for role in ("system", "user", "assistant", "developer"):
        validate_request(request(messages=[{"role": role, "content": "Hi"}]))
    assert code(request(messages=[{"role": "robot", "content": "Hi"}])) == "invalid_value"


def test_row_60_the_finish_reason() -> None:
    (choice,) = transform_response_with_tools(response(None, tool_calls=[CALL]), request())["choices"]
    assert choice["finish_reason"] == "tool_calls"


def test_rows_61_and_62_results_by_id_and_in_order() -> None:
    question, asked, result = turns(1)
    assert code(request(messages=[question, asked, {**result, "tool_call_id": "call_9"}])) == "invalid_tool_call_id"
    assert code(request(messages=[question, result])) == "invalid_message_order"
    assert code(request(messages=[question, asked, question, result])) == "invalid_message_order"


def test_row_63_tool_choice_none() -> None:
    asked = request(tool_choice="none")
    assert "read_file" not in json.dumps(transform_request(asked, mode="text"))
    assert transform_response_with_tools(response(FENCED), asked, mode="text") == response(FENCED)


def test_row_64_tool_choice_required() -> None:
    """The prompt demands it. A router keeps no state to ask again with: that is `toolglot.Client`."""
    prompt = transform_request(request(tool_choice="required"), mode="text")["messages"][0]["content"]
    assert "must call a tool" in prompt
    (choice,) = transform_response_with_tools(response("No."), request(tool_choice="required"), mode="text")["choices"]
    assert (choice["message"]["content"], choice["finish_reason"]) == ("No.", "stop")
    texts = iter(["No.", FENCED])
    client = toolglot.SyncClient(
        "asked-again", "http://localhost:1/v1", client=lambda _: (200, {}, response(next(texts)))
    )
    assert client.complete([{"role": "user", "content": "Read it"}], [READ], tool_choice="required").tool_calls


FORCED = {"type": "function", "function": {"name": "list_files"}}
OTHER = '<tool_call>{"name": "read_file", "arguments": {"path": "/"}}</tool_call>'


@pytest.mark.parametrize("streams", [False, True])
def test_row_65_a_forced_function(streams: bool) -> None:
    """In text mode a call to another tool goes nowhere: the prompt has the named one alone, and the client waits for that."""
    asked = request(tools=[READ, LIST], tool_choice=FORCED, stream=streams)
    prompt = transform_request(asked, mode="text")["messages"][0]["content"]
    assert "list_files" in prompt
    assert "read_file" not in prompt
    if streams:
        calls, finish = told(streamed([frame(content=OTHER), frame("stop"), DONE], asked, mode="text"))
    else:
        (choice,) = transform_response_with_tools(response(OTHER), asked, mode="text")["choices"]
        calls, finish = choice["message"].get("tool_calls", []), choice["finish_reason"]
    assert (calls, finish) == ([], "stop")


@pytest.mark.parametrize("streams", [False, True])
def test_row_34_one_call_at_a_time(streams: bool) -> None:
    """`parallel_tool_calls: false` in text mode: the model is told, and a second call is not passed on."""
    asked = request(parallel_tool_calls=False, stream=streams)
    assert "at most one tool" in transform_request(asked, mode="text")["messages"][0]["content"]
    if streams:
        calls, _ = told(streamed([frame(content=OTHER + OTHER), frame("stop"), DONE], asked, mode="text"))
    else:
        (choice,) = transform_response_with_tools(response(OTHER + OTHER), asked, mode="text")["choices"]
        calls = choice["message"]["tool_calls"]
    assert len(calls) == 1


def test_row_66_the_error_format() -> None:
    body = error_body("No such tool.", code="invalid_tool_schema", param="tools[0]")
    assert body == {
        "error": {
            "message": "No such tool.",
            "type": "invalid_request_error",
            "param": "tools[0]",
            "code": "invalid_tool_schema",
        }
    }


def declared(parameters: Any, name: str = "f") -> dict[str, Any]:
    return request(tools=[READ, {"type": "function", "function": {"name": name, "parameters": parameters}}])


@pytest.mark.parametrize(
    "parameters",
    [
        {"type": "object", "properties": {"a": {"type": "strnig"}}},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/nowhere"}}},
        {"type": "object", "required": "a"},
    ],
)
def test_row_67_schemas_that_mean_nothing(parameters: Any) -> None:
    """Refused where the application asks for that: local servers take them, and clients send them (row 84)."""
    validate_request(declared(parameters))
    assert code(declared(parameters), schemas=True) == "invalid_tool_schema"
    validate_request(request(), schemas=True)


def test_row_67_tools_that_are_none() -> None:
    assert code(declared({"type": "array"})) == "invalid_tool_schema"
    assert code(declared({"type": "object"}, name="read_file")) == "invalid_tool_schema"
    assert code(request(tools=[{"type": "function", "function": {}}])) == "invalid_tool_schema"


def test_row_68_models_of_a_request() -> None:
    pytest.importorskip("pydantic")
    from toolglot.models import ChatCompletionRequest, Tool

    asked = ChatCompletionRequest(**request(stream=True, top_k=5))
    assert asked.stream
    assert asked.tools == [Tool(**READ)]
    assert transform_request(asked) == request(stream=True, top_k=5)
    parts = [{"type": "text", "text": "What is this?"}, {"type": "image_url", "image_url": {"url": "data:,"}}]
    asked = ChatCompletionRequest(model="m", messages=[{"role": "user", "content": parts}], tools=[])
    assert transform_request(asked)["messages"][0]["content"] == parts
    assert toolglot.models.ChatCompletionRequest is ChatCompletionRequest


def test_row_69_tools_in_the_prompt() -> None:
    """The document's `test_tool_injection`."""
    pytest.importorskip("pydantic")
    from toolglot.models import Tool

    tools = [Tool(type="function", function={"name": "read_file", "parameters": {}})]
    prompt = tools_to_system_prompt(tools)
    assert "read_file" in prompt
    assert "tool_calls" in prompt
    assert inject_tools_into_messages([{"role": "user", "content": "Hi"}], tools)[0]["content"] == prompt


def test_row_70_calls_out_of_text() -> None:
    """The document's `test_tool_extraction`."""
    content = (
        '```json\n{"tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "read_file", '
        '"arguments": "{}"}}]}\n```'
    )
    tool_calls = extract_tool_calls_from_text(content)
    assert tool_calls is not None
    assert len(tool_calls) == 1
    assert tool_calls[0]["function"]["name"] == "read_file"
    assert extract_tool_calls_from_text("No call.") is None
    assert extract_tool_calls_from_text(json.dumps({"tool_calls": [CALL]})) == [CALL]


def test_row_71_responses() -> None:
    """The document's `test_response_transformation`, with a call where it has an ellipsis."""
    pytest.importorskip("pydantic")
    from toolglot.models import ChatCompletionRequest

    backend = response(json.dumps({"tool_calls": [CALL]}))
    asked = ChatCompletionRequest(model="test", messages=[], tools=[READ])
    transformed = transform_response_with_tools(backend, asked)
    assert transformed["choices"][0]["message"]["tool_calls"] is not None
    assert transformed["choices"][0]["finish_reason"] == "tool_calls"


def test_row_72_streams_without_buffering() -> None:
    asked = request(stream=True)
    pieces = [frame(content=piece) for piece in ("Let ", "me ", "look. ", OTHER[:20], OTHER[20:])]
    chunks = streamed([*pieces, frame("stop"), DONE], asked)
    assert [chunk["choices"][0]["delta"].get("content") for chunk in chunks][:3] == ["Let ", "me ", "look. "]
    calls, finish = told(chunks)
    assert (calls[0][1], json.loads(calls[0][2]), finish) == ("read_file", {"path": "/"}, "tool_calls")


@pytest.mark.parametrize("own", [True, False])
def test_rows_73_and_74_usage(own: bool) -> None:
    """The backend's own passes; where it sends none, what the sizes say, marked as an estimate."""
    usage = {"prompt_tokens": 82, "completion_tokens": 17, "total_tokens": 99}
    last = b"data: " + json.dumps({"id": "chatcmpl-1", "choices": [], "usage": usage}).encode() + b"\n\n"
    asked = request(stream=True, stream_options={"include_usage": True})
    assert transform_request(asked)["stream_options"] == {"include_usage": True}
    frames = [frame(content="Hi"), frame("stop"), *([last] if own else []), DONE]
    told_usage = next(chunk["usage"] for chunk in streamed(frames, asked) if chunk.get("usage"))
    if own:
        assert told_usage == usage
    else:
        assert told_usage["estimated"] is True
        assert told_usage["total_tokens"] == told_usage["prompt_tokens"] + told_usage["completion_tokens"]


def test_row_75_what_a_backend_does_not_take() -> None:
    """In text mode what says something of tools goes; the payload is a dict, and all else is the application's to take out."""
    asked = request(tool_choice="auto", parallel_tool_calls=True, top_k=5)
    payload = transform_request(asked, mode="text")
    assert {"tools", "tool_choice", "parallel_tool_calls"}.isdisjoint(payload)
    assert payload["top_k"] == 5


def test_row_80_what_a_backend_could_not_read() -> None:
    error: dict[str, Any] = {
        "message": "Failed to call a function.",
        "type": "invalid_request_error",
        "code": "tool_use_failed",
    }
    quoted = {"error": {**error, "failed_generation": '<function=read_file>{"path": "/"}</function>'}}
    (choice,) = transform_response_with_tools(quoted, request())["choices"]
    assert json.loads(choice["message"]["tool_calls"][0]["function"]["arguments"]) == {"path": "/"}
    assert choice["finish_reason"] == "tool_calls"
    assert transform_response_with_tools({"error": error}, request()) == {"error": error}
    assert transform_response_with_tools(quoted, {**request(), "tools": None}) == quoted


def test_row_84_unknown_fields_and_parts_are_accepted() -> None:
    asked = request(user="u", metadata={"a": "b"}, top_k=5, messages=[{"role": "user", "content": [], "extra": 1}])
    assert transform_request(asked) == asked


def test_row_84_names_that_openai_refuses() -> None:
    """Decided otherwise: 400 as OpenAI has it, unless the application says that its backend takes any name."""
    asked = declared({"type": "object"}, name="filesystem:read_file")
    assert code(asked) == "invalid_tool_schema"
    assert transform_request(asked, validate=False) == asked


def test_row_85_calls_run_at_once() -> None:
    from toolglot.service import ToolCalling

    running: list[int] = []
    most = 0

    async def execute(call: toolglot.ToolCall) -> str:
        nonlocal most
        running.append(1)
        most = max(most, len(running))
        await asyncio.sleep(0.01)
        running.pop()
        return "..."

    async def run() -> None:
        service = ToolCalling([READ])
        service.observe(response(None, tool_calls=[{**CALL, "id": f"call_{n}"} for n in range(5)]))
        await service.execute_native_tool_calls(execute)

    asyncio.run(run())
    assert most == 5


def test_row_86_errors_say_what_and_where() -> None:
    with pytest.raises(RequestError, match="parameters") as raised:
        validate_request(declared({"type": "array"}))
    assert raised.value.body["error"]["param"] == "tools[1]"


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        ('{"path": "/tmp"', "incomplete"),
        ('{"path": "/tm', "incomplete"),
        ("", "invalid"),
        ("{}", "invalid"),
        ("[]", "invalid"),
        ('"/tmp"', "invalid"),
        ('{"path": {}}', "invalid"),
        ('{"path": ["/tmp"]}', "invalid"),
        ('{"path": "/tmp", "mode": "r"}', "invalid"),
        ('{"file": "/tmp"}', "invalid"),
        ("{'path': '/tmp'}", "repaired"),
        ('{"path": "/tmp",}', "repaired"),
        ('{path: "/tmp"}', "repaired"),
        ('{"path": "/tmp"} // done', "repaired"),
        ('{"path": 5}', "repaired"),
        ("read it please", "malformed"),
        # Decided otherwise: it is valid JSON, which passes byte for byte.
        ('{"path": "/a", "path": "/tmp"}', "ok"),
    ],
)
def test_row_88_malformed_arguments_are_found(arguments: str, status: str) -> None:
    assert toolglot.ToolSet([READ]).check("read_file", arguments).status == status


def test_row_89_requests_without_tools() -> None:
    asked = {"model": "m", "messages": [{"role": "user", "content": "Hi"}], "stream": True}
    backend = response(FENCED)
    assert transform_request(asked) == asked
    assert transform_response_with_tools(backend, asked) == backend
    frames = [frame(content="Hi"), frame("stop"), DONE]

    async def read() -> bytes:
        async def source() -> AsyncIterator[bytes]:
            for piece in frames:
                yield piece

        return b"".join([piece async for piece in stream_with_tool_detection(source(), asked)])

    assert asyncio.run(read()) == b"".join(frames)


def test_rows_77_and_90_a_request_as_cline_sends_it() -> None:
    """The document's endpoint, which checks its clients' keys, and its `test_cline_compatibility`."""
    fastapi = pytest.importorskip("fastapi")
    httpx = pytest.importorskip("httpx")
    sent: list[Any] = []

    def backend(received: Any) -> Any:
        sent.append(json.loads(received.content))
        return httpx.Response(200, json=response(FENCED))

    async def verify_api_key(authorization: str = fastapi.Header()) -> None:
        if authorization != "Bearer sk-test-key":
            raise fastapi.HTTPException(401)

    app = fastapi.FastAPI()
    http = httpx.AsyncClient(transport=httpx.MockTransport(backend))
    # Postponed annotations hide what a parameter is; this one says it by its default.
    verify_api_key.__annotations__ = {"authorization": str}
    served = router.create_router("http://backend/v1", client=http)
    app.include_router(served, dependencies=[fastapi.Depends(verify_api_key)])

    async def post(key: str) -> Any:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://router") as client:
            headers = {"Authorization": f"Bearer {key}"}
            return await client.post("/v1/chat/completions", headers=headers, json=request(tool_choice="auto"))

    assert asyncio.run(post("sk-other")).status_code == 401
    assert sent == []
    answered = asyncio.run(post("sk-test-key"))
    assert answered.status_code == 200
    (choice,) = answered.json()["choices"]
    assert choice["message"]["tool_calls"][0]["function"]["name"] == "read_file"
    assert choice["finish_reason"] == "tool_calls"
    assert sent[0]["tools"] == [READ]


QUOTED: dict[str, Any] = {
    "error": {
        "message": "Failed to call a function.",
        "type": "invalid_request_error",
        "code": "tool_use_failed",
        "failed_generation": '<function=read_file>{"path": "/"}</function>',
    }
}


@pytest.mark.parametrize(("status", "answer"), [(400, QUOTED), (200, response(OTHER))])
@pytest.mark.parametrize("by", ["app", "transport"])
def test_row_80_where_the_client_asked_for_a_stream(by: str, status: int, answer: Any) -> None:
    """A whole answer to who reads events would be an empty one."""
    httpx = pytest.importorskip("httpx")
    backend = httpx.MockTransport(lambda _: httpx.Response(status, json=answer))

    async def post() -> Any:
        if by == "app":
            pytest.importorskip("fastapi")
            app = router.create_app("http://backend/v1", client=httpx.AsyncClient(transport=backend))
            transport: Any = httpx.ASGITransport(app=app)
        else:
            transport = toolglot.AsyncTransport(backend)
        async with httpx.AsyncClient(transport=transport, base_url="http://router") as client:
            return await client.post("/v1/chat/completions", json=request(stream=True))

    answered = asyncio.run(post())
    assert (answered.status_code, answered.headers["content-type"].split(";")[0]) == (200, "text/event-stream")
    chunks = [json.loads(line[6:]) for line in answered.text.split("\n") if line.startswith("data: {")]
    calls, finish = told(chunks)
    assert (calls[0][1], json.loads(calls[0][2]), finish) == ("read_file", {"path": "/"}, "tool_calls")
