"""What one pass over the corpus did."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Drained", "FailedFile", "IngestReport", "Uploaded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedFile:
    """A file that cannot be searched, and why."""

    path: str
    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Drained:
    """What came through while the queue was worked off: files, and the chunks that they have."""

    added: int = 0
    updated: int = 0
    chunks: int = 0
    failed: tuple[FailedFile, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestReport:
    """Counts of files; `failed` lists every file that is now unusable, new or old.

    `chunks` is how many chunks the pass wrote; `seconds` is its wall time.
    """

    added: int
    updated: int
    removed: int
    unchanged: int
    failed: tuple[FailedFile, ...]
    chunks: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Uploaded:
    """A file that was put into the folder; `path` is relative to it."""

    path: str
    size_bytes: int
    replaced: bool
