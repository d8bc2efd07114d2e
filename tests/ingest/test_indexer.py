"""The incremental indexer on real files and loaders, with stand-ins for models and store."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from documents import make_csv
from fakes import WordCounter
from ingest.indexing_world import PlainSparse, PowerCut, World
from rag_source.domain.errors import BackendUnavailableError, ConfigurationError
from rag_source.domain.reports import IngestReport
from rag_source.ingest.indexer import Indexer
from rag_source.ingest.parsing import InProcessParser


@pytest.fixture
def world(tmp_path: Path) -> World:
    root = tmp_path / "corpus"
    root.mkdir()
    return World(root)


def _counts(report: IngestReport) -> tuple[int, int, int, int, list[tuple[str, str]]]:
    failed = [(failure.path, failure.code) for failure in report.failed]
    return report.added, report.updated, report.removed, report.unchanged, failed


async def test_new_files_are_indexed_and_ready(world: World) -> None:
    world.write("a.txt", "The oven is warm. The plate is cold.")
    make_csv(world.root / "b.csv", [["name", "price"], ["bowl", "2"]])

    report = await world.run()

    assert _counts(report) == (2, 0, 0, 0, [])
    assert report.chunks == 2
    record = world.record("a.txt")
    assert (record.status, record.chunks, record.format, record.loader) == (
        "ready",
        1,
        "txt",
        "text",
    )
    assert record.indexed_at == "2026-04-01T12:00:00+00:00"
    assert world.catalogue.parsed(record.doc_id) is not None


async def test_each_sentence_has_a_vector_and_rows_carry_their_column_names(world: World) -> None:
    make_csv(world.root / "b.csv", [["name", "price"], ["bowl", "2"], ["cup", "3"]])

    await world.run()

    (one,) = world.chunks("b.csv")
    assert len(one.sentence_vectors) == len(one.chunk.sentences) == 3
    assert "name: bowl; price: 2" in world.embedder.embedded


async def test_equal_sentences_are_embedded_once(world: World) -> None:
    world.write("a.txt", "It has returned.\n\nIt has returned.\n\nIt has returned.")

    await world.run()

    assert world.embedder.embedded.count("It has returned.") == 1
    assert len(world.chunks("a.txt")[0].sentence_vectors) == 3


async def test_unchanged_file_is_not_even_read(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.write("a.txt", "Words.")
    await world.run()
    monkeypatch.setattr("rag_source.ingest.reconciler.fingerprint", _must_not_be_called)

    report = await world.run()

    assert _counts(report) == (0, 0, 0, 1, [])


async def test_touched_file_is_read_but_not_parsed(world: World) -> None:
    path = world.write("a.txt", "Words.")
    await world.run()
    os.utime(path, ns=(1, 1))

    report = await world.run()

    assert _counts(report) == (0, 0, 0, 1, [])
    assert world.parsed == []
    assert world.record("a.txt").source.mtime_ns == 1


async def test_changed_file_is_swapped_under_the_same_id(world: World) -> None:
    world.write("a.txt", "Old words.")
    await world.run()
    doc_id = world.record("a.txt").doc_id
    world.write("a.txt", "New words, longer.")

    report = await world.run()

    assert _counts(report) == (0, 1, 0, 0, [])
    assert world.record("a.txt").doc_id == doc_id
    assert world.text("a.txt") == "New words, longer."


async def test_deleted_file_leaves_nothing_and_can_come_back(world: World) -> None:
    path = world.write("a.txt", "Words.")
    await world.run()
    path.unlink()

    assert _counts(await world.run()) == (0, 0, 1, 0, [])
    assert world.store.documents == {}
    assert world.catalogue.documents() == []

    world.write("a.txt", "Words.")
    assert _counts(await world.run()) == (1, 0, 0, 0, [])


async def test_renamed_file_keeps_its_id_and_costs_no_embedding(world: World) -> None:
    path = world.write("old/a.txt", "Words.")
    await world.run()
    doc_id = world.record("old/a.txt").doc_id
    path.parent.rename(world.root / "new")

    report = await world.run()

    assert _counts(report) == (0, 1, 0, 0, [])
    assert world.record("new/a.txt").doc_id == doc_id
    assert [one.chunk.path for one in world.chunks("new/a.txt")] == ["new/a.txt"]
    assert world.embedder.embedded == []


async def test_same_bytes_under_two_names_are_embedded_once(world: World) -> None:
    text = "Title of both\n\nSame words here."
    world.write("a.txt", text)
    world.write("z.txt", text)

    await world.run()

    assert world.text("a.txt") == world.text("z.txt")
    assert len(world.embedder.embedded) == len(set(world.embedder.embedded))


async def test_failed_file_is_reported_each_time_but_not_tried_again(world: World) -> None:
    world.write("bad.txt", "")
    world.write("good.txt", "Words.")

    first, second = await world.run(), await world.run()

    assert _counts(first) == (1, 0, 0, 0, [("bad.txt", "empty")])
    assert _counts(second) == (0, 0, 0, 1, [("bad.txt", "empty")])
    assert world.parsed == []


async def test_failed_file_that_is_mended_is_indexed(world: World) -> None:
    world.write("bad.txt", "")
    await world.run()
    world.write("bad.txt", "Words.")

    assert _counts(await world.run()) == (1, 0, 0, 0, [])
    assert world.record("bad.txt").code == ""


async def test_unreadable_file_is_tried_again_though_nothing_shows_on_disk(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.write("a.txt", "Words.")
    with monkeypatch.context() as patch:
        patch.setattr(Path, "open", _refuse)
        assert _counts(await world.run()) == (0, 0, 0, 0, [("a.txt", "unreadable")])

    assert _counts(await world.run()) == (1, 0, 0, 0, [])


async def test_unsupported_format_is_reported_not_ignored(world: World) -> None:
    world.write("model.xyz", "data")

    for _ in range(2):
        assert _counts(await world.run()) == (0, 0, 0, 0, [("model.xyz", "unsupported")])
    assert world.record("model.xyz").status == "failed"


async def test_version_that_cannot_be_read_leaves_the_old_one_answering(world: World) -> None:
    world.write("a.txt", "Old words.")
    await world.run()
    world.write("a.txt", "")

    for _ in range(2):
        assert _counts(await world.run()) == (0, 0, 0, 0, [("a.txt", "empty")])
    record = world.record("a.txt")
    assert record.status == "ready"
    assert [warning.code for warning in record.warnings] == ["stale"]
    assert world.text("a.txt") == "Old words."


async def test_old_bytes_that_come_back_end_the_staleness(world: World) -> None:
    world.write("a.txt", "Old words.")
    await world.run()
    world.write("a.txt", "")
    await world.run()
    world.write("a.txt", "Old words.")

    assert _counts(await world.run()) == (0, 0, 0, 1, [])
    assert world.record("a.txt").code == ""
    assert world.record("a.txt").warnings == ()


async def test_new_loader_version_parses_again(world: World) -> None:
    world.write("a.txt", "Words.")
    await world.run()
    record = world.record("a.txt")
    world.catalogue.save(replace(record, loader_version=record.loader_version + 1))

    assert _counts(await world.run()) == (0, 1, 0, 0, [])
    assert world.parsed == ["a.txt"]


async def test_force_parses_and_embeds_everything_again_to_the_same_chunks(world: World) -> None:
    world.write("a.txt", "Words.")
    await world.run()
    before = world.chunks("a.txt")

    assert _counts(await world.run(force=True)) == (0, 1, 0, 0, [])
    assert world.chunks("a.txt") == before


async def test_embedder_that_fails_stops_the_pass_and_keeps_the_old_version(world: World) -> None:
    world.write("a.txt", "Old words.")
    await world.run()
    world.write("a.txt", "New words, longer.")
    world.embedder.broken = True

    with pytest.raises(BackendUnavailableError):
        await world.run()

    assert world.text("a.txt") == "Old words."
    world.embedder.broken = False
    assert _counts(await world.run()) == (0, 1, 0, 0, [])


async def test_crash_between_store_and_catalogue_heals_with_the_next_pass(world: World) -> None:
    world.write("a.txt", "Words.")
    world.catalogue.loses_power = True
    with pytest.raises(PowerCut):
        await world.run()
    assert len(world.store.documents) == 1

    world.catalogue.loses_power = False
    await world.run()

    assert world.record("a.txt").status == "ready"
    assert set(world.store.documents) == {world.record("a.txt").doc_id}


async def test_chunks_that_no_record_knows_are_removed(world: World) -> None:
    world.write("a.txt", "Words.")
    await world.run()
    world.catalogue.remove([world.record("a.txt").doc_id])

    await world.run()

    assert set(world.store.documents) == {world.record("a.txt").doc_id}


async def test_ready_record_whose_chunks_are_lost_is_indexed_again(world: World) -> None:
    world.write("a.txt", "Words.")
    await world.run()
    world.store.documents.clear()

    assert _counts(await world.run()) == (0, 1, 0, 0, [])
    assert world.text("a.txt") == "Words."


async def test_missing_folder_deletes_nothing(world: World) -> None:
    world.write("a.txt", "Words.")
    await world.run()
    world.root.rename(world.root.with_name("elsewhere"))

    with pytest.raises(ConfigurationError):
        await world.run()
    assert len(world.store.documents) == 1


async def test_folder_suddenly_empty_is_an_error_until_forced(world: World) -> None:
    paths = [world.write(f"{i}.txt", f"Words {i}.") for i in range(3)]
    await world.run()
    for path in paths:
        path.unlink()

    with pytest.raises(ConfigurationError, match="is empty, but 3"):
        await world.run()
    assert len(world.store.documents) == 3
    assert _counts(await world.run(force=True)) == (0, 0, 3, 0, [])


async def test_empty_folder_reports_nothing_at_all(world: World) -> None:
    assert _counts(await world.run()) == (0, 0, 0, 0, [])


async def test_progress_names_each_file_and_comes_to_an_end(world: World) -> None:
    world.write("a.txt", "Words.")
    world.write("b.txt", "More words.")
    seen: list[tuple[int, int, str]] = []
    indexer = Indexer(
        catalogue=world.catalogue,
        store=world.store,
        jobs=world.jobs,
        spool=world.spool,
        embedder=world.embedder,
        sparse=PlainSparse(),
        counter=WordCounter(),
        parser=InProcessParser(world.registry),
    )

    await indexer.run(
        world.root, on_progress=lambda done, total, path: seen.append((done, total, path))
    )

    assert seen == [(0, 2, "a.txt"), (1, 2, "b.txt"), (2, 2, "")]


def _must_not_be_called(path: Path) -> str:
    raise AssertionError(path)


def _refuse(path: Path, *_: object, **__: object) -> None:
    raise PermissionError(13, "Permission denied")
