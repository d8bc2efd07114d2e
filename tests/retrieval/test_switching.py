"""Another embedding model: which coefficients rank its cosines, and searches across the change."""

from __future__ import annotations

import asyncio

import pytest

from fakes import FakeChunkStore, FakeRetriever
from rag_source.domain.chunks import EmbeddingModel
from rag_source.domain.errors import RequestError
from rag_source.domain.evidence import NO_FILTER, Candidate, SearchFilter, SearchMode, SearchResult
from rag_source.retrieval import (
    CalibratedReranker,
    SwitchableRetriever,
    WordsOnlyRetriever,
    load_reranker_model,
    reranker_model_for,
)
from rag_source.retrieval.features import scale_free
from store_inputs import make_chunk

FITTED = load_reranker_model().embedding_model


def _model(name: str) -> EmbeddingModel:
    return EmbeddingModel(name=name, dimension=4, limit_tokens=512)


def _candidates(scale: float, offset: float) -> list[Candidate]:
    """One passage that stands out among others, as a model of another scale sees them."""
    cosines = [0.82, 0.90, 0.81, 0.80, 0.83]
    texts = ["Opening hours", "The pump is under warranty", "Parking", "Canteen", "Pump room"]
    return [
        Candidate(
            chunk=make_chunk("d", i, text=text, language="en"),
            score=0.0,
            dense=scale * cosine + offset,
            sentence=scale * cosine + offset,
            bm25=0.0,
        )
        for i, (cosine, text) in enumerate(zip(cosines, texts, strict=True))
    ]


def test_coefficients_go_with_the_model_however_it_is_packaged() -> None:
    for name in (FITTED, f"{FITTED}@another-packaging-1.0"):
        assert reranker_model_for(_model(name)) == load_reranker_model()


def test_any_other_model_gets_the_coefficients_for_any() -> None:
    found = reranker_model_for(_model("bge-m3"))
    assert found.embedding_model == ""
    assert 0 < found.threshold < load_reranker_model().threshold
    assert not found.fits(_model("bge-m3"))
    assert not found.fits(_model(FITTED))


@pytest.mark.parametrize(("scale", "offset"), [(1.0, 0.0), (3.0, -2.1), (0.2, 0.0)])
async def test_scores_for_any_model_do_not_depend_on_the_scale_of_its_cosines(
    scale: float, offset: float
) -> None:
    reranker = CalibratedReranker(
        store=FakeChunkStore(), model=reranker_model_for(_model("bge-m3"))
    )
    question = "Is the pump under warranty?"
    expected = await reranker.score(question, _candidates(1.0, 0.0))
    scores = await reranker.score(question, _candidates(scale, offset))
    assert scores == pytest.approx(expected)
    assert max(range(5), key=lambda i: scores[i]) == 1
    assert scores[1] >= reranker.threshold


async def test_lone_candidate_is_judged_by_its_words() -> None:
    reranker = CalibratedReranker(
        store=FakeChunkStore(), model=reranker_model_for(_model("bge-m3"))
    )
    right, wrong = _candidates(1.0, 0.0)[1], _candidates(1.0, 0.0)[2]
    (high,) = await reranker.score("Is the pump under warranty?", [right])
    (low,) = await reranker.score("Is the pump under warranty?", [wrong])
    assert high >= reranker.threshold > low


def test_cosines_become_distances_from_their_mean_and_nothing_else_changes() -> None:
    rows = [(0.25, 0.5, 1.0, 0.1), (0.75, 0.5, 0.0, 0.2)]
    assert scale_free(rows) == [(-1.0, 0.0, 1.0, 0.1), (1.0, 0.0, 0.0, 0.2)]
    assert scale_free([]) == []


class _Waiting:
    """A `Retriever` whose searches end when told to."""

    def __init__(self, mode: SearchMode) -> None:
        self.go_on = asyncio.Event()
        self.mode = mode

    async def search(
        self, question: str, *, mode: SearchMode, limit: int, filter: SearchFilter = NO_FILTER
    ) -> SearchResult:
        await self.go_on.wait()
        return SearchResult(
            query=question, mode=self.mode, threshold=None, evidence=(), timings_ms={}
        )


async def test_search_ends_on_the_retriever_that_it_began_with() -> None:
    former, latter = _Waiting("bm25"), _Waiting("dense")
    retriever = SwitchableRetriever(former)
    early = [asyncio.create_task(retriever.search("q", mode="hybrid", limit=1)) for _ in range(2)]
    await asyncio.sleep(0)
    idle = retriever.switch(latter)
    assert not idle.is_set()
    latter.go_on.set()
    assert (await retriever.search("q", mode="hybrid", limit=1)).mode == "dense"
    assert not idle.is_set()
    former.go_on.set()
    assert [result.mode for result in await asyncio.gather(*early)] == ["bm25", "bm25"]
    assert idle.is_set()


async def test_search_that_is_cancelled_keeps_nobody_waiting() -> None:
    former = _Waiting("bm25")
    retriever = SwitchableRetriever(former)
    searching = asyncio.create_task(retriever.search("q", mode="hybrid", limit=1))
    await asyncio.sleep(0)
    idle = retriever.switch(_Waiting("dense"))
    searching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await searching
    assert idle.is_set()


async def test_retriever_that_nobody_searches_is_idle_at_once() -> None:
    assert SwitchableRetriever(_Waiting("bm25")).switch(_Waiting("dense")).is_set()


@pytest.mark.parametrize("mode", ["bm25", "hybrid", "hybrid+rerank"])
async def test_words_are_searched_for_whatever_mode_is_asked_for(mode: SearchMode) -> None:
    inner = FakeRetriever(make_chunk("d"))
    await WordsOnlyRetriever(inner).search("q", mode=mode, limit=1)
    assert [asked[1] for asked in inner.asked] == ["bm25"]


async def test_search_by_vectors_alone_is_refused_with_what_to_do() -> None:
    with pytest.raises(RequestError) as caught:
        await WordsOnlyRetriever(FakeRetriever()).search("q", mode="dense", limit=1)
    assert caught.value.code == "collection_mismatch"
    assert "rag-source up" in caught.value.hint
