"""The document "Native Tool Calling Integration Spec": its interface, as services of its shape are written, run over ToolCalling.

A row of a test's name is a line of what that document asks for, in its order.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest

import toolglot
from toolglot import compat
from toolglot.mcp import McpTools
from toolglot.service import ToolCalling, ToolOutcome

PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
REGISTRY: dict[str, dict[str, Any]] = {
    "read_file": {"server": "fs", "enabled": True, "definition": {"description": "Read a file", "parameters": PATH}},
    "bare": {"server": "fs", "enabled": True, "definition": {}},
    "from_mcp": {"server": "web", "enabled": True, "definition": {"description": "Fetch", "inputSchema": PATH}},
    "off": {"server": "fs", "enabled": False, "definition": {"description": "Not today"}},
}


class McpIntegration:
    """Step 1: the registry of MCP tools, and its export."""

    def __init__(self) -> None:
        self.tool_registry = REGISTRY
        self.called: list[Any] = []

    def list_available_tools(self) -> list[dict[str, Any]]:
        return [{"name": name, **entry} for name, entry in self.tool_registry.items()]

    def get_tool_definitions_for_api(self) -> list[dict[str, Any]]:
        return compat.get_tool_definitions_for_api(self.tool_registry)

    async def call_mcp_tool(self, tool_name: str, arguments: dict[str, Any]) -> str:
        self.called.append((tool_name, arguments))
        if arguments["path"] == "/missing":
            raise FileNotFoundError("there is no /missing")
        return f"the text of {arguments['path']}"


@dataclass
class ToolExecutionResult:
    tool_id: str
    success: bool
    output: str = ""
    error: str = ""


class ToolExecutor:
    """The service's own executor of calls, which takes a dict and catches what a tool raises."""

    def __init__(self, mcp: McpIntegration) -> None:
        self.mcp = mcp
        self.seen: list[dict[str, Any]] = []

    async def execute_tool(self, tool_data: dict[str, Any]) -> ToolExecutionResult:
        self.seen.append(tool_data)
        try:
            output = await self.mcp.call_mcp_tool(tool_data["name"], tool_data["arguments"])
        except OSError as error:
            return ToolExecutionResult(tool_data["id"], False, error=str(error))
        return ToolExecutionResult(tool_data["id"], True, output)


class ApiService(ToolCalling):
    """The document's ``api_service``: sends a request, keeps what came back."""

    def __init__(self, answers: list[Any], provider: str = "openai", mode: Any = "native") -> None:
        self.use_tools(REGISTRY, provider=provider, mode=mode)
        self.answers = iter(answers)
        self.requests: list[dict[str, Any]] = []

    async def call_llm(self, conversation_history: list[Any], tools: list[Any] | None = None) -> str:
        self.requests.append({"messages": list(conversation_history), "tools": tools})
        turn: toolglot.Turn = self.observe(next(self.answers))
        return turn.content


@dataclass
class LLMService:
    """Steps 2 to 4, as they are in the document."""

    api_service: ApiService
    mcp_integration: McpIntegration
    tool_executor: ToolExecutor
    conversation_history: list[Any] = field(default_factory=list)
    native_tools: list[dict[str, Any]] | None = None
    turn_completed: bool = True

    async def _load_native_tools(self) -> None:
        if self.mcp_integration:
            self.native_tools = self.mcp_integration.get_tool_definitions_for_api()

    def _add_conversation_message(self, message: Any) -> None:
        self.conversation_history.append(message)

    async def _call_llm(self) -> str:
        return await self.api_service.call_llm(self.conversation_history, tools=self.native_tools)

    async def _process_message_batch(self) -> str:
        self.turn_completed = True
        response = await self._call_llm()
        if self.api_service.has_pending_tool_calls():
            turn = self.api_service.last_turn
            assert turn is not None
            self._add_conversation_message(turn.to_message(self.api_service._settings.provider))
            native_results = await self._execute_native_tool_calls()
            for result in native_results:
                msg = self.api_service.format_tool_result(
                    result.tool_id,
                    result.output if result.success else result.error,
                    is_error=not result.success,
                )
                self._add_conversation_message(msg)
            self.turn_completed = False
        return response

    async def _execute_native_tool_calls(self) -> list[ToolExecutionResult]:
        results = []
        for tc in self.api_service.get_last_tool_calls():
            tool_data = {"type": "mcp_tool", "id": tc.tool_id, "name": tc.tool_name, "arguments": tc.arguments}
            result = await self.tool_executor.execute_tool(tool_data)
            results.append(result)
        return results


