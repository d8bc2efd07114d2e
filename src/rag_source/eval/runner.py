"""Ask a dataset's questions of an index and measure what comes back. No model judges anything.

An *unanswerable* question is one labelled so; a set without such labels makes its own, by asking
each question again with the documents that answer it left out by a filter. The share of those that
are refused means nothing without the share of answerable ones that are kept: both are reported.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from rag_source.domain.evidence import Evidence, SearchFilter, SearchMode, SearchResult
from rag_source.domain.ports import Retriever
from rag_source.eval.answers import Ask
from rag_source.eval.datasets import Dataset, EvalQuestion
from rag_source.eval.metrics import (
    by_document,
    hit_at,
    mean,
    ndcg_at,
    recall_at,
    reciprocal_rank_at,
)

__all__ = ["CHUNKS_PER_QUESTION", "EvalIndex", "EvalResult", "QuestionResult", "ask_questions"]

CHUNKS_PER_QUESTION = 20
"""How many chunks a ranking is made of: what the reranker sees, so that modes compare."""
_AT_ONCE = 4
"""Questions in flight: one is embedded while another is searched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalIndex:
    """A dataset that has been indexed.

    `stored_ids` gives the store's document id for each of the dataset's that could be indexed;
    `failed` counts the others. `ask` answers a question from it.
    """

    retriever: Retriever
    stored_ids: Mapping[str, str]
    failed: int = 0
    ask: Ask | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionResult:
    """What one question brought.

    `ranking` is of the dataset's document ids. `page_ranks` are the ranks of chunks that stand on a
    gold page of a gold document. `kept` and `kept_without` say whether the best evidence passed the
    threshold, with the whole index and with the answer left out; None where that was not asked.
    `score` is the best evidence's (0 if none).
    """

    question: EvalQuestion
    ranking: tuple[str, ...]
    page_ranks: tuple[int, ...]
    score: float
    kept: bool | None
    kept_without: bool | None = None

    @property
    def is_ranked(self) -> bool:
        """Whether it says anything of the ranking."""
        return self.question.answerable and bool(self.question.gold_docs)

    @property
    def gold_rank(self) -> int | None:
        """The rank of the first gold document from 1; None if it was not found."""
        gold = set(self.question.gold_docs)
        return next((n for n, doc in enumerate(self.ranking, start=1) if doc in gold), None)

    @property
    def reciprocal_rank(self) -> float:
        return reciprocal_rank_at(10, self.ranking, self.question.gold_docs)


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalResult:
    """A whole run. `seconds` is the time of the questions, indexing apart."""

    dataset: str
    mode: SearchMode
    results: tuple[QuestionResult, ...]
    seconds: float
    failed_documents: int = 0

    def figures(self) -> dict[str, float | int | None]:
        """Every measure over all questions; None where no question speaks of it."""
        return measure(self.results)

    def by_kind(self) -> dict[str, dict[str, float | int | None]]:
        """The same for each `kind` that questions have."""
        kinds = sorted({one.question.kind for one in self.results} - {""})
        return {
            kind: measure([one for one in self.results if one.question.kind == kind])
            for kind in kinds
        }

    def as_json(self) -> dict[str, object]:
        """The stable fields of `rag-source eval --json`."""
        fields: dict[str, object] = {"dataset": self.dataset, "mode": self.mode}
        fields |= self.figures()
        fields["seconds"] = round(self.seconds, 2)
        return fields | {"by_kind": self.by_kind(), "failed_documents": self.failed_documents}

    def failures(self) -> list[QuestionResult]:
        """Questions whose gold is not first, or that were refused or kept wrongly, in order."""
        return [one for one in self.results if _failed(one)]


@dataclass(slots=True)
class _Run:
    dataset: Dataset
    index: EvalIndex
    mode: SearchMode
    leave_out: bool
    names: dict[str, str] = field(default_factory=dict)


