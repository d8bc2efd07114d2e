"""What may be asked at all."""

from __future__ import annotations

from rag_source.domain.errors import RequestError

__all__ = ["check_question"]


def check_question(question: str, *, limit_chars: int = 4000) -> str:
    """The question without white space around it.

    Raises:
        RequestError: It is empty (`empty_question`) or too long (`question_too_long`).
    """
    asked = question.strip()
    if not asked:
        raise RequestError("the question is empty", hint="ask something", code="empty_question")
    if len(asked) > limit_chars:
        raise RequestError(
            f"the question has {len(asked)} characters, more than {limit_chars}",
            hint="put long texts into the folder and ask about them",
            code="question_too_long",
        )
    return asked
