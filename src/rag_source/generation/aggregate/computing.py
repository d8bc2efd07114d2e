"""Exact decimal arithmetic over selected rows, with units that must agree (SPEC A8)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, Inexact, localcontext

from rag_source.domain.calculations import Operation
from rag_source.domain.folding import fold
from rag_source.generation.aggregate.figures import Figure, Unit, unit_named
from rag_source.generation.aggregate.lexicon import IDENTIFYING
from rag_source.generation.aggregate.pools import PooledRow
from rag_source.generation.aggregate.selecting import Selection
from rag_source.generation.aggregate.tables import Column, Table
from rag_source.generation.aggregate.wishes import Comparison, Wish

__all__ = ["Result", "ResultGroup", "UsedRow", "compute"]

_EXACT = Context(prec=200, traps=[Inexact])
"""Sums of figures of 30 digits are exact here, or an error; never rounded."""
_MEAN_PLACES = 2  # at least, of a mean that does not come out even
_EVEN_PLACES = 4  # beyond those of the figures, up to which an even mean is shown in full
_MONEY = frozenset("price amount value salary sale purchase expense total discount tax".split())
_LISTING = re.compile(r"[^\W\d_]{2,}\s*[,;/&]\s*[^\W\d_]{2,}")
_GOODS = frozenset("quantity stock weight".split())


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedRow:
    """A row with the figure that it gives; `figure` is None for a row that is only counted."""

    pooled: PooledRow
    figure: Figure | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultGroup:
    """The result for the rows of one group; `name` is empty where nothing was grouped."""

    name: str
    value: Decimal
    exact: bool
    unit: Unit | None
    rows: tuple[UsedRow, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What came out.

    `column` is the column as the first table spells it, None where rows are counted. `missing` are
    rows without a figure, `compared` is how many gave one. With a `reason` there are no groups;
    `clash` are rows whose units or spellings of figures do not go together, one of each.
    """

    operation: Operation
    column: Column | None
    groups: tuple[ResultGroup, ...]
    missing: tuple[PooledRow, ...]
    grouped_by: str = ""
    compared: int = 0
    reason: str = ""
    clash: tuple[UsedRow, ...] = ()


def compute(wish: Wish, selection: Selection) -> Result | None:
    """The result over the selected rows; None where the question proves to be another one."""
    first = selection.rows[0].candidate
    column = first.target.column
    operation: Operation = "count" if first.target.kind != "figures" else _summing(wish)
    if first.target.kind == "figures" and any(_is_ambiguous(one) for one in selection.rows):
        return _refused(operation, column, "ambiguous_figures", _ambiguous_rows(selection))
    rows = _compared(wish, selection)
    if not rows:
        return None
    used, missing = _figures(rows, counting=operation == "count")
    if not used or len(missing) > len(used) or _is_lookup(wish, operation, selection, used):
        return None
    if operation == "count" and not _counts_clearly(wish, used):
        return None
    if _columns_differ(rows):
        return _refused(operation, column, "mixed_units", _one_each(used, by_column=True))
    grouped = _grouped(selection, used)
    if grouped is None:
        return None
    names, parts = grouped
    if selection.grouped and not _groups_clearly(operation, selection, parts):
        return None
    clash = next((rows for rows in parts if len(_units(rows)) > 1), None)
    if clash and operation != "count":
        return _refused(operation, column, "mixed_units", _one_each(clash))
    groups = tuple(
        _result(wish, operation, name, rows) for name, rows in zip(names, parts, strict=True)
    )
    if operation in ("min", "max") and selection.labels and _labels_repeat(selection, used):
        return None
    return Result(
        operation=operation,
        column=column,
        groups=groups,
        missing=tuple(missing),
        grouped_by=_group_name(selection),
        compared=len(used),
    )


def _is_lookup(
    wish: Wish, operation: Operation, selection: Selection, used: Sequence[UsedRow]
) -> bool:
    """Whether the question is as likely one for a figure that a document states."""
    if operation == "count" or selection.grouped:
        return False
    if len(used) == 1:
        return operation != "sum" or not wish.firm
    stated = all(candidate.source.states_total for candidate in selection.candidates)
    one_document = len(selection.documents) == 1 and not selection.conditions
    return operation == "sum" and not wish.firm and one_document and stated


def _summing(wish: Wish) -> Operation:
    """ "How many pieces" without another word is their sum."""
    return "sum" if wish.operation == "count" else wish.operation


