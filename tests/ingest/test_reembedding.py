"""A collection made anew for another embedding model: what it holds, and an end on the way."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from documents import PdfText, make_pdf
from ingest.indexing_world import PowerCut
from ingest.reembedding_world import BATCH, CHUNKING, Move, end_at, index, recipes_of, text_of
from rag_source.ingest.chunker import ChunkingPolicy


@pytest.fixture
def move(tmp_path: Path) -> Move:
    root = tmp_path / "corpus"
    root.mkdir()
    return Move(root)


async def test_every_document_is_embedded_from_its_stored_parse(move: Move) -> None:
    await index(move, "a.txt", "b.txt", "c.txt")
    move.world.parsed.clear()
    before = {path: move.world.text(path) for path in ("a.txt", "b.txt", "c.txt")}
    for path in move.world.root.iterdir():
        path.unlink()
    indexer = move.world.indexer()
    await move.builder(indexer).run()
    assert move.texts() == before
    assert move.world.parsed == []
    assert {len(one.dense) for chunks in move.store.documents.values() for one in chunks} == {32}
    assert move.swaps == 1
    assert indexer.binding is move.binding


async def test_stored_parse_of_a_pdf_is_cut_as_the_file_would_be(move: Move) -> None:
    def page(number: int) -> list[PdfText]:
        lines = [f"Line {n} of page {number} says some words about it." for n in range(40)]
        running = PdfText(text="Policy 7", x=72, y=30)
        title = PdfText(text=f"Part {number}", x=72, y=60, size=18, font="bold")
        body = [PdfText(text=line, x=72, y=90 + 16 * n) for n, line in enumerate(lines)]
        return [running, title, *body]

    make_pdf(move.world.root / "a.pdf", pages=[page(1), page(2), page(3)])
    await move.world.run()
    by_file = [one.chunk for one in move.world.chunks("a.pdf")]
    assert len(by_file) > 2
    move.binding = replace(
        move.binding, chunking=ChunkingPolicy(), recipes=recipes_of(ChunkingPolicy())
    )
    await move.builder().run()
    (by_parse,) = move.store.documents.values()
    assert [one.chunk for one in by_parse] == by_file


async def test_records_go_with_the_new_collection(move: Move) -> None:
    await index(move, "a.txt", "b.txt")
    move.world.write("broken.pdf", "no PDF")
    await move.world.run()
    await move.builder().run()
    counts = await move.store.chunk_counts()
    of = recipes_of(CHUNKING).of
    for record in move.world.catalogue.documents():
        assert record.chunks == counts.get(record.doc_id, 0)
        assert record.recipe == of(record)
    # So that the next look finds nothing to do.
    indexer = move.world.indexer()
    async with indexer.turn, indexer.still():
        indexer.rebind(move.binding)
    found = await indexer.reconcile(move.world.root)
    assert (found.queued, found.unchanged) == (0, 2)


@pytest.mark.parametrize("call", range(1, 12))
async def test_end_at_any_batch_loses_that_batch_at_most(move: Move, call: int) -> None:
    await index(move, *(f"{n}.txt" for n in range(7)))
    end_at(move, call)
    with pytest.raises(PowerCut):
        await move.builder().run()
    assert move.swaps == 0
    assert len(move.embedder.embedded) == BATCH * (call - 1)
    move.embedder.before = lambda texts: None
    await move.builder().run()
    assert move.paid_twice() == []
    assert len(move.texts()) == 7


async def test_end_at_every_batch_of_the_whole_way_pays_nothing_twice(move: Move) -> None:
    await index(move, *(f"{n}.txt" for n in range(6)))
    ends = 0
    while True:
        end_at(move, 2)
        try:
            await move.builder().run()
        except PowerCut:
            ends += 1
            continue
        break
    assert ends > 10
    assert move.paid_twice() == []
    assert len(move.texts()) == 6


async def test_end_between_the_chunks_and_the_note_of_them_pays_nothing_twice(
    move: Move, monkeypatch: pytest.MonkeyPatch
) -> None:
    await index(move, "a.txt")

    def end(one: object) -> None:
        raise PowerCut

    with monkeypatch.context() as patched:
        patched.setattr(move.table, "keep", end)
        with pytest.raises(PowerCut):
            await move.builder().run()
    assert move.store.documents
    await move.builder().run()
    assert move.paid_twice() == []
    assert list(move.texts()) == ["a.txt"]


async def test_copies_of_one_content_are_embedded_once(move: Move) -> None:
    for name in ("a.txt", "z/a.txt", "m/a.txt"):
        move.world.write(name, text_of("the same"))
    await move.world.run()
    await move.builder().run()
    assert move.paid_twice() == []
    assert sorted(move.texts()) == ["a.txt", "m/a.txt", "z/a.txt"]
    assert move.spool.contents() == set()


async def test_collection_whose_folder_was_deleted_is_begun_again(move: Move) -> None:
    await index(move, *(f"{n}.txt" for n in range(6)))
    end_at(move, 8)
    with pytest.raises(PowerCut):
        await move.builder().run()
    assert move.table.documents()
    move.store.documents.clear()
    move.embedder.before = lambda texts: None
    await move.builder().run()
    assert len(move.texts()) == 6
