"""Reading order on a page, from the geometry of its words: columns, rows, paragraphs.

Pure geometry in a frame where text runs horizontally and y grows downwards. It knows neither PDF
nor OCR; both give it fragments, runs of words without a wide gap on one baseline.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

__all__ = ["Fragment", "Item", "Row", "reading_order", "rows_of"]

_DEEPEST_SPLIT = 8
# Prose columns: at least this many characters on most lines of each side.
_PROSE_CHARS = 25
_FEWEST_PROSE_ROWS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A word, or a glyph cluster on pages that need bidirectional ordering.

    `box` is (x0, y0, x1, y1) in the reading frame, `source` the same in the page's own frame.
    `confidence` is that of `WordBox`.
    """

    text: str
    box: tuple[float, float, float, float]
    source: tuple[float, float, float, float]
    confidence: float = 100.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Fragment:
    """Items on one baseline without a wide gap; `order` is their place in the file's stream.

    `whole` fragments stand for something that is read in one piece, such as a ruled table.
    """

    items: tuple[Item, ...]
    x0: float
    y0: float
    x1: float
    y1: float
    size: float
    bold: bool
    order: int
    whole: bool = False

    @property
    def text(self) -> str:
        return " ".join(item.text for item in self.items)

    @property
    def center(self) -> float:
        return (self.y0 + self.y1) / 2


@dataclass(frozen=True, slots=True)
class Row:
    """Fragments side by side on one line of a column, left to right."""

    fragments: tuple[Fragment, ...]

    @property
    def x0(self) -> float:
        return min(f.x0 for f in self.fragments)

    @property
    def x1(self) -> float:
        return max(f.x1 for f in self.fragments)

    @property
    def y0(self) -> float:
        return min(f.y0 for f in self.fragments)

    @property
    def y1(self) -> float:
        return max(f.y1 for f in self.fragments)

    @property
    def size(self) -> float:
        """The font size of the longest fragment."""
        return max(self.fragments, key=lambda f: len(f.text)).size

    @property
    def bold(self) -> bool:
        return all(f.bold for f in self.fragments)

    @property
    def cells(self) -> int:
        """How many runs stand apart by more than a wide word space."""
        ordered = sorted(self.fragments, key=lambda f: f.x0)
        gaps = pairwise(ordered)
        return 1 + sum(b.x0 - a.x1 > 1.5 * self.size for a, b in gaps)


def reading_order(fragments: Sequence[Fragment], *, right_to_left: bool) -> list[list[Row]]:
    """Regions in reading order, each a list of rows from top to bottom.

    A region is a column or a stretch across the page. Columns are told from the columns of a
    table by the order in which the file writes them and by how much prose they hold.
    """
    regions: list[list[Row]] = []
    for region in _split(list(fragments), right_to_left, 0):
        rows = rows_of(region)
        if rows:
            regions.append(rows)
    return regions


def _split(fragments: list[Fragment], rtl: bool, depth: int) -> list[list[Fragment]]:
    gutter = _gutter(fragments) if len(fragments) >= 4 and depth < _DEEPEST_SPLIT else None
    if gutter is None:
        return [fragments]
    regions: list[list[Fragment]] = []
    across: list[Fragment] = []
    for crossing, left, right in _bands(fragments, gutter):
        across += crossing
        if not (left and right and _are_columns(left, right)):
            across += left + right
            continue
        if across:
            regions.append(across)
            across = []
        sides = (right, left) if rtl else (left, right)
        for side in sides:
            regions += _split(side, rtl, depth + 1)
    if across:
        regions.append(across)
    if len(regions) == 1:
        return [fragments]
    return regions


def _gutter(fragments: Sequence[Fragment]) -> float | None:
    """The x of the best empty vertical strip that some fragments may still cross."""
    left: float = min(f.x0 for f in fragments)
    width = int(max(f.x1 for f in fragments) - left) + 2
    cover = [0] * (width + 1)
    for f in fragments:
        cover[max(0, int(f.x0 - left + 0.5))] += 1
        cover[min(width, int(f.x1 - left + 0.5))] -= 1
    for x in range(1, width + 1):
        cover[x] += cover[x - 1]
    narrowest = max(4.0, 0.6 * median(f.size for f in fragments))
    best: float | None = None
    best_score = 0.0
    for level in sorted(set(cover[1:-1]))[:8]:
        if level > 0.5 * len(fragments):
            break
        for start, end in _strips(cover, level):
            if start == 0 or end >= width - 1 or end - start < narrowest:
                continue
            middle = left + (start + end) / 2
            sides = _sides(fragments, middle)
            score = min(sides[0], sides[1]) - 0.3 * sides[2] + min(end - start, 40) / 100
            if min(sides[0], sides[1]) >= 2 and score > best_score:
                best, best_score = middle, score
    return best


