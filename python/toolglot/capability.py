"""What a route can do: what is known of it, what was learned of it, and asking it.

    store = CapabilityStore("capabilities.sqlite")
    capabilities("qwen3:8b", "http://localhost:11434/v1", store).native_tools.value

A route is a base URL and a model: the same model differs by server. What was learned on the route wins over what its server
says, that over what is listed, and that over what is known of the model's family.
"""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ._core import Capabilities, _capabilities, _Learned, _Probe, _route_key
from .errors import BadOptionError

__all__ = ["CapabilityStore", "Send", "capabilities", "probe", "supports_native_tool_calling"]

if TYPE_CHECKING:
    _Capability: TypeAlias = Literal[
        "native_tools",
        "parallel_calls",
        "tool_choice",
        "json_schema",
        "json_object",
        "strict",
        "streamed_tools",
        "text_calls",
        "reasoning",
    ]
    _Outcome: TypeAlias = Literal["success", "failure", "ignored"]

Send: TypeAlias = Callable[[str, str, Mapping[str, str], Any], tuple[int, str]]
"""Sends a request (method, URL, headers, body of JSON or None) and returns status and text."""

_DAY = 24 * 60 * 60


class CapabilityStore:
    """What was learned of routes: in memory, or in a SQLite file that several processes share.

    Threads may share a store. What was learned is forgotten ``ttl`` seconds after it was last seen.

    >>> from toolglot import CapabilityStore, capabilities
    >>> store = CapabilityStore()
    >>> url = "http://localhost:8000/v1"
    >>> store.record("my-model", url, "native_tools", "ignored")
    >>> capabilities("my-model", url, store).native_tools.value
    'ignored'

    Args:
        path: The file, created if missing; without one, nothing outlives the store.
        ttl: How long what was learned counts, in seconds.
        clock: Returns the time in seconds since 1970.

    Raises:
        BadOptionError: The time to live is negative, or the file is no store of this version.
    """

    def __init__(self, path: Any = None, ttl: float = _DAY, *, clock: Callable[[], float] = time.time) -> None:
        if not 0 <= ttl < 2**63:
            raise BadOptionError("the time to live is a number of seconds from 0 on", "ttl")
        self._ttl = int(ttl)
        self._clock = clock
        self._memory = _Learned(self._ttl)
        self._lock = threading.Lock()
        self._file: sqlite3.Connection | None = None
        if path is not None:
            self._file = _open(path)

    def get(self, model: str, base_url: str | None = None) -> Capabilities:
        """Return what is known of a route; the same as ``capabilities(model, base_url, store)``."""
        with self._known(model, base_url) as learned:
            return learned.capabilities(model, base_url, self._now())

    def record(self, model: str, base_url: str | None, capability: _Capability, outcome: _Outcome) -> None:
        """Count what became of a request.

        Args:
            model: The model that was asked.
            base_url: Where it was asked.
            capability: What the request took.
            outcome: "success": the route did it. "failure": the server refused, for want of the capability; a bad answer of
                the model is none. "ignored": the server answered with 200 and did not do it.

        Raises:
            BadOptionError: No capability or outcome is spelt so.
        """
        with self._known(model, base_url, change=True) as learned:
            learned.record(model, base_url, capability, outcome, self._now())

    def tell(self, model: str, base_url: str | None, answer: Any) -> str:
        """Keep what a server says of a model, and return the server's name.

        Args:
            model: The model; lists are searched for it.
            base_url: Where the server is.
            answer: The body of llama.cpp's ``GET /props``, Ollama's ``POST /api/show``, LM Studio's ``GET /api/v1/models``,
                OpenRouter's list of models or of a model's endpoints, or ``GET /v1/models`` of llama.cpp, vLLM or SGLang.

        Raises:
            ProviderError: It has none of these shapes, or the model is not in it.
        """
        with self._known(model, base_url, change=True) as learned:
            return learned.tell(model, base_url, answer, self._now())

    def forget(self, model: str, base_url: str | None = None) -> None:
        """Forget what was learned of a route."""
        with self._known(model, base_url, change=True) as learned:
            learned.forget(model, base_url)

    def close(self) -> None:
        """Close the file. A store without one has nothing to close."""
        with self._lock:
            if self._file is not None:
                self._file.close()

    def __enter__(self) -> CapabilityStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"CapabilityStore(ttl={self._ttl}, {'in memory' if self._file is None else 'in a file'})"

    def _answer(self, probe: _Probe, model: str, base_url: str, status: int, body: str) -> None:
        with self._known(model, base_url, change=True) as learned:
            learned.answer(probe, status, body, self._now())

    def _now(self) -> int:
        return max(0, int(self._clock()))

    @contextmanager
    def _known(self, model: str, base_url: str | None, *, change: bool = False) -> Iterator[_Learned]:
        """Give what is known of a route; what was changed in it is kept.

        In a file, another process may have changed it since it was last read, so it is read each time. A change is one
        transaction from the reading on, so that no process overwrites what another counts.
        """
        if self._file is None:
            yield self._memory
            return
        key = _route_key(model, base_url)
        with self._lock:
            if change:
                self._file.execute("begin immediate")
            try:
                learned = _Learned(self._ttl)
                row = self._file.execute("select learned from routes where route = ?", (key,)).fetchone()
                if row is not None:
                    learned.load(model, base_url, row[0])
                yield learned
                if change:
                    self._keep(key, learned.dump(model, base_url))
                    self._file.execute("commit")
            except BaseException:
                if self._file.in_transaction:
                    self._file.execute("rollback")
                raise

    def _keep(self, key: str, learned: str | None) -> None:
        assert self._file is not None
        now = self._now()
        self._file.execute("delete from routes where route = ? or changed < ?", (key, now - self._ttl))
        if learned is not None:
            self._file.execute("insert into routes values (?, ?, ?)", (key, learned, now))


