"""The samples are what their script writes, and the questions about them are true."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from bs4 import BeautifulSoup

from architecture.source_tree import ROOT

SAMPLES = ROOT / "data" / "samples"
DATASET = ROOT / "eval" / "datasets" / "samples"


def _lines(name: str) -> list[dict[str, Any]]:
    with (DATASET / name).open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


DOCUMENTS = {record["doc_id"]: DATASET / record["file"] for record in _lines("documents.jsonl")}
QUESTIONS = _lines("questions.jsonl")
ANSWERABLE = [question for question in QUESTIONS if question["answerable"]]
KINDS = {"lookup", "code", "table", "date", "paraphrase", "cross-language", "unanswerable"}


def _pages(path: Path) -> list[str]:
    """The text of each page, white space made single; one page for files without pages."""
    if path.suffix == ".pdf":
        document: Any = pymupdf.open(path)  # type: ignore[no-untyped-call, unused-ignore]
        with document:
            texts = [page.get_text() for page in document]
    else:
        text = path.read_text(encoding="utf-8")
        texts = [BeautifulSoup(text, "html.parser").get_text() if path.suffix == ".html" else text]
    return [" ".join(text.split()) for text in texts]


def test_committed_pdfs_are_what_the_script_writes() -> None:
    run = subprocess.run(
        [sys.executable, "-m", "scripts.make_samples", "--check"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr


def test_the_set_and_its_description_name_every_sample() -> None:
    files = {path.name for path in SAMPLES.iterdir()}
    description = (ROOT / "data" / "README.md").read_text(encoding="utf-8")

    assert {path.resolve() for path in DOCUMENTS.values()} == {SAMPLES / name for name in files}
    assert [name for name in files if f"`{name}`" not in description] == []


def test_there_are_thirty_questions_of_which_eight_have_no_answer() -> None:
    assert len({question["qid"] for question in QUESTIONS}) == len(QUESTIONS) == 30
    assert len(ANSWERABLE) == 22
    assert {question["lang"] for question in QUESTIONS} == {"fr", "en", "ar"}
    assert {question["kind"] for question in QUESTIONS} == KINDS


@pytest.mark.parametrize("question", ANSWERABLE, ids=lambda question: question["qid"])
def test_an_answer_stands_in_the_gold_document_on_its_page(question: dict[str, Any]) -> None:
    pages = _pages(DOCUMENTS[question["gold_doc"][0]])
    for number in question.get("gold_pages", [1]):
        assert any(answer in pages[number - 1] for answer in question["answers"])


@pytest.mark.parametrize("question", QUESTIONS[len(ANSWERABLE) :], ids=lambda q: q["qid"])
def test_a_question_without_answer_names_no_document(question: dict[str, Any]) -> None:
    assert not question["answerable"]
    assert question["answers"] == question["gold_doc"] == []


@pytest.mark.parametrize(
    "line",
    [
        ("bon-de-livraison-BL-2026-0312.pdf", "Total : 3 240 unités - 82 900,00 DH"),
        ("bon-de-livraison-BL-2026-0318.pdf", "Total : 2 340 unités - 89 200,00 DH"),
        ("regulation-2026-14-records.pdf", "shall be kept for two years at most"),
        ("price-list-2026.csv", "40564101,VT-COB/SKU98496,"),
    ],
    ids=lambda line: line[0],
)
def test_a_sample_holds_the_line_that_the_documentation_cites(line: tuple[str, str]) -> None:
    name, words = line
    assert any(words in page for page in _pages(SAMPLES / name))