def _strips(cover: Sequence[int], level: int) -> list[tuple[int, int]]:
    strips: list[tuple[int, int]] = []
    start: int | None = None
    for x, count in enumerate(cover):
        if count <= level and start is None:
            start = x
        elif count > level and start is not None:
            strips.append((start, x))
            start = None
    if start is not None:
        strips.append((start, len(cover)))
    return strips


def _sides(fragments: Sequence[Fragment], x: float) -> tuple[int, int, int]:
    left = sum(f.x1 <= x for f in fragments)
    right = sum(f.x0 >= x for f in fragments)
    return left, right, len(fragments) - left - right


_Band = tuple[list[Fragment], list[Fragment], list[Fragment]]


def _bands(fragments: Sequence[Fragment], x: float) -> list[_Band]:
    """(crossing, left, right) from top to bottom: what spans the gutter, then what it divides."""
    crossing = sorted((f for f in fragments if f.x0 < x < f.x1), key=lambda f: f.center)
    centers = [f.center for f in crossing]
    bands: list[_Band] = [([], [], []) for _ in range(len(crossing) + 1)]
    for i, f in enumerate(crossing):
        bands[i + 1][0].append(f)
    for f in fragments:
        if f.x1 <= x:
            bands[bisect(centers, f.center)][1].append(f)
        elif f.x0 >= x:
            bands[bisect(centers, f.center)][2].append(f)
    return bands


def _are_columns(left: Sequence[Fragment], right: Sequence[Fragment]) -> bool:
    """Whether two sides are read one after the other, not row by row."""
    left, right = [f for f in left if not f.whole], [f for f in right if not f.whole]
    rows = min(len(rows_of(left)), len(rows_of(right)))
    if rows < 2 or not _overlap_vertically(left, right):
        return False
    if _mostly_figures(left) or _mostly_figures(right):
        return False
    in_stream = sorted([(f.order, 0) for f in left] + [(f.order, 1) for f in right])
    switches = sum(a[1] != b[1] for a, b in pairwise(in_stream))
    if switches <= max(1, rows // 3):
        return True
    return rows >= _FEWEST_PROSE_ROWS and _is_prose(left) and _is_prose(right)


def _overlap_vertically(left: Sequence[Fragment], right: Sequence[Fragment]) -> bool:
    tops = min(f.y0 for f in left), min(f.y0 for f in right)
    ends = max(f.y1 for f in left), max(f.y1 for f in right)
    shorter = min(ends[0] - tops[0], ends[1] - tops[1])
    return min(ends) - max(tops) > 0.5 * shorter


def _mostly_figures(side: Sequence[Fragment]) -> bool:
    """Whether most of a side's fragments are figures: the values of a table."""
    figures = 0
    for f in side:
        digits = sum(c.isdigit() for c in f.text)
        letters = sum(c.isalpha() for c in f.text)
        figures += digits > letters
    return figures > 0.5 * len(side)


def _is_prose(side: Sequence[Fragment]) -> bool:
    """Most lines are long and end near the same edge."""
    rows = rows_of(side)
    long = sum(sum(len(f.text) for f in row.fragments) >= _PROSE_CHARS for row in rows)
    left = min(row.x0 for row in rows)
    width = max(row.x1 for row in rows) - left
    full = sum(row.x1 - left >= 0.75 * width for row in rows)
    return long >= 0.7 * len(rows) and full >= 0.6 * len(rows)


def rows_of(fragments: Sequence[Fragment]) -> list[Row]:
    """Cluster by baseline, then sort each cluster by x: a word a little low stays in its place.

    What is read as a whole is a row by itself, before the rows beside it.
    """
    rows: list[list[Fragment]] = []
    for f in sorted(fragments, key=lambda f: (f.center, f.x0)):
        if f.whole:
            continue
        if rows and _on_row(rows[-1], f):
            rows[-1].append(f)
        else:
            rows.append([f])
    found = [Row(tuple(sorted(row, key=lambda f: (f.x0, f.order)))) for row in rows]
    whole = [Row((f,)) for f in fragments if f.whole]
    if not whole:
        return found
    placed = [((row.y0 + row.y1) / 2, row) for row in found] + [(row.y0, row) for row in whole]
    return [row for _, row in sorted(placed, key=lambda pair: pair[0])]


def _on_row(row: Sequence[Fragment], f: Fragment) -> bool:
    tallest = max(row, key=lambda other: other.y1 - other.y0)
    overlap = min(tallest.y1, f.y1) - max(tallest.y0, f.y0)
    if overlap <= 0.5 * min(tallest.y1 - tallest.y0, f.y1 - f.y0):
        return False
    # Over-printed text shares the line but is another line of the file.
    return not any(
        min(o.x1, f.x1) - max(o.x0, f.x0) > 0.5 * min(o.x1 - o.x0, f.x1 - f.x0) for o in row
    )
