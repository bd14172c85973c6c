"""Answers as the service observes them: streams of either kind read by one reader, calls in text with ids of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from ._chat import new_id
from ._core import Event, StreamNormalizer, StreamParser, ToolCall, Turn

if TYPE_CHECKING:
    from ._core import _AnyEvent

__all__ = ["StreamReader", "own_ids", "stop_word", "with_calls", "written"]

_STOP_WORDS = {
    # platform.claude.com, "Handling stop reasons".
    "anthropic": {
        "stop": "end_turn",
        "tool_calls": "tool_use",
        "length": "max_tokens",
        "content_filter": "refusal",
        "pause": "pause_turn",
    },
    # docs.aws.amazon.com, Converse, "stopReason".
    "bedrock": {
        "stop": "end_turn",
        "tool_calls": "tool_use",
        "length": "max_tokens",
        "content_filter": "content_filtered",
        "refusal": "content_filtered",
    },
    # docs.cohere.com, chat v2, "finish_reason".
    "cohere": {"stop": "COMPLETE", "tool_calls": "TOOL_CALL", "length": "MAX_TOKENS", "error": "ERROR"},
    # ai.google.dev, "FinishReason"; there is no word for calls.
    "gemini": {"stop": "STOP", "length": "MAX_TOKENS", "content_filter": "SAFETY", "refusal": "SAFETY"},
}


def stop_word(reason: str, provider: str) -> str:
    """A turn's stop reason as ``provider`` spells it; those of the others are OpenAI's, as a turn has them."""
    return _STOP_WORDS.get(provider, {}).get(reason, reason)


def own_ids(turn: Turn) -> Turn:
    """Return the turn with a new id for each call in text: models that write ids repeat them."""
    if turn.source in (None, "native"):
        return turn
    return with_calls(turn, [call._with_id(new_id()) for call in turn.tool_calls])


def with_calls(turn: Turn, calls: list[ToolCall]) -> Turn:
    return Turn(
        turn.content,
        calls,
        reasoning=turn.reasoning,
        stop_reason=turn.stop_reason,
        usage=turn.usage,
        source=turn.source,
        dialect=turn.dialect,
        issues=turn.issues,
        provider_state=turn.provider_state,
    )


class StreamReader:
    """A stream of text pieces, or of a provider's chunks: the first one shows which."""

    def __init__(self, provider: str, *, keep_text: bool, options: dict[str, Any]) -> None:
        self._provider = provider
        self._keeps = keep_text
        self._options = options
        self._reader: StreamParser | StreamNormalizer | None = None
        self._pieces: list[str] = []
        # The own ids of calls in text, and all calls that ended, by the index that the events have.
        self._ids: dict[int, str] = {}
        self._ended: dict[int, ToolCall] = {}

    def feed(self, chunk: Any) -> list[_AnyEvent]:
        if self._reader is None:
            text = isinstance(chunk, str)
            self._reader = StreamParser(**self._options) if text else StreamNormalizer(self._provider, **self._options)
        reader = self._reader
        if isinstance(reader, StreamNormalizer):
            return [self._own(event, reader._in_text) for event in reader.feed(chunk)]
        if self._keeps:
            self._pieces.append(chunk)
        return [self._own(event, _always) for event in reader.feed(chunk)]

    def close(self) -> list[_AnyEvent]:
        reader = self._reader
        if reader is None:
            return []
        events = reader.close()
        # Calls that start only now are of one kind: with native calls, text is not read for calls.
        begun = any(event.kind == "call_started" for event in events)
        native = begun and reader.finish().source == "native"
        return [self._own(event, _never if native else _always) for event in events]

    def _own(self, event: _AnyEvent, in_text: Callable[[int], bool]) -> _AnyEvent:
        """Return the event with the new id of its call, if that is in text."""
        index, call = event.index, event.call
        if index is None or event.kind == "arguments":
            return event
        if call is None:
            if not in_text(index):
                return event
            self._ids[index] = new_id()
            return cast("_AnyEvent", Event("call_started", index=index, id=self._ids[index], name=event.name))
        if index in self._ids:
            call = call._with_id(self._ids[index])
            event = cast("_AnyEvent", Event("call_ended", index=index, call=call))
        self._ended[index] = call
        return event

    def finish(self) -> tuple[Turn | None, str | None]:
        """The turn, and what the model wrote."""
        if self._reader is None:
            return None, None
        turn = self._reader.finish()
        raw = written(turn) or "".join(self._pieces)
        if self._ids:
            turn = with_calls(turn, [self._ended[index] for index in sorted(self._ended)])
        return turn, raw


def _always(index: int) -> bool:
    return True


def _never(index: int) -> bool:
    return False


def written(turn: Turn) -> str | None:
    """The text of a provider's answer that had its calls in it."""
    content: str | None = ((turn.provider_state or {}).get("text") or {}).get("content")
    return content
