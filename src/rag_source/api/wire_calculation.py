"""The JSON form of a computed answer's calculation."""

from __future__ import annotations

from rag_source.api.wire_base import Wire
from rag_source.domain.calculations import CalculatedRow, Calculation, Operation

__all__ = ["CalculationOut"]


class CalculatedRowOut(Wire):
    """`citation` is an index into the answer's citations, null for a row that is not shown."""

    path: str
    block: str
    start: int
    end: int
    value: str
    citation: int | None

    @classmethod
    def of(cls, row: CalculatedRow) -> CalculatedRowOut:
        return cls(
            path=row.path,
            block=row.block,
            start=row.start,
            end=row.end,
            value=row.value,
            citation=row.citation,
        )


class CalculatedGroupOut(Wire):
    name: str
    result: str
    unit: str
    rows: int


class CalculationOut(Wire):
    """What the program computed. Figures are exact decimals in text, such as "82900.00"."""

    operation: Operation
    column: str
    unit: str
    result: str
    exact: bool
    row_count: int
    documents: list[str]
    conditions: list[str]
    grouped_by: str
    groups: list[CalculatedGroupOut]
    rows: list[CalculatedRowOut]
    missing: list[CalculatedRowOut]
    missing_count: int
    reason: str

    @classmethod
    def of(cls, calculation: Calculation) -> CalculationOut:
        return cls(
            operation=calculation.operation,
            column=calculation.column,
            unit=calculation.unit,
            result=calculation.result,
            exact=calculation.exact,
            row_count=calculation.row_count,
            documents=list(calculation.documents),
            conditions=list(calculation.conditions),
            grouped_by=calculation.grouped_by,
            groups=[
                CalculatedGroupOut(
                    name=group.name, result=group.result, unit=group.unit, rows=group.rows
                )
                for group in calculation.groups
            ],
            rows=[CalculatedRowOut.of(row) for row in calculation.rows],
            missing=[CalculatedRowOut.of(row) for row in calculation.missing],
            missing_count=calculation.missing_count,
            reason=calculation.reason,
        )
