"""An embedded chunk as the engine's point."""

from __future__ import annotations

from typing import cast
from uuid import NAMESPACE_URL, uuid5

import numpy as np
from qdrant_edge import Point, SparseVector

from rag_source.domain.chunks import EmbeddedChunk
from rag_source.domain.errors import BackendError
from rag_source.store.codec import chunk_to_payload
from rag_source.store.engine import BM25, DENSE, SENTENCES

__all__ = ["make_point"]


def make_point(embedded: EmbeddedChunk, generation: int, *, dimension: int) -> tuple[Point, int]:
    """The point and about how many bytes it takes in the engine's log.

    Its id follows from the chunk's and the generation, so that the versions of a document share no
    point and the same corpus always makes the same ids, by which the engine settles equal scores.

    Raises:
        BackendError: A vector is not finite or not of the dimension; the engine would accept NaN
            and then rank by it.
    """
    chunk, sparse = embedded.chunk, embedded.sparse
    dense, *sentences = _checked_vectors(embedded, dimension)
    vectors: dict[str, list[float] | list[list[float]] | SparseVector] = {DENSE: dense}
    if sentences:
        vectors[SENTENCES] = sentences
    if sparse.indices:
        vectors[BM25] = SparseVector(list(sparse.indices), list(sparse.values))
    point = Point(
        uuid5(NAMESPACE_URL, f"{chunk.doc_id}\n{chunk.chunk_id}\n{generation}"),
        vectors,
        chunk_to_payload(chunk, generation=generation),
    )
    numbers = dimension * (1 + len(sentences)) + 2 * len(sparse.indices)
    ranges = 3 * len(chunk.segments) + 2 * len(chunk.sentences)
    text_bytes = len(chunk.text.encode()) + len(chunk.context.encode())
    return point, 4 * numbers + 5 * ranges + text_bytes + 500


def _checked_vectors(embedded: EmbeddedChunk, dimension: int) -> list[list[float]]:
    """The dense vector, then those of the sentences, as the plain floats the engine takes."""
    wanted = (1 + len(embedded.sentence_vectors), dimension)
    try:
        matrix = np.asarray([embedded.dense, *embedded.sentence_vectors], dtype=np.float32)
    except ValueError:  # rows of different lengths
        matrix = np.empty(0, dtype=np.float32)
    weights = np.asarray(embedded.sparse.values, dtype=np.float32)
    if matrix.shape != wanted or not (np.isfinite(matrix).all() and np.isfinite(weights).all()):
        raise BackendError(
            f"a vector of chunk {embedded.chunk.chunk_id!r} is not {dimension} finite numbers",
            hint="check the embedding server, then ingest again",
            code="bad_vector",
        )
    return cast("list[list[float]]", matrix.tolist())
