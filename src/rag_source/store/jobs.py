"""The queue of ingestion in the catalogue's file: what is still to do survives any end."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rag_source.domain.documents import SourceFile
from rag_source.domain.jobs import Job
from rag_source.store.database import Database

__all__ = ["SqliteJobTable"]

_COLUMNS = (
    "path, ticket, doc_id, fingerprint, size_bytes, mtime_ns, state, priority, position, done, "
    "total, queued_at"
)
_SELECT = f"SELECT {_COLUMNS} FROM jobs"  # noqa: S608 -- fixed column names
_ORDER = " ORDER BY priority DESC, position, path"
_PUT = (
    f"INSERT OR REPLACE INTO jobs ({_COLUMNS}) "  # noqa: S608 -- fixed column names
    f"VALUES ({', '.join('?' * len(_COLUMNS.split(', ')))})"
)
_PAUSED = "ingestion_paused"


class SqliteJobTable:
    """A `JobTable` in an open database, which outlives it."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def jobs(self) -> list[Job]:
        return [_job(row) for row in self._database.rows(_SELECT + _ORDER)]

    def job(self, path: str) -> Job | None:
        rows = self._database.rows(_SELECT + " WHERE path = ?", path)
        return _job(rows[0]) if rows else None

    def next(self, *, after: str = "") -> Job | None:
        where = " WHERE state NOT IN ('paused', 'cancelled') AND path != ?"
        rows = self._database.rows(_SELECT + where + _ORDER + " LIMIT 1", after)
        return _job(rows[0]) if rows else None

    def waiting(self) -> int:
        sql = "SELECT count(*) FROM jobs WHERE state NOT IN ('paused', 'cancelled')"
        return int(self._database.rows(sql)[0][0])

    def wants(self, fingerprint: str) -> bool:
        sql = "SELECT 1 FROM jobs WHERE fingerprint = ? AND state != 'cancelled' LIMIT 1"
        return bool(self._database.rows(sql, fingerprint))

    def put(self, jobs: Iterable[Job]) -> None:
        self._database.write("queue work in", _PUT, [_row(job) for job in jobs])

    def drop(self, paths: Iterable[str]) -> None:
        rows = [(path,) for path in paths]
        self._database.write("update", "DELETE FROM jobs WHERE path = ?", rows)

    @property
    def paused(self) -> bool:
        return bool(self._database.rows("SELECT 1 FROM meta WHERE key = ?", _PAUSED))

    @paused.setter
    def paused(self, value: bool) -> None:
        if value:
            sql = "INSERT OR REPLACE INTO meta VALUES (?, '1')"
        else:
            sql = "DELETE FROM meta WHERE key = ?"
        self._database.write("update", sql, [(_PAUSED,)])


def _row(job: Job) -> tuple[Any, ...]:
    source = job.source
    return (
        *(source.path, job.ticket, job.doc_id, source.fingerprint),
        *(source.size_bytes, source.mtime_ns, job.state, job.priority, job.position),
        *(job.done, job.total, job.queued_at),
    )


def _job(row: tuple[Any, ...]) -> Job:
    path, ticket, doc_id, fingerprint, size_bytes, mtime_ns, *rest = row
    state, priority, position, done, total, queued_at = rest
    return Job(
        source=SourceFile(
            path=path, fingerprint=fingerprint, size_bytes=size_bytes, mtime_ns=mtime_ns
        ),
        ticket=ticket,
        doc_id=doc_id,
        state=state,
        priority=priority,
        position=position,
        done=done,
        total=total,
        queued_at=queued_at,
    )
