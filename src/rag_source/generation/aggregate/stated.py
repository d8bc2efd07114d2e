"""Compare a computed sum with the total that the table itself states."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from rag_source.domain.folding import fold
from rag_source.generation.aggregate.computing import Result
from rag_source.generation.aggregate.figures import Figure, read_column
from rag_source.generation.aggregate.pools import Candidate, PooledRow
from rag_source.generation.aggregate.selecting import Selection

__all__ = ["DifferingTotal", "differing_totals"]

_TOTALS = ("total", "grand total", "somme", "sum", "المجموع", "مجموع", "الاجمالي")


@dataclass(frozen=True, slots=True, kw_only=True)
class DifferingTotal:
    """A total row whose figure is not the sum of its table's items."""

    row: PooledRow
    stated: Decimal
    computed: Decimal


def differing_totals(selection: Selection, result: Result) -> Iterator[DifferingTotal]:
    """Totals of the tables that disagree with their items, where all items were added up."""
    if result.operation != "sum" or selection.conditions or result.missing or selection.bound:
        return
    for candidate in selection.candidates:
        totals = _totals(candidate)
        column = candidate.target.column
        if column is None or len(totals) != 1:
            continue
        cells = candidate.table.reading(column).cells
        computed = sum((c.value for c in cells if isinstance(c, Figure)), Decimal(0))
        row, stated = totals[0]
        if stated != computed:
            yield DifferingTotal(row=row, stated=stated, computed=computed)


def _totals(candidate: Candidate) -> list[tuple[PooledRow, Decimal]]:
    """The rows of the table that state its total, with what they state for the column."""
    table, column = candidate.table, candidate.target.column
    if column is None:
        return []
    items = [row.cell(column) for row in table.items]
    found = []
    for row in table.summaries:
        first = next((cell for cell in row.cells if cell), "")
        label = fold(first, case=True, accents=True).text.rstrip(" :")
        # Read among the items: they tell its decimal mark.
        read = read_column([*items, row.cell(column)], language=table.language).cells[-1]
        if label in _TOTALS and isinstance(read, Figure):
            pooled = PooledRow(candidate=candidate, row=row, index=-1)
            found.append((pooled, read.value))
    return found
