"""Ingest benchmark (SPEC S2): the whole pipeline against the embedder alone on the same texts.

    python eval/bench/ingest.py [--files 40] [--tokens-per-s 1400] [--rounds 3] [--busy] [--profile]

The pipeline is the real one: parser processes, chunker, SQLite catalogue, queue and spool, vector
engine. The embedder is a stand-in that takes as long for a text as the embedded model does at
`--tokens-per-s` (1,400 is multilingual-e5-small on two cores), and gives vectors of its size. It
waits, as for a server on other processors; with `--busy` two child processes keep as many
processors at work meanwhile, as the embedded model does on its own machine. `alone` asks the same
stand-in for the same texts in the same batches, right after each ingestion; what counts is the
ratio. Papers are text, Markdown, HTML and PDF in turn, from a seed.
"""

from __future__ import annotations

import argparse
import asyncio
import cProfile
import pstats
import random
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import Any

import numpy as np
import pymupdf

from rag_source.domain.chunks import EmbeddingModel, Vector
from rag_source.ingest import Indexer
from rag_source.ingest.workers import ParserPool
from rag_source.retrieval import Bm25Encoder
from rag_source.store.catalogue import SqliteCatalogue
from rag_source.store.edge import EdgeChunkStore
from rag_source.store.jobs import SqliteJobTable
from rag_source.store.spool import SqliteSpool

_mupdf: Any = pymupdf  # It ships no type information.
MODEL = EmbeddingModel(name="bench", dimension=384, limit_tokens=512)
TARGET = 1.10
TOKENS_PER_WORD = 1.5
WORDS = (
    "pump valve invoice warehouse delivery contract pressure supplier warranty driver total "
    "payment annual inspection operating voltage manual section agreement notice commission"
).split()


class StandIn:
    """An `Embedder` of a fixed speed that remembers the batches it was asked for."""

    def __init__(self, tokens_per_s: float, workers: ProcessPoolExecutor | None) -> None:
        self.model = MODEL
        self.batches: list[list[str]] = []
        self._tokens_per_s = tokens_per_s
        self._workers = workers
        rng = np.random.default_rng(1)
        vectors = rng.normal(size=(256, MODEL.dimension)).astype(np.float32)
        self._vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).tolist()

    async def embed_query(self, text: str) -> Vector:
        return (await self.embed_passages([text]))[0]

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        self.batches.append(list(texts))
        seconds = sum(map(_tokens, texts)) / self._tokens_per_s
        if self._workers is None:
            await asyncio.sleep(seconds)
        else:
            loop = asyncio.get_running_loop()
            work = (loop.run_in_executor(self._workers, _spin, seconds) for _ in range(2))
            await asyncio.gather(*work)
        return [self._vectors[hash(text) % len(self._vectors)] for text in texts]

    async def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [_tokens(text) for text in texts]


def _tokens(text: str) -> int:
    return int(TOKENS_PER_WORD * len(text.split())) + 4


def _spin(seconds: float) -> None:
    """Take a processor for as long as it takes: seconds of work, not of waiting."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        # The clock costs a system call: most of the time is not to be spent there.
        sum(range(20_000))


class Words:
    """Counts words as the answer model's tokens."""

    def count(self, text: str) -> int:
        return _tokens(text)


def make_papers(folder: Path, files: int) -> None:
    """Papers of 10 to 40 sentences."""
    rng = random.Random(20_260_101)  # noqa: S311 - a seed for repeatable data, no secret
    folder.mkdir()
    for number in range(files):
        sentences = [_sentence(rng, number, n) for n in range(rng.randrange(10, 41))]
        kind = ("txt", "md", "html", "pdf")[number % 4]
        path = folder / f"paper-{number}.{kind}"
        if kind == "pdf":
            _print(path, sentences)
            continue
        text = "\n\n".join(sentences)
        if kind == "html":
            paragraphs = "".join(f"<p>{sentence}</p>" for sentence in sentences)
            text = f"<html><title>Paper {number}</title><body>{paragraphs}</body></html>"
        path.write_text(f"{text}\n", encoding="utf-8")


