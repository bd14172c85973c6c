"""Server-sent events from bytes that are cut anywhere."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["Lines", "TooLongError"]


class TooLongError(ValueError):
    """A line is longer than the limit."""


class Lines:
    """Cuts a byte stream into lines. Each byte is looked at once, however long the line and small the chunks."""

    def __init__(self, limit: int) -> None:
        self._held = bytearray()
        self._limit = limit

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the lines that ``chunk`` completes, without their ends.

        Raises:
            TooLongError: What has come of a line is longer than the limit.
        """
        # SSE also allows a lone CR as a line's end; no server sends it, and JSON escapes it.
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            if self._held:
                self._held += chunk[start:end]
                line = bytes(self._held)
                self._held.clear()
            else:
                line = chunk[start:end]
            if len(line) > self._limit:
                raise TooLongError
            yield line[:-1] if line.endswith(b"\r") else line
            start = end + 1
        if start < len(chunk):
            self._held += chunk[start:]
            if len(self._held) > self._limit:
                raise TooLongError

    def rest(self) -> bytes:
        """What came after the last line's end."""
        rest = bytes(self._held)
        self._held.clear()
        return rest
