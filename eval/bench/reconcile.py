"""Look at an unchanged folder (SPEC S4): the whole look against a bare walk of the same folder.

    python eval/bench/reconcile.py [--files 10000] [--folders 100] [--rounds 9] [--profile]

Both are timed in turn, in one run; what counts is the ratio, of the medians or, on a
machine that others use, of the fastest rounds. `walk` is `os.walk`
with an `os.stat` of every file, and nothing else. `first look` is `Indexer.reconcile` on a real
catalogue and vector index that hold all of the files: walk, stats, records, recipes, and which
documents have chunks; `look again` a later one of the same process. `look while running` is that
with the eye of `rag-source up` for files that are still being written. The index is made directly,
without parsing or embedding. The parts of a look follow.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import os
import pstats
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from qdrant_edge import UpdateOperation

from rag_source.domain.catalogue import DocumentRecord
from rag_source.domain.chunks import (
    Chunk,
    EmbeddedChunk,
    EmbeddingModel,
    Segment,
    SparseVector,
    TextRange,
)
from rag_source.domain.documents import SourceFile
from rag_source.ingest import Indexer, LoaderRegistry
from rag_source.ingest.chunker import ChunkingPolicy
from rag_source.ingest.ocr import OcrPolicy
from rag_source.ingest.recipes import Recipes
from rag_source.ingest.scan import scan
from rag_source.ingest.settling import Settling
from rag_source.ingest.unchanged import set_aside_unchanged
from rag_source.store.catalogue import _STATES, SqliteCatalogue
from rag_source.store.edge import EdgeChunkStore
from rag_source.store.jobs import SqliteJobTable
from rag_source.store.points import make_point
from rag_source.store.spool import SqliteSpool

MODEL = EmbeddingModel(name="bench", dimension=384, limit_tokens=512)
TARGET = 3.0


class Bench:
    """A folder of small files and a state that knows all of them."""

    def __init__(self, folder: Path, *, files: int, folders: int) -> None:
        self.root = folder / "corpus"
        self.files = files
        self.registry = LoaderRegistry()
        self.recipes = Recipes(chunking=ChunkingPolicy(), ocr=OcrPolicy())
        self.catalogue = SqliteCatalogue(folder / "catalogue.db")
        self.store = EdgeChunkStore(folder / "vectors", MODEL)
        for number in range(files):
            path = self.root / f"folder-{number % folders}" / f"paper-{number}.txt"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"Paper {number} is short.\n", encoding="utf-8")
        self._index()
        self.indexer = Indexer(
            catalogue=self.catalogue,
            store=self.store,
            jobs=SqliteJobTable(self.catalogue.database),
            spool=SqliteSpool(self.catalogue.database, model=repr(MODEL)),
            registry=self.registry,
            recipes=self.recipes,
            # Nothing is new: none of these is asked for anything.
            embedder=SimpleNamespace(model=MODEL),
            sparse=SimpleNamespace(),
            counter=SimpleNamespace(),
            parser=SimpleNamespace(),
        )

    def close(self) -> None:
        self.store.close()
        self.catalogue.close()

    def _index(self) -> None:
        records = [self._record(n, found) for n, found in enumerate(scan(self.root).files)]
        points = [make_point(_embedded(one), 1, dimension=MODEL.dimension)[0] for one in records]
        for start in range(0, len(points), 128):
            self.store._shard.update(UpdateOperation.upsert_points(points[start : start + 128]))
        for record in records:
            self.catalogue.save(record)

    def _record(self, number: int, found: Any) -> DocumentRecord:
        loader = self.registry.loader_for(found.path)
        assert loader is not None
        record = DocumentRecord(
            doc_id=f"document-{number}",
            source=SourceFile(
                path=found.path,
                fingerprint=f"{number:064x}",
                size_bytes=found.size_bytes,
                mtime_ns=found.mtime_ns,
            ),
            status="ready",
            format="txt",
            loader=loader.name,
            loader_version=loader.version,
            title=found.path,
            language="en",
            blocks=1,
            chunks=1,
            indexed_at="2026-01-01T00:00:00+00:00",
        )
        return replace(record, recipe=self.recipes.of(record))

    def walk(self) -> int:
        """The bare walk."""
        seen = 0
        for folder, _, names in os.walk(self.root):
            for name in names:
                os.stat(os.path.join(folder, name))
                seen += 1
        return seen

    async def first_look(self) -> int:
        """As of a process that has just started: nothing is in memory yet."""
        self.catalogue._states = None
        return await self.look()

    async def look(self, settling: Settling | None = None) -> int:
        """The whole look; how many files it found unchanged."""
        found = await self.indexer.reconcile(self.root, settling=settling)
        assert found.queued == 0
        return found.unchanged


def _embedded(record: DocumentRecord) -> EmbeddedChunk:
    text = "Paper is short."
    chunk = Chunk(
        chunk_id=f"{record.doc_id}#0",
        doc_id=record.doc_id,
        path=record.source.path,
        ordinal=0,
        text=text,
        segments=(Segment(start=0, end=len(text), document_start=0),),
        sentences=(TextRange(start=0, end=len(text)),),
        block_id="b0",
        section=(),
    )
    dense = [1.0] + [0.0] * (MODEL.dimension - 1)
    return EmbeddedChunk(
        chunk=chunk,
        dense=dense,
        sparse=SparseVector(indices=(1,), values=(1.0,)),
        sentence_vectors=(dense,),
    )


async def measure(bench: Bench, rounds: int) -> None:
    """Rounds of every way in turn, after one that warms the caches up."""
    settling = Settling()

    async def walk() -> int:
        return bench.walk()

    ways: dict[str, Callable[[], Awaitable[int]]] = {
        "walk": walk,
        "first look": bench.first_look,
        "look again": bench.look,
        "look while running": lambda: bench.look(settling),
    }
    spent: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(rounds + 1):
        for name, way in ways.items():
            started = time.perf_counter()
            seen = await way()
            if number:
                spent[name].append(time.perf_counter() - started)
            assert seen == bench.files, f"{name} saw {seen} of {bench.files} files"
    bare, fastest = statistics.median(spent["walk"]), min(spent["walk"])
    print(f"{bench.files:,} files, {rounds} rounds; target {TARGET:g} x the walk")
    print(f"{'':<20} {'median ms':>9} {'ratio':>6} {'fastest ms':>11} {'ratio':>6}")
    for name, seconds in spent.items():
        median, least = statistics.median(seconds), min(seconds)
        print(
            f"{name:<20} {median * 1e3:9.1f} {median / bare:6.2f} "
            f"{least * 1e3:11.1f} {least / fastest:6.2f}"
        )
    await parts(bench, bare)


async def parts(bench: Bench, bare: float) -> None:
    """What a look is made of, and what asking for whole records would cost."""
    found = scan(bench.root)
    states = bench.catalogue.file_states()
    stored = {state.doc_id for state in states}
    recipe = bench.recipes.for_states()
    settling = Settling()

    async def timed(name: str, work: Callable[[], Any]) -> None:
        seconds = []
        for _ in range(5):
            started = time.perf_counter()
            result = work()
            if asyncio.iscoroutine(result):
                await result
            seconds.append(time.perf_counter() - started)
        median = statistics.median(seconds)
        print(f"  {name:<18} {median * 1e3:8.1f} {median / bare:6.2f}")

    await timed("scan", lambda: scan(bench.root))
    await timed("file states", lambda: bench.catalogue.database.rows(_STATES))
    await timed("count of chunks", bench.store.count)
    await timed(
        "set aside",
        lambda: set_aside_unchanged(found, states, bench.registry, stored=stored, recipe=recipe),
    )
    await timed("files at rest", lambda: settling.observe(found, states))
    print("not part of a look at a folder at rest:")
    await timed("whole records", bench.catalogue.documents)
    await timed("documents stored", bench.store.doc_ids)


def main() -> int:
    parser = argparse.ArgumentParser(description="Time a look at an unchanged folder.")
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--folders", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--profile", action="store_true", help="print where a look spends its time")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="bench-reconcile-"))
    bench = Bench(folder, files=arguments.files, folders=arguments.folders)
    try:
        asyncio.run(measure(bench, arguments.rounds))
        if arguments.profile:
            profile = cProfile.Profile()
            profile.runcall(asyncio.run, bench.look())
            pstats.Stats(profile).sort_stats("cumulative").print_stats(25)
    finally:
        bench.close()
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
