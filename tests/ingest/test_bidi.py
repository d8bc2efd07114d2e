"""Undoing the display order of right-to-left lines."""

from __future__ import annotations

import pytest

from rag_source.ingest.bidi import (
    base_direction,
    fold_presentation_forms,
    logical_order,
    logical_word,
)


def _shown(word: str) -> list[str]:
    return list(word)


@pytest.mark.parametrize(
    ("shown", "read"),
    [
        pytest.param("مالس", "سلام", id="letters"),
        pytest.param("21دمحم", "محمد21", id="digits-stay"),
        pytest.param("(حرش)", "(شرح)", id="brackets-mirror"),
        pytest.param(".Python", "Python.", id="full-stop-after-latin"),
        pytest.param("(test)", "(test)", id="latin-in-brackets"),
        pytest.param("12/05/2026", "12/05/2026", id="date"),
        pytest.param("1.500,00", "1.500,00", id="amount"),
        pytest.param("MW-104", "MW-104", id="code"),
    ],
)
def test_word_of_a_right_to_left_line_is_put_in_reading_order(shown: str, read: str) -> None:
    assert logical_word(_shown(shown), "R") == read


def test_latin_word_of_a_left_to_right_line_is_untouched() -> None:
    assert logical_word(_shown("a(b)"), "L") == "a(b)"


@pytest.mark.parametrize(
    ("shown", "read"),
    [
        pytest.param("القوس 25 درجة", "درجة 25 القوس", id="number-between"),
        pytest.param("Python و R بلغة", "بلغة R و Python", id="two-latin-words"),
        pytest.param("ISO 9001 معيار", "معيار ISO 9001", id="latin-then-number"),
        pytest.param("kg 25 الوزن", "الوزن 25 kg", id="number-then-unit"),
        pytest.param("User manual دليل", "دليل User manual", id="latin-run"),
    ],
)
def test_words_of_a_right_to_left_line_are_put_in_reading_order(shown: str, read: str) -> None:
    assert " ".join(logical_order(shown.split(), str, "R")) == read


def test_arabic_run_inside_a_latin_line_is_turned_alone() -> None:
    shown = "Name العزيز عبد here".split()

    assert " ".join(logical_order(shown, str, "L")) == "Name عبد العزيز here"


@pytest.mark.parametrize(
    ("line", "page_is_rtl", "direction"),
    [
        ("plain words", True, "L"),
        ("السلام", False, "R"),
        ("mostly latin words مع", False, "L"),
        ("mostly latin words مع", True, "R"),
    ],
)
def test_direction_of_a_line_follows_its_letters_and_its_page(
    line: str, page_is_rtl: bool, direction: str
) -> None:
    assert base_direction(line, page_is_rtl=page_is_rtl) == direction


def test_presentation_forms_become_letters_and_latin_ligatures_stay() -> None:
    assert fold_presentation_forms("\ufefb \ufee3\ufea4\ufee4\ufeaa \ufb01") == "لا محمد \ufb01"
