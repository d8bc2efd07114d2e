"""The catalogue on SQLite: every file of the corpus, its state, and its parse."""

from __future__ import annotations

import json
import sqlite3
import threading
import uuid
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from rag_source.domain.catalogue import DocumentRecord, FileState
from rag_source.domain.documents import Page, ParsedDocument, SourceFile
from rag_source.store.collections import FIRST_COLLECTION
from rag_source.store.database import Database
from rag_source.store.parse_codec import pack_warnings, unpack_warnings
from rag_source.store.versions import VersionRows, page_of, parsed_of

__all__ = ["SqliteCatalogue"]

_KEPT_PARSES = 4
"""Parses in memory, by version: a large table takes half a second to read back, and every citation
and every part of its rendition asks for it. Versions never change."""

_COLLECTION = "collection"
_COLUMNS = (
    "doc_id, path, fingerprint, size_bytes, mtime_ns, status, code, message, warnings, format, "
    "loader, loader_version, title, language, pages, blocks, tables, chunks, indexed_at, recipe"
)
_NAMES = _COLUMNS.split(", ")
_UPSERT = f"""
    INSERT INTO documents ({_COLUMNS}) VALUES ({", ".join("?" * len(_NAMES))})
    ON CONFLICT (doc_id) DO UPDATE SET {", ".join(f"{n} = excluded.{n}" for n in _NAMES[1:])}
"""  # noqa: S608 -- the column names above; values are bound

_WARNING_CODES = """CASE warnings WHEN '[]' THEN '' ELSE
    (SELECT group_concat(value ->> 0, ' ') FROM json_each(warnings)) END"""
_STATES = f"SELECT {', '.join(FileState._fields[:-1])}, {_WARNING_CODES} FROM documents"  # noqa: S608 -- field names

