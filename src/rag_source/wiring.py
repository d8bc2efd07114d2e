"""Builds the objects from the settings and introduces them to each other; nothing else does.

An `Application` holds one state directory. Opening it starts no model server: each starts when it
is first asked, or by `warm_up`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, closing
from dataclasses import dataclass
from pathlib import Path

from rag_source.application import Application
from rag_source.clients.precedence import QuestionsFirst
from rag_source.domain.catalogue import DocumentRecord
from rag_source.domain.chunks import EmbeddingModel
from rag_source.engine import Engine, EngineParts, ocr_policy
from rag_source.generation.answerer import Answerer
from rag_source.history import History
from rag_source.ingest import FileInspection, Indexer, Parser, ParsingPolicy, Selection, inspect
from rag_source.ingest.ocr import OcrPolicy
from rag_source.ingest.reembedding import CollectionBuilder
from rag_source.ingest.workers import ParserPool, WorkerPolicy
from rag_source.model_servers import ModelServers, open_models
from rag_source.model_switch import ModelSwitch
from rag_source.models.index import configured_index
from rag_source.models.library import ModelLibrary
from rag_source.models.lockfile import load_lock
from rag_source.retrieval import SwitchableRetriever
from rag_source.settings import Settings
from rag_source.store.audit import AuditTrail, SqliteAuditLog
from rag_source.store.catalogue import SqliteCatalogue
from rag_source.store.collection import bound_model
from rag_source.store.collections import FIRST_COLLECTION, clear_collections, collection_name
from rag_source.store.conversations import SqliteConversations
from rag_source.store.jobs import SqliteJobTable
from rag_source.store.lock import StateLock
from rag_source.store.rebuilding import SqliteRebuildTable
from rag_source.store.spool import clear_other_models
from rag_source.store.state import StateDirectory
from rag_source.viewing import DocumentViews, Picturer

__all__ = [
    "Application",
    "ModelServers",
    "SharedParts",
    "inspect_files",
    "model_library",
    "open_application",
    "open_models",
    "open_project",
    "open_shared",
]

logger = logging.getLogger(__name__)

# A page takes 0.1 to 1 s; a hostile one must not hold the others up for long.
_DRAWING = ParsingPolicy(timeout_s=20)
_DRAWERS = WorkerPolicy(workers=2, memory_bytes=1024**3)


@dataclass(frozen=True, slots=True, kw_only=True)
class SharedParts:
    """What all projects of one process use together.

    `turn` is held by the project that is being indexed: two at a time would only be slower.
    """

    library: ModelLibrary
    servers: ModelServers
    generators: QuestionsFirst
    turn: asyncio.Lock
    picturer: Picturer


@asynccontextmanager
async def open_shared(settings: Settings) -> AsyncIterator[SharedParts]:
    """The models and those who draw pages, none of them started yet."""
    library = model_library(settings)
    async with (
        open_models(settings, library) as servers,
        # Apart from those that parse: a reader does not wait for a scan of 300 pages.
        ParserPool(_DRAWING, workers=_DRAWERS, ocr=OcrPolicy(mode="off")) as picturer,
    ):
        yield SharedParts(
            library=library,
            servers=servers,
            generators=QuestionsFirst(servers.generator),
            turn=asyncio.Lock(),
            picturer=picturer,
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
    servers, generators = shared.servers, shared.generators
    async with AsyncExitStack() as stack:
        lock = stack.enter_context(StateLock(state.path, purpose))
        catalogue = stack.enter_context(closing(SqliteCatalogue(state.catalogue)))
        parts = EngineParts(
            settings=settings,
            state=state,
            library=shared.library,
            servers=servers,
            generator=generators.for_ingestion,
            catalogue=catalogue,
        )
        engine = _engine_of_today(parts)
        stack.callback(engine.store.close)
        parser = await stack.enter_async_context(open_parser(settings, state.pages))
        binding = engine.binding
        indexer = Indexer(
            catalogue=catalogue,
            store=binding.store,
            jobs=SqliteJobTable(catalogue.database),
            spool=binding.spool,
            embedder=binding.embedder,
            sparse=parts.sparse,
            counter=servers.counter,
            parser=parser,
            chunking=binding.chunking,
            situator=binding.situator,
            recipes=binding.recipes,
            turn=shared.turn,
            can_embed=binding.can_embed,
        )
        audit = AuditTrail(SqliteAuditLog(catalogue.database))
        stack.push_async_callback(audit.aclose)
        # Before anything is searched: a process that was killed may have left a swap half done.
        await indexer.settle()
        retriever = SwitchableRetriever(engine.retriever)
        application = Application(
            settings=settings,
            library=shared.library,
            state=state,
            lock=lock,
            catalogue=catalogue,
            engine=engine,
            servers=servers,
            retriever=retriever,
            answerer=Answerer(
                retriever=retriever,
                generator=generators.for_questions,
                catalogue=catalogue,
                counter=servers.counter,
            ),
            indexer=indexer,
            views=DocumentViews(
                catalogue=catalogue, root=settings.data_dir, picturer=shared.picturer
            ),
            history=History(conversations=SqliteConversations(catalogue.database), audit=audit),
            switch=_switch(stack, parts, engine, indexer, lambda new: application.use(new)),
            tidy=lambda: _tidy(parts, engine),
        )
        yield application


def _engine_of_today(parts: EngineParts) -> Engine:
    """The engine of the collection that answers, whichever model the settings name.

    Raises:
        StateInUseError, ConfigurationError: The collection cannot be opened.
    """
    catalogue, wanted = parts.catalogue, parts.servers.embedder.model
    collection = catalogue.collection
    model = bound_model(parts.state.path / collection)
    if model is None and collection != FIRST_COLLECTION:
        # Its folder is gone. A name belongs to a model: the next one must not be taken for it.
        collection = collection_name(wanted)
        catalogue.adopt(collection, [])
        model = bound_model(parts.state.path / collection)
    if model is None or _is_of(model, wanted):
        return parts.open(collection, wanted, parts.servers.embedder)
    known = (parts.servers.embedder, *parts.servers.others)
    # The same model with another limit is run as it is: only chunks are cut otherwise.
    runs = (one for one in known if one.model.identity == model.identity)
    return parts.open(collection, model, next(runs, None))


def _is_of(model: EmbeddingModel, wanted: EmbeddingModel) -> bool:
    """Whether a collection of one model is what a collection of the other would be."""
    return (model.identity, model.limit_tokens) == (wanted.identity, wanted.limit_tokens)


def _switch(
    stack: AsyncExitStack,
    parts: EngineParts,
    former: Engine,
    indexer: Indexer,
    use: Callable[[Engine], asyncio.Event],
) -> ModelSwitch | None:
    """What takes the project to the embedding model of the settings, if it is not there."""
    embedder = parts.servers.embedder
    if _is_of(former.model, embedder.model):
        return None
    collection = collection_name(embedder.model)
    searched: list[asyncio.Event] = []

    async def prepare() -> CollectionBuilder:
        engine = await asyncio.to_thread(parts.open, collection, embedder.model, embedder)
        stack.callback(engine.store.close)

        async def adopt(records: Sequence[DocumentRecord]) -> None:
            await engine.store.flush()
            await asyncio.to_thread(parts.catalogue.adopt, collection, records)

        return CollectionBuilder(
            indexer=indexer,
            new=engine.binding,
            table=SqliteRebuildTable(parts.catalogue.database, collection=collection),
            catalogue=parts.catalogue,
            sparse=parts.sparse,
            counter=parts.servers.counter,
            adopt=adopt,
            on_swapped=lambda: searched.append(use(engine)),
        )

    async def finish() -> None:
        for event in searched:
            await event.wait()
        await former.retire()

    return ModelSwitch(former=former.model, wanted=embedder.model, prepare=prepare, finish=finish)


def _tidy(parts: EngineParts, engine: Engine) -> None:
    """Delete what an earlier change of the model has left: half made, or not needed any more."""
    wanted = parts.servers.embedder.model
    clear_collections(parts.state.path, {engine.folder.name, collection_name(wanted)})
    clear_other_models(parts.catalogue.database, {engine.model.identity, wanted.identity})


def model_library(settings: Settings) -> ModelLibrary:
    """The model files of this user."""
    index = configured_index(settings.index_values(), settings.index_files())
    return ModelLibrary(load_lock(), settings.cache_dir() / "models", index_url=index)


@asynccontextmanager
async def open_parser(settings: Settings, page_spool: Path | None = None) -> AsyncIterator[Parser]:
    """Worker processes that parse files; they start with the first file.

    `page_spool` is where they keep the pages that OCR has read, for a parse that is cut short.
    """
    async with ParserPool(ocr=ocr_policy(settings), page_spool=page_spool) as parser:
        yield parser


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
