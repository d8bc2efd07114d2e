"""The embedder of a model that cannot be run any more, for a collection that still answers."""

from __future__ import annotations

from collections.abc import Sequence

from rag_source.domain.chunks import EmbeddingModel, Vector
from rag_source.domain.errors import BackendUnavailableError

__all__ = ["AbsentEmbedder"]


class AbsentEmbedder:
    """An `Embedder` that says what it is the embedder of, and refuses all else."""

    def __init__(self, model: EmbeddingModel) -> None:
        self._model = model

    @property
    def model(self) -> EmbeddingModel:
        return self._model

    async def embed_query(self, text: str) -> Vector:
        raise self._refusal()

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        raise self._refusal()

    async def count_tokens(self, texts: Sequence[str]) -> list[int]:
        raise self._refusal()

    def _refusal(self) -> BackendUnavailableError:
        return BackendUnavailableError(
            f"the index was made by {self._model.name!r}, which cannot be run any more",
            code="collection_mismatch",
            hint="it is made anew by `rag-source up` or `rag-source ingest`",
        )
