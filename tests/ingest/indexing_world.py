"""A corpus folder and everything the indexer talks to, with stand-ins for models and stores."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from documents import make_text
from fakes import (
    FakeCatalogue,
    FakeChunkStore,
    FakeEmbedder,
    FakeJobTable,
    FakeSpool,
    WordCounter,
)
from rag_source.domain.catalogue import DocumentRecord
from rag_source.domain.chunks import EmbeddedChunk, SparseVector, Vector
from rag_source.domain.documents import ParsedDocument
from rag_source.domain.errors import BackendUnavailableError
from rag_source.domain.reports import IngestReport
from rag_source.ingest.indexer import Indexer, IndexingPolicy
from rag_source.ingest.loader_tools import PageProgress
from rag_source.ingest.parsing import InProcessParser
from rag_source.ingest.recipes import Recipes
from rag_source.ingest.registry import LoaderRegistry

NOW = datetime(2026, 4, 1, 12, tzinfo=UTC)


class PowerCut(BaseException):
    """The end of the process, wherever it strikes: nothing in the program catches it."""


class PlainSparse:
    """A `SparseEncoder` of one term."""

    def encode_document(self, text: str, *, language: str) -> SparseVector:
        return SparseVector(indices=(len(text),), values=(1.0,))

    def encode_query(self, text: str, *, language: str) -> SparseVector:
        return SparseVector()


class CountingEmbedder(FakeEmbedder):
    """Fails when told to; `before` is called with each batch before it is embedded."""

    broken = False
    before: Callable[[Sequence[str]], None] = staticmethod(lambda texts: None)

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        if self.broken:
            raise BackendUnavailableError("the embedder does not answer")
        self.before(texts)
        await asyncio.sleep(0)
        return await super().embed_passages(texts)


class FragileCatalogue(FakeCatalogue):
    """Loses power between the store's swap and its own, when told to."""

    loses_power = False

    def promote(self, doc_id: str) -> None:
        if self.loses_power:
            raise PowerCut
        super().promote(doc_id)


class World:
    """A corpus and its state; `indexer()` is a new process on them."""

    def __init__(self, root: Path, *, policy: IndexingPolicy | None = None) -> None:
        self.root = root
        self.catalogue = FragileCatalogue()
        self.store = FakeChunkStore()
        self.jobs = FakeJobTable()
        self.spool = FakeSpool()
        self.embedder = CountingEmbedder()
        self.registry = LoaderRegistry()
        self.parsed: list[str] = []
        self.policy = policy or IndexingPolicy(mass_delete_guard=3)
        self.recipes: Recipes | None = None

    def indexer(self) -> Indexer:
        world = self

        class Parser(InProcessParser):
            async def parse(
                self, path: Path, *, on_progress: PageProgress | None = None
            ) -> ParsedDocument:
                world.parsed.append(path.name)
                return await super().parse(path, on_progress=on_progress)

        return Indexer(
            catalogue=self.catalogue,
            store=self.store,
            jobs=self.jobs,
            spool=self.spool,
            embedder=self.embedder,
            sparse=PlainSparse(),
            counter=WordCounter(),
            parser=Parser(self.registry),
            registry=self.registry,
            policy=self.policy,
            recipes=self.recipes,
            now=lambda: NOW,
        )

    async def run(self, *, force: bool = False) -> IngestReport:
        """One pass by a new process; `parsed` and the embedder's list are of this pass."""
        self.parsed.clear()
        self.embedder.embedded.clear()
        return await self.indexer().run(self.root, force=force)

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return make_text(path, text)

    def record(self, path: str) -> DocumentRecord:
        return next(r for r in self.catalogue.documents() if r.source.path == path)

    def chunks(self, path: str) -> list[EmbeddedChunk]:
        return self.store.documents.get(self.record(path).doc_id, [])

    def text(self, path: str) -> str:
        return "\n".join(one.chunk.text for one in self.chunks(path))
