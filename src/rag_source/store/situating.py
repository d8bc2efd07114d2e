"""Situating texts by the answer model, kept so that none is paid for twice.

Only writing and reading: triggers of the schema forget what no document stands for any more, in
the transaction that removes or replaces the document.
"""

from __future__ import annotations

from rag_source.store.database import Database

__all__ = ["SqliteSituatingCache"]


class SqliteSituatingCache:
    """A `SituatingCache` in the catalogue's file, which it does not own."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def situating(self, fingerprint: str) -> dict[str, str]:
        return dict(
            self._database.rows(
                "SELECT key, answer FROM situating WHERE fingerprint = ?", fingerprint
            )
        )

    def save_situating(self, doc_id: str, fingerprint: str, key: str, answer: str) -> None:
        self._database.write(
            "save a situating text in",
            "INSERT OR REPLACE INTO situating VALUES (?, ?, ?, ?)",
            [(fingerprint, key, doc_id, answer)],
        )
