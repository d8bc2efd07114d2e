"""The SQLite catalogue's own promises: schema versions, damage, threads, kills, precision."""

from __future__ import annotations

import sqlite3
import struct
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from rag_source.domain.documents import Page, WordBox
from rag_source.domain.errors import BackendError, ConfigurationError
from rag_source.store.catalogue import SqliteCatalogue
from rag_source.store.migrations import APPLICATION_ID, MIGRATIONS
from store_inputs import make_parse, make_record


def test_reopened_catalogue_has_everything(tmp_path: Path) -> None:
    parsed = make_parse()
    with SqliteCatalogue(tmp_path / "c.db") as catalogue:
        catalogue.save(make_record("d"), parsed)
        catalogue.set_meta("cursor", "7")
    with SqliteCatalogue(tmp_path / "c.db") as catalogue:
        assert catalogue.document("d") == make_record("d")
        assert catalogue.pages("d", [2]) == [parsed.pages[1]]
        assert catalogue.meta("cursor") == "7"
        assert catalogue.meta("unknown") is None


def test_boxes_keep_float32_precision_and_ranges_past_two_billion_do_not_wrap(
    tmp_path: Path,
) -> None:
    start = 2**33
    word = WordBox(start=start + 1, end=start + 9, x0=0.1, y0=1 / 3, x1=595.276, y1=841.89)
    page = Page(
        number=1, width_pt=1, height_pt=1, rotation=0, start=start, end=start + 9, words=(word,)
    )
    with SqliteCatalogue(tmp_path / "c.db") as catalogue:
        catalogue.save(make_record("d"), replace(make_parse(), pages=(page,)))
        ((found,),) = (page.words for page in catalogue.pages("d", [1]))
    assert (found.start, found.end) == (word.start, word.end)
    for value, kept in zip(
        (word.x0, word.y0, word.x1, word.y1), (found.x0, found.y0, found.x1, found.y1), strict=True
    ):
        assert kept == struct.unpack("<f", struct.pack("<f", value))[0]


def test_catalogue_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    SqliteCatalogue(tmp_path / "c.db").close()
    connection = sqlite3.connect(tmp_path / "c.db")
    connection.execute(f"PRAGMA user_version = {len(MIGRATIONS) + 1}")
    connection.close()
    with pytest.raises(ConfigurationError, match="knows schemas up to") as caught:
        SqliteCatalogue(tmp_path / "c.db")
    assert caught.value.code == "catalogue_newer"


def test_database_of_another_program_is_refused_untouched(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "c.db")
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    before = (tmp_path / "c.db").read_bytes()
    with pytest.raises(ConfigurationError, match="another program"):
        SqliteCatalogue(tmp_path / "c.db")
    assert (tmp_path / "c.db").read_bytes() == before


def test_file_that_is_no_database_is_refused_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "c.db").write_bytes(b"not a database " * 1000)
    with pytest.raises(ConfigurationError, match="damaged") as caught:
        SqliteCatalogue(tmp_path / "c.db")
    assert "ingest again" in caught.value.hint


def test_damaged_parse_is_reported_not_returned(tmp_path: Path) -> None:
    with SqliteCatalogue(tmp_path / "c.db") as catalogue:
        catalogue.save(make_record("d"), make_parse())
        other = sqlite3.connect(tmp_path / "c.db")
        with other:
            other.execute("UPDATE versions SET blocks = x'00'")
            other.execute("UPDATE version_pages SET words = x'00'")
        other.close()
        with pytest.raises(ConfigurationError, match="damaged"):
            catalogue.parsed("d")
        with pytest.raises(ConfigurationError, match="damaged"):
            catalogue.pages("d", [1])


def test_catalogue_of_the_first_schema_is_upgraded_with_its_parses(tmp_path: Path) -> None:
    record, parsed = make_record("d", path="a.pdf"), make_parse()
    with SqliteCatalogue(tmp_path / "new.db") as new:
        new.save(record, parsed)
        (version,) = new.database.rows("SELECT * FROM versions")
        pages = new.database.rows("SELECT * FROM version_pages")
        (row,) = new.database.rows("SELECT * FROM documents")
        columns = [name for _, name, *_ in new.database.rows("PRAGMA table_info(documents)")]
    old = sqlite3.connect(tmp_path / "old.db", isolation_level=None)
    for statement in MIGRATIONS[0]:
        old.execute(statement)
    old.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    old.execute("PRAGMA user_version = 1")
    first = [name for _, name, *_ in old.execute("PRAGMA table_info(documents)").fetchall()]
    values = dict(zip(columns, row, strict=True))
    marks = ", ".join("?" * len(first))
    old.execute(f"INSERT INTO documents VALUES ({marks})", [values[name] for name in first])
    old.execute("INSERT INTO parses VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", ("d", *version[2:]))
    for page in pages:
        old.execute("INSERT INTO pages VALUES (?, ?, ?, ?, ?, ?, ?, ?)", ("d", *page[1:]))
    old.close()
    with SqliteCatalogue(tmp_path / "old.db") as upgraded:
        assert upgraded.documents() == [record]
        found = upgraded.parsed("d")
        assert found is not None
        assert found.text == parsed.text
        assert upgraded.pages("d", [1]) == [parsed.pages[0]]


def test_missing_folder_is_a_configuration_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="open the catalogue") as caught:
        SqliteCatalogue(tmp_path / "missing" / "c.db")
    assert caught.value.code == "state_unwritable"


def test_full_disk_is_reported_and_the_record_before_stays(tmp_path: Path) -> None:
    with SqliteCatalogue(tmp_path / "c.db") as catalogue:
        catalogue.save(make_record("d"))
        (used,) = catalogue.database._connection.execute("PRAGMA page_count").fetchone()
        catalogue.database._connection.execute(f"PRAGMA max_page_count = {used}")
        incompressible = "".join(chr(0x4E00 + (i * i * 7919) % 20_000) for i in range(50_000))
        big = make_parse(pages=1, words_per_page=1, text=incompressible)
        with pytest.raises(BackendError, match="full") as caught:
            catalogue.save(replace(make_record("d"), title="changed"), big)
        assert caught.value.code == "disk_full"
        assert catalogue.document("d") == make_record("d")
        assert catalogue.parsed("d") is None


def test_threads_save_and_read_at_once(tmp_path: Path) -> None:
    parsed = make_parse(pages=3)
    wrong: list[object] = []

    def work(catalogue: SqliteCatalogue, name: str) -> None:
        for i in range(10):
            catalogue.save(make_record(f"{name}{i}"), parsed)
            pages = catalogue.pages(f"{name}{i}", [1, 2, 3])
            if pages != list(parsed.pages):
                wrong.append(pages)

    with SqliteCatalogue(tmp_path / "c.db") as catalogue:
        threads = [threading.Thread(target=work, args=(catalogue, name)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(catalogue.documents()) == 40
    assert wrong == []
