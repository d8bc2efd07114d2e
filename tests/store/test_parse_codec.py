"""Blocks as the catalogue stores them."""

from __future__ import annotations

import pytest

from rag_source.domain.documents import (
    Block,
    Cell,
    FlowPlace,
    PagePlace,
    ParagraphPlace,
    Place,
    PointerPlace,
    RowPlace,
    SheetPlace,
    SlidePlace,
    TableRow,
)
from rag_source.store.parse_codec import pack_blocks, unpack_blocks

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
