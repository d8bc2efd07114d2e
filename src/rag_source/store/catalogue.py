"""The catalogue on SQLite: every file of the corpus, its state, and its parse.

One connection, shared by all threads under a lock; packing and unpacking happen outside it, so a
large document holds up others only for its insertion. Write-ahead log with `synchronous=NORMAL`:
what was saved survives a kill of the process at any moment; a power cut may take the last
transactions back, never the file.
"""

from __future__ import annotations

import sqlite3
import threading
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from rag_source.domain.catalogue import DocumentRecord
from rag_source.domain.documents import Page, ParsedDocument, SourceFile
from rag_source.domain.errors import BackendError, ConfigurationError, RagError
from rag_source.store.migrations import APPLICATION_ID, MIGRATIONS
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

_BUSY_TIMEOUT_S = 5.0

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
        self._path = path
        self._lock = threading.Lock()
        with self._errors("open"):
            self._connection = sqlite3.connect(
                path, timeout=_BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
            )
        try:
            with self._errors("open"):
                self._prepare()
        except BaseException:
            self._connection.close()
            raise

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
        with self._lock:
            self._connection.close()

    def documents(self) -> list[DocumentRecord]:
        rows = self._rows(f"SELECT {_COLUMNS} FROM documents ORDER BY path, doc_id")  # noqa: S608 -- fixed column names
        return [_record(row) for row in rows]

    def document(self, doc_id: str) -> DocumentRecord | None:
        rows = self._rows(f"SELECT {_COLUMNS} FROM documents WHERE doc_id = ?", doc_id)  # noqa: S608 -- fixed column names
        return _record(rows[0]) if rows else None

    def save(self, record: DocumentRecord, parsed: ParsedDocument | None = None) -> None:
        """As `Catalogue.save`. Without a parse, the one stored before stays."""
        parse_row: tuple[Any, ...] = ()
        page_rows: list[tuple[Any, ...]] = []
        if parsed is not None:
            parse_row = _parse_row(record.doc_id, parsed)
            page_rows = [_page_row(record.doc_id, page) for page in parsed.pages]
        with self._transaction(f"save {record.source.path!r} in") as connection:
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
        with self._transaction("remove documents from") as connection:
            ids = [(doc_id,) for doc_id in doc_ids]
            connection.executemany("DELETE FROM documents WHERE doc_id = ?", ids)

    def parsed(self, doc_id: str) -> ParsedDocument | None:
        with self._errors("read"):
            with self._lock:
                run = self._connection.execute
                parse = run("SELECT * FROM parses WHERE doc_id = ?", (doc_id,)).fetchone()
                pages = run(_PAGES + " ORDER BY number", (doc_id,)).fetchall()
            return _parsed(parse, tuple(_page(row) for row in pages)) if parse else None

    def pages(self, doc_id: str, numbers: Sequence[int]) -> list[Page]:
        rows: list[tuple[Any, ...]] = []
        with self._errors("read"):
            with self._lock:
                for number in sorted(set(numbers)):
                    rows += self._connection.execute(_PAGE_WITH_WORDS, (doc_id, number)).fetchall()
            return [_page(row) for row in rows]

    def meta(self, key: str) -> str | None:
        """A value of the installation's own, such as what to resume; None if never set."""
        rows = self._rows("SELECT value FROM meta WHERE key = ?", key)
        return rows[0][0] if rows else None

    def set_meta(self, key: str, value: str) -> None:
        with self._transaction("write") as connection:
            connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def _prepare(self) -> None:
        connection = self._connection
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (objects,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        if objects and application != APPLICATION_ID:
            raise ConfigurationError(
                f"{str(self._path)!r} is a database of another program",
                hint="choose another state directory",
            )
        if version > len(MIGRATIONS):
            raise ConfigurationError(
                f"the catalogue {str(self._path)!r} has schema {version}, "
                f"and this version of rag-source knows schemas up to {len(MIGRATIONS)}",
                hint="install the version that wrote it, or a newer one",
                code="catalogue_newer",
            )
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA foreign_keys = ON")
        for number in range(version, len(MIGRATIONS)):
            self._migrate(number)

    def _migrate(self, number: int) -> None:
        with self._transaction("upgrade") as connection:
            for statement in MIGRATIONS[number]:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {number + 1}")

    def _rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._errors("read"), self._lock:
            return self._connection.execute(sql, values).fetchall()

    @contextmanager
    def _transaction(self, doing: str) -> Iterator[sqlite3.Connection]:
        with self._errors(doing), self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                # A full disk may have ended the transaction already.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _errors(self, doing: str) -> Iterator[None]:
        """Turns SQLite's errors, and stored bytes that make no sense, into ours."""
        try:
            yield
        except RagError:
            raise
        except sqlite3.Error as error:
            raise _translated(error, self._path, doing) from error
        except (zlib.error, ValueError, TypeError) as error:
            raise _damaged(self._path, str(error)) from error


def _translated(error: sqlite3.Error, path: Path, doing: str) -> RagError:
    name = getattr(error, "sqlite_errorname", "") or ""
    message = f"could not {doing} the catalogue {str(path)!r}: {error}"
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return _damaged(path, str(error))
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
        hint = "make the state directory writable, or choose another"
        return ConfigurationError(message, hint=hint, code="state_unwritable")
    if name.startswith("SQLITE_FULL"):
        return BackendError(message, hint="free some disk space and try again", code="disk_full")
    return BackendError(message, hint="try again")


def _damaged(path: Path, reason: str) -> ConfigurationError:
    return ConfigurationError(
        f"the catalogue {str(path)!r} is damaged: {reason}",
        hint="move the state directory away and ingest again; the documents are untouched",
        code="catalogue_damaged",
    )


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
