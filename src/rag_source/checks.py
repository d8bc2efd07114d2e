"""Self-checks: does each part do what an answer rests on, and what is to be done if not.

Each check asks its part for real: the embedder for a chunk of full size, the reranker for a pair
that it must tell apart, the answer model for its context. None changes anything but `repair`.
"""

from __future__ import annotations

import asyncio
import math
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path

from rag_source.domain.chunks import Chunk, Segment, TextRange
from rag_source.domain.errors import ConfigurationError, RagError
from rag_source.domain.evidence import Candidate
from rag_source.domain.health import Check
from rag_source.domain.ports import (
    Catalogue,
    ChunkStore,
    Embedder,
    Reranker,
    SparseEncoder,
    TextGenerator,
)

__all__ = ["SelfChecks", "check_corpus"]

_FREE_BYTES = 1_000_000_000
_UNIT_LENGTH_SLACK = 0.05
_QUESTION = "When does the warranty of the pump end?"
_RIGHT = "The warranty of the pump ends on 12 May 2027."
_WRONG = "Visitors park behind the church."
# What doubles of this fill any embedder's window; a chunk never has more than its limit.
_FILLER = "The delivery note names the supplier, the date, the pallets and their weight. "


@dataclass(frozen=True, slots=True, kw_only=True)
class SelfChecks:
    """The parts that are checked.

    `context_size` is what the settings promise the answer model. `check_models` and `check_ocr`
    raise what is missing.
    """

    catalogue: Catalogue
    store: ChunkStore
    embedder: Embedder
    sparse: SparseEncoder
    reranker: Reranker
    generator: TextGenerator
    state: Path
    context_size: int
    check_corpus: Callable[[], None]
    check_models: Callable[[], None]
    check_ocr: Callable[[], None]

    async def run(self) -> AsyncIterator[Check]:
        """Each check as it is done; the costly ones last. A check that fails stops no other."""
        checks: list[tuple[str, Callable[[], Awaitable[str]]]] = [
            ("folder", self._in_thread(self.check_corpus, "can be read")),
            ("models", self._in_thread(self.check_models, "are in the cache")),
            ("disk", self._disk),
            ("ocr", self._in_thread(self.check_ocr, "Tesseract and its languages are there")),
            ("index", self._index),
            ("embedder", self._embedder),
            ("reranker", self._reranker),
            ("answer model", self._generator),
        ]
        for name, check in checks:
            try:
                yield Check(name=name, ok=True, detail=await check())
            except RagError as error:
                yield Check(name=name, ok=False, detail=error.message, remedy=error.hint)

    async def repair(self) -> int:
        """Have every document indexed anew whose record and chunks disagree; returns how many.

        The next pass over the folder does the work. Chunks without a record are removed at once.
        """
        counts = await self.store.chunk_counts()
        records = {record.doc_id: record for record in self.catalogue.documents()}
        await self.store.remove(sorted(counts.keys() - records.keys()))
        wrong = [r for r in records.values() if r.chunks != counts.get(r.doc_id, 0)]
        for record in wrong:
            # As if by an older loader: the version that is there answers until the new one does.
            self.catalogue.save(replace(record, loader_version=0))
        return len(wrong) + len(counts.keys() - records.keys())

    @staticmethod
    def _in_thread(check: Callable[[], None], good: str) -> Callable[[], Awaitable[str]]:
        async def run() -> str:
            await asyncio.to_thread(check)
            return good

        return run

    async def _disk(self) -> str:
        free = await asyncio.to_thread(lambda: shutil.disk_usage(self.state).free)
        if free < _FREE_BYTES:
            raise ConfigurationError(
                f"only {free / 1e6:,.0f} MB are free where the index lives ({self.state})",
                hint="free some disk space, or set RAG_SOURCE_STATE_DIR to a larger disk",
            )
        return f"{free / 1e9:,.0f} GB are free"

    async def _index(self) -> str:
        counts = await self.store.chunk_counts()
        records = {record.doc_id: record for record in self.catalogue.documents()}
        wrong = sum(r.chunks != counts.get(r.doc_id, 0) for r in records.values())
        unknown = len(counts.keys() - records.keys())
        if wrong or unknown:
            raise ConfigurationError(
                f"{wrong} documents have not the chunks that they should, {unknown} are unknown",
                hint="run `rag-source doctor --repair`",
            )
        return f"{len(records)} documents and {sum(counts.values()):,} chunks agree"

    async def _embedder(self) -> str:
        limit = self.embedder.model.limit_tokens
        text = _FILLER
        (tokens,) = await self.embedder.count_tokens([text])
        while True:
            longer = text + _FILLER
            (count,) = await self.embedder.count_tokens([longer])
            if count > limit:
                break
            text, tokens = longer, count
        (vector,) = await self.embedder.embed_passages([text])
        length = math.sqrt(math.fsum(x * x for x in vector))
        if not abs(length - 1) < _UNIT_LENGTH_SLACK:
            raise ConfigurationError(
                f"the embedder's vectors have length {length:.3f}, not 1",
                hint="use an embedding server that normalises its vectors",
            )
        return f"takes {tokens} tokens, gives {len(vector)} finite numbers of length 1"

    async def _reranker(self) -> str:
        question = await self.embedder.embed_query(_QUESTION)
        right, wrong = await self.embedder.embed_passages([_RIGHT, _WRONG])
        asked = self.sparse.encode_query(_QUESTION, language="en")
        candidates = []
        for text, vector in ((_RIGHT, right), (_WRONG, wrong)):
            cosine = math.fsum(a * b for a, b in zip(question, vector, strict=True))
            kept = self.sparse.encode_document(text, language="en")
            shared = len(set(asked.indices) & set(kept.indices))
            candidates.append(
                Candidate(
                    chunk=_chunk(text),
                    score=cosine,
                    dense=cosine,
                    sentence=cosine,
                    bm25=float(shared),
                )
            )
        good, bad = await self.reranker.score(_QUESTION, candidates)
        if not 0 <= bad <= 1 or not 0 <= good <= 1:
            raise ConfigurationError(
                f"the reranker's scores {good:.3f} and {bad:.3f} are not between 0 and 1",
                hint="use a reranker with calibrated scores",
            )
        if good <= bad or bad >= self.reranker.threshold:
            raise ConfigurationError(
                f"the reranker gives {good:.3f} to the answer of a question and {bad:.3f} to "
                f"a sentence about something else; the threshold is {self.reranker.threshold:.3f}",
                hint="unset RAG_SOURCE_SEARCH_THRESHOLD, or fit the reranker to the embedder",
            )
        return f"tells an answer ({good:.2f}) from another subject ({bad:.2f})"

    async def _generator(self) -> str:
        tokens = await self.generator.context_tokens()
        if tokens < self.context_size:
            raise ConfigurationError(
                f"the answer model has {tokens} tokens of context, not {self.context_size}",
                hint="lower RAG_SOURCE_LLM_CONTEXT_SIZE to what it has",
            )
        return f"has {tokens:,} tokens of context"


def check_corpus(root: Path) -> None:
    """Raise ConfigurationError if the corpus is not a folder that can be listed."""
    if not root.is_dir():
        what = "is not a folder" if root.exists() else "does not exist"
        raise ConfigurationError(
            f"the folder of documents {str(root)!r} {what}",
            hint="create it, or set RAG_SOURCE_DATA_DIR to another",
            code="corpus_missing",
        )


def _chunk(text: str) -> Chunk:
    return Chunk(
        chunk_id=text,
        doc_id="check",
        path="check.txt",
        ordinal=0,
        text=text,
        segments=(Segment(start=0, end=len(text), document_start=0),),
        sentences=(TextRange(start=0, end=len(text)),),
        block_id="b1",
        language="en",
    )
