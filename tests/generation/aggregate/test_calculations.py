"""Questions answered by calculation, from the question to the cited rows."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_source.domain.answers import Answer
from rag_source.domain.documents import ParseWarning
from rag_source.domain.evidence import SearchFilter
from table_world import (
    TableWorld,
    arabic_note,
    delivery_note,
    document,
    stock_list,
)

FIRST = [
    "VT-BOL/SKU98112|Bol en verre 15 cm|1 200|18,50|22 200,00",
    "VT-CAR/SKU98230|Carafe graduée 1,2 L|960|32,00|30 720,00",
]
SECOND = [
    "VT-POE/SKU98511|Poêle 24 cm|1 000|30,00|30 000,00",
    "VT-BOL/SKU98112|Bol en verre 15 cm|40|18,50|740,00",
]
ARABIC = ["تمر مجهول|500|45,00|22 500,00", "زيت زيتون|350|22,00|7 700,00"]


def _notes() -> TableWorld:
    """Three delivery notes, the invoice of the first with the same rows, and a stock list."""
    invoice = document(
        "Bon de livraison : BL-0312",
        ["Référence|Désignation|Quantité|P.U. (DH)|Montant (DH)", *FIRST],
        heading="Facture n° FA-118",
    )
    return TableWorld(
        {
            "bon-de-livraison-BL-0312.pdf": delivery_note("BL-0312", FIRST, total="2 160 unités"),
            "bon-de-livraison-BL-0318.pdf": delivery_note(
                "BL-0318", SECOND, client="Bazar Ennakhil"
            ),
            "facture-FA-118.pdf": invoice,
            "idhn-taslim-077.html": arabic_note("077/2026", ARABIC),
            "stock.tsv": stock_list(
                "VT-BOL/SKU98112|Bol en verre 15 cm|Agadir|1320",
                "VT-BOL/SKU98112|Bol en verre 15 cm|Casablanca|5480",
                "VT-THE/SKU98552|Théière|Marrakech|41",
            ),
        }
    )


def _quotes(answer: Answer) -> list[str]:
    return [citation.quote for citation in answer.citations]


@pytest.mark.parametrize(
    ("question", "result", "shown"),
    [
        ("What is the sum of the quantities over the three delivery notes?", "4050", "4,050"),
        ("Quel est le total des quantités des trois bons de livraison ?", "4050", "4 050"),
        ("ما مجموع الكميات في أذون التسليم الثلاثة؟", "4050", "4 050"),
        ("Quel est le montant total des trois bons de livraison ?", "113860.00", "113 860,00 DH"),
        ("Quel est le prix unitaire moyen des trois bons de livraison ?", "27.67", "27,67 DH"),
        ("Combien d'unités en tout dans les trois bons de livraison ?", "4050", "4 050"),
        ("Quelle est la plus grande quantité des bons de livraison ?", "1200", "1 200"),
    ],
)
async def test_figure_over_three_notes_is_exact_and_its_rows_are_cited(
    question: str, result: str, shown: str
) -> None:
    world = _notes()
    answer = await world.ask(question, found=["bon-de-livraison-BL-0318.pdf"])

    assert world.generator.prompts == []
    assert answer.calculation is not None
    assert answer.calculation.result == result
    assert shown in answer.text.split("\n")[0].replace("\u00a0", " ")
    assert not answer.refused
    assert len(answer.calculation.documents) == 3
    assert answer.calculation.row_count == 6
    assert answer.citations
    for citation in answer.citations:
        document_text = world.documents[citation.path].text
        assert citation.status == "verified", citation.reason
        assert document_text[citation.start : citation.end] == citation.quote
        assert citation.quote in answer.text[slice(*citation.sentence)]
        assert answer.text[slice(*citation.sentence)].endswith(f"[{citation.marker}]")
        assert citation.table is not None


async def test_every_row_of_a_sum_is_cited_and_listed_with_its_value() -> None:
    answer = await _notes().ask("Somme des montants des trois bons de livraison ?")

    assert answer.calculation is not None
    rows = answer.calculation.rows
    assert sum(Decimal(row.value) for row in rows) == Decimal(answer.calculation.result)
    assert [row.citation for row in rows] == list(range(6))
    assert len(set(_quotes(answer))) == 6
    assert answer.badge == "6 sources vérifiées sur 6"


async def test_rows_of_a_found_passage_keep_its_number_and_others_get_the_next() -> None:
    answer = await _notes().ask(
        "Somme des quantités des trois bons de livraison ?",
        found=["facture-FA-118.pdf", "bon-de-livraison-BL-0318.pdf"],
    )

    markers = {citation.path: citation.marker for citation in answer.citations}
    assert markers["bon-de-livraison-BL-0318.pdf"] == 2
    assert sorted(markers.values()) == [2, 3, 4]


@pytest.mark.parametrize(
    ("question", "result"),
    [
        ("Quel est le total des quantités livrées de la référence VT-BOL/SKU98112 ?", "1240"),
        ("Somme des quantités en stock de la référence VT-BOL/SKU98112 ?", "6800"),
        ("Combien de bols en tout en stock ?", "6800"),
        ("Somme des quantités du bon de livraison BL-0318 ?", "1040"),
        ("Somme des quantités des bons BL-0312 et BL-0318 ?", "3200"),
        ("Somme des quantités livrées à Bazar Ennakhil ?", "1040"),
        ("ما مجموع الكميات في إذن التسليم 077/2026؟", "850"),
        ("Total amount of the delivery notes in DH?", "113860.00"),
        ("Somme des quantités en stock à Agadir et Casablanca ?", "6800"),
        ("Combien de lignes dans le stock ?", "3"),
        ("Combien de références différentes dans le stock ?", "2"),
    ],
)
async def test_words_of_the_question_choose_documents_and_rows(question: str, result: str) -> None:
    assert await _notes().result(question) == result


@pytest.mark.parametrize(
    "question",
    [
        "Quelle est la quantité totale ?",
        "Somme des quantités de la référence VT-BOL/SKU98112 ?",
        "Quel est le total du bon de livraison BL-0312 ?",
        "Quelle est la quantité totale du bon de livraison BL-0312 ?",
        "Quel est le total des quantités livrées de la référence VT-XYZ/SKU1 ?",
        "Quel est le total des quantités livrées en avril ?",
        "Somme des quantités de bols et de théières à Agadir ?",
        "Combien de bols ont été livrés à Bazar Ennakhil ?",
        "Somme des quantités vendues par les magasins ?",
        "Quel produit a la plus grande quantité en stock ?",
        "Quelle est la quantité moyenne de théières en stock ?",
        "Somme des références du stock ?",
        "Somme des quantités livrées à Casablanca ?",
        "Combien de DH au total pour les bons de livraison ?",
        "Total amount of the delivery notes in EUR?",
    ],
    ids=[
        "no-kind-of-document",
        "in-documents-of-two-kinds",
        "stated-total",
        "stated-quantity",
        "unknown-code",
        "month",
        "values-of-two-columns",
        "one-row",
        "unknown-word",
        "sum-for-each-first",
        "mean-of-one",
        "codes-are-no-figures",
        "place-of-unknown-role",
        "how-many-of-a-currency",
        "other-currency",
    ],
)
async def test_question_in_doubt_is_answered_from_the_passages(question: str) -> None:
    world = _notes()
    answer = await world.ask(question)

    assert answer.calculation is None
    assert len(world.generator.prompts) == 1


async def test_groups_have_a_result_each_with_their_rows() -> None:
    answer = await _notes().ask("Quelle est la quantité totale en stock par désignation ?")

    assert answer.calculation is not None
    assert answer.calculation.grouped_by == "Désignation"
    assert [(g.name, g.result, g.rows) for g in answer.calculation.groups] == [
        ("Bol en verre 15 cm", "6800", 2),
        ("Théière", "41", 1),
    ]
    assert "- Théière : 41 (1 ligne)" in answer.text
    assert len(answer.citations) == 3


async def test_groups_may_be_the_documents_themselves() -> None:
    answer = await _notes().ask("Somme des quantités par bon de livraison ?")

    assert answer.calculation is not None
    assert {g.name: g.result for g in answer.calculation.groups} == {
        "bon-de-livraison-BL-0312.pdf": "2160",
        "bon-de-livraison-BL-0318.pdf": "1040",
        "idhn-taslim-077.html": "850",
    }


async def test_total_row_is_not_counted_and_a_wrong_one_is_pointed_out() -> None:
    rows = ["A|Bol|2|3,00|6,00", "B|Plat|4|1,00|4,00", "Total||7||10,00"]
    world = TableWorld({"bon-de-livraison-1.pdf": delivery_note("BL-1", rows)})
    right = await world.ask("Somme des montants du bon de livraison BL-1 ?")
    wrong = await world.ask("Somme des quantités du bon de livraison BL-1 ?")

    assert right.calculation is not None
    assert right.calculation.result == "10.00"
    assert "indique lui-même" not in right.text
    assert wrong.calculation is not None
    assert wrong.calculation.result == "6"
    assert "indique lui-même 7 à cet endroit, et non 6" in wrong.text
    assert _quotes(wrong)[-1].startswith("Total")


async def test_same_document_under_two_names_counts_once() -> None:
    world = _notes()
    copied = world.documents["bon-de-livraison-BL-0312.pdf"]
    world.add("copies/bon-de-livraison-BL-0312 (1).pdf", copied)
    answer = await world.ask("Somme des quantités des trois bons de livraison ?")

    assert answer.calculation is not None
    assert answer.calculation.result == "4050"


async def test_all_rows_count_though_the_search_found_only_the_first_lines() -> None:
    stock = stock_list(*(f"R{i:03}|Bol|Agadir|{i}" for i in range(1, 301)))
    answer = await TableWorld({"stock.tsv": stock}).ask("Somme des quantités en stock ?")

    assert answer.calculation is not None
    assert answer.calculation.result == str(sum(range(1, 301)))
    assert answer.calculation.row_count == len(answer.calculation.rows) == 300
    assert len(answer.citations) == 30
    assert "270 lignes de plus" in answer.text


async def test_wrong_number_of_documents_is_refused() -> None:
    answer = await _notes().ask("Somme des quantités des quatre bons de livraison ?")

    assert (answer.refused, answer.reason) == (True, "documents_differ")
    assert "4 documents, et 3 de cette sorte" in answer.text


async def test_document_of_the_kind_without_the_column_makes_the_sum_incomplete() -> None:
    world = _notes()
    world.add("bon-de-livraison-BL-0400.pdf", document("Scan", heading="Bon de livraison BL-0400"))
    answer = await world.ask("Somme des quantités de tous les bons de livraison ?")

    assert answer.reason == "incomplete"
    assert "bon-de-livraison-BL-0400.pdf" in answer.text
    assert answer.calculation is not None
    assert answer.calculation.result == ""


async def test_documents_that_the_filter_leaves_out_do_not_count() -> None:
    answer = await _notes().ask(
        "Somme des quantités des bons de livraison ?",
        filter=SearchFilter(formats=("pdf",)),
    )

    assert answer.calculation is not None
    assert answer.calculation.result == "3200"


async def test_file_that_was_not_read_in_full_is_named() -> None:
    stock = stock_list("A1|Bol|Agadir|10", "A2|Plat|Agadir|5")
    warned = type(stock)(
        text=stock.text,
        blocks=stock.blocks,
        title=stock.title,
        language=stock.language,
        loader=stock.loader,
        loader_version=1,
        warnings=(ParseWarning(code="hidden_rows_skipped", message="2 rows are hidden"),),
    )
    answer = await TableWorld({"stock.tsv": warned}).ask("Somme des quantités en stock ?")

    assert "n'ont pas été lus en entier : stock.tsv" in answer.text


@given(
    amounts=st.lists(
        st.decimals(min_value=Decimal("-99999999"), max_value=Decimal("99999999"), places=2),
        min_size=2,
        max_size=25,
    )
)
@settings(max_examples=40, deadline=None)
async def test_sum_of_any_amounts_is_exact_in_any_order(amounts: list[Decimal]) -> None:
    def spelt(amount: Decimal) -> str:
        return f"{amount:,.2f}".replace(",", " ").replace(".", ",")

    rows = [f"R{i}|Article {i}|1|1,00|{spelt(amount)}" for i, amount in enumerate(amounts)]
    world = TableWorld(
        {
            "bon-de-livraison-1.pdf": delivery_note("BL-1", rows),
            "bon-de-livraison-2.pdf": delivery_note("BL-2", rows[::-1]),
        }
    )
    result = await world.result("Somme des montants des deux bons de livraison ?")

    assert result is not None
    assert Decimal(result) == 2 * sum(amounts)
