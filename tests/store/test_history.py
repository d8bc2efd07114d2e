"""What the tables of the history must do beyond their contracts."""

from __future__ import annotations

import asyncio
import json
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from contracts.test_conversations import make_kept, make_summary
from fakes_history import FakeAuditLog
from rag_source.domain.audit import AuditEntry
from rag_source.domain.errors import BackendError
from rag_source.store.audit import AuditTrail, SqliteAuditLog
from rag_source.store.conversations import SqliteConversations
from rag_source.store.database import Database


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    database = Database(tmp_path / "catalogue.db")
    yield database
    database.close()


def _entry(name: str) -> AuditEntry:
    return AuditEntry(at="2026", kind="action", name=name, status=200, milliseconds=0.0)


def test_answer_of_a_later_version_with_more_fields_is_still_read(database: Database) -> None:
    store = SqliteConversations(database)
    kept = make_kept("a", "2026-01-02")
    store.start(make_summary())
    store.add("c", kept)
    ((packed,),) = database.rows("SELECT contents FROM answers")
    contents = json.loads(zlib.decompress(packed))
    contents["answer"]["mood"] = "sure"
    contents["answer"]["citations"][0]["colour"] = "green"
    contents["trace"] = []
    database.write(
        "write",
        "UPDATE answers SET contents = ?",
        [(zlib.compress(json.dumps(contents).encode()),)],
    )
    found = store.conversation("c")
    assert found is not None
    assert found.answers == (kept,)


def test_answer_of_an_earlier_version_with_fewer_fields_is_still_read(database: Database) -> None:
    store = SqliteConversations(database)
    store.start(make_summary())
    store.add("c", make_kept("a", "2026-01-02"))
    ((packed,),) = database.rows("SELECT contents FROM answers")
    contents = json.loads(zlib.decompress(packed))
    for name in ("doc_id", "ranges", "table", "occurrences"):
        del contents["answer"]["citations"][0][name]
    del contents["answer"]["calculation"]
    database.write(
        "write",
        "UPDATE answers SET contents = ?",
        [(zlib.compress(json.dumps(contents).encode()),)],
    )
    found = store.conversation("c")
    assert found is not None
    assert found.answers[0].answer.citations[0].ranges == ()


async def test_trail_writes_what_it_took_in_order(database: Database) -> None:
    trail = AuditTrail(SqliteAuditLog(database))
    for i in range(50):
        trail.note(_entry(str(i)))
    entries = await trail.entries(limit=100)
    assert [entry.name for entry in entries] == [str(i) for i in reversed(range(50))]


async def test_trail_writes_what_is_left_when_it_is_closed() -> None:
    log = FakeAuditLog()
    trail = AuditTrail(log)
    trail.note(_entry("last"))
    await trail.aclose()
    assert [entry.name for entry in log.kept] == ["last"]


class _FullLog(FakeAuditLog):
    def record(self, entries: Sequence[AuditEntry]) -> None:
        if entries[0].name == "first":
            raise BackendError("the disk is full", code="disk_full")
        super().record(entries)


async def test_entry_that_cannot_be_written_ends_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    log = _FullLog()
    trail = AuditTrail(log)
    trail.note(_entry("first"))
    await asyncio.sleep(0.05)
    trail.note(_entry("second"))
    await trail.aclose()
    assert [entry.name for entry in log.kept] == ["second"]
    assert "1 entries of the audit log are lost" in caplog.text
