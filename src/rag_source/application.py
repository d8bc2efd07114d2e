"""One corpus, ready to be indexed and questioned: what the API and the command line call."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rag_source.checks import SelfChecks
from rag_source.domain.answers import AnswerEvent
from rag_source.domain.catalogue import DocumentRecord
from rag_source.domain.errors import ConfigurationError, RagError, RequestError
from rag_source.domain.evidence import NO_FILTER, SearchFilter, SearchMode, SearchResult
from rag_source.domain.health import Check, Health
from rag_source.domain.jobs import JobAction, QueueStatus
from rag_source.domain.ports import (
    Catalogue,
    ChunkStore,
    Embedder,
    Endpoint,
    Retriever,
    TextGenerator,
    TokenCounter,
)
from rag_source.domain.reports import Drained, IngestReport
from rag_source.generation.answerer import Answerer
from rag_source.ingest import Indexer, Progress
from rag_source.ingest.keeper import IndexKeeper
from rag_source.ingest.watching import WatchPolicy
from rag_source.models.library import ModelLibrary
from rag_source.settings import Settings
from rag_source.store.lock import StateLock
from rag_source.store.state import StateDirectory

__all__ = ["Application", "ModelServers", "check_corpus", "require_models"]

logger = logging.getLogger(__name__)

_ROLES: tuple[Literal["llm"], Literal["embed"]] = ("llm", "embed")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelServers:
    """The models of the profile as the application uses them; nothing has been started yet."""

    embedder: Embedder
    generator: TextGenerator
    counter: TokenCounter
    endpoints: tuple[Endpoint, ...]


class Application:
    """One corpus, ready to be indexed and questioned. Made by `open_application`."""

    def __init__(
        self,
        *,
        settings: Settings,
        library: ModelLibrary,
        state: StateDirectory,
        lock: StateLock,
        catalogue: Catalogue,
        store: ChunkStore,
        servers: ModelServers,
        retriever: Retriever,
        answerer: Answerer,
        indexer: Indexer,
        checks: SelfChecks,
    ) -> None:
        self._settings = settings
        self._library = library
        self._state = state
        self._lock = lock
        self._catalogue = catalogue
        self._store = store
        self._servers = servers
        self._retriever = retriever
        self._answerer = answerer
        self._indexer = indexer
        self._checks = checks
        self._keeper: IndexKeeper | None = None

    async def search(
        self,
        query: str,
        *,
        mode: SearchMode = "hybrid+rerank",
        limit: int = 6,
        filter: SearchFilter = NO_FILTER,
    ) -> SearchResult:
        """Ranked evidence, at most `limit` chunks."""
        return await self._retriever.search(query, mode=mode, limit=limit, filter=filter)

    async def ask(
        self,
        question: str,
        *,
        mode: SearchMode = "hybrid+rerank",
        filter: SearchFilter = NO_FILTER,
    ) -> AsyncIterator[AnswerEvent]:
        """The events of one answer; closing the iterator ends the generation."""
        async with aclosing(self._answerer.ask(question, mode=mode, filter=filter)) as events:
            async for event in events:
                yield event

    async def documents(self) -> list[DocumentRecord]:
        """Every known file, ordered by path."""
        return await asyncio.to_thread(self._catalogue.documents)

    async def ingest(
        self, *, force: bool = False, on_progress: Progress | None = None
    ) -> IngestReport:
        """One pass over the corpus.

        Raises:
            ConfigurationError: The folder is missing or unreadable, or the state is another's.
        """
        root = self._settings.data_dir()
        check_corpus(root)
        self._state.bind_corpus(root)
        return await self._indexer.run(root, force=force, on_progress=on_progress)

    async def queue(self) -> QueueStatus:
        """What is still to be indexed, in the order of work."""
        return await asyncio.to_thread(self._indexer.queue.status)

    async def control(self, action: JobAction, path: str | None = None) -> QueueStatus:
        """Act on the work for a file, or on all of it.

        Raises:
            RequestError: There is no such work, or the action needs a path.
        """
        queue = self._indexer.queue
        if action == "prefer":
            if path is None:
                raise RequestError("`prefer` needs the path of a file", hint="name the file")
            queue.prefer(path)
        elif action == "retry":
            self._indexer.retry(path)
        else:
            {"pause": queue.pause, "resume": queue.resume, "cancel": queue.cancel}[action](path)
        if self._keeper is not None:
            self._keeper.look()
        return queue.status()

    async def keep_index(
        self,
        *,
        on_drained: Callable[[Drained], None] = lambda drained: None,
        on_progress: Progress | None = None,
    ) -> None:
        """Keep the index up to date with the folder until cancelled.

        A folder that was there once and is not now, such as that of an unplugged disk, is waited
        for.

        Raises:
            ConfigurationError: A new folder is missing or unreadable, or the state is another's.
        """
        data = self._settings.data
        root = self._settings.data_dir()
        if self._state.corpus() != root:
            check_corpus(root)
            self._state.bind_corpus(root)
        self._keeper = IndexKeeper(
            self._indexer,
            root,
            watching=WatchPolicy(mode=data.watch, poll_s=data.poll_s),
            ignored=[self._state.path],
            on_drained=on_drained,
            on_progress=on_progress,
        )
        try:
            await self._keeper.run()
        finally:
            self._keeper = None

    async def health(self) -> Health:
        """What there is and what is missing; starts nothing."""
        records = await self.documents()
        statuses = self._library.statuses(self._settings.profile)
        problems = [
            f"model {status.pin.name!r} is {status.state}: "
            f"run `rag-source models fetch {self._settings.profile}`"
            for status in statuses
            if status.state != "ready"
        ]
        if not any(record.status == "ready" for record in records):
            problems.append("no document can be searched: run `rag-source ingest`")
        queue = await self.queue()
        if queue.paused:
            problems.append("indexing is paused: run `rag-source jobs resume`")
        if self._keeper is not None:
            problems += self._keeper.problems
        return Health(
            profile=self._settings.profile,
            documents=len(records),
            failed_documents=sum(record.status == "failed" for record in records),
            chunks=await self._store.count(),
            waiting_jobs=sum(job.is_runnable for job in queue.jobs),
            models={status.pin.role: status.pin.name for status in statuses},
            problems=tuple(problems),
        )

    async def checks(self) -> AsyncIterator[Check]:
        """The self-checks as they are done; starts the models."""
        async for check in self._checks.run():
            yield check

    async def repair(self) -> int:
        """Have documents indexed anew whose record and chunks disagree; returns how many.

        The next pass over the folder does the work.
        """
        wrong = await self._checks.repair()
        if self._keeper is not None:
            self._keeper.look()
        return wrong

    def check_models(self) -> None:
        """Raise ModelMissingError if a model of the profile is not in the cache."""
        require_models(self._library, self._settings.profile)

    async def warm_up(self) -> None:
        """Start the model servers, so that the first question does not wait for them."""
        for endpoint in self._servers.endpoints:
            try:
                await endpoint.address()
            except RagError as error:
                logger.warning("a model server did not start: %s", error.message)

    def announce(self, url: str) -> None:
        """Let other commands know where this process answers."""
        self._lock.announce(url)


def require_models(library: ModelLibrary, profile: str) -> None:
    """Raise ModelMissingError if a model of the profile is not in the cache."""
    for role in _ROLES:
        library.require(profile, role)


def check_corpus(root: Path) -> None:
    """Raise ConfigurationError if the corpus is not a folder that can be listed."""
    if not root.is_dir():
        what = "is not a folder" if root.exists() else "does not exist"
        raise ConfigurationError(
            f"the folder of documents {str(root)!r} {what}",
            hint="create it, or set RAG_SOURCE_DATA_DIR to another",
            code="corpus_missing",
        )
