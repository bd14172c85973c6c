"""Real coding clients through ``create_app`` on loopback, in front of a model that writes its calls as text.

``nox -s clients`` installs them from npm and says where in ``TOOLGLOT_CLIENTS``. Each client gets a home of its own, no
environment but its settings, and a folder to work in.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import uvicorn

from toolglot.router import create_app

sys.path.insert(0, str(Path(__file__).parent))
from model import model

CLIENTS = Path(os.environ.get("TOOLGLOT_CLIENTS", "target/clients")).resolve()
PROMPT = "Write hello.txt, then cat it."


class Client(NamedTuple):
    package: str
    binary: str
    # The home folder and the address of the server -> environment and command line.
    start: Callable[[Path, Path, str], tuple[dict[str, str], list[list[str]]]]


def claude(home: Path, work: Path, url: str) -> tuple[dict[str, str], list[list[str]]]:
    environment = {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_AUTH_TOKEN": "k",
        "ANTHROPIC_MODEL": "scripted",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_AUTOUPDATER": "1",
        "IS_SANDBOX": "1",
    }
    return environment, [["-p", PROMPT, "--output-format", "json", "--dangerously-skip-permissions"]]


def codex(home: Path, work: Path, url: str) -> tuple[dict[str, str], list[list[str]]]:
    folder = home / ".codex"
    folder.mkdir()
    (folder / "config.toml").write_text(
        f"""model = "scripted"
model_provider = "local"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
[model_providers.local]
name = "local"
base_url = "{url}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
[analytics]
enabled = false
"""
    )
    environment = {"CODEX_HOME": str(folder), "OPENAI_API_KEY": "k"}
    return environment, [["exec", "--skip-git-repo-check", "--json", PROMPT]]


def opencode(home: Path, work: Path, url: str) -> tuple[dict[str, str], list[list[str]]]:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "local",
        "options": {"baseURL": f"{url}/v1", "apiKey": "k"},
        "models": {"scripted": {"name": "scripted", "tool_call": True, "limit": {"context": 128000, "output": 8192}}},
    }
    settings = {
        "autoupdate": False,
        "share": "disabled",
        "model": "local/scripted",
        "small_model": "local/scripted",
        "provider": {"local": provider},
        "permission": {"*": "allow"},
    }
    (work / "opencode.json").write_text(json.dumps(settings))
    environment = {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}
    return environment, [["run", PROMPT, "--model", "local/scripted", "--format", "json"]]


def cline(home: Path, work: Path, url: str) -> tuple[dict[str, str], list[list[str]]]:
    login = ["auth", "openai-compatible", "--apikey", "k", "--modelid", "scripted", "--baseurl", f"{url}/v1"]
    return {"CLINE_TELEMETRY_DISABLED": "1"}, [login, ["--json", PROMPT]]


def qwen(home: Path, work: Path, url: str) -> tuple[dict[str, str], list[list[str]]]:
    environment = {"OPENAI_API_KEY": "k", "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_MODEL": "scripted"}
    return environment, [["--auth-type", "openai", "-y", "-p", PROMPT]]


ALL = {
    "claude": Client("@anthropic-ai/claude-code", "claude", claude),
    "codex": Client("@openai/codex", "codex", codex),
    "opencode": Client("opencode-ai", "opencode", opencode),
    "cline": Client("cline", "cline", cline),
    "qwen": Client("@qwen-code/qwen-code", "qwen", qwen),
}


@contextlib.contextmanager
def served(app: Any) -> Iterator[str]:
    """The address of an application that runs in a thread of its own."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.02)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(10)


def run(name: str, task: str, folder: Path) -> tuple[Path, list[Any], str]:
    """Has a client do a task; its folder, the requests that the model got, and what the client said."""
    client = ALL[name]
    binary = CLIENTS / name / "node_modules" / ".bin" / client.binary
    if not binary.exists():
        pytest.skip(f"{name} is not installed: nox -s clients")
    home, work = folder / "home", folder / "work"
    home.mkdir()
    work.mkdir()
    subprocess.run(["git", "init", "-q", str(work)], check=True)
    seen: list[Any] = []
    with served(model(task, seen)) as backend, served(create_app(f"{backend}/v1")) as url:
        environment, lines = client.start(home, work, url)
        path = f"{CLIENTS / 'node' / 'node_modules' / 'node' / 'bin'}:/usr/bin:/bin"
        environment = {"HOME": str(home), "PATH": path, "LANG": "C.UTF-8", "TERM": "dumb", **environment}
        out = ""
        for line in lines:
            done = subprocess.run(
                [str(binary), *line],
                cwd=work,
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=240,
                check=False,
            )
            out += f"{done.stdout}\n{done.stderr}\n"
    return work, seen, out


@pytest.mark.parametrize("name", ALL)
class TestClients:
    def test_a_file_is_written_and_read(self, name: str, tmp_path: Path) -> None:
        work, _, out = run(name, "file", tmp_path)
        assert (work / "hello.txt").exists(), out[-3000:]
        assert (work / "hello.txt").read_text() == "hello from the model\n"
        assert "DONE" in out

    def test_twenty_calls_in_a_row(self, name: str, tmp_path: Path) -> None:
        work, seen, out = run(name, "row-20", tmp_path)
        assert (work / "lines.txt").exists(), out[-3000:]
        assert (work / "lines.txt").read_text().splitlines() == [f"line {number}" for number in range(20)]
        assert "DONE" in out
        # What a backend has cached of one request begins the next.
        sent = [json.dumps(body["messages"]) for body in seen if body.get("tools")]
        assert all(later.startswith(sooner[:-1]) for sooner, later in itertools.pairwise(sent))

    def test_three_calls_at_once(self, name: str, tmp_path: Path) -> None:
        work, _, out = run(name, "once-3", tmp_path)
        assert {file.name for file in work.glob("part*.txt")} == {f"part{number}.txt" for number in range(3)}, out[
            -3000:
        ]
        assert "DONE" in out
