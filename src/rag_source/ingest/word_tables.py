"""The grid of a Word table, and whether it is a table at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rag_source.domain.documents import Place
from rag_source.ingest.office_tables import GridCell, GridRow, is_amount
from rag_source.ingest.office_xml import Element, attribute, child, flag, local
from rag_source.ingest.word_styles import Styles

__all__ = ["is_layout", "own_cells", "own_rows", "read_grid", "unwrapped"]

_WRAPPERS = frozenset({"sdt", "sdtContent", "customXml", "ins", "moveTo", "smartTag"})
_ROW = frozenset({"tr"})
_CELL = frozenset({"tc"})
_MOST_COLUMNS = 500
# A cell longer than a page's paragraph or two holds running text; no row of data is like that.
_LONGEST_DATA_CELL = 1_500


def unwrapped(container: Element, names: frozenset[str]) -> Iterator[Element]:
    """The children of these names, also those inside content controls and insertions."""
    for element in container:
        name = local(element)
        if name in names:
            yield element
        elif name in _WRAPPERS:
            yield from unwrapped(element, names)
        elif name == "AlternateContent":
            for choice in list(element)[:1]:
                yield from unwrapped(choice, names)


def own_rows(table: Element) -> list[Element]:
    """The rows that are shown; deleted ones are not."""
    return [row for row in unwrapped(table, _ROW) if _is_shown(row)]


def own_cells(row: Element) -> list[Element]:
    """The cells of a row; deleted ones are not."""
    return [cell for cell in unwrapped(row, _CELL) if child(cell, "tcPr", "cellDel") is None]


def is_layout(table: Element, styles: Styles) -> bool:
    """Whether the table only arranges the page: one cell, or running text in its cells."""
    cells = [cell for row in own_rows(table) for cell in own_cells(row)]
    return len(cells) == 1 or any(_holds_running_text(cell, styles) for cell in cells)


def _holds_running_text(cell: Element, styles: Styles) -> bool:
    length = 0
    for element in cell.iter():
        match local(element):
            case "t":
                length += len(element.text or "")
            case "tbl" if len(own_rows(element)) > 1:
                return True
            case "p" if styles.heading_level(child(element, "pPr")):
                return True
    return length > _LONGEST_DATA_CELL


def read_grid(
    table: Element, read_cell: Callable[[Element], tuple[str, Place]]
) -> tuple[list[GridRow], int]:
    """The rows of a table with merged cells resolved, and how many columns it has.

    Args:
        table: A `w:tbl`.
        read_cell: The text and the place of a `w:tc`; called once for each, in order.
    """
    rows: list[GridRow] = []
    width = 0
    # Columns that a cell above reaches down into: where that cell stands.
    reaching: dict[int, tuple[dict[int, GridCell], int]] = {}
    for row in own_rows(table):
        cells: dict[int, GridCell] = {}
        place: Place | None = None
        column = _number(child(row, "trPr", "gridBefore"), 0)
        for element in own_cells(row):
            span = max(1, _number(child(element, "tcPr", "gridSpan"), 1))
            text, cell_place = read_cell(element)
            place = place or cell_place
            if _continues(element) and column in reaching:
                _grow(reaching[column])
                if text.strip():
                    cells[column] = GridCell(text, span, 1, cell_place, is_amount(text))
            else:
                cells[column] = GridCell(text, span, 1, cell_place, is_amount(text))
                reaching[column] = (cells, column)
            column += span
        width = min(_MOST_COLUMNS, max(width, column))
        header = flag(child(row, "trPr", "tblHeader"))
        if place is not None:
            rows.extend(_split(GridRow(cells, header, place)))
    return rows, width


def _grow(origin: tuple[dict[int, GridCell], int]) -> None:
    cells, column = origin
    cell = cells[column]
    cells[column] = GridCell(cell.text, cell.width, cell.height + 1, cell.place, cell.figure)


def _continues(cell: Element) -> bool:
    merge = child(cell, "tcPr", "vMerge")
    return merge is not None and attribute(merge, "val", "continue") == "continue"


def _split(row: GridRow) -> Sequence[GridRow]:
    """A row whose cells hold figures line by line, as that many rows.

    Typists put a whole column into one cell; only the lines tell which figure belongs to which
    name. Cells of other heights do not split, for then no one can tell.
    """
    lines = {
        column: [line.strip() for line in cell.text.rstrip().split("\n")]
        for column, cell in row.cells.items()
        if cell.text.strip()
    }
    counts = {len(parts) for parts in lines.values()}
    figures = sum(is_amount(line) for parts in lines.values() for line in parts)
    count = max(counts, default=0)
    merged = any(cell.height > 1 for cell in row.cells.values())
    if len(lines) < 2 or counts != {count} or count < 2 or merged or figures < count:
        return [row]
    return [
        GridRow(
            {
                column: GridCell(
                    parts[i],
                    row.cells[column].width,
                    1,
                    row.cells[column].place,
                    is_amount(parts[i]),
                )
                for column, parts in lines.items()
            },
            row.header,
            row.place,
        )
        for i in range(count)
    ]


def _is_shown(row: Element) -> bool:
    properties = child(row, "trPr")
    hidden = flag(child(properties, "hidden"))
    return not hidden and child(properties, "del") is None


def _number(element: Element | None, default: int) -> int:
    value = "" if element is None else attribute(element, "val")
    return min(_MOST_COLUMNS, int(value)) if value.isdecimal() else default
