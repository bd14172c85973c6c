"""Pieces for an OpenAI-compatible router in front of a local model: request in, response out, stream through.

The request may be a dict or a pydantic model; nothing here needs FastAPI, but for :func:`create_router` and
:func:`create_app`, which serve Chat Completions, Responses and Messages.

    payload = transform_request(request, mode="text", dialect="hermes")
    async with http.stream("POST", url, json=payload) as answer:
        return transform_response_with_tools(await read_answer(answer), request, dialect="hermes")

and for a stream ``StreamingResponse(stream_with_tool_detection(answer, request))``.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from typing import Any, Literal

from ._chat import MORE_CALLS, as_dict, as_json, asks_with_functions, error_body, translation
from ._core import Dialect, Policy, Transcoder, Translation
from ._serving import create_app, create_router
from ._stream import stream_with_tool_detection
from .errors import BadOptionError, ProviderError, ToolglotError, WireError

__all__ = [
    "MAX_ANSWER",
    "RequestError",
    "create_app",
    "create_router",
    "error_body",
    "read_answer",
    "stream_with_tool_detection",
    "transform_request",
    "transform_response_with_tools",
    "validate_request",
]

MAX_ANSWER = 32 * 1024 * 1024
"""Longer answers of a backend are refused by ``read_answer``."""

_log = logging.getLogger("toolglot.router")


class RequestError(ToolglotError, ValueError):
    """A request that no backend could answer.

    Attributes:
        status: The HTTP status to answer with: 400.
        body: The JSON to answer with, as OpenAI words it.
        code: What is wrong with it, as a fixed word: see :func:`validate_request`.
        param: Where in the request, as OpenAI writes it (``messages[0]``); ``place`` is the same.
    """

    status = 400

    def __init__(self, message: str, *, code: str, param: str) -> None:
        super().__init__(message, param)
        self.code = code
        self.param = param

    @property
    def body(self) -> Any:
        """The JSON to answer with."""
        return error_body(self.message, code=self.code, param=self.param)

    def __reduce__(self) -> Any:
        return _request_error, (self.message, self.code, self.param)


def _request_error(message: str, code: str, param: str) -> RequestError:
    return RequestError(message, code=code, param=param)


def validate_request(request: Any) -> None:
    """Refuse what no backend could answer: bad tool declarations, results without their calls, results out of place.

    Ids need not begin with ``call_``: Mistral's and Kimi's do not, and clients send back what they were given.

    Raises:
        RequestError: Its ``code`` is ``invalid_tool_schema``, ``invalid_tool_call_id``, ``invalid_message_order`` or
            ``invalid_value``.

    >>> from toolglot.router import validate_request
    >>> validate_request({"messages": [{"role": "tool", "tool_call_id": "call_1", "content": "18"}]})
    Traceback (most recent call last):
        ...
    toolglot.router.RequestError: messages[0]: a tool message must follow the message with its call
    """
    _validated(request)


def _validated(request: Any, **options: Any) -> tuple[dict[str, Any], Translation]:
    """The client's request, and its translation. Whatever JSON it sent, the answer is an error of its own."""
    try:
        body = as_dict(request)
        text = as_json(body)
    except TypeError as error:
        raise RequestError(f"the request is no object: {error}", code="invalid_value", param="body") from None
    try:
        return body, Transcoder("chat", "chat", **options).request(text)
    except WireError as error:
        raise RequestError(error.message, code=error.code, param=error.param) from None


def transform_request(
    request: Any,
    *,
    mode: Literal["native", "text"] = "native",
    dialect: str | Dialect = "auto",
    validate: bool = True,
) -> dict[str, Any]:
    """The payload for the backend.

    Args:
        request: The client's request, a dict or a pydantic model. It stays as it is.
        mode: ``"native"``: the backend takes ``tools`` itself; the payload is the request. ``"text"``: it does not; the
            tools go into the system prompt, and calls and results of the history into text. So do ``functions``,
            ``function_call`` and messages of the role ``function``, which came before them.
        dialect: How the model is to write its calls in text mode, and how those of the history and their results are
            written; ``"auto"`` is plain JSON.
        validate: Refuse what no backend could answer; see ``validate_request``.

    Raises:
        RequestError: The request is refused; ``status`` and ``body`` are the answer.
        TypeError: The request is of the wrong type.
        UnknownDialectError: No dialect is called so.
        BadDialectError: A Dialect of your own does not show how a call is written.
        BadOptionError: ``mode`` is neither of the two.
    """
    if mode not in ("native", "text"):
        raise BadOptionError(f"{mode!r} is neither 'native' nor 'text'", "mode")
    body, translated = _validated(request, mode=mode, dialect=dialect, validate=validate)
    if mode == "native":
        return body
    payload: dict[str, Any] = json.loads(translated.body)
    return payload


def as_text(messages: list[Any], dialect: str | Dialect) -> list[Any]:
    """A history whose calls and results are text, in the dialect's form: what a model without native tools reads."""
    said = translation({"messages": messages}, mode="text", dialect=dialect)
    written: list[Any] = json.loads(said.body)["messages"]
    return written


