"""Whole conversations: converted, checked, mended. The work is done by the core; this gives the result its shape."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from . import _core
from ._core import Dialect, Issue

__all__ = ["Messages", "check_history", "convert_messages", "repair_history"]


TEXT = "text"
"""The name under which models without native tools are addressed like a provider."""


class Messages(list[Any]):
    """Messages in a provider's shape: a plain list, with what belongs to it but is no message.

    For Bedrock they are as boto3 takes them, media as bytes; base64 text is read as well. All else, ``side`` too, is JSON.

    Attributes:
        provider: The provider whose shape it is.
        system: The system prompt, where the provider takes it beside the messages (Anthropic ``system``, Gemini
            ``systemInstruction``, Bedrock ``system``), as the request wants it; else None.
        side: What the provider has no place for (signatures, encrypted reasoning, ids, error marks, fields that only the
            first provider knows), by the index of the message. :func:`convert_messages` puts it back on the way home.
        issues: Everything that was changed or left out for this provider, with the index of its message in ``place``; and
            what could not be put back on the way home, because its message is no longer what it was.
    """

    def __init__(
        self,
        messages: Iterable[Any] = (),
        *,
        provider: str = "auto",
        system: Any = None,
        side: dict[str, Any] | None = None,
        issues: Iterable[Issue] = (),
    ) -> None:
        super().__init__(messages)
        self.provider = provider
        self.system = system
        self.side = side or {}
        self.issues = list(issues)


def convert_messages(
    messages: Iterable[Any],
    to: str | None = None,
    *,
    provider: str | None = None,
    source: str = "auto",
    system: Any = None,
    side: dict[str, Any] | None = None,
    tools: Any = None,
    dialect: str | Dialect | None = None,
) -> Messages:
    """Convert a history from one provider's shape to another's, calls, results, media and system prompt included.

    Args:
        messages: Dicts or SDK objects; a :class:`Messages` brings its provider, system prompt and side channel along.
        to: The provider to write for. DeepSeek and Moonshot get the reasoning of other models back, which they demand;
            OpenRouter gets Claude's with its signatures. ``"text"``: Chat Completions for a model without native tools,
            with calls and results written as text. There is no way back from it.
        provider: The same, under the name that it has elsewhere.
        source: The provider the messages are for; "auto" detects it from their shape.
        system: The system prompt, where it was not one of the messages.
        side: What an earlier conversion kept in ``Messages.side``.
        tools: The tools that are offered: calls of those that take free text (OpenAI's ``custom``) and their results become
            ``custom_tool_call`` and ``custom_tool_call_output`` for Responses. For all other providers they are calls of a
            function with one string, ``input``, as :meth:`ToolSet.to` declares such tools there.
        dialect: For ``"text"``, how calls and results are spelt; ``"auto"``, the default, is the form for plain JSON.

    Raises:
        BadMessageError: An item is not a message; ``place`` has its index.
        UnknownProviderError: No provider of that name.
        BadToolError: No tool can be read from ``tools``.
        UnknownDialectError: No dialect is called so.
        BadOptionError: ``dialect`` is given for another provider than ``"text"``.

    >>> import toolglot
    >>> toolglot.convert_messages([{"role": "user", "content": "Hi"}], to="gemini")
    [{'role': 'user', 'parts': [{'text': 'Hi'}]}]
    """
    if (to is None) == (provider is None):
        raise TypeError("convert_messages() needs the provider to write for, as `to` or as `provider`")
    to = to or provider or ""
    source, system, side = _brought(messages, source, system, side)
    converted, prompt, kept, issues = _core._convert_messages(messages, to, _chat(source), system, side, tools, dialect)
    return Messages(converted, provider=to, system=prompt, side=kept, issues=issues)


def check_history(messages: Iterable[Any], provider: str = "auto") -> list[Issue]:
    """Every violation of what ``provider`` wants of a history; ``place`` begins with the index of the message.

    Args:
        messages: Dicts or SDK objects, or a :class:`Messages`.
        provider: The provider the messages are for; "auto" is that of the :class:`Messages`, or is detected from their shape.

    Raises:
        BadMessageError: An item is not a message; ``place`` has its index.
        UnknownProviderError: No provider of that name.
    """
    provider, _, _ = _brought(messages, provider, None, None)
    return _core._check_history(messages, _chat(provider))


def repair_history(
    messages: Iterable[Any],
    provider: str = "auto",
    *,
    system: Any = None,
    side: dict[str, Any] | None = None,
    tools: Any = None,
) -> Messages:
    """Mend what :func:`check_history` finds; ``issues`` of the result says what was done, and where.

    Results are moved behind their calls, missing ones become an error result that says so, those that
    answer no call become text; ids, names and arguments are brought into the provider's form; empty messages go. The system prompt and the
    side channel are kept.

    Args:
        messages: Dicts or SDK objects; a :class:`Messages` brings its provider, system prompt and side channel along.
        provider: The provider the messages are for; "auto" detects it from their shape. The result's ``provider`` names it.
        system: The system prompt, where it was not one of the messages.
        side: What an earlier conversion kept in ``Messages.side``.
        tools: The tools that are offered: a name of theirs that the provider refuses becomes the spelling declared to it.
            Without them it becomes one that no other call of the history has.

    Raises:
        BadMessageError: An item is not a message; ``place`` has its index.
        UnknownProviderError: No provider of that name.
    """
    provider, system, side = _brought(messages, provider, system, side)
    (mended, prompt, kept, issues), known = _core._repair_history(messages, _chat(provider), system, side, tools)
    return Messages(mended, provider=TEXT if provider == TEXT else known, system=prompt, side=kept, issues=issues)


def _chat(provider: str) -> str:
    """The provider whose shape the messages have: in text mode, that of Chat Completions."""
    return "openai" if provider == TEXT else provider


def _brought(
    messages: Iterable[Any], provider: str, system: Any, side: dict[str, Any] | None
) -> tuple[str, Any, dict[str, Any] | None]:
    """What the caller did not say, taken from a :class:`Messages`: its provider, system prompt and side channel."""
    if not isinstance(messages, Messages):
        return provider, system, side
    return (
        messages.provider if provider == "auto" else provider,
        messages.system if system is None else system,
        messages.side if side is None else side,
    )