def _open(path: Any) -> sqlite3.Connection:
    try:
        # Transactions are begun by hand: a counter is read and written in one. Threads take turns by the store's lock.
        file = sqlite3.connect(path, timeout=30, isolation_level=None, check_same_thread=False)
        file.execute("pragma journal_mode = wal")
        file.execute("pragma synchronous = normal")
        file.execute(
            "create table if not exists routes (route text primary key, learned text not null, changed integer not null)"
        )
    except sqlite3.Error as error:
        raise BadOptionError(f"{path} cannot be used as a store: {error}", "path") from error
    return file


def capabilities(model: str, base_url: str | None = None, store: CapabilityStore | None = None) -> Capabilities:
    """Return what is known of a model at a base URL, each value with its source and date.

    Nothing is asked over the network: :func:`probe` does that.

    >>> from toolglot import capabilities
    >>> found = capabilities("gpt-4o", "https://api.openai.com/v1")
    >>> found.native_tools.value, found.native_tools.source
    ('yes', 'table')
    >>> capabilities("qwen3:8b", "http://localhost:11434/v1").tool_choice.value
    'ignored'

    Args:
        model: The model's id, as the server takes it.
        base_url: The server's base URL; without one, what is known of the model wherever it is.
        store: What was learned before; without one, only the tables are asked.
    """
    return _capabilities(model, base_url) if store is None else store.get(model, base_url)


def supports_native_tool_calling(model: str, base_url: str | None = None, store: CapabilityStore | None = None) -> bool:
    """Return whether a model at a base URL is known to take tools natively and to call them.

    What is unknown is ``False`` here; :func:`capabilities` distinguishes it from "no".

    >>> from toolglot import supports_native_tool_calling
    >>> supports_native_tool_calling("llama-3.3-70b-versatile", "https://api.groq.com/openai/v1")
    True
    >>> supports_native_tool_calling("a-model-of-my-own", "http://localhost:8000/v1")
    False
    """
    return bool(capabilities(model, base_url, store).native_tools.value == "yes")


def probe(
    model: str,
    base_url: str,
    *,
    store: CapabilityStore | None = None,
    requests: bool = False,
    api_key: str | None = None,
    headers: Mapping[str, str] | None = None,
    send: Send | None = None,
    timeout: float = 30.0,
) -> Capabilities:
    """Ask a route what it can do, keep that in the store, and return all that is known then.

    Servers that describe their models are asked for that, which costs nothing: llama.cpp, Ollama, LM Studio, OpenRouter,
    vLLM, SGLang. A server that cannot be reached, or says nothing, is no error.

    >>> from toolglot import probe
    >>> def send(method, url, headers, body):
    ...     return 200, '{"capabilities": ["completion"], "model_info": {"gemma3.context_length": 131072}}'
    >>> probe("gemma3", "http://localhost:11434/v1", send=send).native_tools
    Finding(value='no', source='server', detail='ollama', date='...')

    Args:
        model: The model's id, as the server takes it.
        base_url: The server's base URL.
        store: Where what is learned goes; without one, only into what is returned.
        requests: Whether the model is asked as well: for a required call, and for an answer under a schema.
        api_key: The key, sent as ``Authorization: Bearer``.
        headers: Other headers.
        send: Sends the requests; without one, ``httpx`` does (``pip install toolglot[client]``).
        timeout: How long an answer may take, in seconds, where ``httpx`` sends.

    Raises:
        BadOptionError: There is no ``send`` and no ``httpx``.
    """
    kept = CapabilityStore() if store is None else store
    sent = {**({} if api_key is None else {"Authorization": f"Bearer {api_key}"}), **(headers or {})}
    with _sender(send, timeout) as ask:
        machine = _Probe(model, base_url, requests)
        while (request := machine.next()) is not None:
            method, url, body = request
            try:
                status, text = ask(method, url, sent, body)
            except OSError:
                status, text = 0, ""
            kept._answer(machine, model, base_url, status, text)
    return kept.get(model, base_url)


@contextmanager
def _sender(send: Send | None, timeout: float) -> Iterator[Send]:
    if send is not None:
        yield send
        return
    try:
        import httpx
    except ImportError as error:
        raise BadOptionError("without `send`, httpx is needed: pip install toolglot[client]", "send") from error
    with httpx.Client(timeout=timeout) as client:

        def over_http(method: str, url: str, headers: Mapping[str, str], body: Any) -> tuple[int, str]:
            try:
                response = client.request(method, url, headers=dict(headers), json=body)
            except httpx.HTTPError as error:
                raise ConnectionError(str(error)) from error
            return response.status_code, str(response.text)

        yield over_http