def _is_ambiguous(one: PooledRow) -> bool:
    column = one.candidate.target.column
    return column is not None and one.candidate.table.reading(column).ambiguous


def _ambiguous_rows(selection: Selection) -> tuple[UsedRow, ...]:
    return tuple(
        UsedRow(pooled=one, figure=_figure(one)) for one in selection.rows if _is_ambiguous(one)
    )[:2]


def _refused(
    operation: Operation, column: Column | None, reason: str, clash: tuple[UsedRow, ...]
) -> Result:
    return Result(
        operation=operation, column=column, groups=(), missing=(), reason=reason, clash=clash
    )


def _compared(wish: Wish, selection: Selection) -> list[PooledRow]:
    """The rows within the bound of a comparison."""
    if wish.comparison is None:
        return list(selection.rows)
    return [
        one for one in selection.rows if _is_within(wish.comparison, _bounded(one, selection.bound))
    ]


def _bounded(one: PooledRow, concepts: frozenset[str]) -> Figure | None:
    table = one.candidate.table
    column = next((c for c in table.figures if c.concepts == concepts), None)
    if column is None or table.reading(column).ambiguous:
        return None
    read = table.reading(column).cells[one.index]
    return read if isinstance(read, Figure) else None


def _is_within(bound: Comparison, figure: Figure | None) -> bool:
    if figure is None:
        return False
    value = figure.value
    return {
        ">": value > bound.value,
        ">=": value >= bound.value,
        "<": value < bound.value,
        "<=": value <= bound.value,
    }[bound.sign]


def _figures(rows: Sequence[PooledRow], *, counting: bool) -> tuple[list[UsedRow], list[PooledRow]]:
    """The rows that give a figure, and those that do not."""
    used: list[UsedRow] = []
    missing: list[PooledRow] = []
    for one in rows:
        figure = None if counting else _figure(one)
        if counting:
            column = one.candidate.target.column
            if column is None or one.row.cell(column):
                used.append(UsedRow(pooled=one, figure=None))
        elif figure is None:
            missing.append(one)
        else:
            used.append(UsedRow(pooled=one, figure=figure))
    return used, missing


def _figure(one: PooledRow) -> Figure | None:
    """The figure of a row, with the unit of its cell, its header or its row."""
    table, column = one.candidate.table, one.candidate.target.column
    if column is None:
        return None
    read = table.reading(column).cells[one.index]
    if not isinstance(read, Figure):
        return None
    if read.unit is not None and column.unit is not None and read.unit.name != column.unit.name:
        return read  # what the cell itself says counts
    return Figure(read.value, read.unit or column.unit or _unit_of_row(table, column, one))


def _unit_of_row(table: Table, column: Column, one: PooledRow) -> Unit | None:
    """The unit that another column gives for the row: its currency, its unit of measure."""
    for other in table.words:
        if not other.concepts & {"currency", "unit"}:
            continue
        unit = unit_named(one.row.cell(other))
        wanted = _MONEY if unit and unit.is_money else _GOODS
        if unit and column.concepts & wanted and not (unit.is_money and column.concepts & _GOODS):
            return unit
    return None


def _columns_differ(rows: Sequence[PooledRow]) -> bool:
    """Whether one table counts with the tax and another without."""
    columns = [one.candidate.target.column for one in rows]
    return len({column.qualifier for column in columns if column}) > 1


def _units(rows: Sequence[UsedRow]) -> set[str]:
    return {row.figure.unit.name if row.figure.unit else "" for row in rows if row.figure}


def _one_each(rows: Sequence[UsedRow], *, by_column: bool = False) -> tuple[UsedRow, ...]:
    """The first row of each unit, or of each spelling of the column."""
    first: dict[str, UsedRow] = {}
    for row in rows:
        column = row.pooled.candidate.target.column
        unit = row.figure.unit if row.figure else None
        key = (column.qualifier if column else "") if by_column else (unit.name if unit else "")
        first.setdefault(key, row)
    return tuple(first.values())


def _counts_clearly(wish: Wish, rows: Sequence[UsedRow]) -> bool:
    """Whether the number of rows is the number of things: no thing stands in two of them."""
    if rows[0].pooled.candidate.target.kind == "rows" or wish.distinct:
        return True
    column = rows[0].pooled.candidate.target.column
    named = column is not None and bool(column.concepts & IDENTIFYING)
    if not named and (len(rows) == 1 or any(_LISTING.search(_counted_cell(r)) for r in rows)):
        return False  # "how many languages does she speak": the one cell may name several
    return len(_distinct(rows)) == len(rows) or _is_reference(rows[0])


