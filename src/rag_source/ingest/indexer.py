"""Bring the index up to date with the folder: look at it, queue what has changed, work it off.

The two halves may run side by side: `reconcile` whenever the folder may have changed, `drain` for
as long as there are jobs. `run` does both and reports, for one who waits for the result.
"""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path

from rag_source.domain.errors import RagError, RequestError, SourceError
from rag_source.domain.jobs import Job
from rag_source.domain.ports import (
    Catalogue,
    ChunkStore,
    Embedder,
    JobTable,
    SparseEncoder,
    Spool,
    TokenCounter,
)
from rag_source.domain.reports import Drained, FailedFile, IngestReport
from rag_source.ingest.binding import Binding
from rag_source.ingest.chunker import ChunkingPolicy
from rag_source.ingest.draining import Drain, Progress
from rag_source.ingest.loader_tools import PageProgress
from rag_source.ingest.measuring import measure_with
from rag_source.ingest.parse_under_way import Parsed
from rag_source.ingest.parsing import Parser
from rag_source.ingest.pipeline import DocumentPipeline, IndexingPolicy
from rag_source.ingest.queue import InterruptedJobError, JobQueue
from rag_source.ingest.recipes import Recipes
from rag_source.ingest.reconciler import Reconciled, Reconciler
from rag_source.ingest.registry import LoaderRegistry
from rag_source.ingest.settling import Settling
from rag_source.ingest.situating import Situator

__all__ = ["Indexer", "IndexingPolicy", "Progress"]

logger = logging.getLogger(__name__)

_COSTLY_PARSE_S = 1.0
"""A parse that took longer is spooled; a quicker one is quicker made again than written."""


@dataclass(slots=True)
class _Totals:
    """What has come through since the indexer was made."""

    added: int = 0
    updated: int = 0
    chunks: int = 0
    failed: list[FailedFile] = field(default_factory=list)

    def copy(self) -> _Totals:
        return replace(self, failed=list(self.failed))

    def since(self, before: _Totals) -> Drained:
        return Drained(
            added=self.added - before.added,
            updated=self.updated - before.updated,
            chunks=self.chunks - before.chunks,
            failed=tuple(self.failed[len(before.failed) :]),
        )


