"""The routes. Each turns a request into one call of the service and its result into wire form."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Annotated, Any, Protocol

from fastapi import APIRouter, Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.exceptions import HTTPException

from rag_source.api.auth import BearerAuth, BodyLimit
from rag_source.api.checks import router as check_router
from rag_source.api.jobs import router as job_router
from rag_source.api.projects import router as project_router
from rag_source.api.service import ProjectDirectory, service_of
from rag_source.api.wire import (
    AskRequest,
    AskResponse,
    DocumentOut,
    DocumentsResponse,
    ErrorBody,
    HealthResponse,
    IngestResponse,
    SearchRequest,
    SearchResponse,
    wire_event,
)
from rag_source.domain.answers import AnswerDone, AnswerEvent, AnswerFailed
from rag_source.domain.catalogue import DocumentRecord
from rag_source.domain.errors import NotFoundError, RagError, RequestError
from rag_source.domain.evidence import SearchFilter, SearchMode, SearchResult
from rag_source.domain.health import Check, Health
from rag_source.domain.jobs import JobAction, QueueStatus
from rag_source.domain.reports import IngestReport

__all__ = ["Service", "create_app"]

logger = logging.getLogger(__name__)

LIMIT_BODY_BYTES = 1_000_000


class Service(Protocol):
    """What the routes need; `wiring.Application` is the real one."""

    async def search(
        self, query: str, *, mode: SearchMode, limit: int, filter: SearchFilter
    ) -> SearchResult: ...

    def ask(
        self, question: str, *, mode: SearchMode, filter: SearchFilter
    ) -> AsyncIterator[AnswerEvent]: ...

    async def documents(self) -> list[DocumentRecord]: ...

    async def ingest(self, *, force: bool = False) -> IngestReport: ...

    async def health(self) -> Health: ...

    def checks(self) -> AsyncIterator[Check]: ...

    async def repair(self) -> int: ...

    async def queue(self) -> QueueStatus: ...

    async def control(self, action: JobAction, path: str | None = None) -> QueueStatus: ...


def create_app(
    service: Service,
    *,
    token: str,
    lifespan: Any = None,
    projects: ProjectDirectory | None = None,
) -> FastAPI:
    """The ASGI application around a service.

    Args:
        service: Answers the calls; owned by the caller.
        token: The bearer token; every route but `/health` asks for it.
        lifespan: Passed to FastAPI.
        projects: Other services that requests may name; without it there is this one alone.
    """
    app = FastAPI(
        title="rag-source",
        version="1",
        lifespan=lifespan,
        responses={
            400: {"model": ErrorBody},
            401: {"model": ErrorBody},
            503: {"model": ErrorBody},
        },
    )
    app.state.service = service
    app.state.projects = projects
    _add_error_handlers(app)
    app.include_router(router)
    app.include_router(job_router)
    app.include_router(check_router)
    app.include_router(project_router)
    app.add_middleware(BodyLimit, limit_bytes=LIMIT_BODY_BYTES)
    app.add_middleware(BearerAuth, token=token)
    return app


_Service = Annotated[Service, Depends(service_of)]


router = APIRouter()


@router.get("/health")
async def health(request: Request, service: _Service) -> HealthResponse:
    """Whether the service can answer; details only with a token."""
    report = await service.health()
    if not request.state.authorized:
        return HealthResponse(status=report.status)
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


@router.post("/v1/search")
async def search(body: SearchRequest, service: _Service) -> SearchResponse:
    """Ranked evidence for a query."""
    result = await service.search(
        body.query, mode=body.mode, limit=body.limit, filter=body.filter()
    )
    return SearchResponse.of(result)


@router.post("/v1/ask")
async def ask(body: AskRequest, service: _Service) -> AskResponse:
    """The checked answer to a question, in one piece."""
    async with aclosing(_events(service, body)) as events:
        async for event in events:
            if isinstance(event, AnswerDone):
                return AskResponse.of(event.answer)
            if isinstance(event, AnswerFailed):
                raise _failure(event)
    raise RagError("the answer ended without a result", code="internal")


@router.post("/v1/ask/stream", response_class=EventSourceResponse)
async def ask_stream(body: AskRequest, service: _Service) -> AsyncIterator[ServerSentEvent]:
    """The answer as typed events; ends in exactly one of `done` and `failed`."""
    async with aclosing(_events(service, body)) as events:
        async for event in events:
            wire = wire_event(event)
            yield ServerSentEvent(event=wire.type, data=wire.model_dump(mode="json"))


async def _events(service: Service, body: AskRequest) -> AsyncGenerator[AnswerEvent, None]:
    """The service's events, with anything unforeseen turned into a last `failed`."""
    try:
        events = service.ask(body.question, mode=body.mode, filter=body.filter())
        async for event in events:
            yield event
    except RagError as error:
        yield AnswerFailed(code=error.code, message=error.message, hint=error.hint)
    except Exception:
        logger.exception("answer failed")
        yield AnswerFailed(code="internal", message="the answer failed", hint="see the log")


def _failure(event: AnswerFailed) -> RagError:
    """The error behind a `failed` event, of the class that its code belongs to."""
    cls = _CLASS_BY_CODE.get(event.code, RagError)
    return cls(event.message, hint=event.hint, code=event.code)


def _walk(cls: type[RagError]) -> list[type[RagError]]:
    return [cls, *(sub for child in cls.__subclasses__() for sub in _walk(child))]


_CLASS_BY_CODE: dict[str, type[RagError]] = {cls.code: cls for cls in _walk(RagError)} | {
    "empty_question": RequestError,
    "question_too_long": RequestError,
}


def _add_error_handlers(app: FastAPI) -> None:
    @app.exception_handler(RagError)
    async def rag_error(request: Request, error: RagError) -> JSONResponse:
        return JSONResponse(error.as_dict(), status_code=error.http_status)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part != "body") or "body"
        body = ErrorBody(
            code="bad_request", message=f"{where}: {first['msg']}", hint="see /docs for its form"
        )
        return JSONResponse(body.model_dump(), status_code=400)

    @app.exception_handler(HTTPException)
    async def http_error(request: Request, error: HTTPException) -> JSONResponse:
        code = NotFoundError.code if error.status_code == 404 else "bad_request"
        body = ErrorBody(code=code, message=f"{request.url.path!r}: {error.detail}")
        return JSONResponse(body.model_dump(), status_code=error.status_code)

    @app.exception_handler(Exception)
    async def unforeseen(request: Request, error: Exception) -> JSONResponse:
        logger.error("request failed", exc_info=error)
        body = ErrorBody(code="internal", message="the request failed", hint="see the log")
        return JSONResponse(body.model_dump(), status_code=500)
