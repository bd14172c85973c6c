"""A router in front of a local model, as many have written it: it buffers a stream to look for JSON in a fence."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from typing import Any

import httpx
from fastapi import FastAPI
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, ConfigDict

FENCE = re.compile(r"```json\s*(\{.*?\})\s*```", re.DOTALL)


class ChatRequest(BaseModel):
    model_config = ConfigDict(extra="allow")

    model: str
    messages: list[dict[str, Any]]
    stream: bool = False
    tools: list[dict[str, Any]] | None = None


def tools_prompt(tools: list[dict[str, Any]]) -> str:
    listed = "\n".join(json.dumps(tool["function"]) for tool in tools)
    form = '{"tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "NAME", "arguments": "{}"}}]}'
    return f"You can call these functions:\n{listed}\nTo call some, answer with:\n```json\n{form}\n```"


def find_calls(text: str) -> list[dict[str, Any]] | None:
    for candidate in [*FENCE.findall(text), text.strip()]:
        try:
            parsed = json.loads(candidate)
        except json.JSONDecodeError:
            continue
        if isinstance(parsed, dict) and "tool_calls" in parsed:
            return parsed["tool_calls"]
    return None


def create_app(backend: str) -> FastAPI:
    app = FastAPI()
    http = httpx.AsyncClient(timeout=30)

    @app.post("/v1/chat/completions")
    async def chat(request: ChatRequest) -> Any:
        payload = request.model_dump(exclude_unset=True)
        if request.tools:
            prompt = {"role": "system", "content": tools_prompt(request.tools)}
            payload["messages"] = [prompt, *payload["messages"]]
        url = f"{backend}/chat/completions"
        if request.stream:
            return StreamingResponse(stream(url, payload, request), media_type="text/event-stream")
        try:
            answer = (await http.post(url, json=payload)).json()
        except Exception as error:
            return JSONResponse({"error": str(error)}, status_code=500)
        choice = answer["choices"][0]
        calls = find_calls(choice["message"].get("content") or "") if request.tools else None
        if calls:
            choice["message"].update(tool_calls=calls, content=None)
            choice["finish_reason"] = "tool_calls"
        return answer

    async def stream(url: str, payload: dict[str, Any], request: ChatRequest) -> AsyncIterator[str]:
        pieces, text = [], ""
        try:
            async with http.stream("POST", url, json=payload) as answer:
                async for raw in answer.aiter_bytes():
                    piece = raw.decode()
                    pieces.append(piece)
                    try:
                        data = json.loads(piece[6:].strip())
                        text += data["choices"][0]["delta"].get("content", "")
                    except Exception:
                        pass
        except Exception as error:
            yield f"data: {json.dumps({'error': str(error)})}\n\n"
            return
        calls = find_calls(text) if request.tools else None
        for piece in pieces:
            if calls and '"finish_reason": "stop"' in piece:
                data = json.loads(piece[6:].split("\n\n")[0])
                data["choices"][0]["delta"]["tool_calls"] = calls
                data["choices"][0]["finish_reason"] = "tool_calls"
                piece = f"data: {json.dumps(data)}\n\n"
            yield piece

    return app
