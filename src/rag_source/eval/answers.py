"""Ask a dataset's questions for whole answers and measure them. No model judges anything.

What can be counted without a judge: whether the answer has a gold string in it, whether an
unanswerable question was refused, how many sentences carry a citation, and what the program's own
check says of each citation.
"""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rag_source.domain.answers import Answer
from rag_source.domain.evidence import SearchFilter
from rag_source.domain.folding import fold
from rag_source.domain.sentences import split_sentences
from rag_source.eval.datasets import Dataset, EvalQuestion
from rag_source.eval.metrics import mean

__all__ = ["AnswerEval", "AnswerResult", "Ask", "ask_for_answers", "transcript"]

Ask: TypeAlias = Callable[[str, SearchFilter], Awaitable[Answer]]
"""Answers a question, asked of the documents that the filter allows."""

_MARKER = re.compile(r"\[\d+\]")
_WITHIN_NUMBER = re.compile(r"(?<=\d)[\s.,](?=\d)")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerResult:
    """One question and what was answered, in `seconds`."""

    question: EvalQuestion
    answer: Answer
    seconds: float

    @property
    def has_gold(self) -> bool:
        """Whether the answer has one of the gold strings in it, however it is written."""
        text = _plain(_MARKER.sub("", self.answer.text))
        return any(_plain(gold) in text for gold in self.question.answers)

    @property
    def is_right(self) -> bool:
        """Refused if unanswerable; otherwise answered with a gold string."""
        if not self.question.answerable:
            return self.answer.refused
        return not self.answer.refused and self.has_gold

    @property
    def sentences(self) -> list[str]:
        """The sentences of an answer that is not a refusal."""
        if self.answer.refused:
            return []
        return [self.answer.text[r.start : r.end] for r in split_sentences(self.answer.text)]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerEval:
    """A whole run."""

    dataset: str
    results: tuple[AnswerResult, ...]

    def figures(self) -> dict[str, float | int | None]:
        """Every measure; shares are rounded to four places, None where nothing speaks of them."""
        answerable = [one for one in self.results if one.question.answerable]
        others = [one for one in self.results if not one.question.answerable]
        citations = [c for one in self.results for c in one.answer.citations]
        sentences = [text for one in self.results for text in one.sentences]
        shares = {
            "answers_with_gold": mean([float(one.is_right) for one in answerable]),
            "answerable_refused": mean([float(one.answer.refused) for one in answerable]),
            "unanswerable_refused": mean([float(one.answer.refused) for one in others]),
            "sentences_cited": mean([float(bool(_MARKER.search(text))) for text in sentences]),
            "citations_verified": mean([float(c.status == "verified") for c in citations]),
            "seconds": mean([one.seconds for one in self.results]),
        }
        counts = {
            "questions": len(self.results),
            "citations": len(citations),
            "citations_rejected": sum(c.status == "rejected" for c in citations),
            "uncited_figures": sum(len(one.answer.uncited_figures) for one in self.results),
        }
        return counts | {k: None if v is None else round(v, 4) for k, v in shares.items()}

    def as_json(self) -> dict[str, object]:
        """The stable fields of `rag-source eval --answers --json`."""
        wrong = [one.question.qid for one in self.results if not one.is_right]
        return {"dataset": self.dataset, **self.figures(), "wrong": wrong}


async def ask_for_answers(
    dataset: Dataset,
    ask: Ask,
    stored_ids: Mapping[str, str],
    *,
    progress: Callable[[int, int], None] = lambda done, total: None,
    now: Callable[[], float] = time.perf_counter,
) -> AnswerEval:
    """Ask every question, one after the other: the answer model has one slot.

    Args:
        dataset: The questions.
        ask: Answers them.
        stored_ids: The index's document id of each of the dataset's.
        progress: Called with how many are done, and of how many.
        now: A clock in seconds.
    """
    results: list[AnswerResult] = []
    for question in dataset.questions:
        allowed = tuple(stored_ids.get(doc, doc) for doc in question.candidate_docs)
        started = now()
        answer = await ask(question.question, SearchFilter(doc_ids=allowed))
        results.append(AnswerResult(question=question, answer=answer, seconds=now() - started))
        progress(len(results), len(dataset.questions))
    return AnswerEval(dataset=dataset.name, results=tuple(results))


def transcript(results: Sequence[AnswerResult]) -> str:
    """The run in Markdown, for a reader who judges each citation."""
    parts: list[str] = []
    for one in results:
        question, answer = one.question, one.answer
        wanted = " / ".join(question.answers) if question.answerable else "no answer"
        mark = "right" if one.is_right else "WRONG"
        parts.append(f"## {question.qid} · {mark} · {one.seconds:.0f} s\n\n{question.question}\n")
        parts.append(f"wanted: {wanted}\n\n> " + answer.text.replace("\n", "\n> ") + "\n")
        if answer.refused:
            parts.append(f"refused: {answer.reason}\n")
        for citation in answer.citations:
            page = f", page {citation.page}" if citation.page else ""
            reason = f" ({citation.reason})" if citation.reason else ""
            quote = " ".join(citation.quote.split())
            parts.append(
                f"- [{citation.marker}] {citation.status} {citation.score:.0f}{reason}: "
                f"{citation.path}{page}: “{quote}”\n"
            )
        parts += [f"- figure without a source: {text}\n" for text in answer.uncited_figures]
    return "\n".join(parts)


def _plain(text: str) -> str:
    folded = " ".join(fold(text, case=True, accents=True).text.split())
    return _WITHIN_NUMBER.sub("", folded)
