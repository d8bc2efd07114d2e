"""Blocks and words as the catalogue stores them."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_source.domain.documents import (
    Block,
    Cell,
    FlowPlace,
    Page,
    PagePlace,
    ParagraphPlace,
    ParsedDocument,
    Place,
    PointerPlace,
    RowPlace,
    SheetPlace,
    SlidePlace,
    TableRow,
    WordBox,
)
from rag_source.domain.errors import ConfigurationError
from rag_source.store.catalogue import SqliteCatalogue
from rag_source.store.parse_codec import (
    PARSE_CODEC,
    pack_blocks,
    pack_words,
    unpack_blocks,
    unpack_words,
)
from store_inputs import make_parse, make_record

PLACES: list[Place] = [
    FlowPlace(),
    PagePlace(page=3),
    ParagraphPlace(paragraph=7, part="footnote"),
    PointerPlace(pointer="/a~1b/0"),
    RowPlace(row=12),
    SheetPlace(sheet="Prix", cell="C12"),
    SlidePlace(slide=2),
]


@pytest.mark.parametrize("place", PLACES, ids=[place.kind for place in PLACES])
def test_every_place_of_a_block_survives(place: Place) -> None:
    block = Block(id="b1", kind="paragraph", start=0, end=4, place=place)
    assert unpack_blocks(pack_blocks((block,))) == (block,)


@pytest.mark.parametrize("place", PLACES, ids=[place.kind for place in PLACES])
@pytest.mark.parametrize(
    "row_place",
    [FlowPlace(), SheetPlace(sheet="Prix", cell="A12"), SheetPlace(sheet="Autre", cell="A1")],
    ids=["flow", "same-sheet", "other-sheet"],
)
def test_every_place_of_a_cell_survives(row_place: Place, place: Place) -> None:
    cells = (Cell(start=0, end=1, place=place), Cell(start=4, end=5))
    row = TableRow(start=0, end=5, cells=cells, header=True, place=row_place)
    block = Block(id="b1", kind="table", start=0, end=5, rows=(row,), place=row_place)
    assert unpack_blocks(pack_blocks((block,))) == (block,)


def page_of(*confidences: float) -> Page:
    """A page with a word for each confidence."""
    words = tuple(
        WordBox(start=7 + 4 * i, end=10 + 4 * i, x0=i, y0=1.5, x1=i + 0.5, y1=2, confidence=one)
        for i, one in enumerate(confidences)
    )
    return Page(
        number=1,
        width_pt=595,
        height_pt=842,
        rotation=0,
        start=7,
        end=7 + 4 * len(words),
        words=words,
    )


def confidences_of(page: Page) -> list[float]:
    """What is left of them in the store."""
    return [word.confidence for word in unpack_words(pack_words(page), page_start=page.start)]


@given(st.lists(st.integers(0, 200).map(lambda steps: steps / 2)))
def test_words_come_back_with_their_confidence(confidences: list[float]) -> None:
    page = page_of(*confidences)
    assert unpack_words(pack_words(page), page_start=page.start) == page.words


@given(st.lists(st.floats(0, 100)))
def test_confidence_is_kept_to_half_a_percent_and_only_the_sure_are_sure(
    confidences: list[float],
) -> None:
    kept = confidences_of(page_of(*confidences))
    assert all(abs(a - b) <= 0.5 for a, b in zip(kept, confidences, strict=True))
    assert [one == 100 for one in kept] == [one == 100 for one in confidences]


def test_confidence_costs_a_byte_for_a_word_and_nothing_in_a_text_layer() -> None:
    sure, unsure = page_of(*[100.0] * 200), page_of(*[i / 2 for i in range(200)])
    bare = zlib.decompress(pack_words(sure))
    assert len(bare) == 24 * 200
    assert len(zlib.decompress(pack_words(unsure)[1:])) == 25 * 200


def test_words_of_codec_1_are_read_as_sure() -> None:
    # The bytes are those that version 0.1.0 of the program stored.
    stored = "785e636060606001626628065240d060cfc070008a1960b40350c201004aaf0486"
    page = page_of(100, 100)
    assert unpack_words(bytes.fromhex(stored), page_start=page.start) == page.words


@pytest.mark.parametrize("lost", [1, 12])
def test_words_that_are_cut_short_are_refused(lost: int) -> None:
    whole = pack_words(page_of(96.5, 12.0))
    cut = whole[:1] + zlib.compress(zlib.decompress(whole[1:])[:-lost])
    with pytest.raises(ValueError, match="cut short"):
        unpack_words(cut, page_start=0)


@pytest.mark.parametrize("codec", [1, PARSE_CODEC])
def test_stored_parse_of_a_known_codec_is_read(tmp_path: Path, codec: int) -> None:
    parsed = make_parse()
    with SqliteCatalogue(stored_with(tmp_path, parsed, codec)) as catalogue:
        found = catalogue.parsed("d")
        assert found is not None
        assert (found.text, found.blocks) == (parsed.text, parsed.blocks)
        assert catalogue.pages("d", [1]) == [parsed.pages[0]]


def test_stored_parse_of_a_newer_codec_is_refused(tmp_path: Path) -> None:
    path = stored_with(tmp_path, make_parse(), PARSE_CODEC + 1)
    with SqliteCatalogue(path) as catalogue, pytest.raises(ConfigurationError, match="codec"):
        catalogue.parsed("d")


def stored_with(folder: Path, parsed: ParsedDocument, codec: int) -> Path:
    """A catalogue whose one document `d` says that its parse was stored by that codec."""
    path = folder / "c.db"
    with SqliteCatalogue(path) as catalogue:
        catalogue.save(make_record("d"), parsed)
        catalogue.database.write("age", "UPDATE versions SET codec = ?", [(codec,)])
    return path
