"""A backend's whole answer for a client that reads events. Apart, because the transport is imported with the package."""

from __future__ import annotations

from ._core import Answered, Translation

__all__ = ["as_asked"]


def as_asked(translation: Translation, answered: Answered, body: bytes) -> tuple[bytes, str]:
    """The client's body for a whole answer of the backend, and its content type: events, where the client asked for them.

    A backend may answer whole whatever was asked, and one that could not read its model's call quotes it in an error.
    """
    if not translation.is_stream or answered.error is not None:
        return answered.body, "application/json"
    stream = translation.stream()
    return stream.feed(body) + stream.finish(), "text/event-stream"
