"""Store benchmark (SPEC S1, S7): a hybrid search through the store against the bare engine call.

    python eval/bench/store.py [--chunks 100000] [--sentences 6] [--queries 200] [--no-optimize]

Both are timed in turn, in one run, on the same shard and questions; what counts is the ratio. The
data is made from a seed: unit vectors around 200 centres, terms by Zipf's law, 2,000 characters of
text for each chunk. `bare` is `EdgeShard.query` with two prefetches, fusion and payload; `store`
adds the thread hop, the lock and the chunk decoding; `signals` also asks for each candidate's
cosine, best sentence and BM25 score. The catalogue's two figures follow.
"""

from __future__ import annotations

import argparse
import asyncio
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rag_source.domain.catalogue import DocumentRecord
from rag_source.domain.chunks import (
    Chunk,
    EmbeddedChunk,
    EmbeddingModel,
    Segment,
    SparseVector,
    TextRange,
)
from rag_source.domain.documents import Block, Page, ParsedDocument, SourceFile, WordBox
from rag_source.domain.ports import ChunkQuery
from rag_source.store.catalogue import SqliteCatalogue
from rag_source.store.edge import EdgeChunkStore
from rag_source.store.queries import FusionPolicy, main_request

MODEL = EmbeddingModel(name="bench", dimension=384, limit_tokens=512)
CHUNKS_PER_DOCUMENT = 50
VOCABULARY, TERMS_PER_CHUNK, TERMS_PER_QUESTION = 50_000, 80, 8
LIMIT, DEPTH = 20, 30
Vectors = NDArray[np.float32]


class Corpus:
    """Endless made-up chunks and questions from one seed."""

    def __init__(self, *, sentences: int) -> None:
        self._rng = np.random.default_rng(20_260_101)
        self._centres = self._unit(self._rng.normal(size=(200, MODEL.dimension)))
        self._sentences = sentences
        weights = 1.0 / np.arange(1, VOCABULARY + 1)
        self._cumulative = np.cumsum(weights / weights.sum())

    def document(self, number: int) -> list[EmbeddedChunk]:
        doc_id = f"doc-{number}"
        return [self._chunk(doc_id, ordinal) for ordinal in range(CHUNKS_PER_DOCUMENT)]

    def question(self) -> ChunkQuery:
        indices = self._terms(TERMS_PER_QUESTION)
        return ChunkQuery(
            mode="hybrid",
            limit=LIMIT,
            depth=DEPTH,
            dense=self._vectors(1)[0].tolist(),
            sparse=SparseVector(indices=indices, values=(1.0,) * len(indices)),
        )

    def _chunk(self, doc_id: str, ordinal: int) -> EmbeddedChunk:
        words = " ".join(f"mot{n}" for n in self._rng.integers(0, VOCABULARY, 260))
        text = words[:2_000]
        step = len(text) // 12
        ranges = tuple(TextRange(start=i * step, end=(i + 1) * step) for i in range(12))
        indices = self._terms(TERMS_PER_CHUNK)
        weights = self._rng.uniform(0.5, 2.2, len(indices)).tolist()
        return EmbeddedChunk(
            chunk=Chunk(
                chunk_id=f"{doc_id}#{ordinal}",
                doc_id=doc_id,
                path=f"folder-{len(doc_id)}/{doc_id}.pdf",
                ordinal=ordinal,
                text=text,
                segments=(Segment(start=0, end=len(text), document_start=2_000 * ordinal),),
                sentences=ranges,
                block_id=f"b{ordinal}",
                section=("Chapter", "Section"),
                page=ordinal + 1,
                title="A document",
                language="fr",
            ),
            dense=self._vectors(1)[0].tolist(),
            sparse=SparseVector(indices=indices, values=tuple(weights)),
            sentence_vectors=tuple(v.tolist() for v in self._vectors(self._sentences)),
        )

    def _terms(self, count: int) -> tuple[int, ...]:
        drawn = np.searchsorted(self._cumulative, self._rng.random(count))
        return tuple(int(i) for i in np.unique(drawn))

    def _vectors(self, count: int) -> Vectors:
        near = self._centres[self._rng.integers(0, len(self._centres), count)]
        spread = self._rng.normal(scale=0.04, size=(count, MODEL.dimension))
        return self._unit(near + spread)

    @staticmethod
    def _unit(vectors: NDArray[np.float64] | Vectors) -> Vectors:
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        return np.asarray(vectors / norms, dtype=np.float32)


