"""BM25 weights: the formula, and what a question asks for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_source.domain.chunks import SparseVector
from rag_source.retrieval.bm25 import Bm25Encoder, Bm25Policy
from rag_source.retrieval.terms import term_index


def weight(vector: SparseVector, term: str) -> float:
    return dict(zip(vector.indices, vector.values, strict=True)).get(term_index(term), 0.0)


def score(question: str, text: str, *, language: str = "und") -> float:
    encoder = Bm25Encoder()
    asked = encoder.encode_query(question, language=language)
    held = encoder.encode_document(text, language=language)
    found = dict(zip(held.indices, held.values, strict=True))
    return sum(w * found.get(i, 0.0) for i, w in zip(asked.indices, asked.values, strict=True))


def test_a_term_weighs_what_the_formula_says() -> None:
    encoder = Bm25Encoder(Bm25Policy(k1=1.2, b=0.75, average_words=4))

    vector = encoder.encode_document("chaise table chaise lampe", language="fr")

    assert weight(vector, "chais") == pytest.approx(2 * 2.2 / (2 + 1.2))
    assert weight(vector, "lamp") == pytest.approx(1.0)


def test_a_longer_text_weighs_less() -> None:
    short = Bm25Encoder().encode_document("facture", language="fr")
    long = Bm25Encoder().encode_document("facture " + "autre chose " * 200, language="fr")

    assert weight(short, "factur") > weight(long, "factur")


def test_question_words_are_not_searched() -> None:
    encoder = Bm25Encoder()

    assert encoder.encode_query("Combien de factures ?", language="fr") == encoder.encode_query(
        "de factures", language="fr"
    )


def test_a_question_of_question_words_alone_is_still_searched() -> None:
    assert Bm25Encoder().encode_query("what is it", language="en").indices


def test_the_code_itself_beats_texts_that_hold_its_parts() -> None:
    exact = score("VT-COB/SKU98496", "ref VT-COB/SKU98496 prix")
    parts = score("VT-COB/SKU98496", "ref VT COB 98496 prix SKU")

    assert exact > parts > 0


@pytest.mark.parametrize("language", ["fr", "en", "und"])
def test_a_question_taken_for_another_language_still_meets_its_words(language: str) -> None:
    assert score("conditions générales de livraisons", "livraison générale", language=language) > 0


def test_a_text_without_words_has_no_terms() -> None:
    assert Bm25Encoder().encode_document(" … — ", language="fr") == SparseVector()


@given(st.text(max_size=300))
def test_indices_are_distinct_and_ascending(text: str) -> None:
    vector = Bm25Encoder().encode_document(text, language="und")

    assert list(vector.indices) == sorted(set(vector.indices))
    assert all(value > 0 for value in vector.values)
    assert all(0 <= index < 2**32 for index in vector.indices)


@pytest.mark.parametrize("wrong", [{"k1": -1.0}, {"b": 1.5}, {"average_words": 0.0}])
def test_impossible_constants_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="no BM25"):
        Bm25Policy(**wrong)
