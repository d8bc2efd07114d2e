"""The engine store's own promises: swaps nobody sees half of, kills, damage, other models."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from qdrant_edge import UpdateOperation

from rag_source.domain.chunks import EmbeddingModel
from rag_source.domain.errors import (
    BackendError,
    ConfigurationError,
    RequestError,
    StateInUseError,
)
from rag_source.domain.evidence import SearchFilter, SearchMode
from rag_source.domain.ports import ChunkQuery
from rag_source.store.edge import EdgeChunkStore, WritePolicy
from rag_source.store.queries import FusionPolicy
from store_inputs import MODEL, embedded, engine_folder, make_chunk, make_version, terms, unit

SMALL_BATCHES = WritePolicy(batch_points=2)


@pytest.fixture(scope="module")
def shared() -> Iterator[EdgeChunkStore]:
    """Opened once, because making an engine's files takes a while."""
    with (
        engine_folder() as folder,
        EdgeChunkStore(folder, MODEL, writing=SMALL_BATCHES) as store,
    ):
        yield store


@pytest.fixture
async def store(shared: EdgeChunkStore) -> EdgeChunkStore:
    await shared.remove(sorted(await shared.doc_ids()))
    return shared


def query(mode: SearchMode = "hybrid", **changes: Any) -> ChunkQuery:
    asked = ChunkQuery(
        mode=mode, limit=50, depth=50, dense=tuple(unit(1)), sparse=terms(1), signals=True
    )
    return replace(asked, **changes)


class FailingShard:
    """Passes everything on, but for one update that runs into a full disk."""

    def __init__(self, shard: Any, *, failing_update: int) -> None:
        self._shard = shard
        self._left = failing_update

    def update(self, operation: UpdateOperation) -> None:
        self._left -= 1
        if self._left == 0:
            raise RuntimeError("IO error: No space left on device (os error 28)")
        self._shard.update(operation)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._shard, name)


@pytest.mark.parametrize("mode", ["dense", "bm25", "hybrid"])
async def test_every_search_during_replacements_sees_exactly_one_version(
    store: EdgeChunkStore, mode: SearchMode
) -> None:
    await store.replace("d", make_version("d", 0))
    seen: set[str] = set()
    wrong: list[list[str]] = []
    done = asyncio.Event()

    async def search() -> None:
        while not done.is_set():
            texts = [c.chunk.text for c in await store.search(query(mode))]
            seen.update(texts)
            if len(texts) != 5 or len(set(texts)) != 1:
                wrong.append(texts)
            if await store.count() != 5:
                wrong.append(["count"])

    async with asyncio.TaskGroup() as group:
        for _ in range(3):
            group.create_task(search())
        # More where the searches of a busy machine saw few versions go by.
        for number in range(1, 500):
            await store.replace("d", make_version("d", number))
            if number >= 24 and len(seen) > 3:
                break
        done.set()
    assert wrong == []
    assert len(seen) > 3


async def test_document_that_is_being_written_for_the_first_time_is_not_seen(
    store: EdgeChunkStore,
) -> None:
    sizes: set[int] = set()
    done = asyncio.Event()

    async def search() -> None:
        while not done.is_set():
            sizes.add(len(await store.search(query(filter=SearchFilter(doc_ids=("new",))))))
            known = await store.doc_ids()
            sizes.add(40 if known == {"new"} else len(known))

    async with asyncio.TaskGroup() as group:
        group.create_task(search())
        await store.replace("new", make_version("new", 1, chunks=40))
        await asyncio.sleep(0.05)
        done.set()
    assert 40 in sizes
    assert sizes <= {0, 40}


async def test_cancelled_replace_still_ends_in_one_version(store: EdgeChunkStore) -> None:
    await store.replace("d", make_version("d", 1))
    task = asyncio.create_task(store.replace("d", make_version("d", 2, chunks=30)))
    await asyncio.sleep(0)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    await store.rename("d", "moved.txt")  # waits for the writer
    texts = [c.chunk.text for c in await store.search(query())]
    assert texts in (["version 1"] * 5, ["version 2"] * 30)


