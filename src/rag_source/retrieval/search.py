"""From a question to ranked evidence: embed, search the engine, rerank, apply the threshold."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from rag_source.domain.chunks import SparseVector, Vector
from rag_source.domain.errors import RequestError
from rag_source.domain.evidence import (
    NO_FILTER,
    SEARCH_MODES,
    Candidate,
    Evidence,
    SearchFilter,
    SearchMode,
    SearchResult,
)
from rag_source.domain.languages import detect_language
from rag_source.domain.ports import ChunkQuery, ChunkStore, Embedder, Reranker, SparseEncoder
from rag_source.domain.questions import check_question

__all__ = ["HybridRetriever", "SearchPolicy"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchPolicy:
    """How wide a search is, in chunks. The values are those of the tables in eval/README.md.

    `depth` candidates come from each of the dense and the BM25 list, `fused` of them are reranked;
    both grow with a caller's `limit`, which is at most `limit_max`. A question may have
    `question_chars` characters: more is a document, and would be embedded in pieces.
    """

    depth: int = 30
    fused: int = 20
    limit_max: int = 100
    question_chars: int = 4000

    def __post_init__(self) -> None:
        if not 1 <= self.fused <= 2 * self.depth:
            raise ValueError(f"{self.fused} chunks cannot be kept of twice {self.depth}")


class HybridRetriever:
    """The `Retriever`. Holds no state of its own; the question is embedded once a search."""

    def __init__(
        self,
        *,
        store: ChunkStore,
        embedder: Embedder,
        sparse: SparseEncoder,
        reranker: Reranker,
        policy: SearchPolicy | None = None,
        now: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._sparse = sparse
        self._reranker = reranker
        self._policy = policy or SearchPolicy()
        self._now = now

    async def search(
        self,
        question: str,
        *,
        mode: SearchMode,
        limit: int,
        filter: SearchFilter = NO_FILTER,
    ) -> SearchResult:
        """The best `limit` chunks; fewer where fewer match. An empty index embeds nothing.

        `timings_ms` has `embed`, `search`, `rerank` (those that ran) and `total`.

        Raises:
            RequestError: The question is empty or too long, or the limit or mode is impossible.
            BackendError: The embedder or the engine failed.
        """
        self._check(question, mode, limit)
        timings: dict[str, float] = {}
        threshold = self._reranker.threshold if mode == "hybrid+rerank" else None
        evidence: tuple[Evidence, ...] = ()
        with self._timed(timings, "total"):
            if await self._store.count():
                candidates = await self._candidates(question, mode, limit, filter, timings)
                if mode == "hybrid+rerank":
                    with self._timed(timings, "rerank"):
                        scores = await self._reranker.score(question, candidates)
                else:
                    scores = [candidate.score for candidate in candidates]
                evidence = _rank(candidates, scores, threshold)[:limit]
        _log.info(
            "search mode=%s found=%d kept=%d ms=%.0f",
            mode,
            len(evidence),
            sum(item.kept for item in evidence),
            timings["total"],
        )
        return SearchResult(
            query=question,
            mode=mode,
            threshold=threshold,
            evidence=evidence,
            timings_ms=timings,
        )

    async def _candidates(
        self,
        question: str,
        mode: SearchMode,
        limit: int,
        filter: SearchFilter,
        timings: dict[str, float],
    ) -> list[Candidate]:
        dense: Vector = ()
        if mode != "bm25":
            with self._timed(timings, "embed"):
                dense = await self._embedder.embed_query(question)
        with self._timed(timings, "search"):
            sparse = SparseVector()
            if mode != "dense":
                sparse = self._sparse.encode_query(question, language=detect_language(question))
            reranked = mode == "hybrid+rerank"
            return await self._store.search(
                ChunkQuery(
                    mode=mode,
                    limit=max(limit, self._policy.fused) if reranked else limit,
                    depth=max(limit, self._policy.depth),
                    dense=dense,
                    sparse=sparse,
                    filter=filter,
                    signals=reranked,
                )
            )

    def _check(self, question: str, mode: str, limit: int) -> None:
        check_question(question, limit_chars=self._policy.question_chars)
        if mode not in SEARCH_MODES:
            raise RequestError(f"no search mode {mode!r}", hint=f"one of {', '.join(SEARCH_MODES)}")
        if not 1 <= limit <= self._policy.limit_max:
            raise RequestError(
                f"the limit is {limit}", hint=f"give 1 to {self._policy.limit_max} results"
            )

    @contextmanager
    def _timed(self, timings: dict[str, float], stage: str) -> Iterator[None]:
        start = self._now()
        try:
            yield
        finally:
            timings[stage] = round((self._now() - start) * 1000, 3)


def _rank(
    candidates: Sequence[Candidate], scores: Sequence[float], threshold: float | None
) -> tuple[Evidence, ...]:
    """Best score first; equal scores in the engine's order."""
    order = sorted(range(len(candidates)), key=lambda i: -scores[i])
    return tuple(
        Evidence(
            chunk=candidates[i].chunk,
            rank=rank,
            score=scores[i],
            kept=threshold is None or scores[i] >= threshold,
            signals=_signals(candidates[i]),
        )
        for rank, i in enumerate(order, start=1)
    )


def _signals(candidate: Candidate) -> dict[str, float]:
    named = {
        "fused": candidate.score,
        "dense": candidate.dense,
        "sentence": candidate.sentence,
        "bm25": candidate.bm25,
    }
    return {name: value for name, value in named.items() if value is not None}
