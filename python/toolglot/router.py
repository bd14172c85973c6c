"""Pieces for an OpenAI-compatible router in front of a local model: request in, response out, stream through.

The request may be a dict or a pydantic model; nothing here needs FastAPI, but for :func:`create_router` and
:func:`create_app`, which serve Chat Completions, Responses and Messages.

    payload = transform_request(request, mode="text", dialect="hermes")
    async with http.stream("POST", url, json=payload) as answer:
        return transform_response_with_tools(await read_answer(answer), request, dialect="hermes")

and for a stream ``StreamingResponse(stream_with_tool_detection(answer, request))``.
"""

from __future__ import annotations

import contextlib
import json
import logging
import re
from collections.abc import Mapping
from typing import Any, Literal

from ._chat import (
    MORE_CALLS,
    REASONING,
    as_dict,
    asks_with_functions,
    choice_of,
    declared,
    error_body,
    finish_reason,
    fresh_id,
    offered,
    used_ids,
    whole_characters,
    with_tools,
)
from ._core import Dialect, Policy, ToolCall, ToolSet, Turn, assistant_message, format_tool_results, normalize_choices
from ._serving import create_app, create_router
from ._stream import stream_with_tool_detection
from .errors import BadJsonError, BadOptionError, ProviderError, ToolglotError

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
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
_ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})
_TOOL_OPTIONS = ("tools", "tool_choice", "parallel_tool_calls", "functions", "function_call")


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
    toolglot.router.RequestError: messages[0]: a tool message must follow the assistant message with its tool_calls
    """
    body = _asked(request)
    _check_tools(body)
    _check_messages(body.get("messages"))


def _asked(request: Any) -> dict[str, Any]:
    """The client's request. Whatever JSON it sent, the answer is an error of its own, not the server's."""
    try:
        return as_dict(request)
    except TypeError as error:
        raise RequestError(f"the request is no object: {error}", code="invalid_value", param="body") from None


def _check_tools(body: dict[str, Any]) -> None:
    for field in ("tools", "functions"):
        if not isinstance(body.get(field), list | None):
            raise RequestError(f"{field} must be a list", code="invalid_tool_schema", param=field)
    tools = declared(body) or []
    names: set[str] = set()
    listed = len(body.get("tools") or [])
    for index, tool in enumerate(tools):
        where = f"tools[{index}]" if index < listed else f"functions[{index - listed}]"
        problem = _tool_problem(tool)
        if problem is not None:
            raise RequestError(problem, code="invalid_tool_schema", param=where)
        name = tool["function"]["name"]
        if name in names:
            raise RequestError(f"the name {name!r} is used twice", code="invalid_tool_schema", param=where)
        names.add(name)
    param = "function_call" if body.get("tool_choice") is None else "tool_choice"
    _check_choice(choice_of(body), names, param)


def _check_choice(choice: Any, names: set[str], param: str) -> None:
    """A tool_choice: one of OpenAI's words, a function, or a list of allowed ones."""
    if choice is None or choice in ("none", "auto", "required"):
        return
    if not isinstance(choice, Mapping):
        message = f"{param} must be none, auto, required, a function or allowed_tools"
        raise RequestError(message, code="invalid_value", param=param)
    if _choice_mode(choice) not in ("auto", "required"):
        message = 'allowed_tools is {"mode": "auto" or "required", "tools": [...]}'
        raise RequestError(message, code="invalid_value", param=param)
    for wanted in _chosen(choice) or [None]:
        if not isinstance(wanted, str) or wanted not in names:
            message = f"{param} names {wanted!r}, which is none of the tools"
            raise RequestError(message, code="invalid_value", param=param)


def _choice_mode(choice: Any) -> Any:
    """Whether a tool must be called: ``"required"``, or else another of OpenAI's words."""
    if not isinstance(choice, Mapping):
        return choice
    if choice.get("type") != "allowed_tools":
        return "required"
    return _allowed_tools(choice).get("mode")