async def test_failed_replace_leaves_the_old_version_answering(
    store: EdgeChunkStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    await store.replace("d", make_version("d", 1))
    with monkeypatch.context() as patch:
        patch.setattr(store, "_shard", FailingShard(store._shard, failing_update=3))
        with pytest.raises(BackendError, match="No space left") as caught:
            await store.replace("d", make_version("d", 2, chunks=9))
    assert caught.value.code == "disk_full"
    assert [c.chunk.text for c in await store.search(query())] == ["version 1"] * 5
    assert await store.count() == 5
    await store.replace("d", make_version("d", 3))
    assert [c.chunk.text for c in await store.search(query())] == ["version 3"] * 5


@pytest.mark.parametrize(
    "bad",
    [
        pytest.param({"dense": (float("nan"), 0, 0, 0)}, id="nan"),
        pytest.param({"dense": (1.0, 0.0)}, id="short"),
        pytest.param({"sentence_vectors": ((float("inf"), 0, 0, 0),)}, id="infinite-sentence"),
        pytest.param({"sentence_vectors": ((),)}, id="empty-sentence"),
    ],
)
async def test_vector_that_is_no_vector_is_refused_and_nothing_changes(
    store: EdgeChunkStore, bad: dict[str, Any]
) -> None:
    await store.replace("d", make_version("d", 1))
    chunks = make_version("d", 2)
    with pytest.raises(BackendError, match="finite") as caught:
        await store.replace("d", [*chunks[:3], replace(chunks[3], **bad)])
    assert caught.value.code == "bad_vector"
    assert [c.chunk.text for c in await store.search(query())] == ["version 1"] * 5


async def test_question_with_a_vector_of_another_dimension_is_refused(
    store: EdgeChunkStore,
) -> None:
    with pytest.raises(RequestError, match="needs a vector of 4 numbers, not 2"):
        await store.search(query(dense=(1.0, 0.0)))


async def test_chunks_without_sentence_vectors_have_no_sentence_signal(
    store: EdgeChunkStore,
) -> None:
    await store.replace("d", [embedded(make_chunk("d"), terms={1: 1.0})])
    (candidate,) = await store.search(query())
    assert candidate.sentence is None
    assert candidate.dense == pytest.approx(1.0)


async def test_document_larger_than_one_batch_of_bytes_is_stored_whole(folder: Path) -> None:
    writing = WritePolicy(batch_bytes=5_000, flush_bytes=20_000)
    with EdgeChunkStore(folder / "vectors", MODEL, writing=writing) as store:
        text = "mot " * 2_000
        chunks = [embedded(make_chunk("d", i, text=text)) for i in range(20)]
        await store.replace("d", chunks)
        assert await store.count() == 20


async def test_fusion_weights_decide_between_equal_ranks(folder: Path) -> None:
    fusion = FusionPolicy(k=2, dense_weight=3.0)
    with EdgeChunkStore(folder / "vectors", MODEL, fusion=fusion) as store:
        await store.replace("near", [embedded(make_chunk("near"), dense=unit(1))])
        await store.replace("word", [embedded(make_chunk("word"), dense=unit(-1), terms={1: 1.0})])
        scores = {c.chunk.doc_id: c.score for c in await store.search(query(signals=False))}
    assert scores == pytest.approx({"near": 1 / (1 / 3 + 1), "word": 1 / (2 / 3 + 1) + 1 / 2})


async def test_optimise_keeps_every_chunk_and_store_closes_twice(folder: Path) -> None:
    store = EdgeChunkStore(folder / "vectors", MODEL)
    await store.replace("d", make_version("d", 1))
    await store.replace("d", make_version("d", 2))
    await store.optimize()
    assert [c.chunk.text for c in await store.search(query())] == ["version 2"] * 5
    store.close()
    store.close()
    with pytest.raises(BackendError, match="closed"):
        await store.count()


@pytest.mark.parametrize(
    "other",
    [
        replace(MODEL, name="other"),
        replace(MODEL, dimension=8),
        replace(MODEL, pooling="cls"),
        replace(MODEL, passage_prefix="passage: "),
    ],
    ids=["name", "dimension", "pooling", "prefix"],
)
async def test_collection_of_another_model_is_refused_with_a_remedy(
    folder: Path, other: EmbeddingModel
) -> None:
    (folder / "collection.json").write_text(
        json.dumps(
            {
                "codec": 1,
                "model": MODEL.name,
                "dimension": MODEL.dimension,
                "pooling": "",
                "query_prefix": "",
                "passage_prefix": "",
            }
        ),
        encoding="utf-8",
    )
    with pytest.raises(ConfigurationError, match="was made with") as caught:
        EdgeChunkStore(folder, other)
    assert caught.value.code == "collection_mismatch"
    assert "ingest again" in caught.value.hint


def test_damaged_metadata_is_refused(folder: Path) -> None:
    (folder / "collection.json").write_text("{", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="damaged"):
        EdgeChunkStore(folder, MODEL)


async def test_damaged_engine_files_are_refused_with_a_remedy(folder: Path) -> None:
    with EdgeChunkStore(folder, MODEL) as store:
        await store.replace("d", make_version("d", 1))
    for file in (folder / "shard" / "segments").rglob("segment.json"):
        file.write_text("{", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="damaged") as caught:
        EdgeChunkStore(folder, MODEL)
    assert "ingest again" in caught.value.hint


async def test_second_opener_is_told_that_the_index_is_in_use(folder: Path) -> None:
    with EdgeChunkStore(folder, MODEL) as store:
        with pytest.raises(StateInUseError, match="another process"):
            EdgeChunkStore(folder, MODEL)
        assert await store.count() == 0


@pytest.mark.parametrize(
    ("phase", "survivor"), [("staging", "version 1"), ("committing", "version 2")]
)
async def test_swap_cut_by_a_crash_is_undone_or_finished_at_the_next_start(
    folder: Path, monkeypatch: pytest.MonkeyPatch, phase: str, survivor: str
) -> None:
    store = EdgeChunkStore(folder, MODEL, writing=SMALL_BATCHES)
    await store.replace("d", make_version("d", 1))
    with monkeypatch.context() as patch:
        patch.setattr(store, "_finish_swap", lambda: None)
        if phase == "staging":
            patch.setattr(store, "_shard", FailingShard(store._shard, failing_update=3))
            with pytest.raises(BackendError):
                await store.replace("d", make_version("d", 2))
        else:
            await store.replace("d", make_version("d", 2))
    assert json.loads((folder / "swap.json").read_text(encoding="utf-8"))["phase"] == phase
    store.close()
    with EdgeChunkStore(folder, MODEL) as reopened:
        texts = [c.chunk.text for c in await reopened.search(query())]
    assert texts == [survivor] * 5
    assert not (folder / "swap.json").exists()


_WRITER = """
import asyncio, sys
from pathlib import Path
from store_inputs import MODEL, make_version
from rag_source.store.edge import EdgeChunkStore, WritePolicy

async def main():
    store = EdgeChunkStore(Path(sys.argv[1]), MODEL, writing=WritePolicy(batch_points=2))
    for number in range(int(sys.argv[2]), 10**6):
        doc_id = f"d{number % 7}"
        await store.replace(doc_id, make_version(doc_id, number))
        print(doc_id, number, flush=True)

asyncio.run(main())
"""


async def test_killed_writer_loses_no_acknowledged_document_and_leaves_none_half(
    folder: Path,
) -> None:
    EdgeChunkStore(folder, MODEL).close()
    acknowledged: dict[str, int] = {}
    for round_number in range(3):
        start = 1_000 * round_number
        newest = _write_until_killed(folder, start, delay_s=0.05 + 0.037 * round_number)
        acknowledged |= newest
        with EdgeChunkStore(folder, MODEL) as store:
            found: dict[str, list[str]] = {}
            for candidate in await store.search(query("dense")):
                found.setdefault(candidate.chunk.doc_id, []).append(candidate.chunk.text)
        in_flight = max(newest.values()) + 1
        for doc_id, number in acknowledged.items():
            versions = {f"version {number}"}
            if in_flight % 7 == int(doc_id[1:]):
                versions.add(f"version {in_flight}")
            assert len(found[doc_id]) == 5
            assert len(set(found[doc_id])) == 1
            assert found[doc_id][0] in versions


def _write_until_killed(folder: Path, start: int, *, delay_s: float) -> dict[str, int]:
    """What the child had acknowledged when it was killed, some time after its first word."""
    child = subprocess.Popen(
        [sys.executable, "-c", _WRITER, str(folder), str(start)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[1],
    )
    assert child.stdout is not None
    first = child.stdout.readline()
    time.sleep(delay_s)
    child.kill()
    rest, _ = child.communicate()
    lines: Sequence[str] = (first + rest).splitlines()
    return {doc_id: int(number) for doc_id, number in (line.split() for line in lines if line)}
