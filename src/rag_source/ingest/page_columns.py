"""Where the columns of lines are that no rules part: the strips that nearly all leave white."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from rag_source.ingest.layout import Item
from rag_source.ingest.page_runs import Run, RunLine, is_blank_mark, run_of
from rag_source.ingest.page_tables import is_figure

__all__ = ["Columns", "columns_of", "widened"]

_FEWEST_ROWS = 3
_GUTTER_EM = 0.5
# Shares: of lines that have a wide gap at a gutter, and of figures in a column of figures.
_WIDE = 0.6
_FIGURES = 0.6


@dataclass(frozen=True, slots=True)
class Columns:
    """Where the columns of a stretch of lines are, from left to right.

    `gutters` are the white strips between them, `extents` the columns' own from their first to
    their last ink. `figures` says which columns hold figures.
    """

    gutters: tuple[tuple[float, float], ...]
    extents: tuple[tuple[float, float], ...]
    figures: tuple[bool, ...]
    rtl: bool

    @property
    def key(self) -> int:
        """The column that is read first, with the labels of the rows."""
        return len(self.gutters) if self.rtl else 0

    def column(self, item: Item) -> int:
        """The column of a word, by its middle."""
        return self._at((item.box[0] + item.box[2]) / 2)

    def _at(self, x: float) -> int:
        return sum(x > (start + end) / 2 for start, end in self.gutters)

    def cells(self, line: RunLine) -> dict[int, list[Run]]:
        """The runs of a line by column.

        A run that reaches over a gutter is cut there, unless it has the line to itself: a title
        between rows.
        """
        cells: dict[int, list[Run]] = {}
        for run in line.runs:
            whole = len(line.runs) == 1 or run.solid
            parts = [run] if whole else self._parts(run, line.size)
            for part in parts:
                cells.setdefault(self._column(part, line), []).append(part)
        return cells

    def crossings(self, line: RunLine) -> int:
        """How many gutters a text runs through, the gap there no wider than between words."""
        if len(line.runs) == 1:
            return 0
        return sum(
            len({self.column(item) for item in part.items}) - 1
            for run in line.runs
            if not run.solid
            for part in self._parts(run, line.size)
        )

    def _parts(self, run: Run, size: float) -> list[Run]:
        """The run, cut at the gutters that run through a gap of it."""
        cuts = [
            i
            for i, (a, b) in enumerate(pairwise(run.items), 1)
            if b.box[0] - a.box[2] >= _GUTTER_EM * size and self.column(a) != self.column(b)
        ]
        if not cuts:
            return [run]
        bounds = [0, *cuts, len(run.items)]
        return [run_of(run.items[a:b], size)._replace(loose=run.loose) for a, b in pairwise(bounds)]

    def _column(self, run: Run, line: RunLine) -> int:
        """The column with most of the run; of a title that has its line to itself, the first."""
        if run.solid:
            return self._at(run.middle)
        columns = [self.column(item) for item in run.items]
        if len(line.runs) == 1:
            return max(columns) if self.rtl else min(columns)
        return max(set(columns), key=columns.count)


def columns_of(body: Sequence[RunLine], rtl: bool) -> Columns | None:
    """The columns that these lines share, if they share any gutter."""
    size = median(line.size for line in body)
    gutters = [strip for strip in _strips(body, size) if _parts_runs(strip, body)]
    bare, cells = _dealt(gutters, body, rtl)
    signs = [i for i, runs in enumerate(cells[:-1]) if runs and all(r.is_sign for r in runs)]
    if signs:
        # A column of its own for the sign of the currency: it belongs to the figures after it.
        gutters = [strip for i, strip in enumerate(gutters) if i not in signs]
        bare, cells = _dealt(gutters, body, rtl)
    if not gutters:
        return None
    if not all(cells):
        return None
    return Columns(
        bare.gutters,
        tuple((min(r.x0 for r in runs), max(r.x1 for r in runs)) for runs in cells),
        tuple(_are_figures(runs) for runs in cells),
        rtl,
    )


def widened(columns: Columns, lines: Sequence[RunLine]) -> Columns:
    """The columns with room for lines that only go on from a row: they may be longer."""
    extents = list(columns.extents)
    for line in lines:
        for run in line.runs:
            met = [i for i, (x0, x1) in enumerate(extents) if run.x0 < x1 and run.x1 > x0]
            if len(met) == 1:
                x0, x1 = extents[met[0]]
                extents[met[0]] = (min(x0, run.x0), max(x1, run.x1))
    return replace(
        columns,
        extents=tuple(extents),
        gutters=tuple((a[1], b[0]) for a, b in pairwise(extents)),
    )


def _dealt(
    gutters: Sequence[tuple[float, float]], body: Sequence[RunLine], rtl: bool
) -> tuple[Columns, list[list[Run]]]:
    """Columns between these gutters, and the runs of each."""
    columns = Columns(tuple(gutters), (), (), rtl)
    cells: list[list[Run]] = [[] for _ in range(len(gutters) + 1)]
    for line in body:
        for column, runs in columns.cells(line).items():
            cells[column] += runs
    return columns, cells


def _strips(body: Sequence[RunLine], size: float) -> list[tuple[float, float]]:
    """Vertical strips that nearly all lines leave white; figures never stand in one."""
    allowed = len(body) // 12
    events = sorted(
        event
        for line in body
        for x0, x1, weight in line.ink(allowed + 1)
        for event in ((x0, weight), (x1, -weight))
    )
    strips: list[tuple[float, float]] = []
    depth = 0
    free_from: float | None = None
    for x, step in events:
        depth += step
        if step < 0 and depth <= allowed < depth - step:
            free_from = x
        elif depth > allowed and free_from is not None:
            if x - free_from >= _GUTTER_EM * size:
                strips.append((free_from, x))
            free_from = None
    return strips


def _parts_runs(strip: tuple[float, float], body: Sequence[RunLine]) -> bool:
    """Whether lines with words on both sides of a strip mostly have a wide gap there.

    Between two figures a narrower gap tells as much: a text has no figures on end.
    """
    both = wide = 0
    middle = (strip[0] + strip[1]) / 2
    for line in body:
        left = [run for run in line.runs if run.x0 < middle]
        right = [run for run in line.runs if run.x1 > middle]
        if not left or not right:
            continue
        both += 1
        wide += left[-1] is not right[0] or _is_between_figures(left[-1], middle)
    return both >= _FEWEST_ROWS and wide >= _WIDE * both


def _is_between_figures(run: Run, x: float) -> bool:
    before = [item for item in run.items if item.box[2] <= x]
    after = [item for item in run.items if item.box[0] >= x]
    return bool(before and after) and is_figure(before[-1].text) and is_figure(after[0].text)


def _are_figures(runs: Sequence[Run]) -> bool:
    """Whether a column is one of figures; dashes say nothing."""
    figures = sum(run.is_figure for run in runs)
    telling = sum(not is_blank_mark(run.text) for run in runs)
    return figures >= 2 and figures >= _FIGURES * telling
