"""Reads server-sent events: the `data` of each, comments and pings skipped. Pure.

Follows the WHATWG HTML specification, section 9.2.6, for the fields that model servers use.
"""

from __future__ import annotations

__all__ = ["SseParser"]


class SseParser:
    """Feed it lines without their ends; it gives back the data of every completed event."""

    def __init__(self) -> None:
        self._data: list[str] = []

    def feed(self, line: str) -> str | None:
        """The event's data if this line ends one that has any."""
        if not line:
            return self.flush()
        name, _, value = line.partition(":")
        if name == "data":
            self._data.append(value.removeprefix(" "))
        return None

    def flush(self) -> str | None:
        """What is pending; some servers omit the blank line after the last event."""
        if not self._data:
            return None
        data = "\n".join(self._data)
        self._data.clear()
        return data
