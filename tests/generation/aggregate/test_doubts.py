"""Documents that must not be taken together: then nothing is computed."""

from __future__ import annotations

import pytest

from rag_source.domain.documents import ParsedDocument
from table_world import TableWorld, delivery_note, document, price_list, stock_list

BOLTS = ("1001|Bolt M8|5.20|EUR", "1002|Bolt M10|6.00|EUR")
ROWS = ["A1|Bol|2|3,00|6,00", "A2|Plat|4|1,00|4,00"]


async def test_two_price_lists_are_not_mixed_unless_one_is_named() -> None:
    world = TableWorld(
        {
            "prices-2025.csv": price_list("1001|Bolt M8|4.80|EUR", "1002|Bolt M10|5.60|EUR"),
            "prices-2026.csv": price_list(*BOLTS),
        }
    )

    assert await world.result("average unit price of the bolts") is None
    assert await world.result("average unit price of the bolts in the 2026 list") == "5.60"


async def test_stock_of_two_days_is_not_added_up() -> None:
    world = TableWorld(
        {
            "stock-2026-03-01.tsv": stock_list("A1|Bol|Agadir|10", "A2|Plat|Agadir|4"),
            "stock-2026-04-01.tsv": stock_list("A1|Bol|Agadir|8", "A2|Plat|Agadir|5"),
        }
    )

    assert await world.result("Quelle est la somme des quantités en stock ?") is None
    assert await world.result("Somme de toutes les quantités en stock ?") is None
    assert await world.result("Somme des quantités du stock du 2026-04-01 ?") == "13"


async def test_deliveries_of_the_same_articles_are_added_up() -> None:
    world = TableWorld(
        {"bl-1.pdf": delivery_note("BL-1", ROWS), "bl-2.pdf": delivery_note("BL-2", ROWS)}
    )

    assert await world.result("Quel est le total des quantités livrées ?") == "12"


@pytest.mark.parametrize(
    "again",
    [
        delivery_note("BL-1", ["A1|Bol|3|3,00|9,00", "A2|Plat|4|1,00|4,00"]),
        delivery_note("BL-1", ROWS, total="corrigé"),
    ],
    ids=["corrected", "annotated"],
)
async def test_two_states_of_one_document_are_not_added_up(again: ParsedDocument) -> None:
    world = TableWorld({"bl-1.pdf": delivery_note("BL-1", ROWS), "bl-1-v2.pdf": again})

    assert await world.result("Quel est le total des quantités livrées ?") is None


async def test_documents_without_a_number_and_with_the_same_rows_are_not_added_up() -> None:
    table = ["Réf|Quantité", "A1|2", "A2|4"]
    world = TableWorld(
        {
            "livraison-a.html": document("Reçu par Idir", table, heading="Livraison"),
            "livraison-b.html": document("Reçu par Salma", table, heading="Livraison"),
        }
    )

    assert await world.result("Somme des quantités des livraisons ?") is None


@pytest.mark.parametrize(
    "question",
    [
        "Which delivery note has the highest amount?",
        "Quel bon de livraison a la plus grande quantité ?",
        "Quel est le moins cher ?",
        "Quelle est la quantité moyenne par bon de livraison ?",
        "Quelle est la quantité totale livrée par référence ?",
    ],
    ids=["highest-note", "largest-note", "cheapest-of-what", "mean-per-note", "each-by-itself"],
)
async def test_question_on_sums_or_on_nothing_is_left_to_the_passages(question: str) -> None:
    other = ["A3|Pot|3|2,00|6,00", "A4|Jatte|1|5,00|5,00"]
    world = TableWorld(
        {"bl-1.pdf": delivery_note("BL-1", ROWS), "bl-2.pdf": delivery_note("BL-2", other)}
    )

    assert await world.result(question) is None


async def test_column_in_tables_of_two_kinds_in_one_document_is_not_added_up() -> None:
    both = document(
        ["Réf|Quantité", "A1|2", "A2|4"],
        ["Réf|Quantité|Retour", "A1|1|x", "A3|1|y"],
        heading="Bon de livraison BL-1",
    )

    assert await TableWorld({"bl-1.html": both}).result("Somme des quantités livrées ?") is None


async def test_unread_documents_of_the_kind_are_named_or_stop_the_sum() -> None:
    world = TableWorld(
        {
            "bl-1.pdf": delivery_note("BL-1", ROWS),
            "bl-2.pdf": delivery_note("BL-2", ROWS),
            "livraison.md": document("Nous livrons partout.", heading="Conditions de livraison"),
        }
    )
    some = await world.ask("Quel est le total des quantités livrées ?")
    world.add("scan-livraison.pdf", document("Scan", heading="Bon de livraison BL-3"))
    most = await world.ask("Quel est le total des quantités livrées ?")

    assert some.calculation is not None
    assert some.calculation.result == "12"
    assert "Non comptés, faute d'une telle colonne : livraison.md" in some.text
    assert most.reason == "incomplete"
