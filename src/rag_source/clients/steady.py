"""An embedder that makes sure it is still the one whose vectors an index is made of.

A service is known by a name in the settings: nothing but its vectors tells whether another model is
served under it. So a fixed text is embedded now and then, and compared with what it gave when the
index was begun.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from rag_source.domain.chunks import EmbeddingModel, Vector
from rag_source.domain.errors import BackendError
from rag_source.domain.ports import Embedder

__all__ = ["SteadyEmbedder"]

_PROBE = "The pump of the north hall is under warranty until May 2027, says its delivery note."
_LEAST_COSINE = 0.98
"""Batches and threads move a vector by less than 0.001, another quantisation of the same weights by
about 0.01; other models have nothing in common with it."""
_AGAIN_S = 300.0
_T = TypeVar("_T")


class SteadyEmbedder:
    """An `Embedder` in front of another.

    Args:
        embedder: Does the work.
        known: Gives the vector that the probe had when the index was begun, None before that.
        keep: Called with that vector the first time.
        now: Seconds, monotonic.
    """

    def __init__(
        self,
        embedder: Embedder,
        *,
        known: Callable[[], Vector | None],
        keep: Callable[[Vector], None],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._embedder = embedder
        self._known = known
        self._keep = keep
        self._now = now
        self._checked: float | None = None
        self._checking = asyncio.Lock()

    @property
    def model(self) -> EmbeddingModel:
        return self._embedder.model

    async def embed_query(self, text: str) -> Vector:
        """As the embedder's own.

        Raises:
            BackendError: `collection_mismatch`: another model is being served.
        """
        await self._check()
        return await self._noted(lambda: self._embedder.embed_query(text))

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """As `embed_query`."""
        await self._check()
        return await self._noted(lambda: self._embedder.embed_passages(texts))

    async def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return await self._embedder.count_tokens(texts)

    async def _check(self) -> None:
        async with self._checking:
            if self._checked is not None and self._now() - self._checked < _AGAIN_S:
                return
            (vector,) = await self._embedder.embed_passages([_PROBE])
            known = await asyncio.to_thread(self._known)
            if known is None:
                await asyncio.to_thread(self._keep, vector)
            elif (cosine := _cosine(known, vector)) < _LEAST_COSINE:
                raise BackendError(
                    f"the service gives other vectors for {self.model.name!r} than those of the "
                    f"index (cosine {cosine:.2f}): another model is being served",
                    code="collection_mismatch",
                    hint="serve the former model again, or name this one in "
                    "RAG_SOURCE_EMBED_MODEL to have the index made anew",
                )
            self._checked = self._now()

    async def _noted(self, work: Callable[[], Awaitable[_T]]) -> _T:
        """What was away may come back as something else."""
        try:
            return await work()
        except BackendError:
            self._checked = None
            raise


def _cosine(a: Vector, b: Vector) -> float:
    if len(a) != len(b):
        return 0.0
    lengths = math.hypot(*a) * math.hypot(*b)
    return math.fsum(x * y for x, y in zip(a, b, strict=True)) / lengths if lengths else 0.0
