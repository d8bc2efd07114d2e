"""Kept situating texts live as long as a document or a job has their bytes, and no longer."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from rag_source.domain.catalogue import DocumentRecord
from rag_source.domain.documents import SourceFile
from rag_source.domain.jobs import Job
from rag_source.store.catalogue import SqliteCatalogue
from rag_source.store.jobs import SqliteJobTable
from rag_source.store.situating import SqliteSituatingCache
from store_inputs import make_parse, make_record


@dataclass
class Kept:
    """One file with its three tables."""

    catalogue: SqliteCatalogue
    jobs: SqliteJobTable
    cache: SqliteSituatingCache

    def begin(self, doc_id: str, fingerprint: str) -> None:
        """A job that has come as far as its first answer."""
        self.jobs.put([_job(doc_id, fingerprint)])
        self.cache.save_situating(doc_id, fingerprint, f"key {doc_id}", "A sentence.")

    def finish(self, doc_id: str, fingerprint: str) -> None:
        self.catalogue.save(_record(doc_id, fingerprint), make_parse())
        self.jobs.drop([f"{doc_id}.pdf"])

    def index(self, doc_id: str, fingerprint: str) -> None:
        self.begin(doc_id, fingerprint)
        self.finish(doc_id, fingerprint)

    def known(self, *fingerprints: str) -> list[str]:
        return [name for name in fingerprints if self.cache.situating(name)]


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Kept]:
    with SqliteCatalogue(tmp_path / "catalogue.db") as catalogue:
        database = catalogue.database
        yield Kept(catalogue, SqliteJobTable(database), SqliteSituatingCache(database))


def _job(doc_id: str, fingerprint: str) -> Job:
    source = SourceFile(
        path=f"{doc_id}.pdf", fingerprint=fingerprint, size_bytes=12, mtime_ns=2**61
    )
    return Job(source=source, ticket=fingerprint, doc_id=doc_id, state="situating")


def _record(doc_id: str, fingerprint: str) -> DocumentRecord:
    record = make_record(doc_id)
    source = replace(record.source, fingerprint=fingerprint)
    return replace(record, source=source, status="ready", chunks=1)


def test_answers_survive_a_restart(tmp_path: Path) -> None:
    with SqliteCatalogue(tmp_path / "catalogue.db") as catalogue:
        SqliteSituatingCache(catalogue.database).save_situating("d", "f", "k", "A sentence.")

    with SqliteCatalogue(tmp_path / "catalogue.db") as catalogue:
        assert SqliteSituatingCache(catalogue.database).situating("f") == {"k": "A sentence."}


def test_answers_stay_with_a_document_that_is_ready(kept: Kept) -> None:
    kept.index("d", "f")

    assert kept.known("f") == ["f"]


def test_removed_document_takes_its_answers_along(kept: Kept) -> None:
    kept.index("d", "f-d")
    kept.index("other", "f-other")

    kept.catalogue.remove(["d"])

    assert kept.known("f-d", "f-other") == ["f-other"]


def test_answers_stay_until_the_last_copy_is_removed(kept: Kept) -> None:
    kept.index("paid", "f")
    kept.catalogue.save(_record("copy", "f"))

    kept.catalogue.remove(["paid"])
    assert kept.known("f") == ["f"]
    kept.catalogue.remove(["copy"])
    assert kept.known("f") == []


def test_new_version_that_is_ready_replaces_the_answers_of_all_before_it(kept: Kept) -> None:
    kept.index("d", "f1")
    kept.begin("d", "f2")
    kept.begin("d", "f3")

    kept.finish("d", "f3")

    assert kept.known("f1", "f2", "f3") == ["f3"]


def test_failed_update_keeps_the_answers_of_the_version_that_answers(kept: Kept) -> None:
    kept.index("d", "f1")
    kept.begin("d", "f2")

    # As ingestion records it: the old fingerprint, which is that of the chunks.
    failed = replace(_record("d", "f1"), code="damaged", message="Cannot be read.")
    kept.catalogue.save(failed)
    kept.jobs.drop(["d.pdf"])

    assert kept.known("f1", "f2") == ["f1"]


def test_answers_of_work_under_way_stay_when_others_come_and_go(kept: Kept) -> None:
    kept.index("d", "f1")
    kept.index("gone", "g")
    kept.begin("d", "f2")
    kept.begin("first", "n")

    kept.catalogue.remove(["gone"])
    kept.index("new", "m")
    kept.catalogue.save(replace(_record("d", "f1"), title="touched"))

    assert kept.known("f1", "f2", "n") == ["f1", "f2", "n"]


def test_file_that_goes_before_it_was_ever_ready_leaves_nothing(kept: Kept) -> None:
    kept.begin("d", "f1")
    kept.begin("d", "f2")

    kept.jobs.drop(["d.pdf"])

    assert kept.known("f1", "f2") == []


def test_document_removed_while_a_copy_is_under_way_leaves_the_answers(kept: Kept) -> None:
    kept.index("d", "f")
    kept.begin("copy", "f")

    kept.catalogue.remove(["d"])

    assert kept.known("f") == ["f"]
