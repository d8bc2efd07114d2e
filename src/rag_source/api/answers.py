"""Routes that search and answer."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Annotated, Protocol

from fastapi import APIRouter, Depends
from fastapi.sse import EventSourceResponse, ServerSentEvent

from rag_source.api.conversations import HistoryService
from rag_source.api.errors import error_of
from rag_source.api.service import service_of
from rag_source.api.wire import (
    AskRequest,
    AskResponse,
    SearchRequest,
    SearchResponse,
    wire_event,
)
from rag_source.domain.answers import AnswerDone, AnswerEvent, AnswerFailed
from rag_source.domain.errors import RagError
from rag_source.domain.evidence import SearchFilter, SearchMode, SearchResult

__all__ = ["AnswerService", "router"]

logger = logging.getLogger(__name__)


class AnswerService(HistoryService, Protocol):
    """What these routes need."""

    async def search(
        self, query: str, *, mode: SearchMode, limit: int, filter: SearchFilter
    ) -> SearchResult: ...

    def ask(
        self,
        question: str,
        *,
        mode: SearchMode,
        filter: SearchFilter,
        keep: bool,
        conversation_id: str,
    ) -> AsyncIterator[AnswerEvent]: ...


_Service = Annotated[AnswerService, Depends(service_of)]


async def _asked(body: AskRequest, service: _Service) -> AskRequest:
    """The question, once its conversation is known to be there: a stream cannot say so any more."""
    if body.conversation_id:
        await service.history.require(body.conversation_id)
    return body


_Asked = Annotated[AskRequest, Depends(_asked)]

router = APIRouter(tags=["answers"])


@router.post("/v1/search")
async def search(body: SearchRequest, service: _Service) -> SearchResponse:
    """Ranked evidence for a query."""
    result = await service.search(
        body.query, mode=body.mode, limit=body.limit, filter=body.filter()
    )
    return SearchResponse.of(result)


@router.post("/v1/ask")
async def ask(body: _Asked, service: _Service) -> AskResponse:
    """The checked answer to a question, in one piece."""
    async with aclosing(_events(service, body)) as events:
        async for event in events:
            if isinstance(event, AnswerDone):
                return AskResponse.of_done(event)
            if isinstance(event, AnswerFailed):
                raise error_of(event)
    raise RagError("the answer ended without a result", code="internal")


@router.post("/v1/ask/stream", response_class=EventSourceResponse)
async def ask_stream(body: _Asked, service: _Service) -> AsyncIterator[ServerSentEvent]:
    """The answer as typed events; ends in exactly one of `done` and `failed`.

    A comment comes at once and every 15 s: proxies close a stream that says nothing.
    """
    yield ServerSentEvent(comment="")
    async with aclosing(_events(service, body)) as events:
        async for event in events:
            wire = wire_event(event)
            yield ServerSentEvent(event=wire.type, data=wire.model_dump(mode="json"))


async def _events(service: AnswerService, body: AskRequest) -> AsyncGenerator[AnswerEvent, None]:
    """The service's events, with anything unforeseen turned into a last `failed`."""
    try:
        events = service.ask(
            body.question,
            mode=body.mode,
            filter=body.filter(),
            keep=body.keep,
            conversation_id=body.conversation_id or "",
        )
        async for event in events:
            yield event
    except RagError as error:
        yield AnswerFailed(code=error.code, message=error.message, hint=error.hint)
    except Exception:
        logger.exception("answer failed")
        yield AnswerFailed(code="internal", message="the answer failed", hint="see the log")
