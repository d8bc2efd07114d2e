"""The queue of ingestion in wire form."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from rag_source.api.wire_base import RequestBody, Wire
from rag_source.domain.jobs import Job, JobState, QueueStatus

__all__ = ["JobOut", "JobRequest", "JobsResponse"]


class JobOut(Wire):
    """A file on its way into the index; `done` of `total` steps of its state are behind."""

    path: str
    state: JobState
    done: int
    total: int
    priority: int
    queued_at: str

    @classmethod
    def of(cls, job: Job) -> JobOut:
        return cls(
            path=job.path,
            state=job.state,
            done=job.done,
            total=job.total,
            priority=job.priority,
            queued_at=job.queued_at,
        )


class JobsResponse(Wire):
    """The queue in the order of work; `paused` holds all of it back."""

    paused: bool
    jobs: list[JobOut]

    @classmethod
    def of(cls, status: QueueStatus) -> JobsResponse:
        return cls(paused=status.paused, jobs=[JobOut.of(job) for job in status.jobs])


class JobRequest(RequestBody):
    """The file that is meant, by its path in the folder; without it, all files."""

    path: Annotated[str, Field(min_length=1, max_length=4096)] | None = None
