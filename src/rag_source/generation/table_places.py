"""Name the row and the columns of a table in which a quote lies."""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_source.domain.answers import TablePlace
from rag_source.domain.chunks import TextRange
from rag_source.domain.documents import Block, TableRow

__all__ = ["table_place"]

_ROW_OF_ADDRESS = re.compile(r"\d+$")


def table_place(text: str, block: Block, ranges: Sequence[TextRange]) -> TablePlace | None:
    """The first row that a quote touches, and the columns it touches there.

    Args:
        text: The document text.
        block: The block in which the quote starts; None comes back for one that is no table.
        ranges: The quote, in the document text.
    """
    names = _column_names(text, block)
    for number, row in enumerate(block.rows, start=1):
        touched = [
            column
            for column, cell in enumerate(row.cells)
            if any(place.start < cell.end and cell.start < place.end for place in ranges)
        ]
        if touched:
            named = [names[column] for column in touched if column < len(names)]
            return TablePlace(
                row=_row_number(row, number),
                columns=tuple(name for name in named if name),
                sheet=_sheet(row),
            )
    return None


def _row_number(row: TableRow, counted: int) -> int:
    if row.place.kind == "row":
        return row.place.row
    if row.place.kind == "sheet" and (found := _ROW_OF_ADDRESS.search(row.place.cell)):
        return int(found[0])
    return counted


def _sheet(row: TableRow) -> str:
    return row.place.sheet if row.place.kind == "sheet" else ""


def _column_names(text: str, block: Block) -> list[str]:
    """The header path of each column, outermost name first, such as `2024 / Q1`."""
    names: list[list[str]] = []
    for row in block.rows:
        if row.header:
            for column, cell in enumerate(row.cells):
                name = text[cell.start : cell.end].strip()
                names += [[] for _ in range(column + 1 - len(names))]
                if name and name not in names[column]:
                    names[column].append(name)
    return [" / ".join(parts) for parts in names]
