"""Routes of what is remembered: conversations, what readers think of answers, the audit log."""

from __future__ import annotations

from typing import Annotated, Any, Protocol

from fastapi import APIRouter, Depends, Path, Query
from starlette.responses import Response

from rag_source.api.conversation_wire import (
    AuditEntryOut,
    AuditResponse,
    ConversationOut,
    ConversationResponse,
    FeedbackRequest,
)
from rag_source.api.export import markdown_of
from rag_source.api.file_response import attachment
from rag_source.api.service import service_of
from rag_source.domain.audit import LIMIT_ENTRIES, AuditEntry
from rag_source.domain.conversations import Conversation, ConversationSummary, Feedback

__all__ = ["HistoryService", "router"]


class AuditEntries(Protocol):
    async def entries(self, *, limit: int) -> list[AuditEntry]: ...


class Kept(Protocol):
    """What remembers; `history.History` is the real one."""

    async def conversations(self) -> list[ConversationSummary]: ...

    async def conversation(self, conversation_id: str) -> Conversation: ...

    async def require(self, conversation_id: str) -> None: ...

    async def forget(self, conversation_id: str) -> None: ...

    async def rate(self, answer_id: str, feedback: Feedback) -> None: ...

    @property
    def audit(self) -> AuditEntries: ...


class HistoryService(Protocol):
    """What these routes need."""

    @property
    def history(self) -> Kept: ...


_Service = Annotated[HistoryService, Depends(service_of)]
_Id = Annotated[str, Path(min_length=1, max_length=64)]
_MARKDOWN: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/markdown": {"schema": {"type": "string"}}}}
}

router = APIRouter(tags=["conversations"])


@router.get("/v1/conversations")
async def conversations(service: _Service) -> list[ConversationOut]:
    """All conversations, the one that was used last first."""
    return [ConversationOut.of(one) for one in await service.history.conversations()]


@router.get("/v1/conversations/{conversation_id}")
async def conversation(conversation_id: _Id, service: _Service) -> ConversationResponse:
    """A conversation with its answers as they were given: same numbers, same verdicts."""
    return ConversationResponse.of(await service.history.conversation(conversation_id))


@router.get(
    "/v1/conversations/{conversation_id}/export", response_class=Response, responses=_MARKDOWN
)
async def export(conversation_id: _Id, service: _Service) -> Response:
    """The conversation as Markdown, with each quote, its verdict, its file and its place."""
    found = await service.history.conversation(conversation_id)
    return Response(
        markdown_of(found).encode("utf-8", "replace"),
        media_type="text/markdown; charset=utf-8",
        headers={"Content-Disposition": attachment(f"{found.summary.title or 'conversation'}.md")},
    )


@router.delete("/v1/conversations/{conversation_id}", status_code=204)
async def forget(conversation_id: _Id, service: _Service) -> None:
    """Delete a conversation with all of its answers."""
    await service.history.forget(conversation_id)


@router.post("/v1/answers/{answer_id}/feedback", status_code=204)
async def feedback(answer_id: _Id, body: FeedbackRequest, service: _Service) -> None:
    """Keep what a reader thinks of an answer."""
    await service.history.rate(answer_id, body.feedback())


@router.get("/v1/audit")
async def audit(
    service: _Service, limit: Annotated[int, Query(ge=1, le=LIMIT_ENTRIES)] = 100
) -> AuditResponse:
    """The last requests and actions: what, when, how it ended; never what was asked or read."""
    entries = await service.history.audit.entries(limit=limit)
    return AuditResponse(entries=[AuditEntryOut.of(entry) for entry in entries])
