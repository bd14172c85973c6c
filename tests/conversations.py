"""Conversations made by hypothesis, spelt as each provider spells them."""

from __future__ import annotations

import base64
import copy
import json
from dataclasses import dataclass, field
from typing import Any

from hypothesis import strategies as st

PROVIDERS = ["openai", "openai_responses", "anthropic", "gemini", "mistral", "cohere", "ollama", "bedrock"]

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SIGNATURE = "EqQBCgIYAhIM1gbcDa9GJwZA2b3hGgxBdjrkzLoky3dl1pkiMOYds"

# Some begin as errors do where nothing but text tells them.
WORDS = st.text("ab é\n{}", min_size=1, max_size=8).filter(str.strip) | st.sampled_from(
    ["Error: no", "Error: Error: x", "Errors were found", "Error", "null", "{}", "[]", "(no output)", "<|im_end|>"]
)
VALUES = st.integers() | WORDS | st.none() | st.booleans() | st.lists(st.integers(), max_size=2)
ARGUMENTS = st.dictionaries(st.text("abc", min_size=1, max_size=3), VALUES, max_size=3)
LETTERS = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"


@dataclass
class Call:
    id: str
    name: str
    arguments: dict[str, Any]
    result: Any
    is_error: bool
    image: bool


@dataclass
class Round:
    user: str
    image: bool
    text: str
    thinking: str
    calls: list[Call] = field(default_factory=list)
    last: str = ""


def ids(provider: str) -> st.SearchStrategy[str]:
    """Ids as the provider makes them."""
    letters = lambda size: st.text(LETTERS, min_size=size, max_size=size)  # noqa: E731
    prefixed = lambda prefix, size: letters(size).map(lambda tail: prefix + tail)  # noqa: E731
    return {
        "openai": prefixed("call_", 24) | prefixed("chatcmpl-tool-", 16) | prefixed("functions.f:", 1),
        "openai_responses": prefixed("call_", 24),
        "anthropic": prefixed("toolu_01", 22),
        "gemini": prefixed("", 12) | prefixed("call_", 20),
        "mistral": letters(9),
        "cohere": prefixed("f_", 12),
        "ollama": prefixed("call_", 8),
        "bedrock": prefixed("tooluse_", 22),
    }[provider]


@st.composite
def rounds(draw: st.DrawFn, provider: str) -> list[Round]:
    out: list[Round] = []
    taken: set[str] = set()
    for _ in range(draw(st.integers(1, 3))):
        made = Round(draw(WORDS), draw(st.booleans()), draw(st.just("") | WORDS), draw(st.just("") | WORDS))
        for _ in range(draw(st.integers(0, 3))):
            id = draw(ids(provider).filter(lambda id: id not in taken))
            taken.add(id)
            name = draw(st.sampled_from(["f", "g_1", "h-2"]))
            result = draw(WORDS | ARGUMENTS if provider in ("gemini", "cohere", "bedrock") else WORDS)
            is_error = isinstance(result, str) and draw(st.booleans())
            image = isinstance(result, str) and not is_error and draw(st.booleans())
            made.calls.append(Call(id, name, draw(ARGUMENTS), result, is_error, image))
        made.last = draw(WORDS)
        out.append(made)
    return out


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def chat(provider: str, made: list[Round]) -> list[Any]:
    messages: list[Any] = []
    for round in made:
        image = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PNG}"}}
        if provider == "ollama":
            extra = {"images": [PNG]} if round.image else {}
            messages.append({"role": "user", "content": round.user, **extra})
        else:
            text = {"type": "text", "text": round.user}
            messages.append({"role": "user", "content": [text, image] if round.image else round.user})
        if round.calls:
            messages.append(chat_answer(provider, round))
        for call in round.calls:
            text = f"Error: {call.result}" if call.is_error else call.result
            content: Any = text
            if isinstance(text, dict):
                content = [{"type": "document", "document": {"data": text}}]
            message = {"role": "tool", "tool_call_id": call.id, "content": content}
            if provider == "mistral":
                message = {"role": "tool", "tool_call_id": call.id, "name": call.name, "content": content}
            elif provider == "ollama":
                message = {"role": "tool", "tool_name": call.name, "tool_call_id": call.id, "content": content}
            messages.append(message)
        messages.append({"role": "assistant", "content": round.last})
    return messages


