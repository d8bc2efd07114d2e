"""Stand-ins for what remembers: conversations in a dict, the audit log in a list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rag_source.domain.audit import LIMIT_ENTRIES, AuditEntry
from rag_source.domain.conversations import (
    FOLLOWED_TURNS,
    Conversation,
    ConversationSummary,
    Feedback,
    KeptAnswer,
    Turn,
)

__all__ = ["FakeAuditLog", "FakeConversations"]


class FakeConversations:
    """A dict of conversations."""

    def __init__(self) -> None:
        self.kept: dict[str, tuple[ConversationSummary, list[KeptAnswer]]] = {}

    def conversations(self) -> list[ConversationSummary]:
        found = [replace(summary, answers=len(kept)) for summary, kept in self.kept.values()]
        by_id = sorted(found, key=lambda one: one.conversation_id)
        return sorted(by_id, key=lambda one: one.updated_at, reverse=True)

    def conversation(self, conversation_id: str) -> Conversation | None:
        if conversation_id not in self.kept:
            return None
        summary, kept = self.kept[conversation_id]
        return Conversation(summary=replace(summary, answers=len(kept)), answers=tuple(kept))

    def has(self, conversation_id: str) -> bool:
        return conversation_id in self.kept

    def start(self, conversation: ConversationSummary) -> None:
        if conversation.conversation_id in self.kept:
            raise ValueError("there is such a conversation")
        self.kept[conversation.conversation_id] = (conversation, [])

    def add(self, conversation_id: str, kept: KeptAnswer) -> None:
        if conversation_id not in self.kept:
            raise LookupError(conversation_id)
        summary, answers = self.kept[conversation_id]
        self.kept[conversation_id] = (
            replace(summary, updated_at=kept.asked_at),
            [*answers, kept],
        )

    def turns(self, conversation_id: str, *, limit: int = FOLLOWED_TURNS) -> list[Turn]:
        _, answers = self.kept.get(conversation_id, (None, []))
        turns = [Turn(question=one.answer.question, answer=one.answer.text) for one in answers]
        return turns[-limit:]

    def rate(self, answer_id: str, feedback: Feedback) -> bool:
        for _, answers in self.kept.values():
            for i, one in enumerate(answers):
                if one.answer_id == answer_id:
                    answers[i] = replace(one, feedback=feedback)
                    return True
        return False

    def forget(self, conversation_id: str) -> bool:
        return self.kept.pop(conversation_id, None) is not None


class FakeAuditLog:
    """A list of entries."""

    def __init__(self) -> None:
        self.kept: list[AuditEntry] = []

    def record(self, entries: Sequence[AuditEntry]) -> None:
        self.kept = [*self.kept, *entries][-LIMIT_ENTRIES:]

    def entries(self, *, limit: int) -> list[AuditEntry]:
        return self.kept[::-1][:limit]
