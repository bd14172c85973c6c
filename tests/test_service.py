"""ToolCalling: one reader for native calls and calls in text, and turns that do not mix."""

from __future__ import annotations

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import toolglot
from support import ROOT
from toolglot.service import ToolCalling

SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
REGISTRY = {
    "time:wait": {"server": "time", "enabled": True, "definition": {"description": "Wait", "parameters": SCHEMA}},
    "off": {"server": "time", "enabled": False, "definition": {}},
}


def openai_response(*arguments: str, name: str = "time_wait", finish: str = "tool_calls") -> dict[str, Any]:
    calls = [
        {"id": f"call_{index}", "type": "function", "function": {"name": name, "arguments": text}}
        for index, text in enumerate(arguments)
    ]
    message = {"role": "assistant", "content": None, "tool_calls": calls}
    return {"choices": [{"index": 0, "message": message, "finish_reason": finish}]}


async def wait(call: toolglot.ToolCall) -> str:
    await asyncio.sleep(call.arguments["n"] / 100)
    if call.arguments["n"] == 2:
        raise OSError("no")
    return f"waited {call.arguments['n']}"


def spelt(service: ToolCalling) -> str:
    (tool,) = service.get_tool_definitions_for_api() or []
    return str(tool["function"]["name"])


def test_outcomes_keep_their_order_and_the_history_is_valid() -> None:
    service = ToolCalling(REGISTRY)
    name = spelt(service)
    turn = service.observe(openai_response('{"n": 3}', '{"n": 2}', '{"n": "x"}', '{"n": 1', '{"n": 0}', name=name))
    assert service.has_pending_tool_calls()
    assert service.last_stop_reason == turn.stop_reason
    ran: list[int] = []

    async def execute(call: toolglot.ToolCall) -> str:
        ran.append(call.arguments["n"])
        return await wait(call)

    outcomes = asyncio.run(
        run(service, execute, openai_response('{"n": 3}', '{"n": 2}', '{"n": "x"}', '{"n": 1', '{"n": 0}', name=name))
    )
    assert [outcome.output for outcome in outcomes] == ["waited 3", None, None, None, "waited 0"]
    assert [outcome.success for outcome in outcomes] == [True, False, False, False, True]
    assert sorted(ran) == [0, 2, 3]


async def run(service: ToolCalling, execute: Any, response: Any) -> list[Any]:
    service.observe(response)
    outcomes = await service.execute_native_tool_calls(execute)
    assert not service.has_pending_tool_calls()
    assert await service.execute_native_tool_calls(execute) == outcomes
    messages = [{"role": "user", "content": "?"}, *service.conversation_messages()]
    assert toolglot.check_history(messages, "openai") == []
    return outcomes


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "mistral", "cohere", "ollama", "bedrock"])
def test_every_provider_gets_a_history_it_takes(provider: str) -> None:
    service = ToolCalling(REGISTRY, provider=provider)

    async def go() -> list[Any]:
        service.observe('<tool_call>{"name": "time:wait", "arguments": {"n": 1}}</tool_call>')
        await service.execute_native_tool_calls(wait)
        return service.conversation_messages()

    question = {"role": "user", "content": "?"}
    first = toolglot.convert_messages([question], to=provider)[0] if provider != "openai" else question
    assert toolglot.check_history([first, *asyncio.run(go())], provider) == []


def test_turns_at_once_do_not_mix() -> None:
    service = ToolCalling(REGISTRY)
    name = spelt(service)

    async def conversation(n: int) -> None:
        for _ in range(5):
            service.observe(openai_response(json.dumps({"n": n}), name=name))
            await asyncio.sleep(0.001 * (n % 3))
            (outcome,) = await service.execute_native_tool_calls(wait)
            assert outcome.output == f"waited {n}"

    async def go() -> None:
        service.observe("Hello.")
        await asyncio.gather(*(conversation(n) for n in (0, 1, 3, 4, 5)))
        assert service.last_turn is not None
        assert service.last_turn.content == "Hello."

    asyncio.run(go())


