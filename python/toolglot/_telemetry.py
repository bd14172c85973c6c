"""Spans and metrics by OpenTelemetry's conventions for generative AI, where its API is installed; else nothing.

Names are those of ``opentelemetry-semantic-conventions`` 0.66b2 (status "Development"). What was said is recorded only where
``OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT`` is ``true``.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from ._core import ToolCall, Turn

__all__ = ["Chat", "agent", "tool"]

try:
    from opentelemetry import metrics, trace
except ImportError:
    _tracer: Any = None
else:
    _tracer = trace.get_tracer("toolglot")
    _meter = metrics.get_meter("toolglot")
    _duration = _meter.create_histogram("gen_ai.client.operation.duration", unit="s")
    _tokens = _meter.create_histogram("gen_ai.client.token.usage", unit="{token}")
    _tool_duration = _meter.create_histogram("gen_ai.execute_tool.duration", unit="s")


def _content() -> bool:
    return os.environ.get("OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT", "").lower() == "true"


# The conventions' words for providers, where they have another than this library.
_PROVIDERS = {
    "openai_responses": "openai",
    "gemini": "gcp.gemini",
    "mistral": "mistral_ai",
    "bedrock": "aws.bedrock",
}


def _address(base_url: str) -> Mapping[str, Any]:
    place = urlsplit(base_url)
    port = place.port or (443 if place.scheme == "https" else 80)
    return {"server.address": place.hostname, "server.port": port} if place.hostname else {}


class Chat:
    """The span of one exchange with a model. Without OpenTelemetry it does nothing."""

    def __init__(
        self, model: str, provider: str, base_url: str, *, stream: bool, messages: Any, max_tokens: Any
    ) -> None:
        self._span: Any = None
        if _tracer is None:
            return
        self._began = time.perf_counter()
        self._attributes: dict[str, Any] = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": _PROVIDERS.get(provider, provider),
            "gen_ai.request.model": model,
            **_address(base_url),
        }
        more: dict[str, Any] = {"gen_ai.request.stream": stream}
        if max_tokens is not None:
            more["gen_ai.request.max_tokens"] = max_tokens
        if _content():
            more["gen_ai.input.messages"] = json.dumps(list(messages), default=str)
        kind = trace.SpanKind.CLIENT
        self._span = _tracer.start_span(f"chat {model}", kind=kind, attributes={**self._attributes, **more})

    def event(self) -> None:
        """Note that the first event was given out."""
        if self._span is not None and "first" not in self.__dict__:
            self.first = time.perf_counter() - self._began
            self._span.set_attribute("gen_ai.response.time_to_first_chunk", self.first)

    def end(self, turn: Turn | None, attempts: Any, error: BaseException | None = None) -> None:
        """End the span with what came out."""
        span, self._span = self._span, None
        if span is None:
            return
        usage = None if turn is None else turn.usage
        if usage is not None:
            for kind, count in (("input", usage.input_tokens), ("output", usage.output_tokens)):
                if count is not None:
                    _tokens.record(count, {**self._attributes, "gen_ai.token.type": kind})
        if span.is_recording():
            _describe(span, turn, attempts)
        _fail(span, error, self._attributes)
        _duration.record(time.perf_counter() - self._began, self._attributes)
        span.end()


def _describe(span: Any, turn: Turn | None, attempts: Any) -> None:
    if turn is not None:
        span.set_attribute("gen_ai.response.finish_reasons", [turn.stop_reason])
        usage = turn.usage
        for name, count in (
            ("input_tokens", usage and usage.input_tokens),
            ("output_tokens", usage and usage.output_tokens),
            ("cache_read.input_tokens", usage and usage.cached_tokens),
            ("reasoning.output_tokens", usage and usage.reasoning_tokens),
        ):
            if count is not None:
                span.set_attribute(f"gen_ai.usage.{name}", count)
        span.set_attribute("toolglot.calls", [f"{call.name}:{call.status}" for call in turn.tool_calls])
        span.set_attribute("toolglot.repairs", sum(len(call.repairs) for call in turn.tool_calls))
        if _content():
            span.set_attribute("gen_ai.output.messages", json.dumps([turn.to_openai()], default=str))
    for number, attempt in enumerate(attempts):
        span.add_event(
            "toolglot.attempt",
            {
                "toolglot.attempt.number": number,
                "toolglot.attempt.model": attempt.model,
                "toolglot.attempt.mode": attempt.mode,
                "toolglot.attempt.why": attempt.why,
                "toolglot.attempt.verdict": attempt.verdict,
                "http.response.status_code": attempt.status,
            },
        )
    if attempts:
        span.set_attribute("toolglot.mode", attempts[-1].mode)


def _fail(span: Any, error: BaseException | None, attributes: dict[str, Any]) -> None:
    if error is not None:
        kind = getattr(error, "code", None) or type(error).__name__
        attributes["error.type"] = kind
        span.set_attribute("error.type", kind)
        span.set_status(trace.StatusCode.ERROR, str(error))


@contextmanager
def tool(call: ToolCall, description: str) -> Iterator[dict[str, Any]]:
    """Give a dict for ``error`` and ``result`` of a tool that runs within a span."""
    seen: dict[str, Any] = {}
    if _tracer is None:
        yield seen
        return
    began = time.perf_counter()
    attributes: dict[str, Any] = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": call.name,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": call.id,
        "gen_ai.tool.description": description,
        "toolglot.status": call.status,
    }
    if _content():
        attributes["gen_ai.tool.call.arguments"] = call.arguments_json
    with _tracer.start_as_current_span(f"execute_tool {call.name}", attributes=attributes) as span:
        try:
            yield seen
        finally:
            if seen.get("error"):
                span.set_attribute("error.type", "tool_error")
                span.set_status(trace.StatusCode.ERROR, str(seen["error"]))
            elif _content():
                span.set_attribute("gen_ai.tool.call.result", str(seen.get("result")))
            _tool_duration.record(time.perf_counter() - began, {"gen_ai.tool.name": call.name})


@contextmanager
def agent(name: str, attributes: Mapping[str, Any]) -> Iterator[Any]:
    """Run the loop of an agent within a span."""
    if _tracer is None:
        yield None
        return
    attributes = {"gen_ai.operation.name": "invoke_agent", **attributes}
    with _tracer.start_as_current_span(f"invoke_agent {name}".strip(), attributes=attributes) as span:
        yield span
