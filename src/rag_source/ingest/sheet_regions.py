"""Where the tables of a sheet are: runs of used cells between empty rows and columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from rag_source.ingest.sheet_workbook import Sheet

__all__ = ["Region", "find_regions"]

# Sheets cut more often than this are drawings made of cells; what is left stays one region.
_MOST_CUTS_DEEP = 24


class _Box(NamedTuple):
    """A cell with all that it covers; visible rows and columns, both ends included."""

    top: int
    left: int
    bottom: int
    right: int


@dataclass(frozen=True, slots=True)
class Region:
    """Cells that belong together, by their positions in reading order.

    `headers` is how many of its first rows name the columns, if the sheet says so.
    """

    top: int
    left: int
    bottom: int
    right: int
    cells: tuple[tuple[int, int], ...]
    headers: int | None = None

    @property
    def width(self) -> int:
        return self.right - self.left + 1


def find_regions(sheet: Sheet) -> list[Region]:
    """The regions of a sheet in reading order: table objects first claim their cells.

    The rest is cut at empty rows, then at empty columns, and so on; pieces of one table that an
    empty row or column merely spaces out are joined again.
    """
    claimed: set[tuple[int, int]] = set()
    regions: list[Region] = []
    for top, left, bottom, right, headers in sheet.tables:
        cells = tuple(
            position
            for position in sheet.cells
            if top <= position[0] <= bottom
            and left <= position[1] <= right
            and position not in claimed
        )
        if cells:
            claimed.update(cells)
            regions.append(_region([_box(sheet, position) for position in cells], headers))
    free = [_box(sheet, position) for position in sheet.cells if position not in claimed]
    regions += [_region(group) for group in _cut(free, _MOST_CUTS_DEEP)]
    return sorted(regions, key=lambda region: (region.top, region.left))


def _region(boxes: Sequence[_Box], headers: int | None = None) -> Region:
    ordered = sorted(boxes)
    return Region(
        top=ordered[0].top,
        left=min(box.left for box in ordered),
        bottom=max(box.bottom for box in ordered),
        right=max(box.right for box in ordered),
        cells=tuple((box.top, box.left) for box in ordered),
        headers=headers,
    )


def _box(sheet: Sheet, position: tuple[int, int]) -> _Box:
    row, column = position
    merge = sheet.merges.get(position) if sheet.merges else None
    if merge is None:
        return _Box(row, column, row, column)
    return _Box(row, column, row + merge.height - 1, column + merge.width - 1)


def _cut(boxes: Sequence[_Box], depth: int) -> list[list[_Box]]:
    """Boxes in groups that no empty row or column, and no corner, divides."""
    if not boxes:
        return []
    for cut in (_by_rows, _by_columns, _at_corner):
        groups = cut(boxes) if depth else [list(boxes)]
        if len(groups) > 1:
            return [piece for group in groups for piece in _cut(group, depth - 1)]
    return [list(boxes)]


def _by_rows(boxes: Sequence[_Box]) -> list[list[_Box]]:
    if _without_gap({box.top for box in boxes}, max(box.bottom for box in boxes)):
        return [list(boxes)]
    groups: list[list[_Box]] = []
    end = 0
    for box in sorted(boxes):
        if not groups or box.top > end + 1:
            groups.append([])
        groups[-1].append(box)
        end = max(end, box.bottom)
    return _joined_rows(groups)


def _without_gap(used: set[int], last: int) -> bool:
    """Whether every row (or column) from the first to the last is the first of some cell."""
    return last - min(used) + 1 == len(used)


class _Rows(NamedTuple):
    """What must be known of a group to tell whether the next one below goes on with it."""

    left: int
    right: int
    top: int
    bottom: int
    full_top: bool
    full_bottom: bool


def _joined_rows(groups: list[list[_Box]]) -> list[list[_Box]]:
    """Join a group to the one above if one empty row lies between two parts of one table.

    Both have the same first and last column, and several of them: a subtotal or a second section
    under the same header. A table of its own would begin with a lone title or elsewhere.
    """
    joined: list[list[_Box]] = []
    above: _Rows | None = None
    for group in groups:
        below = _rows_of(group)
        if above is not None and _continues_below(above, below):
            joined[-1] += group
        else:
            joined.append(group)
        # The columns are the same, so the lower group alone tells what comes next.
        above = below
    return joined


def _rows_of(group: Sequence[_Box]) -> _Rows:
    left, right = _columns(group)
    top, bottom = min(box.top for box in group), max(box.bottom for box in group)
    return _Rows(
        left,
        right,
        top,
        bottom,
        sum(box.top == top for box in group) > 1,
        sum(box.bottom == bottom for box in group) > 1,
    )


def _continues_below(above: _Rows, below: _Rows) -> bool:
    return (
        below.top - above.bottom == 2
        and (above.left, above.right) == (below.left, below.right)
        and above.right - above.left >= 2
        and above.full_bottom
        and below.full_top
    )


def _by_columns(boxes: Sequence[_Box]) -> list[list[_Box]]:
    if _without_gap({box.left for box in boxes}, max(box.right for box in boxes)):
        return [list(boxes)]
    groups: list[list[_Box]] = []
    end = 0
    for box in sorted(boxes, key=lambda box: (box.left, box.top)):
        if not groups or box.left > end + 1:
            groups.append([])
        groups[-1].append(box)
        end = max(end, box.right)
    return _joined_columns(groups)


def _joined_columns(groups: list[list[_Box]]) -> list[list[_Box]]:
    """Join a lone column to what stands left of it if both fill the same rows.

    An empty column then only spaces out one table, as in reports with a column for each year.
    """
    joined: list[list[_Box]] = []
    rows: set[int] = set()
    for group in groups:
        own = {box.top for box in group}
        if joined and _is_narrow(group) and _same_rows(rows, own):
            joined[-1] += group
        else:
            joined.append(group)
            rows = own
    return joined


def _same_rows(left: set[int], right: set[int]) -> bool:
    return left == right or (len(left) > 2 and max(left) == max(right) and right <= left)


def _is_narrow(boxes: Sequence[_Box]) -> bool:
    left, right = _columns(boxes)
    return left == right


def _columns(boxes: Sequence[_Box]) -> tuple[int, int]:
    return min(box.left for box in boxes), max(box.right for box in boxes)


def _at_corner(boxes: Sequence[_Box]) -> list[list[_Box]]:
    """Two groups that touch at a corner only: no column of one is a column of the other."""
    first, last = min(box.top for box in boxes), max(box.top for box in boxes)
    left, right = _columns([box for box in boxes if box.top == first])
    low_left, low_right = _columns([box for box in boxes if box.top == last])
    if left <= low_right and low_left <= right:
        return [list(boxes)]
    rows = sorted({box.top for box in boxes})
    by_row = sorted(boxes)
    spans_above: dict[int, tuple[int, int, int]] = {}
    left, right, bottom = by_row[0].left, by_row[0].right, by_row[0].bottom
    for box in by_row:
        left, right = min(left, box.left), max(right, box.right)
        bottom = max(bottom, box.bottom)
        spans_above[box.top] = (left, right, bottom)
    left, right = by_row[-1].left, by_row[-1].right
    spans_below: dict[int, tuple[int, int]] = {}
    for box in reversed(by_row):
        left, right = min(left, box.left), max(right, box.right)
        spans_below[box.top] = (left, right)
    for upper, lower in pairwise(rows):
        a_left, a_right, a_bottom = spans_above[upper]
        b_left, b_right = spans_below[lower]
        if a_bottom < lower and (a_right < b_left or b_right < a_left):
            return [
                [box for box in by_row if box.top <= upper],
                [box for box in by_row if box.top >= lower],
            ]
    return [list(boxes)]
