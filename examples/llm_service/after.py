"""The same service with toolglot: native calls where the model makes them, calls in text where it does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import openai

from toolglot import ToolCall
from toolglot.service import ToolCalling


class LLMService(ToolCalling):
    def __init__(
        self,
        base_url: str,
        model: str,
        registry: Any,
        execute: Callable[[ToolCall], Any],
        *,
        mode: Literal["native", "text", "auto"] = "auto",
        streaming: bool = True,
    ) -> None:
        self.use_tools(registry, mode=mode, model=model, base_url=base_url)
        self.api = openai.AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0)
        self.model = model
        self.execute = execute
        self.streaming = streaming
        self.conversation_history: list[dict[str, Any]] = []
        self.shown = ""

    async def _call_llm(self) -> str:
        try:
            return await self._ask()
        except openai.APIStatusError as error:
            # The server takes no tools: from here on they stand in the prompt.
            if not self.refused(error):
                raise
            return await self._ask()

    async def _ask(self) -> str:
        request: dict[str, Any] = {"model": self.model, "messages": self.with_tool_prompt(self.conversation_history)}
        tools = self.get_tool_definitions_for_api()
        if tools:
            request["tools"] = tools
        if not self.streaming:
            return self.observe(await self.api.chat.completions.create(**request)).content
        async for event in self.observe(await self.api.chat.completions.create(**request, stream=True)):
            if event.kind == "text":
                self._handle_streaming_chunk(event.text or "")
        return self.last_turn.content if self.last_turn is not None else ""

    def _handle_streaming_chunk(self, piece: str) -> None:
        self.shown += piece

    async def process(self, question: str, max_rounds: int = 30) -> str:
        self.conversation_history.append({"role": "user", "content": question})
        content = ""
        for _ in range(max_rounds):
            content = await self._call_llm()
            pending = self.has_pending_tool_calls()
            if pending:
                await self.execute_native_tool_calls(self.execute)
            self.conversation_history += self.conversation_messages()
            if not pending:
                break
        return content
