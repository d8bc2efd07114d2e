"""Running a dataset: rankings by document, and both ways to ask what cannot be answered."""

from __future__ import annotations

import pytest

from rag_source.domain.chunks import Chunk, Segment
from rag_source.domain.errors import RequestError
from rag_source.domain.evidence import (
    NO_FILTER,
    Evidence,
    SearchFilter,
    SearchMode,
    SearchResult,
)
from rag_source.eval.compare import compare
from rag_source.eval.datasets import Dataset, EvalDocument, EvalQuestion
from rag_source.eval.runner import EvalIndex, EvalResult, ask_questions

IDS = {"a": "stored-a", "b": "stored-b", "c": "stored-c"}


class ScriptedRetriever:
    """Finds the same chunks for every question, within the filter; records the filters."""

    def __init__(self, *found: tuple[str, float, int | None], threshold: float = 0.5) -> None:
        self.found = found
        self.limit = threshold
        self.filters: list[SearchFilter] = []

    async def search(
        self, question: str, *, mode: SearchMode, limit: int, filter: SearchFilter = NO_FILTER
    ) -> SearchResult:
        self.filters.append(filter)
        allowed = [
            (doc, score, page)
            for doc, score, page in self.found
            if (not filter.doc_ids or doc in filter.doc_ids) and doc not in filter.excluded_doc_ids
        ]
        threshold = self.limit if mode == "hybrid+rerank" else None
        return SearchResult(
            query=question,
            mode=mode,
            threshold=threshold,
            evidence=tuple(
                evidence(rank, doc, score, page, kept=threshold is None or score >= threshold)
                for rank, (doc, score, page) in enumerate(allowed[:limit], start=1)
            ),
            timings_ms={},
        )


def evidence(rank: int, doc: str, score: float, page: int | None, *, kept: bool) -> Evidence:
    chunk = Chunk(
        chunk_id=f"{doc}-{rank}",
        doc_id=doc,
        path=doc,
        ordinal=0,
        text="x",
        segments=(Segment(start=0, end=1, document_start=0),),
        sentences=(),
        block_id="b0",
        page=page,
    )
    return Evidence(chunk=chunk, rank=rank, score=score, kept=kept)


def dataset(*questions: EvalQuestion, grouped: bool = False) -> Dataset:
    return Dataset(
        name="set",
        documents=tuple(
            EvalDocument(doc_id=name, group="g" if grouped else name, text="x") for name in IDS
        ),
        questions=questions,
    )


def question(
    qid: str = "1",
    *,
    gold: tuple[str, ...] = ("a",),
    answerable: bool = True,
    candidates: tuple[str, ...] = (),
    pages: tuple[int, ...] = (),
    kind: str = "",
) -> EvalQuestion:
    return EvalQuestion(
        qid=qid,
        question="q",
        line=1,
        gold_docs=gold,
        gold_pages=pages,
        answerable=answerable,
        candidate_docs=candidates,
        kind=kind,
    )


async def run(
    asked: Dataset, retriever: ScriptedRetriever, *, mode: SearchMode = "hybrid+rerank"
) -> EvalResult:
    return await ask_questions(asked, EvalIndex(retriever=retriever, stored_ids=IDS), mode=mode)


async def test_chunks_of_one_document_count_once() -> None:
    found = ScriptedRetriever(
        ("stored-b", 0.9, None), ("stored-b", 0.8, None), ("stored-a", 0.7, None)
    )

    result = await run(dataset(question()), found)

    assert result.results[0].ranking == ("b", "a")
    assert result.figures()["mrr_at_10"] == 0.5


async def test_the_json_has_the_stable_fields() -> None:
    result = await run(dataset(question()), ScriptedRetriever(("stored-a", 0.9, None)))

    fields = result.as_json()

    assert fields.pop("seconds") is not None
    assert fields == {
        "dataset": "set",
        "mode": "hybrid+rerank",
        "questions": 1,
        "hit_at_1": 1.0,
        "hit_at_6": 1.0,
        "recall_at_6": 1.0,
        "mrr_at_10": 1.0,
        "ndcg_at_10": 1.0,
        "kept_answerable": 1.0,
        "refused_unanswerable": 1.0,
        "by_kind": {},
        "failed_documents": 0,
    }


