"""The exceptions of toolglot.

Model output never raises: what is odd about it is in ``turn.issues`` and ``call.status``. These are raised for what the
*caller* got wrong, and each is also the built-in exception that one would expect, so ``except ValueError`` works.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._core import Attempt, ToolCall, Turn
    from .loop import RunResult


class ToolglotError(Exception):
    """The base of all exceptions of toolglot.

    Attributes:
        code: What went wrong, as a fixed word.
        message: A sentence for people.
        place: Where in the input: a JSON pointer, an index or a name; ``""`` when there is no such place.
    """

    code: str = "error"

    def __init__(self, message: str = "", place: str = "") -> None:
        super().__init__(message, place)
        self.message = message
        self.place = place

    def __str__(self) -> str:
        return f"{self.place}: {self.message}" if self.place else self.message


class UnknownDialectError(ToolglotError, LookupError, ValueError):
    """No dialect, parser name or model id of that spelling is known."""

    code = "unknown_dialect"


class BadDialectError(ToolglotError, ValueError):
    """A dialect of your own does not make sense (a marker missing, a template that cannot be read)."""

    code = "bad_dialect"


class BadToolError(ToolglotError, ValueError):
    """An entry of ``tools=`` cannot be read as a tool."""

    code = "bad_tool"


class BadSchemaError(ToolglotError, ValueError):
    """A tool's JSON Schema has a part that means nothing. It is in ``ToolSet.problems``; the tool is offered all the same."""

    code = "bad_schema"


class UnknownProviderError(ToolglotError, LookupError, ValueError):
    """No provider of that name is known."""

    code = "unknown_provider"


class ProviderError(ToolglotError, ValueError):
    """A provider's response that holds no answer (an error body, HTML, nothing at all).

    Attributes:
        attempts: The requests that were made, where an exchange or a client made them.
        turn: What was read of an answer that broke off after events of it had been given out; else None.
        result: What a run had come to, where it asked; else None.
    """

    code = "provider_error"
    attempts: tuple[Attempt, ...] = ()
    turn: Turn | None = None
    result: RunResult | None = None


class BadOptionError(ToolglotError, ValueError):
    """An option's value is not one of those it may have."""

    code = "bad_option"


class BadJsonError(ToolglotError, ValueError):
    """Text that is no JSON and cannot be repaired into any, or a value that JSON cannot say (NaN)."""

    code = "bad_json"


class BadMessageError(ToolglotError, ValueError):
    """A message or history that cannot be read."""

    code = "bad_message"


class WireError(ToolglotError, ValueError):
    """A client's request that no backend could answer, with the response for the client.

    Attributes:
        code: What is wrong, as a fixed word: ``invalid_value``, ``invalid_tool_schema``, ``invalid_tool_call_id``,
            ``invalid_message_order``, ``thread_unsupported_request`` or ``previous_response_not_supported``.
        param: Where in the request (``messages[0]``); ``place`` is the same.
        status: The HTTP status to answer with.
        body: The JSON to answer with, in the client's API.
    """

    code = "invalid_value"

    def __init__(
        self, message: str, param: str = "", code: str = "invalid_value", status: int = 400, body: bytes = b""
    ) -> None:
        super().__init__(message, param)
        self.code = code
        self.param = param
        self.status = status
        self.body = bytes(body)

    def __reduce__(self) -> Any:
        return WireError, (self.message, self.param, self.code, self.status, self.body)


class CallError(ToolglotError, ValueError):
    """A call that was not run: it must not run, or its arguments are not what the annotations say.

    ``str(error)`` is written for the model: what is wrong, and what is expected.

    Attributes:
        call: The call, with the status that says why it was not run; ``call.error_message(provider=...)`` says the same
            in the names declared to a provider.
    """

    code = "bad_call"

    def __init__(self, message: str = "", place: str = "", *, call: ToolCall | Any = None) -> None:
        super().__init__(message, place)
        self.call = call

    def __str__(self) -> str:
        return self.message


class InternalError(ToolglotError, RuntimeError):
    """A bug in toolglot. The input that causes it is worth a report."""

    code = "internal"
