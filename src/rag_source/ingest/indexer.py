"""Bring the index up to date with the folder, incrementally and file by file.

A new version of a file is parsed, chunked and embedded completely before the store swaps it in;
whatever goes wrong before, the old version keeps answering. The catalogue is written after the
store, and ids follow from the file, so that a pass that was cut short is healed by the next one.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path, PurePosixPath

from rag_source.domain.catalogue import DocumentRecord
from rag_source.domain.chunks import Chunk, EmbeddedChunk, SparseVector
from rag_source.domain.documents import ParsedDocument, ParseWarning, SourceFile
from rag_source.domain.errors import BackendOverflowError, ConfigurationError, SourceError
from rag_source.domain.ports import Catalogue, ChunkStore, Embedder, SparseEncoder, TokenCounter
from rag_source.domain.reports import FailedFile, IngestReport
from rag_source.ingest.changes import Work, compare, fingerprint, same_stat, split_by_content
from rag_source.ingest.chunker import ChunkIdentity, ChunkingPolicy, PackedChunk
from rag_source.ingest.measuring import chunked, measure_with
from rag_source.ingest.parsing import Parser, unsupported_hint
from rag_source.ingest.registry import LoaderRegistry
from rag_source.ingest.scan import FoundFile, Scan, scan
from rag_source.ingest.vectors import VectorCache

__all__ = ["Indexer", "IndexingPolicy", "Progress"]

logger = logging.getLogger(__name__)

Progress = Callable[[int, int, str], None]
"""Called with files done, files to do and the path at hand."""


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


class Indexer:
    """Owns no resource: whoever made the ports closes them."""

    def __init__(
        self,
        *,
        catalogue: Catalogue,
        store: ChunkStore,
        embedder: Embedder,
        sparse: SparseEncoder,
        counter: TokenCounter,
        parser: Parser,
        registry: LoaderRegistry | None = None,
        chunking: ChunkingPolicy | None = None,
        policy: IndexingPolicy | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        new_id: Callable[[], str] = lambda: uuid.uuid4().hex,
    ) -> None:
        self._catalogue = catalogue
        self._store = store
        self._embedder = embedder
        self._sparse = sparse
        self._parser = parser
        self._given_registry = registry
        self._chunking = chunking or ChunkingPolicy()
        self._policy = policy or IndexingPolicy()
        self._measure = measure_with(embedder, counter)
        self._now = now
        self._new_id = new_id
        self._turn = asyncio.Lock()

    @cached_property
    def _registry(self) -> LoaderRegistry:
        """Made at the first pass: discovery imports every parser, seconds that a search in a
        process of its own need not spend."""
        return self._given_registry or LoaderRegistry()

    async def run(
        self, root: Path, *, force: bool = False, on_progress: Progress | None = None
    ) -> IngestReport:
        """One pass over the folder.

        With `force` every file is parsed and embedded again. A file that fails is reported and
        never stops the others; it is tried again when it, or its loader, has changed.

        Raises:
            ConfigurationError: The folder is missing, unreadable or suspiciously empty.
            BackendError: The embedder or the store failed; what was done stays done.
        """
        async with self._turn:
            return await self._pass(root, force, on_progress or (lambda done, total, path: None))

    async def _pass(self, root: Path, force: bool, on_progress: Progress) -> IngestReport:
        started = time.monotonic()
        found = await asyncio.to_thread(scan, root)
        records = self._catalogue.documents()
        self._guard(root, found, records, force)
        stored = await self._without_orphans(records)
        changes = compare(found, records, self._registry, stored=stored, force=force)
        failed = [_failure(record) for record in changes.same if record.code]
        failed += [self._refuse(file, record) for file, record in changes.unsupported]
        failed += [_nameless(path) for path in found.unreadable_files]
        read: list[tuple[SourceFile, DocumentRecord | None]] = []
        for file, record in changes.suspects:
            try:
                digest = await asyncio.to_thread(fingerprint, root / file.path)
            except SourceError as error:
                failed.append(self._fail(_source(file, ""), record, error))
                continue
            read.append((_source(file, digest), record))
        plan = split_by_content(read, changes.gone, self._registry, stored=stored, force=force)
        for touched in plan.touched:
            self._catalogue.save(touched)
        for moved, source in plan.moved:
            await self._store.rename(moved.doc_id, source.path)
            self._catalogue.save(replace(moved, source=source))
            logger.info("moved %s to %s", moved.source.path, source.path)
        moved_ids = {moved.doc_id for moved, _ in plan.moved}
        gone = [record for record in changes.gone if record.doc_id not in moved_ids]
        await self._remove(gone)
        added, updated, chunks, failures = await self._work(root, plan.work, on_progress)
        failed += failures
        return IngestReport(
            added=added,
            updated=updated + len(plan.moved),
            removed=len(gone),
            unchanged=sum(not record.code for record in changes.same) + len(plan.touched),
            failed=tuple(sorted(failed, key=lambda failure: failure.path)),
            chunks=chunks,
            seconds=time.monotonic() - started,
        )

    def _guard(
        self, root: Path, found: Scan, records: Sequence[DocumentRecord], force: bool
    ) -> None:
        if found.files or force or len(records) < self._policy.mass_delete_guard:
            return
        raise ConfigurationError(
            f"the document folder {str(root)!r} is empty, but {len(records)} documents are indexed",
            hint="Check that its disk is there; if you did remove them all, run `ingest --force`.",
        )

    async def _without_orphans(self, records: Sequence[DocumentRecord]) -> set[str]:
        """Drop chunks that no record knows, left by a pass that was cut short."""
        stored = await self._store.doc_ids()
        orphans = stored - {record.doc_id for record in records}
        if orphans:
            logger.warning("removing the chunks of %d unknown documents", len(orphans))
            await self._store.remove(sorted(orphans))
        return stored - orphans

    async def _remove(self, gone: Sequence[DocumentRecord]) -> None:
        if not gone:
            return
        ids = [record.doc_id for record in gone]
        # The store first: a record without chunks is found again, chunks without a record answer.
        await self._store.remove(ids)
        self._catalogue.remove(ids)
        for record in gone:
            logger.info("removed %s", record.source.path)

    async def _work(
        self, root: Path, work: Sequence[Work], on_progress: Progress
    ) -> tuple[int, int, int, list[FailedFile]]:
        """Index files in order; the next one is parsed while this one is embedded."""
        added = updated = chunks = 0
        failed: list[FailedFile] = []
        problem: Exception | None = None
        cache = VectorCache()
        async with asyncio.TaskGroup() as tasks:
            ahead = tasks.create_task(self._parse(root, work[0])) if work else None
            for i, item in enumerate(work):
                on_progress(i, len(work), item.source.path)
                assert ahead is not None
                outcome = await ahead
                if i + 1 < len(work):
                    ahead = tasks.create_task(self._parse(root, work[i + 1]))
                cache.keep_for(item.source.fingerprint)
                try:
                    if isinstance(outcome, SourceError):
                        raise outcome
                    chunks += await self._index(item, outcome, cache)
                except SourceError as error:
                    failed.append(self._fail(item.source, item.known, error))
                    continue
                except Exception as error:
                    # Kept and raised below: a task group would wrap it in an exception group.
                    problem = error
                    ahead.cancel()
                    break
                if item.known is None or item.known.status != "ready":
                    added += 1
                else:
                    updated += 1
        if problem is not None:
            raise problem
        if work:
            on_progress(len(work), len(work), "")
        return added, updated, chunks, failed

    async def _parse(self, root: Path, item: Work) -> ParsedDocument | SourceError:
        try:
            return await self._parser.parse(root / item.source.path)
        except SourceError as error:
            return error

    async def _index(self, item: Work, parsed: ParsedDocument, cache: VectorCache) -> int:
        """Chunk, embed, swap in; returns how many chunks were written.

        Raises:
            SourceError: Nothing to index, or a piece that the embedder cannot take.
        """
        started = time.monotonic()
        doc_id = item.known.doc_id if item.known else self._new_id()
        identity = ChunkIdentity(
            doc_id=doc_id, path=item.source.path, fingerprint=item.source.fingerprint
        )
        packed = await chunked(parsed, self._measure, self._chunking, identity)
        if not packed:
            raise SourceError(
                f"{item.source.path!r} has no text to index",
                code="no_text",
                hint="If it is a scan, its pages need optical character recognition (OCR).",
            )
        record = _record(doc_id, item.source, parsed, packed, self._now())
        if item.known is None or item.known.status != "ready":
            # The id must survive a crash, or the next pass would not know the chunks.
            self._catalogue.save(replace(record, status="indexing", chunks=0))
        try:
            embedded = await self._embedded(packed, cache)
        except BackendOverflowError as error:
            raise SourceError(
                f"{item.source.path!r} has a piece too long for the embedding model",
                code="too_large",
                hint=error.hint or "Lower the chunk size.",
            ) from error
        await self._store.replace(doc_id, embedded)
        self._catalogue.save(record, parsed)
        logger.info(
            "indexed %s: %d chunks in %.0f ms",
            item.source.path,
            len(embedded),
            1000 * (time.monotonic() - started),
        )
        return len(embedded)

    async def _embedded(
        self, packed: Sequence[PackedChunk], cache: VectorCache
    ) -> list[EmbeddedChunk]:
        """Every chunk with its vectors; equal texts are embedded once."""
        wanted = dict.fromkeys(one.chunk.embedded_text for one in packed)
        wanted.update(dict.fromkeys(text for one in packed for text in one.sentence_texts))
        missing = [text for text in wanted if text not in cache.vectors]
        size = self._policy.embed_batch
        for start in range(0, len(missing), size):
            batch = missing[start : start + size]
            vectors = await self._embedder.embed_passages(batch)
            cache.vectors.update(zip(batch, vectors, strict=True))
        sparse = await asyncio.to_thread(lambda: [self._sparse_vector(one.chunk) for one in packed])
        return [
            EmbeddedChunk(
                chunk=one.chunk,
                dense=cache.vectors[one.chunk.embedded_text],
                sparse=terms,
                sentence_vectors=tuple(cache.vectors[text] for text in one.sentence_texts),
            )
            for one, terms in zip(packed, sparse, strict=True)
        ]

    def _sparse_vector(self, chunk: Chunk) -> SparseVector:
        return self._sparse.encode_document(chunk.embedded_text, language=chunk.language)

    def _refuse(self, file: FoundFile, record: DocumentRecord | None) -> FailedFile:
        """Record a file that no loader reads."""
        if record is not None and record.code == "unsupported" and same_stat(record.source, file):
            return _failure(record)
        suffix = PurePosixPath(file.path).suffix
        kind = f"files ending in {suffix!r}" if suffix else "files without a suffix"
        error = SourceError(
            f"{kind} are not supported", code="unsupported", hint=unsupported_hint()
        )
        return self._fail(_source(file, ""), record, error)

    def _fail(
        self, source: SourceFile, known: DocumentRecord | None, error: SourceError
    ) -> FailedFile:
        """Record a failure; a version that was answering goes on answering, marked `stale`."""
        message = f"{error.message}. {error.hint}" if error.hint else error.message
        loader = self._registry.loader_for(source.path)
        if known is not None and known.status == "ready":
            warning = ParseWarning(
                code="stale",
                message=f"The file has changed but could not be read ({error.code}); "
                f"answers come from its version of {known.indexed_at}.",
            )
            others = tuple(w for w in known.warnings if w.code != "stale")
            record = replace(
                known,
                # The new stat, so that the same bad file is not tried again; the old fingerprint,
                # which is that of the chunks.
                source=replace(source, fingerprint=known.source.fingerprint),
                code=error.code,
                message=message,
                warnings=(*others, warning),
            )
        else:
            record = DocumentRecord(
                doc_id=known.doc_id if known else self._new_id(),
                source=source,
                status="failed",
                code=error.code,
                message=message,
                format=_format(source.path),
                loader=loader.name if loader else "",
                loader_version=loader.version if loader else 0,
                indexed_at=_timestamp(self._now()),
            )
        self._catalogue.save(record)
        logger.warning("%s failed: %s", source.path, error.code)
        return _failure(record)


def _record(
    doc_id: str,
    source: SourceFile,
    parsed: ParsedDocument,
    packed: Sequence[PackedChunk],
    now: datetime,
) -> DocumentRecord:
    return DocumentRecord(
        doc_id=doc_id,
        source=source,
        status="ready",
        warnings=parsed.warnings,
        format=_format(source.path),
        loader=parsed.loader,
        loader_version=parsed.loader_version,
        title=parsed.title,
        language=parsed.language,
        pages=len(parsed.pages),
        blocks=len(parsed.blocks),
        tables=sum(block.kind == "table" for block in parsed.blocks),
        chunks=len(packed),
        indexed_at=_timestamp(now),
    )


def _source(file: FoundFile, digest: str) -> SourceFile:
    return SourceFile(
        path=file.path, fingerprint=digest, size_bytes=file.size_bytes, mtime_ns=file.mtime_ns
    )


def _failure(record: DocumentRecord) -> FailedFile:
    return FailedFile(path=record.source.path, code=record.code, message=record.message)


def _nameless(path: str) -> FailedFile:
    return FailedFile(
        path=path,
        code="unreadable",
        message=f"{path!r} cannot be examined. Check its permissions and that its name is UTF-8.",
    )


def _format(path: str) -> str:
    return PurePosixPath(path).suffix.lower().removeprefix(".")


def _timestamp(now: datetime) -> str:
    return now.astimezone(UTC).isoformat(timespec="seconds")
