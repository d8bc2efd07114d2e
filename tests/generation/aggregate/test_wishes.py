"""Which questions ask for a calculation, in three languages, and which do not."""

from __future__ import annotations

from decimal import Decimal

import pytest

from rag_source.generation.aggregate import read_wish


@pytest.mark.parametrize(
    ("question", "operation", "firm"),
    [
        ("What is the sum of the amounts?", "sum", True),
        ("What is the total amount?", "sum", False),
        ("How many pallets in all three delivery notes?", "sum", True),
        ("How many pieces in total?", "sum", True),
        ("average unit price of the bolts", "mean", True),
        ("What is the mean price?", "mean", True),
        ("Which item has the highest price?", "max", True),
        ("What is the cheapest product?", "min", True),
        ("How many rows are in the stock list?", "count", False),
        ("Quelle est la somme des montants ?", "sum", True),
        ("Quel est le total des quantités livrées ?", "sum", True),
        ("Quelle est la quantité totale ?", "sum", False),
        ("Combien de palettes en tout ?", "sum", True),
        ("Quel est le prix unitaire moyen ?", "mean", True),
        ("Quelle est la moyenne des montants ?", "mean", True),
        ("Quel est le produit le plus cher ?", "max", True),
        ("Quelle est la plus petite quantité ?", "min", True),
        ("Combien de lignes a le stock ?", "count", False),
        ("ما مجموع الكميات؟", "sum", True),
        ("ما هو المبلغ الإجمالي؟", "sum", False),
        ("ما متوسط ثمن الوحدة؟", "mean", True),
        ("ما هو أعلى سعر؟", "max", True),
        ("ما هو أرخص منتج؟", "min", True),
        ("كم عدد المنتجات؟", "count", False),
    ],
)
def test_operation_is_read_from_its_words(question: str, operation: str, firm: bool) -> None:
    wish = read_wish(question)

    assert wish is not None
    assert (wish.operation, wish.firm) == (operation, firm)


@pytest.mark.parametrize(
    "question",
    [
        "What does error code E07 mean?",
        "What is the fine for keeping data too long?",
        "When is the container due in Agadir?",
        "For how long at most shall delivery notes be kept?",
        "Who signed the delivery note?",
        "Why is the total lower than last year?",
        "What is the difference between the two totals?",
        "What is the sum of the amounts without tax?",
        "What is the second highest price?",
        "What are the average and the maximum price?",
        "Is the total of A or B higher?",
        "Quelle est la date d'échéance de la facture ?",
        "En tout cas, qui a signé ?",
        "Que se passe-t-il si le client paie en retard ?",
        "Quelle est la somme des montants hors transport ?",
        "Pourquoi le prix moyen a-t-il augmenté ?",
        "À combien s'élève le total, sauf le transport ?",
        "ماذا يعني رمز العطل E05؟",
        "ما هي مدة ضمان المغنطرون؟",
        "لماذا ارتفع مجموع المصاريف؟",
        "من يدفع تكاليف النقل؟",
        "ما الفرق بين مجموع الكميات في الوثيقتين؟",
    ],
)
def test_other_questions_ask_for_nothing(question: str) -> None:
    assert read_wish(question) is None


@pytest.mark.parametrize(
    ("question", "sign", "value", "unit"),
    [
        ("How many products cost more than 5 EUR?", ">", "5", "eur"),
        ("How many products cost at least $1,000?", ">=", "1000", "usd"),
        ("Combien de produits coûtent moins de 3,50 € ?", "<", "3.5", "eur"),
        ("Combien de lignes avec une quantité supérieure à 100 ?", ">", "100", ""),
        ("كم عدد المنتجات التي سعرها أقل من 20 درهم؟", "<", "20", "mad"),
    ],
)
def test_comparison_is_read_with_its_unit(question: str, sign: str, value: str, unit: str) -> None:
    wish = read_wish(question)

    assert wish is not None
    assert wish.comparison is not None
    found = wish.comparison
    assert (found.sign, found.value) == (sign, Decimal(value))
    assert (found.unit.name if found.unit else "") == unit


def test_bound_that_can_be_read_in_two_ways_makes_no_wish() -> None:
    assert read_wish("How many products cost more than 1.500 EUR?") is None


def test_codes_stay_whole_and_common_words_in_capitals_are_names() -> None:
    wish = read_wish("Total quantity of VT-COB/SKU98496 at site A?")

    assert wish is not None
    assert [(term.spelt, term.kind) for term in wish.terms] == [
        ("quantity", "word"),
        ("VT-COB/SKU98496", "code"),
        ("site", "word"),
        ("A", "word"),
    ]
