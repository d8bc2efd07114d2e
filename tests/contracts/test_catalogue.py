"""What every `Catalogue` promises, on the fake and on SQLite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from fakes import FakeCatalogue
from rag_source.domain.documents import ParseWarning
from rag_source.domain.ports import Catalogue
from rag_source.store.catalogue import SqliteCatalogue
from store_inputs import make_parse, make_record


@pytest.fixture(scope="module")
def sqlite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteCatalogue]:
    """Opened once: making and closing the file waits for the disk."""
    with SqliteCatalogue(tmp_path_factory.mktemp("state") / "catalogue.db") as catalogue:
        yield catalogue


@pytest.fixture(params=["fake", "sqlite"])
def catalogue(request: pytest.FixtureRequest) -> Catalogue:
    """An empty catalogue of each kind."""
    if request.param == "fake":
        return FakeCatalogue()
    sqlite: SqliteCatalogue = request.getfixturevalue("sqlite")
    sqlite.remove([record.doc_id for record in sqlite.documents()])
    return sqlite


def test_empty_catalogue_knows_nothing(catalogue: Catalogue) -> None:
    assert catalogue.documents() == []
    assert catalogue.document("d") is None
    assert catalogue.parsed("d") is None
    assert catalogue.pages("d", [1]) == []


def test_record_comes_back_whole(catalogue: Catalogue) -> None:
    record = replace(
        make_record("d", path="été/عقد 😀.pdf"),
        warnings=(ParseWarning(code="repaired", message="dit « réparé »"),),
        loader="pdf",
        loader_version=3,
        title="Titre",
        language="ar",
        pages=2,
        blocks=5,
        tables=1,
        chunks=4,
        indexed_at="2026-01-02T03:04:05Z",
    )
    catalogue.save(record)
    assert catalogue.document("d") == record
    assert catalogue.documents() == [record]


def test_documents_are_ordered_by_path(catalogue: Catalogue) -> None:
    for doc_id, path in [("1", "b.txt"), ("2", "a/z.txt"), ("3", "a.txt")]:
        catalogue.save(make_record(doc_id, path=path))
    assert [r.source.path for r in catalogue.documents()] == ["a.txt", "a/z.txt", "b.txt"]


def test_save_replaces_the_record(catalogue: Catalogue) -> None:
    catalogue.save(make_record("d"))
    failed = replace(make_record("d"), status="failed", code="damaged", message="Unreadable.")
    catalogue.save(failed)
    assert catalogue.documents() == [failed]


def test_parse_comes_back_without_words(catalogue: Catalogue) -> None:
    parsed = make_parse()
    catalogue.save(make_record("d"), parsed)
    wordless = tuple(replace(page, words=()) for page in parsed.pages)
    assert catalogue.parsed("d") == replace(parsed, pages=wordless)


def test_pages_come_back_with_words_in_order(catalogue: Catalogue) -> None:
    parsed = make_parse(pages=4)
    catalogue.save(make_record("d"), parsed)
    assert catalogue.pages("d", [3, 1, 3, 99]) == [parsed.pages[0], parsed.pages[2]]
    assert catalogue.pages("d", []) == []


def test_save_without_parse_keeps_the_parse(catalogue: Catalogue) -> None:
    catalogue.save(make_record("d"), make_parse())
    catalogue.save(replace(make_record("d"), title="Autre"))
    assert catalogue.parsed("d") is not None
    assert len(catalogue.pages("d", [1])) == 1


def test_save_with_parse_replaces_the_parse(catalogue: Catalogue) -> None:
    catalogue.save(make_record("d"), make_parse(pages=3))
    shorter = make_parse(pages=1, text="court")
    catalogue.save(make_record("d"), shorter)
    found = catalogue.parsed("d")
    assert found is not None
    assert found.text == shorter.text
    assert catalogue.pages("d", [1, 2, 3]) == list(shorter.pages)


def test_two_documents_may_trade_paths(catalogue: Catalogue) -> None:
    catalogue.save(make_record("1", path="a"), make_parse(text="un"))
    catalogue.save(make_record("2", path="b"), make_parse(text="deux"))
    catalogue.save(make_record("1", path="b"))
    catalogue.save(make_record("2", path="a"))
    assert [r.doc_id for r in catalogue.documents()] == ["2", "1"]
    first, second = catalogue.parsed("1"), catalogue.parsed("2")
    assert first is not None
    assert second is not None
    assert (first.text.split()[0], second.text.split()[0]) == ("un", "deux")


def test_remove_forgets_record_and_parse_and_ignores_unknown_ids(catalogue: Catalogue) -> None:
    catalogue.save(make_record("d"), make_parse())
    catalogue.save(make_record("kept"), make_parse())
    catalogue.remove(["d", "unknown"])
    catalogue.remove([])
    assert [r.doc_id for r in catalogue.documents()] == ["kept"]
    assert catalogue.parsed("d") is None
    assert catalogue.pages("d", [1]) == []
    assert catalogue.parsed("kept") is not None
