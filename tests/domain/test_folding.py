"""Folding makes equal what should match, and every character knows where it came from."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_source.domain.folding import fold, fold_word


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("scienti\ufb01c e\ufb03cient", "scientific efficient"),
        ("l’été « oui » – non", 'l\'été " oui " - non'),
        ("82\u202f900,00\u00a0DH", "82 900,00 DH"),
        ("  a \n\t b  ", "a b"),
        ("٨٢٩٠٠ درهم", "82900 درهم"),
        ("الضَّمـان", "الضمان"),
        ("أحمد إلى آخر", "احمد الي اخر"),
        ("a\u200bb\u00adc\u202ed", "abcd"),
        ("ﷲ …", "الله ..."),
    ],
)
def test_spellings_of_one_text_fold_to_one(text: str, folded: str) -> None:
    assert fold(text).text == folded


def test_word_cut_at_a_line_end_is_joined() -> None:
    assert fold("environ-\nmental").text == "environmental"


@pytest.mark.parametrize("join", [True, False])
def test_soft_hyphen_at_a_line_end_always_cuts_a_word(join: bool) -> None:
    assert fold("environ\u00ad\n mental", join_hyphens=join).text == "environmental"


def test_hyphen_at_a_line_end_is_kept_on_request() -> None:
    assert fold("well-\n known", join_hyphens=False).text == "well-known"


def test_superscript_after_a_digit_is_not_another_digit() -> None:
    assert fold("10² m²").text == "10^2 m2"


def test_fraction_after_a_digit_is_not_another_digit() -> None:
    assert fold("1½").text.startswith("1 1")


def test_case_and_accents_fold_on_request() -> None:
    assert fold("ÉTÉ Straße", case=True, accents=True).text == "ete strasse"


def test_word_key_has_neither_case_nor_accents() -> None:
    assert fold_word("Élève") == "eleve"


def test_offsets_survive_removed_diacritics() -> None:
    text = "كُتَّابْ بيوت نبات ثمار"
    folded = fold(text)
    at = folded.text.index("نبات")
    place = folded.source_range(at, at + 4)
    assert text[place.start : place.end] == "نبات"


def test_empty_range_is_refused() -> None:
    with pytest.raises(ValueError, match="is not a range"):
        fold("abc").source_range(1, 1)


_TEXTS = st.text(
    alphabet=st.one_of(
        st.sampled_from("ab é-\n \u00a0\u0301\ufb01²½٣أىـَ«»’…ßİ\u200f"), st.characters()
    ),
    max_size=60,
)


@given(text=_TEXTS, case=st.booleans(), accents=st.booleans(), join=st.booleans())
def test_every_folded_character_knows_where_it_came_from(
    text: str, case: bool, accents: bool, join: bool
) -> None:
    folded = fold(text, case=case, accents=accents, join_hyphens=join)
    assert len(folded.text) == len(folded.starts) == len(folded.ends)
    assert all(0 <= a < b <= len(text) for a, b in zip(folded.starts, folded.ends, strict=True))
    assert list(folded.starts) == sorted(folded.starts)


@given(text=_TEXTS, case=st.booleans(), accents=st.booleans())
def test_a_run_folds_as_its_characters_do_alone(text: str, case: bool, accents: bool) -> None:
    # The fast path for runs must agree with the slow path for single characters.
    if any(unicodedata.combining(c) or c in "-\u00ad\u2010\u2011" or c.isnumeric() for c in text):
        return
    alone = "".join(" " if c.isspace() else fold(c, case=case, accents=accents).text for c in text)
    assert fold(text, case=case, accents=accents).text == " ".join(alone.split(" ")).strip() or (
        fold(text, case=case, accents=accents).text.split() == alone.split()
    )
