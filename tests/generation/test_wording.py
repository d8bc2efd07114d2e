"""What the program itself says, in three languages."""

from __future__ import annotations

import pytest

from rag_source.generation.wording import WORDING, badge, is_decline, starts_like_decline


@pytest.mark.parametrize(
    ("language", "verified", "total", "line"),
    [
        ("en", 2, 3, "2 of 3 sources verified"),
        ("fr", 2, 3, "2 sources vérifiées sur 3"),
        ("fr", 1, 1, "1 source vérifiée sur 1"),
        ("fr", 0, 2, "0 source vérifiée sur 2"),
        ("ar", 2, 3, "تم التحقق من 2 مصادر من أصل 3"),
        ("en", 0, 0, ""),
    ],
)
def test_badge_counts_in_the_language(language: str, verified: int, total: int, line: str) -> None:
    assert badge(language, verified=verified, total=total) == line


@pytest.mark.parametrize(
    "answer",
    [
        "INTROUVABLE",
        "INTROUVABLE [2]",
        "NOT FOUND.",
        "غير موجود [1]\nغير موجود [2]",
        "Le passage ne mentionne pas la puissance du four.",
        "The passages do not contain this information.",
        "The weight is not specified in the text.",
        "لا تذكر المقاطع رقم الهاتف.",
    ],
)
def test_model_that_finds_nothing_has_declined(answer: str) -> None:
    assert is_decline(answer)


@pytest.mark.parametrize(
    "answer",
    [
        "La garantie est de 24 mois [1].",
        "The pump must not be connected to 110 V.",
        "لا يشمل الضمان قطع الغيار المستهلكة.",
        "Le client ne doit pas ouvrir l'appareil.",
    ],
)
def test_answer_with_a_negation_is_no_decline(answer: str) -> None:
    assert not is_decline(answer)


def test_beginning_of_the_decline_word_is_held_back() -> None:
    assert starts_like_decline("INTROU")
    assert not starts_like_decline("Le total")


def test_every_language_has_every_refusal() -> None:
    reasons = {"nothing_relevant", "empty_index", "declined", "unsupported"}
    assert set(WORDING) == {"fr", "en", "ar"}
    assert all(set(wording.refusals) == reasons for wording in WORDING.values())
