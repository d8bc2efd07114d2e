"""What is in the queue when the process ends, or when its file gets another name or time."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from ingest.indexing_world import PlainSparse, PowerCut, World
from rag_source.domain.catalogue import FileState
from rag_source.ingest.indexer import IndexingPolicy
from rag_source.ingest.settling import Settling


@pytest.fixture
def world(tmp_path: Path) -> World:
    root = tmp_path / "corpus"
    root.mkdir()
    return World(root, policy=IndexingPolicy(mass_delete_guard=3, embed_batch=2))


def _long_text(name: str, sentences: int = 12) -> str:
    lines = (f"Sentence {n} of {name} says {'word ' * 60}{n}." for n in range(sentences))
    return f"About {name}\n\n" + "\n\n".join(lines)


async def _half_embedded(world: World, path: str) -> None:
    """A process that ends after three batches of a file."""
    calls = [0]

    def end_at_four(texts: Sequence[str]) -> None:
        calls[0] += 1
        if calls[0] == 4:
            raise PowerCut

    world.embedder.before = end_at_four
    with pytest.raises(PowerCut):
        await world.indexer().run(world.root)
    world.embedder.before = lambda texts: None
    assert len(world.embedder.embedded) == 6
    assert [job.path for job in world.jobs.jobs()] == [path]


def _paid_twice(world: World) -> list[str]:
    texts = world.embedder.embedded
    return sorted({text for text in texts if texts.count(text) > 1})


async def test_restarted_service_goes_on_without_waiting_for_files_to_settle(world: World) -> None:
    world.write("a.txt", _long_text("a"))
    await _half_embedded(world, "a.txt")
    again = world.indexer()
    found = await again.reconcile(world.root, settling=Settling())
    assert (found.waiting, found.queued) == (0, 0)
    await again.drain(world.root)
    assert world.record("a.txt").status == "ready"
    assert _paid_twice(world) == []


async def test_file_renamed_while_no_process_runs_keeps_what_it_has_cost(world: World) -> None:
    path = world.write("a.txt", _long_text("a"))
    await _half_embedded(world, "a.txt")
    path.rename(path.with_name("b.txt"))
    again = world.indexer()
    await again.reconcile(world.root, settling=Settling())
    await again.drain(world.root)
    assert [record.source.path for record in world.catalogue.documents()] == ["b.txt"]
    assert _paid_twice(world) == []
    assert world.spool.contents() == set()


async def test_file_touched_while_it_is_embedded_keeps_what_it_has_cost(world: World) -> None:
    path = world.write("a.txt", _long_text("a"))
    await _half_embedded(world, "a.txt")
    path.touch()
    again = world.indexer()
    found = await again.reconcile(world.root, settling=Settling())
    assert found.waiting == 1
    await again.drain(world.root)
    assert world.record("a.txt").status == "ready"
    assert _paid_twice(world) == []


async def test_file_written_anew_while_it_is_embedded_waits_until_it_is_whole(
    world: World,
) -> None:
    path = world.write("a.txt", _long_text("a"))
    await _half_embedded(world, "a.txt")
    path.write_text("Half of the wor", encoding="utf-8")
    now = [0.0]
    settling = Settling(quiet_s=2.0, now=lambda: now[0])
    again = world.indexer()
    await again.reconcile(world.root, settling=settling)
    await again.drain(world.root)
    assert world.catalogue.documents() == []
    assert world.jobs.jobs() == []
    path.write_text("Half of the words, and the other half.", encoding="utf-8")
    await again.reconcile(world.root, settling=settling)
    now[0] = 3.0
    await again.reconcile(world.root, settling=settling)
    await again.drain(world.root)
    assert world.text("a.txt") == "Half of the words, and the other half."
    assert world.spool.contents() == set()


async def test_spool_of_a_job_that_had_just_ended_is_cleared_at_the_next_start(
    world: World,
) -> None:
    world.write("a.txt", "Words.")
    await world.run()
    fingerprint = world.record("a.txt").source.fingerprint
    world.spool.keep_vectors(fingerprint, {b"of a text": [1.0]})
    await world.indexer().settle()
    assert world.spool.contents() == set()


async def test_removal_that_was_cut_short_leaves_no_document_that_seems_ready(
    world: World,
) -> None:
    path = world.write("a.txt", "Words.")
    world.write("b.txt", "Other words.")
    await world.run()
    doc_id = world.record("a.txt").doc_id
    await world.store.remove([doc_id])
    again = world.indexer()
    await again.settle()
    assert world.record("a.txt").status == "indexing"
    assert world.record("b.txt").status == "ready"
    await again.run(world.root)
    assert (world.record("a.txt").status, world.record("a.txt").doc_id) == ("ready", doc_id)
    await world.store.remove([doc_id])
    path.unlink()
    again = world.indexer()
    await again.run(world.root)
    assert [record.source.path for record in world.catalogue.documents()] == ["b.txt"]


async def test_document_that_lost_its_chunks_and_its_file_is_not_taken_for_moved(
    world: World,
) -> None:
    path = world.write("a.txt", "Words.")
    world.write("b.txt", "Other words.")
    await world.run()
    await world.store.remove([world.record("a.txt").doc_id])
    path.rename(path.with_name("c.txt"))
    await world.indexer().run(world.root)
    assert world.text("c.txt") == "Words."
    assert world.record("c.txt").status == "ready"


async def test_stale_document_without_chunks_is_read_again(world: World) -> None:
    path = world.write("a.txt", "Words.")
    await world.run()
    known = world.record("a.txt")
    world.catalogue.save(replace(known, code="damaged", message="The file is damaged."))
    await world.store.remove([known.doc_id])
    path.touch()
    await asyncio.sleep(0)
    await world.indexer().run(world.root)
    assert world.record("a.txt").status == "ready"
    assert world.text("a.txt") == "Words."


async def test_file_on_which_the_program_itself_fails_does_not_stop_the_others(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "abc":
        world.write(f"{name}.txt", f"Words of {name}.")
    encode = PlainSparse.encode_document

    def fail_on_b(self: PlainSparse, text: str, *, language: str) -> object:
        if "of b" in text:
            raise ZeroDivisionError
        return encode(self, text, language=language)

    monkeypatch.setattr(PlainSparse, "encode_document", fail_on_b)
    report = await world.run()
    assert [(failure.path, failure.code) for failure in report.failed] == [
        ("b.txt", "parser_error")
    ]
    assert "ZeroDivisionError" in report.failed[0].message
    assert [world.record(f"{name}.txt").status for name in "ac"] == ["ready", "ready"]
    assert world.jobs.jobs() == []


async def test_file_that_comes_through_during_a_look_is_not_queued_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.write("a.txt", _long_text("a"))
    indexer = world.indexer()
    await indexer.reconcile(world.root)
    loop = asyncio.get_running_loop()
    states = world.catalogue.file_states

    def finished_meanwhile() -> list[FileState]:
        before = states()
        asyncio.run_coroutine_threadsafe(indexer.drain(world.root), loop).result(timeout=30)
        return before

    monkeypatch.setattr(world.catalogue, "file_states", finished_meanwhile)
    found = await indexer.reconcile(world.root)
    assert world.record("a.txt").status == "ready"
    assert found.queued == 0
    assert world.jobs.jobs() == []
    assert _paid_twice(world) == []
