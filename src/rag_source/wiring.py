"""Builds the objects from the settings and introduces them to each other; nothing else does.

An `Application` holds one state directory. Opening it starts no model server: each starts when it
is first asked, or by `warm_up`.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import httpx

from rag_source.clients.embeddings import MULTILINGUAL_E5_SMALL_Q4, HttpEmbedder
from rag_source.clients.llama_server import LlamaGenerator
from rag_source.domain.answers import AnswerEvent
from rag_source.domain.catalogue import DocumentRecord
from rag_source.domain.errors import ConfigurationError, RagError
from rag_source.domain.evidence import NO_FILTER, SearchFilter, SearchMode, SearchResult
from rag_source.domain.health import Health
from rag_source.domain.ports import (
    Catalogue,
    ChunkStore,
    Embedder,
    Endpoint,
    Retriever,
    TextGenerator,
    TokenCounter,
)
from rag_source.domain.reports import IngestReport
from rag_source.generation.answerer import Answerer
from rag_source.ingest import FileInspection, Indexer, Parser, Progress, inspect
from rag_source.ingest.ocr import OcrPolicy
from rag_source.ingest.workers import ParserPool
from rag_source.models.index import configured_index
from rag_source.models.library import ModelLibrary
from rag_source.models.lockfile import load_lock
from rag_source.retrieval import (
    Bm25Encoder,
    CalibratedReranker,
    HybridRetriever,
    load_reranker_model,
)
from rag_source.runtime.supervisor import ManagedServer
from rag_source.settings import Settings
from rag_source.store.catalogue import SqliteCatalogue
from rag_source.store.edge import EdgeChunkStore
from rag_source.store.lock import StateLock
from rag_source.store.state import StateDirectory

__all__ = ["Application", "ModelServers", "inspect_files", "model_library", "open_application"]

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
        return Health(
            profile=self._settings.profile,
            documents=len(records),
            failed_documents=sum(record.status == "failed" for record in records),
            chunks=await self._store.count(),
            models={status.pin.role: status.pin.name for status in statuses},
            problems=tuple(problems),
        )

    def check_models(self) -> None:
        """Raise ModelMissingError if a model of the profile is not in the cache."""
        for role in _ROLES:
            self._library.require(self._settings.profile, role)

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


@asynccontextmanager
async def open_application(settings: Settings, *, purpose: str) -> AsyncIterator[Application]:
    """Hold the state directory and everything that works on it.

    Args:
        settings: The installation's settings.
        purpose: What this process does, shown to others who want the same state.

    Raises:
        StateInUseError: Another process holds it; the message names that process.
        ModelMissingError: The token ranks of the answer model are not in the cache.
        ConfigurationError: The state cannot be used.
    """
    state = StateDirectory(settings.state_dir())
    state.prepare()
    library = model_library(settings)
    async with AsyncExitStack() as stack:
        lock = stack.enter_context(StateLock(state.path, purpose))
        servers = await stack.enter_async_context(open_models(settings, library))
        catalogue = stack.enter_context(closing(SqliteCatalogue(state.catalogue)))
        store = stack.enter_context(EdgeChunkStore(state.vectors, servers.embedder.model))
        parser = await stack.enter_async_context(open_parser(settings))
        sparse = Bm25Encoder()
        reranker = CalibratedReranker(
            store=store, model=load_reranker_model(), threshold=settings.search.threshold
        )
        retriever = HybridRetriever(
            store=store, embedder=servers.embedder, sparse=sparse, reranker=reranker
        )
        yield Application(
            settings=settings,
            library=library,
            state=state,
            lock=lock,
            catalogue=catalogue,
            store=store,
            servers=servers,
            retriever=retriever,
            answerer=Answerer(
                retriever=retriever,
                generator=servers.generator,
                catalogue=catalogue,
                counter=servers.counter,
            ),
            indexer=Indexer(
                catalogue=catalogue,
                store=store,
                embedder=servers.embedder,
                sparse=sparse,
                counter=servers.counter,
                parser=parser,
            ),
        )


@asynccontextmanager
async def open_models(settings: Settings, library: ModelLibrary) -> AsyncIterator[ModelServers]:
    """The profile's model servers as child processes; each starts when it is first asked."""
    async with AsyncExitStack() as stack:

        async def client() -> httpx.AsyncClient:
            # A proxy set for the outside must not see what goes to our own children. They speak
            # plain HTTP on loopback: loading certificates for them would cost 0.2 s a client.
            return await stack.enter_async_context(
                httpx.AsyncClient(trust_env=False, verify=False)  # noqa: S501 - no TLS at all.
            )

        llm = await stack.enter_async_context(
            ManagedServer(
                "answer model",
                _command(
                    "llm_server",
                    model=library.path(settings.profile, "llm"),
                    context_tokens=settings.llm.context_size,
                    threads=settings.llm.threads,
                ),
                http=await client(),
                before_start=lambda: library.require(settings.profile, "llm"),
            )
        )
        embed = await stack.enter_async_context(
            ManagedServer(
                "embedder",
                _command("embed_server", threads=settings.embed.threads),
                http=await client(),
                before_start=lambda: library.require(settings.profile, "embed"),
            )
        )
        yield ModelServers(
            embedder=HttpEmbedder(embed, await client(), MULTILINGUAL_E5_SMALL_Q4),
            generator=LlamaGenerator(llm, await client()),
            counter=_LazyCounter(lambda: library.ranks(settings.profile)),
            endpoints=(embed, llm),
        )


def _command(program: str, **options: object) -> list[str]:
    """How to start one of `runtime`'s programs with this interpreter."""
    command = [sys.executable, "-m", f"rag_source.runtime.{program}"]
    for name, value in options.items():
        command += [f"--{name.replace('_', '-')}", str(value)]
    return command


class _LazyCounter:
    """Loads the vocabulary at the first count: listing documents must not pay for it."""

    def __init__(self, load: Callable[[], TokenCounter]) -> None:
        self._load = load
        self._counter: TokenCounter | None = None

    def count(self, text: str) -> int:
        if self._counter is None:
            self._counter = self._load()
        return self._counter.count(text)


def model_library(settings: Settings) -> ModelLibrary:
    """The model files of this user."""
    index = configured_index(settings.index_values(), settings.index_files())
    return ModelLibrary(load_lock(), settings.cache_dir() / "models", index_url=index)


@asynccontextmanager
async def open_parser(settings: Settings) -> AsyncIterator[Parser]:
    """Worker processes that parse files; they start with the first file."""
    languages = tuple(settings.ocr.languages.split("+"))
    async with ParserPool(ocr=OcrPolicy(mode=settings.ocr.mode, languages=languages)) as parser:
        yield parser


async def inspect_files(settings: Settings, path: Path) -> list[FileInspection]:
    """What ingestion extracts from a file or a folder; needs no models."""
    async with open_parser(settings) as parser:
        return await inspect(path, parser=parser)


def check_corpus(root: Path) -> None:
    """Raise ConfigurationError if the corpus is not a folder that can be listed."""
    if not root.is_dir():
        what = "is not a folder" if root.exists() else "does not exist"
        raise ConfigurationError(
            f"the folder of documents {str(root)!r} {what}",
            hint="create it, or set RAG_SOURCE_DATA_DIR to another",
            code="corpus_missing",
        )