def test_the_model_may_be_called_in_a_task_of_its_own() -> None:
    service = ToolCalling(REGISTRY)

    async def call_llm() -> None:
        service.observe('<tool_call>{"name": "time:wait", "arguments": {"n": 1}}</tool_call>')

    async def go() -> bool:
        service.begin_turn()
        await asyncio.create_task(call_llm())
        return service.has_pending_tool_calls()

    assert asyncio.run(go())


def test_streams() -> None:
    service = ToolCalling(REGISTRY)
    text = 'Hi. <tool_call>{"name": "time:wait", "arguments": {"n": 1}}</tool_call>'
    events = list(service.observe(iter(text)))
    assert "".join(event.text or "" for event in events if event.kind == "text").strip() == "Hi."
    assert len(service.get_last_tool_calls()) == 1

    def broken() -> Any:
        yield text
        raise OSError

    with pytest.raises(OSError):
        list(service.observe(broken()))
    assert not service.has_pending_tool_calls()


def test_a_mixin_needs_no_init() -> None:
    class Service(ToolCalling):
        def __init__(self) -> None:
            self.name = "mine"

    service = Service()
    assert service.get_tool_definitions_for_api() is None
    assert not service.has_pending_tool_calls()
    service.use_tools(REGISTRY)
    assert spelt(service)


WROTE = 'Look: <tool_call>{"name": "time:wait", "arguments": {"n": 1}}</tool_call> and then '


def answers(text: str) -> dict[str, Any]:
    """The same answer in every form that can be observed."""
    whole = {"choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}

    def chunks() -> Any:
        for letter in text:
            yield {"choices": [{"index": 0, "delta": {"content": letter}, "finish_reason": None}]}
        yield {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}

    return {"text": text, "pieces": iter(text), "response": whole, "chunks": chunks()}


@pytest.mark.parametrize("form", ["text", "pieces", "response", "chunks"])
def test_in_text_mode_the_model_sees_what_it_wrote(form: str) -> None:
    service = ToolCalling(REGISTRY, mode="text")
    observed = service.observe(answers(WROTE)[form])
    if form in ("pieces", "chunks"):
        list(observed)
    asyncio.run(run_pending(service))
    said, result = service.conversation_messages()
    assert said == {"role": "assistant", "content": WROTE}
    assert result == {"role": "user", "content": "<tool_response>\nwaited 1\n</tool_response>"}


async def run_pending(service: ToolCalling) -> None:
    assert service.has_pending_tool_calls()
    await service.execute_native_tool_calls(wait)


def test_in_text_mode_native_calls_are_written_as_the_dialect_does() -> None:
    service = ToolCalling(REGISTRY, mode="text", dialect="mistral")
    service.observe(openai_response('{"n": 1}', '{"n": 0}', name="time:wait"))
    said = service.conversation_messages()[0]["content"]
    assert said == '[TOOL_CALLS]time:wait[ARGS]{"n": 1}\n[TOOL_CALLS]time:wait[ARGS]{"n": 0}'


def test_a_result_that_the_model_made_up_does_not_go_back() -> None:
    service = ToolCalling(REGISTRY, mode="text")
    service.observe(WROTE + "<tool_response>99</tool_response>")
    said, _ = service.conversation_messages()
    assert "99" not in said["content"]
    assert '"time:wait"' in said["content"]


KIMI = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.wait:0<|tool_call_argument_begin|>"
    '{"n": 1}<|tool_call_end|><|tool_calls_section_end|>'
)


@pytest.mark.parametrize("dialect", ["auto", "kimi_k2"])
@pytest.mark.parametrize("form", ["text", "pieces", "response", "chunks"])
def test_the_ids_of_events_are_those_of_the_turn(form: str, dialect: str) -> None:
    """A model that writes its ids writes the same ones in every answer."""
    service = ToolCalling([{"name": "wait", "parameters": SCHEMA}], dialect=dialect)
    seen: list[str] = []
    for _ in range(3):
        observed = service.observe(answers(KIMI)[form])
        if form in ("pieces", "chunks"):
            events = [event for event in observed if event.kind in ("call_started", "call_ended")]
            assert len(events) == 2
            assert {event.id for event in events} == {service.get_last_tool_calls()[0].id}
        asyncio.run(run_pending(service))
        (call,) = service.get_last_tool_calls()
        assert service.conversation_messages()[1]["tool_call_id"] == call.id
        seen.append(call.id)
    assert len({*seen}) == 3


