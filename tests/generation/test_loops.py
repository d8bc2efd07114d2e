"""A small model that repeats itself is cut."""

from __future__ import annotations

import pytest

from rag_source.generation.loops import finished_part, loop_start


def test_repeated_sentence_is_cut_at_its_second_coming() -> None:
    text = "La garantie est de 24 mois. Elle vaut partout. La garantie est de 24 mois. Elle"
    start = loop_start(text)
    assert start is not None
    assert text[:start] == "La garantie est de 24 mois. Elle vaut partout. "


def test_stutter_is_cut_after_its_first_time() -> None:
    start = loop_start(
        "The total is 5. and so on and so on and so on and so on and so on and so on"
    )
    assert start is not None
    assert start < 40


@pytest.mark.parametrize(
    "text", ["", "Non. Non.", "1, 2, 3, 4, 5, 6", "A table of 10 000 000 rows."]
)
def test_plain_text_is_no_loop(text: str) -> None:
    assert loop_start(text) is None


def test_unfinished_sentence_is_dropped() -> None:
    assert finished_part("The first is whole. The second is not") == "The first is whole."


def test_only_sentence_is_kept_though_unfinished() -> None:
    assert finished_part("The only one is not") == "The only one is not"
