"""The index follows the folder by itself: changes, failures of the models, a folder that goes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from ingest.indexing_world import World
from rag_source.domain.reports import Drained
from rag_source.ingest.keeper import IndexKeeper
from rag_source.ingest.watching import WatchPolicy

_QUICK = WatchPolicy(
    mode="poll", poll_s=0.2, quiet_s=0.05, limit_s=0.5, retry_s=0.1, root_check_s=0.1
)


@pytest.fixture
def world(tmp_path: Path) -> World:
    root = tmp_path / "corpus"
    root.mkdir()
    return World(root)


@asynccontextmanager
async def kept(world: World) -> AsyncIterator[tuple[IndexKeeper, list[Drained]]]:
    drained: list[Drained] = []
    keeper = IndexKeeper(world.indexer(), world.root, watching=_QUICK, on_drained=drained.append)
    task = asyncio.create_task(keeper.run())
    try:
        yield keeper, drained
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110  # states of several tasks, no event for all
            await asyncio.sleep(0.05)


def _ready(world: World) -> list[str]:
    return [r.source.path for r in world.catalogue.documents() if r.status == "ready"]


async def test_new_changed_and_deleted_files_are_followed(world: World) -> None:
    world.write("a.txt", "Old words.")
    async with kept(world):
        await until(lambda: _ready(world) == ["a.txt"])
        world.write("b/c.txt", "Other words.")
        await until(lambda: _ready(world) == ["a.txt", "b/c.txt"])
        world.write("a.txt", "New words, more of them.")
        await until(lambda: world.text("a.txt").startswith("New"))
        (world.root / "a.txt").unlink()
        await until(lambda: _ready(world) == ["b/c.txt"])


async def test_empty_folder_is_reported_once(world: World) -> None:
    async with kept(world) as (_, drained):
        await until(lambda: drained)
        assert drained == [Drained()]


async def test_embedder_that_comes_back_finishes_the_work(world: World) -> None:
    world.write("a.txt", "Words.")
    world.embedder.broken = True
    async with kept(world) as (keeper, drained):
        await until(lambda: keeper.problems)
        assert keeper.problems == ("the embedder does not answer",)
        assert drained == []
        world.embedder.broken = False
        await until(lambda: _ready(world) == ["a.txt"])
        await until(lambda: keeper.problems == ())


async def test_folder_that_goes_and_comes_back_deletes_nothing(world: World) -> None:
    world.write("a.txt", "Words.")
    away = world.root.with_name("away")
    async with kept(world) as (keeper, _):
        await until(lambda: _ready(world) == ["a.txt"])
        world.root.rename(away)
        await until(lambda: keeper.problems)
        assert _ready(world) == ["a.txt"]
        away.rename(world.root)
        await until(lambda: keeper.problems == ())
        world.write("b.txt", "More words.")
        await until(lambda: _ready(world) == ["a.txt", "b.txt"])


async def test_failed_file_that_is_retried_is_looked_at_again(world: World) -> None:
    world.write("a.txt", " ")
    indexer = world.indexer()
    keeper = IndexKeeper(indexer, world.root, watching=WatchPolicy(mode="off"))
    task = asyncio.create_task(keeper.run())
    try:
        await until(lambda: [r.status for r in world.catalogue.documents()] == ["failed"])
        world.parsed.clear()
        indexer.retry("a.txt")
        keeper.look()
        await until(lambda: world.parsed == ["a.txt"])
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