def test_native_calls_keep_their_ids_beside_calls_in_text() -> None:
    service = ToolCalling([{"name": "wait", "parameters": SCHEMA}])
    native = {"index": 0, "id": "call_native", "function": {"name": "wait", "arguments": '{"n": 2}'}}
    chunks = [
        {"choices": [{"index": 0, "delta": {"content": KIMI}}]},
        {"choices": [{"index": 0, "delta": {"tool_calls": [native]}}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]},
    ]
    events = list(service.observe(iter(chunks)))
    started = [event.id for event in events if event.kind == "call_started"]
    assert started[1:] == ["call_native"]
    assert started[0] != "functions.wait:0"
    assert [event.id for event in events if event.kind == "call_ended"] == ["call_native"]
    assert [call.id for call in service.get_last_tool_calls()] == ["call_native"]


def test_a_stream_that_is_given_up_is_closed() -> None:
    closed: list[str] = []

    def chunks() -> Any:
        try:
            yield from ("one ", "two ")
        finally:
            closed.append("sync")

    async def pieces() -> Any:
        try:
            yield "one "
            yield "two "
        finally:
            closed.append("async")

    async def go() -> None:
        events = service.observe(pieces())
        await anext(events)
        await events.aclose()  # type: ignore[attr-defined]

    service = ToolCalling()
    source = chunks()
    events = service.observe(source)
    next(events)
    events.close()  # type: ignore[attr-defined]
    assert closed == ["sync"]
    asyncio.run(go())
    assert closed == ["sync", "async"]
    assert service.last_turn is None


THOUGHT = "I should think.</think>Yes."


@pytest.mark.parametrize("form", ["text", "pieces", "response", "chunks"])
def test_a_prompt_that_opened_the_reasoning(form: str) -> None:
    def observed(service: ToolCalling, **options: Any) -> list[str | None]:
        found = service.observe(answers(THOUGHT)[form], **options)
        kinds = [event.kind for event in found] if form in ("pieces", "chunks") else []
        assert ("reclassified" in kinds) == (bool(kinds) and not options)
        turn = service.last_turn
        assert turn is not None
        return [turn.reasoning, turn.content]

    assert observed(ToolCalling()) == ["I should think.", "Yes."]
    assert observed(ToolCalling(), starts_in="reasoning") == ["I should think.", "Yes."]
    cut = ToolCalling(starts_in="reasoning")
    found = cut.observe(answers("I should")[form])
    if form in ("pieces", "chunks"):
        assert {event.kind for event in found} == {"reasoning"}
    assert cut.last_turn is not None
    assert (cut.last_turn.reasoning, cut.last_turn.content) == ("I should", "")


def test_one_form_for_prompt_history_and_results() -> None:
    """Without a dialect a model is asked for plain JSON; what it is shown has that form too, until it chose another."""
    service = ToolCalling(REGISTRY, mode="text")
    prompt = service.with_tool_prompt([{"role": "user", "content": "?"}])[0]["content"]
    assert prompt == service.tool_set.to_prompt("json")
    service.observe(openai_response('{"n": 1}', name="time:wait"))
    said, result = service.conversation_messages()
    call = service.get_last_tool_calls()[0]
    turn = toolglot.Turn("", [call])
    assert said == toolglot.assistant_message(turn, provider="text", dialect="json")
    outcome = [(call, "The call was not executed.", True)]
    assert [result] == toolglot.format_tool_results(outcome, provider="text", dialect="json")
    assert service.format_tool_result(call.id, "x") == toolglot.format_tool_result(
        call, "x", provider="text", dialect="json"
    )


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "bedrock"])
@pytest.mark.parametrize("name", ["no such tool", "é" * 70, "9", ""])
def test_a_name_that_is_not_offered_can_stand_in_a_history(provider: str, name: str) -> None:
    service = ToolCalling(REGISTRY, provider=provider)
    service.observe(toolglot.Turn("", [toolglot.ToolCall(name, {}, status="unknown_tool")], source="native"))
    question = list(toolglot.convert_messages([{"role": "user", "content": "?"}], to=provider))
    assert toolglot.check_history([*question, *service.conversation_messages()], provider) == []


