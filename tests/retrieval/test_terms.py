"""Words of questions and chunks meet where a reader would say that they are the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_source.retrieval.terms import (
    is_function_word,
    is_question_word,
    read_words,
    term_index,
)


def forms(text: str, language: str = "und") -> set[str]:
    return {form for word in read_words(text, language) for form in word.forms}


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        ("VT-COB/SKU98496", "code VT-COB/SKU98496 at 6.00"),
        ("vtcob/sku98496", "VT-COB-SKU98496"),
        ("SKU98496", "VT-COB/SKU98496"),
        ("MW-104", "the MW104 oven"),
        ("MW104", "le four MW-104"),
        ("mw 104", "MW104"),
        ("e07", "Error E07: door open"),
        ("40564101", "réf. 40564101"),
        ("82900", "82 900,00 DH"),
        ("82.900,00", "82 900,00"),
        ("82,900.00", "82\u202f900,00"),
        ("6", "6.00"),
        ("3.14", "3,14"),
        ("٨٢٬٩٠٠٫٥٠", "82900.5"),
        ("2024-03-12", "2024/03/12"),
        ("l'été", "ETE"),
        ("livraisons", "la livraison"),
        ("deliveries", "delivery"),
        ("والكتاب", "الكتاب"),
        ("أرز", "ارز"),
        ("المدينة", "بالمدينة"),
        ("environmental", "environ-\nmental"),
        ("well-known", "it is well-\n  known"),
        ("known", "well\u2010\nknown"),
        ("well", "well\u2011\nknown"),
    ],
)
def test_two_spellings_share_a_term(asked: str, written: str) -> None:
    assert forms(asked) & forms(written)


@pytest.mark.parametrize(
    ("one", "other"),
    [("E07", "E08"), ("R24", "24"), ("82 900", "82 901"), ("3,14", "314"), ("MW-104", "MW-105x")],
)
def test_the_whole_code_is_a_term_of_its_own(one: str, other: str) -> None:
    whole = read_words(one, "und")[-1 if "-" in one else 0].forms

    assert not set(whole) & forms(other)


def test_a_word_before_a_figure_is_not_taken_into_it() -> None:
    assert "12345" not in forms("E07 12 345x")


def test_a_word_cut_at_a_line_end_counts_once() -> None:
    assert sum(word.position for word in read_words("the environ-\nmental policy", "und")) == 3


def test_a_hyphen_inside_a_line_cuts_no_word_apart() -> None:
    assert [word.surface for word in read_words("well-known", "und")] == ["well", "known"]


def test_a_code_is_as_long_as_its_pieces() -> None:
    assert sum(word.position for word in read_words("VT-COB/SKU98496", "und")) == 3


def test_stems_of_both_latin_languages_where_the_language_is_unknown() -> None:
    assert forms("generation") >= forms("generation", "fr") | forms("generation", "en")


@pytest.mark.parametrize("word", ["combien", "Quelle", "what", "كيف", "où"])
def test_question_words_are_known(word: str) -> None:
    assert is_question_word(read_words(word, "und")[0])


def test_function_words_do_not_only_ask() -> None:
    assert is_function_word(read_words("dans", "fr")[0])
    assert not is_question_word(read_words("dans", "fr")[0])


def test_term_indices_never_change() -> None:
    """They are written into every index: a change would lose all of them in silence."""
    assert [term_index("livraison"), term_index("82900")] == [3962905168, 3609520520]


@given(st.text(max_size=200), st.sampled_from(["fr", "en", "ar", "und"]))
def test_any_text_can_be_read(text: str, language: str) -> None:
    assert all(word.forms and all(word.forms) for word in read_words(text, language))
