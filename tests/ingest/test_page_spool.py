"""Pages that OCR has read, kept on disk: what was kept comes back, and nothing else does."""

from __future__ import annotations

import hashlib
import json
import os
import threading
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from rag_source.ingest.ocr import OcrPage, OcrWord
from rag_source.ingest.page_spool import SpooledPages

DATA = b"the bytes of a scan"
PAGE = OcrPage(
    words=(
        OcrWord(
            text='Total "due":\\',
            box=(1 / 3, 2.0, 30.25, 12.1),
            source=(0.1 + 0.2, 2.0, 30.25, 12.1),
            confidence=96.123456,
            line=0,
        ),
        OcrWord(text="٤٥ درهم 😀", box=(0, 20, 9, 30), source=(0, 0, 1, 1), confidence=0.0, line=7),
    ),
    turn=270,
    skew=-1.25,
    width=595.276,
    height=841.89,
    confidence=81.5,
)
BLANK = OcrPage(words=(), turn=0, skew=0.0, width=595.0, height=842.0, confidence=0.0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state" / "pages"


def _file(folder: Path) -> Path:
    (found,) = folder.glob("*/*")
    return found


def _kept(folder: Path) -> Path:
    """The file of a page that has been kept as number 3 by the recipe `r`."""
    SpooledPages(folder, DATA).keep(3, "r", PAGE)
    return _file(folder)


def _sealed(text: str) -> bytes:
    """A file as it would be if a page were that text."""
    body = zlib.compress(text.encode())
    return b"rag-source page 1\n" + hashlib.sha256(body).digest() + body


def _fields() -> dict[str, Any]:
    word = ["text", 0, 90.0, 1, 2, 3, 4, 1, 2, 3, 4]
    return {"turn": 0, "skew": 0.0, "size": [100.0, 200.0], "confidence": 90.0, "words": [word]}


@pytest.mark.parametrize("page", [PAGE, BLANK], ids=["words", "blank"])
def test_page_that_was_kept_comes_back_equal(folder: Path, page: OcrPage) -> None:
    SpooledPages(folder, DATA).keep(3, "r", page)

    assert SpooledPages(folder, DATA).get(3, "r") == page


def test_other_page_recipe_or_bytes_are_not_there(folder: Path) -> None:
    _kept(folder)

    assert SpooledPages(folder, DATA).get(4, "r") is None
    assert SpooledPages(folder, DATA).get(3, "s") is None
    assert SpooledPages(folder, DATA + b".").get(3, "r") is None


def test_pages_of_a_content_are_in_a_folder_named_by_its_fingerprint(folder: Path) -> None:
    path = _kept(folder)

    assert path.parent == folder / hashlib.sha256(DATA).hexdigest()


def test_pages_are_for_their_owner_alone(folder: Path) -> None:
    path = _kept(folder)

    assert path.stat().st_mode & 0o077 == 0
    assert path.parent.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:30],
        lambda data: data[:-1],
        lambda data: data + b"\0",
        lambda data: data[:-9] + bytes([data[-9] ^ 1]) + data[-8:],
        lambda data: b"rag-source page 2\n" + data[18:],
        lambda data: bytes(len(data)),
        lambda data: data + bytes(9 * 1024**2),
    ],
    ids=["empty", "head", "short", "longer", "flipped", "other-format", "zeros", "huge"],
)
def test_damaged_file_is_as_if_it_were_not_there_and_is_replaced(
    folder: Path, damage: Callable[[bytes], bytes]
) -> None:
    path = _kept(folder)
    path.write_bytes(damage(path.read_bytes()))
    pages = SpooledPages(folder, DATA)

    assert pages.get(3, "r") is None
    pages.keep(3, "r", PAGE)
    assert pages.get(3, "r") == PAGE


def test_well_made_file_is_read(folder: Path) -> None:
    _kept(folder).write_bytes(_sealed(json.dumps(_fields())))

    page = SpooledPages(folder, DATA).get(3, "r")

    assert page is not None
    assert page.words[0].source == (1, 2, 3, 4)


@pytest.mark.parametrize(
    "changes",
    [
        {"turn": 45},
        {"turn": True},
        {"turn": [0]},
        {"skew": "0"},
        {"skew": None},
        {"size": [100.0]},
        {"size": [100.0, -1.0]},
        {"confidence": float("nan")},
        {"confidence": 100.5},
        {"words": 7},
        {"words": [["text", 0, 90.0, 1, 2, 3, 4]]},
        {"words": [["text", 0, 90.0, 1, 2, 3, 4, 1, 2, 3, float("inf")]]},
        {"words": [["", 0, 90.0, 1, 2, 3, 4, 1, 2, 3, 4]]},
        {"words": [[None, 0, 90.0, 1, 2, 3, 4, 1, 2, 3, 4]]},
        {"words": [["text", -1, 90.0, 1, 2, 3, 4, 1, 2, 3, 4]]},
        {"words": [["text", 0.5, 90.0, 1, 2, 3, 4, 1, 2, 3, 4]]},
        {"words": [{"text": 1}]},
        {"words": ["text"] * 200_001},
    ],
    ids=lambda changes: json.dumps(changes)[:40],
)
def test_values_that_no_page_has_are_refused(folder: Path, changes: dict[str, Any]) -> None:
    _kept(folder).write_bytes(_sealed(json.dumps(_fields() | changes)))

    assert SpooledPages(folder, DATA).get(3, "r") is None


@pytest.mark.parametrize(
    "text",
    ["", "no JSON", "[]", "{}", "null", "[" * 100_000, " " * 65 * 1024**2],
    ids=["empty", "words", "list", "bare", "null", "deep", "bomb"],
)
def test_text_that_is_no_page_is_refused(folder: Path, text: str) -> None:
    _kept(folder).write_bytes(_sealed(text))

    assert SpooledPages(folder, DATA).get(3, "r") is None


def test_file_that_is_no_file_is_not_waited_for(folder: Path) -> None:
    path = _kept(folder)
    path.unlink()
    os.mkfifo(path)

    assert SpooledPages(folder, DATA).get(3, "r") is None


def test_page_is_there_whole_or_not_at_all(folder: Path) -> None:
    pages = SpooledPages(folder, DATA)
    other = replace(PAGE, words=PAGE.words * 500)
    pages.keep(3, "r", PAGE)

    def write() -> None:
        for _ in range(20):
            pages.keep(3, "r", other)
            pages.keep(3, "r", PAGE)

    writer = threading.Thread(target=write)
    writer.start()
    seen = [pages.get(3, "r")]
    while writer.is_alive():
        seen.append(pages.get(3, "r"))
    writer.join()

    assert all(page in (PAGE, other) for page in seen)


def test_write_that_fails_leaves_the_former_page_and_nothing_else(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = _kept(folder)

    def fail(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    SpooledPages(folder, DATA).keep(3, "r", BLANK)

    assert list(path.parent.iterdir()) == [path]
    assert SpooledPages(folder, DATA).get(3, "r") == PAGE


def test_folder_that_takes_nothing_does_not_stop_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"in the way")
    pages = SpooledPages(tmp_path / "file", DATA)

    pages.keep(3, "r", PAGE)

    assert pages.get(3, "r") is None
