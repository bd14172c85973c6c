"""Agent frameworks over the transport, in front of a model that knows no tools and writes its calls as text."""

from __future__ import annotations

import asyncio
import importlib
import json
from typing import Any

import pytest

import toolglot

CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo", "days": "2"}}\n</tool_call>'


def model(module: Any) -> Any:
    """A Chat server: it calls in text until it has a result, then says what that was."""

    def answer(request: Any) -> Any:
        body = json.loads(request.content)
        assert request.url.path.endswith("/chat/completions")
        assert "tools" not in body
        said = json.dumps(body["messages"])
        text = "It will rain." if "rain in Oslo" in said else CALL
        head = {"id": "c", "created": 1, "model": "m"}
        if not body.get("stream"):
            choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            return module.Response(200, json={**head, "object": "chat.completion", "choices": [choice]})
        deltas: list[Any] = [({"content": text[at : at + 4]}, None) for at in range(0, len(text), 4)]
        events = b"".join(
            b"data: "
            + json.dumps(
                {
                    **head,
                    "object": "chat.completion.chunk",
                    "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
                }
            ).encode()
            + b"\n\n"
            for delta, finish in [*deltas, ({}, "stop")]
        )
        return module.Response(200, content=events, headers={"content-type": "text/event-stream"})

    return module.MockTransport(answer)


def transport(module: Any) -> Any:
    return toolglot.AsyncTransport(model(module), backend="chat", mode="text", dialect="hermes")


def openai_client() -> Any:
    openai = pytest.importorskip("openai")
    httpx = importlib.import_module("httpx")
    return openai.AsyncOpenAI(
        base_url="http://model/v1", api_key="-", http_client=httpx.AsyncClient(transport=transport(httpx))
    )


def anthropic_client() -> Any:
    anthropic = pytest.importorskip("anthropic")
    httpx2 = importlib.import_module("httpx2")
    return anthropic.AsyncAnthropic(
        base_url="http://model", api_key="-", http_client=httpx2.AsyncClient(transport=transport(httpx2))
    )


class Weather:
    """The tool, and the arguments that it was called with."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def get(self, city: str, days: int) -> str:
        self.calls.append((city, days))
        return f"rain in {city}"


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("api", ["chat", "responses", "anthropic"])
def test_pydantic_ai(api: str, streamed: bool) -> None:
    pydantic_ai = pytest.importorskip("pydantic_ai")
    if api == "anthropic":
        made = importlib.import_module("pydantic_ai.models.anthropic")
        provider = importlib.import_module("pydantic_ai.providers.anthropic")
        used = made.AnthropicModel("m", provider=provider.AnthropicProvider(anthropic_client=anthropic_client()))
    else:
        made = importlib.import_module("pydantic_ai.models.openai")
        provider = importlib.import_module("pydantic_ai.providers.openai")
        kind = made.OpenAIChatModel if api == "chat" else made.OpenAIResponsesModel
        used = kind("m", provider=provider.OpenAIProvider(openai_client=openai_client()))
    weather = Weather()

    def get_weather(city: str, days: int) -> str:
        """Tell the weather."""
        return weather.get(city, days)

    agent = pydantic_ai.Agent(used, tools=[get_weather])

    async def go() -> Any:
        if not streamed:
            return (await agent.run("Weather in Oslo?")).output
        async with agent.run_stream("Weather in Oslo?") as result:
            return await result.get_output()

    assert asyncio.run(go()) == "It will rain."
    assert weather.calls == [("Oslo", 2)]


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("api", ["chat", "responses"])
def test_openai_agents(api: str, streamed: bool) -> None:
    agents = pytest.importorskip("agents")
    agents.set_tracing_disabled(True)
    client = openai_client()
    kind = agents.OpenAIChatCompletionsModel if api == "chat" else agents.OpenAIResponsesModel
    weather = Weather()

    def get_weather(city: str, days: int) -> str:
        """Tell the weather."""
        return weather.get(city, days)

    tool = agents.function_tool(get_weather)
    agent = agents.Agent(name="a", model=kind(model="m", openai_client=client), tools=[tool])

    async def go() -> Any:
        if not streamed:
            return (await agents.Runner.run(agent, "Weather in Oslo?")).final_output
        result = agents.Runner.run_streamed(agent, "Weather in Oslo?")
        async for _ in result.stream_events():
            pass
        return result.final_output

    assert asyncio.run(go()) == "It will rain."
    assert weather.calls == [("Oslo", 2)]


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "stream"])
def test_langchain(streamed: bool) -> None:
    chat = pytest.importorskip("langchain_openai")
    httpx = importlib.import_module("httpx")
    client = httpx.AsyncClient(transport=transport(httpx))
    weather = Weather()

    def get_weather(city: str, days: int) -> str:
        """Tell the weather."""
        return weather.get(city, days)

    used = chat.ChatOpenAI(base_url="http://model/v1", api_key="-", model="m", http_async_client=client)
    bound = used.bind_tools([get_weather])

    async def go() -> Any:
        if not streamed:
            return await bound.ainvoke("Weather in Oslo?")
        whole = None
        async for piece in bound.astream("Weather in Oslo?"):
            whole = piece if whole is None else whole + piece
        return whole

    (call,) = asyncio.run(go()).tool_calls
    # In a stream, JSON that is whole and readable leaves as the model wrote it: the framework reads the types.
    assert (call["name"], call["args"]) == ("get_weather", {"city": "Oslo", "days": "2" if streamed else 2})
