"""A corpus on its way to another embedding model, with stand-ins for models and stores."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from fakes import FakeChunkStore, FakeRebuildTable, FakeSpool, WordCounter
from ingest.indexing_world import CountingEmbedder, PlainSparse, PowerCut, World
from rag_source.domain.catalogue import DocumentRecord
from rag_source.ingest.binding import Binding
from rag_source.ingest.chunker import ChunkingPolicy
from rag_source.ingest.indexer import Indexer, IndexingPolicy
from rag_source.ingest.ocr import OcrPolicy
from rag_source.ingest.recipes import Recipes
from rag_source.ingest.reembedding import CollectionBuilder

BATCH = 2
CHUNKING = ChunkingPolicy(embed_limit_tokens=200)


class Move:
    """A world on its way to another model; `builder()` is a new process on what is on disk."""

    def __init__(self, root: Path) -> None:
        self.world = World(root, policy=IndexingPolicy(mass_delete_guard=3, embed_batch=BATCH))
        self.world.recipes = recipes_of(ChunkingPolicy())
        self.store = FakeChunkStore()
        self.spool = FakeSpool()
        self.table = FakeRebuildTable()
        self.embedder = CountingEmbedder(name="another", dimension=32, limit_tokens=232)
        self.binding = Binding(
            store=self.store,
            embedder=self.embedder,
            spool=self.spool,
            chunking=CHUNKING,
            recipes=recipes_of(CHUNKING),
        )
        self.swaps = 0

    async def adopt(self, records: Sequence[DocumentRecord]) -> None:
        for record in records:
            self.world.catalogue.save(record)
        self.table.rows.clear()
        self.spool.kept.clear()

    def swapped(self) -> None:
        self.swaps += 1

    def builder(self, indexer: Indexer | None = None) -> CollectionBuilder:
        async def no_wait(seconds: float) -> None:
            await asyncio.sleep(0)

        return CollectionBuilder(
            indexer=indexer or self.world.indexer(),
            new=self.binding,
            table=self.table,
            catalogue=self.world.catalogue,
            sparse=PlainSparse(),
            counter=WordCounter(),
            adopt=self.adopt,
            on_swapped=self.swapped,
            sleep=no_wait,
        )

    def texts(self) -> dict[str, str]:
        """What the new collection holds, by the path that stands in it."""
        return {
            chunks[0].chunk.path: "\n".join(one.chunk.text for one in chunks)
            for chunks in self.store.documents.values()
        }

    def paid_twice(self) -> list[str]:
        texts = self.embedder.embedded
        return sorted({text for text in texts if texts.count(text) > 1})


def recipes_of(chunking: ChunkingPolicy) -> Recipes:
    return Recipes(chunking=chunking, ocr=OcrPolicy(mode="off"))


def text_of(name: str, sentences: int = 5) -> str:
    return "\n\n".join(f"Sentence {n} of {name} says {'word ' * 20}{n}." for n in range(sentences))


async def index(move: Move, *names: str) -> None:
    """Write the files and index them by the former model."""
    for name in names:
        move.world.write(name, text_of(name))
    await move.world.run()
    assert len(move.world.catalogue.documents()) == len(names)


def end_at(move: Move, call: int) -> None:
    """Let the process end before that batch of the new model."""
    calls = [0]

    def end(texts: Sequence[str]) -> None:
        calls[0] += 1
        if calls[0] == call:
            raise PowerCut

    move.embedder.before = end
