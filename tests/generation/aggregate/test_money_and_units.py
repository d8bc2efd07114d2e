"""Currencies, units and missing figures: what is computed, and what is refused with its reason."""

from __future__ import annotations

from decimal import Decimal

import pytest

from table_world import TableWorld, document, price_list, stock_list

PRICES = price_list(
    "1001|Bolt M8|5.20|EUR", "1002|Bolt M10|6.00|EUR", "1003|Nut M8|1.25|EUR", "1004|Key|9|EUR"
)


@pytest.mark.parametrize(
    ("question", "result", "unit"),
    [
        ("average unit price of the bolts", "5.6", "EUR"),
        ("What is the most expensive product?", "9", "EUR"),
        ("What is the cheapest product in the price list?", "1.25", "EUR"),
        ("Quel est le prix moyen des produits de la price list ?", "5.3625", "EUR"),
        ("How many products cost more than 5 EUR?", "3", ""),
        ("Combien de produits coûtent au plus 5,20 € ?", "2", ""),
        ("كم عدد المنتجات في قائمة الأسعار؟", "4", ""),
        ("What is the sum of the unit prices in EUR?", "21.45", "EUR"),
    ],
)
async def test_price_list_is_computed_in_the_currency_of_its_rows(
    question: str, result: str, unit: str
) -> None:
    answer = await TableWorld({"price-list.csv": PRICES}).ask(question)

    assert answer.calculation is not None
    assert Decimal(answer.calculation.result) == Decimal(result)
    assert answer.calculation.unit == unit


async def test_mean_that_does_not_come_out_even_is_rounded_and_says_so() -> None:
    prices = price_list("1|Bolt|1.00|EUR", "2|Bolt|1.00|EUR", "3|Bolt|2.00|EUR")
    answer = await TableWorld({"p.csv": prices}).ask("average unit price of the bolts")

    assert answer.calculation is not None
    assert (answer.calculation.result, answer.calculation.exact) == ("1.33", False)
    assert "1.33 EUR" in answer.text.replace("\u00a0", " ")
    assert "(rounded)" in answer.text


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What is the sum of the unit prices?", "different units (EUR, USD)"),
        ("Quelle est la somme des prix unitaires ?", "unités différentes (EUR, USD)"),
        ("ما مجموع أثمان الوحدة؟", "بوحدات مختلفة (EUR، USD)"),
        ("What is the most expensive product?", "different units (EUR, USD)"),
    ],
)
async def test_mixed_currencies_are_refused_with_the_reason(question: str, said: str) -> None:
    prices = price_list("1|Bolt|5.20|EUR", "2|Nut|6.00|USD", "3|Key|1.00|EUR")
    answer = await TableWorld({"price-list.csv": prices}).ask(question)

    assert (answer.refused, answer.reason) == (True, "mixed_units")
    assert said in answer.text
    assert answer.calculation is not None
    assert (answer.calculation.result, answer.calculation.rows) == ("", ())
    assert [
        quote.split(" | ")[0] for quote in [citation.quote for citation in answer.citations]
    ] == ["1", "2"]


async def test_currencies_may_be_added_each_by_itself() -> None:
    prices = price_list("1|Bolt|5.20|EUR", "2|Nut|6.00|USD", "3|Key|1.00|EUR")
    answer = await TableWorld({"p.csv": prices}).ask("Sum of the unit prices by currency?")

    assert answer.calculation is not None
    assert [(g.name, g.result, g.unit) for g in answer.calculation.groups] == [
        ("EUR", "6.20", "EUR"),
        ("USD", "6.00", "USD"),
    ]


@pytest.mark.parametrize(
    "rows",
    [
        ("Bol|12 kg", "Plat|500 g"),
        ("Bol|12 kg", "Plat|500"),
        ("Bol|12 kg", "Plat|3 cartons"),
    ],
    ids=["kg-and-g", "kg-and-nothing", "kg-and-boxes"],
)
async def test_mixed_units_are_refused(rows: tuple[str, ...]) -> None:
    world = TableWorld({"a.html": document(["Produit|Poids", *rows], heading="Colis")})
    answer = await world.ask("Quelle est la somme des poids ?")

    assert answer.reason == "mixed_units"


async def test_columns_with_and_without_tax_are_not_added_up() -> None:
    world = TableWorld(
        {
            "facture-1.html": document(["Réf|Montant (HT)", "A|10", "B|5"], heading="Facture 1"),
            "facture-2.html": document(["Réf|Montant (TTC)", "C|20", "D|5"], heading="Facture 2"),
        }
    )
    answer = await world.ask("Somme des montants de toutes les factures ?")

    assert answer.reason == "mixed_units"
    assert "« Montant (HT) », « Montant (TTC) »" in answer.text


async def test_figures_with_two_readings_are_refused() -> None:
    world = TableWorld({"poids.html": document(["Nom|Poids", "a|1.500", "b|2.750"])})
    answer = await world.ask("What is the sum of the weights?")

    assert answer.reason == "ambiguous_figures"
    assert "“1.500”" in answer.text


async def test_rows_without_a_figure_are_counted_out_and_shown() -> None:
    stock = stock_list(
        "A1|Bol|Agadir|10", "A2|Plat|Agadir|", "A3|Pot|Agadir|n.c.", "A4|Jatte|Fès|5"
    )
    answer = await TableWorld({"stock.tsv": stock}).ask("Somme des quantités en stock ?")

    assert answer.calculation is not None
    assert (answer.calculation.result, answer.calculation.missing_count) == ("15", 2)
    assert "2 lignes n'ont pas de nombre dans cette colonne" in answer.text
    assert [
        quote.split(" | ")[0] for quote in [citation.quote for citation in answer.citations]
    ] == ["A1", "A4", "A2", "A3"]
