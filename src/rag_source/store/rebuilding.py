"""How far a collection that is made anew has come: a row for each document that it holds."""

from __future__ import annotations

from collections.abc import Sequence

from rag_source.domain.catalogue import RebuiltDocument
from rag_source.store.database import Database

__all__ = ["SqliteRebuildTable"]

_COLUMNS = "doc_id, version_id, recipe, path, chunks, problem"


class SqliteRebuildTable:
    """A `RebuildTable` of one collection in an open database, which outlives it."""

    def __init__(self, database: Database, *, collection: str) -> None:
        self._database = database
        self._collection = collection

    def documents(self) -> dict[str, RebuiltDocument]:
        sql = f"SELECT {_COLUMNS} FROM rebuilt WHERE collection = ?"  # noqa: S608 -- fixed names
        names = _COLUMNS.split(", ")
        rows = self._database.rows(sql, self._collection)
        return {row[0]: RebuiltDocument(**dict(zip(names, row, strict=True))) for row in rows}

    def keep(self, one: RebuiltDocument) -> None:
        sql = (
            f"INSERT OR REPLACE INTO rebuilt (collection, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)"  # noqa: S608 -- fixed names
        )
        row = (one.doc_id, one.version_id, one.recipe, one.path, one.chunks, one.problem)
        self._database.write("note a document in", sql, [(self._collection, *row)])

    def forget(self, doc_ids: Sequence[str]) -> None:
        sql = "DELETE FROM rebuilt WHERE collection = ? AND doc_id = ?"
        self._database.write("update", sql, [(self._collection, doc_id) for doc_id in doc_ids])
