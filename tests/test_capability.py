"""What routes can do: the tables, what servers tell, what is learned, and asking."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

import toolglot
from support import ROOT
from toolglot import CapabilityStore, _core, capabilities, probe, supports_native_tool_calling
from toolglot.cli import main

CASES = ROOT / "tests" / "data" / "capabilities"
URL = "http://localhost:8000/v1"
CAPABILITIES = (
    "native_tools parallel_calls tool_choice json_schema json_object strict streamed_tools text_calls reasoning".split()
)


def cases(name: str) -> list[Any]:
    rows = [json.loads(line) for line in (CASES / f"{name}.jsonl").read_text("utf-8").splitlines()]
    return [pytest.param(row, id=row.get("name") or f"{row.get('model', row.get('source'))}") for row in rows]


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("case", cases("routes"))
def test_tables(case: dict[str, Any]) -> None:
    found = capabilities(case["model"], case["base_url"])
    assert found.provider == case["provider"]
    for name, (value, source) in case["expect"].items():
        finding = getattr(found, name)
        assert (finding.value, finding.source) == (value, source), name
        assert (finding.date is None) == (source == "default")
        assert bool(finding.detail) == (source != "default")
    if "dialect" in case:
        assert found.dialect.value == case["dialect"]
    wanted = case["expect"].get("native_tools", ["unknown"])[0] == "yes"
    if "native_tools" in case["expect"]:
        assert supports_native_tool_calling(case["model"], case["base_url"]) == wanted


def test_every_case_has_a_source() -> None:
    folders = (CASES, ROOT / "tests" / "data" / "exchange")
    for file in (file for folder in folders for file in folder.iterdir()):
        text = file.read_text("utf-8")
        rows = json.loads(text) if file.suffix == ".json" else map(json.loads, text.splitlines())
        assert all(row["source"] for row in rows), file.name


def test_sources_are_named() -> None:
    found = capabilities("gpt-4o", "https://api.openai.com/v1")
    assert found.native_tools.detail.startswith("litellm ")
    assert "models.dev" in found.native_tools.detail
    assert "Chat Completions" in found.strict.detail
    doubt = capabilities("gpt-3.5-turbo").native_tools
    assert (doubt.value, doubt.source) == ("unknown", "family")
    assert "contradict" in doubt.detail
    assert repr(found).startswith("Capabilities('gpt-4o'") or repr(found).startswith('Capabilities("gpt-4o"')
    assert "native_tools=yes (table)" in repr(found)
    assert repr(capabilities("gpt-4o").native_tools).startswith("Finding(value='yes', source='family'")


def test_secrets_of_a_url_are_not_kept() -> None:
    found = capabilities("m", "https://user:secret@host/v1?key=secret")
    assert found.base_url == "https://host/v1"
    assert "secret" not in repr(found)


def test_as_a_dict() -> None:
    found = capabilities("gpt-4o", "https://api.openai.com/v1").to_dict()
    assert set(CAPABILITIES) < set(found)
    assert json.loads(json.dumps(found)) == found
    assert found["context_size"]["value"] == 128_000


@pytest.mark.parametrize("case", cases("server_info"))
@pytest.mark.parametrize("kind", ["memory", "file"])
def test_what_servers_tell(case: dict[str, Any], kind: str, tmp_path: Path) -> None:
    store = CapabilityStore(None if kind == "memory" else tmp_path / "s.sqlite")
    if case.get("error"):
        with pytest.raises(toolglot.ProviderError):
            store.tell(case["model"], URL, case["answer"])
        return
    assert store.tell(case["model"], URL, case["answer"]) == case["server"]
    found = capabilities(case["model"], URL, store)
    assert found.provider == case["server"]
    said = {name: getattr(found, name).value for name in CAPABILITIES if getattr(found, name).source == "server"}
    assert said == case["expect"]
    size = found.context_size
    assert (size.value if size.source == "server" else None) == case["context"]
    store.close()


def test_the_server_that_told_is_known_for_more() -> None:
    store = CapabilityStore()
    store.tell("m", URL, {"object": "list", "data": [{"id": "m", "owned_by": "vllm", "max_model_len": 8096}]})
    assert capabilities("m", URL, store).json_schema.value == "yes"
    assert capabilities("m", URL, store).json_schema.source == "table"
    assert capabilities("m", URL).json_schema.value == "unknown"


@pytest.mark.parametrize("case", cases("learned"))
@pytest.mark.parametrize("kind", ["memory", "file"])
def test_learning(case: dict[str, Any], kind: str, tmp_path: Path) -> None:
    clock = Clock()
    start = clock.now
    store = CapabilityStore(None if kind == "memory" else tmp_path / "s.sqlite", clock=clock)
    for at, outcome in case["events"]:
        clock.now = start + at
        store.record("m", URL, "native_tools", outcome)
    clock.now = start + case["at"]
    finding = capabilities("m", URL, store).native_tools
    assert (finding.value if finding.source == "learned" else None) == case["expect"]
    store.close()


def test_what_is_learned_wins() -> None:
    """Learned, then said by the server, then listed, then the family."""
    store = CapabilityStore()
    model, url = "gemma3:4b", "http://localhost:11434/v1"
    assert capabilities(model, url, store).native_tools.source == "family"
    store.tell(model, url, {"model_info": {}, "capabilities": ["completion", "tools"]})
    assert (capabilities(model, url, store).native_tools.value, capabilities(model, url, store).tool_choice.source) == (
        "yes",
        "table",
    )
    store.record(model, url, "native_tools", "failure")
    assert capabilities(model, url, store).native_tools.value == "no"
    assert capabilities(model, "http://localhost:11434/", store).native_tools.source == "family"
    store.forget(model, url)
    assert capabilities(model, url, store).native_tools.source == "family"


def test_a_required_call_that_never_came() -> None:
    store = CapabilityStore()
    store.record("m", URL, "tool_choice", "ignored")
    assert capabilities("m", URL, store).tool_choice.value == "ignored"
    assert not supports_native_tool_calling("m", URL, store)


@pytest.mark.parametrize(
    "arguments",
    [("m", None, "tools", "success"), ("m", None, "native_tools", "good")],
)
def test_no_such_word(arguments: tuple[Any, ...]) -> None:
    with pytest.raises(toolglot.BadOptionError):
        CapabilityStore().record(*arguments)


def test_bad_stores(tmp_path: Path) -> None:
    with pytest.raises(toolglot.BadOptionError):
        CapabilityStore(ttl=-1)
    (tmp_path / "no").write_text("no database at all, but long enough to be read as one" * 50)
    with pytest.raises(toolglot.BadOptionError):
        CapabilityStore(tmp_path / "no")


def test_a_file_outlives_the_store_and_forgets(tmp_path: Path) -> None:
    file, clock = tmp_path / "s.sqlite", Clock()
    with CapabilityStore(file, ttl=100, clock=clock) as store:
        store.record("old", URL, "native_tools", "failure")
        clock.now += 50
        store.record("m", URL, "native_tools", "failure")
    with CapabilityStore(file, ttl=100, clock=clock) as store:
        assert store.get("m", URL).native_tools.value == "no"
        clock.now += 60
        assert store.get("old", URL).native_tools.source == "default"
        store.record("m", URL, "json_schema", "success")
    rows = sqlite3.connect(file).execute("select route from routes").fetchall()
    assert rows == [("http://localhost:8000/v1 m",)], "what is forgotten is not kept"


def test_a_broken_row_is_an_error_and_no_lock(tmp_path: Path) -> None:
    file = tmp_path / "s.sqlite"
    with CapabilityStore(file) as store:
        store.record("m", URL, "native_tools", "failure")
        with sqlite3.connect(file) as base:
            base.execute("update routes set learned = '{}'")
        with pytest.raises(toolglot.BadOptionError):
            store.record("m", URL, "native_tools", "failure")
        store.record("n", URL, "native_tools", "failure")


WRITER = """
import sys, toolglot
with toolglot.CapabilityStore(sys.argv[1]) as store:
    for number in range(40):
        store.record(f"m{number}", "http://localhost:8000/v1", "native_tools", "ignored")
        store.record("shared", "http://localhost:8000/v1", sys.argv[2], "ignored")