class Indexer:
    """Owns no resource: whoever made the ports closes them.

    Args:
        catalogue: The records and parses.
        store: The chunks.
        jobs: The queue's table.
        spool: What unfinished work has cost.
        embedder: Makes the vectors.
        sparse: Makes the term weights.
        counter: Counts tokens of the answer model.
        parser: Parses files.
        registry: Names the loaders; made at the first look if not given.
        chunking: How chunks are cut.
        policy: How a pass works.
        situator: Writes situating texts; without one they are the headings.
        turn: Held for one file at a time; shared by indexers that must take turns.
        recipes: The settings of today: what others made is made anew. Without them settings are
            not compared.
        can_embed: As of `Binding`.
    """

    def __init__(
        self,
        *,
        catalogue: Catalogue,
        store: ChunkStore,
        jobs: JobTable,
        spool: Spool,
        embedder: Embedder,
        sparse: SparseEncoder,
        counter: TokenCounter,
        parser: Parser,
        registry: LoaderRegistry | None = None,
        chunking: ChunkingPolicy | None = None,
        policy: IndexingPolicy | None = None,
        situator: Situator | None = None,
        recipes: Recipes | None = None,
        turn: asyncio.Lock | None = None,
        can_embed: bool = True,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        new_id: Callable[[], str] = lambda: uuid.uuid4().hex,
    ) -> None:
        self.queue = JobQueue(jobs, spool)
        self.policy = policy or IndexingPolicy()
        self._catalogue = catalogue
        self._sparse = sparse
        self._counter = counter
        self._parser = parser
        self._registry = registry
        self._now = now
        self._new_id = new_id
        self._looking = asyncio.Lock()
        self._draining = asyncio.Lock()
        self._publishing = asyncio.Lock()
        self.turn = turn or asyncio.Lock()
        self._settled = False
        self._totals = _Totals()
        self._bind(
            Binding(
                store=store,
                embedder=embedder,
                spool=spool,
                chunking=chunking or ChunkingPolicy(),
                situator=situator,
                recipes=recipes,
                can_embed=can_embed,
            )
        )

    def _bind(self, binding: Binding) -> None:
        self._binding = binding
        self._reconciler = Reconciler(
            catalogue=self._catalogue,
            store=binding.store,
            queue=self.queue,
            spool=binding.spool,
            registry=self._registry,
            mass_delete_guard=self.policy.mass_delete_guard,
            publishing=self._publishing,
            recipes=binding.recipes,
            now=self._now,
            new_id=self._new_id,
        )
        self._pipeline = DocumentPipeline(
            catalogue=self._catalogue,
            store=binding.store,
            embedder=binding.embedder,
            sparse=self._sparse,
            spool=binding.spool,
            queue=self.queue,
            measure=measure_with(binding.embedder, self._counter),
            chunking=binding.chunking,
            policy=self.policy,
            situator=binding.situator,
            recipes=binding.recipes,
            now=self._now,
            publishing=self._publishing,
        )

    @property
    def binding(self) -> Binding:
        """What it works with at the moment."""
        return self._binding

    @asynccontextmanager
    async def still(self) -> AsyncIterator[None]:
        """Within, nothing is looked for, renamed or removed.

        If the caller holds `turn`, nothing becomes another version of itself either.
        """
        async with self._looking, self._publishing:
            yield

    def rebind(self, binding: Binding) -> None:
        """Work by another model into another collection from now on, on the same queue.

        For one who holds `turn` and is within `still`.
        """
        self._registry = self._reconciler.registry
        self._bind(binding)
        self.queue.use(binding.spool)

    async def settle(self) -> None:
        """Heal what an earlier process left half done; before anything is searched or written."""
        if not self._settled:
            await self._pipeline.settle()
            # A job may have been taken off the queue, and what it had in the spool left there.
            self.queue.sweep()
            self._settled = True

    async def run(
        self, root: Path, *, force: bool = False, on_progress: Progress | None = None
    ) -> IngestReport:
        """One pass over the folder, to the end of the queue.

        With `force` every file is parsed and embedded again. A file that fails is reported and
        never stops the others; it is tried again when it, its loader or the settings have
        changed.

        Raises:
            ConfigurationError: The folder is missing, unreadable or suspiciously empty.
            BackendError: The embedder or the store failed; what was done stays done.
        """
        started = time.monotonic()
        # Not what `drain` gives: another one may be at work on the queue already.
        before = self._totals.copy()
        found = await self.reconcile(root, force=force)
        await self.drain(root, on_progress=on_progress)
        drained = self._totals.since(before)
        failed = [*found.failed, *drained.failed]
        return IngestReport(
            added=drained.added,
            updated=drained.updated + found.moved,
            removed=found.removed,
            unchanged=found.unchanged,
            failed=tuple(sorted(failed, key=lambda failure: failure.path)),
            chunks=drained.chunks,
            seconds=time.monotonic() - started,
        )

    async def reconcile(
        self, root: Path, *, force: bool = False, settling: Settling | None = None
    ) -> Reconciled:
        """Look at the folder once and queue what has changed.

        Args:
            root: The folder.
            force: Queue every file.
            settling: Leaves files that are still being written for a later look.

        Raises:
            ConfigurationError: The folder is missing, unreadable or suspiciously empty.
            BackendError: The store failed; what was done stays done.
        """
        async with self._looking:
            await self.settle()
            found = await self._reconciler.look(root, force=force, settling=settling)
            if not self.queue.jobs():
                self.queue.sweep()
            return found

    async def drain(self, root: Path, *, on_progress: Progress | None = None) -> Drained:
        """Work until no job is runnable; the next file is parsed while this one is embedded.

        The queue waits while its embedding model cannot be run.

        Raises:
            BackendError: A model server or the store failed; the jobs stay queued.
        """
        async with self._draining:
            await self.settle()
            before = self._totals.copy()
            if not self._binding.can_embed:
                return Drained()
            await Drain(
                queue=self.queue,
                turn=self.turn,
                parse=lambda job, on_page: self.parse(job, root, on_page),
                index=self.index,
                on_progress=on_progress or (lambda done, total, path: None),
            ).work()
            return self._totals.since(before)

    def retry(self, path: str | None = None) -> None:
        """Let a failed or cancelled file be tried again, or all of them; the next look finds them.

        Raises:
            RequestError: The file has neither failed nor been cancelled.
        """
        failed = [
            r for r in self._catalogue.documents() if r.code and path in (None, r.source.path)
        ]
        cancelled = [
            job.path
            for job in self.queue.jobs()
            if job.state == "cancelled" and path in (None, job.path)
        ]
        if path is not None and not failed and not cancelled:
            raise RequestError(
                f"{path!r} has not failed",
                code="not_found",
                hint="`rag-source docs` lists the files and their states.",
            )
        for record in failed:
            # As if by an older loader: nothing else about it is forgotten.
            self._catalogue.save(replace(record, loader_version=0))
        for name in cancelled:
            self.queue.resume(name)

    async def parse(self, job: Job, root: Path, on_progress: PageProgress) -> Parsed:
        """The file's parse, from the spool if it was paid for before."""
        fingerprint = job.source.fingerprint
        loader = self._reconciler.registry.loader_for(job.path)
        made_by = f"{loader.name}:{loader.version}" if loader else ""
        spool, recipes = self._binding.spool, self._binding.recipes
        recipe = f"{made_by}:{recipes.parsing if recipes else ''}"
        spooled = await asyncio.to_thread(spool.parse, fingerprint, recipe=recipe)
        if spooled is not None:
            return spooled
        started = time.monotonic()
        try:
            parsed = await self._parser.parse(root / job.path, on_progress=on_progress)
            _check_unchanged(root / job.path, job)
        except SourceError as error:
            return error
        if time.monotonic() - started > _COSTLY_PARSE_S:
            await asyncio.to_thread(spool.keep_parse, fingerprint, parsed, recipe=recipe)
        return parsed

    async def index(self, job: Job, parsed: Parsed) -> None:
        """Take a parsed file to its end: `ready` or `failed`, and off the queue.

        Raises:
            InterruptedJobError, BackendError: It has not come to an end.
        """
        known = self._catalogue.document(job.doc_id)
        try:
            self._totals.chunks += await self._indexed(job, parsed)
        except SourceError as error:
            failure = self._reconciler.fail(job.source, known, error, doc_id=job.doc_id)
            self._totals.failed.append(failure)
            self.queue.finish(job)
            return
        if known is None or known.status == "failed":
            self._totals.added += 1
        else:
            self._totals.updated += 1

    async def _indexed(self, job: Job, parsed: Parsed) -> int:
        if isinstance(parsed, SourceError):
            raise parsed
        try:
            return await self._pipeline.index(job, parsed)
        except (RagError, InterruptedJobError):
            raise
        except Exception as error:
            # A fault of ours: it costs this file, and not the service and all files behind it.
            logger.exception("indexing %s failed", job.path)
            raise SourceError(
                f"{job.path!r} could not be indexed ({type(error).__name__})",
                code="parser_error",
                hint="The log says where it failed; please report it. The other files go on.",
            ) from error


def _check_unchanged(path: Path, job: Job) -> None:
    """Raise SourceError if the file is not the one whose fingerprint the job has."""
    try:
        stat = path.stat()
    except OSError:
        stat = None
    if stat and (stat.st_size, stat.st_mtime_ns) == (job.source.size_bytes, job.source.mtime_ns):
        return
    raise SourceError(
        f"{job.path!r} was changed while it was read",
        code="unreadable",
        hint="The next pass reads it again.",
    )
