"""One document from its parse into the index: chunk, situate, embed, swap in.

Each vector goes to the spool as soon as it is there. The new version enters the index in one write
of the store, staged in the catalogue just before and promoted just after: whenever the process
ends between any two of these steps, `settle` tells which version answers, and nothing is lost.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from rag_source.domain.catalogue import DocumentRecord
from rag_source.domain.chunks import EmbeddedChunk
from rag_source.domain.documents import ParsedDocument
from rag_source.domain.errors import BackendOverflowError, SourceError
from rag_source.domain.jobs import Job
from rag_source.domain.ports import Catalogue, ChunkStore, Embedder, SparseEncoder, Spool
from rag_source.ingest.chunker import ChunkIdentity, ChunkingPolicy, PackedChunk
from rag_source.ingest.embedding import embedded_chunks
from rag_source.ingest.measuring import Measure, chunked
from rag_source.ingest.queue import JobQueue
from rag_source.ingest.recipes import Recipes
from rag_source.ingest.records import ready_record
from rag_source.ingest.situating import Situator

__all__ = ["DocumentPipeline", "IndexingPolicy"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexingPolicy:
    """How a pass works.

    `embed_batch` texts go to the embedder at a time: few, so that a question waits behind one
    short batch only (measured: behind 16 full chunks it waited 5.6 s). A folder that is suddenly
    empty while at least `mass_delete_guard` documents are indexed is taken for an unplugged disk.
    """

    embed_batch: int = 8
    mass_delete_guard: int = 20

    def __post_init__(self) -> None:
        if not 1 <= self.embed_batch <= 256:
            raise ValueError(f"embed_batch must be 1 to 256, not {self.embed_batch}")
        if self.mass_delete_guard < 1:
            raise ValueError(f"mass_delete_guard must be positive, not {self.mass_delete_guard}")


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPipeline:
    """What it takes to index a parsed document; owns none of it.

    `recipes` are the settings of today. `publishing` is held while a version is swapped in.
    """

    catalogue: Catalogue
    store: ChunkStore
    embedder: Embedder
    sparse: SparseEncoder
    spool: Spool
    queue: JobQueue
    measure: Measure
    chunking: ChunkingPolicy
    policy: IndexingPolicy
    situator: Situator | None
    recipes: Recipes | None
    now: Callable[[], datetime]
    publishing: asyncio.Lock

    async def index(self, job: Job, parsed: ParsedDocument) -> int:
        """Make the parse the document's version that answers; returns how many chunks it has.

        Raises:
            SourceError: Nothing to index, or a piece that the embedder cannot take.
            InterruptedJobError: The job is not to go on; the spool has what is done.
            BackendError: A model server or the store failed; likewise.
        """
        started = time.monotonic()
        self.queue.advance(job, "chunking")
        record = ready_record(job, parsed, recipes=self.recipes, now=self.now())
        identity = ChunkIdentity(
            doc_id=job.doc_id,
            path=job.path,
            fingerprint=f"{job.source.fingerprint}:{record.recipe}",
        )
        packed = await chunked(parsed, self.measure, self.chunking, identity)
        if not packed:
            raise SourceError(
                f"{job.path!r} has no text to index",
                code="no_text",
                hint="If it is a scan, its pages need optical character recognition (OCR).",
            )
        packed = await self._situated(job, parsed, packed)
        try:
            embedded = await self._embedded(job, packed)
        except BackendOverflowError as error:
            raise SourceError(
                f"{job.path!r} has a piece too long for the embedding model",
                code="too_large",
                hint=error.hint or "Lower the chunk size.",
            ) from error
        await self._publish(job, replace(record, chunks=len(embedded)), parsed, embedded)
        logger.info(
            "indexed %s: %d chunks in %.0f ms",
            job.path,
            len(embedded),
            1000 * (time.monotonic() - started),
        )
        return len(embedded)

    async def settle(self) -> None:
        """After a crash: bring the catalogue and the store to one mind.

        A version that was staged is promoted if its chunks are those in the store, otherwise
        forgotten; chunks of documents that no record knows are removed. A document without chunks
        is not `ready`: its removal was cut short, or its chunks are lost, and the next look says.
        """
        async with self.publishing:
            for doc_id, contents in self.catalogue.staged().items():
                if contents == _contents(await self.store.chunk_ids(doc_id)):
                    self.catalogue.promote(doc_id)
                    logger.warning("finished the swap of document %s", doc_id)
                else:
                    self.catalogue.unstage(doc_id)
            records = {record.doc_id: record for record in self.catalogue.documents()}
            stored = await self.store.doc_ids()
            orphans = stored - records.keys()
            if orphans:
                logger.warning("removing the chunks of %d unknown documents", len(orphans))
                await self.store.remove(sorted(orphans))
            for doc_id, record in records.items():
                if record.status == "ready" and doc_id not in stored:
                    self.catalogue.save(replace(record, status="indexing"))

    async def _situated(
        self, job: Job, parsed: ParsedDocument, packed: tuple[PackedChunk, ...]
    ) -> tuple[PackedChunk, ...]:
        if self.situator is None:
            return packed

        def step(done: int, total: int) -> None:
            self.queue.advance(job, "situating", done, total)

        # The bytes' own fingerprint: an answer's key says by what settings it was asked for.
        return await self.situator.situated(
            parsed, packed, fingerprint=job.source.fingerprint, on_progress=step
        )

    async def _embedded(self, job: Job, packed: Sequence[PackedChunk]) -> list[EmbeddedChunk]:
        def step(done: int, total: int) -> None:
            self.queue.advance(job, "embedding", done, total)

        return await embedded_chunks(
            packed,
            fingerprint=job.source.fingerprint,
            embedder=self.embedder,
            sparse=self.sparse,
            spool=self.spool,
            batch=self.policy.embed_batch,
            on_step=step,
        )

    async def _publish(
        self,
        job: Job,
        record: DocumentRecord,
        parsed: ParsedDocument,
        embedded: Sequence[EmbeddedChunk],
    ) -> None:
        contents = _contents({one.chunk.chunk_id for one in embedded})

        async def swap() -> None:
            await asyncio.to_thread(self.catalogue.stage, record, parsed, contents=contents)
            try:
                await self.store.replace(job.doc_id, embedded)
            except Exception:
                self.catalogue.unstage(job.doc_id)
                raise
            self.catalogue.promote(job.doc_id)
            self.queue.finish(job)

        async with self.publishing:
            # The last moment at which a pause, or a newer version of the file, still counts.
            self.queue.check(job)
            swapping = asyncio.create_task(swap())
            try:
                await asyncio.shield(swapping)
            except asyncio.CancelledError:
                # The store cannot be stopped half way: the catalogue must follow it.
                await swapping
                raise


def _contents(chunk_ids: set[str]) -> str:
    """Names the chunks of one version of a document."""
    return hashlib.sha256("\n".join(sorted(chunk_ids)).encode()).hexdigest()
