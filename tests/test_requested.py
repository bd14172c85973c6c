"""What the two requests asked for that capabilities, exchange and client come from, point by point.

Each test names the points that it shows: `PROP` is the proposal of native tool calling, `ARCH` the architecture of reliable tool
calling, numbered in one count as in the list of all points.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

import toolglot
from toolglot import CapabilityStore, Config, Endpoint, Exchange, SyncClient, ToolSet, capabilities

TOOL = {
    "name": "read_file",
    "description": "Read a file.",
    "parameters": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
}
ASK = [{"role": "user", "content": "Read a.txt"}]
URL = "http://localhost:8000/v1"

Answers = list[tuple[int, Any]]


def message(**said: Any) -> tuple[int, Any]:
    return 200, {"choices": [{"message": {"role": "assistant", **said}}]}


def native(arguments: str = '{"path": "a.txt"}', name: str = "read_file", times: int = 1) -> tuple[int, Any]:
    calls = [
        {"id": f"c{n}", "type": "function", "function": {"name": name, "arguments": arguments}} for n in range(times)
    ]
    return message(content=None, tool_calls=calls)


def envelope(*calls: dict[str, Any], **more: Any) -> tuple[int, Any]:
    return message(content=json.dumps({"toolCalls": list(calls), "content": "", **more}))


CALL = {"name": "read_file", "arguments": {"path": "a.txt"}}
NO_TOOLS = (400, {"error": {"message": "this model does not support tools"}})
NO_SCHEMA = (400, {"error": "'response_format.type' must be 'json_object' or 'text'"})


class Server:
    def __init__(self, *answers: tuple[int, Any]) -> None:
        self.answers, self.asked = list(answers), []

    def __call__(self, request: Any) -> Any:
        self.asked.append(request.json)
        status, body = self.answers.pop(0)
        return status, {}, body


def client(server: Callable[[Any], Any], model: str = "m", **options: Any) -> SyncClient:
    return SyncClient(model, options.pop("base_url", URL), client=server, capabilities=CapabilityStore(), **options)


def path(turn: toolglot.Turn) -> list[str]:
    return [f"{attempt.mode} {attempt.verdict}" for attempt in turn.attempts]


def body(provider: str, mode: str = "native", **options: Any) -> Any:
    at = Endpoint("m", provider=provider, config=Config({"preferred_modes": [mode]}))
    return json.loads(Exchange(ASK, [TOOL], endpoints=[at], **options).next().body)


def test_prop_18_the_envelope_and_its_flag() -> None:
    turn = toolglot.extract('{"content": "I will go on", "toolCalls": [], "needsMoreWork": true}', [TOOL])
    assert turn.to_envelope()["needsMoreWork"] is True
    turn = client(Server(envelope(CALL)), config={"preferred_modes": ["json_schema"]}).complete(ASK, [TOOL])
    assert turn.to_envelope()["toolCalls"] == [CALL]


def test_prop_25_tool_choice_in_the_request() -> None:
    assert body("openai", tool_choice="required")["tool_choice"] == "required"
    named = {"type": "function", "function": {"name": "read_file"}}
    assert body("openai", tool_choice="read_file")["tool_choice"] == named
    assert body("openai", tool_choice="none")["tool_choice"] == "none"
    assert body("anthropic", tool_choice="read_file")["tool_choice"] == {"type": "tool", "name": "read_file"}
    assert body("gemini", tool_choice="required")["toolConfig"]["functionCallingConfig"]["mode"] == "ANY"


def test_prop_26_arch_96_a_request_for_each_provider() -> None:
    for provider, place in [
        ("openai", "messages"),
        ("openrouter", "messages"),
        ("groq", "messages"),
        ("gemini", "contents"),
    ]:
        made = body(provider)
        assert place in made
        assert "read_file" in json.dumps(made["tools"])


@pytest.mark.parametrize(
    ("model", "url", "tools", "parallel"),
    [
        ("gpt-4o", "https://api.openai.com/v1", "yes", "yes"),
        ("claude-3-5-sonnet-latest", "https://api.anthropic.com", "yes", "yes"),
        ("gemini-2.0-flash", "https://generativelanguage.googleapis.com/v1beta", "yes", "yes"),
        ("llama-3.3-70b-versatile", "https://api.groq.com/openai/v1", "yes", None),
        ("google/gemma-2-9b-it", "https://openrouter.ai/api/v1", "no", None),
    ],
)
def test_prop_27_28_arch_91_94_111_what_is_known(model: str, url: str, tools: str, parallel: str | None) -> None:
    found = capabilities(model, url)
    assert found.native_tools.value == tools
    assert parallel is None or found.parallel_calls.value == parallel
    assert toolglot.supports_native_tool_calling(model, url) == (tools == "yes")
    assert set(found.to_dict()) >= {"native_tools", "json_schema", "json_object", "text_calls", "context_size"}


def test_prop_29_openrouter_tells() -> None:
    store, url = CapabilityStore(), "https://openrouter.ai/api/v1"
    listed = {
        "data": {"id": "a/b", "endpoints": [{"supported_parameters": ["tools", "tool_choice"], "context_length": 8192}]}
    }
    store.tell("a/b", url, listed)
    assert store.get("a/b", url).native_tools.value == "yes"
    assert store.get("a/b", url).native_tools.source == "server"


def test_prop_30_arch_112_what_was_learned_wins_and_is_forgotten_after_a_day() -> None:
    now = 1_000_000.0
    store = CapabilityStore(clock=lambda: now)
    assert store.get("gpt-4o", "https://api.openai.com/v1").native_tools.source == "table"
    store.record("gpt-4o", "https://api.openai.com/v1", "native_tools", "failure")
    found = store.get("gpt-4o", "https://api.openai.com/v1").native_tools
    assert (found.value, found.source) == ("no", "learned")
    assert found.date is not None
    now += 24 * 60 * 60 + 1
    assert store.get("gpt-4o", "https://api.openai.com/v1").native_tools.source == "table"


def test_prop_31_arch_92_a_request_is_built_and_sent() -> None:
    server = Server(native())
    turn = client(server).complete(ASK, [TOOL], tool_choice="auto")
    assert turn.tool_calls[0].arguments == {"path": "a.txt"}
    assert server.asked[0]["messages"] == ASK


def test_prop_32_arch_95_a_schema_of_answers() -> None:
    made = body("openai", "json_schema")
    schema = made["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["toolCalls"]["items"]["properties"]["name"]["enum"] == ["read_file"]
    assert "tools" not in made
    assert ToolSet([TOOL]).response_schema()["response_format"]["type"] == "json_schema"


def test_prop_33_which_calls_were_native() -> None:
    assert client(Server(native())).complete(ASK, [TOOL]).source == "native"
    said = '<tool_call>{"name": "read_file", "arguments": {"path": "a.txt"}}</tool_call>'
    assert client(Server(message(content=said))).complete(ASK, [TOOL]).source == "text"


def test_prop_34_no_parallel_calls_is_said_in_every_mode() -> None:
    assert body("openai", parallel=False)["parallel_tool_calls"] is False
    assert "no more than one call" in json.dumps(body("openai", "text", parallel=False))
    made = body("openai", "json_schema", parallel=False)
    assert made["response_format"]["json_schema"]["schema"]["properties"]["toolCalls"]["maxItems"] == 1
    turn = client(Server(native(times=3))).complete(ASK, [TOOL])
    assert len(turn.tool_calls) == 3


def test_prop_35_results_are_paired_by_id() -> None:
    server = Server(native(times=2), message(content="Done."))
    result = client(server).run(ASK, [TOOL], execute=lambda call: call.id)
    told = [(m["tool_call_id"], m["content"]) for m in result.messages if m["role"] == "tool"]
    assert told == [("c0", "c0"), ("c1", "c1")]


def test_prop_36_the_model_is_told_names_that_it_was_told() -> None:
    tool = {**TOOL, "name": "fs:read_file"}
    server = Server(native("{}", name="fs_read_file"), message(content="Sorry."))
    client(server).complete(ASK, [tool])
    assert "fs_read_file" in server.asked[1]["messages"][-1]["content"]
    assert "fs:read_file" not in server.asked[1]["messages"][-1]["content"]


def test_prop_37_38_calls_are_streamed_whatever_the_provider() -> None:
    chunk = {"candidates": [{"content": {"role": "model", "parts": [
        {"functionCall": {"name": "read_file", "args": {"path": "a.txt"}}}]}, "finishReason": "STOP"}]}  # fmt: skip

    def server(request: Any) -> Any:
        assert request.url.endswith("/models/m:streamGenerateContent?alt=sse")
        return 200, {}, f"data: {json.dumps(chunk)}\r\n\r\n"

    stream = client(server, base_url=None, provider="gemini").stream(ASK, [TOOL])
    assert [event.kind for event in stream if event.kind != "issue"] == ["call_started", "arguments", "call_ended"]
    assert stream.turn.tool_calls[0].arguments == {"path": "a.txt"}


def test_prop_39_the_mode_is_chosen_and_can_be_forced() -> None:
    config = {"modelOverrides": {"m": {"forceTextMode": True}}}
    said = '{"tool_calls": [{"name": "read_file", "arguments": {"path": "a.txt"}}]}'
    turn = client(Server(message(content=said)), config=config).complete(ASK, [TOOL])
    assert path(turn) == ["text usable"]
    from toolglot.service import ToolCalling

    assert ToolCalling([TOOL], mode="auto", model="gpt-4o", base_url="https://api.openai.com/v1").tool_mode == "native"


def test_prop_40_native_tools_are_not_in_the_prompt_as_well() -> None:
    made = body("openai")
    assert made["messages"] == ASK


def test_arch_93_113_a_model_is_asked_what_it_can_do() -> None:
    def send(method: str, url: str, headers: Any, body: Any) -> tuple[int, str]:
        return 200, json.dumps({"capabilities": ["completion", "tools"], "model_info": {"x.context_length": 4096}})

    found = toolglot.probe("m", "http://localhost:11434/v1", send=send)
    assert (found.native_tools.value, found.native_tools.source) == ("yes", "server")


def test_arch_97_98_101_the_canonical_answer() -> None:
    server = Server(native())
    assert client(server).complete(ASK, [TOOL]).to_envelope() == {
        "toolCalls": [CALL],
        "content": "",
        "needsMoreWork": True,
    }


def test_arch_104_failed_generation_is_read() -> None:
    failed = {"error": {"code": "tool_use_failed", "message": "Failed to call a function.",
                        "failed_generation": '<function=read_file>{"path": "a.txt"}</function>'}}  # fmt: skip
    turn = client(Server((400, failed))).complete(ASK, [TOOL])
    assert turn.tool_calls[0].arguments == {"path": "a.txt"}
    assert path(turn) == ["native usable"]


def test_arch_105_self_correction_twice_at_most() -> None:
    server = Server(native("{}"), native("{}"), native())
    turn = client(server).complete(ASK, [TOOL])
    assert [attempt.why for attempt in turn.attempts] == ["first", "correction", "correction"]
    assert "path" in server.asked[1]["messages"][-1]["content"]
    assert turn.tool_calls[0].runnable
    server = Server(native("{}"), native("{}"), native("{}"), envelope(CALL))
    assert path(client(server).complete(ASK, [TOOL]))[-1] == "json_schema usable"


def test_arch_106_the_last_resort_is_text() -> None:
    turn = client(Server(message(content="I cannot."))).complete(ASK, [TOOL])
    assert (turn.content, turn.tool_calls) == ("I cannot.", ())


def test_arch_107_108_110_json_schema_json_object_text() -> None:
    said = '{"tool_calls": [{"name": "read_file", "arguments": {"path": "a.txt"}}]}'
    server = Server(NO_TOOLS, NO_SCHEMA, NO_SCHEMA, message(content=said))
    turn = client(server).complete(ASK, [TOOL])
    assert path(turn) == ["native refused", "json_schema refused", "json_object refused", "text usable"]
    assert [asked.get("response_format", {}).get("type") for asked in server.asked] == [
        None, "json_schema", "json_object", None]  # fmt: skip


def test_arch_109_escalation_to_a_capable_model() -> None:
    server = Server((401, {}), native())
    turn = client(server, escalate=["a-stronger-one"]).complete(ASK, [TOOL])
    assert [attempt.model for attempt in turn.attempts] == ["m", "a-stronger-one"]
    assert server.asked[1]["model"] == "a-stronger-one"


def test_arch_114_115_116_configuration() -> None:
    assert Config().model("m").max_retries == 3
    override = Config({"modelOverrides": {"anthropic/*": {"preferNativeTools": True, "enableXmlNormalization": True}}})
    claude = override.model("anthropic/claude-3.5-sonnet")
    assert claude.preferred_modes[0] == "native"
    assert claude.expect_text_calls is True
    with pytest.raises(toolglot.BadOptionError):
        Config({"maxRetry": 3})
    strict = {"useStrictJsonInstructions": True, "preferred_modes": ["json_object"]}
    server = Server(envelope(CALL))
    client(server, config=strict).complete(ASK, [TOOL])
    said = server.asked[0]["messages"][0]["content"]
    assert "exactly one JSON object" in said
    assert "Never write a tool call as XML" in said


def test_arch_117_calls_are_seen_while_the_answer_streams() -> None:
    def server(request: Any) -> Any:
        pieces = ["Let me see. ", "<tool_", 'call>{"name": "read_file", "arguments": {"path": "a.txt"}}</tool_call>']
        for piece in pieces:
            seen.append(piece)
            yield f"data: {json.dumps({'choices': [{'index': 0, 'delta': {'content': piece}}]})}\n\n".encode()

    seen: list[str] = []
    stream = client(lambda request: (200, {}, server(request))).stream(ASK, [TOOL])
    first = next(stream)
    assert (first.kind, len(seen)) == ("text", 1)
    assert "call_ended" in [event.kind for event in stream]


def test_arch_119_counters() -> None:
    server = Server(NO_TOOLS, envelope(CALL), envelope(CALL), (500, "x"), envelope(CALL))
    asked = client(server)
    for _ in range(3):
        asked.complete(ASK, [TOOL])
    stats = asked.stats
    assert (stats.success_rate, stats.retries_per_success) == (1.0, pytest.approx(2 / 3))
    assert stats.fallback_share == pytest.approx(1 / 3)
    assert stats.verdicts == {"refused": 1, "usable": 3, "unavailable": 1}
    assert stats.calls == {"ok": 3}


def test_arch_120_a_loop_with_progress() -> None:
    seen = []
    server = Server(native(), message(content="It says: hello."))
    result = client(server).run(
        ASK, [TOOL], execute=lambda call: "hello", on_progress=lambda step: seen.append(step.kind)
    )
    assert seen == ["turn", "tool_started", "tool_ended", "turn", "stopped"]
    assert result.content == "It says: hello."


def test_spans(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the conventions' names, and without what was said."""
    trace = pytest.importorskip("opentelemetry.sdk.trace")
    export = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor

    from toolglot import _telemetry

    seen = export.InMemorySpanExporter()
    provider = trace.TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(seen))
    monkeypatch.setattr(_telemetry, "_tracer", provider.get_tracer("toolglot"))
    server = Server(
        NO_TOOLS, envelope(CALL), message(content=json.dumps({"toolCalls": [], "content": "It says: hello."}))
    )
    client(server).run(ASK, [TOOL], execute=lambda call: "hello")
    spans = {span.name: span for span in seen.get_finished_spans()}
    assert set(spans) == {"chat m", "execute_tool read_file", "invoke_agent"}
    chats = [span for span in seen.get_finished_spans() if span.name == "chat m"]
    chat = dict(chats[0].attributes)
    assert chat["gen_ai.operation.name"] == "chat"
    assert chat["gen_ai.provider.name"] == "openai"
    assert chat["gen_ai.request.model"] == "m"
    assert (chat["server.address"], chat["server.port"]) == ("localhost", 8000)
    assert chat["toolglot.mode"] == "json_schema"
    assert [event.attributes["toolglot.attempt.verdict"] for event in chats[0].events] == ["refused", "usable"]
    assert dict(spans["execute_tool read_file"].attributes)["gen_ai.tool.name"] == "read_file"
    assert "a.txt" not in str([dict(span.attributes) for span in seen.get_finished_spans()])


def test_nothing_of_a_run_is_lost_between_threads() -> None:
    """A synchronous client in a running loop, as in a notebook."""

    async def go() -> str:
        server = Server(native(), message(content="Done."))
        return client(server).run(ASK, [TOOL], execute=lambda call: "x").content

    assert asyncio.run(go()) == "Done."
