"""The SQLite file behind the catalogue, the jobs and the spool: connection, schema, errors.

One connection, shared by all threads under a lock; packing and unpacking happen outside it, so a
large document holds up others only for its insertion. Write-ahead log with `synchronous=NORMAL`:
what was saved survives a kill of the process at any moment; a power cut may take the last
transactions back, never the file.
"""

from __future__ import annotations

import sqlite3
import threading
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rag_source.domain.errors import BackendError, ConfigurationError, RagError
from rag_source.store.migrations import APPLICATION_ID, MIGRATIONS
from rag_source.store.room import FULL_DISK_HINT

__all__ = ["Database"]

_BUSY_TIMEOUT_S = 5.0


class Database:
    """An open file with the schema of today.

    Args:
        path: The database file; made if missing, in a folder that exists.

    Raises:
        ConfigurationError: The file is damaged, not a catalogue, from a newer version of the
            program, or cannot be written.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        with self.errors("open"):
            self._connection = sqlite3.connect(
                path, timeout=_BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
            )
        try:
            with self.errors("open"):
                self._prepare()
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        """Fold the log into the file and let go of it. Closing twice is fine."""
        with self._lock:
            self._connection.close()

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        """All rows of one query."""
        with self.errors("read"), self._lock:
            return self._connection.execute(sql, values).fetchall()

    @property
    def changes(self) -> int:
        """Grows with every row that is written: nobody else writes to the file while it is open."""
        return self._connection.total_changes

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The connection, for queries that belong together: no write comes between."""
        with self.errors("read"), self._lock:
            yield self._connection

    @contextmanager
    def transaction(self, doing: str) -> Iterator[sqlite3.Connection]:
        """All of it or nothing. `doing` completes "could not ... the catalogue"."""
        with self.errors(doing), self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                # A full disk may have ended the transaction already.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def write(self, doing: str, sql: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """One statement for each row, in one transaction."""
        with self.transaction(doing) as connection:
            connection.executemany(sql, rows)

    @contextmanager
    def errors(self, doing: str) -> Iterator[None]:
        """Turns SQLite's errors, and stored bytes that make no sense, into ours."""
        try:
            yield
        except RagError:
            raise
        except sqlite3.Error as error:
            raise _translated(error, self._path, doing) from error
        except (zlib.error, ValueError, TypeError) as error:
            raise _damaged(self._path, str(error)) from error

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
        with self.transaction("upgrade") as connection:
            for statement in MIGRATIONS[number]:
                connection.execute(statement)
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
            connection.execute(f"PRAGMA user_version = {number + 1}")


def _translated(error: sqlite3.Error, path: Path, doing: str) -> RagError:
    name = getattr(error, "sqlite_errorname", "") or ""
    message = f"could not {doing} the catalogue {str(path)!r}: {error}"
    if name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB")):
        return _damaged(path, str(error))
    if name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")):
        hint = "make the state directory writable, or choose another"
        return ConfigurationError(message, hint=hint, code="state_unwritable")
    if name.startswith("SQLITE_FULL"):
        return BackendError(message, hint=FULL_DISK_HINT, code="disk_full")
    if name.startswith("SQLITE_IOERR"):
        # SQLite does not pass on why: beside a failing disk, a quota or a limit of file sizes.
        hint = "check the space, the quota, `ulimit -f` and the health of its disk, then try again"
        return BackendError(message, hint=hint, code="disk_error")
    return BackendError(message, hint="try again")


def _damaged(path: Path, reason: str) -> ConfigurationError:
    return ConfigurationError(
        f"the catalogue {str(path)!r} is damaged: {reason}",
        hint="move the state directory away and ingest again; the documents are untouched",
        code="catalogue_damaged",
    )
