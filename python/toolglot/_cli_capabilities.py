"""``toolglot capabilities``: what a route can do, with the source and date of each value."""

from __future__ import annotations

import argparse
import json
import os
from typing import TextIO

from ._core import Capabilities
from ._marked import visible
from .capability import CapabilityStore, capabilities, probe
from .errors import BadOptionError

HELP = """\
Say what a model at a base URL can do, from whom that is known, and since when.

Without --probe nothing is asked over the network: the tables that come with toolglot are read, and the store of --store.
A value is one of
  yes      it does what is asked
  no       it refuses
  ignored  it accepts what is asked, with status 200, and does not do it
  unknown  nobody knows, or lists contradict each other

and is known from one of
  learned  requests to the route, in the store
  server   the server's description of the model
  table    what is listed of the route
  family   what is known of the model, wherever it is
"""

EPILOG = """\
examples:
  toolglot capabilities gpt-4o --base-url https://api.openai.com/v1
  toolglot capabilities qwen3:8b --base-url http://localhost:11434/v1 --probe
  toolglot capabilities m --base-url http://localhost:8080/v1 --requests --store capabilities.sqlite
  OPENROUTER_API_KEY=... toolglot capabilities openai/gpt-oss-20b --base-url https://openrouter.ai/api/v1 \\
      --probe --api-key-env OPENROUTER_API_KEY

--probe and --requests need httpx: pip install toolglot[client]

exit code: 0 if the route is known to take tools natively, 1 if not, 2 if the command or the store is wrong.
"""


def add_arguments(command: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    command.add_argument("model", metavar="MODEL", help="the model's id, as the server takes it")
    command.add_argument("--base-url", metavar="URL", help="where it is; without one, what is known of the model")
    command.add_argument("--store", metavar="FILE", help="what was learned, in a file that is created if missing")
    command.add_argument(
        "--probe", action="store_true", help="ask the server to describe the model, which costs nothing"
    )
    command.add_argument(
        "--requests", action="store_true", help="ask the model as well: two short answers (implies --probe)"
    )
    command.add_argument("--api-key-env", metavar="NAME", help="the environment variable that has the key")
    command.add_argument("--json", action="store_true", help="print all as one line of JSON")


def run(arguments: argparse.Namespace, out: TextIO) -> int:
    """``toolglot capabilities``."""
    store = CapabilityStore(arguments.store)
    try:
        found = _found(arguments, store)
    finally:
        store.close()
    print(json.dumps(found.to_dict(), ensure_ascii=False) if arguments.json else table(found), file=out)
    return 0 if found.native_tools.value == "yes" else 1


def _found(arguments: argparse.Namespace, store: CapabilityStore) -> Capabilities:
    if not (arguments.probe or arguments.requests):
        return capabilities(arguments.model, arguments.base_url, store)
    if arguments.base_url is None:
        raise BadOptionError("--probe and --requests need --base-url", "--base-url")
    name = arguments.api_key_env
    key = None if name is None else os.environ.get(name)
    if name is not None and key is None:
        raise BadOptionError(f"there is no environment variable {name}", "--api-key-env")
    return probe(arguments.model, arguments.base_url, store=store, requests=arguments.requests, api_key=key)


def table(found: Capabilities) -> str:
    """The findings as lines for people."""
    head = visible(found.model) + (f" at {visible(found.base_url)}" if found.base_url else "")
    lines = [head + (f" ({found.provider})" if found.provider else "")]
    for name, finding in found.to_dict().items():
        if not isinstance(finding, dict):
            continue
        value = "unknown" if finding["value"] is None else str(finding["value"])
        why = "" if finding["date"] is None else f"{finding['source']:8} {finding['date']}  {finding['detail']}"
        lines.append(f"  {name:15} {value:8} {why}".rstrip())
    return "\n".join(lines)
