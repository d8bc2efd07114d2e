"""The catalogue's schema, as the steps that lead to it. A released step is never edited."""

from __future__ import annotations

__all__ = ["APPLICATION_ID", "MIGRATIONS"]

APPLICATION_ID = 0x52414753
"""`RAGS`: marks the file as ours (SQLite, `PRAGMA application_id`)."""

_DOCUMENTS = (
    "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID",
    """CREATE TABLE documents (
        doc_id TEXT PRIMARY KEY,
        path TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        size_bytes INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL,
        status TEXT NOT NULL,
        code TEXT NOT NULL,
        message TEXT NOT NULL,
        warnings TEXT NOT NULL,
        format TEXT NOT NULL,
        loader TEXT NOT NULL,
        loader_version INTEGER NOT NULL,
        title TEXT NOT NULL,
        language TEXT NOT NULL,
        pages INTEGER NOT NULL,
        blocks INTEGER NOT NULL,
        tables INTEGER NOT NULL,
        chunks INTEGER NOT NULL,
        indexed_at TEXT NOT NULL
    ) STRICT""",
    "CREATE INDEX documents_by_path ON documents (path)",
    """CREATE TABLE parses (
        doc_id TEXT PRIMARY KEY REFERENCES documents (doc_id) ON DELETE CASCADE,
        codec INTEGER NOT NULL,
        text BLOB NOT NULL,
        blocks BLOB NOT NULL,
        title TEXT NOT NULL,
        language TEXT NOT NULL,
        loader TEXT NOT NULL,
        loader_version INTEGER NOT NULL,
        warnings TEXT NOT NULL
    ) STRICT""",
    """CREATE TABLE pages (
        doc_id TEXT NOT NULL REFERENCES parses (doc_id) ON DELETE CASCADE,
        number INTEGER NOT NULL,
        width_pt REAL NOT NULL,
        height_pt REAL NOT NULL,
        rotation INTEGER NOT NULL,
        start INTEGER NOT NULL,
        end INTEGER NOT NULL,
        words BLOB NOT NULL,
        PRIMARY KEY (doc_id, number)
    ) STRICT""",
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (_DOCUMENTS,)
"""One tuple of statements for each version; `PRAGMA user_version` counts those applied."""
