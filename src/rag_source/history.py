"""What is remembered of the questions that were asked: conversations, and the audit log."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from dataclasses import replace
from datetime import UTC, datetime

from rag_source.domain.answers import AnswerDone, AnswerEvent, SearchDone
from rag_source.domain.audit import AuditEntry
from rag_source.domain.conversations import (
    Conversation,
    ConversationStore,
    ConversationSummary,
    Feedback,
    KeptAnswer,
    Turn,
    title_of,
)
from rag_source.domain.errors import NotFoundError, RagError
from rag_source.domain.evidence import SearchResult
from rag_source.store.audit import AuditTrail

__all__ = ["History", "utc_now"]

logger = logging.getLogger(__name__)


def utc_now() -> str:
    """The time now, ISO 8601 in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class History:
    """The conversations of one corpus, and its audit log.

    Args:
        conversations: Where they are kept.
        audit: Takes the entries of the log; closed by its owner.
        now: The time, ISO 8601 in UTC.
        new_id: A name that nothing else has.
    """

    def __init__(
        self,
        *,
        conversations: ConversationStore,
        audit: AuditTrail,
        now: Callable[[], str] = utc_now,
        new_id: Callable[[], str] = lambda: uuid.uuid4().hex,
    ) -> None:
        self._conversations = conversations
        self._audit = audit
        self._now = now
        self._new_id = new_id

    async def conversations(self) -> list[ConversationSummary]:
        """All of them, the one that was used last first."""
        return await asyncio.to_thread(self._conversations.conversations)

    async def conversation(self, conversation_id: str) -> Conversation:
        """A conversation with its answers.

        Raises:
            NotFoundError: There is none of that id, here and below.
        """
        found = await asyncio.to_thread(self._conversations.conversation, conversation_id)
        if found is None:
            raise _no_conversation(conversation_id)
        return found

    async def require(self, conversation_id: str) -> None:
        """Nothing, if there is that conversation."""
        if not await asyncio.to_thread(self._conversations.has, conversation_id):
            raise _no_conversation(conversation_id)

    async def forget(self, conversation_id: str) -> None:
        """Delete a conversation with its answers."""
        if not await asyncio.to_thread(self._conversations.forget, conversation_id):
            raise _no_conversation(conversation_id)
        self.note("conversation.delete", subject=conversation_id)

    async def rate(self, answer_id: str, feedback: Feedback) -> None:
        """Keep what a reader thinks of an answer."""
        if not await asyncio.to_thread(self._conversations.rate, answer_id, feedback):
            raise NotFoundError(
                f"there is no answer {answer_id[:80]!r}", hint="its conversation may be deleted"
            )

    async def turns(self, conversation_id: str) -> list[Turn]:
        """The last turns, by which a follow-up question is understood, the oldest of them first."""
        return await asyncio.to_thread(self._conversations.turns, conversation_id)

    async def recorded(
        self, events: AsyncIterator[AnswerEvent], conversation_id: str
    ) -> AsyncGenerator[AnswerEvent, None]:
        """The same events; the answer is kept when it is done, and its last event names it.

        Args:
            events: Of one answer; closed by the caller.
            conversation_id: Where it is kept; a new conversation if empty.
        """
        search: SearchResult | None = None
        async for event in events:
            if isinstance(event, SearchDone):
                search = event.search
            if isinstance(event, AnswerDone):
                yield await self._keep(event, search, conversation_id)
            else:
                yield event

    def note(
        self, name: str, *, subject: str = "", status: int = 200, milliseconds: float = 0.0
    ) -> None:
        """An action of the program's own, for the audit log."""
        self._audit.note(
            AuditEntry(
                at=self._now(),
                kind="action",
                name=name,
                status=status,
                milliseconds=round(milliseconds, 1),
                subject=subject,
            )
        )

    @property
    def audit(self) -> AuditTrail:
        return self._audit

    async def _keep(
        self, done: AnswerDone, search: SearchResult | None, conversation_id: str
    ) -> AnswerDone:
        """The event with the ids under which its answer is kept; without, if it could not be.

        Whoever asked must not lose the answer because the disk is full.
        """
        kept = KeptAnswer(
            answer_id=self._new_id(), asked_at=self._now(), answer=done.answer, search=search
        )
        try:
            kept_in = await asyncio.to_thread(self._put, conversation_id, kept)
        except (LookupError, RagError) as error:
            logger.warning("an answer could not be kept: %s", error)
            return done
        return replace(done, conversation_id=kept_in, answer_id=kept.answer_id)

    def _put(self, conversation_id: str, kept: KeptAnswer) -> str:
        if not conversation_id:
            conversation_id = self._new_id()
            self._conversations.start(
                ConversationSummary(
                    conversation_id=conversation_id,
                    title=title_of(kept.answer.question),
                    created_at=kept.asked_at,
                    updated_at=kept.asked_at,
                )
            )
        self._conversations.add(conversation_id, kept)
        return conversation_id


def _no_conversation(conversation_id: str) -> NotFoundError:
    return NotFoundError(
        f"there is no conversation {conversation_id[:80]!r}",
        hint="it may have been deleted; ask without it to begin a new one",
    )
