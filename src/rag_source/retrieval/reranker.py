"""The `embedded` reranker: a small logistic model over what the engine and the words say.

No cross-encoder can be installed from a package index; this one costs no model call at all. Its
coefficients and the threshold are a data file, written by `eval/fit_reranker.py` with its
provenance: one fitted to the cosines of the embedded model, one for those of any other.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Protocol

from rag_source.domain.chunks import EmbeddingModel
from rag_source.domain.errors import ConfigurationError
from rag_source.domain.evidence import Candidate
from rag_source.retrieval.features import (
    FEATURES,
    describe,
    read_chunk,
    read_question,
    scale_free,
)

__all__ = ["CalibratedReranker", "RerankerModel", "load_reranker_model", "reranker_model_for"]

_SHIPPED = "reranker.json"
_FOR_ANY = "reranker_any.json"
_CACHED_CHUNKS = 512
"""Chunks whose terms are kept: about 20 MB, and a follow-up question meets many of them again."""


class TermStatistics(Protocol):
    """The one thing the reranker asks of the `ChunkStore`."""

    async def term_idf(self, indices: Sequence[int]) -> dict[int, float]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankerModel:
    """A fitted model: probability = sigmoid(intercept + coefficients · features).

    `coefficients` has one for each of `FEATURES`, in their units. `threshold` (0..1) is the
    probability from which a chunk may support an answer. `foreign_coverage` (0..1): see `describe`.
    `embedding_model` names the model whose cosines it was fitted on; empty if it is for any, and
    reads them by `scale_free`.
    """

    coefficients: tuple[float, ...]
    intercept: float
    threshold: float
    foreign_coverage: float
    embedding_model: str

    def __post_init__(self) -> None:
        if len(self.coefficients) != len(FEATURES):
            raise ValueError(f"{len(self.coefficients)} coefficients for {len(FEATURES)} features")
        if not 0 <= self.threshold <= 1:
            raise ValueError(f"the threshold {self.threshold} is not between 0 and 1")

    def fits(self, model: EmbeddingModel) -> bool:
        """Whether it was fitted on the cosines of that model.

        A name may say after `@` how the model is packaged.
        """
        return model.name.partition("@")[0] == self.embedding_model

    def probability(self, features: Sequence[float]) -> float:
        """The calibrated score of one row of features."""
        z = self.intercept + math.fsum(
            coefficient * value
            for coefficient, value in zip(self.coefficients, features, strict=True)
        )
        return 1 / (1 + math.exp(-max(-60.0, min(60.0, z))))


def load_reranker_model(path: Path | None = None) -> RerankerModel:
    """The shipped model, or the one in a file of the same form.

    Raises:
        ConfigurationError: The file is missing, damaged, or made for other features.
    """
    source = path or resources.files("rag_source.retrieval") / _SHIPPED
    try:
        fields = json.loads(source.read_text(encoding="utf-8"))
        coefficients = fields["coefficients"]
        if set(coefficients) != set(FEATURES):
            raise ValueError(f"its features are {sorted(coefficients)}")
        return RerankerModel(
            coefficients=tuple(float(coefficients[name]) for name in FEATURES),
            intercept=float(fields["intercept"]),
            threshold=float(fields["threshold"]),
            foreign_coverage=float(fields["foreign_coverage"]),
            embedding_model=str(fields["embedding_model"]),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(
            f"the reranker's coefficients in {str(source)!r} cannot be used: {error}",
            hint="reinstall, or fit them again with eval/fit_reranker.py",
        ) from error


def reranker_model_for(model: EmbeddingModel) -> RerankerModel:
    """The shipped model that goes with an embedding model.

    Raises:
        ConfigurationError: As `load_reranker_model`.
    """
    fitted = load_reranker_model()
    if fitted.fits(model):
        return fitted
    return load_reranker_model(Path(str(resources.files("rag_source.retrieval") / _FOR_ANY)))


class CalibratedReranker:
    """The `Reranker` of the embedded profile. Safe to share between tasks.

    Candidates must carry their signals (`ChunkQuery.signals`); a missing sentence cosine is read as
    the chunk's own.
    """

    def __init__(
        self, *, store: TermStatistics, model: RerankerModel, threshold: float | None = None
    ) -> None:
        """`threshold` replaces the model's where the operator has set one (0..1)."""
        self._store = store
        self._model = model
        self._threshold = model.threshold if threshold is None else threshold
        self._read_chunk = lru_cache(maxsize=_CACHED_CHUNKS)(read_chunk)

    @property
    def threshold(self) -> float:
        return self._threshold

    async def score(self, question: str, candidates: Sequence[Candidate]) -> list[float]:
        if not candidates:
            return []
        asked = read_question(question)
        idf: Mapping[int, float] = await self._store.term_idf(asked.terms)
        rows = describe(
            asked,
            idf,
            candidates,
            foreign_coverage=self._model.foreign_coverage,
            reader=self._read_chunk,
        )
        if not self._model.embedding_model:
            rows = scale_free(rows)
        return [self._model.probability(row) for row in rows]
