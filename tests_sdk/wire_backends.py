"""Backends of every API, over the mocks of httpx and httpx2: a text, and a call of `ls` where there is to be a native one."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx


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


def responses(request: Any, text: str, calls: bool, module: Any) -> Any:
    items: list[Any] = []
    if text:
        part = {"type": "output_text", "annotations": [], "logprobs": [], "text": text}
        message = {"id": "msg_1", "type": "message", "status": "completed", "role": "assistant", "content": [part]}
        items.append(message)
    if calls:
        call = {"id": "fc_1", "type": "function_call", "status": "completed", "call_id": "call_1", "name": "ls"}
        items.append({**call, "arguments": '{"path": "/é"}'})
    usage = {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}
    usage |= {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    body = {"id": "resp_1", "object": "response", "created_at": 5, "model": "b", "error": None, "tools": []}
    body |= {"parallel_tool_calls": True, "tool_choice": "auto", "incomplete_details": None}
    done = {**body, "status": "completed", "output": items, "usage": usage}
    if not request.get("stream"):
        return module.Response(200, json=done)
    begun = {**body, "status": "in_progress", "output": [], "usage": None}
    events: list[Any] = [{"type": "response.created", "response": begun}]
    for at, item in enumerate(items):
        place = {"output_index": at, "item_id": item["id"]}
        open_item = {**item, "status": "in_progress"}
        if item["type"] == "message":
            events.append({"type": "response.output_item.added", **place, "item": {**open_item, "content": []}})
            inside = {**place, "content_index": 0}
            events.append({"type": "response.content_part.added", **inside, "part": {**item["content"][0], "text": ""}})
            for piece in pieces(text):
                events.append({"type": "response.output_text.delta", **inside, "delta": piece, "logprobs": []})
            events.append({"type": "response.output_text.done", **inside, "text": text, "logprobs": []})
            events.append({"type": "response.content_part.done", **inside, "part": item["content"][0]})
        else:
            events.append({"type": "response.output_item.added", **place, "item": {**open_item, "arguments": ""}})
            for piece in pieces(item["arguments"]):
                events.append({"type": "response.function_call_arguments.delta", **place, "delta": piece})
            whole = {"name": item["name"], "arguments": item["arguments"]}
            events.append({"type": "response.function_call_arguments.done", **place, **whole})
        events.append({"type": "response.output_item.done", "output_index": at, "item": item})
    events.append({"type": "response.completed", "response": done})
    return stream(sse(*({**event, "sequence_number": number} for number, event in enumerate(events))), module)


def messages(request: Any, text: str, calls: bool, module: Any) -> Any:
    blocks: list[Any] = [{"type": "text", "text": text}] if text else []
    if calls:
        blocks.append({"type": "tool_use", "id": "toolu_1", "name": "ls", "input": {"path": "/é"}})
    body = {"id": "msg_1", "type": "message", "role": "assistant", "model": "b", "stop_sequence": None}
    reason = "tool_use" if calls else "end_turn"
    usage = {"input_tokens": 7, "output_tokens": 3}
    if not request.get("stream"):
        return module.Response(200, json={**body, "content": blocks, "stop_reason": reason, "usage": usage})
    begun = {**body, "content": [], "stop_reason": None, "usage": {"input_tokens": 7, "output_tokens": 1}}
    events: list[Any] = [{"type": "message_start", "message": begun}, {"type": "ping"}]
    for at, block in enumerate(blocks):
        empty = {**block, "text": ""} if block["type"] == "text" else {**block, "input": {}}
        events.append({"type": "content_block_start", "index": at, "content_block": empty})
        written = block["text"] if block["type"] == "text" else json.dumps(block["input"], ensure_ascii=False)
        kind, key = ("text_delta", "text") if block["type"] == "text" else ("input_json_delta", "partial_json")
        for piece in pieces(written):
            events.append({"type": "content_block_delta", "index": at, "delta": {"type": kind, key: piece}})
        events.append({"type": "content_block_stop", "index": at})
    delta = {"stop_reason": reason, "stop_sequence": None}
    events += [{"type": "message_delta", "delta": delta, "usage": {"output_tokens": 3}}, {"type": "message_stop"}]
    return stream(sse(*events), module)


def stream(body: bytes, module: Any) -> Any:
    return module.Response(200, content=body, headers={"content-type": "text/event-stream"})


BACKENDS: dict[str, tuple[str, Callable[[Any, str, bool, Any], Any]]] = {
    "chat": ("/chat/completions", chat),
    "responses": ("/responses", responses),
    "anthropic": ("/messages", messages),
}


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
        end, made_by = BACKENDS[backend]
        assert path.endswith(end)
        return made_by(body, text, calls, module)

    return answer
