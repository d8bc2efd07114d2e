"""The queue of ingestion: pauses, retries, changes under way, and an end at any moment."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from ingest.indexing_world import PowerCut, World
from rag_source.domain.errors import BackendUnavailableError, RequestError
from rag_source.domain.jobs import Job
from rag_source.ingest.indexer import IndexingPolicy
from rag_source.ingest.settling import Settling


@pytest.fixture
def world(tmp_path: Path) -> World:
    root = tmp_path / "corpus"
    root.mkdir()
    return World(root, policy=IndexingPolicy(mass_delete_guard=3, embed_batch=2))


def _long_text(name: str, sentences: int = 12) -> str:
    return "\n\n".join(f"Sentence {n} of {name} says {'word ' * 60}{n}." for n in range(sentences))


def _states(world: World) -> dict[str, str]:
    return {job.path: job.state for job in world.jobs.jobs()}


def _job(world: World, path: str) -> Job:
    job = world.jobs.job(path)
    assert job is not None
    return job


async def test_end_at_any_batch_pays_for_nothing_twice(world: World) -> None:
    world.write("a.txt", _long_text("a"))
    world.write("b.txt", _long_text("b"))
    reference = World(world.root, policy=world.policy)
    await reference.run()
    everything = sorted(reference.embedder.embedded)
    batches = 0
    done: list[str] = []
    while True:
        left = [batches]

        def end_after(texts: Sequence[str], left: list[int] = left) -> None:
            left[0] -= 1
            if left[0] < 0:
                raise PowerCut

        world.embedder.before = end_after
        world.embedder.embedded.clear()
        try:
            await world.indexer().run(world.root)
        except PowerCut:
            done += world.embedder.embedded
            batches = 1
            continue
        done += world.embedder.embedded
        break
    assert sorted(done) == everything
    assert world.text("a.txt") == reference.text("a.txt")
    assert world.jobs.jobs() == []
    assert world.spool.contents() == set()


async def test_document_is_unseen_until_its_last_vector(world: World) -> None:
    world.write("a.txt", _long_text("a"))
    seen: list[int] = []
    world.embedder.before = lambda texts: seen.append(len(world.store.documents))
    await world.run()
    assert len(seen) > 3
    assert set(seen) == {0}


async def test_progress_of_a_job_counts_its_texts(world: World) -> None:
    world.write("a.txt", _long_text("a"))
    seen: list[tuple[str, int, int]] = []

    def look(texts: Sequence[str]) -> None:
        job = _job(world, "a.txt")
        seen.append((job.state, job.done, job.total))

    world.embedder.before = look
    await world.run()
    totals = {total for _, _, total in seen}
    assert {state for state, _, _ in seen} == {"embedding"}
    assert totals == {len(world.embedder.embedded)}
    assert [done for _, done, _ in seen] == list(range(0, totals.pop(), 2))


async def test_paused_file_stops_at_the_next_batch_and_the_others_go_on(world: World) -> None:
    world.write("a.txt", _long_text("a"))
    world.write("b.txt", "Short words.")
    indexer = world.indexer()
    world.embedder.before = lambda texts: (
        indexer.queue.pause("a.txt") if _is_of(texts, "a") else None
    )
    await indexer.run(world.root)
    assert [r.source.path for r in world.catalogue.documents()] == ["b.txt"]
    assert _states(world) == {"a.txt": "paused"}
    paid = list(world.embedder.embedded)

    world.embedder.before = lambda texts: None
    indexer.queue.resume("a.txt")
    await indexer.drain(world.root)
    assert world.record("a.txt").status == "ready"
    assert len(world.embedder.embedded) == len(set(world.embedder.embedded))
    assert world.embedder.embedded[: len(paid)] == paid


async def test_pause_of_everything_survives_a_restart(world: World) -> None:
    world.write("a.txt", _long_text("a"))
    indexer = world.indexer()
    world.embedder.before = lambda texts: indexer.queue.pause()
    await indexer.run(world.root)
    assert world.catalogue.documents() == []

    again = world.indexer()
    world.embedder.before = lambda texts: None
    await again.run(world.root)
    assert world.catalogue.documents() == []
    assert again.queue.status().paused
    again.queue.resume()
    await again.drain(world.root)
    assert world.record("a.txt").status == "ready"
    assert len(world.embedder.embedded) == len(set(world.embedder.embedded))


async def test_pause_interrupts_a_slow_parse(world: World) -> None:
    world.write("a.txt", "Words.")
    indexer = world.indexer()
    started = asyncio.Event()

    async def slow(path: Path, **_: object) -> object:
        started.set()
        await asyncio.sleep(3600)
        return None

    indexer._parser.parse = slow  # type: ignore[method-assign, assignment]
    running = asyncio.create_task(indexer.run(world.root))
    await started.wait()
    indexer.queue.pause("a.txt")
    await asyncio.wait_for(running, timeout=20)
    assert _states(world) == {"a.txt": "paused"}


async def test_cancelled_file_is_left_alone_until_it_changes(world: World) -> None:
    world.write("a.txt", _long_text("a"))
    indexer = world.indexer()
    world.embedder.before = lambda texts: indexer.queue.cancel("a.txt")
    await indexer.run(world.root)
    world.embedder.before = lambda texts: None
    assert _states(world) == {"a.txt": "cancelled"}
    assert world.spool.contents() == set()
    await world.run()
    assert world.catalogue.documents() == []

    world.write("a.txt", "Other words.")
    await world.run()
    assert world.text("a.txt") == "Other words."


async def test_cancelled_file_can_be_retried(world: World) -> None:
    world.write("a.txt", "Words.")
    indexer = world.indexer()
    await indexer.reconcile(world.root)
    indexer.queue.cancel()
    await indexer.drain(world.root)
    assert world.catalogue.documents() == []
    indexer.retry("a.txt")
    await indexer.drain(world.root)
    assert world.record("a.txt").status == "ready"


async def test_failed_file_can_be_retried(world: World) -> None:
    world.write("a.txt", " ")
    await world.run()
    indexer = world.indexer()
    assert (await indexer.run(world.root)).failed[0].code == "no_text"
    world.parsed.clear()
    indexer.retry("a.txt")
    await indexer.run(world.root)
    assert world.parsed == ["a.txt"]
    with pytest.raises(RequestError):
        indexer.retry("unknown.txt")


async def test_preferred_file_goes_first(world: World) -> None:
    for name in "abc":
        world.write(f"{name}.txt", f"Words of {name}.")
    indexer = world.indexer()
    await indexer.reconcile(world.root)
    indexer.queue.prefer("c.txt")
    await indexer.drain(world.root)
    assert world.parsed[0] == "c.txt"
    assert len(world.catalogue.documents()) == 3


@pytest.mark.parametrize("action", ["pause", "resume", "cancel", "prefer"])
async def test_unknown_file_is_a_request_error(world: World, action: str) -> None:
    queue = world.indexer().queue
    with pytest.raises(RequestError, match="not in the queue"):
        getattr(queue, action)("unknown.txt")


async def test_file_deleted_while_it_is_embedded_never_appears(world: World) -> None:
    path = world.write("a.txt", _long_text("a"))
    world.write("b.txt", "Words.")
    await _changing(world, path.unlink)
    assert [r.source.path for r in world.catalogue.documents()] == ["b.txt"]
    assert world.jobs.jobs() == []
    assert world.spool.contents() == set()


async def test_file_changed_while_it_is_embedded_appears_in_its_last_version(world: World) -> None:
    world.write("a.txt", _long_text("a"))
    await _changing(world, lambda: world.write("a.txt", "Entirely other words."))
    assert world.text("a.txt") == "Entirely other words."
    assert len(world.catalogue.documents()) == 1


async def test_changed_file_keeps_its_old_version_answering_meanwhile(world: World) -> None:
    world.write("a.txt", "Old words.")
    await world.run()
    world.write("a.txt", _long_text("a"))
    texts: list[str] = []
    world.embedder.before = lambda _: texts.append(world.text("a.txt"))
    await world.run()
    assert set(texts) == {"Old words."}
    assert world.text("a.txt").startswith("Sentence 0")


async def test_touched_file_in_the_queue_keeps_its_place_and_its_spool(world: World) -> None:
    path = world.write("a.txt", _long_text("a"))
    indexer = world.indexer()
    world.embedder.before = lambda texts: indexer.queue.pause("a.txt")
    await indexer.run(world.root)
    world.embedder.before = lambda texts: None
    path.touch()
    await indexer.run(world.root)
    assert _states(world) == {"a.txt": "paused"}
    indexer.queue.resume("a.txt")
    await indexer.drain(world.root)
    assert len(world.embedder.embedded) == len(set(world.embedder.embedded))


async def test_renamed_file_in_the_queue_pays_for_nothing_twice(world: World) -> None:
    path = world.write("a.txt", _long_text("a"))
    indexer = world.indexer()
    world.embedder.before = lambda texts: indexer.queue.pause()
    await indexer.run(world.root)
    world.embedder.before = lambda texts: None
    path.rename(path.with_name("b.txt"))
    indexer.queue.resume()
    await indexer.run(world.root)
    assert [r.source.path for r in world.catalogue.documents()] == ["b.txt"]
    sentences = [text for text in world.embedder.embedded if not text.startswith("a\n")]
    assert len(sentences) == len(set(sentences))


async def test_embedder_that_fails_leaves_the_job_queued_with_what_it_paid(world: World) -> None:
    world.write("a.txt", _long_text("a"))
    calls = [0]

    def fail_at_three(texts: Sequence[str]) -> None:
        calls[0] += 1
        if calls[0] == 3:
            raise BackendUnavailableError("gone")

    world.embedder.before = fail_at_three
    with pytest.raises(BackendUnavailableError):
        await world.run()
    assert _states(world) == {"a.txt": "queued"}
    await world.indexer().run(world.root)
    assert len(world.embedder.embedded) == len(set(world.embedder.embedded))


async def test_process_that_ended_leaves_its_job_queued(world: World) -> None:
    world.write("a.txt", "Words.")
    indexer = world.indexer()
    await indexer.reconcile(world.root)
    indexer.queue.advance(_job(world, "a.txt"), "embedding", 3, 9)
    assert [(j.state) for j in world.indexer().queue.status().jobs] == ["queued"]


async def test_version_that_is_swapped_in_when_the_power_goes_is_the_one_that_answers(
    world: World,
) -> None:
    world.write("a.txt", "Old words.")
    await world.run()
    world.write("a.txt", "New words, more of them.")
    world.catalogue.loses_power = True
    with pytest.raises(PowerCut):
        await world.run()
    world.catalogue.loses_power = False
    paid = list(world.embedder.embedded)
    assert world.text("a.txt") == "New words, more of them."

    await world.indexer().settle()
    parsed = world.catalogue.parsed(world.record("a.txt").doc_id)
    assert parsed is not None
    assert parsed.text == "New words, more of them."
    await world.indexer().run(world.root)
    assert world.embedder.embedded == paid


async def test_version_that_was_staged_only_is_forgotten_and_made_again(world: World) -> None:
    world.write("a.txt", "Old words.")
    await world.run()
    world.write("a.txt", "New words, more of them.")

    async def no_power(doc_id: str, chunks: object) -> None:
        raise PowerCut

    replace, world.store.replace = world.store.replace, no_power  # type: ignore[method-assign]
    with pytest.raises(PowerCut):
        await world.run()
    world.store.replace = replace  # type: ignore[method-assign]
    paid = list(world.embedder.embedded)
    await world.indexer().settle()
    parsed = world.catalogue.parsed(world.record("a.txt").doc_id)
    assert parsed is not None
    assert parsed.text == "Old words."
    await world.indexer().run(world.root)
    assert world.text("a.txt") == "New words, more of them."
    assert world.embedder.embedded == paid


async def test_store_that_fails_leaves_the_old_version_and_nothing_staged(world: World) -> None:
    world.write("a.txt", "Old words.")
    await world.run()
    world.write("a.txt", "New words, more of them.")

    async def refuse(doc_id: str, chunks: object) -> None:
        raise BackendUnavailableError("disk full")

    replace, world.store.replace = world.store.replace, refuse  # type: ignore[method-assign]
    with pytest.raises(BackendUnavailableError):
        await world.run()
    world.store.replace = replace  # type: ignore[method-assign]
    assert world.catalogue.staged() == {}
    assert world.text("a.txt") == "Old words."


async def test_file_that_changes_while_it_is_parsed_is_not_indexed_half(world: World) -> None:
    world.write("a.txt", "Words.")
    indexer = world.indexer()
    await indexer.reconcile(world.root)
    world.write("a.txt", "Words that came too late.")
    await indexer.drain(world.root)
    assert (world.record("a.txt").status, world.record("a.txt").code) == ("failed", "unreadable")
    await indexer.run(world.root)
    assert world.text("a.txt") == "Words that came too late."


async def test_file_that_is_being_written_waits_for_a_later_look(world: World) -> None:
    world.write("a.txt", "Half of the wor")
    world.write("b.txt", "Other words.")
    now = [0.0]
    settling = Settling(quiet_s=2.0, now=lambda: now[0])
    indexer = world.indexer()
    found = await indexer.reconcile(world.root, settling=settling)
    assert (found.queued, found.waiting) == (0, 2)
    now[0] = 3.0
    world.write("a.txt", "Half of the words, and the other half.")
    found = await indexer.reconcile(world.root, settling=settling)
    assert (found.queued, found.waiting) == (1, 1)
    await indexer.drain(world.root)
    assert [r.source.path for r in world.catalogue.documents()] == ["b.txt"]
    now[0] = 6.0
    await indexer.reconcile(world.root, settling=settling)
    await indexer.drain(world.root)
    assert world.text("a.txt") == "Half of the words, and the other half."


def _is_of(texts: Sequence[str], name: str) -> bool:
    return any(f" of {name} " in text for text in texts)


async def _changing(world: World, change: Callable[[], object]) -> None:
    """Index, with a change and a look at the folder in the middle of embedding `a.txt`."""
    indexer = world.indexer()
    looks: list[asyncio.Task[object]] = []

    def once(texts: Sequence[str]) -> None:
        if not looks and _is_of(texts, "a"):
            change()
            looks.append(asyncio.create_task(indexer.reconcile(world.root)))

    world.embedder.before = once
    embed = world.embedder.embed_passages

    async def after_the_look(texts: Sequence[str]) -> object:
        vectors = await embed(texts)
        if looks:
            await looks[0]
        return vectors

    world.embedder.embed_passages = after_the_look  # type: ignore[method-assign, assignment]
    await indexer.run(world.root)
    await indexer.drain(world.root)
    assert looks