def function_call(id: str, **arguments: Any) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": "read_file", "arguments": json.dumps(arguments)}}


def openai(*calls: Any, content: str | None = None) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, **({"tool_calls": list(calls)} if calls else {})}
    finish = "tool_calls" if calls else "stop"
    return {"choices": [{"index": 0, "message": message, "finish_reason": finish}]}


def anthropic(*calls: Any, text: str = "", stop: str = "tool_use") -> dict[str, Any]:
    content = [{"type": "text", "text": text}] if text else []
    return {"type": "message", "role": "assistant", "content": [*content, *calls], "stop_reason": stop}


USE = {"type": "tool_use", "id": "toolu_1", "name": "read_file", "input": {"path": "/etc/hosts"}}
IN_TEXT = '<tool_call>{"name": "read_file", "arguments": {"path": "/etc/hosts"}}</tool_call>'


def service(answers: list[Any], **options: Any) -> LLMService:
    mcp = McpIntegration()
    made = LLMService(ApiService(answers, **options), mcp, ToolExecutor(mcp))
    asyncio.run(made._load_native_tools())
    return made


def test_row_1_a_registry_without_what_is_disabled() -> None:
    assert [tool.name for tool in ToolCalling(REGISTRY).tool_set] == ["read_file", "bare", "from_mcp"]


def test_row_2_a_list_of_available_tools() -> None:
    tools = toolglot.ToolSet(McpIntegration().list_available_tools())
    assert [(tool.name, tool.server) for tool in tools] == [("read_file", "fs"), ("bare", "fs"), ("from_mcp", "web")]


def test_row_3_the_generic_format_for_both_adapters() -> None:
    tools = toolglot.ToolSet(compat.get_tool_definitions_for_api(REGISTRY))
    assert tools.to_openai()[0]["function"]["name"] == "read_file"
    assert tools.to_anthropic()[0] == {"name": "read_file", "description": "Read a file", "input_schema": PATH}


def test_row_4_definitions_for_the_api() -> None:
    assert McpIntegration().get_tool_definitions_for_api() == [
        {"name": "read_file", "description": "Read a file", "parameters": PATH},
        {
            "name": "bare",
            "description": "MCP tool: bare",
            "parameters": {"type": "object", "properties": {}, "required": []},
        },
        {"name": "from_mcp", "description": "Fetch", "parameters": PATH},
    ]


def test_row_5_tools_in_the_request_and_none_without_any() -> None:
    made = service([openai(content="Hello.")])
    asyncio.run(made._process_message_batch())
    assert made.api_service.requests[0]["tools"] == made.native_tools
    assert ToolCalling().get_tool_definitions_for_api() is None
    assert ToolCalling(REGISTRY, mode="text").get_tool_definitions_for_api() is None


