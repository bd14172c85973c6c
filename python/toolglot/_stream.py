"""A backend's stream of Chat Completions, on its way to the client: calls in text become ``tool_calls`` deltas."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator
from typing import Any, Literal

from ._chat import (
    MORE_CALLS,
    REASONING,
    as_dict,
    asks_with_functions,
    error_body,
    finish_reason,
    fresh_id,
    offered,
    used_ids,
)
from ._core import Dialect, Event, Policy, StreamNormalizer, StreamParser, ToolCall, ToolSet
from ._sse import Lines, TooLongError

__all__ = ["MAX_LINE", "stream_with_tool_detection"]

MAX_LINE = 64 * 1024 * 1024
"""Longer lines end the stream with an error."""

_log = logging.getLogger("toolglot.router")
_DONE = b"data: [DONE]\n\n"


def _sse(payload: Any) -> bytes:
    return (
        b"data: " + json.dumps(payload, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n\n"
    )


def stream_with_tool_detection(
    backend_stream: Any,
    request: Any,
    *,
    dialect: str | Dialect | None = "auto",
    policy: Policy | dict[str, Any] | None = None,
    starts_in: Literal["content", "reasoning"] = "content",
    max_line: int = MAX_LINE,
) -> AsyncGenerator[bytes, None]:
    """Pass a backend's stream on to the client, with the calls in its text as ``tool_calls`` deltas.

    Content leaves with the chunk that brought it, argument pieces as well; held back is only what may still become a
    marker. Native calls pass through one reader too, so that broken ids and indexes come out right. Where a model
    makes the same call natively and in text, the client gets it once; other calls in text stay calls where native ones
    follow, as they have left by then (:func:`transform_response_with_tools`, which has the whole response, takes native
    ones alone). A client that asked with ``functions`` gets the first call as ``function_call``, the only one that it can
    read.

    Args:
        backend_stream: The backend's server-sent events as they come from the connection, cut anywhere: an async
            iterable of bytes, or an ``httpx.Response`` opened with ``stream=True``, which is closed at the end.
        request: The client's request (a dict or a pydantic model), before ``transform_request``.
        dialect: How the model spells calls.
        policy: A Policy, or a dict of its options.
        starts_in: ``"reasoning"`` where the backend's template has already opened the reasoning block (R1, QwQ, thinking
            Qwens) and the backend does not tell reasoning apart itself.
        max_line: Bytes that a line, or an event of several, may have.

    Returns:
        The client's server-sent events, as bytes.

    Raises:
        TypeError: The request, its tools or the stream are of the wrong type.
        UnknownDialectError: No dialect, parser or model of that name is known.
        BadToolError: None of the request's tools is one.
        BadOptionError: An option's value is not one of those it may have.

    These are the caller's mistakes, and raised at once. What goes wrong later has a defined outcome:

    - The backend dies, or ends without an answer or without a ``finish_reason``, with ``[DONE]`` or not: the text so far,
      then an error event, and neither a ``finish_reason`` nor ``[DONE]``.
    - A line that is no JSON is left out.
    - A call that was cut off ends with ``finish_reason`` ``"length"``.
    - The client goes away: the backend's stream is closed.
    - Reasoning closes that was never opened: what the client has of it as content cannot be taken back and stays that, and
      the log says what to do about it (``starts_in``); :func:`transform_response_with_tools` tells both apart.

    The text of exceptions goes to the log ``toolglot.router``, never to the client.
    """
    body = as_dict(request)
    options: dict[str, Any] = {"tools": offered(body), "dialect": dialect, "policy": policy, "starts_in": starts_in}
    # Made for its errors: a choice has a parser of its own.
    StreamParser(**options)
    stream = _Stream(body, options, max_line)
    read = getattr(backend_stream, "aiter_bytes", None)
    return _passed_on(stream, backend_stream, aiter(read() if read is not None else backend_stream))


async def _passed_on(
    stream: _Stream, backend_stream: Any, source: AsyncIterator[bytes | str]
) -> AsyncGenerator[bytes, None]:
    try:
        async for chunk in source:
            out = stream.feed(chunk.encode() if isinstance(chunk, str) else chunk)
            if out:
                yield out
            if stream.over:
                return
        out = stream.finish()
        if out:
            yield out
    except (GeneratorExit, asyncio.CancelledError):
        raise
    except TooLongError:
        _log.error("the backend sent a line of more than %d bytes", stream.max_line)
        yield stream.fail("The backend's answer cannot be read.", "backend_bad_stream")
    except Exception:
        _log.exception("the backend's stream broke off")
        yield stream.fail("The backend's stream broke off.", "backend_disconnected")
    finally:
        # The iterator of a response does not close the response when it is given up.
        for opened in (source, backend_stream):
            close = getattr(opened, "aclose", None)
            if close is not None:
                await close()


class _Stream:
    """The state of one stream: bytes in, bytes out. No waiting in here."""

    def __init__(self, body: dict[str, Any], options: dict[str, Any], max_line: int) -> None:
        self.over = False
        self.max_line = max_line
        self._options = options
        self._asks_with_functions = asks_with_functions(body)
        self._lines = Lines(max_line)
        # The `data:` lines of an event whose payload goes on.
        self._open: list[bytes] = []
        self._open_bytes = 0
        self._choices: dict[int, _Choice] = {}
        self._used = used_ids(body) if options["tools"] is not None else set()
        self._wants_usage = bool((body.get("stream_options") or {}).get("include_usage"))
        self._usage: Any = None
        self._usage_sent = False
        self._envelope: dict[str, Any] = {}

    def feed(self, chunk: bytes) -> bytes:
        out: list[bytes] = []
        for line in self._lines.feed(chunk):
            self._line(line, out)
            if self.over:
                break
        return b"".join(out)

    def _line(self, line: bytes, out: list[bytes]) -> None:
        if b"\r" in line:
            # To the client a bare CR ends a line, and what is behind it would be one of its own. JSON has it as white space.
            line = line.replace(b"\r", b" ")
        if line.startswith(b"data:"):
            self._data(line, out)
        elif not line:
            # Empty lines are written with each event.
            self._joined(out)
        elif line.startswith(b":"):
            # Comments keep connections alive.
            out.append(line + b"\n\n")
        elif line.startswith(b"{"):
            # An error body where a stream should be.
            self._data(b"data: " + line, out)
        elif not line.startswith((b"event:", b"id:", b"retry:")):
            self._garbage(line)

    def _data(self, line: bytes, out: list[bytes]) -> None:
        """A line of data: mostly a payload, which then need not wait for the empty line; else a part of one."""
        data = line[5:].strip()
        over = data == b"[DONE]"
        if over or (data.startswith(b"{") and self._open and self._open[-1].endswith(b"}")):
            # Some servers leave out the empty lines: what begins anew ends what was before it.
            self._joined(out)
        if self.over:
            return
        if over:
            self._end(out)
        elif self._open:
            self._hold(line)
        elif data.startswith(b"{"):
            if not self._payload(data, line, out):
                self._hold(line)
        elif data:
            self._garbage(line)

    def _hold(self, line: bytes) -> None:
        self._open.append(line)
        self._open_bytes += len(line)
        if self._open_bytes > self.max_line:
            raise TooLongError

    def _joined(self, out: list[bytes]) -> None:
        """The event is over: its lines are one payload."""
        lines, self._open, self._open_bytes = self._open, [], 0
        if not lines:
            return
        data = b"\n".join(line[5:] for line in lines)
        # One line alone was looked at when it came. Clients that read line by line get all of it in one.
        if len(lines) == 1 or not self._payload(data, b"data:" + data.replace(b"\n", b" "), out):
            for line in lines:
                self._garbage(line)

    def _payload(self, data: bytes, line: bytes, out: list[bytes]) -> bool:
        try:
            payload = json.loads(data)
        except (ValueError, RecursionError):
            return False
        if not isinstance(payload, dict):
            return False
        if payload.get("error") is not None:
            self._backend_error(payload["error"], out)
        else:
            self._chunk(payload, line, out)
        return True

    def _garbage(self, line: bytes) -> None:
        _log.warning("a line of the backend's stream was left out: %r", line[:200])

    def _backend_error(self, error: Any, out: list[bytes]) -> None:
        _log.error("the backend reported an error: %.2000s", error)
        out.append(self.fail("The backend reported an error.", "backend_error"))

    def _chunk(self, payload: dict[str, Any], line: bytes, out: list[bytes]) -> None:
        usage = payload.get("usage")
        choices = payload.get("choices")
        if not isinstance(choices, list) or not choices:
            if not usage:
                out.append(line + b"\n\n")
            elif self._wants_usage:
                self._usage_sent = True
                out.append(line + b"\n\n")
            return
        if usage:
            self._usage = usage
        if not self._envelope:
            self._envelope = {key: payload[key] for key in ("id", "object", "created", "model") if key in payload}
        written: list[dict[str, Any]] = []
        same = True
        for choice in choices:
            if not isinstance(choice, dict):
                same = False
                continue
            index = choice.get("index")
            index = index if isinstance(index, int) else 0
            state = self._choices.get(index)
            if state is None:
                functions = _FunctionCall() if self._asks_with_functions else None
                state = self._choices[index] = _Choice(index, self._options, set(self._used), functions)
            new = state.take(choice)
            same = same and len(new) == 1 and new[0] is choice
            written.extend(new)
        if same:
            out.append(line + b"\n\n")
            return
        for choice in written[:-1]:
            out.append(
                _sse({**payload, "choices": [choice], "usage": None} if usage else {**payload, "choices": [choice]})
            )
        if written:
            out.append(_sse({**payload, "choices": written[-1:]}))

    def _end(self, out: list[bytes]) -> None:
        """The backend says that nothing follows."""
        if not self._choices or not all(state.finished for state in self._choices.values()):
            # Whether the answer is whole, nobody said; or there is none.
            self._broken_off(out)
            return
        self.over = True
        if self._wants_usage and self._usage and not self._usage_sent:
            out.append(_sse({**self._envelope, "choices": [], "usage": self._usage}))
        out.append(_DONE)

    def _broken_off(self, out: list[bytes]) -> None:
        _log.error("the backend's stream ended without a finish_reason")
        out.append(self.fail("The backend's stream broke off.", "backend_disconnected"))

    def finish(self) -> bytes:
        """The connection ended without a last word."""
        out: list[bytes] = []
        rest = self._lines.rest()
        if rest:
            self._line(rest, out)
        if not self.over:
            self._joined(out)
        if not self.over:
            self._end(out)
        return b"".join(out)

    def fail(self, message: str, code: str) -> bytes:
        """The text that was held back, and the error. No finish_reason: nothing here is finished."""
        self.over = True
        out = []
        for state in self._choices.values():
            for choice in state.abandon():
                out.append(_sse({**self._envelope, "choices": [choice]}))
        out.append(_sse(error_body(message, code=code, type="server_error")))
        return b"".join(out)


class _Choice:
    """One choice of the stream: its text through a parser, its native calls through a reader."""

    def __init__(self, index: int, options: dict[str, Any], used: set[str], functions: _FunctionCall | None) -> None:
        self.finished = False
        self._functions = functions
        self._index = index
        self._options = options
        self._tools: ToolSet | None = options["tools"]
        self._used = used
        # None: text is passed on as it is.
        self._text = StreamParser(**options) if self._tools is not None else None
        self._fed = False
        self._native: StreamNormalizer | None = None
        self._held: list[Event] = []
        self._written: dict[tuple[str, int], int] = {}
        self._sent: dict[int, list[str]] = {}
        self._calls: list[ToolCall] = []
        self._text_calls = False
        # A call was mended, and what the client has of it is no JSON.
        self._unreadable = False
        # Halves of characters that wait for their other half, by where they stand.
        self._halves: dict[str, str] = {}

    def take(self, choice: dict[str, Any]) -> list[dict[str, Any]]:
        """The choices to send for this one; the very same object if nothing changes."""
        if self._tools is None or self.finished:
            self.finished = self.finished or bool(choice.get("finish_reason"))
            return [choice]
        delta = choice.get("delta")
        delta = delta if isinstance(delta, dict) else {}
        if self._text is not None and not self._fed and any(delta.get(key) for key in REASONING):
            # A backend that tells reasoning apart has closed it before its text begins.
            self._text = StreamParser(**{**self._options, "starts_in": "content"})
        said = choice.get("finish_reason")
        if said and not (isinstance(said, str) and said.isascii()):
            said = "stop"
        content, calls = delta.get("content"), delta.get("tool_calls")
        if self._functions is not None and delta.get("function_call") and not self._functions.takes_native():
            delta = {key: value for key, value in delta.items() if key != "function_call"}
            choice = {**choice, "delta": delta}
        if not said and not calls and not (isinstance(content, str) and content):
            return [choice]
        text = self._feed_text(content) if isinstance(content, str) and content else []
        native = self._feed_native(calls) if calls else []
        if not said and not native and len(text) == 1 and text[0] == {"content": content}:
            return [choice]
        rest = {key: value for key, value in delta.items() if key not in ("content", "tool_calls")}
        deltas = text + native
        if said:
            deltas += self._close(said)
        if self._functions is not None:
            deltas = [part for part in map(self._functions.told, deltas) if part]
        # What else is in the delta (the role, reasoning) goes first, and logprobs with it.
        if rest or not deltas:
            deltas.insert(0, rest)
        frame = {key: value for key, value in choice.items() if key not in ("delta", "finish_reason", "logprobs")}
        out: list[dict[str, Any]] = [{**frame, "delta": part, "finish_reason": None} for part in deltas]
        if said:
            self.finished = True
            out[-1]["finish_reason"] = self._reason(said)
        elif not (rest or any(deltas)):
            # Everything is held back: nothing to send.
            return []
        return out

    def _feed_text(self, content: str) -> list[dict[str, Any]]:
        if self._text is None:
            return [{"content": content}]
        self._fed = True
        return self._deltas(self._text.feed(self._whole(content, "text")), "text")

    def _whole(self, text: str, place: str) -> str:
        """The text without half a character, which servers send that cut between UTF-16's units."""
        if text.isascii() and not self._halves:
            return text
        text = self._halves.pop(place, "") + text
        if "\ud800" <= text[-1:] <= "\udbff":
            self._halves[place] = text[-1]
            text = text[:-1]
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")

    def _feed_native(self, calls: Any) -> list[dict[str, Any]]:
        out: list[dict[str, Any]] = []
        if self._native is None:
            self._native = StreamNormalizer("openai", tools=self._tools, dialect=False, policy=self._options["policy"])
            if not self._text_calls and self._text is not None:
                # Beside native calls text is text.
                out = self._deltas(
                    [event for event in self._text.close() if event.kind in ("text", "reasoning")], "text"
                )
                self._text = None
        calls = [self._whole_call(call) for call in calls] if isinstance(calls, list) else []
        delta = {"tool_calls": calls}
        events = self._native.feed({"choices": [{"index": 0, "delta": delta}]})
        return out + self._native_deltas(events)

    def _whole_call(self, call: Any) -> Any:
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict):
            return call
        arguments = function.get("arguments")
        if not isinstance(arguments, str) or (arguments.isascii() and not self._halves):
            return call
        return {**call, "function": {**function, "arguments": self._whole(arguments, str(call.get("index")))}}

    def _native_deltas(self, events: list[Event]) -> list[dict[str, Any]]:
        if self._text_calls:
            # The same calls may have come as text: that is known when these are whole.
            self._held.extend(events)
            return []
        return self._deltas(events, "native")

    def _deltas(self, events: list[Event], source: str) -> list[dict[str, Any]]:
        out: list[dict[str, Any]] = []
        for event in events:
            kind = event.kind
            if kind == "text":
                out.append({"content": event.text})
            elif kind == "reasoning":
                out.append({"reasoning_content": event.text})
            elif kind == "reclassified":
                _log.warning(
                    'what the client has as content was reasoning; if the prompt opens it, say starts_in="reasoning"'
                )
            elif kind == "call_started":
                index = len(self._written)
                self._written[source, event.index or 0] = index
                self._text_calls = self._text_calls or source == "text"
                function = {"name": event.name, "arguments": ""}
                head = {"index": index, "id": fresh_id(event.id, self._used), "type": "function", "function": function}
                out.append({"tool_calls": [head]})
            elif kind == "arguments" and event.text:
                index = self._written.get((source, event.index or 0), 0)
                self._sent.setdefault(index, []).append(event.text)
                out.append(_piece(index, event.text))
            elif kind == "call_ended" and event.call is not None:
                index = self._written.get((source, event.index or 0), 0)
                out.extend(self._ended(index, event.call))
        return out

    def _ended(self, index: int, call: ToolCall) -> list[dict[str, Any]]:
        self._calls.append(call)
        sent = "".join(self._sent.pop(index, []))
        # What has been sent cannot be taken back; what is missing can be added.
        if call.status in ("incomplete", "malformed"):
            return []
        if not call.arguments_json.startswith(sent):
            self._unreadable = self._unreadable or not _is_json(sent)
            return []
        rest = call.arguments_json[len(sent) :]
        return [_piece(index, rest)] if rest else []

    def _close(self, said: Any = None) -> list[dict[str, Any]]:
        out: list[dict[str, Any]] = []
        if self._text is not None:
            out += self._deltas(self._text.close(), "text")
            self._text = None
        if self._native is not None:
            last = self._native.feed({"choices": [{"index": 0, "delta": {}, "finish_reason": said}]}) if said else []
            events = self._held + last + self._native.close()
            self._held = []
            if self._text_calls:
                known = [(call.name, call.arguments) for call in self._calls]
                double = {
                    event.index
                    for event in events
                    if event.call is not None and (event.call.name, event.call.arguments) in known
                }
                events = [event for event in events if event.index is None or event.index not in double]
            out += self._deltas(events, "native")
            self._native = None
        return out

    def _reason(self, said: str) -> str:
        reason = "length" if self._unreadable else finish_reason(self._calls, said) or "stop"
        return reason if self._functions is None else self._functions.reason(reason, said)

    def abandon(self) -> list[dict[str, Any]]:
        """The text that was held back when the stream broke off."""
        if self.finished or self._text is None:
            return []
        events = [event for event in self._text.close() if event.kind in ("text", "reasoning")]
        return [{"index": self._index, "delta": delta, "finish_reason": None} for delta in self._deltas(events, "text")]


class _FunctionCall:
    """The calls of a choice for a client that knows ``function_call`` and no ``tool_calls``: one, without an id."""

    def __init__(self) -> None:
        self._native = False
        self._told = False
        self._warned = False

    def takes_native(self) -> bool:
        """Whether a piece of the backend's own ``function_call`` may go to the client."""
        self._native = self._native or not self._told
        if not self._native:
            self._warn()
        return self._native

    def told(self, delta: dict[str, Any]) -> dict[str, Any] | None:
        """The delta as the client reads it; None for those of a further call."""
        calls = delta.get("tool_calls")
        if not calls:
            return delta
        (call,) = calls
        if self._native or call["index"]:
            self._warn()
            return None
        self._told = True
        return {"function_call": call["function"]}

    def _warn(self) -> None:
        if not self._warned:
            _log.warning(MORE_CALLS)
        self._warned = True

    def reason(self, reason: str, said: str) -> str:
        """The ``finish_reason`` for the client."""
        return "function_call" if reason == "tool_calls" or (self._native and said == "function_call") else reason


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def _piece(index: int, text: str) -> dict[str, Any]:
    return {"tool_calls": [{"index": index, "function": {"arguments": text}}]}
