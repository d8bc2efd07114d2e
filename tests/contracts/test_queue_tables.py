"""What every `JobTable` and `Spool` promises, on the fakes and on SQLite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fakes import FakeJobTable, FakeSpool
from rag_source.domain.documents import SourceFile
from rag_source.domain.jobs import Job, JobState
from rag_source.domain.ports import JobTable, Spool
from rag_source.store.catalogue import SqliteCatalogue
from rag_source.store.jobs import SqliteJobTable
from rag_source.store.spool import SqliteSpool
from store_inputs import make_parse, make_record


@pytest.fixture
def sqlite(tmp_path: Path) -> Iterator[SqliteCatalogue]:
    with SqliteCatalogue(tmp_path / "catalogue.db") as catalogue:
        yield catalogue


@pytest.fixture(params=["fake", "sqlite"])
def table(request: pytest.FixtureRequest) -> JobTable:
    if request.param == "fake":
        return FakeJobTable()
    sqlite: SqliteCatalogue = request.getfixturevalue("sqlite")
    return SqliteJobTable(sqlite.database)


@pytest.fixture(params=["fake", "sqlite"])
def spool(request: pytest.FixtureRequest) -> Spool:
    if request.param == "fake":
        return FakeSpool()
    sqlite: SqliteCatalogue = request.getfixturevalue("sqlite")
    return SqliteSpool(sqlite.database, model="m")


def _job(path: str, *, state: JobState = "queued", priority: int = 0, position: int = 0) -> Job:
    return Job(
        source=SourceFile(path=path, fingerprint=f"f-{path}", size_bytes=7, mtime_ns=2**61),
        ticket=f"t-{path}",
        doc_id=f"d-{path}",
        state=state,
        priority=priority,
        position=position,
        done=3,
        total=9,
        queued_at="2026-01-02T03:04:05+00:00",
    )


def test_job_comes_back_whole(table: JobTable) -> None:
    table.put([_job("été/عقد 😀.pdf", state="embedding", priority=2, position=5)])
    assert table.jobs() == [_job("été/عقد 😀.pdf", state="embedding", priority=2, position=5)]
    assert table.job("été/عقد 😀.pdf") == table.jobs()[0]
    assert table.job("other") is None


def test_jobs_are_in_the_order_of_work(table: JobTable) -> None:
    table.put([_job("c", position=1), _job("b", position=2), _job("a", position=2)])
    table.put([_job("z", priority=1, position=9)])
    assert [job.path for job in table.jobs()] == ["z", "c", "a", "b"]


def test_next_job_is_the_first_that_may_run(table: JobTable) -> None:
    assert table.next() is None
    table.put([_job("a", state="paused"), _job("b", position=1), _job("c", position=2)])
    table.put([_job("d", state="cancelled")])
    found = [table.next(), table.next(after="b"), table.next(after="c")]
    assert [job.path if job else "" for job in found] == ["b", "c", "b"]
    assert table.waiting() == 2


def test_job_replaces_the_former_of_its_path(table: JobTable) -> None:
    table.put([_job("a")])
    table.put([replace(_job("a"), ticket="new")])
    assert [job.ticket for job in table.jobs()] == ["new"]


def test_content_is_wanted_by_jobs_that_are_not_cancelled(table: JobTable) -> None:
    table.put([_job("a"), _job("b", state="paused"), _job("c", state="cancelled")])
    assert [table.wants(f"f-{path}") for path in "abcd"] == [True, True, False, False]
    table.drop(["a", "unknown"])
    assert not table.wants("f-a")


def test_pause_of_the_queue_is_remembered(table: JobTable) -> None:
    assert not table.paused
    table.paused = True
    table.paused = True
    assert table.paused
    table.paused = False
    assert not table.paused


def test_spooled_vectors_come_back_by_content(spool: Spool) -> None:
    spool.keep_vectors("f", {b"one": [0.25, -1.0], b"two": [1.0, 0.5]})
    spool.keep_vectors("f", {b"two": [0.5, 0.5]})
    spool.keep_vectors("g", {b"one": [0.0, 1.0]})
    assert spool.vectors("f") == {b"one": [0.25, -1.0], b"two": [0.5, 0.5]}
    assert spool.vectors("unknown") == {}
    assert spool.contents() == {"f", "g"}
    spool.clear("f")
    assert spool.vectors("f") == {}
    assert spool.contents() == {"g"}


def test_spooled_parse_comes_back_whole_and_by_its_recipe_alone(spool: Spool) -> None:
    parsed = make_parse(pages=3)
    spool.keep_parse("f", parsed, recipe="pdf:1:eng")
    assert spool.parse("f", recipe="pdf:1:eng") == parsed
    assert spool.parse("f", recipe="pdf:1:fra") is None
    assert spool.contents() == {"f"}
    spool.keep_parse("f", parsed, recipe="pdf:1:fra")
    assert spool.parse("f", recipe="pdf:1:eng") is None
    spool.clear("f")
    assert spool.parse("f", recipe="pdf:1:fra") is None
    assert spool.contents() == set()


def test_vectors_of_another_model_are_not_given_out(sqlite: SqliteCatalogue) -> None:
    SqliteSpool(sqlite.database, model="m").keep_vectors("f", {b"one": [1.0]})
    assert SqliteSpool(sqlite.database, model="n").vectors("f") == {}


def test_spooled_parse_is_no_document(sqlite: SqliteCatalogue) -> None:
    SqliteSpool(sqlite.database, model="m").keep_parse("f", make_parse(), recipe="r")
    assert sqlite.documents() == []
    sqlite.save(make_record("d"), make_parse())
    sqlite.remove(["d"])
    assert SqliteSpool(sqlite.database, model="m").parse("f", recipe="r") is not None
