"""Routes of the queue of ingestion."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated, Protocol

from fastapi import APIRouter, Depends
from fastapi.sse import EventSourceResponse, ServerSentEvent

from rag_source.api.job_wire import JobRequest, JobsResponse
from rag_source.api.service import service_of
from rag_source.domain.jobs import JobAction, QueueStatus

__all__ = ["router"]

_LOOK_S = 0.5
_HEARTBEAT_S = 15.0


class QueueService(Protocol):
    """What these routes need."""

    async def queue(self) -> QueueStatus: ...

    async def control(self, action: JobAction, path: str | None = None) -> QueueStatus: ...


_Service = Annotated[QueueService, Depends(service_of)]

router = APIRouter(prefix="/v1/jobs", tags=["jobs"])


@router.get("")
async def jobs(service: _Service) -> JobsResponse:
    """What is still to be indexed, and how far it has come."""
    return JobsResponse.of(await service.queue())


@router.get("/stream", response_class=EventSourceResponse)
async def stream(service: _Service) -> AsyncIterator[ServerSentEvent]:
    """An event `jobs` with the whole queue, at once and after each change; never ends by itself."""
    sent: QueueStatus | None = None
    silence_s = 0.0
    while True:
        status = await service.queue()
        if status != sent:
            sent, silence_s = status, 0.0
            yield ServerSentEvent(
                event="jobs", data=JobsResponse.of(status).model_dump(mode="json")
            )
        elif silence_s >= _HEARTBEAT_S:
            silence_s = 0.0
            yield ServerSentEvent(comment="still here")
        await asyncio.sleep(_LOOK_S)
        silence_s += _LOOK_S


@router.post("/{action}")
async def control(
    action: JobAction, service: _Service, body: JobRequest | None = None
) -> JobsResponse:
    """Pause, resume, cancel or retry the work for a file or for all; `prefer` puts a file first."""
    path = body.path if body is not None else None
    return JobsResponse.of(await service.control(action, path))