def test_calls_run_at_once() -> None:
    """Each waits for all the others to have begun."""
    service = ToolCalling(REGISTRY)
    begun: list[int] = []

    async def go() -> list[Any]:
        everyone = asyncio.Event()

        async def execute(call: toolglot.ToolCall) -> int:
            begun.append(call.arguments["n"])
            if len(begun) == 3:
                everyone.set()
            await asyncio.wait_for(everyone.wait(), 60)
            return call.arguments["n"]

        return await run(service, execute, openai_response('{"n": 7}', '{"n": 8}', '{"n": 9}', name=spelt(service)))

    assert [outcome.output for outcome in asyncio.run(go())] == [7, 8, 9]


def test_threads_do_not_mix() -> None:
    service = ToolCalling(REGISTRY)
    name = spelt(service)
    together = threading.Barrier(4)

    def conversation(n: int) -> list[str]:
        found = []
        for _ in range(20):
            service.observe(openai_response(json.dumps({"n": n}), name=name))
            together.wait(60)
            found += [call.arguments_json for call in service.get_last_tool_calls()]
        return found

    with ThreadPoolExecutor(4) as pool:
        for n, found in enumerate(pool.map(conversation, range(4))):
            assert found == [json.dumps({"n": n})] * 20


CASES = [
    pytest.param(path.stem.removesuffix("_chat"), case, id=case["name"])
    for path in sorted((ROOT / "tests" / "data" / "providers").glob("*.jsonl"))
    if path.stem not in ("errors", "compat_streams")
    for case in map(json.loads, path.read_text("utf-8").splitlines())
    if "needs" not in case["expect"]
]


