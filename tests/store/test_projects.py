"""The list of projects: what can be one, what cannot, and that nothing of a user is deleted."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from rag_source.domain.errors import (
    ConfigurationError,
    NotFoundError,
    RequestError,
    StateInUseError,
)
from rag_source.store.lock import StateLock
from rag_source.store.projects import ProjectRegistry


@pytest.fixture
def registry(tmp_path: Path) -> ProjectRegistry:
    return ProjectRegistry(tmp_path / "base")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "عقود"
    path.mkdir()
    return path


def test_project_is_found_again_by_its_name(registry: ProjectRegistry, folder: Path) -> None:
    assert registry.projects() == []
    added = registry.add("contracts", folder)
    assert registry.projects() == [added]
    assert registry.project("contracts").folder == folder
    assert ProjectRegistry(registry.path.parent).project("contracts") == added


@pytest.mark.parametrize(
    "name", ["", "default", "A", "a b", "../up", "a..b", "-x", "é", "a/b", "x" * 64]
)
def test_name_that_cannot_be_one_is_refused(
    registry: ProjectRegistry, folder: Path, name: str
) -> None:
    with pytest.raises(RequestError, match="cannot be the name"):
        registry.add(name, folder)


def test_name_or_folder_that_is_taken_is_refused(
    registry: ProjectRegistry, folder: Path, tmp_path: Path
) -> None:
    registry.add("one", folder)
    link = tmp_path / "link"
    link.symlink_to(folder)
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(RequestError, match="already"):
        registry.add("one", other)
    with pytest.raises(RequestError, match="project 'one'"):
        registry.add("two", link)


def test_folder_that_is_none_or_holds_the_state_is_refused(
    registry: ProjectRegistry, folder: Path, tmp_path: Path
) -> None:
    with pytest.raises(RequestError, match="no folder"):
        registry.add("one", tmp_path / "missing")
    with pytest.raises(RequestError, match="own files"):
        registry.add("one", tmp_path)
    registry.add("one", folder)
    inside = registry.path.parent / "projects" / "x"
    inside.mkdir(parents=True)
    with pytest.raises(RequestError, match="own files"):
        registry.add("two", inside)


def test_removed_project_loses_its_index_and_none_of_its_documents(
    registry: ProjectRegistry, folder: Path
) -> None:
    (folder / "a.txt").write_text("Words.")
    state = registry.add("one", folder).state
    state.mkdir(parents=True)
    (state / "catalogue.db").write_text("x")
    registry.remove("one")
    assert registry.projects() == []
    assert not state.exists()
    assert (folder / "a.txt").read_text() == "Words."
    with pytest.raises(NotFoundError):
        registry.remove("one")


def test_project_in_use_is_not_removed(registry: ProjectRegistry, folder: Path) -> None:
    state = registry.add("one", folder).state
    state.mkdir(parents=True)
    with StateLock(state, "rag-source up"), pytest.raises(StateInUseError, match="rag-source up"):
        registry.remove("one")
    assert [project.name for project in registry.projects()] == ["one"]


@pytest.mark.parametrize("text", ["{", "[]", '{"projects": []}', '{"projects": {"a": 1}}'])
def test_damaged_list_is_an_error_and_is_not_overwritten(
    registry: ProjectRegistry, folder: Path, text: str
) -> None:
    registry.path.parent.mkdir()
    registry.path.write_text(text)
    with pytest.raises(ConfigurationError, match="damaged"):
        registry.add("one", folder)
    assert registry.path.read_text() == text


def test_projects_added_at_the_same_time_are_all_there(tmp_path: Path) -> None:
    folders = [tmp_path / f"f{n}" for n in range(8)]
    for folder in folders:
        folder.mkdir()

    def add(n: int) -> None:
        ProjectRegistry(tmp_path / "base").add(f"p{n}", folders[n])

    threads = [threading.Thread(target=add, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    names = [project.name for project in ProjectRegistry(tmp_path / "base").projects()]
    assert names == [f"p{n}" for n in range(8)]
