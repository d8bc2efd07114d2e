"""The audit log in the catalogue's file, and the way of entries into it beside the requests."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import astuple, fields

from rag_source.domain.audit import LIMIT_ENTRIES, AuditEntry, AuditLog
from rag_source.domain.errors import RagError
from rag_source.store.database import Database

__all__ = ["AuditTrail", "SqliteAuditLog"]

logger = logging.getLogger(__name__)

_NAMES = [field.name for field in fields(AuditEntry)]
_COLUMNS = ", ".join(_NAMES)
_INSERT = f"INSERT INTO audit ({_COLUMNS}) VALUES ({', '.join('?' * len(_NAMES))})"  # noqa: S608 -- fixed column names
_PRUNE = "DELETE FROM audit WHERE number <= (SELECT max(number) FROM audit) - ?"
_LAST = f"SELECT {_COLUMNS} FROM audit ORDER BY number DESC LIMIT ?"  # noqa: S608 -- fixed column names
_LIMIT_WAITING = 1000


class SqliteAuditLog:
    """An `AuditLog` in an open database, which outlives it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def record(self, entries: Sequence[AuditEntry]) -> None:
        with self._database.transaction("write to") as connection:
            connection.executemany(_INSERT, [astuple(entry) for entry in entries])
            connection.execute(_PRUNE, (LIMIT_ENTRIES,))

    def entries(self, *, limit: int) -> list[AuditEntry]:
        rows = self._database.rows(_LAST, limit)
        return [AuditEntry(**dict(zip(_NAMES, row, strict=True))) for row in rows]


class AuditTrail:
    """Takes entries without a wait and writes them a moment later, several at a time.

    What cannot be written, on a full disk for example, is lost with a warning: it must not end the
    work that it tells of. `aclose` writes what is left.
    """

    def __init__(self, log: AuditLog) -> None:
        self._log = log
        self._waiting: list[AuditEntry] = []
        self._writing: asyncio.Task[None] | None = None

    def note(self, entry: AuditEntry) -> None:
        """Take an entry; to be called in the event loop."""
        if len(self._waiting) < _LIMIT_WAITING:
            self._waiting.append(entry)
        if self._writing is None:
            self._writing = asyncio.create_task(self._write())

    async def entries(self, *, limit: int) -> list[AuditEntry]:
        """The last ones, the newest first, those that were just taken included."""
        await self._settled()
        return await asyncio.to_thread(self._log.entries, limit=limit)

    async def aclose(self) -> None:
        """Write what is left."""
        await self._settled()

    async def _settled(self) -> None:
        while self._writing is not None:
            await asyncio.shield(self._writing)

    async def _write(self) -> None:
        try:
            while self._waiting:
                entries, self._waiting = self._waiting, []
                try:
                    await asyncio.to_thread(self._log.record, entries)
                except RagError as error:
                    logger.warning("%d entries of the audit log are lost: %s", len(entries), error)
        finally:
            self._writing = None
