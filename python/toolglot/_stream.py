"""A backend's stream of Chat Completions, on its way to the client: calls in text become ``tool_calls`` deltas."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import Any, Literal

from ._chat import MORE_CALLS, as_dict, asks_with_functions, translation
from ._core import Dialect, Policy, TranscodedStream

__all__ = ["MAX_LINE", "note_outcome", "passed_on", "stream_with_tool_detection"]

MAX_LINE = 64 * 1024 * 1024
"""Longer lines end the stream with an error."""

_log = logging.getLogger("toolglot.router")


def stream_with_tool_detection(
    backend_stream: Any,
    request: Any,
    *,
    mode: Literal["native", "text"] = "native",
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
        mode: As in ``transform_request``. In ``"text"`` mode nobody but this function keeps the model to a ``tool_choice`` that
            names a tool, or to ``parallel_tool_calls: false``: calls beyond that are left out.
        dialect: How the model spells calls.
        policy: A Policy, or a dict of its options.
        starts_in: ``"reasoning"`` where the backend's template has already opened the reasoning block (R1, QwQ, thinking
            Qwens) and the backend does not separate reasoning itself.
        max_line: Bytes that a line, or an event of several, may have.

    Returns:
        The client's server-sent events, as bytes.

    Raises:
        TypeError: The request, its tools or the stream are of the wrong type.
        UnknownDialectError: No dialect, parser or model of that name is known.
        BadToolError: One of the request's tools cannot be read.
        BadOptionError: An option's value is not one of those it may have.

    These are the caller's mistakes, and raised at once. What goes wrong later has a defined outcome, as ``docs/wire.md`` says:

    - The backend dies, or ends without an answer or without a ``finish_reason``, with ``[DONE]`` or not: the text so far,
      then an error event, and neither a ``finish_reason`` nor ``[DONE]``; but for an answer whose calls are all whole, which
      is finished.
    - A line that is no JSON is left out.
    - A call that was cut off ends with ``finish_reason`` ``"length"``.
    - The client goes away: the backend's stream is closed.
    - Reasoning closes that was never opened: what the client has of it as content cannot be taken back and stays that, and
      the log says what to do about it (``starts_in``); :func:`transform_response_with_tools` separates both.

    The text of exceptions goes to the log ``toolglot.router``, never to the client.
    """
    body = as_dict(request)
    asked = translation(body, mode=mode, dialect=dialect, policy=policy, starts_in=starts_in, max_frame=max_line)
    stream, functions = asked.stream(), asks_with_functions(body)
    read = getattr(backend_stream, "aiter_bytes", None)
    source = aiter(read() if read is not None else backend_stream)

    async def over() -> None:
        note_outcome(stream, functions)

    async def close() -> None:
        # The iterator of a response does not close the response when it is given up.
        for opened in (source, backend_stream):
            closes = getattr(opened, "aclose", None)
            if closes is not None:
                await closes()

    return passed_on(stream, source, over=over, close=close)


async def passed_on(
    stream: TranscodedStream,
    chunks: AsyncIterator[bytes | str | None],
    *,
    over: Callable[[], Awaitable[None]] | None = None,
    close: Callable[[], Awaitable[None]] | None = None,
    errors: type[Exception] | tuple[type[Exception], ...] = Exception,
) -> AsyncGenerator[bytes, None]:
    """Pass a backend's chunks through the transcoder, up to the end of the answer.

    Args:
        stream: What transcodes them.
        chunks: The chunks; None among them says that nothing has come for a while.
        over: Called once the client has all of its answer.
        close: Called at the end, also where the client gives the stream up.
        errors: What ends the client's stream as a connection that broke off does. Its text goes to the log alone.
    """
    try:
        try:
            async for chunk in chunks:
                if out := stream.keep_alive() if chunk is None else stream.feed(chunk):
                    yield out
                if stream.is_over:
                    break
            else:
                if out := stream.finish():
                    yield out
        except errors:
            _log.exception("the backend's stream broke off")
            if out := stream.abort():
                yield out
        if over is not None:
            await over()
    finally:
        if close is not None:
            await close()


def note_outcome(stream: TranscodedStream, functions: bool = False) -> None:
    """Log what a client does not see of a stream that is over."""
    if stream.error is not None:
        _log.error("the backend's stream ended with %s: %.2000s", stream.error, stream.detail)
    turn = stream.turn
    if turn is None:
        return
    if any(issue.code == "reclassified" for issue in turn.issues):
        _log.warning('what the client has as content was reasoning; if the prompt opens it, say starts_in="reasoning"')
    if functions and len(turn.tool_calls) > 1:
        _log.warning(MORE_CALLS)
