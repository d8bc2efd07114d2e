"""Tables become named columns and items; what sums items up is none of them."""

from __future__ import annotations

import pytest

from rag_source.generation.aggregate.tables import Table, tables_of
from rag_source.ingest.builder import DocumentBuilder, RowText
from table_world import document


def _table(*lines: str) -> Table:
    parsed = document(lines)
    (table,) = tables_of("d", "d.html", parsed)
    return table


def _items(*lines: str) -> list[str]:
    table = _table(*lines)
    assert table.sound
    return [row.cells[0] for row in table.items]


@pytest.mark.parametrize(
    ("header", "concepts", "unit", "qualifier"),
    [
        ("Prix (EUR)", {"price"}, "eur", ""),
        ("Qté", {"quantity"}, "", ""),
        ("P.U. (DH)", {"price", "unit"}, "mad", ""),
        ("unit_price", {"price", "unit"}, "", ""),
        ("Montant DH", {"amount"}, "mad", ""),
        ("Montant (HT)", {"amount"}, "", "ht"),
        ("Montant (DH TTC)", {"amount"}, "mad", "ttc"),
        ("Poids brut kg", {"weight", "gross"}, "kg", ""),
        ("Durée (jours)", {"duree"}, "day", ""),
        ("Revenue (millions of USD)", {"revenue"}, "million usd", ""),
        ("ثمن الوحدة (درهم)", {"price", "unit"}, "mad", ""),
        ("الكمية", {"quantity"}, "", ""),
        ("Année", {"year"}, "", ""),
    ],
)
def test_header_gives_name_and_unit(
    header: str, concepts: set[str], unit: str, qualifier: str
) -> None:
    column = _table(f"{header}|x", "12|a").columns[0]

    assert column.concepts == concepts
    assert (column.unit.name if column.unit else "") == unit
    assert column.qualifier == qualifier


def test_header_of_two_rows_names_columns_by_their_path() -> None:
    builder = DocumentBuilder()
    rows = [("Region", "2024", "2024"), ("", "Q1", "Q2"), ("North", "10", "20")]
    builder.table([RowText(cells=cells, header=i < 2) for i, cells in enumerate(rows)])
    (table,) = tables_of("d", "d", builder.build(title="", loader="t", version=1))

    assert [column.name for column in table.columns] == ["Region", "2024 / Q1", "2024 / Q2"]


@pytest.mark.parametrize(
    "total",
    [
        "Total|5|30",
        "|5|30",
        "TOTAL GÉNÉRAL|5|30",
        "Sous-total|5|30",
        "Total HT|5|30",
        "المجموع|5|30",
        "Grand total|5|31",
        "Agadir Total|5|30",
        "Moyenne|2.5|15",
    ],
)
def test_row_that_sums_items_up_is_no_item(total: str) -> None:
    assert _items("Ville|Qté|Prix", "Agadir|2|10", "Fès|3|20", total) == ["Agadir", "Fès"]


def test_total_is_told_by_its_missing_cells_among_rows_of_words() -> None:
    items = _items(
        "Réf|Désignation|Qté", "A1|Bol|2", "A2|Total cleaner|3", "Total livraison||5", "|Total|5"
    )

    assert items == ["A1", "A2"]


def test_product_with_the_word_total_in_its_name_stays_an_item() -> None:
    assert _items("Produit|Qté", "Huile|2", "Huile Total 5 L|3") == ["Huile", "Huile Total 5 L"]


def test_titles_and_repeated_headers_are_no_items() -> None:
    items = _items("Nom|Qté|Prix", "Cuisine||", "Bol|2|10", "Nom|Qté|Prix", "Jatte|3|20")

    assert items == ["Bol", "Jatte"]


@pytest.mark.parametrize(
    "lines",
    [
        ("Ville|Qté", "Agadir|2", "Fès|3", "Agadir Total|9"),
        ("Ville|Qté|Prix", "Agadir|2|10", "|7|99"),
        ("Ville|Qté|Prix", "Agadir|2|10", "Fès|3"),
        ("Ville|Qté", "Agadir|2", "Fès|3|4"),
    ],
    ids=["total-that-does-not-add-up", "nameless-row", "short-row", "long-row"],
)
def test_table_with_a_doubtful_row_is_not_sound(lines: tuple[str, ...]) -> None:
    assert not _table(*lines).sound


def test_table_whose_rest_has_no_header_is_not_sound() -> None:
    builder = DocumentBuilder()
    builder.table([RowText(cells=("Nom", "Qté"), header=True), RowText(cells=("Bol", "2"))])
    builder.text("Page 2")
    builder.table([RowText(cells=("Jatte", "3")), RowText(cells=("Plat", "4"))])
    (table,) = tables_of("d", "d", builder.build(title="", loader="t", version=1))

    assert not table.sound


def test_table_without_names_is_left_out() -> None:
    builder = DocumentBuilder()
    builder.table([RowText(cells=("Bol", "2")), RowText(cells=("Jatte", "3"))])

    assert tables_of("d", "d", builder.build(title="", loader="t", version=1)) == []
