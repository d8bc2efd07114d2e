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
    sqlite.remove(sorted(sqlite.staged()))
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
        recipe="0a1b2c3d.4e5f6071",
    )
    catalogue.save(record)
    assert catalogue.document("d") == record
    assert catalogue.documents() == [record]


def test_documents_are_ordered_by_path(catalogue: Catalogue) -> None:
    for doc_id, path in [("1", "b.txt"), ("2", "a/z.txt"), ("3", "a.txt")]:
        catalogue.save(make_record(doc_id, path=path))
    assert [r.source.path for r in catalogue.documents()] == ["a.txt", "a/z.txt", "b.txt"]


def test_state_of_a_file_is_that_of_its_record(catalogue: Catalogue) -> None:
    warned = replace(
        make_record("a"),
        warnings=(
            ParseWarning(code="repaired", message="It's «repaired» [1]."),
            ParseWarning(code="ocr_poor", message=""),
        ),
        pages=2,
        chunks=4,
        recipe="0a1b",
    )
    failed = replace(make_record("b"), status="failed", code="damaged", message="Unreadable.")
    for record in (warned, failed):
        catalogue.save(record)
    states = {state.doc_id: state for state in catalogue.file_states()}
    assert states["a"].warning_codes == "repaired ocr_poor"
    assert states["b"].warning_codes == ""
    for record in (warned, failed):
        source = record.source
        assert states[record.doc_id][:-1] == (
            *(record.doc_id, source.path, source.size_bytes, source.mtime_ns, record.status),
            *(record.code, record.loader, record.loader_version, record.recipe, record.pages),
            record.chunks,
        )


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


def test_confidence_of_recognised_words_comes_back(catalogue: Catalogue) -> None:
    parsed = make_parse(pages=2)
    read, typed = parsed.pages
    unsure = tuple(
        replace(word, confidence=confidence)
        for word, confidence in zip(read.words, (0.0, 12.5, 61.0, 96.5, 100.0), strict=True)
    )
    recognised = replace(read, words=unsure)
    catalogue.save(make_record("d"), replace(parsed, pages=(recognised, typed)))
    assert catalogue.pages("d", [1, 2]) == [recognised, typed]


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


def test_staged_version_is_unseen_until_it_is_promoted(catalogue: Catalogue) -> None:
    catalogue.save(make_record("d"), make_parse(text="old"))
    new = replace(make_record("d"), title="new")
    catalogue.stage(new, make_parse(text="new text"), contents="c1")
    assert catalogue.staged() == {"d": "c1"}
    assert catalogue.document("d") == make_record("d")
    before = catalogue.parsed("d")
    assert before is not None
    assert before.text.startswith("old")
    catalogue.promote("d")
    assert catalogue.staged() == {}
    assert catalogue.document("d") == new
    after = catalogue.parsed("d")
    assert after is not None
    assert after.text.startswith("new text")


def test_staged_version_of_an_unknown_document_becomes_its_first(catalogue: Catalogue) -> None:
    catalogue.stage(make_record("n"), make_parse(), contents="c")
    assert catalogue.documents() == []
    assert catalogue.parsed("n") is None
    catalogue.promote("n")
    assert catalogue.documents() == [make_record("n")]
    assert catalogue.parsed("n") is not None


def test_staging_again_replaces_what_was_staged(catalogue: Catalogue) -> None:
    catalogue.stage(make_record("n"), make_parse(text="one"), contents="c1")
    catalogue.stage(make_record("n"), make_parse(text="two"), contents="c2")
    assert catalogue.staged() == {"n": "c2"}
    catalogue.promote("n")
    parsed = catalogue.parsed("n")
    assert parsed is not None
    assert parsed.text.startswith("two")


def test_unstaged_version_is_forgotten_and_the_old_one_stays(catalogue: Catalogue) -> None:
    catalogue.save(make_record("d"), make_parse(text="old"))
    catalogue.stage(make_record("d"), make_parse(text="new"), contents="c")
    catalogue.unstage("d")
    catalogue.unstage("unknown")
    assert catalogue.staged() == {}
    parsed = catalogue.parsed("d")
    assert parsed is not None
    assert parsed.text.startswith("old")
    with pytest.raises(LookupError):
        catalogue.promote("d")


def test_removed_document_has_nothing_staged_either(catalogue: Catalogue) -> None:
    catalogue.save(make_record("d"), make_parse())
    catalogue.stage(make_record("d"), make_parse(), contents="c")
    catalogue.remove(["d"])
    assert catalogue.staged() == {}


def test_saving_a_record_keeps_what_is_staged(catalogue: Catalogue) -> None:
    catalogue.save(make_record("d"), make_parse(text="old"))
    catalogue.stage(make_record("d"), make_parse(text="new"), contents="c")
    catalogue.save(make_record("d"), make_parse(text="other"))
    catalogue.promote("d")
    parsed = catalogue.parsed("d")
    assert parsed is not None
    assert parsed.text.startswith("new")
