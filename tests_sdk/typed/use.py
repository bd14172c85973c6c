"""What toolglot gives goes where the SDKs' types say what they take: for mypy --strict, not run."""

from __future__ import annotations

import anthropic
import anthropic.types
import openai
from google import genai
from openai.types.chat import ChatCompletionMessageParam

import toolglot

TOOLS = toolglot.ToolSet([{"name": "get_weather"}])


def chat(client: openai.OpenAI, messages: list[ChatCompletionMessageParam]) -> str:
    response = client.chat.completions.create(model="m", messages=messages, tools=TOOLS.to_openai())
    turn = toolglot.normalize(response, TOOLS)
    messages.append(turn.to_openai())
    messages.append(toolglot.assistant_message(turn))
    messages.append(toolglot.format_tool_result(turn.tool_calls[0], "18 degrees"))
    messages += toolglot.format_tool_results([(call, "18 degrees") for call in turn.tool_calls])
    return turn.content


def responses(client: openai.OpenAI) -> str:
    return toolglot.normalize(client.responses.create(model="m", input="Hi", tools=TOOLS.to_openai_responses())).content


def claude(client: anthropic.Anthropic, messages: list[anthropic.types.MessageParam]) -> str:
    response = client.messages.create(model="m", max_tokens=9, messages=messages, tools=TOOLS.to_anthropic())
    turn = toolglot.normalize(response, TOOLS)
    messages.append(turn.to_anthropic())
    messages += toolglot.format_tool_results([(call, "18 degrees") for call in turn.tool_calls], "anthropic")
    return turn.content


def gemini(client: genai.Client) -> str:
    config = genai.types.GenerateContentConfig(tools=TOOLS.to_gemini())
    return toolglot.normalize(client.models.generate_content(model="m", contents="Hi", config=config), TOOLS).content
