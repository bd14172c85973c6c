"""The fleet through LiteLLM, pydantic-ai and LangChain: each as its documentation asks for a call, and once more set up by hand for a server
that keeps to schemas, which somebody has to know of the server.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import litellm
from langchain.agents import create_agent
from langchain_openai import ChatOpenAI
from pydantic import BaseModel, ConfigDict
from pydantic_ai import Agent, NativeOutput
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.openai import OpenAIProvider

from fleet import PARAMETERS, QUESTION, TOOL, Ask, fits

litellm.suppress_debug_info = True
litellm.drop_params = True
Library = Any
MESSAGES = [{"role": "user", "content": QUESTION}]


class Weather(BaseModel):
    """The weather in a city."""

    model_config = ConfigDict(extra="forbid", strict=True)
    city: str
    days: int = 1


def get_weather(city: str, days: int = 1) -> str:
    """The weather in a city."""
    return f"{city}: 18 degrees"


def _tried(ask: Callable[[], bool]) -> tuple[Ask, Callable[[], int]]:
    def tried() -> bool:
        try:
            return ask()
        except Exception:
            return False

    # None of them goes on in another mode or with another model by itself.
    return tried, lambda: 0


@contextmanager
def _litellm(model: str, url: str) -> Iterator[Any]:
    where = {"model": f"openai/{model}", "api_base": url, "api_key": "-"}
    tools = [{"type": "function", "function": TOOL}]

    def ask() -> bool:
        answer = litellm.completion(messages=MESSAGES, tools=tools, tool_choice="required", **where)
        calls = answer.choices[0].message.tool_calls or []
        return any(fits(json.loads(call.function.arguments)) for call in calls)

    yield _tried(ask)


@contextmanager
def _litellm_schema(model: str, url: str) -> Iterator[Any]:
    where = {"model": f"openai/{model}", "api_base": url, "api_key": "-"}
    schema = {"type": "json_schema", "json_schema": {"name": "weather", "schema": PARAMETERS}}

    def ask() -> bool:
        answer = litellm.completion(messages=MESSAGES, response_format=schema, **where)
        return fits(json.loads(answer.choices[0].message.content))

    yield _tried(ask)


def _pydantic_ai(by_schema: bool) -> Library:
    @contextmanager
    def library(model: str, url: str) -> Iterator[Any]:
        profile = OpenAIModelProfile(supports_json_schema_output=True)
        made = OpenAIChatModel(model, provider=OpenAIProvider(base_url=url, api_key="-"), profile=profile)
        agent: Any = Agent(made, output_type=NativeOutput(Weather) if by_schema else Weather)
        yield _tried(lambda: fits(agent.run_sync(QUESTION).output.model_dump()))

    return library


def _langchain(by_schema: bool) -> Library:
    @contextmanager
    def library(model: str, url: str) -> Iterator[Any]:
        chat = ChatOpenAI(model=model, base_url=url, api_key="-")
        if by_schema:
            shaped = chat.with_structured_output(Weather, method="json_schema")
            yield _tried(lambda: fits(shaped.invoke(QUESTION).model_dump()))
            return
        agent = create_agent(chat, [get_weather])

        def ask() -> bool:
            told = agent.invoke({"messages": MESSAGES})["messages"]
            return any(message.type == "tool" and "degrees" in message.content for message in told)

        yield _tried(ask)

    return library


LIBRARIES: dict[str, Library] = {
    "pydantic-ai": _pydantic_ai(False),
    "LangChain": _langchain(False),
    "LiteLLM": _litellm,
    "pydantic-ai, by hand": _pydantic_ai(True),
    "LangChain, by hand": _langchain(True),
    "LiteLLM, by hand": _litellm_schema,
}
