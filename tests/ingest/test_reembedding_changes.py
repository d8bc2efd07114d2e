"""A collection made anew while the folder, the queue and the user go on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from ingest.indexing_world import CountingEmbedder
from ingest.reembedding_world import Move, index
from rag_source.domain.catalogue import DocumentRecord
from rag_source.domain.chunks import Vector
from rag_source.domain.errors import BackendOverflowError, BackendUnavailableError
from rag_source.ingest.binding import Binding
from rag_source.ingest.chunker import ChunkingPolicy
from rag_source.ingest.indexer import Indexer


@pytest.fixture
def move(tmp_path: Path) -> Move:
    root = tmp_path / "corpus"
    root.mkdir()
    return Move(root)


async def _during(move: Move, change: Callable[[Indexer], object]) -> Indexer:
    """Make the change, and the work it asks for, when the builder is at its third document."""
    indexer = move.world.indexer()
    work: list[asyncio.Task[object]] = []

    def look(done: int, total: int, path: str) -> None:
        if done == 2 and not work:
            change(indexer)
            work.append(asyncio.create_task(_look_and_work(indexer, move.world.root)))

    await move.builder(indexer).run(on_progress=look)
    await work[0]
    return indexer


async def _look_and_work(indexer: Indexer, root: Path) -> None:
    await indexer.reconcile(root)
    await indexer.drain(root)


async def test_changed_added_deleted_and_moved_documents_are_right_at_the_swap(
    move: Move,
) -> None:
    world = move.world
    await index(move, *(f"{n}.txt" for n in range(8)))
    seen: list[dict[str, str]] = []
    adopt = move.adopt

    async def adopt_and_look(records: Sequence[DocumentRecord]) -> None:
        await adopt(records)
        seen.append(move.texts())

    move.adopt = adopt_and_look  # type: ignore[method-assign]  # looks at the moment of the swap

    def change(indexer: Indexer) -> None:
        world.write("0.txt", "Zero is another document now.")
        world.write("7.txt", "Seven is another document now.")
        world.write("new.txt", "A document that was not there before.")
        (world.root / "1.txt").unlink()
        (world.root / "2.txt").rename(world.root / "moved.txt")

    await _during(move, change)
    (at_the_swap,) = seen
    assert sorted(at_the_swap) == [
        *(f"{n}.txt" for n in (0, 3, 4, 5, 6, 7)),
        "moved.txt",
        "new.txt",
    ]
    assert at_the_swap["0.txt"] == "Zero is another document now."
    assert at_the_swap["7.txt"] == "Seven is another document now."
    assert at_the_swap["new.txt"] == "A document that was not there before."
    # What was renamed was not embedded again; what changed was embedded by its new text only.
    assert move.paid_twice() == []


async def test_queue_goes_on_by_the_new_model_after_the_swap(move: Move) -> None:
    await index(move, *(f"{n}.txt" for n in range(6)))
    indexer = move.world.indexer()
    await move.builder(indexer).run()
    move.world.embedder.embedded.clear()
    move.world.write("late.txt", "A late document.")
    await indexer.run(move.world.root)
    assert move.world.embedder.embedded == []
    assert move.texts()["late.txt"] == "A late document."


async def test_change_that_never_ends_does_not_keep_the_swap_from_coming(move: Move) -> None:
    world = move.world
    await index(move, *(f"{n}.txt" for n in range(6)))
    indexer = world.indexer()
    stop = asyncio.Event()

    async def keep_changing() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            world.write("0.txt", f"Version {number} of this document.")
            await _look_and_work(indexer, world.root)
            await asyncio.sleep(0)

    async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
        tasks.create_task(keep_changing())
        await move.builder(indexer).run()
        stop.set()
    assert move.swaps == 1
    assert len(move.texts()) == 6


async def test_document_too_long_for_the_new_model_fails_alone_and_says_why(move: Move) -> None:
    await index(move, *(f"{n}.txt" for n in range(6)))

    def refuse(texts: Sequence[str]) -> None:
        if any("of 3.txt" in text for text in texts):
            raise BackendOverflowError("a text of 9 characters is too long for the embedder")

    move.embedder.before = refuse
    await move.builder().run()
    record = move.world.record("3.txt")
    assert (record.status, record.code, record.chunks) == ("failed", "too_large", 0)
    assert "RAG_SOURCE_EMBED_LIMIT_TOKENS" in record.message
    assert "3.txt" not in move.texts()
    assert len(move.texts()) == 5


async def test_document_whose_parse_is_lost_is_read_again_after_the_swap(move: Move) -> None:
    await index(move, "a.txt", "b.txt")
    doc_id = move.world.record("a.txt").doc_id
    del move.world.catalogue.parses[doc_id]
    indexer = move.world.indexer()
    await move.builder(indexer).run()
    assert move.world.record("a.txt").status == "indexing"
    await indexer.run(move.world.root)
    assert move.world.record("a.txt").status == "ready"
    assert sorted(move.texts()) == ["a.txt", "b.txt"]


async def test_document_that_other_settings_make_anew_is_still_made_anew_after_the_swap(
    move: Move,
) -> None:
    await index(move, "a.txt", "b.txt")
    outdated = replace(move.world.record("a.txt"), recipe="by older settings")
    move.world.catalogue.save(outdated)
    indexer = move.world.indexer()
    await move.builder(indexer).run()
    assert move.world.record("a.txt").recipe == "by older settings"
    found = await indexer.reconcile(move.world.root)
    assert found.queued == 1


async def test_paused_queue_holds_the_move_back_as_well(move: Move) -> None:
    await index(move, *(f"{n}.txt" for n in range(6)))
    indexer = move.world.indexer()
    indexer.queue.pause()
    moving = asyncio.create_task(move.builder(indexer).run())
    for _ in range(50):
        await asyncio.sleep(0)
    assert move.embedder.embedded == []
    indexer.queue.resume()
    await moving
    assert move.swaps == 1


async def test_queue_waits_while_the_former_model_cannot_be_run(move: Move) -> None:
    await index(move, "a.txt")
    move.world.write("b.txt", "A new document.")
    former = move.world.indexer()
    held = Binding(
        store=move.world.store,
        embedder=move.world.embedder,
        spool=move.world.spool,
        chunking=ChunkingPolicy(),
        recipes=move.world.recipes,
        can_embed=False,
    )
    async with former.turn, former.still():
        former.rebind(held)
    await former.run(move.world.root)
    assert [job.path for job in former.queue.jobs()] == ["b.txt"]
    assert former.queue.changed.is_set()
    former.queue.changed.clear()
    await move.builder(former).run()
    assert former.queue.changed.is_set()
    await former.drain(move.world.root)
    assert sorted(move.texts()) == ["a.txt", "b.txt"]


async def test_failure_of_the_embedder_ends_the_try_and_not_what_is_done(move: Move) -> None:
    await index(move, *(f"{n}.txt" for n in range(6)))
    calls = [0]

    def fail(texts: Sequence[str]) -> None:
        calls[0] += 1
        if calls[0] == 9:
            raise BackendUnavailableError("the embedder does not answer")

    move.embedder.before = fail
    builder = move.builder()
    with pytest.raises(BackendUnavailableError):
        await builder.run()
    assert 0 < builder.done < builder.total == 6
    await builder.run()
    assert move.paid_twice() == []
    assert builder.done == builder.total == 6


async def test_cancelled_swap_is_finished_before_the_cancellation_goes_on(
    move: Move, monkeypatch: pytest.MonkeyPatch
) -> None:
    await index(move, "a.txt")
    reached, go_on = asyncio.Event(), asyncio.Event()
    adopt = move.adopt

    async def slow(records: Sequence[DocumentRecord]) -> None:
        reached.set()
        await go_on.wait()
        await adopt(records)

    monkeypatch.setattr(move, "adopt", slow)
    indexer = move.world.indexer()
    moving = asyncio.create_task(move.builder(indexer).run())
    await reached.wait()
    moving.cancel()
    await asyncio.sleep(0)
    go_on.set()
    with pytest.raises(asyncio.CancelledError):
        await moving
    assert move.swaps == 1
    assert indexer.binding is move.binding


class _Slow(CountingEmbedder):
    """Gives others the word before each batch."""

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        for _ in range(5):
            await asyncio.sleep(0)
        return await super().embed_passages(texts)


async def test_ingestion_and_the_move_take_turns_file_by_file(move: Move) -> None:
    await index(move, *(f"{n}.txt" for n in range(8)))
    order: list[str] = []
    slow = _Slow(name="another", dimension=32, limit_tokens=232)
    slow.before = lambda texts: order.append("move")
    move.binding = replace(move.binding, embedder=slow)
    move.world.embedder.before = lambda texts: order.append("queue")
    for n in range(4):
        move.world.write(f"new-{n}.txt", f"New document {n}.")
    indexer = move.world.indexer()
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(_look_and_work(indexer, move.world.root))
        tasks.create_task(move.builder(indexer).run())
    turns = [one for one, before in zip(order, ["", *order], strict=False) if one != before]
    assert turns.count("queue") >= 3
