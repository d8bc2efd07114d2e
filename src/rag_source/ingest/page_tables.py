"""A table of a page: its rows of cells in reading order, with the words that each cell shows.

Here cells become the rows of a block: columns in reading order, the header as one row of paths as
in `office_tables`. How cells are found is the matter of `page_grids` (rules) and `page_columns`
(alignment).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from rag_source.ingest.layout import Fragment, Item, Row
from rag_source.ingest.office_tables import GridCell, GridRow, compose_table, is_amount
from rag_source.ingest.page_lines import line_of, separated

__all__ = [
    "PATH_SEPARATOR",
    "CellWords",
    "PageTable",
    "SpannedCell",
    "TableCell",
    "TableFragment",
    "cell_words",
    "compose_page_table",
    "is_figure",
    "is_quantity",
    "path_cell",
]

PATH_SEPARATOR = " / "
# A number or an amount as accounts print it: signs and brackets on either side of a currency, then
# perhaps a short unit. `90 YES` is two things.
_CURRENCIES = "EUR|USD|GBP|CHF|CAD|JPY|CNY|MAD|DZD|TND|EGP|SAR|AED|QAR|KWD|XOF|DHS?"
_FIGURE = re.compile(
    r"[-+−–(]{0,2}\s*(?:[$€£¥]|[A-Z]{3}\s)?\s*[-+−–(]{0,2}\s*\d[\d\s.,'’/:%٫٬\u00a0\u202f-]*\)?"
    rf"\s*(?:[$€£¥%‰]|[^\W\d_A-Z][^\W\d_]{{0,2}}\b\.?|[A-Z][a-z]{{0,2}}\b\.?|{_CURRENCIES})?"
    r"\s*\)?\s*[*†‡]{0,3}"
)
# With a unit that is a word, such as `118 mg/dL`, or `< 5 days`; a range too.
_QUANTITY = re.compile(
    r"[<>≤≥~±≈]?\s*[-+−]?\d[\d\s.,/×x–-]*\s?(?:%|[°µa-zà-ÿ][\w/°µ²³.^·-]{0,11})?", re.IGNORECASE
)
# The unit of a column: `(000's)`.
_THOUSANDS = re.compile(r"\(?[$€£¥]?\s?000['’]?s?\)?")
CellWords = tuple[tuple[str, Item], ...]
"""Words in reading order, each with the separator before it."""


@dataclass(frozen=True, slots=True)
class TableCell:
    """A cell of one column; empty where a merged cell covers it."""

    words: CellWords = ()

    @property
    def text(self) -> str:
        return "".join(separator + word.text for separator, word in self.words)


@dataclass(frozen=True, slots=True, kw_only=True)
class PageTable:
    """Rows of equally many cells, columns in reading order; the first `headers` name the columns.

    `edges` are the x of the borders between columns and at both ends, from left to right in the
    reading frame, `ruled` if rules draw them; `box` is the table's in the frame.
    """

    rows: tuple[tuple[TableCell, ...], ...]
    headers: int
    edges: tuple[float, ...]
    box: tuple[float, float, float, float]
    size: float
    ruled: bool

    @property
    def header_text(self) -> tuple[tuple[str, ...], ...]:
        return tuple(tuple(cell.text for cell in row) for row in self.rows[: self.headers])

    def with_headers(self, headers: int) -> PageTable:
        """The same table, its first `headers` rows taken for the header."""
        return replace(self, headers=headers)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFragment(Fragment):
    """A table that takes its place among the fragments of a page as a whole."""

    table: PageTable

    @classmethod
    def of(cls, table: PageTable) -> TableFragment:
        x0, y0, x1, y1 = table.box
        return cls(
            items=(),
            x0=x0,
            y0=y0,
            x1=x1,
            y1=y1,
            size=table.size,
            bold=False,
            order=0,
            whole=True,
            table=table,
        )


def is_figure(text: str) -> bool:
    """Whether a cell of a page is a number, an amount or a date."""
    text = text.strip()
    return _FIGURE.fullmatch(text) is not None and _THOUSANDS.fullmatch(text) is None


def is_quantity(text: str) -> bool:
    """Whether a cell is a figure with a unit, which may be a word; a looser notion."""
    text = text.strip()
    found = _QUANTITY.fullmatch(text)
    if found is None:
        return False
    # `90 YES` is two things: units are written small, or with a sign.
    return text[-1:].isdigit() or any(c.islower() or c in "%°/" for c in text)


def cell_words(rows: Sequence[Row], *, glyphs: bool, rtl: bool) -> CellWords:
    """The words of a cell's lines, from top to bottom, a space between lines."""
    words: list[tuple[str, Item]] = []
    for row in rows:
        line = line_of(row, glyphs, rtl)
        for i, (separator, word) in enumerate(separated(line.words, line.size)):
            words.append((" " if words and not i else separator, word))
    return tuple(words)


