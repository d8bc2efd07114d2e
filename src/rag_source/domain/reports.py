"""What one pass over the corpus did."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["FailedFile", "IngestReport"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedFile:
    """A file that cannot be searched, and why."""

    path: str
    code: str
    message: str


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
