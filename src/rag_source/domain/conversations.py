"""Questions and their answers, kept in the order in which they were asked (SPEC A9)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from rag_source.domain.answers import Answer
from rag_source.domain.evidence import SearchResult

__all__ = [
    "FOLLOWED_TURNS",
    "LIMIT_TITLE_CHARS",
    "Conversation",
    "ConversationStore",
    "ConversationSummary",
    "Feedback",
    "KeptAnswer",
    "Turn",
    "Verdict",
    "title_of",
]

FOLLOWED_TURNS = 6
"""How many turns a follow-up question is understood by (SPEC A7)."""

LIMIT_TITLE_CHARS = 80

Verdict: TypeAlias = Literal["good", "bad"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """What a reader thinks of an answer."""

    verdict: Verdict
    comment: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptAnswer:
    """An answer with the search it rests on. `asked_at` is an ISO 8601 time in UTC."""

    answer_id: str
    asked_at: str
    answer: Answer
    search: SearchResult | None = None
    feedback: Feedback | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationSummary:
    """A conversation as a list shows it. Times are ISO 8601 in UTC; `answers` is their number."""

    conversation_id: str
    title: str
    created_at: str
    updated_at: str
    answers: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """A conversation with all of its answers, the first one first."""

    summary: ConversationSummary
    answers: tuple[KeptAnswer, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A question and the text of its answer, as a follow-up question may refer to them."""

    question: str
    answer: str


class ConversationStore(Protocol):
    """Where conversations are kept. Synchronous, like the catalogue."""

    def conversations(self) -> list[ConversationSummary]:
        """All of them, the one that was used last first."""

    def conversation(self, conversation_id: str) -> Conversation | None: ...

    def has(self, conversation_id: str) -> bool: ...

    def start(self, conversation: ConversationSummary) -> None:
        """Make a conversation without answers.

        Raises:
            ValueError: There is one of that id.
        """

    def add(self, conversation_id: str, kept: KeptAnswer) -> None:
        """Add an answer as the last one.

        Raises:
            LookupError: There is no such conversation: it may have been deleted meanwhile.
        """

    def turns(self, conversation_id: str, *, limit: int = FOLLOWED_TURNS) -> list[Turn]:
        """The last turns, the oldest of them first; none of an unknown conversation."""

    def rate(self, answer_id: str, feedback: Feedback) -> bool:
        """Keep what a reader thinks of an answer, in place of what was said before.

        Returns whether there is such an answer.
        """

    def forget(self, conversation_id: str) -> bool:
        """Delete a conversation with its answers; returns whether there was one."""


def title_of(question: str) -> str:
    """What a conversation is called that begins with a question: its words, in one line."""
    line = " ".join(question.split())
    return line if len(line) <= LIMIT_TITLE_CHARS else line[: LIMIT_TITLE_CHARS - 1] + "…"