_VERSION = "SELECT v.* FROM documents d JOIN versions v USING (version_id) WHERE d.doc_id = ?"
_PAGE_COLUMNS = "p.number, p.width_pt, p.height_pt, p.rotation, p.start, p.end"
_OF_DOCUMENT = "FROM documents d JOIN version_pages p USING (version_id) WHERE d.doc_id = ?"
_PAGES = f"SELECT {_PAGE_COLUMNS} {_OF_DOCUMENT} ORDER BY p.number"
_PAGE_WITH_WORDS = f"SELECT {_PAGE_COLUMNS}, p.words {_OF_DOCUMENT} AND p.number = ?"


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
        self._lock = threading.Lock()
        self._parses: OrderedDict[str, ParsedDocument] = OrderedDict()
        self._states: tuple[int, Sequence[FileState]] | None = None

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

    def file_states(self) -> Sequence[FileState]:
        # A folder at rest is looked at again and again, and a third of each look would go here.
        changes = self._database.changes
        if self._states is None or self._states[0] != changes:
            self._states = changes, tuple(map(FileState._make, self._database.rows(_STATES)))
        return self._states[1]

    def save(self, record: DocumentRecord, parsed: ParsedDocument | None = None) -> None:
        """As `Catalogue.save`. Without a parse, the one stored before stays."""
        rows = None if parsed is None else VersionRows.of(uuid.uuid4().hex, record.doc_id, parsed)
        with self._database.transaction(f"save {record.source.path!r} in") as connection:
            connection.execute(_UPSERT, _record_row(record))
            if rows is not None:
                rows.insert(connection)
                _adopt(connection, record.doc_id, rows.version_id)

    def stage(self, record: DocumentRecord, parsed: ParsedDocument, *, contents: str) -> None:
        rows = VersionRows.of(uuid.uuid4().hex, record.doc_id, parsed)
        kept = json.dumps(dict(zip(_NAMES, _record_row(record), strict=True)))
        with self._database.transaction(f"save {record.source.path!r} in") as connection:
            _unstage(connection, record.doc_id)
            rows.insert(connection)
            connection.execute(
                "INSERT INTO staged VALUES (?, ?, ?, ?)",
                (record.doc_id, rows.version_id, contents, kept),
            )

    def staged(self) -> dict[str, str]:
        return dict(self._database.rows("SELECT doc_id, contents FROM staged"))

    def promote(self, doc_id: str) -> None:
        with self._database.transaction("update") as connection:
            row = connection.execute(
                "SELECT version_id, record FROM staged WHERE doc_id = ?", (doc_id,)
            ).fetchone()
            if row is None:
                raise LookupError(f"no version of {doc_id!r} is staged")
            version_id, kept = row
            values = json.loads(kept)
            connection.execute(_UPSERT, tuple(values[name] for name in _NAMES))
            connection.execute("DELETE FROM staged WHERE doc_id = ?", (doc_id,))
            _adopt(connection, doc_id, version_id)

    def unstage(self, doc_id: str) -> None:
        with self._database.transaction("update") as connection:
            _unstage(connection, doc_id)

    def versions(self) -> dict[str, str]:
        sql = "SELECT doc_id, version_id FROM documents WHERE version_id != ''"
        return dict(self._database.rows(sql))

    def version(self, doc_id: str) -> str:
        rows = self._database.rows("SELECT version_id FROM documents WHERE doc_id = ?", doc_id)
        return rows[0][0] if rows else ""

    @property
    def collection(self) -> str:
        """The name of the collection that answers."""
        return self.meta(_COLLECTION) or FIRST_COLLECTION

    def adopt(self, collection: str, records: Sequence[DocumentRecord]) -> None:
        """Make another collection the one that answers, and these the records that go with it.

        One transaction: at no moment is one there without the other. What had been kept to get
        there, and the former model's spool, is forgotten.
        """
        with self._database.transaction("change the collection of") as connection:
            connection.executemany(_UPSERT, [_record_row(record) for record in records])
            connection.execute(
                "INSERT OR REPLACE INTO meta VALUES (?, ?)", (_COLLECTION, collection)
            )
            connection.execute("DELETE FROM rebuilt")
            connection.execute("DELETE FROM spooled_vectors")

    def remove(self, doc_ids: Sequence[str]) -> None:
        with self._database.transaction("remove documents from") as connection:
            ids = [(doc_id,) for doc_id in doc_ids]
            for table in ("documents", "versions", "staged"):
                connection.executemany(f"DELETE FROM {table} WHERE doc_id = ?", ids)  # noqa: S608 -- fixed names

    def parsed(self, doc_id: str) -> ParsedDocument | None:
        rows = self._database.rows("SELECT version_id FROM documents WHERE doc_id = ?", doc_id)
        version_id = rows[0][0] if rows else ""
        with self._lock:
            kept = self._parses.get(version_id)
            if kept is not None:
                self._parses.move_to_end(version_id)
                return kept
        found = self._read_parse(doc_id)
        # Not under the name that was read first: the version may have changed in between.
        if found is not None:
            version_id, parsed = found
            with self._lock:
                self._parses[version_id] = parsed
                while len(self._parses) > _KEPT_PARSES:
                    self._parses.popitem(last=False)
            return parsed
        return None

    def _read_parse(self, doc_id: str) -> tuple[str, ParsedDocument] | None:
        with self._database.errors("read"):
            with self._database.reading() as connection:
                version = connection.execute(_VERSION, (doc_id,)).fetchone()
                pages = connection.execute(_PAGES, (doc_id,)).fetchall()
            if version is None:
                return None
            return version[0], parsed_of(version, tuple(page_of(row) for row in pages))

    def pages(self, doc_id: str, numbers: Sequence[int]) -> list[Page]:
        rows: list[tuple[Any, ...]] = []
        with self._database.errors("read"):
            with self._database.reading() as connection:
                for number in sorted(set(numbers)):
                    rows += connection.execute(_PAGE_WITH_WORDS, (doc_id, number)).fetchall()
            return [page_of(row) for row in rows]

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
        record.recipe,
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


def _adopt(connection: sqlite3.Connection, doc_id: str, version_id: str) -> None:
    """Make a version the document's, and forget its others but a staged one."""
    connection.execute("UPDATE documents SET version_id = ? WHERE doc_id = ?", (version_id, doc_id))
    connection.execute(
        "DELETE FROM versions WHERE doc_id = ? AND version_id != ? "
        "AND version_id NOT IN (SELECT version_id FROM staged)",
        (doc_id, version_id),
    )


def _unstage(connection: sqlite3.Connection, doc_id: str) -> None:
    connection.execute(
        "DELETE FROM versions WHERE version_id IN (SELECT version_id FROM staged WHERE doc_id = ?)",
        (doc_id,),
    )
    connection.execute("DELETE FROM staged WHERE doc_id = ?", (doc_id,))
