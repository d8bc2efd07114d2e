"""The lines of a page as runs: words that stand apart from the next ones by more than a space."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from rag_source.ingest.layout import Fragment, Item, Row
from rag_source.ingest.page_tables import is_figure, is_quantity

__all__ = [
    "Run",
    "RunLine",
    "is_blank_mark",
    "is_parted",
    "is_period",
    "loosened",
    "piece_of",
    "run_lines",
    "run_of",
]

# The gap, in ems, that parts two runs: a word space has a quarter or a third, stretched ones more.
_GAP_EM = 0.8
_SPACE_EM = 0.12
# How far, in ems, accounts set the sign of a currency or the end of a bracket from its figure.
_SIGN_BEFORE_EM = 30.0
_SIGN_AFTER_EM = 1.5
_NO_DIGITS = ")]%‰*$€£¥ "
_SIGN = re.compile(r"[$€£¥]|[(]")
_SIGN_AFTER = re.compile(r"[)%]{1,2}|[$€£¥]")
_DASH = re.compile(r"[-–—−]{1,2}")
_BLANK = re.compile(r"[-–—−.·*]{1,3}|n/?[am]|n\.[am]\.", re.IGNORECASE)
_PERIOD = re.compile(
    r"(?:FY|CY)?\s?(?:19|20)\d\d(?:\s?[-/–]\s?(?:(?:19|20)?\d\d)){0,2}[ *:]*|\d\d/\d\d"
)


class Run(NamedTuple):
    """Words without a wide gap; `text` has a space where the page shows one.

    A `solid` run is a figure with its sign, which may stand far apart; of a `loose` one a word may
    be the unit.
    """

    x0: float
    x1: float
    text: str
    items: tuple[Item, ...]
    solid: bool = False
    loose: bool = False

    @property
    def middle(self) -> float:
        return (self.x0 + self.x1) / 2

    @property
    def last_digit(self) -> float:
        """Where the last digit ends, about: figures end alike, but for brackets and per cents."""
        for item in reversed(self.items):
            after = len(item.text) - len(item.text.rstrip(_NO_DIGITS))
            if after < len(item.text):
                return item.box[2] - (item.box[2] - item.box[0]) * after / len(item.text)
        return self.x1

    @property
    def is_figure(self) -> bool:
        return is_figure(self.text) or (self.loose and is_quantity(self.text))

    @property
    def is_value(self) -> bool:
        """Whether this is the value of a cell: a figure or a dash, but no year."""
        if self.solid or _DASH.fullmatch(self.text):
            return True
        return self.is_figure and not is_period(self.text)

    @property
    def is_sign(self) -> bool:
        """Whether this is the sign of a currency, without its figure."""
        return _SIGN.fullmatch(self.text) is not None


@dataclass(frozen=True, slots=True)
class RunLine:
    """A row of the layout and its runs from left to right."""

    row: Row
    runs: tuple[Run, ...]
    y0: float
    y1: float
    size: float

    def ink(self, weight: int) -> list[tuple[float, float, int]]:
        """Where there are words, with 1, and figures with their signs, with `weight`."""
        out: list[tuple[float, float, int]] = []
        for run in self.runs:
            share = weight if run.is_figure else 1
            if run.solid:
                out.append((run.x0, run.x1, share))
            else:
                out += [(item.box[0], item.box[2], share) for item in run.items]
        return out


def run_lines(rows: Sequence[Row]) -> list[RunLine]:
    """The runs of each row; the signs of currencies are put to their figures."""
    bare = [_bare_runs(row) for row in rows]
    after = sum(_is_signed(run, -1, -2) for runs in bare for run in runs[-1:]) > sum(
        _is_signed(run, 0, 1) for runs in bare for run in runs
    )
    return [
        RunLine(row, tuple(_signed(runs, row.size, after=after)), row.y0, row.y1, row.size)
        for row, runs in zip(rows, bare, strict=True)
    ]


def loosened(lines: Sequence[RunLine]) -> list[RunLine]:
    """The lines, a figure with a word for its unit taken for a figure too."""
    return [
        replace(line, runs=tuple(run._replace(loose=True) for run in line.runs)) for line in lines
    ]


def is_parted(row: Row) -> bool:
    """Whether there is a wide gap between the words of a row."""
    return len(_bare_runs(row)) > 1


def _bare_runs(row: Row) -> list[Run]:
    items = sorted(
        (item for f in row.fragments for item in f.items if item.text.strip()),
        key=lambda item: item.box[0],
    )
    size = row.size
    groups: list[list[Item]] = []
    end = 0.0
    for item in items:
        if groups and item.box[0] - end <= _GAP_EM * size:
            groups[-1].append(item)
            end = max(end, item.box[2])
        else:
            groups.append([item])
            end = item.box[2]
    return [run_of(group, size) for group in groups]


def is_blank_mark(text: str) -> bool:
    """Whether a cell says that it has no figure, as a dash does."""
    return _BLANK.fullmatch(text.strip()) is not None


def is_period(text: str) -> bool:
    """Whether a figure is a year, which may as well name a column."""
    return _PERIOD.fullmatch(text.strip()) is not None


def piece_of(items: Sequence[Item], like: RunLine) -> Row:
    """Some words of a line as a row of their own."""
    first = like.row.fragments[0]
    return Row(
        (
            Fragment(
                items=tuple(items),
                x0=min(item.box[0] for item in items),
                y0=like.y0,
                x1=max(item.box[2] for item in items),
                y1=like.y1,
                size=like.size,
                bold=first.bold,
                order=first.order,
            ),
        )
    )


def run_of(items: Sequence[Item], size: float) -> Run:
    """Some words of a line, sorted from left to right, as one run."""
    parts: list[str] = []
    end: float | None = None
    for item in items:
        if end is not None and item.box[0] - end > _SPACE_EM * size:
            parts.append(" ")
        parts.append(item.text)
        end = item.box[2] if end is None else max(end, item.box[2])
    return Run(
        min(item.box[0] for item in items),
        max(item.box[2] for item in items),
        "".join(parts).strip(),
        tuple(items),
    )


def _ends_in_sign(run: Run) -> bool:
    """Whether the words of a run end in a sign by itself, as in `12 $`."""
    return len(run.items) > 1 and _SIGN.fullmatch(run.items[-1].text.strip()) is not None


def _is_signed(run: Run, sign: int, figure: int) -> bool:
    """Whether the words at these places of a run are a sign and a figure."""
    if len(run.items) < 2 or not _SIGN.fullmatch(run.items[sign].text.strip()):
        return False
    return any(c.isdigit() for c in run.items[figure].text)


def _signed(runs: Sequence[Run], size: float, *, after: bool) -> list[Run]:
    """The runs with each sign put to its figure, which may stand far from it.

    Accounts set the signs in a column of their own, so that one may stand closer to the figure of
    the column before; `after` says that they come after their figures.
    """
    out: list[Run] = []
    for run in runs:
        before = out[-1] if out else None
        is_figure = run.is_figure or is_blank_mark(run.text)
        if before is not None and is_figure and not after and _ends_in_sign(before):
            sign = run_of(before.items[-1:], size)
            out[-1:] = [run_of(before.items[:-1], size), sign]
            before = sign
        if before is not None and (
            (before.is_sign and is_figure and run.x0 - before.x1 <= _SIGN_BEFORE_EM * size)
            or (
                _SIGN_AFTER.fullmatch(run.text)
                and before.text[-1:].isdigit()
                and run.x0 - before.x1 <= _SIGN_AFTER_EM * size
            )
        ):
            out[-1] = run_of((*before.items, *run.items), size)._replace(solid=True)
        else:
            out.append(run)
    return out
