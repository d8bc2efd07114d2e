"""From the boxes that a page draws to its rules, and from rules that meet to lattices of cells.

Pure geometry in a reading frame. A rule is a straight line along an axis, drawn as a line, as a
thin rectangle or as a side of a larger one; the pieces of a rule are put together.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

__all__ = ["Box", "Drawn", "Lattice", "Rule", "Rules", "lattices", "rules_of"]

Box = tuple[float, float, float, float]

# Wider than this it is a bar or a background, not a rule.
_THICKEST = 3.0
_SHORTEST = 8.0
# Pieces of one rule, both sides of a double rule, and rules that end just before they meet.
_NEAR = 2.5
# No letter fits between edges that are closer.
_NARROWEST = 5.0
# What more than this many boxes or rules draw is a picture or a map; it is not searched for tables.
_MOST_DRAWN = 20_000
_MOST_RULES = 800
# The share of a cell's side that must be drawn for the side to part two cells.
_DRAWN_SHARE = 0.6


class Drawn(NamedTuple):
    """A rectangle that the page shows: filled, or only its `outline`."""

    box: Box
    outline: bool


class Rule(NamedTuple):
    """A straight line: at `at` on one axis, from `start` to `end` on the other."""

    at: float
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules of a page, sorted by `at`; `across` run from left to right, `down` downwards.

    `grounds` are the rectangles that are filled.
    """

    across: tuple[Rule, ...] = ()
    down: tuple[Rule, ...] = ()
    grounds: tuple[Box, ...] = ()


@dataclass(frozen=True, slots=True)
class Lattice:
    """Rules that meet: the positions of its columns' and rows' edges, and which sides are drawn.

    `down[row][i]` says whether the edge `xs[i]` is drawn beside the row, `across[i][column]`
    whether the edge `ys[i]` is drawn above the column `column`.
    """

    xs: tuple[float, ...]
    ys: tuple[float, ...]
    down: tuple[tuple[bool, ...], ...]
    across: tuple[tuple[bool, ...], ...]

    @property
    def box(self) -> Box:
        return self.xs[0], self.ys[0], self.xs[-1], self.ys[-1]


def rules_of(drawn: Sequence[Drawn]) -> Rules:
    """The rules among these boxes; none if the page draws more than a table could need."""
    if len(drawn) > _MOST_DRAWN:
        return Rules()
    across: list[Rule] = []
    down: list[Rule] = []
    grounds: list[Box] = []
    for (x0, y0, x1, y1), outline in drawn:
        width, height = x1 - x0, y1 - y0
        if min(width, height) <= _THICKEST:
            if width >= height:
                across.append(Rule((y0 + y1) / 2, x0, x1))
            if height >= width:
                down.append(Rule((x0 + x1) / 2, y0, y1))
        elif outline:
            across += (Rule(y0, x0, x1), Rule(y1, x0, x1))
            down += (Rule(x0, y0, y1), Rule(x1, y0, y1))
        else:
            grounds.append((x0, y0, x1, y1))
    joined = Rules(_joined(across), _joined(down), tuple(grounds[:_MOST_RULES]))
    if len(joined.across) + len(joined.down) > _MOST_RULES:
        return Rules()
    return joined


def lattices(rules: Rules) -> list[Lattice]:
    """The lattices of at least two columns and two rows that the rules make, from top to bottom."""
    if not rules.across or not rules.down:
        return []
    found: list[Lattice] = []
    for across, down in _groups(rules):
        lattice = _lattice(across, down)
        if lattice is not None:
            found.append(lattice)
    return sorted(found, key=lambda lattice: (lattice.ys[0], lattice.xs[0]))


