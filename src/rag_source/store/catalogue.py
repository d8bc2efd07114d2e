"""The catalogue on SQLite: every file of the corpus, its state, and its parse."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from rag_source.domain.catalogue import DocumentRecord
from rag_source.domain.documents import Page, ParsedDocument, SourceFile
from rag_source.store.database import Database
from rag_source.store.parse_codec import (
    PARSE_CODEC,
    pack_blocks,
    pack_text,
    pack_warnings,
    pack_words,
    unpack_blocks,
    unpack_text,
    unpack_warnings,
    unpack_words,
)

__all__ = ["SqliteCatalogue"]

_COLUMNS = (
    "doc_id, path, fingerprint, size_bytes, mtime_ns, status, code, message, warnings, format, "
    "loader, loader_version, title, language, pages, blocks, tables, chunks, indexed_at"
)
_NAMES = _COLUMNS.split(", ")
_UPSERT = f"""
    INSERT INTO documents ({_COLUMNS}) VALUES ({", ".join("?" * len(_NAMES))})
    ON CONFLICT (doc_id) DO UPDATE SET {", ".join(f"{n} = excluded.{n}" for n in _NAMES[1:])}
"""  # noqa: S608 -- the column names above; values are bound

_PAGES = "SELECT number, width_pt, height_pt, rotation, start, end FROM pages WHERE doc_id = ?"
_PAGE_WITH_WORDS = (
    "SELECT number, width_pt, height_pt, rotation, start, end, words FROM pages "
    "WHERE doc_id = ? AND number = ?"
)


class SqliteCatalogue:
    """A `Catalogue` in one file. Close it, or use it as a context manager.

    Args:
        path: The database file; made if missing, in a folder that exists.

    Raises:
        ConfigurationError: The file is damaged, not a catalogue, from a newer version of the
            program, or cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._database = Database(path)

    @property
    def database(self) -> Database:
        """The file, for the other tables in it; it closes with the catalogue."""
        return self._database

    def __enter__(self) -> SqliteCatalogue:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Fold the log into the file and let go of it. Closing twice is fine."""
        self._database.close()

    def documents(self) -> list[DocumentRecord]:
        rows = self._database.rows(f"SELECT {_COLUMNS} FROM documents ORDER BY path, doc_id")  # noqa: S608 -- fixed column names
        return [_record(row) for row in rows]

    def document(self, doc_id: str) -> DocumentRecord | None:
        rows = self._database.rows(f"SELECT {_COLUMNS} FROM documents WHERE doc_id = ?", doc_id)  # noqa: S608 -- fixed column names
        return _record(rows[0]) if rows else None

    def save(self, record: DocumentRecord, parsed: ParsedDocument | None = None) -> None:
        """As `Catalogue.save`. Without a parse, the one stored before stays."""
        parse_row: tuple[Any, ...] = ()
        page_rows: list[tuple[Any, ...]] = []
        if parsed is not None:
            parse_row = _parse_row(record.doc_id, parsed)
            page_rows = [_page_row(record.doc_id, page) for page in parsed.pages]
        with self._database.transaction(f"save {record.source.path!r} in") as connection:
            connection.execute(_UPSERT, _record_row(record))
            if parsed is not None:
                connection.execute("DELETE FROM parses WHERE doc_id = ?", (record.doc_id,))
                connection.execute(
                    "INSERT INTO parses VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", parse_row
                )
                connection.executemany(
                    "INSERT INTO pages VALUES (?, ?, ?, ?, ?, ?, ?, ?)", page_rows
                )

    def remove(self, doc_ids: Sequence[str]) -> None:
        with self._database.transaction("remove documents from") as connection:
            ids = [(doc_id,) for doc_id in doc_ids]
            connection.executemany("DELETE FROM documents WHERE doc_id = ?", ids)

    def parsed(self, doc_id: str) -> ParsedDocument | None:
        with self._database.errors("read"):
            with self._database.reading() as connection:
                run = connection.execute
                parse = run("SELECT * FROM parses WHERE doc_id = ?", (doc_id,)).fetchone()
                pages = run(_PAGES + " ORDER BY number", (doc_id,)).fetchall()
            return _parsed(parse, tuple(_page(row) for row in pages)) if parse else None

    def pages(self, doc_id: str, numbers: Sequence[int]) -> list[Page]:
        rows: list[tuple[Any, ...]] = []
        with self._database.errors("read"):
            with self._database.reading() as connection:
                for number in sorted(set(numbers)):
                    rows += connection.execute(_PAGE_WITH_WORDS, (doc_id, number)).fetchall()
            return [_page(row) for row in rows]

    def meta(self, key: str) -> str | None:
        """A value of the installation's own, such as what to resume; None if never set."""
        rows = self._database.rows("SELECT value FROM meta WHERE key = ?", key)
        return rows[0][0] if rows else None

    def set_meta(self, key: str, value: str) -> None:
        with self._database.transaction("write") as connection:
            connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))


def _record_row(record: DocumentRecord) -> tuple[Any, ...]:
    source = record.source
    return (
        *(record.doc_id, source.path, source.fingerprint, source.size_bytes, source.mtime_ns),
        *(record.status, record.code, record.message, pack_warnings(record.warnings)),
        *(record.format, record.loader, record.loader_version, record.title, record.language),
        *(record.pages, record.blocks, record.tables, record.chunks, record.indexed_at),
    )


def _record(row: tuple[Any, ...]) -> DocumentRecord:
    values = dict(zip(_NAMES, row, strict=True))
    source = SourceFile(
        path=values.pop("path"),
        fingerprint=values.pop("fingerprint"),
        size_bytes=values.pop("size_bytes"),
        mtime_ns=values.pop("mtime_ns"),
    )
    warnings = unpack_warnings(values.pop("warnings"))
    return DocumentRecord(source=source, warnings=warnings, **values)


def _parse_row(doc_id: str, parsed: ParsedDocument) -> tuple[Any, ...]:
    return (
        *(doc_id, PARSE_CODEC, pack_text(parsed.text), pack_blocks(parsed.blocks)),
        *(parsed.title, parsed.language, parsed.loader, parsed.loader_version),
        pack_warnings(parsed.warnings),
    )


def _parsed(row: tuple[Any, ...], pages: tuple[Page, ...]) -> ParsedDocument:
    _, codec, text, blocks, title, language, loader, loader_version, warnings = row
    if codec != PARSE_CODEC:
        raise ValueError(f"a parse has the codec {codec}")
    return ParsedDocument(
        text=unpack_text(text),
        blocks=unpack_blocks(blocks),
        title=title,
        language=language,
        loader=loader,
        loader_version=loader_version,
        pages=pages,
        warnings=unpack_warnings(warnings),
    )


def _page_row(doc_id: str, page: Page) -> tuple[Any, ...]:
    return (
        *(doc_id, page.number, page.width_pt, page.height_pt, page.rotation),
        *(page.start, page.end, pack_words(page)),
    )


def _page(row: tuple[Any, ...]) -> Page:
    number, width_pt, height_pt, rotation, start, end, *words = row
    return Page(
        number=number,
        width_pt=width_pt,
        height_pt=height_pt,
        rotation=rotation,
        start=start,
        end=end,
        words=unpack_words(words[0], page_start=start) if words else (),
    )
