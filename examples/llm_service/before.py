"""A service that reads calls out of the model's text with regular expressions, as many have written it."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable
from typing import Any

import openai

TAG = re.compile(r"<tool_call>(.*?)</tool_call>", re.DOTALL)
FENCE = re.compile(r"```(?:json|tool_call)?\s*(\{.*?\})\s*```", re.DOTALL)
BARE = re.compile(r'\{\s*"name"\s*:\s*"[^"]+".*\}', re.DOTALL)
NAME = re.compile(r'"name"\s*:\s*"([^"]+)"')
ARGUMENT = re.compile(r'"(\w+)"\s*:\s*"([^"]*)"')
ELEMENT = re.compile(r"<(terminal|read|edit)>(.*?)</\1>", re.DOTALL)
NUMBER = re.compile(r"-?\d+(\.\d+)?")


class ToolExecutionResult:
    def __init__(self, tool_id: str, success: bool, output: Any = None, error: str = "") -> None:
        self.tool_id = tool_id
        self.success = success
        self.output = output
        self.error = error


class ResponseParser:
    def get_all_tools(self, text: str) -> list[dict[str, Any]]:
        tools: list[dict[str, Any]] = []
        for body in TAG.findall(text):
            tools.append(self._call(body, len(tools)))
        if not tools:
            for body in FENCE.findall(text):
                if '"name"' in body:
                    tools.append(self._call(body, len(tools)))
        if not tools:
            found = BARE.search(text)
            if found:
                tools.append(self._call(found.group(), len(tools)))
        for kind, body in ELEMENT.findall(text):
            arguments = {"command": html.unescape(body.strip())}
            tools.append({"type": kind, "id": f"{kind}_{len(tools)}", "name": kind, "arguments": arguments})
        return tools

    def _call(self, body: str, index: int) -> dict[str, Any]:
        body = self._clean(body)
        try:
            parsed = json.loads(body)
            name = parsed.get("name", "")
            arguments = parsed.get("arguments") or parsed.get("parameters") or {}
            if isinstance(arguments, str):
                arguments = json.loads(arguments)
        except json.JSONDecodeError:
            found = NAME.search(body)
            name = found.group(1) if found else body.strip().split("\n")[0]
            arguments = {key: value for key, value in ARGUMENT.findall(body) if key != "name"}
        arguments = {key: self._typed(value) for key, value in arguments.items()}
        return {"type": "mcp_tool", "id": f"mcp_tool_{index}", "name": name, "arguments": arguments}

    def _clean(self, body: str) -> str:
        body = re.sub(r"//[^\n]*|/\*.*?\*/", "", body, flags=re.DOTALL)
        body = re.sub(r",\s*([}\]])", r"\1", body)
        return body.replace("True", "true").replace("False", "false").replace("None", "null")

    def _typed(self, value: Any) -> Any:
        if isinstance(value, str) and NUMBER.fullmatch(value):
            return float(value) if "." in value else int(value)
        return value

    def get_content(self, text: str) -> str:
        for pattern in (TAG, FENCE, ELEMENT):
            text = pattern.sub("", text)
        return text.strip()


class LLMService:
    def __init__(self, base_url: str, model: str, registry: dict[str, Any], execute: Callable[..., Any]) -> None:
        self.api = openai.AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0)
        self.model = model
        self.registry = registry
        self.execute = execute
        self.parser = ResponseParser()
        self.conversation_history: list[dict[str, Any]] = []
        self.shown = ""

    def _tools_prompt(self) -> str:
        lines = [f"- {name}: {json.dumps(entry['definition'])}" for name, entry in self.registry.items()]
        form = '<tool_call>{"name": "NAME", "arguments": {}}</tool_call>'
        return "Tools:\n" + "\n".join(lines) + f"\nTo call one, write {form}"

    async def _call_llm(self) -> str:
        prompt = {"role": "system", "content": self._tools_prompt()}
        messages: Any = [prompt, *self.conversation_history]
        text = ""
        async with await self.api.chat.completions.create(model=self.model, messages=messages, stream=True) as stream:
            async for chunk in stream:
                piece = chunk.choices[0].delta.content or ""
                text += piece
                self._handle_streaming_chunk(piece)
        return text

    def _handle_streaming_chunk(self, piece: str) -> None:
        self.shown += piece

    async def _execute_tools(self, tools: list[dict[str, Any]]) -> list[ToolExecutionResult]:
        results = []
        for tool in tools:
            try:
                output = await self.execute(tool["name"], tool["arguments"])
                results.append(ToolExecutionResult(tool["id"], True, output))
            except Exception as error:
                results.append(ToolExecutionResult(tool["id"], False, error=str(error)))
        return results

    def _format_result(self, result: ToolExecutionResult) -> str:
        return f"[tool] {result.output}" if result.success else f"[tool] ERROR: {result.error}"

    async def process(self, question: str, max_rounds: int = 30) -> str:
        self.conversation_history.append({"role": "user", "content": question})
        content = ""
        for _ in range(max_rounds):
            response = await self._call_llm()
            self.conversation_history.append({"role": "assistant", "content": response})
            tools = self.parser.get_all_tools(response)
            content = self.parser.get_content(response)
            if not tools:
                break
            results = await self._execute_tools(tools)
            text = "\n".join(self._format_result(result) for result in results)
            self.conversation_history.append({"role": "user", "content": f"Tool result: {text}"})
        return content
