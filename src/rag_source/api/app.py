"""The application: all routes behind the gate, the page before it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Protocol

from fastapi import APIRouter, Depends, FastAPI, Request

from rag_source.api.answers import AnswerService
from rag_source.api.answers import router as answer_router
from rag_source.api.auth import BodyLimit, Gate, HostCheck
from rag_source.api.checks import router as check_router
from rag_source.api.conversations import HistoryService
from rag_source.api.conversations import router as conversation_router
from rag_source.api.corpus_wire import (
    DocumentOut,
    DocumentsResponse,
    HealthResponse,
    IngestResponse,
)
from rag_source.api.document_routes import ViewService
from rag_source.api.document_routes import router as document_router
from rag_source.api.errors import add_error_handlers
from rag_source.api.jobs import router as job_router
from rag_source.api.projects import router as project_router
from rag_source.api.reference import add_reference
from rag_source.api.request_log import RequestLog, Served
from rag_source.api.service import ProjectDirectory, service_of
from rag_source.api.session import SessionBook
from rag_source.api.session import router as session_router
from rag_source.api.static import StaticPage
from rag_source.api.uploads import UPLOAD_ROUTE, UploadService
from rag_source.api.uploads import router as upload_router
from rag_source.api.verify import VerifyService
from rag_source.api.verify import router as verify_router
from rag_source.api.wire import ErrorBody
from rag_source.domain.catalogue import DocumentRecord
from rag_source.domain.health import Check, Health
from rag_source.domain.jobs import JobAction, QueueStatus
from rag_source.domain.reports import IngestReport

__all__ = ["Front", "Service", "create_app"]

LIMIT_BODY_BYTES = 1_000_000


class Service(AnswerService, HistoryService, UploadService, VerifyService, ViewService, Protocol):
    """What the routes need; `application.Application` is the real one."""

    async def documents(self) -> list[DocumentRecord]: ...

    async def ingest(self, *, force: bool = False) -> IngestReport: ...

    async def health(self) -> Health: ...

    def checks(self) -> AsyncIterator[Check]: ...

    async def repair(self) -> int: ...

    async def queue(self) -> QueueStatus: ...

    async def control(self, action: JobAction, path: str | None = None) -> QueueStatus: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Front:
    """How the application meets the outside.

    `names` are host names that it answers to beside loopback's. `ui` is the folder of the page.
    `sessions` are the browsers that are let in; without it they are forgotten with the process.
    `on_served` gets each request when it is over.
    """

    names: tuple[str, ...] = ()
    ui: Path | None = None
    sessions: SessionBook | None = None
    on_served: Callable[[Served], None] = lambda served: None


def create_app(
    service: Service,
    *,
    token: str,
    lifespan: Any = None,
    projects: ProjectDirectory | None = None,
    front: Front | None = None,
) -> FastAPI:
    """The ASGI application around a service.

    Args:
        service: Answers the calls; owned by the caller.
        token: The bearer token; every route but a few (docs/api.md) asks for it or for a session.
        lifespan: Passed to FastAPI.
        projects: Other services that requests may name; without it there is this one alone.
        front: How it meets the outside; by default loopback without a page.
    """
    front = front or Front()
    app = FastAPI(
        title="rag-source",
        version="1",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        responses={
            "4XX": {"model": ErrorBody, "description": "The request is at fault."},
            "5XX": {"model": ErrorBody, "description": "The service, or a part of it, is."},
        },
    )
    sessions = front.sessions or SessionBook(key=token)
    app.state.service = service
    app.state.projects = projects
    app.state.sessions = sessions
    add_error_handlers(app)
    for one in (
        *(router, document_router, upload_router, answer_router, verify_router),
        *(conversation_router, job_router, check_router, project_router, session_router),
    ):
        app.include_router(one)
    add_reference(app)
    # The last one added is the first to see a request.
    app.add_middleware(BodyLimit, limit_bytes=LIMIT_BODY_BYTES, unlimited=frozenset({UPLOAD_ROUTE}))
    app.add_middleware(Gate, token=token, sessions=sessions)
    app.add_middleware(StaticPage, root=front.ui)
    app.add_middleware(HostCheck, names=front.names)
    app.add_middleware(RequestLog, on_served=front.on_served)
    return app


_Service = Annotated[Service, Depends(service_of)]

router = APIRouter(tags=["corpus"])


@router.get("/health")
async def health(request: Request, service: _Service) -> HealthResponse:
    """Whether the service can answer; details only with a token or a session."""
    report = await service.health()
    if not request.state.authorized:
        return HealthResponse(status=report.status, sovereignty=report.sovereignty)
    return HealthResponse.of(report)


@router.get("/v1/documents")
async def documents(service: _Service) -> DocumentsResponse:
    """Every file of the corpus and its state."""
    records = await service.documents()
    return DocumentsResponse(documents=[DocumentOut.of(record) for record in records])


@router.post("/v1/ingest")
async def ingest(service: _Service, force: bool = False) -> IngestResponse:
    """Bring the index up to date with the folder; answers when it is done."""
    return IngestResponse.of(await service.ingest(force=force))
