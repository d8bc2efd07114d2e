"""A sheet as blocks: its name as heading, titles as paragraphs, each region as a table."""

from __future__ import annotations

from collections.abc import Sequence

from rag_source.domain.documents import SheetPlace
from rag_source.ingest.builder import DocumentBuilder
from rag_source.ingest.office_tables import GridCell, GridRow, compose_table
from rag_source.ingest.sheet_regions import Region, find_regions
from rag_source.ingest.sheet_workbook import Merge, Sheet, address

__all__ = ["append_sheet"]

# A name merged over the whole table is a level of the header if it is as short as a period or
# a unit; longer ones are titles.
_LONGEST_HEADER_TITLE = 24
_LONGEST_LIST_ENTRY = 60
_SHORTEST_LIST = 4

_Rows = dict[int, dict[int, GridCell]]


def append_sheet(builder: DocumentBuilder, name: str, sheet: Sheet) -> None:
    """Append a sheet that has visible cells or a printed margin; an empty one adds nothing."""
    if not sheet.cells and not sheet.margins:
        return
    builder.heading(name, 1, SheetPlace(sheet=name))
    for region in find_regions(sheet):
        _append_region(builder, name, sheet, region)
    for margin in sheet.margins:
        builder.text(margin, "note", SheetPlace(sheet=name))


def _append_region(builder: DocumentBuilder, name: str, sheet: Sheet, region: Region) -> None:
    rows = _rows(name, sheet, region)
    numbers = sorted(rows)
    headers = region.headers
    if headers is None:
        while len(numbers) > 1 and _is_title(rows, numbers, region.width):
            _append_paragraphs(builder, rows[numbers.pop(0)])
    if region.width == 1 and headers is None and _is_prose(rows, numbers):
        for number in numbers:
            _append_paragraphs(builder, rows[number])
        return
    grid = [GridRow(rows[number], place=_row_place(rows[number], name)) for number in numbers]
    builder.table(compose_table(grid, region.width, headers=headers), grid[0].place)


def _rows(name: str, sheet: Sheet, region: Region) -> _Rows:
    """The region's cells by row and by column counted from its left edge."""
    rows: _Rows = {}
    one = Merge(1, 1)
    for position in region.cells:
        cell = sheet.cells[position]
        merge = sheet.merges.get(position, one)
        place = SheetPlace(sheet=name, cell=address(cell.row, cell.column))
        rows.setdefault(position[0], {})[position[1] - region.left] = GridCell(
            cell.text, merge.width, merge.height, place, cell.figure
        )
    return rows


def _is_title(rows: _Rows, numbers: Sequence[int], width: int) -> bool:
    """Whether the first row is a lone text above rows with more cells."""
    first = list(rows[numbers[0]].values())
    if width < 2 or len(first) != 1 or (first[0].figure and first[0].width == 1):
        return False
    spans_all = first[0].width == width and first[0].height == 1
    if spans_all and len(first[0].text) <= _LONGEST_HEADER_TITLE:
        return len(rows[numbers[1]]) < 2
    return True


def _is_prose(rows: _Rows, numbers: Sequence[int]) -> bool:
    cells = [cell for number in numbers for cell in rows[number].values()]
    if len(cells) > 1 and any(cell.figure for cell in cells):
        return False
    return len(cells) < _SHORTEST_LIST or any(len(c.text) > _LONGEST_LIST_ENTRY for c in cells)


def _append_paragraphs(builder: DocumentBuilder, row: dict[int, GridCell]) -> None:
    for cell in row.values():
        builder.text(cell.text, place=cell.place)


def _row_place(row: dict[int, GridCell], name: str) -> SheetPlace:
    place = next(iter(row.values())).place
    return place if isinstance(place, SheetPlace) else SheetPlace(sheet=name)