def chat_answer(provider: str, round: Round) -> dict[str, Any]:
    answer: dict[str, Any] = {"role": "assistant"}
    if provider == "cohere" and round.calls:
        if round.text:
            answer["tool_plan"] = round.text
    elif provider == "mistral" and round.thinking:
        thinking = {"type": "thinking", "thinking": [{"type": "text", "text": round.thinking}], "signature": SIGNATURE}
        text = [{"type": "text", "text": round.text}] if round.text else []
        answer["content"] = [thinking, *text]
    elif provider == "openai" and not round.text:
        answer["content"] = None
    else:
        answer["content"] = round.text
    if round.thinking:
        if provider == "openai":
            answer["reasoning_content"] = round.thinking
        elif provider == "ollama":
            answer["thinking"] = round.thinking
    if round.calls:
        answer["tool_calls"] = [
            {"id": call.id, "function": {"index": index, "name": call.name, "arguments": call.arguments}}
            if provider == "ollama"
            else {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": compact(call.arguments)},
            }
            for index, call in enumerate(round.calls)
        ]
    return answer


def responses(made: list[Round]) -> list[Any]:
    items: list[Any] = []
    for number, round in enumerate(made):
        image = {"type": "input_image", "image_url": f"data:image/png;base64,{PNG}", "detail": "auto"}
        text = {"type": "input_text", "text": round.user}
        items.append({"role": "user", "content": [text, image] if round.image else round.user})
        if round.thinking:
            summary = [{"type": "summary_text", "text": round.thinking}]
            items.append({"type": "reasoning", "id": f"rs_{number}", "summary": summary, "encrypted_content": "gAAAA"})
        if round.text and round.calls:
            content = [{"type": "output_text", "text": round.text, "annotations": []}]
            item = {"type": "message", "id": f"msg_{number}", "role": "assistant", "status": "completed"}
            items.append({**item, "content": content})
        for call in round.calls:
            item = {"type": "function_call", "id": f"fc_{call.id}", "status": "completed"}
            items.append({**item, "call_id": call.id, "name": call.name, "arguments": compact(call.arguments)})
        for call in round.calls:
            result = f"Error: {call.result}" if call.is_error else call.result
            output = [{"type": "input_text", "text": result}, image] if call.image else result
            items.append({"type": "function_call_output", "call_id": call.id, "output": output})
        items.append({"role": "assistant", "content": round.last})
    return items


