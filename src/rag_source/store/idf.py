"""The engine's own IDF of a term, so that what else weighs terms agrees with its BM25."""

from __future__ import annotations

import math

from qdrant_edge import EdgeShard, Query, QueryBatchRequest, QueryRequest, SparseVector

from rag_source.store.engine import BM25

__all__ = ["probe_idf"]


def probe_idf(shard: EdgeShard, indices: list[int], *, points: int) -> dict[int, float]:
    """The engine tells no IDF, but scores one: the best match of a term alone, over the weight
    stored for it there. A term it does not know gets the formula's value for 0 of `points` chunks.
    """
    requests = [
        QueryRequest(
            limit=1,
            query=Query.Nearest(SparseVector([index], [1.0]), using=BM25),
            with_vector=[BM25],
        )
        for index in indices
    ]
    found = dict.fromkeys(indices, math.log(2 * points + 2))
    replies = shard.query_batch(QueryBatchRequest(requests))
    for index, reply in zip(indices, replies, strict=True):
        for point in reply:
            stored = point.vector[BM25] if isinstance(point.vector, dict) else None
            assert isinstance(stored, SparseVector)
            weights = dict(zip(stored.indices, stored.values, strict=True))
            found[index] = point.score / weights[index]
    return found
