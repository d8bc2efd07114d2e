"""What unfinished documents have cost already: pages, parses and vectors that wait for the rest.

Kept by content, so that a file that is renamed, paused or cut short by a kill pays nothing twice,
and copies of one content pay once.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np

from rag_source.domain.chunks import Vector
from rag_source.domain.documents import ParsedDocument
from rag_source.store.database import Database
from rag_source.store.spooled_pages import clear_pages, kept_pages
from rag_source.store.versions import VersionRows, page_of, parsed_of

__all__ = ["SqliteSpool", "clear_other_models"]

_SPOOLED = "spool"
_PAGES = (
    "SELECT number, width_pt, height_pt, rotation, start, end, words FROM version_pages "
    "WHERE version_id = ? ORDER BY number"
)


class SqliteSpool:
    """A `Spool` of one embedding model in an open database, which outlives it.

    The vectors of other models are none of its business: beside the queue's work an index may be
    made anew for another model.

    Args:
        database: Where it is kept.
        model: Names the embedding model and all that changes its vectors.
        pages: The folder in which parsers keep pages that OCR has read, if they do.
    """

    def __init__(self, database: Database, *, model: str, pages: Path | None = None) -> None:
        self._database = database
        self._model = model
        self._pages = pages

    def parse(self, fingerprint: str, *, recipe: str) -> ParsedDocument | None:
        name = _name(fingerprint, recipe)
        with self._database.errors("read"):
            with self._database.reading() as connection:
                sql = "SELECT * FROM versions WHERE version_id = ?"
                version = connection.execute(sql, (name,)).fetchone()
                pages = connection.execute(_PAGES, (name,)).fetchall()
            return parsed_of(version, tuple(page_of(row) for row in pages)) if version else None

    def keep_parse(self, fingerprint: str, parsed: ParsedDocument, *, recipe: str) -> None:
        rows = VersionRows.of(_name(fingerprint, recipe), _owner(fingerprint), parsed)
        with self._database.transaction("spool a parse in") as connection:
            connection.execute("DELETE FROM versions WHERE doc_id = ?", (_owner(fingerprint),))
            rows.insert(connection)

    def vectors(self, fingerprint: str) -> dict[bytes, Vector]:
        sql = "SELECT text_hash, vector FROM spooled_vectors WHERE fingerprint = ? AND model = ?"
        rows = self._database.rows(sql, fingerprint, self._model)
        return {key: np.frombuffer(vector, dtype="<f4").tolist() for key, vector in rows}

    def keep_vectors(self, fingerprint: str, vectors: Mapping[bytes, Vector]) -> None:
        rows = [
            (fingerprint, key, self._model, np.asarray(vector, dtype="<f4").tobytes())
            for key, vector in vectors.items()
        ]
        sql = "INSERT OR REPLACE INTO spooled_vectors VALUES (?, ?, ?, ?)"
        self._database.write("spool vectors in", sql, rows)

    def clear_vectors(self, fingerprint: str) -> None:
        sql = "DELETE FROM spooled_vectors WHERE fingerprint = ? AND model = ?"
        self._database.write("update", sql, [(fingerprint, self._model)])

    def contents(self) -> set[str]:
        sql = "SELECT DISTINCT fingerprint FROM spooled_vectors WHERE model = ?"
        rows = self._database.rows(sql, self._model)
        owners = self._database.rows(
            "SELECT doc_id FROM versions WHERE doc_id GLOB ?", f"{_SPOOLED}:*"
        )
        found = {row[0] for row in rows} | {row[0].removeprefix(f"{_SPOOLED}:") for row in owners}
        return found | kept_pages(self._pages) if self._pages is not None else found

    def clear(self, fingerprint: str) -> None:
        with self._database.transaction("update") as connection:
            connection.execute("DELETE FROM versions WHERE doc_id = ?", (_owner(fingerprint),))
            connection.execute(
                "DELETE FROM spooled_vectors WHERE fingerprint = ? AND model = ?",
                (fingerprint, self._model),
            )
        if self._pages is not None:
            clear_pages(self._pages, fingerprint)


def clear_other_models(database: Database, kept: Collection[str]) -> None:
    """Forget the vectors of all models but those: nobody will ask for them again."""
    known = {row[0] for row in database.rows("SELECT DISTINCT model FROM spooled_vectors")}
    rows = [(model,) for model in sorted(known.difference(kept))]
    database.write("update", "DELETE FROM spooled_vectors WHERE model = ?", rows)


def _owner(fingerprint: str) -> str:
    """Stands where a version has its document: no document has such an id."""
    return f"{_SPOOLED}:{fingerprint}"


def _name(fingerprint: str, recipe: str) -> str:
    return f"{_owner(fingerprint)}:{hashlib.sha256(recipe.encode()).hexdigest()[:16]}"
