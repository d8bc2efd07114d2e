"""Builds the objects from the settings and introduces them to each other; nothing else does.

An `Application` holds one state directory. Opening it starts no model server: each starts when it
is first asked, or by `warm_up`.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path

import httpx

from rag_source.application import Application, ModelServers, check_corpus, require_models
from rag_source.checks import SelfChecks
from rag_source.clients.embeddings import MULTILINGUAL_E5_SMALL_Q4, HttpEmbedder
from rag_source.clients.llama_server import LlamaGenerator
from rag_source.clients.precedence import QuestionsFirst
from rag_source.domain.ports import (
    TextGenerator,
    TokenCounter,
)
from rag_source.generation.answerer import Answerer
from rag_source.generation.prompts import neutralise
from rag_source.ingest import FileInspection, Indexer, Parser, Selection, inspect
from rag_source.ingest.chunker import ChunkingPolicy
from rag_source.ingest.ocr import OcrPolicy
from rag_source.ingest.ocr_tesseract import Tesseract
from rag_source.ingest.recipes import Recipes
from rag_source.ingest.situating import LlmSituator, Situator
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
from rag_source.store.jobs import SqliteJobTable
from rag_source.store.lock import StateLock
from rag_source.store.situating import SqliteSituatingCache
from rag_source.store.spool import SqliteSpool
from rag_source.store.state import StateDirectory

__all__ = [
    "Application",
    "ModelServers",
    "SharedParts",
    "inspect_files",
    "model_library",
    "open_application",
    "open_project",
    "open_shared",
]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedParts:
    """What all projects of one process use together.

    `turn` is held by the project that is being indexed: two at a time would only be slower.
    """

    library: ModelLibrary
    servers: ModelServers
    generators: QuestionsFirst
    turn: asyncio.Lock


@asynccontextmanager
async def open_shared(settings: Settings) -> AsyncIterator[SharedParts]:
    """The models, none of them started yet."""
    library = model_library(settings)
    async with open_models(settings, library) as servers:
        yield SharedParts(
            library=library,
            servers=servers,
            generators=QuestionsFirst(servers.generator),
            turn=asyncio.Lock(),
        )


@asynccontextmanager
async def open_application(settings: Settings, *, purpose: str) -> AsyncIterator[Application]:
    """The project of the settings, with models of its own. Arguments and errors: `open_project`."""
    async with (
        open_shared(settings) as shared,
        open_project(settings, shared, purpose=purpose) as application,
    ):
        yield application


@asynccontextmanager
async def open_project(
    settings: Settings, shared: SharedParts, *, purpose: str
) -> AsyncIterator[Application]:
    """Hold a state directory and everything that works on it.

    Args:
        settings: Those of the project: its folder and its state.
        shared: What it uses together with other projects.
        purpose: What this process does, shown to others who want the same state.

    Raises:
        StateInUseError: Another process holds it; the message names that process.
        ModelMissingError: The token ranks of the answer model are not in the cache.
        ConfigurationError: The state cannot be used.
    """
    state = StateDirectory(settings.state_dir())
    state.prepare()
    library, servers, generators = shared.library, shared.servers, shared.generators
    async with AsyncExitStack() as stack:
        lock = stack.enter_context(StateLock(state.path, purpose))
        catalogue = stack.enter_context(closing(SqliteCatalogue(state.catalogue)))
        store = stack.enter_context(EdgeChunkStore(state.vectors, servers.embedder.model))
        parser = await stack.enter_async_context(open_parser(settings, state.pages))
        sparse = Bm25Encoder()
        reranker = CalibratedReranker(
            store=store, model=load_reranker_model(), threshold=settings.search.threshold
        )
        retriever = HybridRetriever(
            store=store, embedder=servers.embedder, sparse=sparse, reranker=reranker
        )
        situator = _situator(settings, servers, generators.for_ingestion, catalogue)
        ocr = _ocr(settings)
        tesseract = Tesseract(ocr.languages, ocr.timeout_s)
        chunking = ChunkingPolicy()
        indexer = Indexer(
            catalogue=catalogue,
            store=store,
            jobs=SqliteJobTable(catalogue.database),
            spool=SqliteSpool(
                catalogue.database, model=repr(servers.embedder.model), pages=state.pages
            ),
            embedder=servers.embedder,
            sparse=sparse,
            counter=servers.counter,
            parser=parser,
            chunking=chunking,
            situator=situator,
            recipes=Recipes(
                chunking=chunking,
                ocr=ocr,
                situating=situator.digest if situator else "",
                ocr_works=tesseract.works,
            ),
            turn=shared.turn,
        )
        # Before anything is searched: a process that was killed may have left a swap half done.
        await indexer.settle()
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
                generator=generators.for_questions,
                catalogue=catalogue,
                counter=servers.counter,
            ),
            indexer=indexer,
            checks=SelfChecks(
                catalogue=catalogue,
                store=store,
                embedder=servers.embedder,
                sparse=sparse,
                reranker=reranker,
                generator=servers.generator,
                state=state.path,
                context_size=settings.llm.context_size,
                check_corpus=lambda: check_corpus(settings.data_dir()),
                check_models=lambda: require_models(library, settings.profile),
                check_ocr=tesseract.check if ocr.mode != "off" else lambda: None,
            ),
        )


def _situator(
    settings: Settings,
    servers: ModelServers,
    generator: TextGenerator,
    catalogue: SqliteCatalogue,
) -> Situator | None:
    """Who writes situating texts, unless headings alone are to situate chunks."""
    if settings.contextual == "headings":
        return None
    return LlmSituator(
        generator=generator,
        embedder=servers.embedder,
        counter=servers.counter,
        cache=SqliteSituatingCache(catalogue.database),
        model=load_lock().pin(settings.profile, "llm").name,
        neutralise=neutralise,
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
async def open_parser(settings: Settings, page_spool: Path | None = None) -> AsyncIterator[Parser]:
    """Worker processes that parse files; they start with the first file.

    `page_spool` is where they keep the pages that OCR has read, for a parse that is cut short.
    """
    async with ParserPool(ocr=_ocr(settings), page_spool=page_spool) as parser:
        yield parser


def _ocr(settings: Settings) -> OcrPolicy:
    return OcrPolicy(mode=settings.ocr.mode, languages=tuple(settings.ocr.languages.split("+")))


async def inspect_files(
    settings: Settings, selection: Selection
) -> AsyncGenerator[FileInspection, None]:
    """What ingestion extracts from files, one after the other as they are done; needs no models."""
    async with (
        open_parser(settings) as parser,
        aclosing(inspect(selection, parser=parser)) as files,
    ):
        async for file in files:
            yield file