"""


def test_processes_share_a_file(tmp_path: Path) -> None:
    """What each writes of one route is there in the end: no process writes over what another counted."""
    file = tmp_path / "s.sqlite"
    names = CAPABILITIES[:4]
    running = [subprocess.Popen([sys.executable, "-c", WRITER, str(file), name]) for name in names]
    assert [process.wait(120) for process in running] == [0] * len(names)
    with CapabilityStore(file) as store:
        found = store.get("shared", URL)
        assert [getattr(found, name).value for name in names] == ["ignored"] * len(names)


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_threads_share_a_store(kind: str, tmp_path: Path) -> None:
    store = CapabilityStore(None if kind == "memory" else tmp_path / "s.sqlite")
    failed: list[BaseException] = []

    def work(name: str) -> None:
        try:
            for _ in range(50):
                store.record("m", URL, name, "ignored")  # type: ignore[arg-type]
                store.get("m", URL)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in CAPABILITIES]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    found = store.get("m", URL)
    assert [getattr(found, name).value for name in CAPABILITIES] == ["ignored"] * len(CAPABILITIES)
    store.close()


@pytest.mark.parametrize("case", cases("refusals"))
def test_refusals(case: dict[str, Any]) -> None:
    assert _core._refused(case["status"], case["body"], case["format"]) == case["expect"]


def answer_of(name: str) -> str:
    (case,) = (param.values[0] for param in cases("server_info") if param.values[0]["name"] == name)
    return json.dumps(case["answer"])


def call_answer(message: dict[str, Any], finish: str = "stop") -> str:
    return json.dumps({"choices": [{"index": 0, "finish_reason": finish, "message": message}]})


NATIVE = call_answer(
    {
        "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "report_number", "arguments": '{"number": 7}'}}
        ]
    }
)
# llama-server with SmolLM2 and tool_choice "required" answered so, with status 200.
DROPPED = call_answer(
    {"role": "assistant", "content": "Sure. Here's the report:\n\n1. 1.01: No action.\n2. 1"}, "length"
)
LEAKED = call_answer({"content": '<tool_call>\n{"name": "report_number", "arguments": {"number": 7}}\n</tool_call>'})

PROBES = [
    pytest.param(
        "http://localhost:8080/v1",
        "m",
        [
            ("GET http://localhost:8080/v1/models", 200, answer_of("llama.cpp's list of models")),
            ("GET http://localhost:8080/props", 200, answer_of("llama.cpp without tools in the template")),
            ("POST http://localhost:8080/v1/chat/completions", 200, DROPPED),
            ("POST http://localhost:8080/v1/chat/completions", 200, call_answer({"content": '{"number": 3}'})),
        ],
        {
            "native_tools": ("ignored", "learned"),
            "tool_choice": ("ignored", "learned"),
            "json_schema": ("yes", "learned"),
        },
        id="llama.cpp without tools",
    ),
    pytest.param(
        "http://localhost:11434/v1",
        "qwen3:8b",
        [
            (
                "POST http://localhost:11434/api/show",
                200,
                answer_of("Ollama, tools and thinking; the context that is set"),
            ),
            ("POST http://localhost:11434/v1/chat/completions", 200, NATIVE),
            ("POST http://localhost:11434/v1/chat/completions", 200, call_answer({"content": "Hello there!"})),
        ],
        {
            "native_tools": ("yes", "learned"),
            "tool_choice": ("ignored", "table"),
            "json_schema": ("ignored", "learned"),
        },
        id="Ollama",
    ),
    pytest.param(
        "http://localhost:8000/v1",
        "m",
        [
            ("GET http://localhost:8000/v1/models", 200, answer_of("vLLM")),
            (
                "POST http://localhost:8000/v1/chat/completions",
                400,
                '{"message": "\\"auto\\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"}',
            ),
            ("POST http://localhost:8000/v1/chat/completions", 500, "out of memory"),
        ],
        {"native_tools": ("no", "learned"), "json_schema": ("yes", "table")},
        id="vLLM without a parser",
    ),
    pytest.param(
        "https://openrouter.ai/api/v1",
        "openai/gpt-oss-20b",
        [
            (
                "GET https://openrouter.ai/api/v1/models/openai/gpt-oss-20b/endpoints",
                200,
                answer_of("OpenRouter's endpoints: one has tools"),
            ),
            ("POST https://openrouter.ai/api/v1/chat/completions", 200, LEAKED),
            ("POST https://openrouter.ai/api/v1/chat/completions", 429, "{}"),
        ],
        {
            "native_tools": ("ignored", "learned"),
            "text_calls": ("yes", "learned"),
            "json_schema": ("ignored", "server"),
        },
        id="OpenRouter, calls in the text",
    ),
    pytest.param(
        "https://api.openai.com/v1",
        "o9",
        [
            ("POST https://api.openai.com/v1/chat/completions", 400, "Use 'max_completion_tokens' instead."),
            ("POST https://api.openai.com/v1/chat/completions", 200, NATIVE),
            ("POST https://api.openai.com/v1/chat/completions", 400, "Use 'max_completion_tokens' instead."),
            ("POST https://api.openai.com/v1/chat/completions", 400, "Use 'max_completion_tokens' instead."),
        ],
        {"native_tools": ("yes", "learned"), "json_schema": ("unknown", "default")},
        id="the limit's other name, once",
    ),
    pytest.param(
        "https://api.anthropic.com",
        "claude-sonnet-4-5",
        [],
        {"native_tools": ("yes", "table")},
        id="no Chat Completions",
    ),
    pytest.param(
        "http://localhost:9/v1",
        "m",
        [
            ("GET http://localhost:9/v1/models", 0, ""),
            ("POST http://localhost:9/v1/chat/completions", 0, ""),
            ("POST http://localhost:9/v1/chat/completions", 200, "<html>"),
        ],
        {"native_tools": ("unknown", "default")},
        id="nobody there",
    ),
]


@pytest.mark.parametrize(("url", "model", "script", "expect"), PROBES)
def test_probe(url: str, model: str, script: list[tuple[str, int, str]], expect: dict[str, Any]) -> None:
    asked: list[str] = []

    def send(method: str, to: str, headers: Any, body: Any) -> tuple[int, str]:
        assert headers == {"Authorization": "Bearer k"}
        assert (body is None) == (method == "GET")
        asked.append(f"{method} {to}")
        _, status, text = script[len(asked) - 1]
        if status == 0:
            raise ConnectionError
        return status, text

    found = probe(model, url, requests=True, api_key="k", send=send)
    assert asked == [line for line, _, _ in script]
    assert {name: (getattr(found, name).value, getattr(found, name).source) for name in expect} == expect


def test_probe_over_http() -> None:
    pytest.importorskip("httpx")
    answers = {
        "/v1/models": answer_of("llama.cpp's list of models"),
        "/props": answer_of("llama.cpp without tools in the template"),
    }

    class Server(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(answers[self.path].encode())

        def log_message(self, *_: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/v1"
        store = CapabilityStore()
        assert probe("m", url, store=store).native_tools.value == "ignored"
        assert capabilities("m", url, store).native_tools.source == "server"
        server.shutdown()
    assert probe("m", url).native_tools.value == "unknown", "a server that is gone is no error"


@pytest.mark.parametrize(
    ("arguments", "code", "printed"),
    [
        (["gpt-4o", "--base-url", "https://api.openai.com/v1"], 0, "native_tools    yes      table"),
        (["a-model-of-my-own"], 1, "native_tools    unknown\n"),
        (["gemma3:4b", "--base-url", "http://localhost:11434/v1"], 1, "tool_choice     ignored  table"),
        (["m", "--probe"], 2, ""),
        (["m", "--base-url", URL, "--probe", "--api-key-env", "TOOLGLOT_NO_SUCH_VARIABLE"], 2, ""),
    ],
)
def test_command(arguments: list[str], code: int, printed: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["capabilities", *arguments]) == code
    assert printed in capsys.readouterr().out


def test_command_for_programs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "s.sqlite"
    with CapabilityStore(file) as store:
        store.record("m", URL, "native_tools", "success")
    assert main(["capabilities", "m", "--base-url", URL, "--store", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["native_tools"]["source"] == "learned"
