"""The column names above figures that stand in columns without rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from rag_source.ingest.page_columns import Columns
from rag_source.ingest.page_rulings import Rules
from rag_source.ingest.page_runs import Run, RunLine, is_period, piece_of, run_of
from rag_source.ingest.page_stretches import Stretch
from rag_source.ingest.page_tables import CellWords, TableCell, cell_words, path_cell

__all__ = ["Header", "header_of"]

_MOST_LINES = 8
_LONGEST_NAME = 120
# A header stands closer to what it names than this, in ems, or with a rule between; what is
# larger, compared to the body, is a title.
_FARTHEST_EM = 2.2
_FARTHEST_RULED_EM = 4.0
_APART_EM = 0.6
_LARGER = 1.15
# A gap in a run that is wider than a word space, where a gutter is, parts two names.
_NAMES_APART_EM = 0.45
# The share of a column that a name covers; how far off the middle it may stand, in ems; and how
# much wider than a column's figures it is if it may belong to several.
_COVERED = 0.5
_CENTRED_EM = 0.8
_WIDER = 1.3

_Extent = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Header:
    """The names of the columns, from left to right, and the lines they stand on.

    `first` is the first of them, `last` the first line after them; both are the first line of the
    body where there is no header.
    """

    first: int
    last: int
    cells: tuple[TableCell, ...]


def header_of(
    lines: Sequence[RunLine], stretch: Stretch, rules: Rules, *, glyphs: bool, rtl: bool
) -> Header:
    """The header above a stretch; without cells if there is none."""
    reader = _Reader(stretch.columns, rules, lines[stretch.first].size)
    key = stretch.columns.key
    first = stretch.first
    last: int | None = None
    placed: dict[int, list[_Placed]] = {}
    for i in range(stretch.first - 1, max(stretch.top, stretch.first - _MOST_LINES) - 1, -1):
        line = lines[i]
        gap = lines[i + 1].y0 - line.y1
        far = _FARTHEST_RULED_EM if _is_ruled(line, lines[i + 1], rules) else _FARTHEST_EM
        if gap > far * line.size:
            break
        found = reader.placed(line)
        if found is None or _is_heading_line(found, placed.get(i + 1), line, lines[i + 1], key):
            break
        placed[i] = found
        if any(one.end - one.start > 1 or one.start != key for one in found):
            first = i
            last = last or i + 1
    if last is None:
        return Header(first, first, ())
    last = _before_years(first, last, lines, placed, key)
    if last == first:
        return Header(first, first, ())
    chosen = [(lines[i], placed[i]) for i in range(first, last)]
    width = len(stretch.columns.extents)
    return Header(first, last, _cells(chosen, width, glyphs=glyphs, rtl=rtl))


@dataclass(frozen=True, slots=True)
class _Placed:
    """A run of a header line over the columns from `start` to `end` (excluded)."""

    start: int
    end: int
    run: Run


def _is_ruled(line: RunLine, below: RunLine, rules: Rules) -> bool:
    """Whether there is a rule below words of a line."""
    return any(
        line.y0 < rule.at < below.y0 + 0.3 * below.size
        and any(rule.start < run.x1 and rule.end > run.x0 for run in line.runs)
        for rule in rules.across
    )


def _before_years(
    first: int,
    last: int,
    lines: Sequence[RunLine],
    placed: Mapping[int, Sequence[_Placed]],
    key: int,
) -> int:
    """The line after the header, which ends where rows of years begin: one names columns."""
    rows = [
        i
        for i in range(first, last)
        if any(one.start == key for one in placed[i])
        and any(is_period(one.run.text) for one in placed[i] if one.start != key)
    ]
    return rows[0] if len(rows) > 1 else last


def _is_heading_line(
    found: Sequence[_Placed],
    below: Sequence[_Placed] | None,
    line: RunLine,
    next_line: RunLine,
    key: int,
) -> bool:
    """Whether a line has words above the labels that no line below goes on with: a heading."""
    if below is None or not any(one.start == key for one in found):
        return False
    apart = next_line.y0 - line.y1 > _APART_EM * line.size
    return apart and len(found) > 1 and not any(one.start == key for one in below)


class _Reader:
    """Finds the columns that names stand over, from the lowest line upwards."""

    def __init__(self, columns: Columns, rules: Rules, size: float) -> None:
        self._columns = columns
        self._rules = rules
        self._size = size
        # Where the names on lower lines stand: a name above several is in the middle of theirs.
        self._names: dict[int, _Extent] = {}
        self._texts: dict[int, str] = {}

    def placed(self, line: RunLine) -> list[_Placed] | None:
        """The runs of a line with their columns; None if they name none: a title, a sentence."""
        if line.size > _LARGER * self._size:
            return None
        runs = [part for run in line.runs for part in self._parted(run, line.size)]
        if not runs or any(len(run.text) > _LONGEST_NAME for run in runs):
            return None
        if any(run.is_value for run in runs):
            return None
        over = [self._over(run, line) for run in runs]
        if any(a is not None and b is not None and a.end > b.start for a, b in pairwise(over)):
            over = [self._nearest(run) for run in runs]
        found = [one for one in over if one is not None]
        if len(found) < len(over) or (len(found) == 1 and self._is_title(found[0])):
            return None
        found = self._spread(found)
        for one in found:
            if one.end - one.start == 1:
                x0, x1 = self._names.get(one.start, (one.run.x0, one.run.x1))
                self._names[one.start] = min(x0, one.run.x0), max(x1, one.run.x1)
                self._texts[one.start] = one.run.text + self._texts.get(one.start, "")
        return found

    def _parted(self, run: Run, size: float) -> list[Run]:
        """A run cut where a gutter runs through a gap that is wider than a space."""
        cuts: list[int] = []
        for i, (a, b) in enumerate(pairwise(run.items), 1):
            start, end = a.box[2], b.box[0]
            if end - start > _NAMES_APART_EM * size and any(
                start < right and end > left for left, right in self._columns.gutters
            ):
                cuts.append(i)
        if not cuts:
            return [run]
        return [run_of(run.items[a:b], size) for a, b in pairwise([0, *cuts, len(run.items)])]

    def _over(self, run: Run, line: RunLine) -> _Placed | None:
        """A run with the columns under it, or under the rule below it; None if it names none.

        What reaches over several columns without a rule names them only from their middle.
        """
        rule = self._rule_below(run, line)
        x0, x1 = rule or (run.x0, run.x1)
        covered = [
            i
            for i, (left, right) in enumerate(self._columns.extents)
            if min(x1, right) - max(x0, left) >= _COVERED * (right - left)
        ]
        if not covered:
            return self._nearest(run)
        one = _Placed(covered[0], covered[-1] + 1, run)
        if one.end - one.start == 1:
            return one
        if one.start <= self._columns.key < one.end:
            return None
        return one if rule or self._off_middle(one) < 2 * _CENTRED_EM * self._size else None

    def _rule_below(self, run: Run, line: RunLine) -> _Extent | None:
        """The ends of the rule that underlines a name, if it does not go below the labels too."""
        for rule in self._rules.across:
            under = line.y1 - 0.3 * line.size <= rule.at <= line.y1 + 0.6 * line.size
            if under and rule.start <= run.x0 + line.size and rule.end >= run.x1 - line.size:
                left, right = self._columns.extents[self._columns.key]
                apart = rule.start >= right - line.size or rule.end <= left + line.size
                return (min(run.x0, rule.start), max(run.x1, rule.end)) if apart else None
        return None

    def _nearest(self, run: Run) -> _Placed:
        middle = (run.x0 + run.x1) / 2
        extents = self._columns.extents
        i = min(
            range(len(extents)), key=lambda i: max(extents[i][0] - middle, middle - extents[i][1])
        )
        return _Placed(i, i + 1, run)

    def _is_title(self, one: _Placed) -> bool:
        """Whether a line stands over the middle of all columns, those of the labels included."""
        if one.start == self._columns.key or len(self._columns.extents) < 3:
            return False
        whole = _Placed(0, len(self._columns.extents), one.run)
        return self._off_middle(whole) < self._off_middle(self._others(one))

    def _others(self, one: _Placed) -> _Placed:
        """The run over all columns but that of the labels."""
        count = len(self._columns.extents)
        return _Placed(0, count - 1, one.run) if self._columns.key else _Placed(1, count, one.run)

    def _off_middle(self, one: _Placed) -> float:
        """How far a run stands from the middle of its columns.

        The middle of their figures, that of the names on lower lines, or that of cells as wide as
        the figures, set to the right, are apart.
        """
        extents = self._columns.extents
        first, last = extents[one.start], extents[one.end - 1]
        middles = [(first[0] + last[1]) / 2]
        names = self._names.get(one.start), self._names.get(one.end - 1)
        if names[0] is not None and names[1] is not None:
            middles.append((names[0][0] + names[1][1]) / 2)
        if one.end - one.start > 1:
            pitch = (last[1] - first[1]) / (one.end - one.start - 1)
            middles.append((first[1] - pitch + last[1]) / 2)
        return min(abs(one.run.middle - middle) for middle in middles)

    def _spread(self, found: Sequence[_Placed]) -> list[_Placed]:
        """The names, each over the group of columns in whose middle it stands."""
        out: list[_Placed] = []
        limits = self._others(found[0])
        for i, one in enumerate(found):
            below = self._texts.get(one.start, "")
            is_cut = one.end - one.start == 1 and below[:1].islower()
            may_spread = self._are_repeated() or self._is_loose(one)
            if one.start == self._columns.key or is_cut or not may_spread:
                out.append(one)
                continue
            left = (found[i - 1].run.middle + one.run.middle) / 2 if i else float("-inf")
            right = (
                (found[i + 1].run.middle + one.run.middle) / 2
                if i + 1 < len(found)
                else float("inf")
            )
            inside = [
                c
                for c in range(limits.start, limits.end)
                if left < sum(self._columns.extents[c]) / 2 < right
            ]
            groups = [
                _Placed(start, end, one.run)
                for start in inside
                for end in range(start + 1, inside[-1] + 2)
                if start <= one.start and end >= one.end
            ]
            centred = [g for g in groups if self._off_middle(g) < _CENTRED_EM * self._size]
            out.append(max(centred, key=lambda g: g.end - g.start, default=one))
        return out

    def _are_repeated(self) -> bool:
        """Whether names on lower lines are the same for several columns: those above part them."""
        return len(set(self._texts.values())) < len(self._texts)

    def _is_loose(self, one: _Placed) -> bool:
        """Whether a name does not stand over one column as its figures do, or is much wider."""
        if one.end - one.start > 1:
            return False
        left, right = self._columns.extents[one.start]
        sides = (
            abs(one.run.x0 - left),
            abs(one.run.x1 - right),
            abs(one.run.middle - (left + right) / 2),
        )
        is_wide = one.run.x1 - one.run.x0 > _WIDER * (right - left)
        return min(sides) >= _CENTRED_EM * self._size or is_wide


@dataclass(slots=True)
class _Name:
    """A name while it is read: the columns it covers, from `start` to `end` (excluded)."""

    start: int
    end: int
    words: CellWords


def _cells(
    chosen: Sequence[tuple[RunLine, Sequence[_Placed]]], width: int, *, glyphs: bool, rtl: bool
) -> tuple[TableCell, ...]:
    """The paths of names; a name on two lines is one."""
    paths: list[list[_Name]] = [[] for _ in range(width)]
    for line, placed in chosen:
        for one in placed:
            words = cell_words([piece_of(one.run.items, line)], glyphs=glyphs, rtl=rtl)
            above = [paths[i][-1] if paths[i] else None for i in range(one.start, one.end)]
            last = above[0]
            if last is not None and _goes_on(one, last, above):
                last.words = (*last.words, *((" ", word) for _, word in words[:1]), *words[1:])
                continue
            name = _Name(one.start, one.end, words)
            for i in range(one.start, one.end):
                paths[i].append(name)
    return tuple(
        path_cell([(name.end - 1 if rtl else name.start, name.words) for name in path], i)
        for i, path in enumerate(paths)
    )


def _goes_on(one: _Placed, last: _Name, above: Sequence[_Name | None]) -> bool:
    """Whether a name stands below another that covers the same columns."""
    same = (one.start, one.end) == (last.start, last.end)
    return same and all(name is last for name in above)
