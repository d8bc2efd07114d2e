"""A dataset folder: documents, and questions whose answers are known.

`documents.jsonl` has one object a line: `doc_id`, and `text` or `file` (relative to the folder),
optionally `title` and `article`. Without it, `documents/` holds real files whose ids are their
relative paths. `questions.jsonl`: `qid`, `question`, optionally `lang`, `answers`, `gold_doc`,
`gold_pages`, `candidate_docs`, `answerable` (true), `kind`. Other fields are ignored.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rag_source.domain.errors import RequestError

__all__ = ["Dataset", "EvalDocument", "EvalQuestion", "read_dataset"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalDocument:
    """A document: its `text`, or the real file at `path`.

    Documents of one `group` tell of the same thing (an encyclopaedia article cut in passages):
    leaving a question without its answer leaves them all out.
    """

    doc_id: str
    group: str
    title: str = ""
    text: str = ""
    path: Path | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalQuestion:
    """A question; `line` is where it stands in its file.

    `gold_docs` may be empty: then nothing can be said of the ranking. Non-empty `candidate_docs`
    are the only documents it may be answered from.
    """

    qid: str
    question: str
    line: int
    language: str = "und"
    answers: tuple[str, ...] = ()
    gold_docs: tuple[str, ...] = ()
    gold_pages: tuple[int, ...] = ()
    candidate_docs: tuple[str, ...] = ()
    answerable: bool = True
    kind: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dataset:
    """A whole dataset; every id that a question names is a document's."""

    name: str
    documents: tuple[EvalDocument, ...]
    questions: tuple[EvalQuestion, ...]

    def siblings(self, doc_ids: tuple[str, ...]) -> tuple[str, ...]:
        """Every document of the groups of these."""
        groups = {one.group for one in self.documents if one.doc_id in set(doc_ids)}
        return tuple(one.doc_id for one in self.documents if one.group in groups)

    def fingerprint(self) -> str:
        """Changes with anything that indexing would read; questions are not part of it."""
        digest = hashlib.sha256()
        for one in self.documents:
            content = one.path.read_bytes() if one.path else one.text.encode()
            digest.update(hashlib.sha256(content).digest())
            digest.update(f"{one.doc_id}\0{one.title}\0".encode())
        return digest.hexdigest()


def read_dataset(folder: Path) -> Dataset:
    """Read and validate a dataset folder.

    Raises:
        RequestError: Something is missing or wrong, with the file and the line.
    """
    if not folder.is_dir():
        raise RequestError(f"no dataset folder {str(folder)!r}", hint="give a folder's path")
    documents = _documents(folder)
    known = {document.doc_id for document in documents}
    questions = tuple(
        _question(folder / "questions.jsonl", line, fields, known)
        for line, fields in _lines(folder / "questions.jsonl")
    )
    if not documents or not questions:
        raise RequestError(
            f"the dataset {str(folder)!r} has {len(documents)} documents and "
            f"{len(questions)} questions",
            hint="it needs at least one of each",
        )
    return Dataset(name=folder.resolve().name, documents=documents, questions=questions)


def _documents(folder: Path) -> tuple[EvalDocument, ...]:
    listing, files = folder / "documents.jsonl", folder / "documents"
    if not listing.exists() and files.is_dir():
        paths = sorted(path for path in files.rglob("*") if path.is_file())
        names = [path.relative_to(files).as_posix() for path in paths]
        return tuple(
            EvalDocument(doc_id=name, group=name, path=path)
            for name, path in zip(names, paths, strict=True)
        )
    found: dict[str, EvalDocument] = {}
    for line, fields in _lines(listing):
        document = _document(listing, line, fields)
        if found.get(document.doc_id, document) != document:
            raise _wrong(listing, line, f"doc_id {document.doc_id!r} names another document above")
        found[document.doc_id] = document
    return tuple(found.values())


def _document(listing: Path, line: int, fields: dict[str, Any]) -> EvalDocument:
    doc_id = _string(listing, line, fields, "doc_id")
    title = str(fields.get("title") or "")
    article = fields.get("article")
    group = f"{article}" if article is not None else title or doc_id
    if "file" in fields:
        path = (listing.parent / _string(listing, line, fields, "file")).resolve()
        if not path.is_file():
            raise _wrong(listing, line, f"there is no file {fields['file']!r}")
        return EvalDocument(doc_id=doc_id, group=doc_id, title=title, path=path)
    text = _string(listing, line, fields, "text")
    return EvalDocument(doc_id=doc_id, group=group, title=title, text=text)


def _question(source: Path, line: int, fields: dict[str, Any], known: set[str]) -> EvalQuestion:
    gold = _strings(source, line, fields, "gold_doc")
    candidates = _strings(source, line, fields, "candidate_docs")
    for doc_id in (*gold, *candidates):
        if doc_id not in known:
            raise _wrong(source, line, f"no document {doc_id!r}")
    pages = fields.get("gold_pages") or ()
    if not all(isinstance(page, int) and page >= 1 for page in pages):
        raise _wrong(source, line, "'gold_pages' must be a list of pages counted from 1")
    return EvalQuestion(
        qid=_string(source, line, fields, "qid"),
        question=_string(source, line, fields, "question"),
        line=line,
        language=str(fields.get("lang") or "und"),
        answers=_strings(source, line, fields, "answers"),
        gold_docs=gold,
        gold_pages=tuple(pages),
        candidate_docs=candidates,
        answerable=bool(fields.get("answerable", True)),
        kind=str(fields.get("kind") or ""),
    )


def _lines(source: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a JSON Lines file with their line numbers; blank lines are skipped."""
    try:
        lines = source.read_text(encoding="utf-8-sig").split("\n")
    except FileNotFoundError as error:
        raise RequestError(
            f"the dataset has no {source.name!r} in {str(source.parent)!r}",
            hint="docs/testing.md shows the form of a dataset",
        ) from error
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(f"{str(source)!r} cannot be read: {error}") from error
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            fields = json.loads(line)
        except ValueError as error:
            raise _wrong(source, number, f"not JSON: {error}") from error
        if not isinstance(fields, dict):
            raise _wrong(source, number, "not a JSON object")
        yield number, fields


def _string(source: Path, line: int, fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    if not isinstance(value, str) or not value.strip():
        raise _wrong(source, line, f"{name!r} must be a text that is not empty")
    return value


def _strings(source: Path, line: int, fields: dict[str, Any], name: str) -> tuple[str, ...]:
    value = fields.get(name)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise _wrong(source, line, f"{name!r} must be a list of texts")
    return tuple(value)


def _wrong(source: Path, line: int, what: str) -> RequestError:
    return RequestError(f"{str(source)!r} line {line}: {what}", hint="correct that line")
