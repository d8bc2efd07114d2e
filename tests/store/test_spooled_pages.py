"""Kept pages are counted and cleared with the rest of the spool, and nothing else is touched."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from rag_source.domain.ports import Spool
from rag_source.ingest.changes import fingerprint
from rag_source.ingest.ocr import OcrPage
from rag_source.ingest.page_spool import SpooledPages
from rag_source.store.catalogue import SqliteCatalogue
from rag_source.store.spool import SqliteSpool
from rag_source.store.spooled_pages import clear_pages, kept_pages

PAGE = OcrPage(words=(), turn=0, skew=0.0, width=595.0, height=842.0, confidence=0.0)
ONE, OTHER = "1" * 64, "a" * 64


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "pages"


@pytest.fixture
def spool(folder: Path) -> Iterator[Spool]:
    with SqliteCatalogue(folder.parent / "catalogue.db") as catalogue:
        yield SqliteSpool(catalogue.database, model="m", pages=folder)


def _put(folder: Path, name: str) -> Path:
    path = folder / name / "1.page"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"page")
    return path


def test_what_a_parser_keeps_is_found_by_the_fingerprint_of_the_file(
    tmp_path: Path, folder: Path, spool: Spool
) -> None:
    scan = tmp_path / "scan.pdf"
    scan.write_bytes(b"the bytes of a scan")
    pages = SpooledPages(folder, scan.read_bytes())
    pages.keep(1, "r", PAGE)
    pages.keep(2, "r", PAGE)

    assert spool.contents() == {fingerprint(scan)}
    spool.clear(fingerprint(scan))

    assert spool.contents() == set()
    assert pages.get(1, "r") is pages.get(2, "r") is None
    pages.keep(1, "r", PAGE)
    assert pages.get(1, "r") == PAGE


def test_pages_and_vectors_of_one_content_are_one_content(folder: Path, spool: Spool) -> None:
    _put(folder, ONE)
    spool.keep_vectors(ONE, {b"text": [1.0]})
    spool.keep_vectors(OTHER, {b"text": [1.0]})

    assert spool.contents() == {ONE, OTHER}
    spool.clear(ONE)
    assert spool.contents() == {OTHER}


def test_other_contents_and_other_names_are_left_alone(folder: Path) -> None:
    _put(folder, ONE)
    left = [_put(folder, name) for name in (OTHER, "notes", ONE[:-1], ONE.upper() + "x")]

    assert kept_pages(folder) == {ONE, OTHER}
    for name in (ONE, "notes", "", ".", "..", "../pages", ONE[:-1], ONE + "\n"):
        clear_pages(folder, name)

    assert kept_pages(folder) == {OTHER}
    assert all(path.exists() for path in left)


def test_link_out_of_the_folder_is_not_followed(tmp_path: Path, folder: Path) -> None:
    outside = _put(tmp_path, "outside")
    folder.mkdir()
    (folder / ONE).symlink_to(outside.parent)

    clear_pages(folder, ONE)

    assert outside.exists()


def test_folder_that_does_not_exist_holds_nothing(folder: Path) -> None:
    assert kept_pages(folder) == set()
    clear_pages(folder, ONE)
    assert not folder.exists()
