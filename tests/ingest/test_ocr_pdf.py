"""PDF pages without a usable text layer are read by OCR, each page for itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pymupdf
import pytest
from PIL import Image

from documents import PdfPage, PdfText, make_pdf, paragraph
from rag_source.domain.documents import PagePlace, ParsedDocument
from rag_source.domain.errors import SourceError
from rag_source.domain.geometry import displayed_box
from rag_source.ingest.loader_tools import LoaderTools, ParseLimits
from rag_source.ingest.ocr import OcrEngine, OcrPolicy
from rag_source.ingest.registry import LoaderRegistry
from scans import (
    hanging_tesseract,
    needs_tesseract,
    picture_of,
    scanned_pdf,
    tesseract_saying,
    tsv_row,
    without_tesseract,
)

pytestmark = pytest.mark.processes

_mupdf: Any = pymupdf  # It ships no type information.
LINES = ["Delivery note number 4711 of March", "twelve boxes of hexagonal bolts."]
ENGLISH = {"languages": ("eng",)}


def _load(path: Path, **policy: Any) -> ParsedDocument:
    tools = LoaderTools(ocr=OcrEngine(OcrPolicy(**policy)))
    loader = LoaderRegistry(tools=tools).loader_for(path)
    assert loader is not None
    return loader.load(path)


def _warnings(parsed: ParsedDocument) -> dict[str, str]:
    return {warning.code: warning.message for warning in parsed.warnings}


def _flat(text: str) -> str:
    return " ".join(text.split())


def _scan(tmp_path: Path, **options: Any) -> Image.Image:
    return picture_of(tmp_path, paragraph(LINES, x=40, y=60, size=14, step=26), **options)


def _said(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    words: Sequence[str] = ("Delivery", "note", "received"),
    confidence: float = 95.5,
) -> None:
    rows = [
        tsv_row(word, (100 + 130 * i, 130, 120, 30), confidence=confidence)
        for i, word in enumerate(words)
    ]
    tesseract_saying(tmp_path, monkeypatch, *rows)


@needs_tesseract
@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
def test_displayed_box_of_a_scanned_word_holds_its_ink(tmp_path: Path, rotation: int) -> None:
    # The scanner stored the sheet turned and the file turns it back for the reader.
    path = scanned_pdf(tmp_path / "scan.pdf", [_scan(tmp_path, turn=-rotation)])
    with _mupdf.open(path) as document:
        document[0].set_rotation(rotation)
        document.saveIncr()

    parsed = _load(path, **ENGLISH)

    (page,) = parsed.pages
    word = next(w for w in page.words if parsed.text[w.start : w.end] == "hexagonal")
    box = displayed_box(page, word)
    with _mupdf.open(path) as document:
        pixmap = document[0].get_pixmap(dpi=100, colorspace=pymupdf.csGRAY)
    shown = np.frombuffer(pixmap.samples, np.uint8).reshape(pixmap.height, pixmap.width) < 128
    inside = shown[
        int(box.y0 * pixmap.height) : int(box.y1 * pixmap.height) + 1,
        int(box.x0 * pixmap.width) : int(box.x1 * pixmap.width) + 1,
    ]
    assert _flat(parsed.text) == " ".join(LINES)
    assert page.rotation == rotation
    assert 0.15 < inside.mean() < 0.6
    assert 0.15 < box.x1 - box.x0 < 0.4


@needs_tesseract
def test_mixed_file_keeps_its_text_page_and_gains_its_scanned_one(tmp_path: Path) -> None:
    typed = paragraph(["This page has a text layer."])
    path = scanned_pdf(tmp_path / "mixed.pdf", [typed, _scan(tmp_path)])

    parsed = _load(path, **ENGLISH)

    assert _flat(parsed.text) == " ".join(["This page has a text layer.", *LINES])
    assert [block.place for block in parsed.blocks] == [PagePlace(page=1), PagePlace(page=2)]
    assert _warnings(parsed) == {"ocr_pages": "These pages were read by OCR: 2."}
    assert all(word.confidence == 100 for word in parsed.pages[0].words)
    assert all(word.confidence < 100 for word in parsed.pages[1].words)


def test_broken_text_layer_is_replaced_by_what_the_page_shows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _said(tmp_path, monkeypatch, words=["invoice of the supplier:", "pay B12 or B15"])

    parsed = _load(_with_nul(tmp_path / "file.pdf"))

    assert parsed.text == "invoice of the supplier: pay B12 or B15"
    assert set(_warnings(parsed)) == {"ocr_pages"}


def test_broken_text_layer_is_kept_where_ocr_is_not_surer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _said(tmp_path, monkeypatch, confidence=70)

    parsed = _load(_with_nul(tmp_path / "file.pdf"))

    assert parsed.text == "invoice of the supplier: pay \ufffd12 or \ufffd15"
    assert {"text_layer_damaged", "ocr_low_confidence"} == set(_warnings(parsed))


def test_scan_with_a_stamp_in_its_text_layer_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _said(tmp_path, monkeypatch)
    path = scanned_pdf(tmp_path / "scan.pdf", [_scan(tmp_path)])
    with _mupdf.open(path) as document:
        document[0].insert_text((10, 140), "Scanned 3")
        document.saveIncr()

    assert _load(path).text == "Delivery note received"


def test_page_of_text_with_a_small_picture_is_not_recognised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _said(tmp_path, monkeypatch)
    page = PdfPage(lines=paragraph(["Words"]), image=True)

    parsed = _load(make_pdf(tmp_path / "file.pdf", [page]))

    assert (parsed.text, parsed.warnings) == ("Words", ())


def test_force_reads_a_page_that_has_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _said(tmp_path, monkeypatch)

    parsed = _load(make_pdf(tmp_path / "file.pdf", [paragraph(["Words"])]), mode="force")

    assert parsed.text == "Delivery note received"


def test_unsure_page_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _said(tmp_path, monkeypatch, confidence=62)

    parsed = _load(scanned_pdf(tmp_path / "scan.pdf", [_scan(tmp_path)]))

    assert "1" in _warnings(parsed)["ocr_low_confidence"]


def test_scan_with_ocr_off_is_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _said(tmp_path, monkeypatch)

    with pytest.raises(SourceError) as caught:
        _load(scanned_pdf(tmp_path / "scan.pdf", [_scan(tmp_path)]), mode="off")

    assert caught.value.code == "no_text"
    assert "RAG_SOURCE_OCR_MODE" in caught.value.hint


def test_mixed_file_with_ocr_off_names_its_bare_page(tmp_path: Path) -> None:
    path = scanned_pdf(tmp_path / "mixed.pdf", [paragraph(["Typed."]), _scan(tmp_path)])

    parsed = _load(path, mode="off")

    assert _flat(parsed.text) == "Typed."
    assert _warnings(parsed) == {"pages_without_text": "These pages hold no text: 2."}


def test_scan_with_a_stamp_and_ocr_off_is_named(tmp_path: Path) -> None:
    path = scanned_pdf(tmp_path / "mixed.pdf", [paragraph(["Typed."]), _scan(tmp_path)])
    with _mupdf.open(path) as document:
        document[1].insert_text((20, 20), "Copy 1 of 2")
        document.saveIncr()

    parsed = _load(path, mode="off")

    assert list(_warnings(parsed)) == ["ocr_off"]
    assert "only a label was read: 2." in _warnings(parsed)["ocr_off"]


def test_scan_in_which_nothing_is_found_is_no_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tesseract_saying(tmp_path, monkeypatch)

    with pytest.raises(SourceError) as caught:
        _load(scanned_pdf(tmp_path / "scan.pdf", [_scan(tmp_path)]))

    assert caught.value.code == "no_text"


def test_scan_without_tesseract_is_unavailable_with_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = scanned_pdf(tmp_path / "scan.pdf", [_scan(tmp_path)])
    without_tesseract(tmp_path, monkeypatch)

    with pytest.raises(SourceError) as caught:
        _load(path)

    assert caught.value.code == "ocr_unavailable"
    assert "apt-get install tesseract-ocr" in caught.value.hint


def test_mixed_file_without_tesseract_keeps_its_text_and_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scan = _scan(tmp_path)
    path = scanned_pdf(tmp_path / "mixed.pdf", [paragraph(["Typed."]), scan, scan])
    without_tesseract(tmp_path, monkeypatch)

    parsed = _load(path)

    assert _flat(parsed.text) == "Typed."
    message = _warnings(parsed)["ocr_unavailable"]
    assert "2-3" in message
    assert "apt-get install tesseract-ocr tesseract-ocr-eng tesseract-ocr-fra" in message


def test_scan_that_takes_too_long_is_a_timeout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = scanned_pdf(tmp_path / "scan.pdf", [_scan(tmp_path)])
    hanging_tesseract(tmp_path, monkeypatch)

    with pytest.raises(SourceError) as caught:
        _load(path, timeout_s=0.3)

    assert caught.value.code == "timeout"


def test_huge_sheet_is_rendered_within_the_limit_of_pixels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _said(tmp_path, monkeypatch)
    scan = _scan(tmp_path, dpi=40)

    parsed = _load(
        scanned_pdf(tmp_path / "scan.pdf", [scan], dpi=4), limit_pixels=1_000_000, dpi=600
    )

    assert parsed.text == "Delivery note received"


def test_file_with_too_many_pages_is_too_large(tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "file.pdf", [paragraph(["Words"])] * 4)
    loader = LoaderRegistry(tools=LoaderTools(limits=ParseLimits(pages=3))).loader_for(path)
    assert loader is not None

    with pytest.raises(SourceError) as caught:
        loader.load(path)

    assert caught.value.code == "too_large"


def _with_nul(path: Path) -> Path:
    """A page whose font says that a currency sign is NUL."""
    text = "invoice of the supplier: pay \u20bf12 or \u20bf15"
    make_pdf(path, [[PdfText(text=text, x=72, y=99, font="arabic")]])
    with _mupdf.open(path) as document:
        for xref in range(1, document.xref_length()):
            if document.xref_is_stream(xref) and b"beginbfchar" in document.xref_stream(xref):
                stream = (
                    document.xref_stream(xref).replace(b"20bf", b"0000").replace(b"20BF", b"0000")
                )
                document.update_stream(xref, stream)
        document.saveIncr()
    return path
