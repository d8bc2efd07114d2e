"""What a search finds, with the scores that found it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from rag_source.domain.chunks import Chunk

__all__ = [
    "NO_FILTER",
    "SEARCH_MODES",
    "Candidate",
    "Evidence",
    "SearchFilter",
    "SearchMode",
    "SearchResult",
]

SearchMode: TypeAlias = Literal["dense", "bm25", "hybrid", "hybrid+rerank"]
SEARCH_MODES: tuple[SearchMode, ...] = ("dense", "bm25", "hybrid", "hybrid+rerank")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchFilter:
    """Restricts a search. Empty tuples restrict nothing; all given fields must hold together.

    `paths` are exact document paths, `folders` are path prefixes without the trailing slash,
    `excluded_doc_ids` are left out whatever else holds.
    """

    paths: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    doc_ids: tuple[str, ...] = ()
    excluded_doc_ids: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()


NO_FILTER = SearchFilter()


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A chunk as the engine returns it.

    `score` is the engine's for the mode asked (cosine, BM25 or fused rank). `dense` is the cosine
    with the question and `sentence` the best cosine of one of its sentences, both -1..1; `bm25`
    is the sparse score, >= 0. Each is None where the mode did not ask for it.
    """

    chunk: Chunk
    score: float
    dense: float | None = None
    sentence: float | None = None
    bm25: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A ranked chunk. `rank` counts from 1. `kept`: its score reaches the threshold.

    `score` is the reranker's calibrated probability (0..1) in `hybrid+rerank`, otherwise the
    engine's own score, on which no threshold applies and everything is kept.
    """

    chunk: Chunk
    rank: int
    score: float
    kept: bool
    signals: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """Ranked evidence, best first. `threshold` is None in modes without a reranker."""

    query: str
    mode: SearchMode
    threshold: float | None
    evidence: tuple[Evidence, ...]
    timings_ms: dict[str, float]

    @property
    def kept(self) -> tuple[Evidence, ...]:
        """The evidence that may support an answer, best first."""
        return tuple(item for item in self.evidence if item.kept)
