"""Ranking measures over documents, each for one question. Pure.

A *ranking* is the list of document ids, best first, each once: `by_document` makes it from chunks.
`gold` holds the ids that answer the question and is never empty. Definitions follow trec_eval.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence

__all__ = ["by_document", "hit_at", "mean", "ndcg_at", "recall_at", "reciprocal_rank_at"]


def by_document(chunks: Iterable[str]) -> list[str]:
    """The documents of ranked chunks, each at the rank of its best chunk."""
    return list(dict.fromkeys(chunks))


def hit_at(k: int, ranking: Sequence[str], gold: Collection[str]) -> float:
    """1 if one of the first `k` is gold, otherwise 0."""
    return float(any(doc in gold for doc in ranking[:k]))


def recall_at(k: int, ranking: Sequence[str], gold: Collection[str]) -> float:
    """The share (0..1) of the gold documents that are among the first `k`."""
    return sum(doc in gold for doc in ranking[:k]) / len(set(gold))


def reciprocal_rank_at(k: int, ranking: Sequence[str], gold: Collection[str]) -> float:
    """1 over the rank of the first gold document, 0 if it is not among the first `k`."""
    return next((1 / rank for rank, doc in enumerate(ranking[:k], start=1) if doc in gold), 0.0)


def ndcg_at(k: int, ranking: Sequence[str], gold: Collection[str]) -> float:
    """Normalised discounted cumulative gain, binary (Järvelin and Kekäläinen 2002)."""
    gain = sum(
        1 / math.log2(rank + 1) for rank, doc in enumerate(ranking[:k], start=1) if doc in gold
    )
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(k, len(set(gold))) + 1))
    return gain / ideal


def mean(values: Sequence[float]) -> float | None:
    """The mean; None of nothing."""
    return math.fsum(values) / len(values) if values else None
