"""Pictures of pages: one page for each frame, sizes in points, places in the picture."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from documents import paragraph
from rag_source.domain.documents import PagePlace, ParsedDocument
from rag_source.domain.errors import SourceError
from rag_source.ingest.loader_tools import LoaderTools, ParseLimits
from rag_source.ingest.loaders.image import loader
from rag_source.ingest.ocr import OcrEngine, OcrPolicy
from scans import needs_tesseract, picture_of, tesseract_saying, tsv_row, without_tesseract

pytestmark = pytest.mark.processes

LINES = ["Delivery note number 4711 of March", "twelve boxes of hexagonal bolts."]


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tesseract_saying(tmp_path, monkeypatch, tsv_row("Delivery", (100, 130, 150, 30)))


def _scan(tmp_path: Path, **options: Any) -> Image.Image:
    return picture_of(tmp_path, paragraph(LINES, x=40, y=60, size=14, step=26), **options)


def _load(path: Path, *, limits: ParseLimits | None = None, **policy: Any) -> ParsedDocument:
    ocr = OcrEngine(OcrPolicy(**policy))
    return loader.with_tools(LoaderTools(ocr=ocr, limits=limits or ParseLimits())).load(path)


@pytest.mark.usefixtures("said")
@pytest.mark.parametrize("suffix", ["png", "jpg", "tif", "webp", "bmp", "gif"])
def test_each_format_is_read(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"note.{suffix}"
    _scan(tmp_path).save(path)

    parsed = _load(path)

    assert parsed.text == "Delivery"
    assert parsed.blocks[0].place == PagePlace(page=1)
    assert [warning.code for warning in parsed.warnings] == ["ocr_pages"]


@needs_tesseract
def test_photograph_that_its_camera_says_is_turned_is_read_upright(tmp_path: Path) -> None:
    path = tmp_path / "photo.jpg"
    exif = Image.Exif()
    exif[0x0112] = 6
    # Orientation 6: the viewer turns the stored picture 90 degrees clockwise.
    _scan(tmp_path, turn=270).save(path, exif=exif, dpi=(200, 200))

    parsed = _load(path, languages=("eng",))

    (page,) = parsed.pages
    assert " ".join(parsed.text.split()) == " ".join(LINES)
    assert page.width_pt == pytest.approx(340, abs=1)
    assert page.height_pt == pytest.approx(150, abs=1)
    first = page.words[0]
    assert first.x0 == pytest.approx(40, abs=3)
    assert first.y1 == pytest.approx(63, abs=5)


@pytest.mark.usefixtures("said")
def test_every_page_of_a_tiff_is_a_page(tmp_path: Path) -> None:
    path = tmp_path / "fax.tiff"
    scan = _scan(tmp_path)
    scan.save(path, save_all=True, append_images=[scan, Image.new("L", (300, 200), 255)])

    parsed = _load(path)

    assert [page.number for page in parsed.pages] == [1, 2, 3]
    assert [block.place for block in parsed.blocks] == [PagePlace(page=1), PagePlace(page=2)]
    codes = {warning.code: warning.message for warning in parsed.warnings}
    assert codes["pages_without_text"] == "These pages hold no text: 3."


@pytest.mark.usefixtures("said")
@pytest.mark.parametrize(
    ("dpi", "width"), [(None, 842.0), (100, 680.0), (1, 842.0)], ids=["none", "declared", "absurd"]
)
def test_page_has_the_declared_size_or_that_of_a_sheet(
    tmp_path: Path, dpi: int | None, width: float
) -> None:
    path = tmp_path / "note.png"
    options: dict[str, Any] = {"dpi": (dpi, dpi)} if dpi else {}
    _scan(tmp_path).save(path, **options)

    assert _load(path).pages[0].width_pt == pytest.approx(width, abs=1)


def test_picture_without_words_is_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tesseract_saying(tmp_path, monkeypatch)
    path = tmp_path / "cat.png"
    _scan(tmp_path).save(path)

    with pytest.raises(SourceError) as caught:
        _load(path)

    assert caught.value.code == "no_text"


def test_picture_with_ocr_off_is_no_text_and_says_how_to_read_it(tmp_path: Path) -> None:
    path = tmp_path / "note.png"
    _scan(tmp_path).save(path)

    with pytest.raises(SourceError) as caught:
        _load(path, mode="off")

    assert caught.value.code == "no_text"
    assert "RAG_SOURCE_OCR_MODE=auto" in caught.value.hint


def test_picture_without_tesseract_is_unavailable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "note.png"
    _scan(tmp_path).save(path)
    without_tesseract(tmp_path, monkeypatch)

    with pytest.raises(SourceError) as caught:
        _load(path)

    assert caught.value.code == "ocr_unavailable"


@pytest.mark.parametrize("side", [20_000, 60_000], ids=["above-ours", "above-pillows"])
def test_decompression_bomb_is_too_large_before_it_is_unpacked(tmp_path: Path, side: int) -> None:
    def chunk(kind: bytes, body: bytes) -> bytes:
        crc = struct.pack(">I", zlib.crc32(kind + body))
        return struct.pack(">I", len(body)) + kind + body + crc

    header = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    path = tmp_path / "bomb.png"
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(bytes(1_000_000)))
        + chunk(b"IEND", b"")
    )

    with pytest.raises(SourceError) as caught:
        _load(path)

    assert caught.value.code == "too_large"


@pytest.mark.parametrize("kept", [0.0, 0.02, 0.5], ids=["no-picture", "header", "half"])
def test_broken_file_is_damaged(tmp_path: Path, kept: float) -> None:
    path = tmp_path / "note.png"
    _scan(tmp_path).save(path)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * kept)] or b"not a picture")

    with pytest.raises(SourceError) as caught:
        _load(path)

    assert caught.value.code == "damaged"


def test_empty_file_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "note.jpg"
    path.touch()

    with pytest.raises(SourceError) as caught:
        _load(path)

    assert caught.value.code == "empty"


def test_tiff_of_too_many_pages_is_too_large(tmp_path: Path) -> None:
    path = tmp_path / "fax.tif"
    sheet = Image.new("L", (60, 40), 255)
    sheet.save(path, save_all=True, append_images=[sheet] * 3)

    with pytest.raises(SourceError) as caught:
        _load(path, limits=ParseLimits(pages=3))

    assert caught.value.code == "too_large"
