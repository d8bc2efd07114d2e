"""Tables with merged cells as rows of text: each value once, column names as paths.

Word, PowerPoint and Excel tables meet here. A header of several rows becomes one row whose cells
are paths such as `2024 / Q1`; a merged cell of the body keeps its value at its top left only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from rag_source.domain.documents import FlowPlace, Place
from rag_source.ingest.builder import RowText, one_line

__all__ = ["GridCell", "GridRow", "compose_table", "is_amount"]

PATH_SEPARATOR = " / "
_FLOW = FlowPlace()
_MOST_HEADER_ROWS = 5
_LONGEST_COLUMN_NAME = 80
# How many rows below tell whether the first one names columns.
_ROWS_COMPARED = 30
_AMOUNT = re.compile(
    r"[-+(]?\s*(?:[$€£¥]|[A-Z]{3}\s)?\s*[-+]?\d[\d\s.,'’/:\u00a0\u202f-]*\s*"
    r"(?:[$€£¥%)]|[^\W\d_]{1,3}\.?)?"
)
_PERIOD = re.compile(r"(?:19|20)\d\d(?:[-/](?:(?:19|20)?\d\d)){0,2}")


class GridCell(NamedTuple):
    """A cell at its top left corner; `width` and `height` count the columns and rows it covers."""

    text: str
    width: int = 1
    height: int = 1
    place: Place = _FLOW
    figure: bool = False


@dataclass(frozen=True, slots=True)
class GridRow:
    """The cells of one row by their column (from 0); covered positions have no entry."""

    cells: Mapping[int, GridCell] = field(default_factory=dict)
    header: bool = False
    place: Place = _FLOW


def is_amount(text: str) -> bool:
    """Whether a text is a number, an amount or a date, perhaps with its unit; `Q1` is not."""
    return _AMOUNT.fullmatch(text.strip()) is not None


def compose_table(
    rows: Sequence[GridRow],
    width: int,
    *,
    headers: int | None = None,
    first_is_header: bool = False,
) -> list[RowText]:
    """The rows of a table as text, all `width` cells wide, the header first.

    Args:
        rows: From top to bottom.
        width: Columns of the table.
        headers: How many rows name the columns, if the file says so; otherwise it is judged.
        first_is_header: The first row at least looks like a header in the file.
    """
    if headers is None:
        declared = next((i for i, row in enumerate(rows) if not row.header), len(rows))
        headers = declared if declared < len(rows) else 0
        headers = headers or _judged_headers(rows, width)
        headers = max(headers, int(first_is_header and len(rows) > 1))
    out: list[RowText] = []
    if headers:
        out.append(_header_row(rows[:headers], width))
    out += [_body_row(row, width) for row in rows[headers:]]
    return out


def _body_row(row: GridRow, width: int) -> RowText:
    cells = [row.cells.get(column) for column in range(width)]
    return RowText(
        cells=tuple("" if cell is None else cell.text for cell in cells),
        place=row.place,
        cell_places=tuple(_FLOW if cell is None else cell.place for cell in cells),
    )


def _header_row(rows: Sequence[GridRow], width: int) -> RowText:
    """One row of paths; a name that covers several columns and has none below stands once."""
    texts: list[list[str]] = [[] for _ in range(width)]
    places: list[Place] = [_FLOW] * width
    lowest = [-1] * width
    for row in rows:
        for start, cell in row.cells.items():
            text = one_line(cell.text)
            for column in range(start, min(width, start + cell.width)):
                if text and text not in texts[column][-1:]:
                    texts[column].append(text)
                    lowest[column] = start
            if start < width:
                places[start] = cell.place
    # A column whose lowest name is shared with the column before it has none of its own.
    cells = [
        PATH_SEPARATOR.join(path) if lowest[column] == column else ""
        for column, path in enumerate(texts)
    ]
    return RowText(cells=tuple(cells), header=True, place=rows[-1].place, cell_places=tuple(places))


def _judged_headers(rows: Sequence[GridRow], width: int) -> int:
    """How many of the first rows name the columns, by merged cells and by what cells hold."""
    if len(rows) < 2 or width < 1:
        return 0
    if width == 1:
        # Lists have no header, columns of figures do.
        figures = [cell.figure for row in rows for cell in row.cells.values()]
        return int(not figures[0] and all(figures[1:])) if figures else 0
    depth = 1
    while depth < min(_MOST_HEADER_ROWS, len(rows) - 1) and _reaches_down(rows, depth):
        depth += 1
    for count in range(depth, 0, -1):
        if _names_columns(rows[:count], rows[count : count + _ROWS_COMPARED], width):
            return count
    return 0


def _reaches_down(rows: Sequence[GridRow], depth: int) -> bool:
    """Whether the row at `depth` is one more level of the header above it.

    A cell above spans columns or rows, and no column that has a name already gets another: under
    a plain name stands data.
    """
    above = rows[depth - 1].cells
    spans = any(cell.width > 1 and cell.text for cell in above.values()) or any(
        i + cell.height > depth and cell.text
        for i, row in enumerate(rows[:depth])
        for cell in row.cells.values()
    )
    named = {column for column, cell in above.items() if cell.width == 1 and cell.text.strip()}
    return spans and not any(
        cell.text.strip() for column, cell in rows[depth].cells.items() if column in named
    )


def _names_columns(head: Sequence[GridRow], body: Sequence[GridRow], width: int) -> bool:
    """Whether the last row of `head`, with what reaches into it, reads like column names."""
    last = len(head) - 1
    names: dict[int, GridCell] = {}
    for i, row in enumerate(head):
        for column, cell in row.cells.items():
            if cell.text.strip() and i + cell.height > last:
                names[column] = cell
    if not names or not body:
        return False
    texts = [one_line(cell.text) for cell in names.values()]
    paths = [one_line(cell) for cell in _header_row(head, width).cells if cell]
    if any(len(text) > _LONGEST_COLUMN_NAME for text in texts):
        return False
    if len({path.casefold() for path in paths}) < len(paths):
        return False
    covered = sum(cell.width for cell in names.values())
    if width > 2 and covered * 2 <= width:
        return False
    figures = [cell for cell in names.values() if cell.figure]
    return not figures or _are_periods(names, figures, body)


def _are_periods(
    names: Mapping[int, GridCell], figures: Sequence[GridCell], body: Sequence[GridRow]
) -> bool:
    """Years or months on top of columns of other figures, or of words."""
    if not all(_PERIOD.fullmatch(cell.text.strip()) for cell in figures):
        return False
    if len(figures) == len(names) and 0 in names:
        return False
    below = [cell.text.strip() for row in body for cell in row.cells.values() if cell.figure]
    return not any(_PERIOD.fullmatch(text) for text in below)