def _sentence(rng: random.Random, paper: int, number: int) -> str:
    words = " ".join(rng.choice(WORDS) for _ in range(rng.randrange(10, 30)))
    return f"Line {number} of paper {paper} says {words} {rng.randrange(10**5)}."


def _print(path: Path, sentences: Sequence[str]) -> None:
    document = _mupdf.open()
    for start in range(0, len(sentences), 20):
        page = document.new_page()
        for row, sentence in enumerate(sentences[start : start + 20]):
            page.insert_textbox((50, 40 + 38 * row, 550, 80 + 38 * row), sentence, fontsize=9)
    document.save(path)
    document.close()


async def ingest(root: Path, state: Path, embedder: StandIn) -> float:
    """Seconds of a first ingestion into a new state, opened before and closed after."""
    async with AsyncExitStack() as stack:
        catalogue = stack.enter_context(closing(SqliteCatalogue(state / "catalogue.db")))
        indexer = Indexer(
            catalogue=catalogue,
            store=stack.enter_context(EdgeChunkStore(state / "vectors", MODEL)),
            jobs=SqliteJobTable(catalogue.database),
            spool=SqliteSpool(catalogue.database, model=repr(MODEL)),
            embedder=embedder,
            sparse=Bm25Encoder(),
            counter=Words(),
            parser=await stack.enter_async_context(ParserPool()),
        )
        started = time.perf_counter()
        report = await indexer.run(root)
        seconds = time.perf_counter() - started
    assert not report.failed, report.failed
    return seconds


async def alone(embedder: StandIn, batches: Sequence[Sequence[str]]) -> float:
    """Seconds of the same batches, one after the other, and nothing else."""
    started = time.perf_counter()
    for batch in batches:
        await embedder.embed_passages(batch)
    return time.perf_counter() - started


async def measure(folder: Path, arguments: argparse.Namespace) -> None:
    """The two in turn, each round on a state of its own."""
    root = folder / "corpus"
    make_papers(root, arguments.files)
    with ProcessPoolExecutor(2) as workers:
        # Started before anything is timed.
        list(workers.map(_spin, (0.01, 0.01)))
        ratios: list[float] = []
        print(f"{'round':<6} {'texts':>6} {'pipeline s':>11} {'alone s':>8} {'ratio':>6}")
        for number in range(arguments.rounds):
            embedder = StandIn(arguments.tokens_per_s, workers if arguments.busy else None)
            state = Path(tempfile.mkdtemp(dir=folder))
            whole = await ingest(root, state, embedder)
            batches = list(embedder.batches)
            bare = await alone(embedder, batches)
            ratios.append(whole / bare)
            print(
                f"{number + 1:<6} {sum(map(len, batches)):6} {whole:11.2f} {bare:8.2f} "
                f"{whole / bare:6.3f}"
            )
    ratio = statistics.median(ratios)
    verdict = "within" if ratio <= TARGET else "ABOVE"
    print(f"median {ratio:.3f} x the embedder alone, {verdict} the target of {TARGET:.2f} x")


def main() -> int:
    parser = argparse.ArgumentParser(description="Time an ingestion against its embedder alone.")
    parser.add_argument("--files", type=int, default=40)
    parser.add_argument("--tokens-per-s", type=float, default=1400.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--busy", action="store_true", help="embed on this machine's processors")
    parser.add_argument("--profile", action="store_true", help="print where the time goes")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="bench-ingest-"))
    try:
        if arguments.profile:
            profile = cProfile.Profile()
            profile.runcall(asyncio.run, measure(folder, arguments))
            pstats.Stats(profile).sort_stats("tottime").print_stats(30)
        else:
            asyncio.run(measure(folder, arguments))
    finally:
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