async def ask_questions(
    dataset: Dataset,
    index: EvalIndex,
    *,
    mode: SearchMode,
    progress: Callable[[int, int], None] = lambda done, total: None,
    now: Callable[[], float] = time.perf_counter,
) -> EvalResult:
    """Ask every question once, and once more without its answer where that is how to refuse.

    `progress` is called with how many are done, and of how many.
    """
    run = _Run(
        dataset=dataset,
        index=index,
        mode=mode,
        leave_out=mode == "hybrid+rerank" and all(q.answerable for q in dataset.questions),
        names={stored: doc_id for doc_id, stored in index.stored_ids.items()},
    )
    gate = asyncio.Semaphore(_AT_ONCE)
    done = 0

    async def one(question: EvalQuestion) -> QuestionResult:
        nonlocal done
        async with gate:
            result = await _ask(run, question)
        done += 1
        progress(done, len(dataset.questions))
        return result

    start = now()
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one(question)) for question in dataset.questions]
    return EvalResult(
        dataset=dataset.name,
        mode=mode,
        results=tuple(task.result() for task in tasks),
        seconds=now() - start,
        failed_documents=index.failed,
    )


def measure(results: Sequence[QuestionResult]) -> dict[str, float | int | None]:
    """The measures of some questions, rounded to four places."""
    ranked = [(one.ranking, one.question.gold_docs) for one in results if one.is_ranked]
    kept = [float(one.kept) for one in results if one.question.answerable and one.kept is not None]
    refused = [float(not got) for one in results if (got := _kept_unanswerable(one)) is not None]
    paged = [one for one in results if one.is_ranked and one.question.gold_pages]
    figures: dict[str, float | None] = {
        "hit_at_1": mean([hit_at(1, r, gold) for r, gold in ranked]),
        "hit_at_6": mean([hit_at(6, r, gold) for r, gold in ranked]),
        "recall_at_6": mean([recall_at(6, r, gold) for r, gold in ranked]),
        "mrr_at_10": mean([reciprocal_rank_at(10, r, gold) for r, gold in ranked]),
        "ndcg_at_10": mean([ndcg_at(10, r, gold) for r, gold in ranked]),
        "kept_answerable": mean(kept),
        "refused_unanswerable": mean(refused),
    }
    if paged:
        figures["page_hit_at_6"] = mean(
            [float(any(rank <= 6 for rank in one.page_ranks)) for one in paged]
        )
    rounded = {name: None if v is None else round(v, 4) for name, v in figures.items()}
    return {"questions": len(results), **rounded}


async def _ask(run: _Run, question: EvalQuestion) -> QuestionResult:
    found = await _search(run, question, without=())
    kept_without = None
    if run.leave_out and question.gold_docs:
        left = await _search(run, question, without=run.dataset.siblings(question.gold_docs))
        kept_without = bool(left.kept)
    chunks = [run.names[item.chunk.doc_id] for item in found.evidence]
    return QuestionResult(
        question=question,
        ranking=tuple(by_document(chunks)),
        page_ranks=tuple(_page_ranks(question, found.evidence, chunks)),
        score=found.evidence[0].score if found.evidence else 0.0,
        kept=None if found.threshold is None else bool(found.kept),
        kept_without=kept_without,
    )


async def _search(run: _Run, question: EvalQuestion, *, without: Sequence[str]) -> SearchResult:
    stored = run.index.stored_ids
    # A document that failed keeps its own id here, which no chunk has: an empty tuple would allow
    # every document.
    filter = SearchFilter(
        doc_ids=tuple(stored.get(doc, doc) for doc in question.candidate_docs),
        excluded_doc_ids=tuple(stored.get(doc, doc) for doc in without),
    )
    return await run.index.retriever.search(
        question.question, mode=run.mode, limit=CHUNKS_PER_QUESTION, filter=filter
    )


def _page_ranks(
    question: EvalQuestion, evidence: Sequence[Evidence], documents: Sequence[str]
) -> list[int]:
    return [
        item.rank
        for item, doc in zip(evidence, documents, strict=True)
        if doc in question.gold_docs and item.chunk.page in question.gold_pages
    ]


def _kept_unanswerable(one: QuestionResult) -> bool | None:
    return one.kept_without if one.question.answerable else one.kept


def _failed(one: QuestionResult) -> bool:
    if not one.question.answerable:
        return one.kept is True
    return (one.is_ranked and one.gold_rank != 1) or one.kept is False or one.kept_without is True
