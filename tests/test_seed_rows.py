"""The requirements that the project began with, a test a row.

Rows 18 to 40 are those of the proposal for native tool calling, rows 91 to 120 those of the architecture for reliable tool calls.
The number in a test's name is that of its row; its first line is what the row asks for.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import Callable
from typing import Any

import pytest

import toolglot
from toolglot import CapabilityStore, Client, Config, Endpoint, SyncClient, ToolSet, capabilities, compat
from toolglot.service import ToolCalling

URL = "http://localhost:8000/v1"
OPENAI, GROQ = "https://api.openai.com/v1", "https://api.groq.com/openai/v1"
OPENROUTER, GOOGLE = "https://openrouter.ai/api/v1", "https://generativelanguage.googleapis.com/v1beta"
READ = {
    "name": "read_file",
    "description": "Read a file from the filesystem",
    "inputSchema": {
        "type": "object",
        "properties": {"path": {"type": "string", "description": "Path to the file to read"}},
        "required": ["path"],
    },
}
LIST = {"name": "list_files", "inputSchema": {"type": "object", "properties": {}}}
ASK = [{"role": "user", "content": "What is in /etc/hosts?"}]
HOSTS = {"path": "/etc/hosts"}
ENVELOPE = {"toolCalls": [{"name": "read_file", "arguments": HOSTS}], "content": "", "needsMoreWork": True}


def native(*calls: tuple[str, str], content: str | None = None, finish: str = "tool_calls") -> dict[str, Any]:
    """An answer of Chat Completions with calls: name and arguments' text."""
    made = [
        {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": arguments}}
        for number, (name, arguments) in enumerate(calls)
    ]
    return {"choices": [{"message": {"content": content, "tool_calls": made}, "finish_reason": finish}]}


def text(content: str) -> dict[str, Any]:
    return {"choices": [{"message": {"content": content}, "finish_reason": "stop"}]}


GOOD = native(("read_file", json.dumps(HOSTS)))
NO_TOOLS = (400, {"error": {"message": "m does not support tools"}})
# DeepSeek's words, and OpenAI's (openai/openai-node#439).
NO_SCHEMA = (400, {"error": {"message": "This response_format type is unavailable now"}})
REFUSED = "Invalid parameter: 'response_format' of type 'json_object' is not supported with this model."
NO_FORMAT = (400, {"error": {"message": REFUSED, "param": "response_format"}})


class Server:
    """Answers one after the other: bodies with status 200, or (status, body); keeps what it was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers, self.asked, self.urls = list(answers), [], []

    def __call__(self, request: Any) -> Any:
        self.asked.append(request.json)
        self.urls.append(request.url)
        answer = self.answers.pop(0)
        status, body = answer if isinstance(answer, tuple) else (200, answer)
        return status, {}, body


def client(server: Callable[[Any], Any], model: str = "m", url: str | None = URL, **options: Any) -> SyncClient:
    return SyncClient(model, url, client=server, **{"capabilities": CapabilityStore(), **options})


def path(turn: toolglot.Turn) -> list[tuple[str, str]]:
    return [(attempt.mode, attempt.verdict) for attempt in turn.attempts]


def test_row_18_the_envelope_is_read_from_text() -> None:
    assert toolglot.extract(json.dumps(ENVELOPE), [READ]).to_envelope() == ENVELOPE
    going_on = {"toolCalls": [], "content": "I will go on", "needsMoreWork": True}
    said = {"content": "I will go on", "needsMoreWork": True}
    assert toolglot.extract(json.dumps(said)).to_envelope() == going_on


def test_row_19_a_json_object_is_found_in_text() -> None:
    assert compat.extract_json_object('Here: {"a": {"b": 1}} - that is it') == {"a": {"b": 1}}
    assert compat.extract_json_object("nothing") is None


@pytest.mark.parametrize(
    "markup",
    [
        '<function_calls>\n<invoke name="read_file">\n<parameter name="path">/etc/hosts</parameter>\n</invoke>\n</function_calls>',
        '<function_calls>\n[{"name": "read_file", "arguments": {"path": "/etc/hosts"}}]\n</function_calls>',
        '<invoke name="read_file">\n<parameter name="path">/etc/hosts</parameter>\n</invoke>',
    ],
)
def test_row_20_and_100_markup_becomes_the_envelope(markup: str) -> None:
    assert compat.normalize_xml_tool_calls(markup) == ENVELOPE
    assert toolglot.extract(markup, [READ]).to_envelope() == ENVELOPE


def test_row_21_mcp_tools_become_openais() -> None:
    tool = {**READ, "name": "filesystem:read_file"}
    function = compat.mcp_tool_to_openai_tool(tool)["function"]
    # OpenAI takes no colon in a name.
    assert (function["name"], function["parameters"]) == ("filesystem_read_file", READ["inputSchema"])
    assert len(compat.mcp_tools_to_openai_tools([tool, LIST])) == 2


def test_row_22_openais_calls_become_mcps() -> None:
    calls = native(("filesystem_read_file", json.dumps(HOSTS)))["choices"][0]["message"]["tool_calls"]
    tools = [{**READ, "name": "filesystem:read_file"}]
    assert compat.openai_tool_calls_to_mcp(calls, tools) == [{"name": "filesystem:read_file", "arguments": HOSTS}]


@pytest.mark.parametrize(("answer", "is_native"), [(GOOD, True), (text(json.dumps(ENVELOPE)), False)])
def test_row_23_a_response_becomes_the_envelope(answer: dict[str, Any], is_native: bool) -> None:
    assert compat.process_llm_response(answer, is_native) == ENVELOPE


def test_row_24_texts_of_a_result_are_joined_by_newlines() -> None:
    result = {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}
    wanted = {"role": "tool", "tool_call_id": "call_1", "content": "a\nb"}
    assert toolglot.format_tool_result("call_1", result) == wanted


@pytest.mark.parametrize(
    ("provider", "choice", "place", "said"),
    [
        ("openai", "auto", "tool_choice", (None, "auto")),
        ("openai", "none", "tool_choice", ("none",)),
        ("openai", "required", "tool_choice", ("required",)),
        ("openai", "read_file", "tool_choice", ({"type": "function", "function": {"name": "read_file"}},)),
        ("anthropic", "required", "tool_choice", ({"type": "any"},)),
        ("anthropic", "read_file", "tool_choice", ({"type": "tool", "name": "read_file"},)),
        ("gemini", "required", "toolConfig", ({"functionCallingConfig": {"mode": "ANY"}},)),
    ],
)
def test_row_25_tool_choice_is_in_the_request(provider: str, choice: str, place: str, said: tuple[Any, ...]) -> None:
    exchange = toolglot.Exchange(ASK, [READ], endpoints=[Endpoint("m", provider=provider)], tool_choice=choice)
    body = json.loads(exchange.next().body or b"{}")
    assert body.get(place) in said


@pytest.mark.parametrize("provider", ["openai", "openrouter", "groq", "gemini"])
def test_row_26_each_provider_has_its_format(provider: str) -> None:
    (tool,) = ToolSet([READ]).to(provider)
    assert ("functionDeclarations" in tool) if provider == "gemini" else (tool["type"] == "function")


@pytest.mark.parametrize(
    ("model", "url"),
    [
        ("gpt-4o", OPENAI),
        ("anthropic/claude-3.5-sonnet", OPENROUTER),
        ("llama-3.3-70b-versatile", GROQ),
        ("gemini-2.5-pro", GOOGLE),
    ],
)
def test_row_27_it_is_known_who_has_native_and_parallel_calls(model: str, url: str) -> None:
    found = capabilities(model, url)
    assert (found.native_tools.value, found.parallel_calls.value) == ("yes", "yes")


@pytest.mark.parametrize(
    ("model", "url", "supported"),
    [
        ("gpt-4o", OPENAI, True),
        ("gpt-4o-mini", OPENAI, True),
        ("gpt-4-turbo", OPENAI, True),
        ("gpt-4", OPENAI, True),
        ("llama-3.3-70b-versatile", GROQ, True),
        ("google/gemma-2-9b-it", OPENROUTER, False),
        ("microsoft/phi-4", OPENROUTER, False),
        ("a-model-that-nobody-knows", URL, False),
    ],
)
def test_row_28_supports_native_tool_calling(model: str, url: str, supported: bool) -> None:
    assert toolglot.supports_native_tool_calling(model, url) is supported


def test_row_29_openrouters_supported_parameters_are_read() -> None:
    store = CapabilityStore()
    for model, parameters in (("a/with", ["tools", "tool_choice"]), ("a/without", ["temperature"])):
        assert store.tell(model, OPENROUTER, {"id": model, "supported_parameters": parameters}) == "openrouter"
    assert toolglot.supports_native_tool_calling("a/with", OPENROUTER, store)
    assert not toolglot.supports_native_tool_calling("a/without", OPENROUTER, store)


def test_row_30_what_was_seen_of_a_model_is_cached_with_its_date() -> None:
    store = CapabilityStore()
    for capability in ("json_schema", "json_object", "native_tools"):
        store.record("m", URL, capability, "success")
    found = store.get("m", URL)
    for finding in (found.json_schema, found.json_object, found.native_tools):
        assert (finding.value, finding.source) == ("yes", "learned")
        assert re.fullmatch(r"\d{4}-\d\d-\d\d.*", finding.date or "")


def test_row_31_a_call_is_made_with_tools_or_structured_output() -> None:
    server = Server(GOOD)
    turn = client(server).complete(ASK, [READ], tool_choice="auto", temperature=0, extra={"seed": 1})
    (body,) = server.asked
    assert server.urls == [f"{URL}/chat/completions"]
    assert (body["model"], body["messages"], body["temperature"], body["seed"]) == ("m", ASK, 0, 1)
    assert [tool["function"]["name"] for tool in body["tools"]] == ["read_file"]
    assert turn.to_envelope() == ENVELOPE


def test_row_32_without_native_tools_the_schema_of_the_envelope_is_asked_for() -> None:
    server = Server(text(json.dumps(ENVELOPE)))
    config = Config({"preferred_modes": ["json_schema"]})
    turn = client(server, config=config).complete(ASK, [READ])
    body = server.asked[0]
    assert "tools" not in body
    schema = body["response_format"]["json_schema"]["schema"]
    assert set(schema["properties"]) == {"toolCalls", "content", "needsMoreWork"}
    assert "read_file" in json.dumps(schema)
    assert turn.to_envelope() == ENVELOPE


def test_row_33_a_turn_says_whether_its_calls_are_native() -> None:
    assert toolglot.normalize(GOOD).source == "native"
    assert toolglot.normalize(text(json.dumps(ENVELOPE))).source == "text"


def test_row_34_parallel_calls_are_read_and_can_be_turned_off() -> None:
    two = native(("read_file", json.dumps(HOSTS)), ("list_files", "{}"))
    assert [call.name for call in toolglot.normalize(two, [READ, LIST]).tool_calls] == ["read_file", "list_files"]
    server = Server(GOOD, text("Nothing."))
    client(server, "gpt-4o", OPENAI).complete(ASK, [READ, LIST], parallel=False)
    assert server.asked[0]["parallel_tool_calls"] is False
    client(server, config=Config({"force_text_mode": True})).complete(ASK, [READ, LIST], parallel=False)
    assert "no more than one call" in server.asked[1]["messages"][0]["content"]


def test_row_35_ids_pair_results_with_calls() -> None:
    for answer in (native(("read_file", json.dumps(HOSTS)), ("list_files", "{}")), text(json.dumps(ENVELOPE))):
        turn = toolglot.normalize(answer, [READ, LIST])
        results = toolglot.format_tool_results([(call, "done") for call in turn.tool_calls])
        assert [result["tool_call_id"] for result in results] == [call.id for call in turn.tool_calls]
        assert toolglot.check_history([*ASK, toolglot.assistant_message(turn), *results]) == []


def test_row_36_the_model_is_told_what_was_wrong() -> None:
    tools = ToolSet([READ])
    assert "path" in (tools.error_message(tools.check("read_file", {})) or "")
    assert "read_file" in (tools.error_message(tools.check("read_fil", {})) or "")
    colon = ToolSet([{**READ, "name": "clock:now"}])
    # By the name that the API was told.
    assert "clock_now" in (colon.error_message(colon.check("clock_nwo", {}), provider="openai") or "")


@pytest.mark.parametrize("kind", ["native", "text"])
def test_row_37_calls_are_streamed_as_they_come(kind: str) -> None:
    if kind == "native":
        reader: Any = toolglot.StreamNormalizer("openai", tools=[READ])
        begin = {"index": 0, "id": "c", "function": {"name": "read_file", "arguments": ""}}
        deltas = [begin, {"index": 0, "function": {"arguments": '{"path": '}}]
        pieces: list[Any] = [{"choices": [{"index": 0, "delta": {"tool_calls": [delta]}}]} for delta in deltas]
    else:
        reader = toolglot.StreamParser(tools=[READ])
        pieces = ['<tool_call>\n{"name": "read_file", "arguments": ', '{"path": ']
    events = [event.kind for piece in pieces for event in reader.feed(piece)]
    # Long before the call ends.
    assert "call_started" in events
    assert "call_ended" not in events


def test_row_38_geminis_format_is_behind_the_same_interface() -> None:
    part = {"functionCall": {"name": "read_file", "args": HOSTS}}
    answer = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}]}
    server = Server(answer)
    turn = client(server, "gemini-2.5-pro", None, provider="gemini").complete(ASK, [READ])
    assert server.urls[0].endswith("/models/gemini-2.5-pro:generateContent")
    assert server.asked[0]["tools"][0]["functionDeclarations"][0]["name"] == "read_file"
    assert turn.to_envelope() == ENVELOPE
    assert turn.issues == ()


def test_row_39_native_calling_is_switched_by_a_setting() -> None:
    for settings, mode in (({"prefer_native_tools": True}, "native"), ({"force_text_mode": True}, "text")):
        server = Server(
            GOOD if mode == "native" else text('{"name": "read_file", "arguments": {"path": "/etc/hosts"}}')
        )
        turn = client(server, config=Config(settings)).complete(ASK, [READ])
        assert path(turn) == [(mode, "usable")]
        assert ("tools" in server.asked[0]) == (mode == "native")
    assert ToolCalling([READ], mode="auto", model="gpt-4o", base_url=OPENAI).tool_mode == "native"


def test_row_40_native_tools_are_not_in_the_prompt() -> None:
    server = Server(GOOD)
    client(server).complete(ASK, [READ])
    assert server.asked[0]["messages"] == ASK
    assert ToolCalling([READ]).with_tool_prompt(ASK) == ASK


LANDSCAPE = [
    ("gpt-4o", OPENAI, {"native_tools": "yes", "json_schema": "yes", "json_object": "yes"}),
    ("llama-3.3-70b-versatile", GROQ, {"native_tools": "yes", "json_object": "yes"}),
    ("gemini-2.5-pro", GOOGLE, {"native_tools": "yes", "json_schema": "yes"}),
    ("anthropic/claude-3.5-sonnet", OPENROUTER, {"native_tools": "yes"}),
    ("m", URL, {"native_tools": "unknown", "json_schema": "unknown"}),
]


@pytest.mark.parametrize(("model", "url", "wanted"), LANDSCAPE)
def test_row_91_the_landscape_is_data(model: str, url: str, wanted: dict[str, str]) -> None:
    found = capabilities(model, url)
    assert {name: getattr(found, name).value for name in wanted} == wanted
    # Any model can be asked in text, whoever serves it.
    assert Config().model(model).modes(found)[-1] == "text"


def test_row_92_one_call_completes_with_the_best_method() -> None:
    server = Server(NO_TOOLS, text(json.dumps(ENVELOPE)), GOOD)
    turn = client(server).complete(ASK, [READ])
    assert path(turn) == [("native", "refused"), ("json_schema", "usable")]
    assert asyncio.run(Client("m", URL, client=server, capabilities=CapabilityStore()).complete(ASK, [READ])).tool_calls


def test_row_93_and_94_capabilities_of_a_model() -> None:
    """Native tools, JSON Schema, any JSON object, the context's size, calls as XML despite instructions."""
    found = capabilities("anthropic/claude-3.5-sonnet", OPENROUTER)
    assert (found.native_tools.value, found.text_calls.value, found.context_size.value) == ("yes", "yes", 200_000)
    deepseek = capabilities("deepseek-chat", "https://api.deepseek.com")
    assert (deepseek.json_schema.value, deepseek.json_object.value) == ("no", "yes")


@pytest.mark.parametrize("mode", ["native", "json_schema", "json_object", "text"])
def test_row_95_tools_are_offered_in_four_ways(mode: str) -> None:
    server = Server(GOOD if mode == "native" else text(json.dumps(ENVELOPE)))
    turn = client(server, config=Config({"preferred_modes": [mode]})).complete(ASK, [READ])
    (body,) = server.asked
    assert ("tools" in body) == (mode == "native")
    assert body.get("response_format", {"type": mode})["type"] == mode
    assert ("read_file" in body["messages"][0]["content"]) == (mode != "native")
    assert turn.to_envelope() == ENVELOPE


@pytest.mark.parametrize(
    ("url", "provider", "place"),
    [
        (OPENAI, "openai", f"{OPENAI}/chat/completions"),
        (GROQ, "openai", f"{GROQ}/chat/completions"),
        (GOOGLE, "gemini", f"{GOOGLE}/models/m:generateContent"),
        (OPENROUTER, "openai", f"{OPENROUTER}/chat/completions"),
    ],
)
def test_row_96_the_adapter_is_found_by_the_base_url(url: str, provider: str, place: str) -> None:
    at = Endpoint("m", url)
    assert at.provider == provider
    assert toolglot.Exchange(ASK, [READ], endpoints=[at]).next().url == place


def test_row_97_the_canonical_envelope() -> None:
    assert toolglot.normalize(GOOD, [READ]).to_envelope() == ENVELOPE
    assert toolglot.normalize(text("It is empty.")).to_envelope() == {
        "toolCalls": [],
        "content": "It is empty.",
        "needsMoreWork": False,
    }


def test_row_98_native_calls_come_before_envelope_markup_and_text() -> None:
    markup = '<function_calls>\n<invoke name="list_files">\n</invoke>\n</function_calls>'
    both = native(("read_file", json.dumps(HOSTS)), content=markup)
    assert [call.name for call in toolglot.normalize(both, [READ, LIST]).tool_calls] == ["read_file"]
    for content, name in ((json.dumps(ENVELOPE), "read_file"), (markup, "list_files")):
        assert [call.name for call in toolglot.normalize(text(content), [READ, LIST]).tool_calls] == [name]
    assert toolglot.normalize(text("Neither."), [READ, LIST]).content == "Neither."


@pytest.mark.parametrize("language", ["json", "", "tool_call"])
def test_row_99_an_envelope_in_a_fence_is_read(language: str) -> None:
    fenced = f"```{language}\n{json.dumps(ENVELOPE, indent=2)}\n```"
    turn = toolglot.extract(fenced, [READ])
    assert turn.to_envelope() == ENVELOPE
    client_turn = client(Server(text(fenced)), config=Config({"preferred_modes": ["json_object"]})).complete(
        ASK, [READ]
    )
    assert client_turn.to_envelope() == ENVELOPE


@pytest.mark.parametrize("tools", [None, [READ]], ids=["without tools", "with tools"])
def test_row_101_markers_with_a_name_alone_are_a_call(tools: Any) -> None:
    markers = "<|tool_calls_section_begin|>\n<|tool_call_begin|>read_file<|tool_call_end|>\n<|tool_calls_section_end|>"
    turn = toolglot.extract(markers, tools)
    (call,) = turn.tool_calls
    assert (call.name, call.arguments, turn.content) == ("read_file", {}, "")
    # The pattern leaves out the path, which the tool needs: the model can be told.
    assert call.status == ("ok" if tools is None else "invalid")


def test_row_102_envelope_and_arguments_are_validated() -> None:
    # The form of the envelope: a call without a name, or with arguments that are no object.
    for calls in ([{"arguments": HOSTS}], [{"name": "", "arguments": HOSTS}], [{"name": "read_file", "arguments": 5}]):
        turn = toolglot.extract(json.dumps({**ENVELOPE, "toolCalls": calls}), [READ])
        assert not any(call.runnable for call in turn.tool_calls), calls
    # The arguments, by the tool's schema.
    for arguments, keyword in (({}, "required"), ({"path": ["/etc"]}, "type")):
        wrong = {**ENVELOPE, "toolCalls": [{"name": "read_file", "arguments": arguments}]}
        (call,) = toolglot.extract(json.dumps(wrong), [READ]).tool_calls
        assert call.status == "invalid"
        assert [error.keyword for error in call.errors] == [keyword]


def test_row_103_calls_of_unknown_tools_are_left_out_of_the_envelope_with_a_warning() -> None:
    calls = [{"name": "read_file", "arguments": HOSTS}, {"name": "launch_rocket", "arguments": {}}]
    turn = toolglot.extract(json.dumps({**ENVELOPE, "toolCalls": calls}), [READ])
    assert turn.to_envelope() == ENVELOPE
    assert [call.status for call in turn.tool_calls] == ["ok", "unknown_tool"]
    (issue,) = (issue for issue in turn.issues if issue.code == "unknown_tool")
    assert "launch_rocket" in issue.message


def test_row_104_a_failed_generation_gives_up_its_call() -> None:
    failed = {
        "message": "Failed to call a function.",
        "code": "tool_use_failed",
        "failed_generation": f"<function=read_file>{json.dumps(HOSTS)}</function>",
    }
    # As the server says it, and as the SDK raises it.
    for body in ({"error": failed}, failed):
        assert toolglot.normalize(body, [READ]).to_envelope() == ENVELOPE
    server = Server((400, {"error": failed}))
    turn = client(server).complete(ASK, [READ])
    assert turn.to_envelope() == ENVELOPE
    assert len(server.asked) == 1


def test_row_105_the_model_corrects_itself_two_times_at_most() -> None:
    wrong = native(("read_file", "{}"))
    server = Server(wrong, wrong, GOOD)
    turn = client(server).complete(ASK, [READ])
    assert [attempt.why for attempt in turn.attempts] == ["first", "correction", "correction"]
    assert turn.to_envelope() == ENVELOPE
    told = server.asked[1]["messages"]
    assert [message["role"] for message in told] == ["user", "assistant", "tool"]
    assert "path" in told[-1]["content"]
    # Not a third time: the next mode.
    server = Server(wrong, wrong, wrong, text(json.dumps(ENVELOPE)))
    turn = client(server).complete(ASK, [READ])
    assert [attempt.why for attempt in turn.attempts] == ["first", "correction", "correction", "next_mode"]


def test_row_106_the_last_resort_is_the_text_itself() -> None:
    broken = 'I would call read_file with {"path": '
    turn = client(Server(text(broken)), config=Config({"preferred_modes": ["text"]})).complete(ASK, [READ])
    assert (turn.content, turn.tool_calls) == (broken, ())


def test_row_107_fallbacks_run_in_their_order_until_one_works() -> None:
    server = Server(NO_TOOLS, NO_SCHEMA, NO_FORMAT, text(""), GOOD)
    turn = client(server, escalate=["n"]).complete(ASK, [READ])
    ladder = [("m", mode) for mode in ("native", "json_schema", "json_object", "text")]
    assert [(attempt.model, attempt.mode) for attempt in turn.attempts] == [*ladder, ("n", "native")]
    # The last error, with all that was tried, where nothing works.
    with pytest.raises(toolglot.ProviderError) as raised:
        client(Server((401, {"error": {"message": "no"}})), escalate=[]).complete(ASK, [READ])
    assert [attempt.verdict for attempt in raised.value.attempts] == ["denied"]


def test_row_108_a_format_that_is_refused_leads_to_the_next() -> None:
    server = Server(NO_SCHEMA, NO_FORMAT, text(json.dumps(ENVELOPE)))
    modes = ["json_schema", "json_object", "text"]
    turn = client(server, config=Config({"preferred_modes": modes})).complete(ASK, [READ])
    assert path(turn) == [("json_schema", "refused"), ("json_object", "refused"), ("text", "usable")]
    only = Config({"preferred_modes": modes, "retry_with_different_format": False})
    with pytest.raises(toolglot.ProviderError):
        client(Server(NO_SCHEMA), config=only).complete(ASK, [READ])


def test_row_109_a_more_capable_model_is_asked() -> None:
    server = Server((400, {"error": {"message": "context too long"}}), GOOD)
    turn = client(server, escalate=["a-better-model"]).complete(ASK, [READ])
    assert [body["model"] for body in server.asked] == ["m", "a-better-model"]
    assert turn.attempts[-1].why == "next_model"


def test_row_110_what_is_left_is_text_only() -> None:
    server = Server(NO_TOOLS, NO_SCHEMA, NO_FORMAT, text('{"name": "read_file", "arguments": {"path": "/etc/hosts"}}'))
    turn = client(server).complete(ASK, [READ])
    assert path(turn)[-1] == ("text", "usable")
    assert not {"tools", "response_format"} & set(server.asked[-1])
    assert turn.to_envelope() == ENVELOPE


@pytest.mark.parametrize("model", ["gpt-4o", "gpt-4o-mini", "anthropic/claude-3.5-sonnet", "gemini-1.5-pro"])
def test_row_111_models_are_known_wherever_they_are(model: str) -> None:
    found = capabilities(model).native_tools
    assert (found.value, found.source) == ("yes", "family")


def test_row_112_what_was_learned_wins_for_a_day() -> None:
    now = 1_800_000_000.0
    store = CapabilityStore(clock=lambda: now)
    for outcome, value in (("success", "yes"), ("failure", "yes"), ("failure", "no")):
        store.record("gpt-4o", OPENAI, "native_tools", outcome)
        assert store.get("gpt-4o", OPENAI).native_tools.value == value
    assert store.get("gpt-4o", OPENAI).native_tools.source == "learned"
    now += 24 * 60 * 60 + 1
    assert store.get("gpt-4o", OPENAI).native_tools.source == "table"
    assert store.get("m", URL).native_tools.source == "default"


def test_row_113_a_model_that_is_not_known_is_probed() -> None:
    def send(method: str, url: str, headers: Any, body: Any) -> tuple[int, str]:
        if body is None:
            return 404, ""
        if "tools" in body:
            return 400, json.dumps({"error": {"message": "m does not support tools"}})
        return 200, json.dumps(text('{"number": 7}'))

    found = toolglot.probe("m", URL, send=send, store=CapabilityStore(), requests=True)
    assert (found.native_tools.value, found.json_schema.value) == ("no", "yes")


def test_row_114_the_configuration_of_a_model() -> None:
    default = Config().model("m")
    assert (default.max_retries, default.retry_with_different_format, default.strict_json_instructions) == (
        3,
        True,
        False,
    )
    claude = {"preferredModes": ["native_tools", "text"], "expectXmlOutput": True, "useStrictJsonInstructions": True}
    config = Config({"modelOverrides": {"*claude*": claude}})
    found = config.model("anthropic/claude-3.5-sonnet")
    assert found.preferred_modes == ["native", "text"]
    assert (found.expect_text_calls, found.strict_json_instructions, found.no_xml_instructions) == (True, True, True)
    assert config.model("gpt-4o") == default


def test_row_115_overrides_are_read_as_they_are_written(tmp_path: Any) -> None:
    file = tmp_path / "config.json"
    overrides = {
        "anthropic/claude-3.5-sonnet": {"preferNativeTools": True, "enableXmlNormalization": True},
        "meta-llama/llama-3.3-70b": {"forceTextMode": True},
    }
    file.write_text(json.dumps({"modelOverrides": overrides}))
    config = toolglot.load_config(file)
    claude = config.model("anthropic/claude-3.5-sonnet")
    assert (claude.preferred_modes[0], claude.expect_text_calls) == ("native", True)
    assert config.model("meta-llama/llama-3.3-70b").preferred_modes == ["text"]


def test_row_116_the_prompt_says_that_there_is_to_be_no_xml() -> None:
    said = []
    for strict in (True, False):
        server = Server(text(json.dumps(ENVELOPE)))
        config = Config({"preferred_modes": ["json_object"], "useStrictJsonInstructions": strict})
        client(server, config=config).complete(ASK, [READ])
        said.append("as XML" in server.asked[0]["messages"][0]["content"])
    assert said == [True, False]


def test_row_117_calls_are_seen_while_the_answer_streams() -> None:
    def server(request: Any) -> Any:
        for_text = 'Wait.\n<tool_call>\n{"name": "read_file", "arguments": {"path": "/etc/hosts"}}\n</tool_call>'
        frames = [{"choices": [{"index": 0, "delta": {"content": each}}]} for each in for_text]
        frames.append({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
        return 200, {}, [*(f"data: {json.dumps(frame)}\n\n".encode() for frame in frames), b"data: [DONE]\n\n"]

    with client(server).stream(ASK, [READ]) as stream:
        kinds = [event.kind for event in stream]
        assert stream.turn.to_envelope() == {**ENVELOPE, "content": "Wait.\n"}
    # The marker never reaches the reader, and the arguments come piece by piece.
    assert kinds.index("call_started") < kinds.index("arguments") < kinds.index("call_ended")
    assert kinds.count("arguments") > 3


def test_row_118_calls_under_strict_schemas_are_judged_as_well() -> None:
    """The row would skip it. Routes that call themselves strict answer otherwise at times, and judging takes microseconds."""
    strict = ToolSet([READ]).to_openai(strict=True)
    turn = toolglot.normalize(native(("read_file", '{"file": "/etc/hosts"}')), strict)
    assert [call.status for call in turn.tool_calls] == ["invalid"]


def test_row_119_success_retries_and_fallbacks_are_counted() -> None:
    wrong = native(("read_file", "{}"))
    server = Server(GOOD, wrong, GOOD, NO_TOOLS, text(json.dumps(ENVELOPE)), (401, {}))
    asked = client(server)
    for _ in range(3):
        asked.complete(ASK, [READ])
    asked.capabilities = CapabilityStore()
    with pytest.raises(toolglot.ProviderError):
        asked.complete(ASK, [READ])
    stats = asked.stats
    assert (stats.turns, stats.answered, stats.requests, stats.fallbacks) == (4, 3, 6, 1)
    assert (stats.success_rate, stats.retries_per_success, stats.fallback_share) == (0.75, 2 / 3, 0.25)
    assert stats.calls == {"ok": 3}
    assert stats.verdicts == {"usable": 3, "bad_calls": 1, "refused": 1, "denied": 1}


def test_row_120_the_loop_reports_its_progress() -> None:
    def read_file(path: str) -> str:
        "Read a file from the filesystem"
        return f"{path}: empty"

    seen = []
    result = client(Server(GOOD, text("It is empty."))).run(ASK, [read_file], on_progress=seen.append)
    assert [each.kind for each in seen] == ["turn", "tool_started", "tool_ended", "turn", "stopped"]
    assert (result.content, result.results[0].output) == ("It is empty.", "/etc/hosts: empty")


def test_each_row_has_its_test() -> None:
    names = "".join(name for name in vars(sys.modules[__name__]) if name.startswith("test_row_"))
    tested = {int(number) for number in re.findall(r"\d+", names)}
    assert tested >= {*range(18, 41), *range(91, 121)}
