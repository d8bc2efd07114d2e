"""The documents that a calculation may rest on: their tables, and what they are about."""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from rag_source.domain.catalogue import DocumentRecord
from rag_source.domain.documents import ParsedDocument
from rag_source.domain.evidence import SearchFilter
from rag_source.domain.folding import fold
from rag_source.domain.ports import Catalogue
from rag_source.generation.aggregate.tables import Table, names_of, tables_of

__all__ = ["Bystander", "Source", "SourceReader", "Sources"]

_STATED = re.compile(
    r"(?<!\w)(?:totale?|totaux|totals?|somme|sum|net a payer|amount due|"
    r"(?:ال)?مجموع|(?:ال)?اجمالي)(?!\w)[^.!?\n]{0,60}?\d"
)
_KEPT = 512  # documents whose tables are remembered
_LIMIT_DOCUMENTS = 1000  # with tables; reading more would keep the reader waiting


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Source:
    """A document with tables. `about` is what its name, title and headings say it is.

    `digest` is equal for equal texts. `states_total`: it has a total of its own, in a table or in
    a line.
    """

    doc_id: str
    path: str
    parsed: ParsedDocument
    about_text: str
    about: frozenset[str]
    tables: tuple[Table, ...]
    digest: str
    states_total: bool

    @property
    def around(self) -> str:
        """The text outside the tables."""
        blocks = [block for block in self.parsed.blocks if not block.rows]
        return "\n".join(self.parsed.text[block.start : block.end] for block in blocks)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bystander:
    """A document without a table: it may be of the kind that is asked for all the same."""

    record: DocumentRecord
    doc_id: str
    path: str
    about_text: str
    about: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """The documents in the order of their paths; a document that is there twice stands once."""

    tabular: tuple[Source, ...]
    others: tuple[Bystander, ...]
    reader: SourceReader

    def read(self, bystander: Bystander) -> Source | None:
        """A document without tables, in full; None if it is gone."""
        return self.reader.source(bystander.record)


class SourceReader:
    """Reads documents for calculations; remembers the tables of the last ones."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._kept: dict[tuple[str, str, int, str], Source] = {}
        self._lock = threading.Lock()

    def read(self, filter: SearchFilter) -> Sources | None:
        """All documents that the filter admits; None if too many of them have tables."""
        records = self._records(filter)
        tabular = [record for record in records if record.tables]
        if len(tabular) > _LIMIT_DOCUMENTS:
            return None
        found: list[Source] = []
        seen: set[str] = set()
        for record in tabular:
            source = self.source(record)
            if source is None:
                continue
            same = {record.source.fingerprint, source.digest}
            if seen.isdisjoint(same):
                found.append(source)
            seen |= same
        others = tuple(
            Bystander(
                record=record,
                doc_id=record.doc_id,
                path=record.source.path,
                about_text=_named(record),
                about=names_of(_named(record)),
            )
            for record in _first_of_each(records)
            if not record.tables and record.source.fingerprint not in seen
        )
        return Sources(tabular=tuple(found), others=others, reader=self)

    def is_promising(
        self, filter: SearchFilter, found: Sequence[str], asks: Callable[[Source], bool]
    ) -> bool:
        """Whether `asks` holds for any of the documents that were found."""
        admitted = {record.doc_id: record for record in self._records(filter)}
        records = [admitted[doc_id] for doc_id in found if doc_id in admitted]
        sources = (self.source(record) for record in records)
        return any(source is not None and asks(source) for source in sources)

    def source(self, record: DocumentRecord) -> Source | None:
        """A document in full; None if it is gone."""
        key = (record.doc_id, record.source.fingerprint, record.loader_version, record.recipe)
        with self._lock:
            kept = self._kept.pop(key, None)
        if kept is None or kept.path != record.source.path:
            parsed = self._catalogue.parsed(record.doc_id)
            kept = None if parsed is None else _source(record, parsed)
        if kept is not None:
            with self._lock:
                self._kept[key] = kept  # the last one used stands last
                while len(self._kept) > _KEPT:
                    del self._kept[next(iter(self._kept))]
        return kept

    def _records(self, filter: SearchFilter) -> list[DocumentRecord]:
        records = self._catalogue.documents()
        return [r for r in records if r.status == "ready" and _admits(filter, r)]


def _first_of_each(records: Sequence[DocumentRecord]) -> list[DocumentRecord]:
    """The records, one for each content."""
    return list({record.source.fingerprint: record for record in reversed(records)}.values())[::-1]


def _source(record: DocumentRecord, parsed: ParsedDocument) -> Source:
    tables = tables_of(record.doc_id, record.source.path, parsed)
    heading = next((b for b in parsed.blocks if b.kind == "heading"), None)
    sections = [name for table in tables for name in table.block.section]
    about = "\n".join(
        dict.fromkeys(
            [_named(record), parsed.text[heading.start : heading.end] if heading else "", *sections]
        )
    )
    return Source(
        doc_id=record.doc_id,
        path=record.source.path,
        parsed=parsed,
        about_text=about,
        about=names_of(about),
        tables=tuple(tables),
        digest=_digest(parsed.text),
        states_total=any(table.summaries for table in tables) or _states_total(parsed),
    )


def _digest(text: str) -> str:
    """The same for two files that say the same, whatever their bytes."""
    words = " ".join(text.casefold().split())
    return hashlib.blake2b(words.encode(), digest_size=16).hexdigest()


def _states_total(parsed: ParsedDocument) -> bool:
    """Whether a line outside the tables states a total."""
    lines = (parsed.text[block.start : block.end] for block in parsed.blocks if not block.rows)
    return any(_STATED.search(fold(text, case=True, accents=True).text) for text in lines)


def _named(record: DocumentRecord) -> str:
    """The document's name and title, with the words of its name apart."""
    path = PurePosixPath(record.source.path)
    return f"{path.with_suffix('')}\n{record.title}"


def _admits(filter: SearchFilter, record: DocumentRecord) -> bool:
    """Whether a search with this filter may find the document."""
    path = record.source.path
    suffix = PurePosixPath(path).suffix.lower().removeprefix(".")
    return (
        record.doc_id not in filter.excluded_doc_ids
        and _allowed(filter.paths, [path])
        and _allowed(filter.doc_ids, [record.doc_id])
        and _allowed(filter.languages, [record.language])
        and _allowed(filter.formats, [suffix])
        and (not filter.folders or any(_inside(path, folder) for folder in filter.folders))
    )


def _allowed(wanted: Sequence[str], values: Sequence[str]) -> bool:
    return not wanted or any(value in wanted for value in values)


def _inside(path: str, folder: str) -> bool:
    folder = folder.rstrip("/")
    return not folder or path.startswith(f"{folder}/")
