"""Agent frameworks in front of a model that knows no tools and writes its calls as text: over the transport, or over an
application on loopback where they take no client of their own."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import json
from collections.abc import Iterator
from typing import Any

import pytest

import toolglot
from loopback import served
from toolglot.router import create_app

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


@contextlib.contextmanager
def application() -> Iterator[str]:
    """The address of an application in front of the model."""
    httpx = importlib.import_module("httpx")
    client = httpx.AsyncClient(transport=model(httpx))
    with served(create_app("http://model/v1", client=client, mode="text", dialect="hermes")) as url:
        yield url


def langchain_model(api: str, url: str) -> Any:
    if api == "anthropic":
        module = pytest.importorskip("langchain_anthropic")
        return module.ChatAnthropic(model="m", anthropic_api_url=url, anthropic_api_key="-", max_tokens=99)
    module = pytest.importorskip("langchain_openai")
    return module.ChatOpenAI(base_url=f"{url}/v1", api_key="-", model="m", use_responses_api=api == "responses")


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("api", ["chat", "responses", "anthropic"])
def test_langchain(api: str, streamed: bool) -> None:
    weather = Weather()

    def get_weather(city: str, days: int) -> str:
        """Tell the weather."""
        return weather.get(city, days)

    with application() as url:
        bound = langchain_model(api, url).bind_tools([get_weather])

        def ask(messages: list[Any]) -> Any:
            if not streamed:
                return bound.invoke(messages)
            whole = None
            for piece in bound.stream(messages):
                whole = piece if whole is None else whole + piece
            return whole

        said = ask([("user", "Weather in Oslo?")])
        (call,) = said.tool_calls
        assert (call["name"], call["args"]) == ("get_weather", {"city": "Oslo", "days": 2})
        result = {"role": "tool", "tool_call_id": call["id"], "content": get_weather(**call["args"])}
        last = ask([("user", "Weather in Oslo?"), said, result])
    text = last.content if isinstance(last.content, str) else "".join(block.get("text", "") for block in last.content)
    assert text == "It will rain."
    assert not last.tool_calls


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "stream"])
def test_llm(streamed: bool) -> None:
    models = pytest.importorskip("llm.default_plugins.openai_models")
    weather = Weather()

    def get_weather(city: str, days: int) -> str:
        """Tell the weather."""
        return weather.get(city, days)

    with application() as url:
        used = models.Chat("m", model_name="m", api_base=f"{url}/v1", supports_tools=True)
        used.key = "-"
        answers = used.chain("Weather in Oslo?", tools=[get_weather], stream=streamed)
        assert answers.text() == "It will rain."
    assert weather.calls == [("Oslo", 2)]


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "stream"])
def test_the_tool_runner_of_anthropic(streamed: bool) -> None:
    """It keeps the conversation at the server if that lets it: here it is refused, and sends all of it."""
    anthropic = pytest.importorskip("anthropic")
    weather = Weather()

    @anthropic.beta_tool
    def get_weather(city: str, days: int) -> str:
        """Tell the weather."""
        return weather.get(city, days)

    messages: Any = [{"role": "user", "content": "Weather in Oslo?"}]
    with application() as url:
        beta = anthropic.Anthropic(base_url=url, api_key="-").beta.messages
        runner = beta.tool_runner(model="m", max_tokens=99, tools=[get_weather], messages=messages, stream=streamed)
        if streamed:
            last: Any = [events.get_final_message() for events in runner][-1]
        else:
            last = runner.until_done()
    assert "".join(block.text for block in last.content if block.type == "text") == "It will rain."
    assert weather.calls == [("Oslo", 2)]
