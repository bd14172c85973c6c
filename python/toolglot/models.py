"""Pydantic models of a Chat Completions request, for a router's own endpoint. Needs pydantic, which FastAPI brings.

Fields that they do not know pass through, whatever a client sends; what no backend could answer is refused by
:func:`toolglot.router.validate_request`, in OpenAI's words. All functions of :mod:`toolglot.router` take them.

    @app.post("/v1/chat/completions")
    async def chat_completions(request: ChatCompletionRequest):
        payload = transform_request(request, mode="text")

>>> from toolglot.models import ChatCompletionRequest
>>> request = ChatCompletionRequest(model="m", messages=[{"role": "user", "content": "Hi"}], top_k=5)
>>> request.stream, request.messages[0].content
(False, 'Hi')
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

__all__ = ["ChatCompletionRequest", "ChatMessage", "Tool"]


# The package's types are checked without pydantic as well.
class ChatMessage(BaseModel):  # type: ignore[misc, unused-ignore]
    """A message of any role."""

    model_config = ConfigDict(extra="allow")

    role: str
    content: str | list[dict[str, Any]] | None = None
    """Text, or parts: clients that send images (Cline) send text in parts too."""
    tool_calls: list[dict[str, Any]] | None = None
    tool_call_id: str | None = None
    name: str | None = None


class Tool(BaseModel):  # type: ignore[misc, unused-ignore]
    """A tool that the client offers."""

    model_config = ConfigDict(extra="allow")

    type: str = "function"
    function: dict[str, Any]


class ChatCompletionRequest(BaseModel):  # type: ignore[misc, unused-ignore]
    """A request for Chat Completions."""

    model_config = ConfigDict(extra="allow")

    model: str
    messages: list[ChatMessage]
    stream: bool = False
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    stop: str | list[str] | None = None
    tools: list[Tool] | None = None
    tool_choice: str | dict[str, Any] | None = None
    parallel_tool_calls: bool | None = None
    stream_options: dict[str, Any] | None = None
