"""What a collection that is made anew rests on, on the fakes and on SQLite."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from fakes import FakeCatalogue, FakeRebuildTable, FakeSpool
from rag_source.domain.catalogue import RebuiltDocument
from rag_source.domain.errors import ConfigurationError
from rag_source.domain.ports import Catalogue, RebuildTable, Spool
from rag_source.store.catalogue import SqliteCatalogue
from rag_source.store.rebuilding import SqliteRebuildTable
from rag_source.store.spool import SqliteSpool, clear_other_models
from store_inputs import make_parse, make_record

ROW = RebuiltDocument(doc_id="d", version_id="v", recipe="r", path="d.pdf", chunks=3)


@pytest.fixture
def sqlite(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteCatalogue]:
    with SqliteCatalogue(tmp_path_factory.mktemp("state") / "catalogue.db") as catalogue:
        yield catalogue


@pytest.fixture(params=["fake", "sqlite"])
def catalogue(request: pytest.FixtureRequest) -> Catalogue:
    if request.param == "fake":
        return FakeCatalogue()
    found: SqliteCatalogue = request.getfixturevalue("sqlite")
    return found


@pytest.fixture(params=["fake", "sqlite"])
def table(request: pytest.FixtureRequest) -> RebuildTable:
    if request.param == "fake":
        return FakeRebuildTable()
    sqlite: SqliteCatalogue = request.getfixturevalue("sqlite")
    return SqliteRebuildTable(sqlite.database, collection="vectors-0")


@pytest.fixture(params=["fake", "sqlite"])
def spool(request: pytest.FixtureRequest) -> Spool:
    if request.param == "fake":
        return FakeSpool()
    sqlite: SqliteCatalogue = request.getfixturevalue("sqlite")
    return SqliteSpool(sqlite.database, model="m")


def test_rebuilt_document_comes_back_and_is_replaced(table: RebuildTable) -> None:
    assert table.documents() == {}
    refused = replace(ROW, doc_id="e", chunks=0, problem="It is too long.")
    table.keep(ROW)
    table.keep(refused)
    assert table.documents() == {"d": ROW, "e": refused}
    table.keep(replace(ROW, version_id="w"))
    assert table.documents()["d"].version_id == "w"


def test_rebuilt_document_is_forgotten(table: RebuildTable) -> None:
    table.keep(ROW)
    table.forget(["d", "unknown"])
    assert table.documents() == {}


def test_each_parse_has_a_name_of_its_own(catalogue: Catalogue) -> None:
    catalogue.save(make_record("d"), make_parse())
    catalogue.save(make_record("e"), make_parse())
    first = catalogue.versions()
    assert set(first) == {"d", "e"}
    assert len(set(first.values())) == 2
    assert catalogue.version("d") == first["d"]
    catalogue.save(make_record("d"), make_parse())
    assert catalogue.version("d") != first["d"]
    assert catalogue.version("e") == first["e"]


def test_name_of_the_parse_changes_with_its_promotion_and_not_with_the_record(
    catalogue: Catalogue,
) -> None:
    catalogue.save(make_record("d"), make_parse())
    name = catalogue.version("d")
    catalogue.save(replace(make_record("d"), title="Autre"))
    catalogue.stage(make_record("d"), make_parse(), contents="c")
    assert catalogue.version("d") == name
    catalogue.promote("d")
    assert catalogue.version("d") not in ("", name)


def test_document_without_a_parse_has_no_name_for_it(catalogue: Catalogue) -> None:
    catalogue.save(make_record("d"))
    assert catalogue.version("d") == catalogue.version("unknown") == ""
    assert catalogue.versions() == {}


def test_vectors_are_cleared_and_the_parse_stays(spool: Spool) -> None:
    spool.keep_parse("f", make_parse(), recipe="r")
    spool.keep_vectors("f", {b"one": [1.0]})
    spool.keep_vectors("g", {b"one": [1.0]})
    spool.clear_vectors("f")
    assert spool.vectors("f") == {}
    assert spool.parse("f", recipe="r") is not None
    assert spool.contents() == {"f", "g"}


def test_spool_of_one_model_neither_sees_nor_clears_that_of_another(
    sqlite: SqliteCatalogue,
) -> None:
    one, other = (SqliteSpool(sqlite.database, model=model) for model in ("m", "n"))
    one.keep_vectors("f", {b"one": [1.0]})
    other.keep_vectors("f", {b"one": [2.0]})
    other.keep_vectors("g", {b"one": [2.0]})
    assert one.contents() == {"f"}
    one.clear("f")
    one.clear("g")
    assert other.vectors("f") == {b"one": [2.0]}
    assert other.contents() == {"f", "g"}
    clear_other_models(sqlite.database, {"m"})
    assert other.contents() == set()


def test_table_of_one_collection_knows_nothing_of_another(sqlite: SqliteCatalogue) -> None:
    one, other = (SqliteRebuildTable(sqlite.database, collection=name) for name in ("a", "b"))
    one.keep(ROW)
    assert other.documents() == {}
    other.forget(["d"])
    assert one.documents() == {"d": ROW}


def test_other_collection_comes_with_its_records_in_one_step(sqlite: SqliteCatalogue) -> None:
    sqlite.save(make_record("d"), make_parse())
    assert sqlite.collection == "vectors"
    SqliteRebuildTable(sqlite.database, collection="vectors-0").keep(ROW)
    SqliteSpool(sqlite.database, model="m").keep_vectors("f", {b"one": [1.0]})
    renewed = replace(make_record("d"), chunks=7, recipe="new")
    sqlite.adopt("vectors-0", [renewed])
    assert sqlite.collection == "vectors-0"
    assert sqlite.documents() == [renewed]
    assert sqlite.parsed("d") is not None
    assert SqliteRebuildTable(sqlite.database, collection="vectors-0").documents() == {}
    assert SqliteSpool(sqlite.database, model="m").contents() == set()


def test_records_that_cannot_be_written_leave_the_collection_as_it_was(
    sqlite: SqliteCatalogue,
) -> None:
    sqlite.save(make_record("d"))
    bad = make_record("e", path="a lone surrogate \udfff.pdf")
    with pytest.raises(ConfigurationError):
        sqlite.adopt("vectors-0", [replace(make_record("d"), chunks=7), bad])
    assert sqlite.collection == "vectors"
    assert sqlite.documents() == [make_record("d")]