def _chosen(choice: Mapping[str, Any]) -> list[Any]:
    """The names of the tools that may be called, where ``tool_choice`` lists them."""
    if choice.get("type") == "allowed_tools":
        tools = _allowed_tools(choice).get("tools")
        return [_name_of(tool) for tool in tools] if isinstance(tools, list) else []
    return [_name_of(choice)]


def _allowed_tools(choice: Mapping[str, Any]) -> Mapping[str, Any]:
    allowed = choice.get("allowed_tools")
    return allowed if isinstance(allowed, Mapping) else {}


def _name_of(tool: Any) -> Any:
    """The name in ``{"type": "function", "function": {"name"}}``."""
    function = tool.get("function") if isinstance(tool, Mapping) else None
    return function.get("name") if isinstance(function, Mapping) else None


def _tool_problem(tool: Any) -> str | None:
    function = tool.get("function") if isinstance(tool, Mapping) else None
    if not isinstance(tool, Mapping) or tool.get("type", "function") != "function" or not isinstance(function, Mapping):
        return 'a tool is {"type": "function", "function": {...}}'
    name = function.get("name")
    if not isinstance(name, str) or not _NAME.match(name):
        return "a function's name has 1 to 64 letters, digits, underscores and dashes"
    schema = function.get("parameters")
    if schema is not None and not isinstance(schema, Mapping):
        return f"the parameters of {name!r} must be a JSON Schema object"
    if schema and schema.get("type", "object") != "object":
        return f"the parameters of {name!r} must have the type object"
    try:
        problems = ToolSet([tool]).problems
    except ToolglotError as error:
        return error.message
    # A schema with a part that means nothing is the backend's to judge: most take it, and the tool is offered all the same.
    return next((problem.message for problem in problems if problem.code != "bad_schema"), None)


def _check_messages(messages: Any) -> None:
    if not isinstance(messages, list) or not messages:
        raise RequestError("messages must be a list that is not empty", code="invalid_value", param="messages")
    known: set[str] = set()
    waiting: list[str] = []
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        role = message.get("role") if isinstance(message, Mapping) else None
        if not isinstance(role, str) or role not in _ROLES:
            raise RequestError("a message needs a known role", code="invalid_value", param=where)
        if not isinstance(message.get("content"), str | list | None):
            raise RequestError("content is text or a list of parts", code="invalid_value", param=f"{where}.content")
        if role == "tool":
            _check_result(message, where, known, waiting)
            continue
        if waiting:
            text = f"the tool_calls before have no result yet: {', '.join(waiting)}"
            raise RequestError(text, code="invalid_message_order", param=where)
        _check_function(message, role, where)
        if role == "assistant" and message.get("tool_calls"):
            waiting = _call_ids(message["tool_calls"], where)
            known.update(waiting)
    if waiting:
        text = f"the last tool_calls have no result: {', '.join(waiting)}"
        raise RequestError(text, code="invalid_message_order", param="messages")


def _check_function(message: Mapping[str, Any], role: str, where: str) -> None:
    """What stood in messages before there were tools: a ``function_call``, and its result with the function's name."""
    call = message.get("function_call")
    named = isinstance(call, Mapping) and isinstance(call.get("name"), str)
    if call is not None and not (named and isinstance(call.get("arguments"), str | Mapping | None)):
        text = 'a function_call is {"name", "arguments"}'
        raise RequestError(text, code="invalid_value", param=f"{where}.function_call")
    if role == "function" and not isinstance(message.get("name"), str):
        raise RequestError("a function message needs its name", code="invalid_value", param=where)


