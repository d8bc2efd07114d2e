"""Tell files that are still being written from files at rest.

A file that grows must not be parsed yet: half a PDF is damaged, half a table is a wrong answer.
Two stats some time apart decide, never the wall clock against a modification time: clocks jump, and
copies carry old times. What is at rest here is only the stat; whether it is new to the index is
for `changes` to say.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rag_source.domain.catalogue import FileState
from rag_source.domain.documents import SourceFile
from rag_source.ingest.scan import FoundFile, Scan

__all__ = ["Settling"]

_Stat = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Seen:
    """A stat, when it was first seen, and when the file began to change from look to look."""

    stat: _Stat
    since: float
    restless_since: float


class Settling:
    """What the scans of one corpus have shown, one after the other.

    A file is at rest once its size and time have stood for `quiet_s` seconds from one look to
    another. One that never rests, such as a log, is let through every `limit_s` seconds: better
    an answer from a moment of it than none.
    """

    def __init__(
        self,
        *,
        quiet_s: float = 2.0,
        limit_s: float = 600.0,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        if not 0 < quiet_s < limit_s:
            raise ValueError(f"quiet_s must be positive and under limit_s, not {quiet_s}")
        self._quiet_s = quiet_s
        self._limit_s = limit_s
        self._now = now
        self._seen: dict[str, _Seen] = {}
        self._due_s: float | None = None

    def observe(
        self, found: Scan, recorded: Iterable[SourceFile | FileState] = ()
    ) -> frozenset[str]:
        """Take in a scan; returns the paths that must wait.

        Args:
            found: The folder as it is now.
            recorded: Files that an earlier pass came to an end with, by their former or present
                path. One of the same size and time, under whatever name, is at rest: nothing is
                read again, and a rename stays a rename.
        """
        now = self._now()
        known = {(source.size_bytes, source.mtime_ns) for source in recorded}
        here = {file.path for file in found.files}
        left = {seen.stat: seen for path, seen in self._seen.items() if path not in here}
        seen_now: dict[str, _Seen] = {}
        rests: dict[str, float] = {}
        for file in found.files:
            if _stat(file) in known:
                continue
            seen, waits_s = self._look(file, left, now)
            seen_now[file.path] = seen
            if waits_s > 0:
                rests[file.path] = waits_s
        self._seen = seen_now
        self._due_s = max(rests.values()) if rests else None
        return frozenset(rests)

    def _look(self, file: FoundFile, left: dict[_Stat, _Seen], now: float) -> tuple[_Seen, float]:
        """The file's new entry, and how many seconds it must still lie still; 0 or less: none."""
        stat = _stat(file)
        before = self._seen.get(file.path) or left.get(stat)
        if before is None:
            return _Seen(stat, now, now), self._quiet_s
        if before.stat == stat:
            waits_s = before.since + self._quiet_s - now
            if waits_s <= 0:
                return _Seen(stat, before.since, now), 0.0
            return before, waits_s
        if now - before.restless_since >= self._limit_s:
            return _Seen(stat, now, now), 0.0
        return _Seen(stat, now, before.restless_since), self._quiet_s

    def due_s(self) -> float | None:
        """Seconds after the last `observe` when all that waits may be at rest; None: none waits."""
        return self._due_s


def _stat(file: FoundFile) -> _Stat:
    return file.size_bytes, file.mtime_ns
