"""What waits to be indexed, and how far it has come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from rag_source.domain.documents import SourceFile

__all__ = ["ACTIVE_STATES", "Job", "JobAction", "JobState", "QueueStatus"]

JobState: TypeAlias = Literal[
    "queued", "parsing", "chunking", "situating", "embedding", "paused", "cancelled"
]

JobAction: TypeAlias = Literal["pause", "resume", "cancel", "retry", "prefer"]
"""What a user may do to a file's job; all but `prefer` also to the whole queue."""

ACTIVE_STATES: tuple[JobState, ...] = ("parsing", "chunking", "situating", "embedding")
"""The states of a file that is being worked on, in the order in which it goes through them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One version of one file on its way into the index; there is one job at most for a path.

    A file that has come through has no job any more: its record says `ready` or `failed`. `ticket`
    names this job among those that the path had before: work for another ticket is void. `doc_id`
    is the document that it makes or replaces. Of two jobs the one of higher `priority` goes first,
    then the one of lower `position`. `done` of `total` steps of the state are behind: pages
    when parsing, chunks when situating, texts when embedding; 0 of 0 where nothing is counted.
    """

    source: SourceFile
    ticket: str
    doc_id: str
    state: JobState = "queued"
    priority: int = 0
    position: int = 0
    done: int = 0
    total: int = 0
    queued_at: str = ""

    @property
    def path(self) -> str:
        return self.source.path

    @property
    def is_runnable(self) -> bool:
        """Whether it waits for its turn or has it."""
        return self.state not in ("paused", "cancelled")


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueStatus:
    """The whole queue: its jobs in the order of work. `paused` holds all of them back."""

    jobs: tuple[Job, ...]
    paused: bool
