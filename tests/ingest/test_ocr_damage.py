"""A text layer that says something else than the page is told without a dictionary."""

from __future__ import annotations

import pytest

from rag_source.ingest.ocr_damage import is_damaged

ENGLISH = "The quick brown fox jumps over the lazy dog while twelve bolts lie on the table. " * 3
FRENCH = "Le renard brun saute par-dessus le chien paresseux ; l'été, il pleut à Évreux. " * 3
ARABIC = "يجب تسليم الفاتورة قبل نهاية الأسبوع إلى شركة النقل في الدار البيضاء. " * 3
GERMAN_CODES = "SCHRDR-4711 KWh BTX GmbH & Co. KG, Hptstr. 12, Tel. 030 1234567, DE-10115 Berlin"


@pytest.mark.parametrize(
    "text",
    [
        "",
        ENGLISH,
        FRENCH,
        ARABIC,
        GERMAN_CODES,
        "\ue000 first point \ue000 second point",
        "ÉTÉ 2024",
    ],
    ids=["nothing", "english", "french", "arabic", "codes", "symbol-bullets", "short"],
)
def test_honest_text_is_not_damaged(text: str) -> None:
    assert not is_damaged(text)


@pytest.mark.parametrize(
    "text",
    [
        "the \x00rst of\x00ce was classi\x00ed",
        "pay \ufffd12 or \ufffd15",
        " ".join(["\ue041\ue042\ue043"] * 9),
        "(cid:12)(cid:4)(cid:77) (cid:3)(cid:9)",
        "".join(chr(ord(c) + 5) if c.isalpha() and c != "z" else c for c in ENGLISH.lower()),
    ],
    ids=["nul", "replacement", "private-use", "cid", "shifted"],
)
def test_text_of_a_broken_font_is_damaged(text: str) -> None:
    assert is_damaged(text)


def test_leader_dots_without_a_meaning_do_not_condemn_a_page() -> None:
    lines = [
        f"Chapter {i} on tables and their headers \ufffd\ufffd\ufffd\ufffd {i}" for i in range(30)
    ]

    assert not is_damaged(" ".join(lines))
