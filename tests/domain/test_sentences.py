"""Where a sentence ends, and where it does not."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_source.domain.sentences import split_sentences


def _cut(text: str) -> list[str]:
    return [text[place.start : place.end] for place in split_sentences(text)]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("M. Dupont est là. Il part.", ["M. Dupont est là.", "Il part."]),
        ("Voir art. 16 et p. 3. Fin.", ["Voir art. 16 et p. 3.", "Fin."]),
        ("It costs 12.5 kg. Done.", ["It costs 12.5 kg.", "Done."]),
        ("هل هذا صحيح؟ نعم.", ["هل هذا صحيح؟", "نعم."]),
        ("A\n\nB", ["A", "B"]),
        ("Liste :\n- un\n- deux", ["Liste :", "- un", "- deux"]),
        ("The answer is no. Ask again.", ["The answer is no.", "Ask again."]),
        ("See no. 12 of it. Done.", ["See no. 12 of it.", "Done."]),
        ('He said "no." Then left.', ['He said "no."', "Then left."]),
        ("Acme Inc. The rest.", ["Acme Inc.", "The rest."]),
        ("   ", []),
    ],
)
def test_sentences_end_where_a_reader_ends_them(text: str, sentences: list[str]) -> None:
    assert _cut(text) == sentences


@given(st.text(alphabet="aB. !?\n-1é؟", max_size=80))
def test_sentences_are_in_order_apart_and_lose_no_letter(text: str) -> None:
    places = split_sentences(text)
    assert all(a.end <= b.start for a, b in pairwise(places))
    kept = "".join(text[place.start : place.end] for place in places)
    assert "".join(kept.split()) == "".join(text.split())