async def in_task(work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    return await asyncio.create_task(work())


async def gathered(work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    return (await asyncio.gather(work(), asyncio.sleep(0)))[0]


async def timed(work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    return await asyncio.wait_for(work(), 60)


async def threaded(work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    return await asyncio.to_thread(lambda: asyncio.run(work()))


async def pooled(work: Callable[[], Coroutine[Any, Any, Any]]) -> Any:
    with ThreadPoolExecutor(1) as pool:
        return await asyncio.get_running_loop().run_in_executor(pool, lambda: asyncio.run(work()))


@pytest.mark.parametrize("way", [in_task, gathered, timed, threaded, pooled])
def test_row_6_pending_calls_wherever_the_model_was_called(way: Any) -> None:
    made = service([openai(function_call("call_1", path="/etc/hosts"))])

    async def run() -> bool:
        await way(made._call_llm)
        return made.api_service.has_pending_tool_calls()

    assert asyncio.run(run())


def test_row_7_calls_by_the_names_of_the_document() -> None:
    api = ApiService([])
    api.observe(openai(function_call("call_1", path="/etc/hosts")))
    (tc,) = api.get_last_tool_calls()
    assert (tc.tool_id, tc.tool_name, tc.arguments) == ("call_1", "read_file", {"path": "/etc/hosts"})
    assert (tc.tool_id, tc.tool_name) == (tc.id, tc.name)


@pytest.mark.parametrize(
    ("provider", "answer", "word"),
    [
        ("anthropic", anthropic(USE), "tool_use"),
        ("claude", anthropic(text=IN_TEXT, stop="end_turn"), "tool_use"),
        ("anthropic", anthropic(text="Hello.", stop="end_turn"), "end_turn"),
        ("anthropic", anthropic(text="Hel", stop="max_tokens"), "max_tokens"),
        ("openai", openai(function_call("call_1", path="/")), "tool_calls"),
        ("openai", openai(content="Hello."), "stop"),
        (
            "bedrock",
            {"output": {"message": {"role": "assistant", "content": [{"text": "Hi."}]}}, "stopReason": "end_turn"},
            "end_turn",
        ),
        (
            "gemini",
            {"candidates": [{"content": {"role": "model", "parts": [{"text": "Hi."}]}, "finishReason": "STOP"}]},
            "STOP",
        ),
    ],
)
def test_row_8_the_stop_reason_in_the_providers_word(provider: str, answer: Any, word: str) -> None:
    api = ApiService([], provider=provider)
    assert api.last_stop_reason is None
    api.observe(answer)
    assert api.last_stop_reason == word


def test_row_9_one_result() -> None:
    api = ApiService([])
    api.observe(openai(function_call("call_1", path="/etc/hosts")))
    result = {"role": "tool", "tool_call_id": "call_1", "content": "the text"}
    assert api.format_tool_result("call_1", "the text", is_error=False) == result
    assert "no file" in api.format_tool_result("call_1", "no file", is_error=True)["content"]


def test_row_10_the_tools_own_executor() -> None:
    """The dict of Step 4, and an executor of the service given to the mixin: what failed there has failed here."""
    mcp = McpIntegration()
    executor = ToolExecutor(mcp)
    api = ApiService([])
    api.observe(openai(function_call("call_1", path="/etc/hosts"), function_call("call_2", path="/missing")))
    outcomes = asyncio.run(
        api.execute_native_tool_calls(lambda call: executor.execute_tool(compat.mcp_tool_data(call)))
    )
    assert executor.seen[0] == {
        "type": "mcp_tool",
        "id": "call_1",
        "name": "read_file",
        "arguments": {"path": "/etc/hosts"},
    }
    assert [(outcome.success, outcome.output or outcome.error) for outcome in outcomes] == [
        (True, "the text of /etc/hosts"),
        (False, "there is no /missing"),
    ]
    _, first, second = api.conversation_messages()
    assert first["content"] == "the text of /etc/hosts"
    assert second["content"] == "Error: there is no /missing"


def test_row_11_outcomes_have_the_four_attributes() -> None:
    outcome = ToolOutcome(toolglot.ToolCall("read_file", {}, id="call_1"), False, error="no file")
    assert (outcome.tool_id, outcome.success, outcome.output, outcome.error) == ("call_1", False, None, "no file")


class Session:
    async def list_tools(self) -> Any:
        return type("Page", (), {"tools": [{"name": "read_file", "inputSchema": PATH}]})()

    async def call_tool(self, name: str, arguments: Any = None) -> Any:
        return {"content": [{"type": "text", "text": f"{name} {arguments['path']}"}], "isError": False}


def test_row_12_calls_of_live_mcp_tools() -> None:
    async def run() -> list[Any]:
        servers = await McpTools.connect({"fs": Session()})
        api = ToolCalling(servers.tools)
        api.observe(openai(function_call("call_1", path="/etc/hosts")))
        await api.execute_native_tool_calls(servers.call)
        return api.conversation_messages()

    assert asyncio.run(run())[1]["content"] == "read_file /etc/hosts"


def test_row_13_the_turn_goes_on_after_results() -> None:
    """Steps 3 and 4 of the document as they are; the loop is the service's own (`toolglot.run_tools` is one)."""
    made = service([openai(function_call("call_1", path="/etc/hosts")), openai(content="Two hosts.")])
    made._add_conversation_message({"role": "user", "content": "Which hosts?"})
    assert asyncio.run(made._process_message_batch()) == ""
    assert made.turn_completed is False
    assert asyncio.run(made._process_message_batch()) == "Two hosts."
    assert made.turn_completed is True
    assert made.mcp_integration.called == [("read_file", {"path": "/etc/hosts"})]
    assert made.api_service.requests[1]["messages"][-1]["content"] == "the text of /etc/hosts"
    assert not toolglot.check_history(made.conversation_history, "openai")


def test_row_14_streamed_with_tools() -> None:
    call = {"index": 0, **function_call("call_1", path="/etc/hosts")}
    deltas: list[dict[str, Any]] = [{"content": "Let "}, {"content": "me see."}, {"tool_calls": [call]}]

    async def chunks() -> AsyncIterator[Any]:
        for delta in deltas:
            yield {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        yield {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}

    async def run() -> tuple[list[Any], bool]:
        api = ApiService([])
        shown = [event.text async for event in api.observe(chunks()) if event.kind == "text"]
        return shown, api.has_pending_tool_calls()

    assert asyncio.run(run()) == (["Let ", "me see."], True)


def test_row_15_calls_in_text_and_native_ones_but_none_twice() -> None:
    api = ApiService([])
    api.observe(IN_TEXT)
    assert len(api.get_last_tool_calls()) == 1
    api.observe(openai(function_call("call_1", path="/etc/hosts"), content=IN_TEXT))
    assert [call.id for call in api.get_last_tool_calls()] == ["call_1"]


def test_row_16_results_in_text_are_a_users_message() -> None:
    made = service([IN_TEXT, "Two hosts."], mode="text")
    api = made.api_service

    async def run() -> list[Any]:
        await made._call_llm()
        await api.execute_native_tool_calls(lambda call: made.mcp_integration.call_mcp_tool(call.name, call.arguments))
        return api.conversation_messages()

    assistant, user = asyncio.run(run())
    assert (assistant["role"], user["role"]) == ("assistant", "user")
    assert "the text of /etc/hosts" in user["content"]


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_row_17_the_five_steps(provider: str) -> None:
    """Tools in the payload, a call in the answer, the tool runs, its result goes back, the model goes on with it."""
    answers = {
        "openai": [openai(function_call("call_1", path="/etc/hosts")), openai(content="Two hosts.")],
        "anthropic": [anthropic(USE), anthropic(text="Two hosts.", stop="end_turn")],
    }[provider]
    made = service(answers, provider=provider)
    made.native_tools = made.api_service.get_tool_definitions_for_api()
    made._add_conversation_message({"role": "user", "content": "Which hosts?"})
    asyncio.run(made._process_message_batch())
    assert asyncio.run(made._process_message_batch()) == "Two hosts."
    first, second = made.api_service.requests
    assert "read_file" in json.dumps(first["tools"])
    assert made.mcp_integration.called == [("read_file", {"path": "/etc/hosts"})]
    assert "the text of /etc/hosts" in json.dumps(second["messages"][-1])
    assert not toolglot.check_history(second["messages"], provider)
