"""Whole answers measured without a judge: what counts as right, as refused, as cited."""

from __future__ import annotations

from dataclasses import replace

import pytest

from api.services import make_answer
from rag_source.domain.answers import Answer
from rag_source.domain.evidence import SearchFilter
from rag_source.eval.answers import AnswerResult, ask_for_answers, transcript
from rag_source.eval.datasets import Dataset, EvalQuestion

ANSWER = make_answer()


def question(qid: str, *answers: str, candidates: tuple[str, ...] = ()) -> EvalQuestion:
    return EvalQuestion(
        qid=qid,
        line=1,
        question=f"Question {qid} ?",
        answers=answers,
        gold_docs=("d1",) if answers else (),
        candidate_docs=candidates,
        answerable=bool(answers),
    )


def result(text: str, *answers: str, refused: bool = False) -> AnswerResult:
    answer = replace(ANSWER, text=text, refused=refused, citations=())
    return AnswerResult(question=question("q", *answers), answer=answer, seconds=1.0)


@pytest.mark.parametrize(
    ("text", "gold"),
    [
        ("Le total est de 82.900,00 DH [1].", "82 900,00 DH"),
        ("ÉCHÉANCE : 30 Avril 2026.", "30 avril 2026"),
        ("الإجمالي ٣٢٤٠ وحدة [1]", "3240 وحدة"),
        ("It weighs 12 [1] kg.", "12 kg"),
    ],
)
def test_gold_is_found_however_it_is_written(text: str, gold: str) -> None:
    assert result(text, gold).is_right


def test_answer_without_gold_a_refusal_and_an_invented_answer_are_wrong() -> None:
    assert not result("Le total est de 82 900,01 DH.", "82 900,00 DH").is_right
    assert not result("82 900,00 DH", "82 900,00 DH", refused=True).is_right
    assert not result("It is 5.").is_right
    assert result("It is not in these documents.", refused=True).is_right


async def test_figures_count_answers_refusals_sentences_and_citations() -> None:
    answers = {
        "Question a ?": replace(ANSWER, text="Le total est de 3 240 unités [1]. Il est payé."),
        "Question b ?": replace(ANSWER, refused=True, citations=()),
        "Question c ?": replace(ANSWER, refused=True, citations=()),
    }
    asked: list[tuple[str, SearchFilter]] = []

    async def ask(text: str, filter: SearchFilter) -> Answer:
        asked.append((text, filter))
        return answers[text]

    dataset = Dataset(
        name="set",
        documents=(),
        questions=(
            question("a", "3 240", candidates=("d1", "lost")),
            question("b", "12"),
            question("c"),
        ),
    )
    clock = iter(float(n) for n in range(100))
    found = await ask_for_answers(dataset, ask, {"d1": "s1"}, now=lambda: next(clock))
    assert asked[0][1].doc_ids == ("s1", "lost")
    assert found.as_json() == {
        "dataset": "set",
        "questions": 3,
        "citations": 1,
        "citations_rejected": 0,
        "uncited_figures": 0,
        "answers_with_gold": 0.5,
        "answerable_refused": 0.5,
        "unanswerable_refused": 1.0,
        "sentences_cited": 0.5,
        "citations_verified": 1.0,
        "seconds": 1.0,
        "wrong": ["b"],
    }


async def test_transcript_shows_each_citation_with_its_quote_and_verdict() -> None:
    shown = transcript([AnswerResult(question=question("a", "3 240"), answer=ANSWER, seconds=2.0)])
    assert "## a · right · 2 s" in shown
    assert "- [1] verified 100: bl.pdf, page 1: “Total : 3 240 unités”" in shown
