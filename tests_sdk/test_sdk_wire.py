"""Every byte that a client gets, through the SDKs' own models and accumulators, over the transport."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import anthropic
import httpx
import httpx2
import openai
import pytest

import toolglot

CALL = '<tool_call>\n{"name": "ls", "arguments": {"path": "/é"}}\n</tool_call>'
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
EXPECTED = ("ls", {"path": "/é"})


def sse(*events: Any) -> bytes:
    out = b""
    for event in events:
        name = f"event: {event['type']}\n" if "type" in event else ""
        out += f"{name}data: {json.dumps(event)}\n\n".encode()
    return out


def pieces(text: str) -> Iterator[str]:
    return (text[at : at + 4] for at in range(0, len(text), 4))


def chat(request: Any, text: str, calls: bool, module: Any) -> Any:
    head = {"id": "c1", "created": 5, "model": "b"}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    call = {"id": "call_1", "type": "function", "function": {"name": "ls", "arguments": '{"path": "/é"}'}}
    finish = "tool_calls" if calls else "stop"
    if not request.get("stream"):
        message = {"role": "assistant", "content": text, **({"tool_calls": [call]} if calls else {})}
        choice = {"index": 0, "message": message, "finish_reason": finish}
        return module.Response(200, json={**head, "object": "chat.completion", "choices": [choice], "usage": usage})

    def chunk(delta: Any, finish: Any = None) -> Any:
        return {
            **head,
            "object": "chat.completion.chunk",
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        }

    events = [chunk({"role": "assistant", "content": ""}), chunk({"reasoning_content": "Hm."})]
    events += [chunk({"content": piece}) for piece in pieces(text)]
    if calls:
        events += [chunk({"tool_calls": [{"index": 0, **call, "function": {"name": "ls", "arguments": ""}}]})]
        arguments = call["function"]["arguments"]
        events += [chunk({"tool_calls": [{"index": 0, "function": {"arguments": p}}]}) for p in pieces(arguments)]
    events += [chunk({}, finish), {**head, "object": "chat.completion.chunk", "choices": [], "usage": usage}]
    return stream(sse(*events) + b"data: [DONE]\n\n", module)


def gemini(text: str, calls: bool) -> Any:
    parts: list[Any] = [{"text": text}] if text else []
    if calls:
        parts.append({"functionCall": {"name": "ls", "args": {"path": "/é"}}})
    usage = {"promptTokenCount": 7, "candidatesTokenCount": 3, "totalTokenCount": 10}
    candidate = {"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "b"}


def stream(body: bytes, module: Any) -> Any:
    return module.Response(200, content=body, headers={"content-type": "text/event-stream"})


def server(backend: str, text: str, calls: bool, module: Any = httpx) -> Callable[[Any], Any]:
    def answer(request: Any) -> Any:
        body = json.loads(request.content)
        path = request.url.path
        if backend == "gemini":
            assert "GenerateContent" in path or "generateContent" in path
            made = gemini(text, calls)
            if "streamGenerateContent" in path:
                return stream(sse(made), module)
            return module.Response(200, json=made)
        assert path.endswith("/chat/completions")
        return chat(body, text, calls, module)

    return answer


CASES = [("I look. " + CALL, False), ("I look.", True)]


@pytest.mark.parametrize(("text", "calls"), CASES, ids=["text", "native"])
@pytest.mark.parametrize("backend", ["chat", "gemini"])
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "stream"])
class TestEverySdk:
    def transport(self, backend: str, text: str, calls: bool, module: Any = httpx) -> Any:
        inner = module.MockTransport(server(backend, text, calls, module))
        return module.Client(transport=toolglot.Transport(inner, backend=backend))

    def test_chat(self, backend: str, text: str, calls: bool, streamed: bool) -> None:
        client = openai.OpenAI(
            base_url="http://model/v1", api_key="k", http_client=self.transport(backend, text, calls)
        )
        tools: Any = [{"type": "function", "function": {"name": "ls", "parameters": SCHEMA}}]
        options: Any = {"model": "m", "messages": [{"role": "user", "content": "?"}], "tools": tools}
        if streamed:
            with client.chat.completions.stream(**options, stream_options={"include_usage": True}) as events:
                for _ in events:
                    pass
                answer = events.get_final_completion()
        else:
            answer = client.chat.completions.create(**options)
        choice = answer.choices[0]
        (call,) = choice.message.tool_calls
        assert (call.function.name, json.loads(call.function.arguments)) == EXPECTED
        assert choice.finish_reason == "tool_calls"
        assert (choice.message.content or "").strip() == "I look."
        assert answer.usage.prompt_tokens == 7

    def test_responses(self, backend: str, text: str, calls: bool, streamed: bool) -> None:
        client = openai.OpenAI(
            base_url="http://model/v1", api_key="k", http_client=self.transport(backend, text, calls)
        )
        tools: Any = [{"type": "function", "name": "ls", "parameters": SCHEMA, "strict": False}]
        options: Any = {"model": "m", "input": "?", "tools": tools}
        if streamed:
            with client.responses.stream(**options) as events:
                for _ in events:
                    pass
                answer = events.get_final_response()
        else:
            answer = client.responses.create(**options)
        (call,) = [item for item in answer.output if item.type == "function_call"]
        assert (call.name, json.loads(call.arguments)) == EXPECTED
        assert answer.status == "completed"
        assert answer.output_text.strip() == "I look."
        assert answer.usage.input_tokens == 7

    def test_anthropic(self, backend: str, text: str, calls: bool, streamed: bool) -> None:
        # Its newer versions are built on httpx2, and refuse the clients of httpx.
        client = anthropic.Anthropic(
            base_url="http://model", api_key="k", http_client=self.transport(backend, text, calls, httpx2)
        )
        tools: Any = [{"name": "ls", "input_schema": SCHEMA}]
        options: Any = {"model": "m", "max_tokens": 99, "messages": [{"role": "user", "content": "?"}], "tools": tools}
        if streamed:
            with client.messages.stream(**options) as events:
                for _ in events:
                    pass
                answer = events.get_final_message()
        else:
            answer = client.messages.create(**options)
        (call,) = [block for block in answer.content if block.type == "tool_use"]
        assert (call.name, call.input) == EXPECTED
        assert answer.stop_reason == "tool_use"
        assert "".join(block.text for block in answer.content if block.type == "text").strip() == "I look."
        assert answer.usage.input_tokens == 7


def test_wrap_leaves_the_client_as_it_is() -> None:
    inner = httpx.Client(transport=httpx.MockTransport(server("chat", CALL, False)))
    client = openai.OpenAI(base_url="http://model/v1", api_key="k", http_client=inner)
    tools: Any = [{"type": "function", "function": {"name": "ls", "parameters": SCHEMA}}]
    options: Any = {"model": "m", "messages": [{"role": "user", "content": "?"}], "tools": tools}
    wrapped = toolglot.wrap(client)
    assert wrapped.chat.completions.create(**options).choices[0].message.tool_calls[0].function.name == "ls"
    assert client.chat.completions.create(**options).choices[0].message.tool_calls is None
    with pytest.raises(toolglot.BadOptionError):
        toolglot.wrap(5)


def test_a_refused_request_is_an_error_of_the_sdk() -> None:
    transport = toolglot.Transport(httpx.MockTransport(server("chat", "", False)))
    client = openai.OpenAI(base_url="http://model/v1", api_key="k", http_client=httpx.Client(transport=transport))
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model="m", messages=[{"role": "tool", "tool_call_id": "a", "content": "x"}])
    assert caught.value.code == "invalid_message_order"


def test_threads_are_refused_as_the_runner_understands() -> None:
    transport = toolglot.Transport(httpx2.MockTransport(server("chat", "Hi", False, httpx2)), backend="chat")
    client = anthropic.Anthropic(base_url="http://model", api_key="k", http_client=httpx2.Client(transport=transport))
    with pytest.raises(anthropic.BadRequestError) as caught:
        client.messages.create(
            model="m",
            max_tokens=9,
            messages=[{"role": "user", "content": "?"}],
            extra_body={"thread": {"type": "create"}},
        )
    assert caught.value.body["error"]["details"]["error_code"] == "thread_unsupported_request"