def _joined(pieces: Iterable[Rule]) -> tuple[Rule, ...]:
    """Pieces on one line as one rule; what stays too short is no rule."""
    joined: list[Rule] = []
    for line in _lines(sorted(pieces)):
        at = line[0].at
        start = end = None
        for piece in sorted(line, key=lambda piece: piece.start):
            if start is None or end is None or piece.start > end + _NEAR:
                if start is not None and end is not None:
                    joined.append(Rule(at, start, end))
                start, end = piece.start, piece.end
            else:
                end = max(end, piece.end)
        if start is not None and end is not None:
            joined.append(Rule(at, start, end))
    return tuple(rule for rule in joined if rule.end - rule.start >= _SHORTEST)


def _lines(pieces: Sequence[Rule]) -> Iterable[list[Rule]]:
    """Pieces, sorted by position, that lie on one line."""
    line: list[Rule] = []
    for piece in pieces:
        if line and piece.at - line[0].at > _NEAR:
            yield line
            line = []
        line.append(piece)
    if line:
        yield line


def _groups(rules: Rules) -> list[tuple[list[Rule], list[Rule]]]:
    """Rules that touch or cross one another, directly or by others."""
    count = len(rules.across)
    parent = list(range(count + len(rules.down)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    heights = [rule.at for rule in rules.across]
    for j, (x, top, bottom) in enumerate(rules.down, count):
        low = bisect_left(heights, top - _NEAR)
        for i in range(low, bisect_right(heights, bottom + _NEAR)):
            if rules.across[i].start - _NEAR <= x <= rules.across[i].end + _NEAR:
                parent[root(i)] = root(j)
    groups: dict[int, tuple[list[Rule], list[Rule]]] = {}
    for i, rule in enumerate((*rules.across, *rules.down)):
        groups.setdefault(root(i), ([], []))[i >= count].append(rule)
    return [(across, down) for across, down in groups.values() if across and down]


def _lattice(across: Sequence[Rule], down: Sequence[Rule]) -> Lattice | None:
    """The lattice; an outer side that is not drawn is where the rules of the other axis end."""
    columns = _edges(down, across)
    rows = _edges(across, down)
    if len(columns) < 3 or len(rows) < 3:
        return None
    xs = tuple(at for at, _ in columns)
    ys = tuple(at for at, _ in rows)
    beside = _sides([rules for _, rules in columns], ys)
    return Lattice(
        xs=xs,
        ys=ys,
        down=tuple(zip(*beside, strict=True)),
        across=_sides([rules for _, rules in rows], xs),
    )


def _edges(rules: Sequence[Rule], crossing: Sequence[Rule]) -> list[tuple[float, list[Rule]]]:
    """Where cells begin and end, with the rules that stand there.

    The outermost ends of the crossing rules are edges too. Rules too close for a letter between
    them are one edge, at the longest of them.
    """
    edges: list[list[Rule]] = []
    for rule in rules:
        if edges and rule.at - edges[-1][0].at < _NARROWEST:
            edges[-1].append(rule)
        else:
            edges.append([rule])
    found = [(max(edge, key=lambda rule: rule.end - rule.start).at, edge) for edge in edges]
    low = min(rule.start for rule in crossing)
    high = max(rule.end for rule in crossing)
    if low < found[0][0] - _NARROWEST:
        found.insert(0, (low, []))
    if high > found[-1][0] + _NARROWEST:
        found.append((high, []))
    return found


def _sides(
    edges: Sequence[Sequence[Rule]], crossing: Sequence[float]
) -> tuple[tuple[bool, ...], ...]:
    """For each edge, which stretches between crossing edges are drawn; of the outer ones, all."""
    outer = (0, len(edges) - 1)
    return tuple(
        tuple(i in outer or _is_drawn(start, end, rules) for start, end in pairwise(crossing))
        for i, rules in enumerate(edges)
    )


def _is_drawn(start: float, end: float, rules: Sequence[Rule]) -> bool:
    drawn = sum(max(0.0, min(end, rule.end) - max(start, rule.start)) for rule in rules)
    return drawn >= _DRAWN_SHARE * (end - start)