class SpannedCell(NamedTuple):
    """Words at the top left corner of the columns and rows that they cover."""

    words: CellWords
    width: int = 1
    height: int = 1

    @property
    def text(self) -> str:
        return TableCell(self.words).text


def compose_page_table(
    rows: Sequence[Mapping[int, SpannedCell]],
    *,
    edges: Sequence[float],
    box: tuple[float, float, float, float],
    size: float,
    rtl: bool,
    headers: int | None = None,
    first_is_header: bool = False,
) -> PageTable:
    """The table of these rows, whose cells are keyed by column from left to right.

    Args:
        rows: From top to bottom.
        edges: One more than there are columns.
        box: Of the table in its frame.
        size: The usual font size.
        rtl: Columns are read from right to left.
        headers: How many rows name the columns; judged if None.
        first_is_header: The first row at least looks like a header.
    """
    width = len(edges) - 1
    if rtl:
        rows = [_mirrored(row, width) for row in rows]
    if headers is None:
        headers = _judged(rows, width, first_is_header)
    out: list[tuple[TableCell, ...]] = []
    if headers:
        out.append(_paths(rows[:headers], width))
    for row in rows[headers:]:
        out.append(
            tuple(TableCell(row[i].words) if i in row else TableCell() for i in range(width))
        )
    return PageTable(
        rows=tuple(out),
        headers=min(1, headers),
        edges=tuple(edges),
        box=box,
        size=size,
        ruled=True,
    )


def _mirrored(row: Mapping[int, SpannedCell], width: int) -> dict[int, SpannedCell]:
    return {width - column - cell.width: cell for column, cell in row.items()}


def _judged(rows: Sequence[Mapping[int, SpannedCell]], width: int, first_is_header: bool) -> int:
    """How many rows name the columns, judged as for the tables of office files."""
    if _are_labels([row[0].text for row in rows if 0 in row]):
        return 0
    grid = [
        GridRow(
            {
                column: GridCell(cell.text, cell.width, cell.height, figure=is_amount(cell.text))
                for column, cell in row.items()
            }
        )
        for row in rows
    ]
    composed = compose_table(grid, width, first_is_header=first_is_header)
    return len(rows) - len(composed) + 1 if composed and composed[0].header else 0


def _are_labels(texts: Sequence[str]) -> bool:
    """Whether the first column holds the labels of a form, which no row above them names."""
    return sum(text.rstrip().endswith(":") for text in texts) > 0.5 * len(texts)


def _paths(rows: Sequence[Mapping[int, SpannedCell]], width: int) -> tuple[TableCell, ...]:
    """One row of paths: the names above each column, outermost first.

    The same as for office files (`office_tables`), with the words kept: a name that covers several
    columns and has none below stands once, at the first of them.
    """
    paths: list[list[tuple[int, CellWords]]] = [[] for _ in range(width)]
    for row in rows:
        for start, cell in row.items():
            for column in range(start, min(width, start + cell.width)):
                if cell.words:
                    paths[column].append((start, cell.words))
    return tuple(path_cell(path, column) for column, path in enumerate(paths))


def path_cell(path: Sequence[tuple[int, CellWords]], column: int) -> TableCell:
    """The names above a column as one cell; each comes with the column that it starts at.

    If the lowest name is shared with the column before, only the column's own names are left.
    """
    if path and path[-1][0] != column:
        path = [one for one in path if one[0] == column]
    words: list[tuple[str, Item]] = []
    last = ""
    for _, name in path:
        text = TableCell(name).text
        if text != last:
            words += [
                (PATH_SEPARATOR if words and not i else separator, word)
                for i, (separator, word) in enumerate(name)
            ]
        last = text
    return TableCell(tuple(words))
