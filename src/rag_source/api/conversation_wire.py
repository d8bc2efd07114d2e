"""The JSON forms of conversations, of what readers think of answers, and of the audit log."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from rag_source.api.wire import AskResponse, SearchResponse
from rag_source.api.wire_base import RequestBody, Wire
from rag_source.domain.audit import AuditEntry, AuditKind
from rag_source.domain.conversations import (
    Conversation,
    ConversationSummary,
    Feedback,
    KeptAnswer,
    Verdict,
)

__all__ = [
    "AuditEntryOut",
    "AuditResponse",
    "ConversationOut",
    "ConversationResponse",
    "FeedbackOut",
    "FeedbackRequest",
    "KeptAnswerOut",
]


class ConversationOut(Wire):
    """A conversation of the list; `answers` is their number, times are ISO 8601 in UTC."""

    id: str
    title: str
    created_at: str
    updated_at: str
    answers: int

    @classmethod
    def of(cls, summary: ConversationSummary) -> ConversationOut:
        return cls(
            id=summary.conversation_id,
            title=summary.title,
            created_at=summary.created_at,
            updated_at=summary.updated_at,
            answers=summary.answers,
        )


class FeedbackOut(Wire):
    """What a reader thinks of an answer."""

    verdict: Verdict
    comment: str


class KeptAnswerOut(AskResponse):
    """An answer as it was given, with the search that it rests on."""

    asked_at: str
    search: SearchResponse | None
    feedback: FeedbackOut | None

    @classmethod
    def of_kept(cls, kept: KeptAnswer, conversation_id: str) -> KeptAnswerOut:
        answered = AskResponse.of(
            kept.answer, conversation_id=conversation_id, answer_id=kept.answer_id
        )
        return cls(
            **dict(answered),
            asked_at=kept.asked_at,
            search=SearchResponse.of(kept.search) if kept.search else None,
            feedback=_feedback(kept.feedback),
        )


class ConversationResponse(Wire):
    """A conversation with its answers in the order in which they were asked for."""

    id: str
    title: str
    created_at: str
    updated_at: str
    answers: list[KeptAnswerOut]

    @classmethod
    def of(cls, conversation: Conversation) -> ConversationResponse:
        summary = conversation.summary
        return cls(
            id=summary.conversation_id,
            title=summary.title,
            created_at=summary.created_at,
            updated_at=summary.updated_at,
            answers=[
                KeptAnswerOut.of_kept(kept, summary.conversation_id)
                for kept in conversation.answers
            ],
        )


class FeedbackRequest(RequestBody):
    """What a reader thinks of an answer; takes the place of what was said before."""

    verdict: Verdict
    comment: Annotated[str, Field(max_length=4000)] = ""

    def feedback(self) -> Feedback:
        return Feedback(verdict=self.verdict, comment=self.comment)


class AuditEntryOut(Wire):
    """A request, or an action of the program's own; it holds no text of anybody's."""

    at: str
    kind: AuditKind
    name: str
    status: int
    milliseconds: float
    request_id: str
    subject: str

    @classmethod
    def of(cls, entry: AuditEntry) -> AuditEntryOut:
        return cls(
            at=entry.at,
            kind=entry.kind,
            name=entry.name,
            status=entry.status,
            milliseconds=entry.milliseconds,
            request_id=entry.request_id,
            subject=entry.subject,
        )


class AuditResponse(Wire):
    """The last entries of the audit log, the newest first."""

    entries: list[AuditEntryOut]


def _feedback(feedback: Feedback | None) -> FeedbackOut | None:
    if feedback is None:
        return None
    return FeedbackOut(verdict=feedback.verdict, comment=feedback.comment)
