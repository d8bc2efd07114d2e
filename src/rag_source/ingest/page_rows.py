"""Tables without rules, from the lines of their stretch: rows, wrapped cells, header."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from rag_source.ingest.layout import Row
from rag_source.ingest.page_columns import Columns
from rag_source.ingest.page_headers import header_of
from rag_source.ingest.page_rulings import Rules
from rag_source.ingest.page_runs import RunLine, is_blank_mark, piece_of
from rag_source.ingest.page_stretches import Stretch, aligned_stretches
from rag_source.ingest.page_tables import PageTable, TableCell, cell_words

__all__ = ["Aligned", "aligned_tables"]

# Of the usual gap between rows: what is closer is one row.
_TIGHT = 0.5
# Below this many ems, gaps between lines tell nothing.
_TELLING_EM = 0.3
_NEAR_EM = 0.4
_MOST_TAIL = 6
_OPEN_END = re.compile(
    r"(?:[,&/(-]|\b(?:and|or|of|the|to|for|in|on|by|from|with|et|ou|de|du|des|la|le|les|à|en|par))$",
    re.IGNORECASE,
)
_CLOSED_END = re.compile(r"[.:;!?]$")


@dataclass(frozen=True, slots=True)
class Aligned:
    """A table that takes the place of the rows `first` to `last` (excluded) of a region."""

    first: int
    last: int
    table: PageTable


def aligned_tables(rows: Sequence[Row], rules: Rules, *, glyphs: bool, rtl: bool) -> list[Aligned]:
    """The tables without rules among the rows of a region, from top to bottom."""
    lines, stretches = aligned_stretches(rows, rtl=rtl)
    found: list[Aligned] = []
    end = 0
    for stretch in stretches:
        table = _table(lines, stretch, rules, end, glyphs=glyphs, rtl=rtl)
        found.append(table)
        end = table.last
    return found


def _table(
    lines: Sequence[RunLine],
    stretch: Stretch,
    rules: Rules,
    start: int,
    *,
    glyphs: bool,
    rtl: bool,
) -> Aligned:
    header = header_of(lines, stretch, rules, glyphs=glyphs, rtl=rtl)
    joiner = _Joiner(lines, stretch.columns, rules)
    first = header.last if header.cells else joiner.head(stretch, start)
    last = joiner.tail(stretch.last)
    body = [
        _cells([lines[i] for i in group], stretch.columns, glyphs=glyphs, rtl=rtl)
        for group in joiner.rows(first, last)
    ]
    rows = [header.cells, *body] if header.cells else body
    extents = stretch.columns.extents
    box = (
        min(lines[i].row.x0 for i in range(header.first, last)),
        min(lines[i].y0 for i in range(header.first, last)),
        max(lines[i].row.x1 for i in range(header.first, last)),
        max(lines[i].y1 for i in range(header.first, last)),
    )
    edges = [(a + b) / 2 for a, b in stretch.columns.gutters]
    table = PageTable(
        rows=tuple(row[::-1] if rtl else row for row in rows),
        headers=int(bool(header.cells)),
        edges=(extents[0][0], *edges, extents[-1][1]),
        box=box,
        size=median(lines[i].size for i in range(first, last)),
        ruled=False,
    )
    return Aligned(min(header.first, first), last, table)


def _cells(
    lines: Sequence[RunLine], columns: Columns, *, glyphs: bool, rtl: bool
) -> tuple[TableCell, ...]:
    """The cells of one row from left to right."""
    pieces: list[list[Row]] = [[] for _ in columns.extents]
    for line in lines:
        for column, runs in columns.cells(line).items():
            pieces[column].append(piece_of([i for run in runs for i in run.items], line))
    return tuple(TableCell(cell_words(rows, glyphs=glyphs, rtl=rtl)) for rows in pieces)


class _Joiner:
    """Tells the lines of a table that go on in the next from those that are rows."""

    def __init__(self, lines: Sequence[RunLine], columns: Columns, rules: Rules) -> None:
        self._lines = lines
        self._columns = columns
        self._rules = rules
        self._key = columns.key
        self._usual = 0.0

    def rows(self, first: int, last: int) -> list[list[int]]:
        """The lines from `first` to `last` (excluded), those of one row together."""
        gaps = [
            self._gap(i)
            for i in range(first, last - 1)
            if self._has_figures(i) and self._has_figures(i + 1)
        ]
        self._usual = median(gaps) if gaps else 0.5 * self._lines[first].size
        groups: list[list[int]] = []
        waiting: list[int] = []
        for i in range(first, last):
            goes = self._direction(i, first, last)
            if groups and not waiting and (goes < 0 or self._completes(groups[-1], i)):
                groups[-1].append(i)
            elif goes > 0:
                waiting.append(i)
            else:
                groups.append([*waiting, i])
                waiting = []
        if waiting:
            groups.append(waiting)
        return groups

    def head(self, stretch: Stretch, start: int) -> int:
        """The first line of a body without a header: a label cut before its figures is of it."""
        first = stretch.first
        while first > max(start, stretch.top) and self._is_label(first - 1):
            label = self._text(first)
            if not label[:1].islower() or self._gap(first - 1) > self._lines[first].size:
                break
            first -= 1
        return first

    def tail(self, last: int) -> int:
        """The line after the last that belongs to the last row."""
        end = last
        while end < min(len(self._lines), last + _MOST_TAIL) and self._goes_on(end):
            end += 1
        return end

    def _goes_on(self, i: int) -> bool:
        line = self._lines[i]
        if len(line.runs) != 1 or self._gap(i - 1) > 0.6 * line.size or self._is_ruled(i - 1):
            return False
        (run,) = line.runs
        column = self._columns.column(run.items[0])
        left, right = self._columns.extents[column]
        if run.x0 < left - line.size or run.x1 > right + line.size or run.is_figure:
            return False
        return column != self._key or run.text[0].islower()

    def _direction(self, i: int, first: int, last: int) -> int:
        """-1 if a line goes on from the row above, 1 if it goes on below, 0 if it is a row."""
        if self._has_figures(i):
            return 0
        filled = set(self._columns.cells(self._lines[i]))
        above = self._gap(i - 1) if i > first else float("inf")
        below = self._gap(i) if i + 1 < last else float("inf")
        if i > first and self._is_ruled(i - 1):
            above = float("inf")
        if i + 1 < last and self._is_ruled(i):
            below = float("inf")
        if above == below == float("inf"):
            return 0
        if self._key not in filled:
            if len(filled) > 1:
                return 0
            return -1 if above <= below + 0.15 * self._lines[i].size else 1
        if len(filled) > 1:
            # Words in several columns are a row, unless they all go on.
            return -1 if above <= below and self._text(i)[:1].islower() else 0
        tight = _TIGHT * self._usual if self._usual > _TELLING_EM * self._lines[i].size else -1.0
        if (above < tight) != (below < tight):
            return -1 if above < tight else 1
        return self._by_words(i, first, last)

    def _by_words(self, i: int, first: int, last: int) -> int:
        """The same by what a label says, where the gaps are all alike."""
        text = self._text(i)
        before = self._text(i - 1) if i > first else "."
        after = self._text(i + 1) if i + 1 < last else ""
        if text[:1].islower() and not _CLOSED_END.search(before):
            return -1
        if _CLOSED_END.search(text):
            return 0
        if _OPEN_END.search(text) or after[:1].islower():
            return 1
        return -1 if _OPEN_END.search(before) and self._is_label(i) and i > first else 0

    def _completes(self, group: Sequence[int], i: int) -> bool:
        """Whether a line has the figures of the words above it, set at the foot of their cell."""
        cells = self._columns.cells(self._lines[i])
        if not self._has_figures(i) or self._key in cells or self._is_ruled(i - 1):
            return False
        filled = {column for k in group for column in self._columns.cells(self._lines[k])}
        words = {column for column in cells if not self._columns.figures[column]}
        if any(map(self._has_figures, group)) or not words <= filled:
            return False
        label = " ".join(self._text(k) for k in group).strip()
        near = max(self._usual, _NEAR_EM * self._lines[i].size)
        return bool(label) and not _CLOSED_END.search(label) and self._gap(i - 1) <= near

    def _has_figures(self, i: int) -> bool:
        cells = self._columns.cells(self._lines[i])
        return any(
            run.is_figure or is_blank_mark(run.text)
            for column, runs in cells.items()
            if column != self._key
            for run in runs
        )

    def _is_label(self, i: int) -> bool:
        """Whether a line has words in the first column and nowhere else."""
        line = self._lines[i]
        left, right = self._columns.extents[self._key]
        inside = all(left - line.size <= r.x0 and r.x1 <= right + line.size for r in line.runs)
        return inside and set(self._columns.cells(line)) == {self._key}

    def _text(self, i: int) -> str:
        runs = self._columns.cells(self._lines[i]).get(self._key, [])
        return " ".join(run.text for run in runs)

    def _gap(self, i: int) -> float:
        return self._lines[i + 1].y0 - self._lines[i].y1

    def _is_ruled(self, i: int) -> bool:
        """Whether a rule goes from the first column to the last between a line and the next."""
        upper, lower = self._lines[i], self._lines[i + 1]
        left, right = self._columns.extents[0][0], self._columns.extents[-1][1]
        return any(
            (upper.y0 + upper.y1) / 2 < rule.at < (lower.y0 + lower.y1) / 2
            and min(rule.end, right) - max(rule.start, left) > 0.8 * (right - left)
            for rule in self._rules.across
        )
