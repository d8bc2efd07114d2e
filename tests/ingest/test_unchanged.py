"""Files that need nothing are set aside without a record of them; all others are looked at."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from ingest.indexing_world import World
from rag_source.domain.catalogue import DocumentRecord, FileState
from rag_source.domain.documents import ParseWarning, SourceFile
from rag_source.ingest.chunker import ChunkingPolicy
from rag_source.ingest.ocr import OcrPolicy
from rag_source.ingest.recipes import Recipes
from rag_source.ingest.registry import LoaderRegistry
from rag_source.ingest.scan import FoundFile, Scan
from rag_source.ingest.unchanged import set_aside_unchanged

_REGISTRY = LoaderRegistry()
_RECIPES = Recipes(chunking=ChunkingPolicy(), ocr=OcrPolicy())
_LOADER = _REGISTRY.loader_for("a.txt")
assert _LOADER is not None
_STATE = FileState(
    doc_id="d",
    path="sub/a.txt",
    size_bytes=10,
    mtime_ns=20,
    status="ready",
    code="",
    loader=_LOADER.name,
    loader_version=_LOADER.version,
    recipe="",
    pages=0,
    chunks=1,
)
_TODAY = _STATE._replace(recipe=_RECIPES.for_states()(_STATE))
_FILE = FoundFile(path="sub/a.txt", size_bytes=10, mtime_ns=20)


def _left(file: FoundFile, state: FileState, stored: set[str]) -> tuple[list[str], list[str], int]:
    left = set_aside_unchanged(
        Scan(files=(file,)), [state], _REGISTRY, stored=stored, recipe=_RECIPES.for_states()
    )
    return [one.path for one in left.found.files], list(left.doc_ids), left.unchanged


def test_file_that_is_as_it_was_is_set_aside() -> None:
    assert _left(_FILE, _TODAY, {"d"}) == ([], [], 1)


@pytest.mark.parametrize(
    ("file", "state", "stored"),
    [
        pytest.param(_FILE._replace(size_bytes=11), _TODAY, {"d"}, id="another-size"),
        pytest.param(_FILE._replace(mtime_ns=19), _TODAY, {"d"}, id="another-time"),
        pytest.param(_FILE, _TODAY._replace(status="failed"), {"d"}, id="failed"),
        pytest.param(_FILE, _TODAY._replace(status="indexing"), {"d"}, id="lost-its-chunks"),
        pytest.param(_FILE, _TODAY._replace(code="damaged"), {"d"}, id="stale"),
        pytest.param(_FILE, _TODAY._replace(loader="html"), {"d"}, id="another-loader"),
        pytest.param(_FILE, _TODAY._replace(loader_version=0), {"d"}, id="another-version"),
        pytest.param(_FILE, _TODAY._replace(recipe="old"), {"d"}, id="another-recipe"),
        pytest.param(_FILE, _TODAY, set(), id="no-chunks"),
    ],
)
def test_file_or_record_that_differs_in_anything_is_left(
    file: FoundFile, state: FileState, stored: set[str]
) -> None:
    assert _left(file, state, stored) == (["sub/a.txt"], ["d"], 0)


@pytest.mark.parametrize("path", ["txt", "sub.txt/a", "new.txt", "a.unknown"])
def test_file_without_a_record_is_left(path: str) -> None:
    left, ids, unchanged = _left(_FILE._replace(path=path), _TODAY, {"d"})
    assert (left, ids, unchanged) == ([path], ["d"], 0)


@pytest.mark.parametrize("path", ["sub.txt/a", "sub.a/txt"])
def test_name_without_a_suffix_is_of_no_loader(path: str) -> None:
    assert _left(_FILE._replace(path=path), _TODAY._replace(path=path), {"d"})[2] == 0


@pytest.mark.parametrize(
    ("pages", "warnings"),
    [(0, ()), (3, ()), (3, ("ocr_poor",)), (3, ("pages_without_text", "x")), (0, ("ocr_poor",))],
)
@pytest.mark.parametrize("mode", ["auto", "force"])
def test_recipe_of_a_state_is_that_of_its_record(
    pages: int, warnings: tuple[str, ...], mode: str
) -> None:
    recipes = Recipes(chunking=ChunkingPolicy(), ocr=OcrPolicy(mode=mode))  # type: ignore[arg-type]
    state = _STATE._replace(pages=pages, warning_codes=" ".join(warnings))
    assert recipes.for_states()(state) == recipes.of(_record(pages, warnings))


async def test_look_at_a_folder_at_rest_reads_no_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tmp_path.joinpath("corpus").mkdir()
    world = World(tmp_path / "corpus")
    for name in "abc":
        world.write(f"{name}.txt", f"Words of {name}.")
    await world.run()

    def refuse(*_: object) -> object:
        raise AssertionError("a record was read, or the engine asked for all documents")

    again = world.indexer()
    await again.settle()
    with monkeypatch.context() as patch:
        for name in ("documents", "document"):
            patch.setattr(world.catalogue, name, refuse)
        patch.setattr(world.store, "doc_ids", refuse)
        found = await again.reconcile(world.root)
    assert (found.unchanged, found.queued) == (3, 0)


async def test_chunks_that_vanish_from_the_store_are_missed_by_their_number(
    tmp_path: Path,
) -> None:
    tmp_path.joinpath("corpus").mkdir()
    world = World(tmp_path / "corpus")
    for name in "abc":
        world.write(f"{name}.txt", f"Words of {name}.")
    await world.run()
    again = world.indexer()
    await again.settle()
    await world.store.remove([world.record("b.txt").doc_id])
    found = await again.reconcile(world.root)
    assert (found.unchanged, found.queued) == (2, 1)


def _record(pages: int, warnings: tuple[str, ...]) -> DocumentRecord:
    source = SourceFile(path="sub/a.txt", fingerprint="f", size_bytes=10, mtime_ns=20)
    record = DocumentRecord(doc_id="d", source=source, status="ready", chunks=1)
    found = tuple(ParseWarning(code=code, message="m") for code in warnings)
    return replace(record, pages=pages, warnings=found)
