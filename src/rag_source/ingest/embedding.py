"""A document's chunks with their vectors: each text embedded once, none that was before."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from typing import TypeAlias

from rag_source.domain.chunks import Chunk, EmbeddedChunk, SparseVector, Vector
from rag_source.domain.ports import Embedder, SparseEncoder, Spool
from rag_source.ingest.chunker import PackedChunk

__all__ = ["EmbeddingStep", "embedded_chunks"]

EmbeddingStep: TypeAlias = Callable[[int, int], None]
"""Called with the texts that have their vectors, and all of them; what it raises ends the work."""


async def embedded_chunks(
    packed: Sequence[PackedChunk],
    *,
    fingerprint: str,
    embedder: Embedder,
    sparse: SparseEncoder,
    spool: Spool,
    batch: int,
    on_step: EmbeddingStep = lambda done, total: None,
) -> list[EmbeddedChunk]:
    """The chunks in order. Each batch of vectors is in the spool as soon as it is there.

    Args:
        packed: All chunks of a document.
        fingerprint: That of the file's bytes, under which the spool keeps its vectors.
        embedder: Makes the vectors.
        sparse: Makes the term weights.
        spool: That of the embedder's model.
        batch: Texts that go to the embedder at a time.
        on_step: Called before each batch, and at the end.

    Raises:
        BackendOverflowError: A text is longer than the embedder takes.
        BackendError: The embedder failed; what is done is in the spool.
    """
    wanted = {_key(one.chunk.embedded_text): one.chunk.embedded_text for one in packed}
    wanted.update({_key(text): text for one in packed for text in one.sentence_texts})
    known = await asyncio.to_thread(spool.vectors, fingerprint)
    vectors: dict[bytes, Vector] = {key: known[key] for key in wanted if key in known}
    missing = [(key, text) for key, text in wanted.items() if key not in vectors]
    for start in range(0, len(missing), batch):
        on_step(len(vectors), len(wanted))
        texts = missing[start : start + batch]
        made = await embedder.embed_passages([text for _, text in texts])
        fresh = {key: vector for (key, _), vector in zip(texts, made, strict=True)}
        spool.keep_vectors(fingerprint, fresh)
        vectors.update(fresh)
    on_step(len(wanted), len(wanted))
    terms = await asyncio.to_thread(lambda: [_terms(sparse, one.chunk) for one in packed])
    return [
        EmbeddedChunk(
            chunk=one.chunk,
            dense=vectors[_key(one.chunk.embedded_text)],
            sparse=weights,
            sentence_vectors=tuple(vectors[_key(text)] for text in one.sentence_texts),
        )
        for one, weights in zip(packed, terms, strict=True)
    ]


def _terms(sparse: SparseEncoder, chunk: Chunk) -> SparseVector:
    return sparse.encode_document(chunk.embedded_text, language=chunk.language)


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
