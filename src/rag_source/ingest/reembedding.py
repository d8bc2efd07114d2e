"""Make a project's collection anew for another embedding model, behind the one that answers.

Chunks are cut from the stored parses: no file is read and no page recognised again. The work on the
queue goes on beside it, file by file in turn, and what it changes is made again here. When both
agree, the new collection takes the old one's place in one step. What ends this loses the batch
that was being embedded, and nothing else.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import TypeAlias

from rag_source.domain.catalogue import DocumentRecord, RebuiltDocument
from rag_source.domain.errors import BackendOverflowError
from rag_source.domain.ports import Catalogue, RebuildTable, SparseEncoder, TokenCounter
from rag_source.ingest.binding import Binding
from rag_source.ingest.chunker import ChunkIdentity, PackedChunk
from rag_source.ingest.draining import Progress
from rag_source.ingest.embedding import embedded_chunks
from rag_source.ingest.indexer import Indexer
from rag_source.ingest.measuring import chunked, measure_with
from rag_source.ingest.recipes import Recipe

__all__ = ["Adopt", "CollectionBuilder"]

logger = logging.getLogger(__name__)

Adopt: TypeAlias = Callable[[Sequence[DocumentRecord]], Awaitable[None]]
"""Makes the new collection the one that answers, with these records, in one transaction."""

_LAST = 4
"""So few documents are made while everything else waits, so that a corpus which changes all the
time comes to an end as well."""
_PAUSE_S = 1.0


class CollectionBuilder:
    """Fills a new collection and swaps it in.

    Args:
        indexer: Works on the collection that answers; it is bound to the new one at the end.
        new: The new collection and its embedding model.
        table: Which documents it holds already.
        catalogue: The records and parses.
        sparse: Makes the term weights.
        counter: Counts tokens of the answer model.
        adopt: Called once, when both collections agree.
        on_swapped: Called directly after it: searches must go to the new collection before
            anything is written to it.
        sleep: Waits while the queue is paused.
    """

    def __init__(
        self,
        *,
        indexer: Indexer,
        new: Binding,
        table: RebuildTable,
        catalogue: Catalogue,
        sparse: SparseEncoder,
        counter: TokenCounter,
        adopt: Adopt,
        on_swapped: Callable[[], None],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._indexer = indexer
        self._new = new
        self._table = table
        self._catalogue = catalogue
        self._sparse = sparse
        self._measure = measure_with(new.embedder, counter)
        self._recipe = new.recipes.chunks if new.recipes else ""
        self._adopt = adopt
        self._on_swapped = on_swapped
        self._sleep = sleep
        self.done = 0
        self.total = 0

    async def run(self, *, on_progress: Progress = lambda done, total, path: None) -> None:
        """To the swap.

        Raises:
            BackendError: The embedder or the store failed; what is done stays done.
        """
        started = time.monotonic()
        await self._forget_what_is_lost()
        while not await self._finished(on_progress):
            logger.info("documents have changed meanwhile; looking at them again")
        logger.info(
            "the collection for %s holds %d documents after %.0f s",
            self._new.embedder.model.name,
            self.total,
            time.monotonic() - started,
        )

    async def _finished(self, on_progress: Progress) -> bool:
        """One round; whether it came to the swap."""
        while len(todo := self._todo()) > _LAST:
            for record, following in zip_longest(todo, todo[1:]):
                await self._until_resumed()
                async with self._indexer.turn:
                    await self._make(record, following, on_progress)
        async with self._indexer.turn:
            # No document can become another version of itself from here on.
            todo = self._todo()
            for record, following in zip_longest(todo, todo[1:]):
                await self._make(record, following, on_progress)
            async with self._indexer.still():
                swapping = asyncio.create_task(self._swap())
                try:
                    swapped = await asyncio.shield(swapping)
                except asyncio.CancelledError:
                    # The records must not be of one collection and the searches of another.
                    await swapping
                    raise
        if swapped:
            on_progress(self.total, self.total, "")
        return swapped

    async def _until_resumed(self) -> None:
        while self._indexer.queue.paused:
            await self._sleep(_PAUSE_S)

    async def _forget_what_is_lost(self) -> None:
        """A row whose chunks are not there stands for nothing: the folder may have been deleted."""
        counts = await self._new.store.chunk_counts()
        rows = self._table.documents()
        lost = [doc_id for doc_id, row in rows.items() if row.chunks != counts.get(doc_id, 0)]
        if lost:
            logger.warning("%d documents of the new collection are made again", len(lost))
            self._table.forget(lost)

    def _todo(self) -> list[DocumentRecord]:
        """What is not in the new collection as it is in the old; copies of one content together."""
        versions, made = self._catalogue.versions(), self._table.documents()
        ready = [record for record in self._catalogue.documents() if record.status == "ready"]
        todo = [
            record
            for record in ready
            if not self._is_made(made.get(record.doc_id), versions.get(record.doc_id, ""))
        ]
        self.done, self.total = len(ready) - len(todo), len(ready)
        return sorted(todo, key=lambda one: (one.source.fingerprint, one.source.path))

    def _is_made(self, row: RebuiltDocument | None, version: str) -> bool:
        return row is not None and (row.version_id, row.recipe) == (version, self._recipe)

    async def _make(
        self, listed: DocumentRecord, following: DocumentRecord | None, on_progress: Progress
    ) -> None:
        """Put the document's version of this moment into the new collection."""
        doc_id = listed.doc_id
        record = self._catalogue.document(doc_id)
        if record is None or record.status != "ready":
            return
        on_progress(self.done, self.total, record.source.path)
        version, chunks, problem = self._catalogue.version(doc_id), 0, ""
        try:
            chunks = await self._put(record)
        except BackendOverflowError as error:
            problem = error.message
            logger.warning("the new model cannot take %s: %s", record.source.path, error.message)
            await self._new.store.remove([doc_id])
        self._table.keep(
            RebuiltDocument(
                doc_id=doc_id,
                version_id=version,
                recipe=self._recipe,
                path=record.source.path,
                chunks=chunks,
                problem=problem,
            )
        )
        self.done = min(self.done + 1, self.total)
        fingerprint = record.source.fingerprint
        # A copy of the same content, which comes next, pays nothing.
        if following is None or following.source.fingerprint != fingerprint:
            self._new.spool.clear_vectors(fingerprint)

    async def _put(self, record: DocumentRecord) -> int:
        """Returns how many chunks it has; none if its parse is lost, and the file is to be read."""
        parsed = await asyncio.to_thread(self._catalogue.parsed, record.doc_id)
        packed: tuple[PackedChunk, ...] = ()
        if parsed is not None:
            fingerprint = record.source.fingerprint
            identity = ChunkIdentity(
                doc_id=record.doc_id,
                path=record.source.path,
                fingerprint=f"{fingerprint}:{self._new_recipe()(record)}",
            )
            packed = await chunked(parsed, self._measure, self._new.chunking, identity)
            if self._new.situator is not None:
                packed = await self._new.situator.situated(parsed, packed, fingerprint=fingerprint)
        embedded = await embedded_chunks(
            packed,
            fingerprint=record.source.fingerprint,
            embedder=self._new.embedder,
            sparse=self._sparse,
            spool=self._new.spool,
            batch=self._indexer.policy.embed_batch,
        )
        await self._new.store.replace(record.doc_id, embedded)
        return len(embedded)

    async def _swap(self) -> bool:
        """Put the new collection in the old one's place, if it holds the same; nothing else runs.

        What has been renamed or removed meanwhile is so here as well: that costs no embedding.
        """
        ready = {
            record.doc_id: record
            for record in self._catalogue.documents()
            if record.status == "ready"
        }
        if self._todo():
            return False
        store, made = self._new.store, self._table.documents()
        await store.remove(sorted(await store.doc_ids() - ready.keys()))
        for doc_id, record in ready.items():
            if made[doc_id].path != record.source.path:
                await store.rename(doc_id, record.source.path)
        recipe = self._new_recipe()
        records = self._catalogue.documents()
        await self._adopt([_adopted(one, made.get(one.doc_id), recipe(one)) for one in records])
        self._indexer.rebind(self._new)
        self._on_swapped()
        return True

    def _new_recipe(self) -> Recipe:
        """Gives the new model's recipe, or the old one where a document must be made anew for
        another reason as well."""
        former, new = self._indexer.binding.recipes, self._new.recipes
        if former is None or new is None:
            return lambda record: record.recipe
        former_of, new_of = former.for_all(), new.for_all()
        return lambda record: (
            new_of(record) if record.recipe == former_of(record) else record.recipe
        )


def _adopted(record: DocumentRecord, row: RebuiltDocument | None, recipe: str) -> DocumentRecord:
    """The record as it goes with the new collection."""
    renewed = replace(record, recipe=recipe)
    if record.status != "ready" or row is None:
        return renewed
    if row.problem:
        message = f"{row.problem}. Lower RAG_SOURCE_EMBED_LIMIT_TOKENS to what the model reads."
        return replace(renewed, status="failed", code="too_large", message=message, chunks=0)
    if not row.chunks:
        # Its parse is lost: the next look finds no chunks of it and reads the file.
        return replace(renewed, status="indexing", chunks=0)
    return replace(renewed, chunks=row.chunks)
