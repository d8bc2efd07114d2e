"""The calibrated reranker: its features, its data file, its judgement of plain cases."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from rag_source.domain.chunks import Chunk, Segment
from rag_source.domain.errors import ConfigurationError
from rag_source.domain.evidence import Candidate
from rag_source.domain.sentences import split_sentences
from rag_source.retrieval import CalibratedReranker, RerankerModel, load_reranker_model
from rag_source.retrieval.features import FEATURES, describe, read_chunk, read_question
from rag_source.retrieval.terms import read_words, term_index

EVEN = RerankerModel(
    coefficients=(1.0,) * len(FEATURES),
    intercept=-2.0,
    threshold=0.5,
    foreign_coverage=0.5,
    embedding_model="fake",
)


class IdfStore:
    """Knows the IDF of every term and nothing else."""

    async def term_idf(self, indices: Sequence[int]) -> dict[int, float]:
        return dict.fromkeys(indices, 2.0)


def candidate(
    text: str,
    *,
    language: str = "en",
    dense: float | None = 0.8,
    sentence: float | None = 0.8,
    bm25: float | None = 0.0,
) -> Candidate:
    chunk = Chunk(
        chunk_id=text,
        doc_id="d",
        path="d.txt",
        ordinal=0,
        text=text,
        segments=(Segment(start=0, end=len(text), document_start=0),),
        sentences=tuple(split_sentences(text)),
        block_id="b0",
        language=language,
    )
    return Candidate(chunk=chunk, score=0.0, dense=dense, sentence=sentence, bm25=bm25)


def features(question: str, one: Candidate, *, rare: str = "") -> dict[str, float]:
    read = read_question(question)
    heavy = {term_index(form) for word in read_words(rare, "und") for form in word.forms}
    idf = {term: 9.0 if term in heavy else 1.0 for term in read.terms}
    (row,) = describe(read, idf, [one], foreign_coverage=0.5)
    return dict(zip(FEATURES, row, strict=True))


def test_coverage_is_the_share_of_the_weight_that_is_found() -> None:
    one = candidate("The warranty covers the turntable.")

    found = features("What does the warranty of the oven cover?", one, rare="oven")

    assert found["coverage"] == pytest.approx(2 / 11)


def test_a_sentence_that_says_it_all_covers_more_than_two_that_share_it() -> None:
    together = features("red chairs", candidate("We sell red chairs. Also lamps."))
    apart = features("red chairs", candidate("We sell chairs. The lamps are red."))

    assert together["coverage"] == apart["coverage"] == 1
    assert (together["sentence_coverage"], apart["sentence_coverage"]) == (1, 0.5)


def test_a_header_outside_the_sentences_counts_for_the_chunk() -> None:
    chunk = Chunk(
        chunk_id="t",
        doc_id="d",
        path="d.csv",
        ordinal=0,
        text="Reference;Price\n40564101;6.00",
        segments=(Segment(start=0, end=29, document_start=0),),
        sentences=(),
        block_id="b0",
    )

    assert "40564101" in read_chunk(chunk).whole


def test_the_quick_look_for_words_finds_what_stemming_every_word_finds() -> None:
    text = (
        "Les livraisons générales sont payées par l'acheteur. The deliveries were generally paid. "
        "تُدفع تكاليف التوصيل والنقل بالمدينة من المشترين. Réf. VT-COB/SKU98496 à 82 900,00 DH, E07."
    )
    asked = (
        "livraison générale payer deliver general payment توصيل نقل مدينة مشتري SKU98496 82900 E07"
    )
    forms = {form for word in read_words(text, "und") for form in word.forms}
    question = read_question(asked)

    found = features(asked, candidate(text, language="und"))["coverage"]

    wanted = [(word, weight) for word, weight in question.words]
    held = sum(weight for word, weight in wanted if not forms.isdisjoint(word))
    assert found == pytest.approx(held / sum(weight for _, weight in wanted))
    assert found > 0.7


def test_bm25_does_not_grow_with_the_question() -> None:
    short = features("chairs", candidate("x", bm25=1.0))
    long = features("chairs tables lamps sofas", candidate("x", bm25=4.0))

    assert short["bm25"] == long["bm25"]


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        ("What does E12 mean?", "E07: the door is open.", 0.0),
        ("What does E12 mean?", "E12: the fan is blocked.", 1.0),
        ("Total of BL-2026-0325?", "BL-2026-0312 total 82 900,00 DH", 0.0),
        ("Total of BL-2026-0312?", "Delivery note BL 2026/0312", 1.0),
        ("Who owes 82900 since 2024?", "82.900,00 DH, due in 2025", 0.5),
        ("What has 2 doors?", "Two doors.", 1.0),
        ("What is it?", "Anything.", 1.0),
    ],
    ids=["another code", "that code", "another number", "other spelling", "half", "digit", "none"],
)
def test_codes_and_figures_of_the_question_are_looked_for(
    question: str, text: str, expected: float
) -> None:
    assert features(question, candidate(text))["figures"] == expected


def test_the_situating_text_counts_for_every_sentence() -> None:
    plain = candidate("Total: 3 240 units.")
    situated = Candidate(
        chunk=replace(plain.chunk, context="Delivery note 312"), score=0.0, dense=0.8
    )

    assert features("total of the delivery note", plain)["sentence_coverage"] < 1
    assert features("total of the delivery note", situated)["sentence_coverage"] == 1


def test_a_chunk_in_another_language_is_not_held_to_the_questions_words() -> None:
    foreign = features("Quelle est la durée de la garantie ?", candidate("Two years at most."))
    alike = features("How long is it guaranteed?", candidate("Two years at most."))

    assert (foreign["coverage"], alike["coverage"]) == (0.5, 0.0)


def test_a_chunk_in_another_language_is_not_preferred_for_it() -> None:
    read = read_question("Que paie le client en retard ?")
    idf = dict.fromkeys(read.terms, 1.0)
    native = candidate("Le client paie une pénalité.", language="fr")
    foreign = candidate("Refunds are paid in two weeks.", language="en")

    rows = describe(read, idf, [foreign, native], foreign_coverage=1.0)

    assert rows[0] == rows[1]
    assert rows[1][FEATURES.index("coverage")] < 1


def test_a_question_of_function_words_alone_can_be_scored() -> None:
    assert features("what is it", candidate("It is a lamp."))["coverage"] > 0


def test_a_missing_sentence_cosine_is_the_chunks_own() -> None:
    assert features("q", candidate("x", dense=0.7, sentence=None))["sentence"] == 0.7


async def test_scores_are_probabilities_in_the_candidates_order() -> None:
    reranker = CalibratedReranker(store=IdfStore(), model=EVEN)
    good, bad = candidate("red chairs", dense=0.9), candidate("grey lamps", dense=0.1)

    scores = await reranker.score("red chairs", [bad, good])

    assert 0 < scores[0] < scores[1] < 1


async def test_a_question_that_covers_itself_beats_one_letter_changed() -> None:
    reranker = CalibratedReranker(store=IdfStore(), model=load_reranker_model())

    right, wrong = await reranker.score(
        "error code E07", [candidate("Error code E07: door."), candidate("Error code E08: door.")]
    )

    assert right > wrong


async def test_no_candidates_no_scores() -> None:
    assert await CalibratedReranker(store=IdfStore(), model=EVEN).score("q", []) == []


def test_the_operators_threshold_replaces_the_models() -> None:
    assert CalibratedReranker(store=IdfStore(), model=EVEN).threshold == 0.5
    assert CalibratedReranker(store=IdfStore(), model=EVEN, threshold=0.0).threshold == 0.0


def test_extreme_features_overflow_nothing() -> None:
    assert EVEN.probability((-1e9,) * len(FEATURES)) < 1e-20
    assert EVEN.probability((1e9,) * len(FEATURES)) == 1.0


def test_shipped_coefficients_reward_every_signal() -> None:
    """A negative weight would punish a chunk for agreeing with the question."""
    model = load_reranker_model()

    assert min(model.coefficients) >= 0
    assert 0 < model.threshold < 0.5


def test_shipped_coefficients_say_where_they_come_from() -> None:
    path = Path(__file__).parents[2] / "src/rag_source/retrieval/reranker.json"
    provenance = json.loads(path.read_text(encoding="utf-8"))["provenance"]

    assert provenance["script"] == "eval/fit_reranker.py"
    assert {"date", "fitted_on", "other_half_of_the_articles", "each_set_left_out"} <= set(
        provenance
    )


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", '{"coefficients": {"dense": 1}}'],
    ids=["empty", "not an object", "no fields", "other features"],
)
def test_a_damaged_file_of_coefficients_is_the_operators_error(
    content: str, tmp_path: Path
) -> None:
    path = tmp_path / "model.json"
    path.write_text(content, encoding="utf-8")

    with pytest.raises(ConfigurationError, match=r"model\.json"):
        load_reranker_model(path)