def anthropic(made: list[Round]) -> list[Any]:
    messages: list[Any] = []
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}
    for round in made:
        text = {"type": "text", "text": round.user}
        messages.append({"role": "user", "content": [text, image] if round.image else round.user})
        blocks: list[Any] = []
        if round.thinking:
            blocks.append({"type": "thinking", "thinking": round.thinking, "signature": SIGNATURE})
        if round.text:
            blocks.append({"type": "text", "text": round.text})
        for call in round.calls:
            blocks.append({"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments})
        results: list[Any] = []
        for call in round.calls:
            content: Any = [{"type": "text", "text": call.result}, image] if call.image else call.result
            result = {"type": "tool_result", "tool_use_id": call.id, "content": content}
            results.append({**result, "is_error": True} if call.is_error else result)
        if results:
            messages += [{"role": "assistant", "content": blocks}, {"role": "user", "content": results}]
            messages.append({"role": "assistant", "content": [{"type": "text", "text": round.last}]})
        else:
            messages.append({"role": "assistant", "content": [*blocks, {"type": "text", "text": round.last}]})
    return messages


def gemini(made: list[Round]) -> list[Any]:
    contents: list[Any] = []
    image = {"inlineData": {"mimeType": "image/png", "data": PNG}}
    for round in made:
        contents.append({"role": "user", "parts": [{"text": round.user}, *([image] if round.image else [])]})
        parts: list[Any] = []
        if round.thinking:
            parts.append({"text": round.thinking, "thought": True})
        if round.text:
            parts.append({"text": round.text})
        # The older API has no ids; an id that this library made is taken for none.
        ours = lambda call: call.id.startswith("call_")  # noqa: E731
        for number, call in enumerate(round.calls):
            inner = {"name": call.name, "args": call.arguments}
            part: dict[str, Any] = {"functionCall": inner if ours(call) else {"id": call.id, **inner}}
            if number == 0:
                part["thoughtSignature"] = SIGNATURE
            parts.append(part)
        results: list[Any] = []
        for call in round.calls:
            response = {"error" if call.is_error else "output": call.result}
            inner = {"name": call.name, "response": response}
            inner = inner if ours(call) else {"id": call.id, **inner}
            results.append({"functionResponse": {**inner, "parts": [image]} if call.image else inner})
        if results:
            contents += [{"role": "model", "parts": parts}, {"role": "user", "parts": results}]
            contents.append({"role": "model", "parts": [{"text": round.last}]})
        else:
            contents.append({"role": "model", "parts": [*parts, {"text": round.last}]})
    return contents


def bedrock(made: list[Round]) -> list[Any]:
    messages: list[Any] = []
    image = {"image": {"format": "png", "source": {"bytes": base64.b64decode(PNG)}}}
    for round in made:
        messages.append({"role": "user", "content": [{"text": round.user}, *([image] if round.image else [])]})
        blocks: list[Any] = []
        if round.thinking:
            blocks.append({"reasoningContent": {"reasoningText": {"text": round.thinking, "signature": SIGNATURE}}})
        if round.text:
            blocks.append({"text": round.text})
        for call in round.calls:
            blocks.append({"toolUse": {"toolUseId": call.id, "name": call.name, "input": call.arguments}})
        results: list[Any] = []
        for call in round.calls:
            content: list[Any] = [{"json": call.result} if isinstance(call.result, dict) else {"text": call.result}]
            status = "error" if call.is_error else "success"
            content += [image] if call.image else []
            results.append({"toolResult": {"toolUseId": call.id, "content": content, "status": status}})
        if results:
            messages += [{"role": "assistant", "content": blocks}, {"role": "user", "content": results}]
            messages.append({"role": "assistant", "content": [{"text": round.last}]})
        else:
            messages.append({"role": "assistant", "content": [*blocks, {"text": round.last}]})
    return messages


#: Fields that some provider knows and this library does not, or nobody does.
FIELDS = ["cache_control", "citations", "videoMetadata", "x_note", "phase", "detail", "metadata", "guard"]
#: What is no unknown field: what a tool was called with, and what it returned.
DATA = {"arguments", "args", "response", "json", "data", "input"}
#: Blocks of a kind that this library does not know, where a list of blocks stands.
BLOCKS: dict[str, Any] = {
    "bedrock": {"cachePoint": {"type": "default"}},
    "gemini": {"xWidget": {"x_note": 1}},
}


def places(value: Any) -> list[Any]:
    """Every object of a conversation, and every list in one, at whatever depth."""
    found = [value] if isinstance(value, (dict, list)) else []
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return found + [place for key, item in inner if key not in DATA for place in places(item)]


@st.composite
def strange(draw: st.DrawFn, provider: str) -> tuple[list[Any], Any]:
    """As :func:`conversations`, with fields and blocks that this library does not know."""
    messages, system = draw(conversations(provider))
    messages, system = copy.deepcopy((messages, system))
    found = places(messages)[1:] + places(system)
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.sampled_from(found))
        if isinstance(place, dict):
            name = draw(st.sampled_from(FIELDS))
            place.setdefault(name, draw(VALUES | st.just({"type": "ephemeral"})))
        elif all(isinstance(item, dict) and "function" not in item for item in place):
            block = BLOCKS.get(provider, {"type": "x_block", "x_note": draw(VALUES)})
            place.insert(draw(st.integers(0, len(place))), block)
    return messages, system


@st.composite
def conversations(draw: st.DrawFn, provider: str) -> tuple[list[Any], Any]:
    """A conversation in the provider's own shape, and the system prompt that stands beside it."""
    made = draw(rounds(provider))
    words = draw(st.just("") | WORDS)
    if provider == "anthropic":
        return anthropic(made), words or None
    if provider == "gemini":
        return gemini(made), {"parts": [{"text": words}]} if words else None
    if provider == "bedrock":
        return bedrock(made), [{"text": words}] if words else None
    messages = responses(made) if provider == "openai_responses" else chat(provider, made)
    return [{"role": "system", "content": words}, *messages] if words else messages, None
