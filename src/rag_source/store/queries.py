"""What the store asks of the engine for one search. Builds requests and reads replies; no I/O."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast
from uuid import UUID

from qdrant_edge import (
    Filter,
    Fusion,
    HasIdCondition,
    Prefetch,
    Query,
    QueryRequest,
    ScoredPoint,
    SearchParams,
    SparseVector,
)

from rag_source.domain.chunks import SparseVector as TermWeights
from rag_source.domain.chunks import Vector
from rag_source.domain.errors import RequestError
from rag_source.domain.evidence import Candidate
from rag_source.domain.ports import ChunkQuery
from rag_source.store.codec import chunk_from_payload
from rag_source.store.engine import BM25, DENSE, SENTENCES

__all__ = ["FusionPolicy", "candidates", "main_request", "signal_requests"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FusionPolicy:
    """Reciprocal rank fusion, done by the engine.

    A list gives its item at position p (from 0) `1 / ((p + 1) / weight + k - 1)`
    (Qdrant, `lib/segment/src/common/reciprocal_rank_fusion.rs`). So the constant 60 of Cormack,
    Clarke and Büttcher (SIGIR 2009), whose positions count from 1, is `k = 61` here. The defaults
    ranked better than that on five sets of questions (eval/README.md); unequal weights also decide
    the ties of two items that swap ranks.
    """

    k: int = 5
    dense_weight: float = 1.2
    sparse_weight: float = 1.0

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError(f"k is {self.k}, less than 1")
        if min(self.dense_weight, self.sparse_weight) <= 0:
            raise ValueError("fusion weights must be above 0")


def main_request(
    query: ChunkQuery, *, filter: Filter | None, fusion: FusionPolicy, dimension: int
) -> QueryRequest:
    """The search itself. The filter goes into every prefetch and to the root.

    Raises:
        RequestError: The mode needs a dense vector and has none of the right dimension.
    """
    if query.mode != "bm25" and len(query.dense) != dimension:
        raise RequestError(
            f"a {query.mode} search needs a vector of {dimension} numbers, not {len(query.dense)}",
            hint="embed the question with the collection's model",
        )
    if query.mode == "dense":
        return _nearest(_dense(query.dense), query.limit, filter, payload=True)
    if query.mode == "bm25":
        return _nearest(_sparse(query.sparse), query.limit, filter, payload=True)
    weights = [fusion.dense_weight, fusion.sparse_weight]
    return QueryRequest(
        limit=query.limit,
        prefetches=[
            Prefetch(query.depth, query=_dense(query.dense), filter=filter),
            Prefetch(query.depth, query=_sparse(query.sparse), filter=filter),
        ],
        query=cast("Fusion", Fusion.Rrf(k=fusion.k, weights=weights)),
        filter=filter,
        with_payload=True,
    )


def signal_requests(query: ChunkQuery, found: Sequence[ScoredPoint]) -> list[QueryRequest]:
    """Three exact scorings of the points found: dense, best sentence, BM25.

    Those whose query vector the mode did not bring are left out of the reply, not of the list: a
    request for them would match nothing.
    """
    ids: set[int | UUID | str] = {point.id for point in found}
    only = Filter(must=[HasIdCondition(ids)])
    limit, exact = len(found), SearchParams(exact=True)
    requests = []
    if query.dense:
        for using in (DENSE, SENTENCES):
            requests.append(_nearest(_dense(query.dense, using), limit, only, params=exact))
    requests.append(_nearest(_sparse(query.sparse), limit, only, params=exact))
    return requests


def candidates(
    query: ChunkQuery, found: Sequence[ScoredPoint], signals: Sequence[Sequence[ScoredPoint]] = ()
) -> list[Candidate]:
    """The points found as candidates, best first; equal scores in reading order.

    `signals` are the replies to `signal_requests`; without them a candidate has its mode's score
    only.
    """
    scores = [{point.id: point.score for point in reply} for reply in signals]
    dense = sentence = bm25 = None
    if scores and query.dense:
        dense, sentence, bm25 = scores
    elif scores:
        (bm25,) = scores
    made = []
    for point in found:
        in_dense, in_bm25 = query.mode == "dense", query.mode == "bm25"
        made.append(
            Candidate(
                chunk=chunk_from_payload(cast("dict[str, object]", point.payload)),
                score=point.score,
                dense=dense.get(point.id) if dense else (point.score if in_dense else None),
                sentence=sentence.get(point.id) if sentence else None,
                bm25=bm25.get(point.id, 0.0)
                if bm25 is not None
                else (point.score if in_bm25 else None),
            )
        )
    return sorted(made, key=lambda one: (-one.score, one.chunk.path, one.chunk.ordinal))


def _nearest(
    query: Query,
    limit: int,
    filter: Filter | None,
    *,
    payload: bool = False,
    params: SearchParams | None = None,
) -> QueryRequest:
    return QueryRequest(
        limit=limit, query=query, filter=filter, with_payload=payload, params=params
    )


def _dense(vector: Vector, using: str = DENSE) -> Query:
    return Query.Nearest(list(vector), using=using)


def _sparse(weights: TermWeights) -> Query:
    return Query.Nearest(SparseVector(list(weights.indices), list(weights.values)), using=BM25)
