"""What five libraries make of nine broken answers: ``nox -s beside`` prints the table of docs/beside.md.

Each program in ``beside_agents`` asks a server of Chat Completions on the loopback whose first answer is broken. If it is told what was wrong,
it does it right; once it has the tool's result, it says so. It refuses what OpenAI's API refuses: a history in which a call has no result.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import logging
import runpy
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

from loopback import completion, serve

AGENTS = Path(__file__).resolve().parent / "beside_agents"
LIBRARIES = {
    "toolglot": "toolglot",
    "pydantic_ai": "pydantic-ai",
    "openai_agents": "openai-agents",
    "langchain": "LangChain",
    "litellm": "LiteLLM",
}
CALL = '{"name": "get_weather", "arguments": {"city": "Oslo", "days": 3}}'
DRAFT = CALL.replace("Oslo", "Bergen")
RIGHT = ("get_weather", '{"city": "Oslo", "days": 3}')
REFUSED = {"error": {"message": "registry.ollama.ai/library/gemma3:4b does not support tools"}}
FAILED = {
    "error": {
        "message": "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
        "type": "invalid_request_error",
        "code": "tool_use_failed",
        "failed_generation": '<function=get_weather>{"city": "Oslo", "days": 3}</function>',
    }
}

# Text, or calls (name and arguments' text), or a status and its body.
ANSWERS: dict[str, Any] = {
    "call in text, as markup": f"Let me look.\n<tool_call>\n{CALL}\n</tool_call>",
    "call in text, as JSON in a fence": f"```json\n{CALL}\n```",
    "a draft in the reasoning, then the call": f"<think>\n<tool_call>\n{DRAFT}\n</tool_call>? No.\n</think>\n<tool_call>\n{CALL}\n</tool_call>",
    "native, arguments that are no JSON": [("get_weather", "{'city': 'Oslo', 'days': 3,}")],
    "native, arguments of another type": [("get_weather", '{"city": "Oslo", "days": "many"}')],
    "native, a tool that does not exist": [("fetch_wether", '{"city": "Oslo", "days": 3}')],
    "native, the second call cut off": [RIGHT, ("get_weather", '{"city": "Berg')],
    "400: the model takes no tools (Ollama)": (400, REFUSED),
    "400: tool_use_failed (Groq)": (400, FAILED),
}


class Server:
    """Answers in one conversation, and keeps what it was told of calls."""

    def __init__(self, scenario: str) -> None:
        self.first = ANSWERS[scenario]
        # What it was told as results of calls, in whatever request.
        self.results: set[str] = set()
        self.asked = 0

    def answer(self, body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        self.asked += 1
        if self.asked > 10:
            return 400, {"error": {"message": "asked too often"}}
        messages = body["messages"]
        if (wrong := invalid(messages)) is not None:
            return 400, {"error": {"message": wrong, "type": "invalid_request_error"}}
        if self.first == (400, REFUSED) and "tools" in body:
            return self.first
        told = [text(message) for message in messages if message["role"] == "tool"]
        # Whoever offers tools as text tells results as text.
        told = told or [text(message) for message in messages[1:] if message["role"] == "user"][1:]
        self.results |= set(told)
        if any("18 degrees" in each for each in told):
            return 200, said(body, "Done: 18 degrees.")
        if not told and self.asked == 1 and self.first != (400, REFUSED):
            if isinstance(self.first, tuple):
                return self.first
            return 200, said(body, self.first)
        return 200, said(body, [RIGHT])


def text(message: dict[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def invalid(messages: list[dict[str, Any]]) -> str | None:
    """What OpenAI's API would refuse a history for."""
    open_calls: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_calls:
                return "a tool message must follow the call that it answers"
            open_calls.remove(message["tool_call_id"])
            continue
        if open_calls:
            return f"tool_call_ids without response messages: {sorted(open_calls)}"
        open_calls = {call["id"] for call in message.get("tool_calls") or []}
    return f"tool_call_ids without response messages: {sorted(open_calls)}" if open_calls else None


def said(body: dict[str, Any], what: Any) -> dict[str, Any]:
    """A response with text, or with calls: native ones, or as the schema of the request has them."""
    text, calls = (what, []) if isinstance(what, str) else (None, what)
    if (body.get("response_format") or {}).get("type") == "json_schema":
        made = [{"name": name, "arguments": json.loads(arguments)} for name, arguments in calls]
        return completion(json.dumps({"toolCalls": made, "content": text or "", "needsMoreWork": bool(made)}))
    return completion(text, calls, finish="length" if len(calls) > 1 else None)


def outcome(library: str, scenario: str, number: int) -> str:
    """What a user sees of one conversation."""
    server = Server(scenario)
    printed = io.StringIO()
    with serve(server.answer) as url:
        sys.argv = ["agent", url, f"model-{number}"]
        try:
            with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
                runpy.run_path(str(AGENTS / f"with_{library}.py"), run_name="__main__")
        except Exception as error:
            return f"raises {type(error).__name__}"
    shown = printed.getvalue().strip()
    bad = [each for each in server.results if "18 degrees" not in each]
    if "Done" in shown:
        if not any("Oslo, 3 days" in each for each in server.results):
            return "runs with wrong arguments"
        if "cut off" in scenario:
            return (
                "**first call runs, the model is told of the second**" if bad else "first call runs, the second is lost"
            )
        return "**the model is told, then it runs**" if bad else "**runs**"
    if "tool_call" in shown or "```" in shown:
        return "the call is shown to the user"
    return f"`{shown[:60]}`" if shown else "an empty answer"


def lines(library: str) -> int:
    """How many lines a program has that are not blank."""
    return sum(bool(line.strip()) for line in (AGENTS / f"with_{library}.py").read_text("utf-8").splitlines())


def main() -> int:
    """Print the table; with the name of a library, its outcomes as JSON."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("library", nargs="?", choices=LIBRARIES)
    library = parser.parse_args().library
    if library is not None:
        warnings.simplefilter("ignore")
        logging.disable(logging.CRITICAL)
        print(json.dumps([outcome(library, scenario, number) for number, scenario in enumerate(ANSWERS)]))
        return 0
    found: dict[str, list[str]] = {}
    for name in LIBRARIES:
        # A process each: their imports do not mix.
        run = subprocess.run([sys.executable, __file__, name], stdout=subprocess.PIPE, text=True, check=True)
        found[name] = json.loads(run.stdout.splitlines()[-1])
    rows = [["", *LIBRARIES.values()], ["---"] * (len(LIBRARIES) + 1)]
    rows.append(["lines", *(str(lines(name)) for name in LIBRARIES)])
    rows += [[scenario, *(found[name][number] for name in LIBRARIES)] for number, scenario in enumerate(ANSWERS)]
    print("\n".join(f"| {' | '.join(row)} |" for row in rows))
    return 0 if all("**" in each for each in found["toolglot"]) else 1


if __name__ == "__main__":
    sys.exit(main())
