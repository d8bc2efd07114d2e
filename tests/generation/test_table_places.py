"""A quote in a table is named by its row and columns, as the file's own reader counts them."""

from __future__ import annotations

import pytest

from rag_source.domain.answers import TablePlace
from rag_source.domain.chunks import TextRange
from rag_source.domain.documents import (
    Block,
    FlowPlace,
    PagePlace,
    ParsedDocument,
    Place,
    RowPlace,
    SheetPlace,
)
from rag_source.generation.table_places import table_place
from rag_source.ingest.builder import DocumentBuilder, RowText

GRID = (("Region", "2024", ""), ("", "Q1", "Q2"), ("North", "10", "20"), ("South", "30", "40"))


def _table(*places: Place) -> ParsedDocument:
    builder = DocumentBuilder()
    builder.text("A paragraph before it.")
    rows = [
        RowText(cells=cells, header=i < 2, place=places[i] if places else FlowPlace())
        for i, cells in enumerate(GRID)
    ]
    builder.table(rows)
    return builder.build(title="t", loader="test", version=1)


def _named(parsed: ParsedDocument, quote: str) -> TablePlace | None:
    start = parsed.text.index(quote)
    block = _block_at(parsed, start)
    return table_place(parsed.text, block, [TextRange(start=start, end=start + len(quote))])


def _block_at(parsed: ParsedDocument, position: int) -> Block:
    return next(block for block in parsed.blocks if block.start <= position < block.end)


@pytest.mark.parametrize(
    ("places", "expected"),
    [
        ((), TablePlace(row=4, columns=("Q2",))),
        ([PagePlace(page=2)] * 4, TablePlace(row=4, columns=("Q2",))),
        ([RowPlace(row=i) for i in (3, 4, 7, 9)], TablePlace(row=9, columns=("Q2",))),
        (
            [SheetPlace(sheet="S", cell=f"B{i}") for i in (11, 12, 13, 14)],
            TablePlace(row=14, columns=("Q2",), sheet="S"),
        ),
    ],
    ids=["counted", "page", "line", "sheet"],
)
def test_row_is_numbered_as_its_file_numbers_it(
    places: tuple[Place, ...], expected: TablePlace
) -> None:
    assert _named(_table(*places), "40") == expected


def test_whole_row_names_all_its_columns_by_their_header_paths() -> None:
    found = _named(_table(), "North | 10 | 20")

    assert found == TablePlace(row=3, columns=("Region", "2024 / Q1", "Q2"))


def test_quote_over_rows_is_named_by_its_first() -> None:
    assert _named(_table(), "20\nSouth | 30") == TablePlace(row=3, columns=("Q2",))


def test_quote_outside_a_table_has_no_row() -> None:
    assert _named(_table(), "paragraph before") is None
