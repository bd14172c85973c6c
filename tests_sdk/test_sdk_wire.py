"""Every byte that a client gets, through the SDKs' own models and accumulators, over the transport."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import anthropic
import httpx
import httpx2
import openai
import pytest

import toolglot
from support import EXAMPLE_TOOLS, ROOT

sys.path.insert(0, str(Path(__file__).parent))
from wire_backends import BACKENDS, server

CALL = '<tool_call>\n{"name": "ls", "arguments": {"path": "/é"}}\n</tool_call>'
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
EXPECTED = ("ls", {"path": "/é"})
UNREADABLE = ("incomplete", "malformed")

CASES = [("I look. " + CALL, False), ("I look.", True)]


@pytest.mark.parametrize(("text", "calls"), CASES, ids=["text", "native"])
@pytest.mark.parametrize("backend", [*BACKENDS, "gemini"])
@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "stream"])
class TestEverySdk:
    def transport(self, backend: str, text: str, calls: bool, module: Any = httpx) -> Any:
        inner = module.MockTransport(server(backend, text, calls, module))
        return module.Client(transport=toolglot.Transport(inner, backend=backend))

    def test_chat(self, backend: str, text: str, calls: bool, streamed: bool) -> None:
        client = openai.OpenAI(
            base_url="http://model/v1", api_key="k", http_client=self.transport(backend, text, calls)
        )
        tools: Any = [{"type": "function", "function": {"name": "ls", "parameters": SCHEMA}}]
        options: Any = {"model": "m", "messages": [{"role": "user", "content": "?"}], "tools": tools}
        if streamed:
            with client.chat.completions.stream(**options, stream_options={"include_usage": True}) as events:
                for _ in events:
                    pass
                answer = events.get_final_completion()
        else:
            answer = client.chat.completions.create(**options)
        choice = answer.choices[0]
        (call,) = choice.message.tool_calls
        assert (call.function.name, json.loads(call.function.arguments)) == EXPECTED
        assert choice.finish_reason == "tool_calls"
        assert (choice.message.content or "").strip() == "I look."
        assert answer.usage.prompt_tokens == 7

    def test_responses(self, backend: str, text: str, calls: bool, streamed: bool) -> None:
        client = openai.OpenAI(
            base_url="http://model/v1", api_key="k", http_client=self.transport(backend, text, calls)
        )
        tools: Any = [{"type": "function", "name": "ls", "parameters": SCHEMA, "strict": False}]
        options: Any = {"model": "m", "input": "?", "tools": tools}
        if streamed:
            with client.responses.stream(**options) as events:
                for _ in events:
                    pass
                answer = events.get_final_response()
        else:
            answer = client.responses.create(**options)
        (call,) = [item for item in answer.output if item.type == "function_call"]
        assert (call.name, json.loads(call.arguments)) == EXPECTED
        assert answer.status == "completed"
        assert answer.output_text.strip() == "I look."
        assert answer.usage.input_tokens == 7

    def test_anthropic(self, backend: str, text: str, calls: bool, streamed: bool) -> None:
        # Its newer versions are built on httpx2, and refuse the clients of httpx.
        client = anthropic.Anthropic(
            base_url="http://model", api_key="k", http_client=self.transport(backend, text, calls, httpx2)
        )
        tools: Any = [{"name": "ls", "input_schema": SCHEMA}]
        options: Any = {"model": "m", "max_tokens": 99, "messages": [{"role": "user", "content": "?"}], "tools": tools}
        if streamed:
            with client.messages.stream(**options) as events:
                for _ in events:
                    pass
                answer = events.get_final_message()
        else:
            answer = client.messages.create(**options)
        (call,) = [block for block in answer.content if block.type == "tool_use"]
        assert (call.name, call.input) == EXPECTED
        assert answer.stop_reason == "tool_use"
        assert "".join(block.text for block in answer.content if block.type == "text").strip() == "I look."
        assert answer.usage.input_tokens == 7


def test_wrap_leaves_the_client_as_it_is() -> None:
    inner = httpx.Client(transport=httpx.MockTransport(server("chat", CALL, False)))
    client = openai.OpenAI(base_url="http://model/v1", api_key="k", http_client=inner)
    tools: Any = [{"type": "function", "function": {"name": "ls", "parameters": SCHEMA}}]
    options: Any = {"model": "m", "messages": [{"role": "user", "content": "?"}], "tools": tools}
    wrapped = toolglot.wrap(client)
    assert wrapped.chat.completions.create(**options).choices[0].message.tool_calls[0].function.name == "ls"
    assert client.chat.completions.create(**options).choices[0].message.tool_calls is None
    with pytest.raises(toolglot.BadOptionError):
        toolglot.wrap(5)


def test_a_refused_request_is_an_error_of_the_sdk() -> None:
    transport = toolglot.Transport(httpx.MockTransport(server("chat", "", False)))
    client = openai.OpenAI(base_url="http://model/v1", api_key="k", http_client=httpx.Client(transport=transport))
    with pytest.raises(openai.BadRequestError) as caught:
        client.chat.completions.create(model="m", messages=[{"role": "tool", "tool_call_id": "a", "content": "x"}])
    assert caught.value.code == "invalid_message_order"


def test_threads_are_refused_as_the_runner_understands() -> None:
    transport = toolglot.Transport(httpx2.MockTransport(server("chat", "Hi", False, httpx2)), backend="chat")
    client = anthropic.Anthropic(base_url="http://model", api_key="k", http_client=httpx2.Client(transport=transport))
    with pytest.raises(anthropic.BadRequestError) as caught:
        client.messages.create(
            model="m",
            max_tokens=9,
            messages=[{"role": "user", "content": "?"}],
            extra_body={"thread": {"type": "create"}},
        )
    assert caught.value.body["error"]["details"]["error_code"] == "thread_unsupported_request"


def accumulated(client: str, transport: Any, streamed: bool) -> tuple[list[tuple[str, Any]], str]:
    """What the SDK of an API has of an answer at its end: the calls, and the text."""
    if client == "anthropic":
        sdk = anthropic.Anthropic(base_url="http://model", api_key="k", http_client=httpx2.Client(transport=transport))
        declared: Any = [{"name": tool["name"], "input_schema": tool["parameters"]} for tool in EXAMPLE_TOOLS]
        options: Any = {
            "model": "m",
            "max_tokens": 9,
            "messages": [{"role": "user", "content": "?"}],
            "tools": declared,
        }
        if streamed:
            with sdk.messages.stream(**options) as events:
                message: Any = events.get_final_message()
        else:
            message = sdk.messages.create(**options)
        text = "".join(block.text for block in message.content if block.type == "text")
        return [(block.name, block.input) for block in message.content if block.type == "tool_use"], text
    plain = openai.OpenAI(base_url="http://model/v1", api_key="k", http_client=httpx.Client(transport=transport))
    if client == "chat":
        declared = [{"type": "function", "function": tool} for tool in EXAMPLE_TOOLS]
        options = {"model": "m", "messages": [{"role": "user", "content": "?"}], "tools": declared}
        if streamed:
            with plain.chat.completions.stream(**options) as chunks:
                completion: Any = chunks.get_final_completion()
        else:
            completion = plain.chat.completions.create(**options)
        said = completion.choices[0].message
        calls = [(call.function.name, json.loads(call.function.arguments)) for call in said.tool_calls or []]
        return calls, said.content or ""
    options = {"model": "m", "input": "?", "tools": [{"type": "function", "strict": False, **t} for t in EXAMPLE_TOOLS]}
    if streamed:
        with plain.responses.stream(**options) as items:
            response: Any = items.get_final_response()
    else:
        response = plain.responses.create(**options)
    found = [item for item in response.output if item.type == "function_call"]
    return [(item.name, json.loads(item.arguments)) for item in found], response.output_text


@pytest.mark.parametrize("streamed", [False, True], ids=["whole", "stream"])
@pytest.mark.parametrize("client", ["chat", "responses", "anthropic"])
@pytest.mark.parametrize("path", sorted((ROOT / "examples" / "outputs").glob("*.txt")), ids=lambda path: path.stem)
def test_every_output(path: Path, client: str, streamed: bool) -> None:
    """The outputs of every dialect, from a backend of each API in turn."""
    text = path.read_text("utf-8")
    meant = toolglot.extract(text, tools=EXAMPLE_TOOLS, dialect=path.stem)
    backends = [*BACKENDS, "gemini"]
    backend: Any = backends[sum(map(ord, path.stem + client)) % len(backends)]
    module: Any = httpx2 if client == "anthropic" else httpx
    inner = module.MockTransport(server(backend, text, False, module))
    transport = toolglot.Transport(inner, backend=backend, dialect=path.stem)
    calls, content = accumulated(client, transport, streamed)
    assert calls == [(call.name, call.arguments) for call in meant.tool_calls if call.status not in UNREADABLE]
    assert content.strip() == meant.content.strip()