class Sdk:
    """A response as SDKs give it: an object that can be dumped."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    def model_dump(self, **_: Any) -> dict[str, Any]:
        return self.data


@pytest.mark.parametrize("dumped", [False, True], ids=["dict", "object"])
@pytest.mark.parametrize(("provider", "case"), CASES)
def test_whatever_a_provider_answers(provider: str, case: dict[str, Any], dumped: bool) -> None:
    """Whole or as a stream: the turn is what `normalize` reads, and its history is one that the provider takes."""
    tools = [{"name": name} for name in ("get_weather", "get_time", "ping", "run_py", "find_customer")]
    asyncio.run(observed(ToolCalling(tools, provider=provider), provider, case, dumped))


async def observed(service: ToolCalling, provider: str, case: dict[str, Any], dumped: bool) -> None:
    given = case["input"]
    if case["kind"] == "response":
        service.observe(Sdk(given) if dumped and isinstance(given, dict) else given)
    else:
        await consume(service, [Sdk(chunk) if dumped and isinstance(chunk, dict) else chunk for chunk in given])
    turn = service.last_turn
    assert turn is not None
    assert turn.content == case["expect"]["content"]
    assert [call.name for call in turn.tool_calls] == [call["name"] for call in case["expect"]["calls"]]
    assert service.has_pending_tool_calls() == bool(turn.tool_calls)
    assert service.last_turn is not None
    assert service.last_turn.stop_reason == case["expect"]["stop_reason"]
    question: list[Any] = [{"role": "user", "content": "?"}]
    if provider != "openai":
        question = toolglot.convert_messages(question, to=provider)
    assert toolglot.check_history([*question, *service.conversation_messages()], provider) == []


async def consume(service: ToolCalling, chunks: list[Any]) -> None:
    async def stream() -> Any:
        for chunk in chunks:
            yield chunk

    # In a task of its own, as by `asyncio.wait_for`: who began the turn sees it.
    service.begin_turn()

    async def read() -> None:
        async for _ in service.observe(stream()):
            pass

    await asyncio.create_task(read())


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"provider": "nope"}, toolglot.UnknownProviderError),
        ({"mode": "x"}, toolglot.BadOptionError),
        ({"dialect": "nope"}, toolglot.UnknownDialectError),
        ({"dialect": "nope", "mode": "text"}, toolglot.UnknownDialectError),
        ({"policy": {"x": 1}}, toolglot.BadOptionError),
        ({"starts_in": "x"}, toolglot.BadOptionError),
        ({"timeout": "x"}, toolglot.BadOptionError),
    ],
)
def test_options_are_checked_where_they_are_said(options: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        ToolCalling(REGISTRY, **options)
    service = ToolCalling(REGISTRY)
    with pytest.raises(error):
        service.use_tools([{"name": "other"}], **options)
    assert "other" not in service.tool_set


def test_a_result_of_any_kind_makes_a_history() -> None:
    service = ToolCalling([{"name": "ls"}])
    service.observe('<tool_call>{"name": "ls", "arguments": {}}</tool_call>')
    asyncio.run(service.execute_native_tool_calls(lambda call: {"caf\udce9.txt": {1, 2}}))
    assert service.conversation_messages()[-1]["content"] == '{"caf\ufffd.txt":[1,2]}'


def test_a_time_out_of_the_tool_itself_says_what_it_said() -> None:
    service = ToolCalling(REGISTRY)
    service.observe(openai_response('{"n": 1}', name=spelt(service)))

    async def fails(call: toolglot.ToolCall) -> str:
        raise TimeoutError("the database cannot be reached")

    (outcome,) = asyncio.run(service.execute_native_tool_calls(fails))
    assert outcome.error == "the database cannot be reached"


def test_a_registry_says_which_entry_is_no_tool() -> None:
    good = {"server": "files", "definition": {"description": "Read", "parameters": SCHEMA}, "enabled": True}
    for bad in ({"server": "files", "enabled": True}, None, [], "read"):
        with pytest.raises(toolglot.BadToolError) as caught:
            ToolCalling({"good": good, "bad": bad})
        assert caught.value.place == "bad"
    assert [tool.name for tool in ToolCalling({"good": good, "off": {"enabled": False}}).tool_set] == ["good"]


def test_a_registry_of_plain_declarations() -> None:
    service = ToolCalling({"read": {"description": "Read", "parameters": SCHEMA}})
    (tool,) = service.tool_set
    assert (tool.name, tool.description, tool.schema) == ("read", "Read", SCHEMA)
    by_server = ToolCalling({"files": [{"name": "read"}], "web": [{"name": "read"}]})
    assert [tool.name for tool in by_server.tool_set] == ["files:read", "web:read"]


def ask(service: ToolCalling, messages: list[Any]) -> list[Any]:
    """What is sent first, and what stands in the history behind one call in text and its result."""
    sent = service.with_tool_prompt(messages)
    service.observe(WROTE)
    (call,) = service.get_last_tool_calls()
    asyncio.run(service.execute_native_tool_calls(wait))
    said, *results = service.conversation_messages()
    assert [service.format_tool_result(call.id, "waited 1")] == results
    return [*sent, said, *results]


@pytest.mark.parametrize(
    "provider", ["openai", "openai_responses", "anthropic", "gemini", "mistral", "cohere", "ollama", "bedrock"]
)
def test_text_mode_speaks_the_shape_of_its_provider(provider: str) -> None:
    service = ToolCalling(REGISTRY, mode="text", provider=provider)
    question = list(toolglot.convert_messages([{"role": "user", "content": "?"}], to=provider))
    history = ask(service, question)
    assert toolglot.check_history(history, provider) == []
    told = toolglot.convert_messages(history, to="openai", source=provider)
    texts = [json.dumps(message["content"]) for message in told]
    assert json.dumps(service.tool_set.to_prompt())[1:-1] in texts[0]
    assert json.dumps(WROTE)[1:-1] in texts[-2]
    assert "waited 1" in texts[-1]
    # The given ones stay as they were.
    assert question == list(toolglot.convert_messages([{"role": "user", "content": "?"}], to=provider))


@pytest.mark.parametrize("content", ["?", [{"type": "text", "text": "?", "cache_control": {"type": "ephemeral"}}]])
def test_the_tools_stand_before_the_question_where_the_prompt_stands_beside(content: Any) -> None:
    service = ToolCalling(REGISTRY, mode="text", provider="anthropic")
    (message,) = service.with_tool_prompt([{"role": "user", "content": content}])
    prompt = service.tool_set.to_prompt()
    if isinstance(content, str):
        assert message["content"] == f"{prompt}\n\n?"
    else:
        assert message["content"] == [{"type": "text", "text": prompt}, *content]
    assert service.with_tool_prompt([]) == [{"role": "user", "content": prompt}]


def test_who_asks_while_the_calls_run_waits_for_their_outcomes() -> None:
    service = ToolCalling(REGISTRY)
    ran: list[str] = []

    async def go() -> None:
        let_go = asyncio.Event()

        async def execute(call: toolglot.ToolCall) -> str:
            ran.append(call.name)
            await let_go.wait()
            return "done"

        service.begin_turn()
        service.observe(openai_response('{"n": 1}', name=spelt(service)))
        first = asyncio.create_task(service.execute_native_tool_calls(execute))
        await asyncio.sleep(0)
        assert service.has_pending_tool_calls()
        messages = [{"role": "user", "content": "?"}, *service.conversation_messages()]
        assert toolglot.check_history(messages, "openai") == []
        given_up = asyncio.create_task(service.execute_native_tool_calls(execute))
        second = asyncio.create_task(service.execute_native_tool_calls(execute))
        await asyncio.sleep(0.01)
        given_up.cancel()
        await asyncio.sleep(0.01)
        let_go.set()
        (outcome,) = await second
        assert outcome.output == "done"
        assert await first == [outcome]
        assert given_up.cancelled()
        assert not service.has_pending_tool_calls()

    asyncio.run(go())
    assert len(ran) == 1


def test_who_waited_gets_the_outcomes_of_what_they_asked_for() -> None:
    """Also if the next answer is there, or begins, before the tools are done."""
    service = ToolCalling(REGISTRY)

    async def go() -> None:
        let_go = asyncio.Event()

        async def execute(call: toolglot.ToolCall) -> int:
            await let_go.wait()
            return call.arguments["n"]

        service.begin_turn()
        service.observe(openai_response('{"n": 1}', name=spelt(service)))
        tasks = [asyncio.create_task(service.execute_native_tool_calls(execute)) for _ in range(2)]
        await asyncio.sleep(0.01)
        following = service.observe(iter([WROTE]))
        let_go.set()
        assert [[outcome.output for outcome in await task] for task in tasks] == [[1], [1]]
        list(following)
        assert service.has_pending_tool_calls()
        (outcome,) = await service.execute_native_tool_calls(wait)
        assert outcome.output == "waited 1"

    asyncio.run(go())


@pytest.mark.parametrize("execute", [None, 5, lambda: 1, lambda call, *, needed: 1])
def test_what_no_call_can_be_given_to_is_the_programmers_to_mend(execute: Any) -> None:
    service = ToolCalling(REGISTRY)
    service.observe(openai_response('{"n": 1}', name=spelt(service)))
    with pytest.raises(toolglot.BadOptionError) as caught:
        asyncio.run(service.execute_native_tool_calls(execute))
    assert caught.value.place == "execute"
    assert service.has_pending_tool_calls()


def test_what_a_tool_raises_is_logged_and_kept(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG", "toolglot.service")
    service = ToolCalling(REGISTRY)
    service.observe(openai_response('{"n": 1}', name=spelt(service)))
    (outcome,) = asyncio.run(service.execute_native_tool_calls(lambda call: {}["x"]))
    assert isinstance(outcome.exception, KeyError)
    assert outcome.error == "KeyError: 'x'"
    record, with_traceback = caplog.records
    assert record.name == "toolglot.service"
    assert record.message == "the tool time:wait failed: KeyError: 'x'"
    assert record.exc_info is None
    assert with_traceback.levelname == "DEBUG"
    assert with_traceback.exc_info is not None
    assert with_traceback.exc_info[1] is outcome.exception


def test_what_a_task_of_the_model_asks_for_itself_is_not_lost() -> None:
    service = ToolCalling(REGISTRY)

    async def call_llm() -> None:
        service.observe(WROTE)
        service.has_pending_tool_calls()

    async def go() -> None:
        service.has_pending_tool_calls()
        for _ in range(2):
            await asyncio.create_task(call_llm())
            assert service.has_pending_tool_calls()
            service.conversation_messages()

    asyncio.run(go())


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), True])
def test_no_time_to_wait_is_refused(timeout: Any) -> None:
    with pytest.raises(toolglot.BadOptionError):
        ToolCalling(REGISTRY, timeout=timeout)


def test_mode_auto_is_native_unless_it_is_known_otherwise() -> None:
    tools = [{"name": "ping", "description": "Ping", "parameters": {"type": "object", "properties": {}}}]
    url = "http://localhost:8000/v1"
    for model, where, mode in [
        ("gpt-4o", "https://api.openai.com/v1", "native"),
        ("gemma3:4b", "http://localhost:11434/v1", "text"),
        ("a-model-of-my-own", url, "native"),
    ]:
        assert ToolCalling(tools, mode="auto", model=model, base_url=where).tool_mode == mode
    store = toolglot.CapabilityStore()
    service = ToolCalling(tools, mode="auto", model="m", base_url=url, capabilities=store)
    assert not service.refused({"status": 400, "body": {"error": {"message": "the history is wrong"}}})
    assert service.get_tool_definitions_for_api() is not None
    assert service.refused({"status": 400, "body": {"error": {"message": "m does not support tools"}}})
    assert service.tool_mode == "text"
    assert service.get_tool_definitions_for_api() is None
    assert "ping" in service.with_tool_prompt([{"role": "user", "content": "Hi"}])[0]["content"]
    # The next service that shares the store knows it.
    assert ToolCalling(tools, mode="auto", model="m", base_url=url, capabilities=store).tool_mode == "text"
    native = ToolCalling(tools, mode="auto", model="n", base_url=url, capabilities=store)
    call = {"id": "c", "type": "function", "function": {"name": "ping", "arguments": "{}"}}
    native.observe({"choices": [{"message": {"content": None, "tool_calls": [call]}}]})
    assert store.get("n", url).native_tools.source == "learned"
    with pytest.raises(toolglot.BadOptionError):
        ToolCalling(tools, mode="auto")


@pytest.mark.parametrize("dialect", ["auto", "hermes", "qwen3_coder", "kimi_k2", "mistral"])
def test_text_mode_writes_what_the_transcoder_writes(dialect: str) -> None:
    """The service keeps a history as text, a router's clients keep a native one: the model reads the same of both."""
    schema = {"type": "object", "properties": {"path": {"type": "string"}}}
    tools = [{"type": "function", "function": {"name": "ls", "description": "List", "parameters": schema}}]
    call = {"id": "call_1", "type": "function", "function": {"name": "ls", "arguments": '{"path": "/"}'}}
    question = {"role": "user", "content": "?"}
    answer = {"role": "assistant", "content": "I look.", "tool_calls": [call]}
    service = ToolCalling(tools, mode="text", dialect=dialect)
    service.observe({"choices": [{"message": answer, "finish_reason": "tool_calls"}]})
    asyncio.run(service.execute_native_tool_calls(lambda call: "a.txt"))
    kept = service.with_tool_prompt([question, *service.conversation_messages()])

    native = [question, answer, {"role": "tool", "tool_call_id": "call_1", "content": "a.txt"}]
    request = {"model": "m", "messages": native, "tools": tools}
    translation = toolglot.Transcoder("chat", "chat", mode="text", dialect=dialect).request(json.dumps(request))
    assert json.loads(translation.body)["messages"] == kept