async def test_without_labels_the_whole_article_is_left_out() -> None:
    found = ScriptedRetriever(("stored-a", 0.9, None), ("stored-b", 0.8, None))

    result = await run(dataset(question(), grouped=True), found)

    assert found.filters[1].excluded_doc_ids == ("stored-a", "stored-b", "stored-c")
    assert result.figures()["refused_unanswerable"] == 1.0


async def test_another_document_that_passes_the_threshold_is_a_false_answer() -> None:
    found = ScriptedRetriever(("stored-a", 0.9, None), ("stored-b", 0.8, None))

    result = await run(dataset(question()), found)

    assert result.figures()["refused_unanswerable"] == 0.0
    assert [one.question.qid for one in result.failures()] == ["1"]


async def test_labelled_questions_are_asked_once() -> None:
    found = ScriptedRetriever(("stored-a", 0.4, None))

    result = await run(dataset(question("1"), question("2", gold=(), answerable=False)), found)

    assert len(found.filters) == 2
    assert result.figures()["kept_answerable"] == 0.0
    assert result.figures()["refused_unanswerable"] == 1.0


async def test_candidates_restrict_the_search() -> None:
    found = ScriptedRetriever(("stored-a", 0.9, None), ("stored-b", 0.8, None))
    asked = question(gold=(), candidates=("b",))

    result = await run(dataset(asked), found)

    assert result.results[0].ranking == ("b",)


async def test_candidates_that_failed_do_not_open_the_whole_index() -> None:
    found = ScriptedRetriever(("stored-b", 0.9, None))
    index = EvalIndex(retriever=found, stored_ids={"b": "stored-b"}, failed=2)

    result = await ask_questions(
        dataset(question(gold=(), candidates=("a",))), index, mode="hybrid"
    )

    assert result.results[0].ranking == ()


async def test_without_gold_only_abstention_is_measured() -> None:
    figures = (
        await run(dataset(question(gold=())), ScriptedRetriever(("stored-a", 0.9, None)))
    ).figures()

    assert figures["mrr_at_10"] is None
    assert figures["kept_answerable"] == 1.0


async def test_a_mode_without_threshold_says_nothing_of_abstention() -> None:
    found = ScriptedRetriever(("stored-a", 0.9, None))

    figures = (await run(dataset(question()), found, mode="bm25")).figures()

    assert figures["kept_answerable"] is None
    assert figures["refused_unanswerable"] is None
    assert len(found.filters) == 1


async def test_pages_count_only_in_the_gold_document() -> None:
    found = ScriptedRetriever(("stored-b", 0.9, 3), ("stored-a", 0.8, 1), ("stored-a", 0.7, 3))

    result = await run(dataset(question(pages=(3,))), found)

    assert result.results[0].page_ranks == (3,)
    assert result.figures()["page_hit_at_6"] == 1.0


async def test_kinds_are_measured_apart() -> None:
    asked = dataset(question("1", kind="lookup"), question("2", gold=("c",), kind="table"))

    kinds = (await run(asked, ScriptedRetriever(("stored-a", 0.9, None)))).by_kind()

    assert (kinds["lookup"]["hit_at_1"], kinds["table"]["hit_at_1"]) == (1.0, 0.0)


async def test_progress_ends_at_the_number_of_questions() -> None:
    seen: list[tuple[int, int]] = []

    await ask_questions(
        dataset(question("1"), question("2")),
        EvalIndex(retriever=ScriptedRetriever(), stored_ids=IDS),
        mode="hybrid",
        progress=lambda done, total: seen.append((done, total)),
    )

    assert seen == [(1, 2), (2, 2)]


async def test_a_comparison_shows_who_changed_and_by_how_much() -> None:
    asked = dataset(question("1"), question("2", gold=("b",)))
    a = await run(asked, ScriptedRetriever(("stored-a", 0.9, None), ("stored-b", 0.8, None)))
    b = await run(asked, ScriptedRetriever(("stored-b", 0.9, None), ("stored-c", 0.8, None)))

    found = compare(a, b)

    assert found.difference == pytest.approx((-1 + 0.5) / 2)
    assert found.low <= found.difference <= found.high
    assert [x.question.qid for x, _ in found.changed] == ["1", "2"]


async def test_runs_of_other_questions_cannot_be_compared() -> None:
    a = await run(dataset(question("1")), ScriptedRetriever())
    b = await run(dataset(question("2")), ScriptedRetriever())

    with pytest.raises(RequestError, match="different questions"):
        compare(a, b)
