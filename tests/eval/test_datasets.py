"""Dataset folders: what is read, and the line that a mistake is found on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rag_source.domain.errors import RequestError
from rag_source.eval.datasets import read_dataset


def write(folder: Path, name: str, *lines: object) -> None:
    text = "\n".join(x if isinstance(x, str) else json.dumps(x, ensure_ascii=False) for x in lines)
    (folder / name).write_text(text + "\n", encoding="utf-8")


DOCUMENT = {"doc_id": "a", "text": "Deux ans au plus.", "title": "Garantie"}
QUESTION = {"qid": "1", "question": "Combien de temps ?", "gold_doc": ["a"], "lang": "fr"}


def test_a_dataset_of_texts_is_read(tmp_path: Path) -> None:
    write(tmp_path, "documents.jsonl", DOCUMENT, {"doc_id": "b", "text": "x", "title": "Garantie"})
    write(tmp_path, "questions.jsonl", QUESTION, "", {**QUESTION, "qid": "2", "answerable": False})

    dataset = read_dataset(tmp_path)

    assert [one.doc_id for one in dataset.documents] == ["a", "b"]
    assert [(one.qid, one.line, one.answerable) for one in dataset.questions] == [
        ("1", 1, True),
        ("2", 3, False),
    ]
    assert dataset.name == tmp_path.name


def test_a_repeated_document_is_one_document(tmp_path: Path) -> None:
    write(tmp_path, "documents.jsonl", DOCUMENT, DOCUMENT)
    write(tmp_path, "questions.jsonl", QUESTION)

    assert len(read_dataset(tmp_path).documents) == 1


def test_passages_of_one_article_are_siblings(tmp_path: Path) -> None:
    write(
        tmp_path,
        "documents.jsonl",
        {"doc_id": "a", "text": "x", "title": "T"},
        {"doc_id": "b", "text": "x", "title": "T"},
        {"doc_id": "c", "text": "x", "title": "T", "article": 7},
        {"doc_id": "d", "text": "x"},
    )
    write(tmp_path, "questions.jsonl", QUESTION)

    dataset = read_dataset(tmp_path)

    assert dataset.siblings(("a",)) == ("a", "b")
    assert dataset.siblings(("c", "d")) == ("c", "d")


def test_a_folder_of_real_files_is_read(tmp_path: Path) -> None:
    (tmp_path / "documents/notes").mkdir(parents=True)
    (tmp_path / "documents/notes/a.txt").write_text("x", encoding="utf-8")
    write(tmp_path, "questions.jsonl", {**QUESTION, "gold_doc": ["notes/a.txt"]})

    (document,) = read_dataset(tmp_path).documents

    assert (document.doc_id, document.path) == (
        "notes/a.txt",
        tmp_path / "documents/notes/a.txt",
    )


def test_a_listed_file_is_found_beside_the_list(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x;y", encoding="utf-8")
    write(tmp_path, "documents.jsonl", {"doc_id": "a", "file": "a.csv", "title": "T"})
    write(tmp_path, "questions.jsonl", QUESTION)

    (document,) = read_dataset(tmp_path).documents

    assert (document.path, document.group) == ((tmp_path / "a.csv").resolve(), "a")


def test_null_gold_is_no_gold(tmp_path: Path) -> None:
    write(tmp_path, "documents.jsonl", DOCUMENT)
    write(tmp_path, "questions.jsonl", {**QUESTION, "gold_doc": None, "candidate_docs": ["a"]})

    (question,) = read_dataset(tmp_path).questions

    assert (question.gold_docs, question.candidate_docs) == ((), ("a",))


@pytest.mark.parametrize(
    ("documents", "questions", "message"),
    [
        ([DOCUMENT], [QUESTION, "{oops"], r"questions\.jsonl' line 2: not JSON"),
        ([DOCUMENT], [QUESTION, [1]], r"questions\.jsonl' line 2: not a JSON object"),
        ([DOCUMENT], [{"qid": "1"}], r"line 1: 'question' must be a text"),
        ([DOCUMENT], [{**QUESTION, "question": " "}], r"line 1: 'question' must be a text"),
        ([DOCUMENT], [{**QUESTION, "gold_doc": "a"}], r"line 1: 'gold_doc' must be a list"),
        ([DOCUMENT], [{**QUESTION, "gold_doc": ["z"]}], r"line 1: no document 'z'"),
        ([DOCUMENT], [{**QUESTION, "candidate_docs": ["z"]}], r"line 1: no document 'z'"),
        ([DOCUMENT], [{**QUESTION, "gold_pages": [0]}], r"line 1: 'gold_pages'"),
        ([DOCUMENT, {**DOCUMENT, "text": "y"}], [QUESTION], r"line 2: doc_id 'a' names another"),
        ([{"doc_id": "a"}], [QUESTION], r"documents\.jsonl' line 1: 'text' must be a text"),
        ([{"doc_id": "a", "file": "z.pdf"}], [QUESTION], r"line 1: there is no file 'z\.pdf'"),
        ([DOCUMENT], [], r"1 documents and 0 questions"),
    ],
)
def test_a_mistake_is_named_with_its_line(
    documents: list[object], questions: list[object], message: str, tmp_path: Path
) -> None:
    write(tmp_path, "documents.jsonl", *documents)
    write(tmp_path, "questions.jsonl", *questions)

    with pytest.raises(RequestError, match=message):
        read_dataset(tmp_path)


@pytest.mark.parametrize("missing", ["folder", "questions.jsonl", "documents.jsonl"])
def test_what_is_missing_is_named(missing: str, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    if missing != "folder":
        folder.mkdir()
    if missing == "questions.jsonl":
        write(folder, "documents.jsonl", DOCUMENT)

    with pytest.raises(RequestError, match=missing):
        read_dataset(folder)


def test_the_fingerprint_follows_the_documents_alone(tmp_path: Path) -> None:
    write(tmp_path, "documents.jsonl", DOCUMENT)
    write(tmp_path, "questions.jsonl", QUESTION)
    before = read_dataset(tmp_path).fingerprint()
    write(tmp_path, "questions.jsonl", {**QUESTION, "question": "Autre chose ?"})
    same = read_dataset(tmp_path).fingerprint()
    write(tmp_path, "documents.jsonl", {**DOCUMENT, "text": "Trois ans."})

    assert before == same != read_dataset(tmp_path).fingerprint()
