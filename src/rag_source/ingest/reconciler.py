"""Compare the folder with the catalogue and the queue, and see to what costs no embedding.

Moved files are renamed, gone ones removed, unsupported ones recorded; what must be parsed becomes
a job. Runs beside the work on the queue, so that a deletion never waits for an ingestion.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from itertools import chain
from pathlib import Path, PurePosixPath

from rag_source.domain.catalogue import DocumentRecord, FileState
from rag_source.domain.documents import SourceFile
from rag_source.domain.errors import ConfigurationError, SourceError
from rag_source.domain.jobs import Job
from rag_source.domain.ports import Catalogue, ChunkStore, Spool
from rag_source.domain.reports import FailedFile
from rag_source.ingest.changes import (
    ByContent,
    Comparison,
    Work,
    compare,
    fingerprint,
    same_stat,
    split_by_content,
)
from rag_source.ingest.parsing import unsupported_hint
from rag_source.ingest.queue import JobQueue
from rag_source.ingest.recipes import Recipes
from rag_source.ingest.records import failed_record, failure_of, nameless, source_of
from rag_source.ingest.registry import LoaderRegistry
from rag_source.ingest.scan import FoundFile, Scan, scan
from rag_source.ingest.settling import Settling
from rag_source.ingest.unchanged import Suspicious, set_aside_unchanged

__all__ = ["Reconciled", "Reconciler"]

logger = logging.getLogger(__name__)

_FEW_RECORDS = 200
"""So many records are read one by one: all those of a large folder cost more than to walk it."""


@dataclass(slots=True, kw_only=True)
class Reconciled:
    """What one look at the folder found. `queued` counts the jobs that it added, `waiting` the
    files that are still being written and were left for the next look, after `due_s` seconds."""

    removed: int = 0
    moved: int = 0
    unchanged: int = 0
    queued: int = 0
    waiting: int = 0
    due_s: float | None = None
    failed: list[FailedFile] = field(default_factory=list)


class Reconciler:
    """Looks at one corpus, one look at a time."""

    def __init__(
        self,
        *,
        catalogue: Catalogue,
        store: ChunkStore,
        queue: JobQueue,
        spool: Spool,
        registry: LoaderRegistry | None,
        mass_delete_guard: int,
        publishing: asyncio.Lock,
        recipes: Recipes | None,
        now: Callable[[], datetime],
        new_id: Callable[[], str],
    ) -> None:
        self._catalogue = catalogue
        self._store = store
        self._queue = queue
        self._spool = spool
        self._given_registry = registry
        self._mass_delete_guard = mass_delete_guard
        self._publishing = publishing
        self._recipes = recipes
        self._now = now
        self._new_id = new_id

    @cached_property
    def registry(self) -> LoaderRegistry:
        """Made at the first look: discovery imports every loader."""
        return self._given_registry or LoaderRegistry()

    async def look(
        self, root: Path, *, force: bool, settling: Settling | None = None
    ) -> Reconciled:
        """Compare once. With `force` every file gets a job.

        Raises:
            ConfigurationError: The folder is missing, unreadable or suspiciously empty.
            BackendError: The store failed; what was done stays done.
        """
        found = await asyncio.to_thread(scan, root)
        # Before the records: a file that comes through meanwhile has a job here or a record there.
        jobs = {job.path: job for job in self._queue.jobs()}
        states = await asyncio.to_thread(self._catalogue.file_states)
        self._guard(root, found, len(states), force)
        result = Reconciled(failed=[nameless(path) for path in found.unreadable_files])
        unsettled: frozenset[str] = frozenset()
        if settling is not None:
            # A file with a job was at rest once: a restart must neither wait for it nor drop it.
            queued = (job.source for job in jobs.values())
            unsettled = settling.observe(found, chain(states, queued))
            result.waiting, result.due_s = len(unsettled), settling.due_s()
        stored = await self._stored(states)
        left = self._suspicious(found, states, stored, force=force)
        records = await asyncio.to_thread(self._records, left.doc_ids)
        recipe = self._recipes.for_all() if self._recipes else None
        changes = compare(
            left.found, records, self.registry, stored=stored, force=force, recipe=recipe
        )
        result.failed += [failure_of(record) for record in changes.same if record.code]
        result.failed += [self._refuse(file, record) for file, record in changes.unsupported]
        read, kept = await self._read(root, changes, jobs, unsettled, result, force=force)
        plan = split_by_content(
            read, changes.gone, self.registry, stored=stored, force=force, recipe=recipe
        )
        await self._apply(plan, changes, result)
        self._enqueue(plan.work, result, force=force)
        # Last: what a file under another name has cost is kept for as long as a job wants it.
        self._forget(kept | {item.source.path for item in plan.work}, unsettled)
        result.unchanged = left.unchanged + len(plan.touched)
        result.unchanged += sum(not record.code for record in changes.same)
        return result

    async def _stored(self, states: Sequence[FileState]) -> set[str]:
        """The documents that have chunks.

        As long as there are as many chunks as the records count, they are those that are ready: to
        ask the engine for all ten thousand takes three times as long as to list their files.
        """
        ready = [state for state in states if state.status == "ready"]
        if sum(state.chunks for state in ready) == await self._store.count():
            return {state.doc_id for state in ready}
        return await self._store.doc_ids()

    def _suspicious(
        self, found: Scan, states: Sequence[FileState], stored: set[str], *, force: bool
    ) -> Suspicious:
        if force:
            ids = tuple(state.doc_id for state in states)
            return Suspicious(found=found, doc_ids=ids, unchanged=0)
        recipe = self._recipes.for_states() if self._recipes else None
        return set_aside_unchanged(found, states, self.registry, stored=stored, recipe=recipe)

    def _records(self, doc_ids: Sequence[str]) -> list[DocumentRecord]:
        if len(doc_ids) > _FEW_RECORDS:
            wanted = set(doc_ids)
            return [one for one in self._catalogue.documents() if one.doc_id in wanted]
        return [one for one in map(self._catalogue.document, doc_ids) if one is not None]

    def _guard(self, root: Path, found: Scan, records: int, force: bool) -> None:
        if found.files or force or records < self._mass_delete_guard:
            return
        raise ConfigurationError(
            f"the document folder {str(root)!r} is empty, but {records} documents are indexed",
            hint="Check that its disk is there; if you did remove them all, run `ingest --force`.",
        )

    async def _read(
        self,
        root: Path,
        changes: Comparison,
        jobs: Mapping[str, Job],
        unsettled: frozenset[str],
        result: Reconciled,
        *,
        force: bool,
    ) -> tuple[list[tuple[SourceFile, DocumentRecord | None]], frozenset[str]]:
        """The suspects with their fingerprints, and the paths whose job stands as it is."""
        read: list[tuple[SourceFile, DocumentRecord | None]] = []
        kept: set[str] = set()
        for file, record in changes.suspects:
            job = jobs.get(file.path)
            if file.path in unsettled and job is None:
                continue
            if job is not None and not force and same_stat(job.source, file):
                kept.add(file.path)
                continue
            try:
                digest = await asyncio.to_thread(fingerprint, root / file.path)
            except SourceError as error:
                if file.path not in unsettled:
                    result.failed.append(self.fail(source_of(file, ""), record, error))
                continue
            if file.path in unsettled and job is not None and job.source.fingerprint != digest:
                # Being written. The same bytes under another time would have lost nothing.
                continue
            read.append((source_of(file, digest), record))
        return read, frozenset(kept)

    async def _apply(self, plan: ByContent, changes: Comparison, result: Reconciled) -> None:
        """Everything but new work."""
        async with self._publishing:
            for touched in plan.touched:
                self._catalogue.save(touched)
            for moved, source in plan.moved:
                await self._store.rename(moved.doc_id, source.path)
                self._catalogue.save(replace(moved, source=source))
                logger.info("moved %s to %s", moved.source.path, source.path)
            moved_ids = {moved.doc_id for moved, _ in plan.moved}
            gone = [record for record in changes.gone if record.doc_id not in moved_ids]
            await self._remove(gone)
        result.moved, result.removed = len(plan.moved), len(gone)

    def _forget(self, wanted: frozenset[str], unsettled: frozenset[str]) -> None:
        """Drop the jobs that are neither kept nor renewed.

        So is a runnable job whose file is being written: half a file is not to be parsed.
        """
        self._queue.forget(
            job.path
            for job in self._queue.jobs()
            if job.path not in wanted and (job.is_runnable or job.path not in unsettled)
        )

    async def _remove(self, gone: Sequence[DocumentRecord]) -> None:
        if not gone:
            return
        ids = [record.doc_id for record in gone]
        # The store first: a record without chunks is found again, chunks without a record answer.
        await self._store.remove(ids)
        self._catalogue.remove(ids)
        for record in gone:
            logger.info("removed %s", record.source.path)

    def _enqueue(self, work: Sequence[Work], result: Reconciled, *, force: bool) -> None:
        if not work:
            return
        jobs = {job.path: job for job in self._queue.jobs()}
        # Read again: files may have come through since the look began.
        known = {record.source.path: record.doc_id for record in self._catalogue.documents()}
        position = max((job.position for job in jobs.values()), default=0)
        added: list[Job] = []
        for item in work:
            former = jobs.get(item.source.path)
            if force:
                self._spool.clear(item.source.fingerprint)
            elif former is not None and former.source.fingerprint == item.source.fingerprint:
                # Touched, not changed: what it has come to stays.
                added.append(replace(former, source=item.source))
                continue
            position += 1
            held = former is not None and former.state == "paused" and not force
            added.append(
                Job(
                    source=item.source,
                    ticket=self._new_id(),
                    doc_id=known.get(item.source.path)
                    or (former.doc_id if former else self._new_id()),
                    state="paused" if held else "queued",
                    priority=former.priority if former else 0,
                    position=position,
                    queued_at=self._now().astimezone(UTC).isoformat(timespec="seconds"),
                )
            )
            result.queued += 1
        self._queue.enqueue(added)

    def _refuse(self, file: FoundFile, record: DocumentRecord | None) -> FailedFile:
        """Record a file that no loader reads."""
        if record is not None and record.code == "unsupported" and same_stat(record.source, file):
            return failure_of(record)
        suffix = PurePosixPath(file.path).suffix
        kind = f"files ending in {suffix!r}" if suffix else "files without a suffix"
        error = SourceError(
            f"{kind} are not supported", code="unsupported", hint=unsupported_hint()
        )
        return self.fail(source_of(file, ""), record, error)

    def fail(
        self,
        source: SourceFile,
        known: DocumentRecord | None,
        error: SourceError,
        *,
        doc_id: str = "",
    ) -> FailedFile:
        """Record a failure."""
        record = failed_record(
            source,
            known,
            error,
            doc_id=known.doc_id if known else doc_id or self._new_id(),
            loader=self.registry.loader_for(source.path),
            recipes=self._recipes,
            now=self._now(),
        )
        self._catalogue.save(record)
        logger.warning("%s failed: %s", source.path, error.code)
        return failure_of(record)
