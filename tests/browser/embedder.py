"""An embedder without weights whose scores lie where those of the real one do."""

from __future__ import annotations

import math
from collections.abc import Sequence

from fakes import DIMENSION, FakeEmbedder
from rag_source.domain.chunks import EmbeddingModel, Vector

__all__ = ["LevelledEmbedder"]

_FLOOR = 0.74
"""The cosine of texts that share no word; the reranker was fitted on a model with such a floor."""


class LevelledEmbedder:
    """A bag of words, and a part that all texts have in common; named as what it stands for."""

    def __init__(self) -> None:
        self._words = FakeEmbedder()
        self.model = EmbeddingModel(
            name="multilingual-e5-small-q4@levelled", dimension=DIMENSION + 1, limit_tokens=512
        )

    async def embed_query(self, text: str) -> Vector:
        return _levelled(await self._words.embed_query(text))

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        return [_levelled(vector) for vector in await self._words.embed_passages(texts)]

    async def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return await self._words.count_tokens(texts)


def _levelled(vector: Vector) -> Vector:
    return [math.sqrt(_FLOOR), *(math.sqrt(1 - _FLOOR) * x for x in vector)]