def _counted_cell(row: UsedRow) -> str:
    column = row.pooled.candidate.target.column
    return row.pooled.row.cell(column) if column else ""


def _is_reference(row: UsedRow) -> bool:
    column = row.pooled.candidate.target.column
    return column is not None and "reference" in column.concepts


def _distinct(rows: Sequence[UsedRow]) -> dict[str, UsedRow]:
    """The rows by the value of the column that is counted, the first of each."""
    first: dict[str, UsedRow] = {}
    for row in rows:
        first.setdefault(fold(_counted_cell(row), case=True).text, row)
    return first


def _grouped(
    selection: Selection, rows: Sequence[UsedRow]
) -> tuple[list[str], list[list[UsedRow]]] | None:
    """Names of groups and their rows, in the order of appearance; one without a name if none."""
    if not selection.grouped:
        return [""], [list(rows)]
    names: dict[str, str] = {}
    parts: dict[str, list[UsedRow]] = {}
    for row in rows:
        name = _name_of(row.pooled, selection.group)
        if not name:
            return None
        key = fold(name, case=True).text
        names.setdefault(key, name)
        parts.setdefault(key, []).append(row)
    return list(names.values()), list(parts.values())


def _groups_clearly(
    operation: Operation, selection: Selection, parts: Sequence[Sequence[UsedRow]]
) -> bool:
    """Whether groups are worth a result each: some have rows to compute with.

    "The average quantity per note" may mean that of their rows, or of their sums.
    """
    if operation == "mean" and not selection.group:
        return False
    return operation == "count" or any(len(part) > 1 for part in parts)


def _name_of(one: PooledRow, concepts: frozenset[str]) -> str:
    if not concepts:
        return one.candidate.source.path
    column = _group_column(one.candidate.table, concepts)
    return one.row.cell(column) if column else ""


def _group_column(table: Table, concepts: frozenset[str]) -> Column | None:
    found = [column for column in table.words if concepts <= column.concepts]
    exact = [column for column in found if column.concepts == concepts]
    return next(iter(exact or found), None)


def _group_name(selection: Selection) -> str:
    if not selection.grouped or not selection.group:
        return ""
    column = _group_column(selection.rows[0].candidate.table, selection.group)
    return column.name if column else ""


def _labels_repeat(selection: Selection, rows: Sequence[UsedRow]) -> bool:
    """Whether "which supplier has most" would need a sum for each supplier first."""
    for concept in selection.labels:
        values = [
            fold(row.pooled.row.cell(column), case=True).text
            for row in rows
            if (column := _group_column(row.pooled.candidate.table, frozenset({concept})))
        ]
        if len(set(values)) < len(values):
            return True
    return False


def _result(wish: Wish, operation: Operation, name: str, rows: Sequence[UsedRow]) -> ResultGroup:
    kept = list(rows)
    exact = True
    values = [row.figure.value for row in rows if row.figure]
    with localcontext(_EXACT):
        if operation == "count":
            counted = _distinct(rows) if rows[0].pooled.candidate.target.column else None
            kept = list(counted.values()) if counted is not None else kept
            value = Decimal(len(kept))
        elif operation == "sum":
            value = sum(values, Decimal(0))
        elif operation == "mean":
            value, exact = _mean(sum(values, Decimal(0)), len(values))
        else:
            value = max(values) if operation == "max" else min(values)
            kept = [row for row in rows if row.figure and row.figure.value == value]
    unit = next((row.figure.unit for row in kept if row.figure), None)
    return ResultGroup(name=name, value=value, exact=exact, unit=unit, rows=tuple(kept))


def _mean(total: Decimal, count: int) -> tuple[Decimal, bool]:
    """The mean, and whether it is exact; otherwise it is rounded half to even."""
    exponent = total.as_tuple().exponent
    places = -exponent if isinstance(exponent, int) and exponent < 0 else 0
    context = Context(prec=200)
    for shown in range(places, places + _EVEN_PLACES + 1):
        value = context.quantize(context.divide(total, Decimal(count)), Decimal(1).scaleb(-shown))
        if context.multiply(value, Decimal(count)) == total:
            return value, True
    shown = max(_MEAN_PLACES, places)
    value = context.quantize(context.divide(total, Decimal(count)), Decimal(1).scaleb(-shown))
    return value, False
