"""Real coding clients through ``create_app`` on loopback, in front of a model that writes its calls as text.

``nox -s clients`` installs them from npm and says where in ``TOOLGLOT_CLIENTS``. Each client gets a home of its own, no
environment but its settings, and a folder to work in.
"""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from loopback import served
from toolglot.router import create_app

sys.path.insert(0, str(Path(__file__).parent))
from model import model

CLIENTS = Path(os.environ.get("TOOLGLOT_CLIENTS", "target/clients")).resolve()
PROMPT = "Write hello.txt, then cat it."


class Client(NamedTuple):
    # Below the folder of all clients.
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


def pi(home: Path, work: Path, url: str) -> tuple[dict[str, str], list[list[str]]]:
    provider = {"baseUrl": f"{url}/v1", "api": "openai-completions", "apiKey": "k", "models": [{"id": "scripted"}]}
    folder = home / ".pi" / "agent"
    folder.mkdir(parents=True)
    (folder / "models.json").write_text(json.dumps({"providers": {"local": provider}}))
    environment = {"PI_OFFLINE": "1", "PI_SKIP_VERSION_CHECK": "1"}
    return environment, [["--provider", "local", "--model", "scripted", "-p", PROMPT]]


def continued(home: Path, work: Path, url: str) -> tuple[dict[str, str], list[list[str]]]:
    model = {"name": "scripted", "provider": "openai", "model": "gpt-4o", "apiBase": f"{url}/v1", "apiKey": "k"}
    model |= {"roles": ["chat"], "capabilities": ["tool_use"]}
    # JSON is YAML.
    settings = home / "config.yaml"
    settings.write_text(json.dumps({"name": "local", "version": "1.0.0", "schema": "v1", "models": [model]}))
    return {"CONTINUE_TELEMETRY_ENABLED": "0"}, [["--config", str(settings), "--auto", "-p", PROMPT]]


def copilot(home: Path, work: Path, url: str) -> tuple[dict[str, str], list[list[str]]]:
    environment = {
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        "COPILOT_PROVIDER_API_KEY": "k",
        "COPILOT_MODEL": "scripted",
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
    }
    return environment, [["-p", PROMPT, "--allow-all-tools", "--no-color"]]


def aisdk(api: str, way: str) -> Callable[[Path, Path, str], tuple[dict[str, str], list[list[str]]]]:
    def start(home: Path, work: Path, url: str) -> tuple[dict[str, str], list[list[str]]]:
        # A module looks for packages beside itself.
        script = home / "aisdk.mjs"
        script.write_text((Path(__file__).parent / "aisdk.mjs").read_text())
        (home / "node_modules").symlink_to(CLIENTS / "ai" / "node_modules")
        return {}, [[str(script), url, api, way, PROMPT]]

    return start


def installed(name: str, binary: str) -> str:
    return f"{name}/node_modules/.bin/{binary}"


NODE = "node/node_modules/node/bin"
ALL = {
    "claude": Client(installed("claude", "claude"), claude),
    "codex": Client(installed("codex", "codex"), codex),
    "opencode": Client(installed("opencode", "opencode"), opencode),
    "cline": Client(installed("cline", "cline"), cline),
    "qwen": Client(installed("qwen", "qwen"), qwen),
    "pi": Client(installed("pi", "pi"), pi),
    "continue": Client(installed("continue", "cn"), continued),
    "copilot": Client(installed("copilot", "copilot"), copilot),
    "ai-compat": Client(f"{NODE}/node", aisdk("compat", "stream")),
    "ai-chat": Client(f"{NODE}/node", aisdk("chat", "whole")),
    "ai-responses": Client(f"{NODE}/node", aisdk("responses", "stream")),
    "ai-anthropic": Client(f"{NODE}/node", aisdk("anthropic", "stream")),
    "ai-whole": Client(f"{NODE}/node", aisdk("anthropic", "whole")),
}


def run(name: str, task: str, folder: Path) -> tuple[Path, list[bytes], str]:
    """Has a client do a task; its folder, the requests that the model got, and what the client said."""
    client = ALL[name]
    binary = CLIENTS / client.binary
    if not binary.exists() or (name.startswith("ai-") and not (CLIENTS / "ai").exists()):
        pytest.skip(f"{name} is not installed: nox -s clients")
    home, work = folder / "home", folder / "work"
    home.mkdir()
    work.mkdir()
    subprocess.run(["git", "init", "-q", str(work)], check=True)
    seen: list[bytes] = []
    with served(model(task, seen)) as backend, served(create_app(f"{backend}/v1")) as url:
        environment, lines = client.start(home, work, url)
        path = f"{CLIENTS / NODE}:/usr/bin:/bin"
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
                timeout=480,
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
        # What a backend has cached of one request begins the next: all bytes, but where the client's own request passes, which
        # may have its messages anywhere.
        bodies = [(body, json.loads(body)) for body in seen]
        passes = name not in ("claude", "codex", "ai-anthropic", "ai-responses", "ai-whole")
        sent = [
            json.dumps(said["messages"])[:-1].encode() if passes else body[:-2]
            for body, said in bodies
            if said.get("tools")
        ]
        assert len(sent) > 20
        assert all(later.startswith(sooner) for sooner, later in itertools.pairwise(sent))

    def test_three_calls_at_once(self, name: str, tmp_path: Path) -> None:
        work, _, out = run(name, "once-3", tmp_path)
        assert {file.name for file in work.glob("part*.txt")} == {f"part{number}.txt" for number in range(3)}, out[
            -3000:
        ]
        assert "DONE" in out
