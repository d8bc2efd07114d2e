"""Tables drawn with rules: the words of each cell of a lattice, merged cells included."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from rag_source.ingest.layout import Fragment, Item, Row, rows_of
from rag_source.ingest.page_lines import is_rtl
from rag_source.ingest.page_rulings import Box, Lattice
from rag_source.ingest.page_runs import is_blank_mark, is_parted
from rag_source.ingest.page_tables import (
    PageTable,
    SpannedCell,
    cell_words,
    compose_page_table,
    is_figure,
)

__all__ = ["Gridded", "grid_table"]

# A cell longer than this holds running text: the rules arrange a page, as in `word_tables`.
_LONGEST_CELL = 1_500
_LEAST_FILLED = 0.35
# The share of rows that must have their cells at the same columns, and of words inside a cell.
_LEAST_REGULAR = 0.5
_LEAST_INSIDE = 0.92
_OVERHANG = 2.0
# The share of lines in cells that may have a wide gap.
_MOST_PARTED = 0.15
_MOST_TITLES = 3


@dataclass(frozen=True, slots=True)
class Gridded:
    """A table, the fragments of titles above its columns, and those that are not of the table."""

    table: PageTable
    titles: tuple[Fragment, ...]
    rest: tuple[Fragment, ...]


@dataclass(slots=True)
class _Cell:
    """A cell while it is filled: where it stands, and its pieces of lines."""

    row: int
    column: int
    height: int = 1
    width: int = 1
    pieces: list[Fragment] = field(default_factory=list)

    @property
    def text(self) -> str:
        return " ".join(piece.text for piece in self.pieces)


def grid_table(
    lattice: Lattice,
    fragments: Sequence[Fragment],
    *,
    fills: Sequence[Box] = (),
    glyphs: bool,
    page_is_rtl: bool,
) -> Gridded | None:
    """The table that a lattice draws around these fragments, if it is one.

    A frame around text, a form whose boxes stand anywhere and a page that rules arrange are none.
    """
    cells = _cells(lattice)
    owners = {
        (row, column): cell
        for cell in cells
        for row in range(cell.row, cell.row + cell.height)
        for column in range(cell.column, cell.column + cell.width)
    }
    inside, rest, overhanging = _deal(lattice, owners, fragments)
    if overhanging > (1 - _LEAST_INSIDE) * max(1, sum(len(f.items) for f in inside)):
        return None
    filled = [cell for cell in cells if cell.pieces]
    titles = _take_titles(filled, len(lattice.xs) - 1)
    if not filled or any(len(cell.text) > _LONGEST_CELL for cell in filled):
        return None
    if _holds_columns(filled):
        return None
    rows, columns = _kept(filled)
    if not _is_regular(lattice, filled, rows, columns):
        return None
    rtl = is_rtl(inside) if any(c.isalpha() for f in inside for c in f.text) else page_is_rtl
    table = _composed(lattice, filled, rows, columns, fills=fills, glyphs=glyphs, rtl=rtl)
    if table is None:
        return None
    return Gridded(table=table, titles=tuple(titles), rest=tuple(rest))


def _cells(lattice: Lattice) -> list[_Cell]:
    """The cells, those joined where no side is drawn between them."""
    height, width = len(lattice.ys) - 1, len(lattice.xs) - 1
    cells: list[_Cell] = []
    taken: set[tuple[int, int]] = set()
    for row in range(height):
        for column in range(width):
            if (row, column) in taken:
                continue
            cell = _Cell(row, column)
            while column + cell.width < width and _joins_right(lattice, cell, taken):
                cell.width += 1
            while row + cell.height < height and _joins_below(lattice, cell):
                cell.height += 1
            cells.append(cell)
            taken.update(
                (r, c)
                for r in range(row, row + cell.height)
                for c in range(column, column + cell.width)
            )
    return cells


def _joins_right(lattice: Lattice, cell: _Cell, taken: set[tuple[int, int]]) -> bool:
    edge = cell.column + cell.width
    return not lattice.down[cell.row][edge] and (cell.row, edge) not in taken


def _joins_below(lattice: Lattice, cell: _Cell) -> bool:
    """Whether the whole of a cell goes on in the next row: nothing drawn below or inside."""
    below = cell.row + cell.height
    columns = range(cell.column, cell.column + cell.width)
    if any(lattice.across[below][column] for column in columns):
        return False
    right = cell.column + cell.width
    return (
        lattice.down[below][cell.column]
        and lattice.down[below][right]
        and not any(lattice.down[below][edge] for edge in range(cell.column + 1, right))
    )


def _deal(
    lattice: Lattice,
    owners: dict[tuple[int, int], _Cell],
    fragments: Iterable[Fragment],
) -> tuple[list[Fragment], list[Fragment], int]:
    """Give each cell its pieces; returns them, the fragments left, and how many words overhang."""
    x0, y0, x1, y1 = lattice.box
    inside: list[Fragment] = []
    rest: list[Fragment] = []
    overhanging = 0
    for fragment in fragments:
        if fragment.x1 < x0 or fragment.x0 > x1 or fragment.y1 < y0 or fragment.y0 > y1:
            rest.append(fragment)
            continue
        dealt: dict[int, tuple[_Cell | None, list[Item]]] = {}
        for item in fragment.items:
            cell = _owner(lattice, owners, item.box)
            overhanging += cell is not None and _overhangs(lattice, cell, item)
            dealt.setdefault(id(cell), (cell, []))[1].append(item)
        for cell, items in dealt.values():
            if not any(item.text.strip() for item in items):
                continue
            piece = _piece(fragment, items)
            if cell is None:
                rest.append(piece)
            else:
                cell.pieces.append(piece)
                inside.append(piece)
    return inside, rest, overhanging


def _owner(lattice: Lattice, owners: dict[tuple[int, int], _Cell], box: Box) -> _Cell | None:
    column = bisect_right(lattice.xs, (box[0] + box[2]) / 2) - 1
    row = bisect_right(lattice.ys, (box[1] + box[3]) / 2) - 1
    return owners.get((row, column))


def _overhangs(lattice: Lattice, cell: _Cell, item: Item) -> bool:
    left, right = lattice.xs[cell.column], lattice.xs[cell.column + cell.width]
    return item.box[0] < left - _OVERHANG or item.box[2] > right + _OVERHANG


def _piece(fragment: Fragment, items: Sequence[Item]) -> Fragment:
    if len(items) == len(fragment.items):
        return fragment
    return replace(
        fragment,
        items=tuple(items),
        x0=min(item.box[0] for item in items),
        y0=min(item.box[1] for item in items),
        x1=max(item.box[2] for item in items),
        y1=max(item.box[3] for item in items),
    )


def _take_titles(filled: list[_Cell], width: int) -> list[Fragment]:
    """Rows above the columns that go from side to side: the table's title, not a column's name."""
    titles: list[Fragment] = []
    for _ in range(_MOST_TITLES):
        top = [cell for cell in filled if cell.row == min(c.row for c in filled)]
        if len(top) != 1 or top[0].width < width:
            break
        titles += top[0].pieces
        filled.remove(top[0])
    return titles


def _holds_columns(filled: Sequence[_Cell]) -> bool:
    """Whether the cells have columns inside: the rules frame parts of a page, or of a table."""
    lines = [row for cell in filled for row in rows_of(cell.pieces)]
    parted = sum(is_parted(line) for line in lines)
    return parted > _MOST_PARTED * len(lines)


def _kept(filled: Sequence[_Cell]) -> tuple[list[int], list[int]]:
    """The rows and columns at which a cell with words starts."""
    return sorted({cell.row for cell in filled}), sorted({cell.column for cell in filled})


def _is_regular(
    lattice: Lattice,
    filled: Sequence[_Cell],
    rows: Sequence[int],
    columns: Sequence[int],
) -> bool:
    """Whether most rows have the same cells, and enough of them words."""
    if len(rows) < 2 or len(columns) < 2:
        return False
    per_row = Counter(cell.row for cell in filled)
    if sum(count > 1 for count in per_row.values()) < 2:
        return False
    covered = sum(
        sum(cell.row <= row < cell.row + cell.height for row in rows)
        * sum(cell.column <= column < cell.column + cell.width for column in columns)
        for cell in filled
    )
    if covered < _LEAST_FILLED * len(rows) * len(columns):
        return False
    shapes = Counter(lattice.down[row] for row in rows)
    shape, count = shapes.most_common(1)[0]
    return count >= _LEAST_REGULAR * len(rows) and sum(shape) > 2


def _composed(
    lattice: Lattice,
    filled: Sequence[_Cell],
    rows: Sequence[int],
    columns: Sequence[int],
    *,
    fills: Sequence[Box],
    glyphs: bool,
    rtl: bool,
) -> PageTable | None:
    out: list[dict[int, SpannedCell]] = []
    for row in rows:
        cells = sorted((c for c in filled if c.row == row), key=lambda c: c.column, reverse=rtl)
        stacks = _unstacked([rows_of(cell.pieces) for cell in cells])
        if stacks is None:
            return None
        for stacked in stacks:
            out.append(
                {
                    bisect_right(columns, cell.column) - 1: SpannedCell(
                        words=cell_words(lines, glyphs=glyphs, rtl=rtl),
                        width=sum(cell.column <= c < cell.column + cell.width for c in columns),
                        height=sum(cell.row <= r < cell.row + cell.height for r in rows),
                    )
                    for cell, lines in zip(cells, stacked, strict=True)
                    if lines
                }
            )
    pieces = [piece for cell in filled for piece in cell.pieces]
    top = [piece for cell in filled if cell.row == rows[0] for piece in cell.pieces]
    # Of two columns of words, a glossary perhaps, the first row is a header if it looks like one.
    figures = any(is_figure(cell.text) for row in out[1:] for cell in row.values())
    looks_like_header = _is_set_off(top, pieces, fills)
    return compose_page_table(
        out,
        edges=(*(lattice.xs[c] for c in columns), lattice.xs[-1]),
        box=(lattice.xs[0], lattice.ys[rows[0]], lattice.xs[-1], lattice.ys[-1]),
        size=max(pieces, key=lambda piece: len(piece.text)).size,
        rtl=rtl,
        first_is_header=looks_like_header,
        headers=None if looks_like_header or figures or len(columns) > 2 else 0,
    )


def _is_set_off(top: Sequence[Fragment], pieces: Sequence[Fragment], fills: Sequence[Box]) -> bool:
    """Whether the first row alone is bold, or has a ground of another colour."""
    if all(piece.bold for piece in top):
        return not all(piece.bold for piece in pieces)
    below = [piece for piece in pieces if piece not in top]
    return all(_is_on(piece, fills) for piece in top) and not any(_is_on(p, fills) for p in below)


def _is_on(piece: Fragment, fills: Sequence[Box]) -> bool:
    x = (piece.x0 + piece.x1) / 2
    return any(box[0] <= x <= box[2] and box[1] <= piece.center <= box[3] for box in fills)


def _unstacked(cells: Sequence[list[Row]]) -> list[list[list[Row]]] | None:
    """The lines of a row's cells as one row, or as several where figures stand line by line.

    Programs that draw only the sides of columns put all rows into one cell each. Figures on lines
    of their own, beside lines of the first cell or in two columns beside lines of another, tell
    them from a text that goes on. None if there are such rows, but not which words are of which.
    """
    stacks = [lines for lines in cells if len(lines) > 1 and all(map(_is_value, lines))]
    if not stacks:
        return [list(cells)]
    anchors = max(stacks, key=len)
    alike = [lines for lines in stacks if _stands_beside(lines, anchors)]
    names = [lines for lines in cells if lines not in stacks and _stands_beside(lines, anchors)]
    if not names or (names[0] is not cells[0] and len(alike) < 2):
        return None if len(anchors) > 2 and len(stacks) > 1 else [list(cells)]
    tops = [anchor.y0 - 0.5 * anchor.size for anchor in anchors]
    rows: list[list[list[Row]]] = [[[] for _ in cells] for _ in anchors]
    for i, lines in enumerate(cells):
        single = len(lines) == 1 and i < cells.index(anchors)
        for line in lines:
            rows[0 if single else max(0, bisect_right(tops, line.y0) - 1)][i].append(line)
    return rows


def _stands_beside(lines: Sequence[Row], anchors: Sequence[Row]) -> bool:
    """Whether there is a line beside each of these lines."""
    return all(_has_line_at(lines, anchor) for anchor in anchors)


def _is_value(line: Row) -> bool:
    text = "".join(f.text for f in line.fragments)
    return is_figure(text) or is_blank_mark(text)


def _has_line_at(lines: Sequence[Row], anchor: Row) -> bool:
    middle = (anchor.y0 + anchor.y1) / 2
    return any(line.y0 <= middle <= line.y1 for line in lines)
