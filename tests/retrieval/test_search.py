"""The retriever: what it asks of the engine, and what it makes of the reply."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from fakes import FakeEmbedder
from rag_source.domain.chunks import Chunk, EmbeddedChunk, Segment, Vector
from rag_source.domain.errors import RequestError
from rag_source.domain.evidence import Candidate, SearchFilter, SearchMode
from rag_source.domain.ports import ChunkQuery
from rag_source.retrieval import Bm25Encoder, HybridRetriever, SearchPolicy


def candidate(name: str, score: float) -> Candidate:
    chunk = Chunk(
        chunk_id=name,
        doc_id=name,
        path=f"{name}.txt",
        ordinal=0,
        text=name,
        segments=(Segment(start=0, end=len(name), document_start=0),),
        sentences=(),
        block_id="b0",
    )
    return Candidate(chunk=chunk, score=score, dense=0.8, sentence=0.9, bm25=1.0)


class ScriptedStore:
    """Replies with the same candidates; records what it was asked."""

    def __init__(self, *found: Candidate) -> None:
        self.found = list(found)
        self.queries: list[ChunkQuery] = []

    async def search(self, query: ChunkQuery) -> list[Candidate]:
        self.queries.append(query)
        return self.found[: query.limit]

    async def count(self) -> int:
        return len(self.found)

    async def term_idf(self, indices: Sequence[int]) -> dict[int, float]:
        return dict.fromkeys(indices, 1.0)

    async def chunk_counts(self) -> dict[str, int]:
        return {}

    async def chunk_ids(self, doc_id: str) -> set[str]:
        return set()

    async def doc_ids(self) -> set[str]:
        return {one.chunk.doc_id for one in self.found}

    async def replace(self, doc_id: str, chunks: Sequence[EmbeddedChunk]) -> None:
        raise AssertionError("a search writes nothing")

    async def remove(self, doc_ids: Sequence[str]) -> None:
        raise AssertionError("a search removes nothing")

    async def rename(self, doc_id: str, path: str) -> None:
        raise AssertionError("a search renames nothing")


class TableReranker:
    """Scores by chunk id."""

    threshold = 0.5

    def __init__(self, **scores: float) -> None:
        self.scores = scores

    async def score(self, question: str, candidates: Sequence[Candidate]) -> list[float]:
        return [self.scores[one.chunk.chunk_id] for one in candidates]


class CountingEmbedder(FakeEmbedder):
    """Counts the questions it embeds."""

    queries = 0

    async def embed_query(self, text: str) -> Vector:
        self.queries += 1
        return await super().embed_query(text)


def retriever(
    store: ScriptedStore, *, embedder: FakeEmbedder | None = None, **scores: float
) -> HybridRetriever:
    return HybridRetriever(
        store=store,
        embedder=embedder or FakeEmbedder(),
        sparse=Bm25Encoder(),
        reranker=TableReranker(**scores),
    )


async def test_reranked_evidence_is_ordered_and_judged_by_the_calibrated_score() -> None:
    store = ScriptedStore(candidate("a", 0.9), candidate("b", 0.8), candidate("c", 0.7))

    result = await retriever(store, a=0.2, b=0.9, c=0.5).search(
        "question", mode="hybrid+rerank", limit=6
    )

    assert [(e.chunk.chunk_id, e.rank, e.score, e.kept) for e in result.evidence] == [
        ("b", 1, 0.9, True),
        ("c", 2, 0.5, True),
        ("a", 3, 0.2, False),
    ]
    assert result.threshold == 0.5


async def test_equal_scores_stay_in_the_engines_order() -> None:
    store = ScriptedStore(candidate("a", 0.9), candidate("b", 0.8))

    result = await retriever(store, a=0.7, b=0.7).search("q", mode="hybrid+rerank", limit=2)

    assert [e.chunk.chunk_id for e in result.evidence] == ["a", "b"]


async def test_a_good_chunk_outside_the_limit_is_still_reranked_into_it() -> None:
    store = ScriptedStore(candidate("a", 0.9), candidate("b", 0.8))

    result = await retriever(store, a=0.1, b=0.9).search("q", mode="hybrid+rerank", limit=1)

    assert [e.chunk.chunk_id for e in result.evidence] == ["b"]
    assert store.queries[0].limit == SearchPolicy().fused


@pytest.mark.parametrize("mode", ["dense", "bm25", "hybrid"])
async def test_without_reranker_everything_is_kept_and_no_threshold_is_shown(
    mode: SearchMode,
) -> None:
    result = await retriever(ScriptedStore(candidate("a", 0.01))).search("q", mode=mode, limit=6)

    assert result.threshold is None
    assert [(e.score, e.kept) for e in result.evidence] == [(0.01, True)]


async def test_bm25_embeds_nothing() -> None:
    embedder = CountingEmbedder()
    store = ScriptedStore(candidate("a", 1.0))

    result = await retriever(store, embedder=embedder).search("code E07", mode="bm25", limit=6)

    assert embedder.queries == 0
    assert "embed" not in result.timings_ms
    assert store.queries[0].sparse.indices


async def test_a_question_is_embedded_once() -> None:
    embedder = CountingEmbedder()

    await retriever(ScriptedStore(candidate("a", 1.0)), embedder=embedder, a=0.5).search(
        "q", mode="hybrid+rerank", limit=6
    )

    assert embedder.queries == 1


async def test_an_empty_index_starts_no_model() -> None:
    embedder = CountingEmbedder()

    result = await retriever(ScriptedStore(), embedder=embedder).search(
        "q", mode="hybrid+rerank", limit=6
    )

    assert embedder.queries == 0
    assert result.evidence == ()
    assert result.threshold == 0.5


async def test_every_stage_is_timed() -> None:
    result = await retriever(ScriptedStore(candidate("a", 1.0)), a=0.5).search(
        "q", mode="hybrid+rerank", limit=6
    )

    assert set(result.timings_ms) == {"embed", "search", "rerank", "total"}


async def test_the_filter_reaches_the_engine() -> None:
    store = ScriptedStore(candidate("a", 1.0))
    wanted = SearchFilter(paths=("a.txt",), excluded_doc_ids=("b",))

    await retriever(store).search("q", mode="hybrid", limit=6, filter=wanted)

    assert store.queries[0].filter == wanted


async def test_a_large_limit_widens_the_search() -> None:
    store = ScriptedStore(candidate("a", 1.0))

    await retriever(store, a=0.5).search("q", mode="hybrid+rerank", limit=80)

    assert (store.queries[0].limit, store.queries[0].depth) == (80, 80)


@pytest.mark.parametrize(
    ("question", "mode", "limit"),
    [("  \n", "hybrid", 6), ("q" * 100_000, "hybrid", 6), ("q", "hybrid", 0), ("q", "magic", 6)],
    ids=["empty question", "endless question", "no results", "unknown mode"],
)
async def test_an_impossible_request_is_refused(question: str, mode: str, limit: int) -> None:
    with pytest.raises(RequestError):
        await retriever(ScriptedStore(candidate("a", 1.0))).search(
            question,
            mode=mode,  # type: ignore[arg-type]  # what an API caller may send
            limit=limit,
        )