async def bench_store(folder: Path, arguments: argparse.Namespace) -> None:
    corpus = Corpus(sentences=arguments.sentences)
    with EdgeChunkStore(folder, MODEL) as store:
        spent_s = 0.0
        for number in range(arguments.chunks // CHUNKS_PER_DOCUMENT):
            document = corpus.document(number)
            started = time.perf_counter()
            await store.replace(f"doc-{number}", document)
            spent_s += time.perf_counter() - started
        print(f"{await store.count():,} chunks, {arguments.sentences} sentence vectors each")
        print(f"written in {spent_s:.1f} s; memory after writing: {memory()}")
        await search_table(store, corpus, arguments.queries, "as written")
        if arguments.optimize:
            started = time.perf_counter()
            await store.optimize()
            print(f"optimised in {time.perf_counter() - started:.1f} s")
    started = time.perf_counter()
    with EdgeChunkStore(folder, MODEL) as store:
        print(f"reopened in {time.perf_counter() - started:.2f} s; memory: {memory()}")
        await search_table(store, corpus, arguments.queries, "reopened")
        print(f"memory after searching: {memory()}; files: {files_mb(folder):,.0f} MB")
        await write_table(store, corpus)


async def search_table(store: EdgeChunkStore, corpus: Corpus, queries: int, title: str) -> None:
    """Medians over the same questions, the three ways in turn."""
    questions = [corpus.question() for _ in range(queries)]
    bare_s: list[float] = []
    store_s: list[float] = []
    signals_s: list[float] = []
    idf_s: list[float] = []
    for question in questions:
        request = main_request(
            question, filter=None, fusion=FusionPolicy(), dimension=MODEL.dimension
        )
        bare_s.append(timed(partial(store._shard.query, request)))
        for seconds, asked in (
            (store_s, question),
            (signals_s, replace(question, signals=True)),
        ):
            started = time.perf_counter()
            await store.search(asked)
            seconds.append(time.perf_counter() - started)
        started = time.perf_counter()
        await store.term_idf(question.sparse.indices)
        idf_s.append(time.perf_counter() - started)
    bare = statistics.median(bare_s)
    print(f"{title:<12} {'p50 ms':>8} {'p95 ms':>8} {'ratio':>6}")
    for name, seconds in (
        ("bare", bare_s),
        ("store", store_s),
        ("signals", signals_s),
        ("term_idf", idf_s),
    ):
        p50, p95 = statistics.median(seconds), statistics.quantiles(seconds, n=20)[18]
        print(f"{name:<12} {p50 * 1e3:8.2f} {p95 * 1e3:8.2f} {p50 / bare:6.2f}")


async def write_table(store: EdgeChunkStore, corpus: Corpus) -> None:
    """What an update costs beside a full collection."""
    changed = corpus.document(0)
    for name, work in (
        ("replace 50 chunks", lambda: store.replace("doc-0", changed)),
        ("rename 50 chunks", lambda: store.rename("doc-0", "elsewhere/doc-0.pdf")),
        ("remove 50 chunks", lambda: store.remove(["doc-0"])),
        ("count", store.count),
        ("doc_ids", store.doc_ids),
    ):
        started = time.perf_counter()
        await work()
        print(f"{name:<18} {(time.perf_counter() - started) * 1e3:8.1f} ms")


def bench_catalogue(path: Path) -> None:
    """A 300-page PDF of 150,000 words."""
    pages, words = 300, 500
    line = "parole " * words
    parsed = ParsedDocument(
        text=line * pages,
        blocks=tuple(
            Block(id=f"b{i}", kind="paragraph", start=i * 350, end=i * 350 + 349)
            for i in range(pages * 10)
        ),
        title="Long",
        language="fr",
        loader="pdf",
        loader_version=1,
        pages=tuple(make_page(number, words) for number in range(1, pages + 1)),
    )
    source = SourceFile(path="long.pdf", fingerprint="f" * 64, size_bytes=1, mtime_ns=1)
    record = DocumentRecord(doc_id="long", source=source, status="indexing")
    with SqliteCatalogue(path) as catalogue:
        print("catalogue, 300 pages, 150,000 words")
        for name, work in (
            ("save", lambda: catalogue.save(record, parsed)),
            ("save again", lambda: catalogue.save(record, parsed)),
            ("one page", lambda: catalogue.pages("long", [150])),
            ("parsed", lambda: catalogue.parsed("long")),
        ):
            print(f"{name:<18} {timed(work) * 1e3:8.1f} ms")
    print(f"{'file':<18} {path.stat().st_size / 1e6:8.1f} MB")


def make_page(number: int, words: int) -> Page:
    rng = np.random.default_rng(number)
    start = (number - 1) * words * 7
    boxes = rng.uniform(30, 800, (words, 2)).astype(np.float32).tolist()
    return Page(
        number=number,
        width_pt=595.0,
        height_pt=842.0,
        rotation=0,
        start=start,
        end=start + words * 7 - 1,
        words=tuple(
            WordBox(start=start + 7 * i, end=start + 7 * i + 6, x0=x, y0=y, x1=x + 30, y1=y + 12)
            for i, (x, y) in enumerate(boxes)
        ),
    )


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def memory() -> str:
    """Resident megabytes of this process: its own, and pages of mapped files (Linux only)."""
    status = Path("/proc/self/status")
    if not status.exists():
        return "unknown"
    found = dict(
        line.split(":", 1)
        for line in status.read_text(encoding="ascii").splitlines()
        if ":" in line
    )
    own, mapped = (int(found[key].split()[0]) / 1e3 for key in ("RssAnon", "RssFile"))
    return f"{own:,.0f} MB own + {mapped:,.0f} MB mapped files"


def files_mb(folder: Path) -> float:
    """Megabytes on disk, holes not counted."""
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file()) / 1e6


def main() -> int:
    parser = argparse.ArgumentParser(description="Time the store against the bare engine.")
    parser.add_argument("--chunks", type=int, default=100_000)
    parser.add_argument("--sentences", type=int, default=6)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--no-optimize", dest="optimize", action="store_false")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="bench-store-"))
    try:
        asyncio.run(bench_store(folder / "vectors", arguments))
        bench_catalogue(folder / "catalogue.db")
    finally:
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
