"""What the program computed for an answer, as opposed to what it quoted (SPEC A8)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = ["CalculatedGroup", "CalculatedRow", "Calculation", "Operation"]

Operation: TypeAlias = Literal["sum", "count", "mean", "min", "max"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CalculatedRow:
    """A row that a figure was computed from: `[start, end)` of the document text of `path`.

    `value` is the exact decimal that the row gave, such as `82900.00`; empty for a row that was
    only counted, or that has no figure in the column. `citation` is the place of the row's citation
    among those of the answer, None for a row beyond those that are shown.
    """

    path: str
    block: str
    start: int
    end: int
    value: str = ""
    citation: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CalculatedGroup:
    """The result for the rows that share a name; `name` is spelt as the first of them spells it."""

    name: str
    result: str
    unit: str
    rows: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Calculation:
    """A figure, or one for each group, computed from rows of tables by the program.

    `column` is the header path of the column, empty where rows themselves are counted. `unit` is
    spelt as the documents spell it. `result` is an exact decimal with a point, such as `82900.00`;
    `exact` is False where a mean had to be rounded. It is empty where there are `groups`, and where
    nothing was computed: then `reason` is `mixed_units`, `ambiguous_figures`, `incomplete` or
    `documents_differ`.

    `conditions` are the words that a row had to hold. `rows` are those it was computed from, the
    first ones at least; `row_count` is how many there are. `missing` are rows of the same
    selection without a figure, which are in no result. `documents` are the paths of all documents
    whose tables were looked at, in the order of paths.
    """

    operation: Operation
    column: str
    unit: str
    result: str
    row_count: int
    documents: tuple[str, ...]
    rows: tuple[CalculatedRow, ...] = ()
    missing: tuple[CalculatedRow, ...] = ()
    missing_count: int = 0
    conditions: tuple[str, ...] = ()
    grouped_by: str = ""
    groups: tuple[CalculatedGroup, ...] = ()
    exact: bool = True
    reason: str = ""
