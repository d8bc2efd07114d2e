"""When to act on changes, and when to try again: sums over a monotonic clock, no waiting."""

from __future__ import annotations

__all__ = ["Backoff", "Debounce"]


class Debounce:
    """Many changes, one look: due when quiet for `quiet_s`, or `limit_s` after the first."""

    def __init__(self, *, quiet_s: float, limit_s: float) -> None:
        self._quiet_s = quiet_s
        self._limit_s = limit_s
        self._first = 0.0
        self._last = 0.0
        self.count = 0

    def hear(self, now: float, count: int = 1) -> None:
        """Note `count` changes; `now` is monotonic."""
        if not self.count:
            self._first = now
        self._last = now
        self.count += count

    def is_due(self, now: float) -> bool:
        """Whether it is time to look."""
        quiet = now - self._last >= self._quiet_s
        return self.count > 0 and (quiet or now - self._first >= self._limit_s)

    def clear(self) -> None:
        """Forget all changes: a look is on its way."""
        self.count = 0


class Backoff:
    """Waiting times that double, from `first_s` up to `limit_s`."""

    def __init__(self, *, first_s: float, limit_s: float) -> None:
        self._first_s = first_s
        self._limit_s = limit_s
        self._next_s = first_s

    def next_s(self) -> float:
        """How long to wait this time."""
        wait_s = self._next_s
        self._next_s = min(2 * wait_s, self._limit_s)
        return wait_s

    def reset(self) -> None:
        """Begin again with `first_s`."""
        self._next_s = self._first_s
