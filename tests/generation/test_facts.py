"""Numbers, units, dates and names as the fact guard reads them."""

from __future__ import annotations

import pytest

from rag_source.generation.facts import facts_of, ledger_of


def _held(claim: str, source: str) -> list[bool]:
    ledger = ledger_of(source)
    return [ledger.holds(fact) for fact in facts_of(claim)]


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("82 900,00 DH", "Total : 82.900,00 MAD"),
        ("82,900.00 MAD", "المبلغ ٨٢٩٠٠ درهم"),
        ("1,234,567 units", "1 234 567 unités"),
        ("on 12 March 2024", "le 12/03/2024"),
        ("le 12 mars 2024", "date: 2024-03-12"),
        ("March 12, 2024", "بتاريخ 12 مارس 2024"),
        ("by 31 March", "until 31 March 2025"),
        ("code MW-104", "modèle MW 104"),
        ("ref VT-COB/SKU98496", "VT-COB / SKU98496"),
        ("BL-2024-118", "n° BL-2024-118"),
        ("30 jours", "thirty days"),
        ("dix jours", "within 10 days"),
        ("twenty-four months", "24 mois"),
        ("خلال عشرة أيام", "10 jours"),
        ("1,5 %", "interest at 1.5%"),
        ("at -18 °C", "entre -20 °C et -18 °C"),
        ("signed by Mme Alaoui", "Mme ALAOUI est responsable"),
    ],
)
def test_one_fact_in_two_spellings_is_held(claim: str, source: str) -> None:
    held = _held(claim, source)
    assert held
    assert all(held)


@pytest.mark.parametrize(
    ("claim", "source"),
    [
        ("82 900 EUR", "82 900,00 DH"),
        ("45 months", "due within 45 days"),
        ("18 °C", "à -18 °C"),
        ("code E09", "E07 : porte"),
        ("MW-105", "MW-104"),
        ("118", "BL-2024-1187"),
        ("le 13 mars 2024", "le 12/03/2024"),
        ("12 March 2023", "12 March 2024"),
        ("signed by Mme Benali", "Mme Alaoui"),
        ("829,00 DH", "82 900,00 DH"),
    ],
)
def test_other_fact_is_not_held(claim: str, source: str) -> None:
    assert not all(_held(claim, source))


def test_function_words_and_units_are_no_names() -> None:
    facts = facts_of("Le prix est de 5 EUR. The Total is paid in March.")
    assert [fact.spelt for fact in facts if fact.kind == "name"] == ["Total"]
