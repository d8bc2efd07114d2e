"""How many pages of a file have been read is seen in the queue, once it is the file's turn."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from documents import make_pdf, paragraph
from ingest.indexing_world import World
from rag_source.domain.chunks import Vector
from rag_source.domain.documents import ParsedDocument
from rag_source.ingest.indexer import Indexer
from rag_source.ingest.loader_tools import LoaderTools, PageProgress
from rag_source.ingest.parsing import InProcessParser, Parser
from rag_source.ingest.workers import ParserPool, WorkerPolicy


class SlowParser(Parser):
    """Reads 2 of 5 pages of each file, and the rest when told to."""

    def __init__(self, world: World) -> None:
        self._parser = InProcessParser(world.registry)
        self.under_way: set[str] = set()
        self.ended: list[str] = []
        self.at_end: Callable[[], None] = lambda: None
        self.go = {name: asyncio.Event() for name in ("a.txt", "b.txt", "c.txt")}

    async def parse(self, path: Path, *, on_progress: PageProgress | None = None) -> ParsedDocument:
        assert on_progress is not None
        self.under_way.add(path.name)
        try:
            on_progress(2, 5)
            await self.go[path.name].wait()
            on_progress(5, 5)
            return await self._parser.parse(path)
        finally:
            self.under_way.discard(path.name)
            self.at_end()
            self.ended.append(path.name)


class HeldWorld(World):
    """Embeds when told to."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.embed = asyncio.Event()
        self.slow = SlowParser(self)

    def indexer(self) -> Indexer:
        made = self.embedder.embed_passages

        async def embed(texts: Sequence[str]) -> list[Vector]:
            await self.embed.wait()
            return await made(texts)

        self.embedder.embed_passages = embed  # type: ignore[method-assign]
        indexer = super().indexer()
        indexer._parser = self.slow
        return indexer

    def progress(self, path: str) -> tuple[str, int, int]:
        job = self.jobs.job(path)
        return (job.state, job.done, job.total) if job else ("", 0, 0)


@pytest.fixture
def world(tmp_path: Path) -> HeldWorld:
    (tmp_path / "corpus").mkdir()
    world = HeldWorld(tmp_path / "corpus")
    for name in "ab":
        world.write(f"{name}.txt", f"Words of {name}.")
    return world


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110 - a table tells no event
            await asyncio.sleep(0.01)


async def test_pages_are_the_progress_of_the_file_whose_turn_it_is(world: HeldWorld) -> None:
    world.embed.set()
    running = asyncio.create_task(world.indexer().run(world.root))

    await _until(lambda: world.progress("a.txt") == ("parsing", 2, 5))
    assert world.progress("b.txt") == ("queued", 0, 0)

    for event in world.slow.go.values():
        event.set()
    assert (await running).added == 2


async def test_file_that_is_parsed_ahead_waits_for_its_turn_to_show_its_pages(
    world: HeldWorld,
) -> None:
    world.slow.go["a.txt"].set()
    running = asyncio.create_task(world.indexer().run(world.root))
    await _until(lambda: "b.txt" in world.slow.under_way)
    # Longer than it takes until progress is looked at.
    await asyncio.sleep(0.6)
    assert world.progress("a.txt")[0] == "embedding"
    assert world.progress("b.txt") == ("queued", 0, 0)

    world.embed.set()
    await _until(lambda: world.progress("b.txt") == ("parsing", 2, 5))

    world.slow.go["b.txt"].set()
    assert (await running).added == 2


async def test_pause_of_a_file_that_is_parsed_ahead_ends_its_parse(world: HeldWorld) -> None:
    world.slow.go["a.txt"].set()
    indexer = world.indexer()
    running = asyncio.create_task(indexer.run(world.root))
    await _until(lambda: "b.txt" in world.slow.under_way)

    indexer.queue.pause("b.txt")
    await _until(lambda: "b.txt" in world.slow.ended)

    assert world.progress("b.txt") == ("paused", 0, 0)
    world.embed.set()
    assert (await running).added == 1


async def test_cancelled_file_that_is_parsed_ahead_leaves_nothing_in_the_spool(
    world: HeldWorld,
) -> None:
    world.slow.go["a.txt"].set()
    indexer = world.indexer()
    running = asyncio.create_task(indexer.run(world.root))
    await _until(lambda: "b.txt" in world.slow.under_way)
    job = world.jobs.job("b.txt")
    assert job is not None
    # As a worker that keeps a page just before it is ended.
    world.slow.at_end = lambda: world.spool.keep_vectors(job.source.fingerprint, {b"page": [1.0]})

    indexer.queue.cancel("b.txt")
    await _until(lambda: "b.txt" in world.slow.ended)

    await _until(lambda: world.spool.contents() == set())
    world.embed.set()
    assert (await running).added == 1


async def test_file_that_was_paused_and_resumed_while_parsed_ahead_is_parsed_anew(
    world: HeldWorld,
) -> None:
    world.slow.go["a.txt"].set()
    indexer = world.indexer()
    running = asyncio.create_task(indexer.run(world.root))
    await _until(lambda: "b.txt" in world.slow.under_way)
    indexer.queue.pause("b.txt")
    await _until(lambda: "b.txt" in world.slow.ended)
    indexer.queue.resume("b.txt")
    world.slow.go["b.txt"].set()
    world.embed.set()

    assert (await running).added == 2
    assert world.slow.ended.count("b.txt") == 2


async def test_file_that_is_overtaken_does_not_go_on_being_parsed(world: HeldWorld) -> None:
    world.write("c.txt", "Words of c.")
    world.slow.go["a.txt"].set()
    indexer = world.indexer()
    running = asyncio.create_task(indexer.run(world.root))
    await _until(lambda: "b.txt" in world.slow.under_way)
    indexer.queue.prefer("c.txt")
    world.embed.set()

    await _until(lambda: world.progress("c.txt") == ("parsing", 2, 5))
    assert world.slow.under_way == {"c.txt"}

    for event in world.slow.go.values():
        event.set()
    assert (await running).added == 3


def test_pages_are_told_before_each_and_after_the_last() -> None:
    told: list[tuple[int, int]] = []
    tools = LoaderTools(on_pages=lambda done, total: told.append((done, total)))

    assert list(tools.counted(2)) == [0, 1]

    assert told == [(0, 2), (1, 2), (2, 2)]


@pytest.mark.processes
async def test_worker_tells_pages_a_few_times_a_second(tmp_path: Path) -> None:
    lines = [f"Line {i} of a page of ordinary words" for i in range(20)]
    path = make_pdf(tmp_path / "long.pdf", [paragraph(lines)] * 60)
    told: list[tuple[int, int]] = []
    at: list[float] = []
    now = asyncio.get_running_loop().time

    def tell(done: int, total: int) -> None:
        told.append((done, total))
        at.append(now())

    async with ParserPool(workers=WorkerPolicy(workers=1)) as pool:
        await pool.parse(path, on_progress=tell)

    assert told == sorted(told)
    assert (told[0], told[-1]) == ((0, 60), (60, 60))
    assert 2 <= len(told) <= 3 + (at[-1] - at[0]) / 0.25
