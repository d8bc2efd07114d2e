"""The JSON form of a computed answer's calculation."""

from __future__ import annotations

from rag_source.api.wire_calculation import CalculationOut
from rag_source.domain.calculations import CalculatedGroup, CalculatedRow, Calculation


def test_calculation_is_sent_with_its_rows_and_exact_figures() -> None:
    row = CalculatedRow(path="a.csv", block="b1", start=10, end=20, value="82900.00", citation=0)
    lost = CalculatedRow(path="a.csv", block="b1", start=21, end=30)
    group = CalculatedGroup(name="Agadir", result="82900.00", unit="DH", rows=1)
    sent = CalculationOut.of(
        Calculation(
            operation="sum",
            column="Montant (DH)",
            unit="DH",
            result="82900.00",
            row_count=1,
            documents=("a.csv",),
            rows=(row,),
            missing=(lost,),
            missing_count=1,
            conditions=("bol",),
            grouped_by="Dépôt",
            groups=(group,),
        )
    ).model_dump(mode="json")

    assert sent == {
        "operation": "sum",
        "column": "Montant (DH)",
        "unit": "DH",
        "result": "82900.00",
        "exact": True,
        "row_count": 1,
        "documents": ["a.csv"],
        "conditions": ["bol"],
        "grouped_by": "Dépôt",
        "groups": [{"name": "Agadir", "result": "82900.00", "unit": "DH", "rows": 1}],
        "rows": [
            {
                "path": "a.csv",
                "block": "b1",
                "start": 10,
                "end": 20,
                "value": "82900.00",
                "citation": 0,
            }
        ],
        "missing": [
            {"path": "a.csv", "block": "b1", "start": 21, "end": 30, "value": "", "citation": None}
        ],
        "missing_count": 1,
        "reason": "",
    }
