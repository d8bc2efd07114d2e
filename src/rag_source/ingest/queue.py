"""The queue of ingestion: whose turn it is, how far it has come, and the user's hand on it.

Kept in a table that survives any end of the process. A job that is paused, cancelled or replaced by
a newer version of its file is left at its next step; what it has cost so far waits in the spool.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace

from rag_source.domain.errors import RequestError
from rag_source.domain.jobs import ACTIVE_STATES, Job, JobState, QueueStatus
from rag_source.domain.ports import JobTable, Spool

__all__ = ["InterruptedJobError", "JobQueue"]


class InterruptedJobError(Exception):
    """The job is no longer to be worked on: paused, cancelled, or not the path's job any more."""


class JobQueue:
    """One process works on it; jobs of an earlier process that was cut short are queued again."""

    def __init__(self, table: JobTable, spool: Spool) -> None:
        self._table = table
        self._spool = spool
        self.changed = asyncio.Event()
        """Set whenever there may be something new to do."""
        table.put(
            [replace(job, state="queued") for job in table.jobs() if job.state in ACTIVE_STATES]
        )

    @property
    def paused(self) -> bool:
        """Whether everything is held back."""
        return self._table.paused

    def use(self, spool: Spool) -> None:
        """Keep what jobs cost in another spool from now on, and look at the queue again."""
        self._spool = spool
        self.changed.set()

    def status(self) -> QueueStatus:
        return QueueStatus(jobs=tuple(self._table.jobs()), paused=self._table.paused)

    def jobs(self) -> list[Job]:
        """In the order of work."""
        return self._table.jobs()

    def next(self, *, after: str = "") -> Job | None:
        """The job whose turn it is, that of the path `after` left out; None if all is paused."""
        return None if self._table.paused else self._table.next(after=after)

    def waiting(self) -> int:
        """How many jobs wait for their turn or have it."""
        return self._table.waiting()

    def enqueue(self, jobs: Sequence[Job]) -> None:
        """Add jobs, each in place of its path's former one, whose work is void from now on."""
        if jobs:
            self._table.put(jobs)
            self.changed.set()

    def advance(self, job: Job, state: JobState, done: int = 0, total: int = 0) -> Job:
        """Note how far a job has come; called between any two steps of its work.

        Raises:
            InterruptedJobError: It is not to go on.
        """
        current = self._table.job(job.path)
        if current is None or current.ticket != job.ticket or not current.is_runnable:
            raise InterruptedJobError(job.path)
        if self._table.paused:
            self._table.put([replace(current, state="queued")])
            raise InterruptedJobError(job.path)
        if (current.state, current.done, current.total) != (state, done, total):
            current = replace(current, state=state, done=done, total=total)
            self._table.put([current])
        return current

    def check(self, job: Job) -> None:
        """As `advance`, without noting anything.

        Raises:
            InterruptedJobError: It is not to go on.
        """
        current = self._table.job(job.path)
        if current is None:
            raise InterruptedJobError(job.path)
        self.advance(job, current.state, current.done, current.total)

    def release(self, job: Job) -> None:
        """Give a job back that could not be finished: it is queued again where it was."""
        current = self._table.job(job.path)
        if current is not None and current.ticket == job.ticket and current.state in ACTIVE_STATES:
            self._table.put([replace(current, state="queued")])

    def leave(self, job: Job) -> None:
        """An interrupted job has been left: what it put in the spool stays if it is to go on."""
        self._clear({job.source.fingerprint})

    def finish(self, job: Job) -> None:
        """A job has come to its end, good or bad."""
        current = self._table.job(job.path)
        if current is not None and current.ticket == job.ticket:
            self._table.drop([job.path])
        self._clear({job.source.fingerprint})

    def forget(self, paths: Iterable[str]) -> None:
        """The files are gone, or are as they were: nothing is to be done for them."""
        known = [job for job in map(self._table.job, paths) if job is not None]
        if known:
            self._table.drop([job.path for job in known])
            self._clear({job.source.fingerprint for job in known})

    def sweep(self) -> None:
        """Clear what the spool keeps for contents that no job wants."""
        kept = self._spool.contents()
        if kept:
            self._clear(kept)

    def pause(self, path: str | None = None) -> None:
        """Hold back a file, or everything.

        Raises:
            RequestError: The path has no job.
        """
        if path is None:
            self._table.paused = True
        else:
            self._set(path, "paused")

    def resume(self, path: str | None = None) -> None:
        """Let a paused or cancelled file go on, or everything.

        Raises:
            RequestError: The path has no job.
        """
        if path is None:
            self._table.paused = False
            held = [job for job in self._table.jobs() if job.state == "paused"]
            self._table.put([replace(job, state="queued") for job in held])
        else:
            self._set(path, "queued", unless_active=True)
        self.changed.set()

    def cancel(self, path: str | None = None) -> None:
        """Drop the work on a file, or on all, until the file changes or is retried.

        Raises:
            RequestError: The path has no job.
        """
        if path is not None:
            self._set(path, "cancelled")
        else:
            self._table.put([replace(job, state="cancelled") for job in self._table.jobs()])
        self._clear(self._spool.contents())

    def prefer(self, path: str) -> None:
        """Put a file before all others.

        Raises:
            RequestError: The path has no job.
        """
        job = self._known(path)
        highest = max(other.priority for other in self._table.jobs())
        self._table.put([replace(job, priority=highest + 1)])

    def _set(self, path: str, state: JobState, *, unless_active: bool = False) -> None:
        job = self._known(path)
        if not (unless_active and job.state in ACTIVE_STATES):
            self._table.put([replace(job, state=state)])

    def _known(self, path: str) -> Job:
        job = self._table.job(path)
        if job is None:
            raise RequestError(
                f"{path!r} is not in the queue",
                code="not_found",
                hint="`rag-source jobs` lists what is; give the path as it is written there.",
            )
        return job

    def _clear(self, fingerprints: Iterable[str]) -> None:
        for fingerprint in fingerprints:
            if not self._table.wants(fingerprint):
                self._spool.clear(fingerprint)