async def read_answer(response: Any, *, max_bytes: int = MAX_ANSWER) -> Any:
    """The JSON of a backend's whole answer, read piece by piece: a small body may unpack to gigabytes.

    Args:
        response: An ``httpx.Response`` opened with ``stream=True``, or an async iterable of bytes. It is closed where it
            is not read to its end.
        max_bytes: Bytes that the unpacked answer may have.

    Raises:
        ProviderError: The answer is longer than that, or no JSON.
    """
    read = getattr(response, "aiter_bytes", None)
    body = bytearray()
    async for chunk in read() if read is not None else response:
        body += chunk
        if len(body) > max_bytes:
            close = getattr(response, "aclose", None)
            if close is not None:
                await close()
            raise ProviderError(f"the answer has more than {max_bytes} bytes", "body")
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise ProviderError("the answer is no JSON", "body") from None


def transform_response_with_tools(
    response: Any,
    request: Any,
    *,
    dialect: str | Dialect | None = "auto",
    policy: Policy | dict[str, Any] | None = None,
    starts_in: Literal["content", "reasoning"] = "content",
) -> dict[str, Any]:
    """The backend's response with every call, native or in the text, as ``tool_calls``.

    A call that was cut off is not in it, and the ``finish_reason`` is then ``"length"``. Calls that name no offered
    tool or do not fit the schema are in it: the client tells the model. Calls in the text count where there are no native
    ones. Reasoning in the text becomes ``reasoning_content``. A response to a request without tools, and an error body,
    are returned as they are: the application decides what of an error's text its client may see. A client that asked
    with ``functions`` gets the first call as ``function_call``, the only one that it can read.

    Args:
        response: The backend's response, a dict or an SDK's object. It stays as it is.
        request: The client's request, before ``transform_request``: its ``tools`` were offered.
        dialect: How the model spells calls in text.
        policy: A Policy, or a dict of its options.
        starts_in: ``"reasoning"`` where the backend's template has already opened the reasoning block (R1, QwQ, thinking
            Qwens). A backend that sends reasoning in a field of its own has closed it.

    Raises:
        ProviderError: A choice holds no message, or an error and nothing before it: as an empty answer it would pass for
            a whole one.
        TypeError: The response or the request is of the wrong type.
        UnknownDialectError: No dialect, parser or model of that name is known.
        BadToolError: None of the request's tools is one.
        BadOptionError: An option's value is not one of those it may have.

    >>> from toolglot.router import transform_response_with_tools
    >>> request = {"tools": [{"type": "function", "function": {"name": "ping"}}]}
    >>> message = {"role": "assistant", "content": '<tool_call>{"name": "ping", "arguments": {}}</tool_call>'}
    >>> response = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    >>> choice = transform_response_with_tools(response, request)["choices"][0]
    >>> choice["message"]["tool_calls"][0]["function"]["name"], choice["finish_reason"]
    ('ping', 'tool_calls')
    """
    body, asked = as_dict(response), as_dict(request)
    translated = translation(asked, dialect=dialect, policy=policy, starts_in=starts_in)
    choices = body.get("choices")
    if not _offers_tools(asked) or not isinstance(choices, list) or not choices:
        return body
    read = [
        _rewritten(body, choice, place, translated, asks_with_functions(asked))
        if isinstance(choice, Mapping)
        else choice
        for place, choice in enumerate(choices)
    ]
    return {**body, "choices": read}


def _offers_tools(asked: Mapping[str, Any]) -> bool:
    """Whether the request lets the model call anything."""
    choice = asked.get("tool_choice")
    if choice is None and asked.get("functions"):
        choice = asked.get("function_call")
    return bool(asked.get("tools") or asked.get("functions")) and choice != "none"


def _rewritten(
    body: Mapping[str, Any], choice: Mapping[str, Any], place: int, translated: Translation, functions: bool
) -> Any:
    """One choice with what was read in it; fields that say something else stay."""
    message = choice.get("message")
    if not isinstance(message, Mapping | None) or not (message or choice.get("text")):
        raise ProviderError("the choice holds no message", f"choices[{place}]")
    # An answer that broke off has what it has: only how it ended stays the backend's word.
    broken = choice.get("finish_reason") == "error"
    alone = {**choice, "index": 0, **({"finish_reason": None} if broken else {})}
    answered = translated.answer(as_json({**body, "choices": [alone]}))
    turn = answered.turn
    if turn is None or (broken and not (turn.content or turn.reasoning or turn.tool_calls)):
        raise ProviderError("the choice holds an error and no answer", f"choices[{place}]")
    if functions and len(turn.tool_calls) > 1:
        _log.warning(MORE_CALLS)
    (written,) = json.loads(answered.body)["choices"]
    own = {key: choice[key] for key in ("index",) if key in choice}
    if broken:
        own["finish_reason"] = "error"
    return {**{key: value for key, value in written.items() if key in choice or key != "index"}, **own}