def _check_result(message: Mapping[str, Any], where: str, known: set[str], waiting: list[str]) -> None:
    """One result: takes its call off the list of those that wait."""
    answers = message.get("tool_call_id")
    if not isinstance(answers, str) or not answers:
        raise RequestError("a tool message needs its tool_call_id", code="invalid_tool_call_id", param=where)
    if answers in waiting:
        waiting.remove(answers)
    elif not known:
        text = "a tool message must follow the assistant message with its tool_calls"
        raise RequestError(text, code="invalid_message_order", param=where)
    elif answers in known:
        text = f"the tool call {answers!r} has its result already"
        raise RequestError(text, code="invalid_message_order", param=where)
    else:
        raise RequestError(f"there is no tool call {answers!r}", code="invalid_tool_call_id", param=where)


def _call_ids(calls: Any, where: str) -> list[str]:
    if not isinstance(calls, list):
        raise RequestError("tool_calls must be a list", code="invalid_value", param=where)
    ids: list[str] = []
    for call in calls:
        identity = call.get("id") if isinstance(call, Mapping) else None
        if not isinstance(identity, str) or not identity:
            raise RequestError("a tool call needs an id", code="invalid_tool_call_id", param=where)
        function = call.get("function")
        named = isinstance(function, Mapping) and isinstance(function.get("name"), str)
        if not named or not isinstance(function.get("arguments"), str | Mapping | None):
            text = 'a tool call is {"id", "type": "function", "function": {"name", "arguments"}}'
            raise RequestError(text, code="invalid_value", param=where)
        ids.append(identity)
    return ids


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
    body = _asked(request)
    if validate:
        validate_request(body)
    if mode == "native":
        return body
    return _in_text(body, dialect)


def _in_text(asked: dict[str, Any], dialect: str | Dialect) -> dict[str, Any]:
    """The request for a backend that knows no tools."""
    body = dict(asked)
    tools = offered(body)
    choice = choice_of(body)
    messages = as_text(body.get("messages") or [], dialect, tools)
    for option in _TOOL_OPTIONS:
        body.pop(option, None)
    if tools is not None:
        if isinstance(choice, Mapping):
            chosen = _chosen(choice)
            tools = ToolSet([tool for tool in tools.to_openai() if tool["function"]["name"] in chosen])
        messages = tools.inject(messages, dialect)
        if _choice_mode(choice) == "required":
            messages = _demand(messages)
    body["messages"] = messages
    return body


def _demand(messages: list[Any]) -> list[Any]:
    """The system message, which ``inject`` has put first, says that a call must be made."""
    first = dict(messages[0])
    demand = "In this answer you must call a tool."
    content = first.get("content")
    if isinstance(content, list):
        first["content"] = [*content, {"type": "text", "text": demand}]
    else:
        first["content"] = f"{content}\n\n{demand}"
    return [first, *messages[1:]]


def as_text(messages: list[Any], dialect: str | Dialect, tools: ToolSet | None = None) -> list[Any]:
    """A history whose calls and results are text, in the dialect's form: what a model without native tools reads."""
    out: list[Any] = []
    names: dict[str, str] = {}
    asked: dict[str, int] = {}
    results: list[tuple[dict[str, str], Any]] = []

    def answer() -> None:
        # Where a dialect shows no names, their order says which call they answer.
        results.sort(key=lambda result: asked.get(result[0]["id"], len(asked)))
        out.extend(format_tool_results(results, provider="text", dialect=dialect, tools=tools))
        results.clear()

    for message in with_tools(messages):
        if message.get("role") == "tool":
            identity = str(message.get("tool_call_id", ""))
            name = names.get(identity) or str(message.get("name") or "tool")
            results.append(({"id": identity, "name": name}, message.get("content")))
            continue
        if results:
            answer()
        calls = message.get("tool_calls")
        if message.get("role") == "assistant" and calls:
            names.update({call["id"]: call["function"]["name"] for call in calls})
            asked = {call["id"]: place for place, call in enumerate(calls)}
            turn = Turn(_plain(message.get("content")), [_read(call) for call in calls])
            out.append(assistant_message(turn, provider="text", dialect=dialect))
        else:
            out.append(message)
    if results:
        answer()
    return out


