"""Conversations in the catalogue's file."""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import TypeAdapter

from rag_source.domain.answers import Answer
from rag_source.domain.conversations import (
    FOLLOWED_TURNS,
    Conversation,
    ConversationSummary,
    Feedback,
    KeptAnswer,
    Turn,
)
from rag_source.domain.evidence import SearchResult
from rag_source.store.database import Database

__all__ = ["SqliteConversations"]

_LEVEL = 3
_SUMMARIES = """
    SELECT c.conversation_id, c.title, c.created_at, c.updated_at, count(a.answer_id)
    FROM conversations c LEFT JOIN answers a USING (conversation_id)
"""
_LAST_FIRST = " GROUP BY c.conversation_id ORDER BY c.updated_at DESC, c.conversation_id"
_ANSWERS = """
    SELECT answer_id, asked_at, contents, verdict, comment FROM answers
    WHERE conversation_id = ? ORDER BY position
"""
_TURNS = """
    SELECT question, text FROM answers WHERE conversation_id = ? ORDER BY position DESC LIMIT ?
"""
_ADD = """
    INSERT INTO answers (answer_id, conversation_id, position, asked_at, question, text, contents)
    SELECT ?, ?, coalesce(max(position) + 1, 0), ?, ?, ?, ? FROM answers WHERE conversation_id = ?
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Contents:
    """What is packed of an answer. Fields of later versions have defaults, so that these rows stay
    readable; those that a former version does not know are passed over."""

    answer: Answer
    search: SearchResult | None = None


class SqliteConversations:
    """A `ConversationStore` in an open database, which outlives it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def conversations(self) -> list[ConversationSummary]:
        return [_summary(row) for row in self._database.rows(_SUMMARIES + _LAST_FIRST)]

    def conversation(self, conversation_id: str) -> Conversation | None:
        with self._database.errors("read"):
            with self._database.reading() as connection:
                where = _SUMMARIES + " WHERE c.conversation_id = ?" + _LAST_FIRST
                found = connection.execute(where, (conversation_id,)).fetchone()
                rows = connection.execute(_ANSWERS, (conversation_id,)).fetchall()
            if found is None:
                return None
            answers = tuple(_kept(row) for row in rows)
            return Conversation(summary=_summary(found), answers=answers)

    def has(self, conversation_id: str) -> bool:
        sql = "SELECT 1 FROM conversations WHERE conversation_id = ?"
        return bool(self._database.rows(sql, conversation_id))

    def start(self, conversation: ConversationSummary) -> None:
        row = (
            *(conversation.conversation_id, _plain(conversation.title)),
            *(conversation.created_at, conversation.updated_at),
        )
        with self._database.transaction("write") as connection:
            sql = "INSERT OR IGNORE INTO conversations VALUES (?, ?, ?, ?)"
            made = connection.execute(sql, row).rowcount
        if not made:
            raise ValueError(f"there is a conversation {conversation.conversation_id!r} already")

    def add(self, conversation_id: str, kept: KeptAnswer) -> None:
        row = (
            *(kept.answer_id, conversation_id, kept.asked_at, _plain(kept.answer.question)),
            *(_plain(kept.answer.text), _packed(kept), conversation_id),
        )
        with self._database.transaction("write") as connection:
            changed = connection.execute(
                "UPDATE conversations SET updated_at = ? WHERE conversation_id = ?",
                (kept.asked_at, conversation_id),
            ).rowcount
            if not changed:
                raise LookupError(f"there is no conversation {conversation_id!r}")
            connection.execute(_ADD, row)

    def turns(self, conversation_id: str, *, limit: int = FOLLOWED_TURNS) -> list[Turn]:
        rows = self._database.rows(_TURNS, conversation_id, limit)
        return [Turn(question=question, answer=text) for question, text in reversed(rows)]

    def rate(self, answer_id: str, feedback: Feedback) -> bool:
        with self._database.transaction("write") as connection:
            sql = "UPDATE answers SET verdict = ?, comment = ? WHERE answer_id = ?"
            values = (feedback.verdict, _plain(feedback.comment), answer_id)
            return connection.execute(sql, values).rowcount > 0

    def forget(self, conversation_id: str) -> bool:
        with self._database.transaction("write") as connection:
            sql = "DELETE FROM conversations WHERE conversation_id = ?"
            return connection.execute(sql, (conversation_id,)).rowcount > 0


def _summary(row: tuple[Any, ...]) -> ConversationSummary:
    conversation_id, title, created_at, updated_at, answers = row
    return ConversationSummary(
        conversation_id=conversation_id,
        title=title,
        created_at=created_at,
        updated_at=updated_at,
        answers=answers,
    )


def _kept(row: tuple[Any, ...]) -> KeptAnswer:
    answer_id, asked_at, contents, verdict, comment = row
    held = _codec().validate_python(json.loads(zlib.decompress(contents)))
    return KeptAnswer(
        answer_id=answer_id,
        asked_at=asked_at,
        answer=held.answer,
        search=held.search,
        feedback=Feedback(verdict=verdict, comment=comment) if verdict else None,
    )


def _packed(kept: KeptAnswer) -> bytes:
    value = _codec().dump_python(_Contents(answer=kept.answer, search=kept.search), mode="json")
    # In ASCII: lone surrogates, which some PDFs yield, survive.
    return zlib.compress(json.dumps(value, separators=(",", ":")).encode("ascii"), _LEVEL)


def _plain(text: str) -> str:
    """Text for a column, which takes no lone surrogates."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


@cache
def _codec() -> TypeAdapter[_Contents]:
    return TypeAdapter(_Contents)
