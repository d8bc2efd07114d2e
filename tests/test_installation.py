"""Several projects in one process: opened, followed, closed."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from documents import make_text
from fakes import FakeEmbedder, FakeGenerator, WordCounter
from rag_source import wiring
from rag_source.domain.errors import NotFoundError
from rag_source.ingest import InProcessParser, LoaderRegistry, Parser
from rag_source.installation import Installation, open_installation
from rag_source.models.library import ModelLibrary
from rag_source.settings import DataSettings, Settings, StateSettings
from rag_source.store.projects import ProjectRegistry


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    @asynccontextmanager
    async def open_fakes(
        settings: Settings, library: ModelLibrary
    ) -> AsyncIterator[wiring.ModelServers]:
        yield wiring.ModelServers(
            embedder=FakeEmbedder(),
            generator=FakeGenerator(),
            counter=WordCounter(),
            endpoints=(),
        )

    @asynccontextmanager
    async def open_here(settings: Settings, *_: object) -> AsyncIterator[Parser]:
        yield InProcessParser(LoaderRegistry())

    monkeypatch.setattr(wiring, "open_models", open_fakes)
    monkeypatch.setattr(wiring, "open_parser", open_here)
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
        make_text(tmp_path / name / f"{name}.txt", f"Words of the {name} folder.")
    return Settings(
        data=DataSettings(dir=tmp_path / "first", watch="poll", poll_s=1),
        state=StateSettings(dir=tmp_path / "state"),
    )


@asynccontextmanager
async def _kept(settings: Settings) -> AsyncIterator[Installation]:
    async with open_installation(settings, purpose="test") as installation:
        task = asyncio.create_task(installation.keep_index())
        try:
            yield installation
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110  # states of several tasks, no event for all
            await asyncio.sleep(0.05)


async def _paths(installation: Installation, name: str) -> list[str]:
    return [r.source.path for r in await installation.project(name).documents()]


async def _until_indexed(installation: Installation, name: str, paths: list[str]) -> None:
    async with asyncio.timeout(60):
        while await _paths(installation, name) != paths:  # noqa: ASYNC110  # several tasks
            await asyncio.sleep(0.05)


async def test_project_of_the_list_is_served_beside_the_default_one(
    settings: Settings, tmp_path: Path
) -> None:
    ProjectRegistry(settings.projects_dir()).add("two", tmp_path / "second")
    async with _kept(settings) as installation:
        assert [project.name for project in installation.projects()] == ["default", "two"]
        await _until_indexed(installation, "default", ["first.txt"])
        await _until_indexed(installation, "two", ["second.txt"])


async def test_project_that_another_process_adds_is_served_and_one_it_removes_is_closed(
    settings: Settings, tmp_path: Path
) -> None:
    registry = ProjectRegistry(settings.projects_dir())
    async with _kept(settings) as installation:
        registry.add("two", tmp_path / "second")
        await _until(lambda: len(installation.projects()) == 2)
        await _until_indexed(installation, "two", ["second.txt"])
        registry.path.write_text('{"projects": {}}')
        await _until(lambda: len(installation.projects()) == 1)
        with pytest.raises(NotFoundError):
            installation.project("two")


async def test_project_is_added_and_removed_while_it_is_kept(
    settings: Settings, tmp_path: Path
) -> None:
    async with _kept(settings) as installation:
        project = await installation.add("two", tmp_path / "second")
        await _until_indexed(installation, "two", ["second.txt"])
        await installation.remove("two")
        assert not project.state.exists()
        with pytest.raises(NotFoundError):
            await installation.remove("default")


async def test_token_is_left_where_commands_on_a_project_look(
    settings: Settings, tmp_path: Path
) -> None:
    ProjectRegistry(settings.projects_dir()).add("two", tmp_path / "second")
    async with open_installation(settings, purpose="test") as installation:
        installation.announce("http://127.0.0.1:1", "3q8Zr1vLx0pWk7Yt5sNd")
        state = installation.projects()[1].state
        assert (state / "api-token").read_text().strip() == "3q8Zr1vLx0pWk7Yt5sNd"
        assert (state / "api-token").stat().st_mode & 0o077 == 0


async def test_damaged_project_keeps_no_other_from_being_served(
    settings: Settings, tmp_path: Path
) -> None:
    project = ProjectRegistry(settings.projects_dir()).add("two", tmp_path / "second")
    project.state.mkdir(parents=True)
    (project.state / "catalogue.db").write_text("no database at all, but long enough to be one" * 9)
    async with open_installation(settings, purpose="test") as installation:
        assert [one.name for one in installation.projects()] == ["default"]