def _plain(content: Any) -> str:
    """The text of a message's content, which may come in parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def _read(call: Any) -> ToolCall:
    """A call of the history. Arguments that are no JSON go back as they are."""
    function = call["function"]
    arguments = function.get("arguments") or "{}"
    try:
        return ToolCall(function["name"], arguments, id=call["id"])
    except BadJsonError:
        return ToolCall(
            function["name"], "{}", id=call["id"], status="malformed", raw=f"{function['name']} {arguments}"
        )


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
    are returned as they are: what an error's text tells of the backend is the application's to hide. A client that asked
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
    tools = offered(asked)
    choices = body.get("choices")
    if tools is None or not isinstance(choices, list) or not choices:
        return body
    options: dict[str, Any] = {
        "tools": tools,
        "provider": "openai",
        "dialect": dialect,
        "starts_in": starts_in,
        "policy": policy,
    }
    with contextlib.suppress(TypeError):  # An SDK's objects in it hold no halves: they were decoded.
        body = whole_characters(body)
    choices = list(body["choices"])
    # Turns come in the order of indexes, which need not be that of the list; what is no choice stays as it is.
    said = {place: choice for place, choice in enumerate(choices) if isinstance(choice, Mapping)}
    in_order = [{**choice, "index": place} for place, choice in said.items()]
    turns = normalize_choices({**body, "choices": in_order}, **options) if in_order else []
    for place, turn in zip(said, turns, strict=False):
        _check_answer(choices[place], turn, place)
        choices[place] = _rewritten(choices[place], turn, used_ids(asked))
        if asks_with_functions(asked):
            choices[place] = _with_function_call(choices[place])
    body["choices"] = choices
    return body


def _check_answer(said: Mapping[str, Any], turn: Turn, place: int) -> None:
    if not isinstance(said.get("message"), Mapping | None) or not (said.get("message") or said.get("text")):
        raise ProviderError("the choice holds no message", f"choices[{place}]")
    if turn.stop_reason == "error" and not (turn.content or turn.reasoning or turn.tool_calls):
        raise ProviderError("the choice holds an error and no answer", f"choices[{place}]")


def _rewritten(said: Any, turn: Turn, used: set[str]) -> dict[str, Any]:
    """One choice with what was read in it; fields that say something else stay."""
    choice: dict[str, Any] = dict(said)
    message = choice.get("message")
    message = dict(message) if isinstance(message, Mapping) else {}
    message.pop("tool_calls", None)
    message.pop("function_call", None)
    # Not those whose arguments the client could not read: it would run them with none.
    calls = [call for call in turn.tool_calls if call.status not in ("malformed", "incomplete")]
    message["content"] = turn.content or (None if calls else "")
    if calls:
        message["tool_calls"] = [
            {
                "id": fresh_id(call.id, used),
                "type": "function",
                # The client's own name, whatever OpenAI would take.
                "function": {"name": call.name, "arguments": call.arguments_json},
            }
            for call in calls
        ]
    if turn.reasoning and not message.get("reasoning_details"):
        # With what stood in the text, in the field that the backend has for it.
        fields = [key for key in REASONING if isinstance(message.get(key), str) and message[key]]
        message[fields[0] if fields else REASONING[0]] = turn.reasoning
    choice["message"] = message
    choice["finish_reason"] = finish_reason(turn.tool_calls, choice.get("finish_reason"))
    return choice


def _with_function_call(choice: dict[str, Any]) -> dict[str, Any]:
    """The choice for a client that knows no ``tool_calls``."""
    message = dict(choice["message"])
    calls = message.pop("tool_calls", None)
    if calls:
        message["function_call"] = calls[0]["function"]
        if len(calls) > 1:
            _log.warning(MORE_CALLS)
    finish = choice["finish_reason"]
    return {**choice, "message": message, "finish_reason": "function_call" if finish == "tool_calls" else finish}
