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

# A document's next version waits beside the one that answers: parses have ids of their own, and the
# record says which is the document's.
_VERSIONS = (
    "ALTER TABLE documents ADD COLUMN version_id TEXT NOT NULL DEFAULT ''",
    "UPDATE documents SET version_id = doc_id",
    """CREATE TABLE versions (
        version_id TEXT PRIMARY KEY,
        doc_id TEXT NOT NULL,
        codec INTEGER NOT NULL,
        text BLOB NOT NULL,
        blocks BLOB NOT NULL,
        title TEXT NOT NULL,
        language TEXT NOT NULL,
        loader TEXT NOT NULL,
        loader_version INTEGER NOT NULL,
        warnings TEXT NOT NULL
    ) STRICT""",
    "CREATE INDEX versions_by_document ON versions (doc_id)",
    """CREATE TABLE version_pages (
        version_id TEXT NOT NULL REFERENCES versions (version_id) ON DELETE CASCADE,
        number INTEGER NOT NULL,
        width_pt REAL NOT NULL,
        height_pt REAL NOT NULL,
        rotation INTEGER NOT NULL,
        start INTEGER NOT NULL,
        end INTEGER NOT NULL,
        words BLOB NOT NULL,
        PRIMARY KEY (version_id, number)
    ) STRICT""",
    """INSERT INTO versions SELECT doc_id, doc_id, codec, text, blocks, title, language, loader,
        loader_version, warnings FROM parses""",
    """INSERT INTO version_pages SELECT doc_id, number, width_pt, height_pt, rotation, start, end,
        words FROM pages""",
    "DROP TABLE pages",
    "DROP TABLE parses",
    "DELETE FROM documents WHERE status = 'indexing'",
    """CREATE TABLE staged (
        doc_id TEXT PRIMARY KEY,
        version_id TEXT NOT NULL,
        contents TEXT NOT NULL,
        record TEXT NOT NULL
    ) STRICT, WITHOUT ROWID""",
)

# What a pass that was cut short goes on from; a spooled parse is a version of no document.
_QUEUE = (
    """CREATE TABLE jobs (
        path TEXT PRIMARY KEY,
        ticket TEXT NOT NULL,
        doc_id TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        size_bytes INTEGER NOT NULL,
        mtime_ns INTEGER NOT NULL,
        state TEXT NOT NULL,
        priority INTEGER NOT NULL,
        position INTEGER NOT NULL,
        done INTEGER NOT NULL,
        total INTEGER NOT NULL,
        queued_at TEXT NOT NULL
    ) STRICT""",
    "CREATE INDEX jobs_by_turn ON jobs (priority DESC, position, path)",
    "CREATE INDEX jobs_by_fingerprint ON jobs (fingerprint)",
    """CREATE TABLE spooled_vectors (
        fingerprint TEXT NOT NULL,
        text_hash BLOB NOT NULL,
        model TEXT NOT NULL,
        vector BLOB NOT NULL,
        PRIMARY KEY (fingerprint, model, text_hash)
    ) STRICT, WITHOUT ROWID""",
)

# What the answer model wrote to situate chunks. An answer goes with the last document or job of
# the bytes it is about: looked at whenever a document is removed, or a job has come to its end.
_NOBODYS = """(doc_id = old.doc_id OR fingerprint = old.fingerprint)
    AND NOT EXISTS (SELECT 1 FROM documents d WHERE d.fingerprint = situating.fingerprint)
    AND NOT EXISTS (SELECT 1 FROM jobs j WHERE j.fingerprint = situating.fingerprint)"""
_SITUATING = (
    """CREATE TABLE situating (
        fingerprint TEXT NOT NULL,
        key TEXT NOT NULL,
        doc_id TEXT NOT NULL,
        answer TEXT NOT NULL,
        PRIMARY KEY (fingerprint, key)
    ) STRICT, WITHOUT ROWID""",
    "CREATE INDEX situating_by_document ON situating (doc_id)",
    "CREATE INDEX documents_by_fingerprint ON documents (fingerprint)",
    f"""CREATE TRIGGER situating_of_documents AFTER DELETE ON documents BEGIN
        DELETE FROM situating WHERE {_NOBODYS};
    END""",  # noqa: S608 -- the condition above
    f"""CREATE TRIGGER situating_of_jobs AFTER DELETE ON jobs BEGIN
        DELETE FROM situating WHERE {_NOBODYS};
    END""",  # noqa: S608 -- the condition above
)

# What made a document; those from before are made anew, since nobody knows by which settings.
_RECIPES = (
    "ALTER TABLE documents ADD COLUMN recipe TEXT NOT NULL DEFAULT ''",
    "UPDATE staged SET record = json_insert(record, '$.recipe', '')",
)

# A collection that is made anew for another embedding model, document by document.
_REBUILT = (
    """CREATE TABLE rebuilt (
        collection TEXT NOT NULL,
        doc_id TEXT NOT NULL,
        version_id TEXT NOT NULL,
        recipe TEXT NOT NULL,
        path TEXT NOT NULL,
        chunks INTEGER NOT NULL,
        problem TEXT NOT NULL,
        PRIMARY KEY (collection, doc_id)
    ) STRICT, WITHOUT ROWID""",
)

# Questions with their answers, and what was done, which holds no text of anybody's.
_HISTORY = (
    """CREATE TABLE conversations (
        conversation_id TEXT PRIMARY KEY,
        title TEXT NOT NULL,
        created_at TEXT NOT NULL,
        updated_at TEXT NOT NULL
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE answers (
        answer_id TEXT PRIMARY KEY,
        conversation_id TEXT NOT NULL REFERENCES conversations (conversation_id) ON DELETE CASCADE,
        position INTEGER NOT NULL,
        asked_at TEXT NOT NULL,
        question TEXT NOT NULL,
        text TEXT NOT NULL,
        contents BLOB NOT NULL,
        verdict TEXT NOT NULL DEFAULT '',
        comment TEXT NOT NULL DEFAULT '',
        UNIQUE (conversation_id, position)
    ) STRICT""",
    """CREATE TABLE audit (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        at TEXT NOT NULL,
        kind TEXT NOT NULL,
        name TEXT NOT NULL,
        status INTEGER NOT NULL,
        milliseconds REAL NOT NULL,
        request_id TEXT NOT NULL,
        subject TEXT NOT NULL
    ) STRICT""",
)

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    _DOCUMENTS,
    _VERSIONS,
    _QUEUE,
    _SITUATING,
    _RECIPES,
    _REBUILT,
    _HISTORY,
)
"""One tuple of statements for each version; `PRAGMA user_version` counts those applied."""
