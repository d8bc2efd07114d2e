"""One corpus, ready to be indexed and questioned: what the API and the command line call."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing
from dataclasses import replace

from rag_source.checks import check_corpus
from rag_source.domain.answers import AnswerDone, AnswerEvent
from rag_source.domain.catalogue import DocumentRecord
from rag_source.domain.errors import RagError, RequestError
from rag_source.domain.evidence import NO_FILTER, SearchFilter, SearchMode, SearchResult
from rag_source.domain.health import Check, Health
from rag_source.domain.jobs import JobAction, QueueStatus
from rag_source.domain.ports import Catalogue
from rag_source.domain.reports import Drained, IngestReport, Uploaded
from rag_source.domain.verification import Verification
from rag_source.engine import Engine
from rag_source.generation.answerer import Answerer
from rag_source.generation.sourcing import QuoteFinder
from rag_source.history import History
from rag_source.ingest import Indexer, Progress
from rag_source.ingest.keeper import IndexKeeper
from rag_source.ingest.uploads import receive_upload
from rag_source.ingest.watching import WatchPolicy
from rag_source.model_health import model_problems, model_warnings
from rag_source.model_servers import ModelServers, require_models
from rag_source.model_switch import ModelSwitch
from rag_source.models.library import ModelLibrary
from rag_source.retrieval import SwitchableRetriever
from rag_source.settings import Settings
from rag_source.store.lock import StateLock
from rag_source.store.state import StateDirectory
from rag_source.viewing import DocumentViews

__all__ = ["Application"]

logger = logging.getLogger(__name__)


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
        engine: Engine,
        servers: ModelServers,
        retriever: SwitchableRetriever,
        answerer: Answerer,
        indexer: Indexer,
        views: DocumentViews,
        history: History,
        switch: ModelSwitch | None = None,
        tidy: Callable[[], None] = lambda: None,
    ) -> None:
        self._settings = settings
        self._library = library
        self._state = state
        self._lock = lock
        self._catalogue = catalogue
        self._engine = engine
        self._servers = servers
        self._retriever = retriever
        self._answerer = answerer
        self._indexer = indexer
        self._views = views
        self._history = history
        self._quotes = QuoteFinder(search=self.search, catalogue=catalogue)
        self._switch = switch
        self._tidy = tidy
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
        keep: bool = False,
        conversation_id: str = "",
    ) -> AsyncIterator[AnswerEvent]:
        """The events of one answer; closing the iterator ends the generation.

        With `keep` the answer goes into that conversation, or into a new one without an id.
        """
        async with (
            aclosing(self._answerer.ask(question, mode=mode, filter=filter)) as answering,
            aclosing(self._marked(answering)) as marked,
        ):
            events = self._history.recorded(marked, conversation_id) if keep else marked
            async with aclosing(events):
                async for event in events:
                    yield event

    async def _marked(
        self, events: AsyncIterator[AnswerEvent]
    ) -> AsyncGenerator[AnswerEvent, None]:
        """The events, the answer saying whether text left the machine for it."""
        async for event in events:
            if isinstance(event, AnswerDone) and self._servers.outflows:
                answer = replace(event.answer, sovereignty="external")
                yield replace(event, answer=answer)
            else:
                yield event

    def use(self, engine: Engine) -> asyncio.Event:
        """Search, count and check another collection from now on.

        Returns:
            Set as soon as no search is under way on the former one.
        """
        self._engine = engine
        return self._retriever.switch(engine.retriever)

    async def verify(self, quote: str, *, filter: SearchFilter = NO_FILTER) -> Verification:
        """Where a quote comes from, and whether it says what stands there."""
        return await self._quotes.find(quote, filter=filter)

    @property
    def views(self) -> DocumentViews:
        """What a reader opens to check an answer."""
        return self._views

    @property
    def history(self) -> History:
        """The conversations, and the audit log."""
        return self._history

    async def upload(
        self, path: str, pieces: AsyncIterator[bytes], *, overwrite: bool = False
    ) -> Uploaded:
        """Put a file into the folder; it is indexed as soon as it has been seen there.

        Arguments and errors as of `ingest.uploads.receive_upload`.
        """
        root = self._settings.data_dir()
        check_corpus(root)
        done = await receive_upload(root, path, pieces, overwrite=overwrite)
        self._history.note("document.upload")
        if self._keeper is not None:
            self._keeper.look()
        return done

    async def documents(self) -> list[DocumentRecord]:
        """Every known file, ordered by path."""
        return await asyncio.to_thread(self._catalogue.documents)

    async def ingest(
        self, *, force: bool = False, on_progress: Progress | None = None
    ) -> IngestReport:
        """One pass over the corpus; if the index is of another embedding model than the settings
        name, it is made anew first.

        Raises:
            ConfigurationError: The folder is missing or unreadable, or the state is another's.
        """
        root = self._settings.data_dir()
        check_corpus(root)
        self._state.bind_corpus(root)
        if self._keeper is None:
            await asyncio.to_thread(self._tidy)
            if self._switch is not None:
                await self._switch.run(on_progress=on_progress or (lambda done, total, path: None))
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
            await asyncio.to_thread(self._tidy)
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._keeper.run())
                if self._switch is not None:
                    tasks.create_task(self._switch.run_behind())
        finally:
            self._keeper = None

    async def health(self) -> Health:
        """What there is and what is missing; starts nothing."""
        records = await self.documents()
        servers, engine, switch = self._servers, self._engine, self._switch
        statuses = [
            status
            for status in self._library.statuses(self._settings.profile)
            if status.pin.role in servers.roles
        ]
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
            chunks=await engine.store.count(),
            waiting_jobs=sum(job.is_runnable for job in queue.jobs),
            models={
                **{status.pin.role: status.pin.name for status in statuses},
                **servers.services,
            },
            problems=(*problems, *model_problems(engine, switch)),
            warnings=model_warnings(engine, servers, switch, records),
            outflows=servers.outflows,
            reembedding=switch.status if switch else None,
        )

    async def checks(self) -> AsyncIterator[Check]:
        """The self-checks as they are done; starts the models."""
        async for check in self._engine.checks.run():
            yield check

    async def repair(self) -> int:
        """Have documents indexed anew whose record and chunks disagree; returns how many.

        The next pass over the folder does the work.
        """
        wrong = await self._engine.checks.repair()
        if self._keeper is not None:
            self._keeper.look()
        return wrong

    def check_models(self) -> None:
        """Raise ModelMissingError if a model of the profile is not in the cache."""
        require_models(self._library, self._settings.profile, self._servers.roles)

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
