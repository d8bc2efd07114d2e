"""Pages as pictures: what comes out for which file, and what is refused."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from documents import PdfPage, PdfText, make_pdf, paragraph
from rag_source.ingest.parsing import ParseFailure
from rag_source.ingest.pictures import (
    PICTURE_SUFFIXES,
    Picture,
    PictureRequest,
    picture_of,
    picture_outcome,
)
from rag_source.ingest.registry import LoaderRegistry

LIMIT = 1 << 30


def drawn(path: Path, *, number: int = 1, width_px: int = 600) -> Picture:
    outcome = picture_outcome(PictureRequest(path=path, number=number, width_px=width_px), LIMIT)
    assert isinstance(outcome, Picture), outcome
    return outcome


def refused(path: Path, *, number: int = 1, limit_bytes: int = LIMIT) -> ParseFailure:
    request = PictureRequest(path=path, number=number, width_px=600)
    outcome = picture_outcome(request, limit_bytes)
    assert isinstance(outcome, ParseFailure)
    assert outcome.message
    assert outcome.hint
    return outcome


def test_drawn_page_is_a_grey_png_and_a_photograph_a_webp(tmp_path: Path) -> None:
    page = make_pdf(tmp_path / "a.pdf", [paragraph(["Words of the page."] * 30)])
    noise = np.random.default_rng(1).integers(0, 255, (600, 600, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "a.jpg")
    picture, photograph = drawn(page), drawn(tmp_path / "a.jpg")
    assert picture.media_type == "image/png"
    assert Image.open(io.BytesIO(picture.data)).mode == "L"
    assert photograph.media_type == "image/webp"


def test_colours_of_a_page_are_kept(tmp_path: Path) -> None:
    red = PdfText(text="Red words.", x=72, y=99, size=40, color=(1, 0, 0))
    picture = drawn(make_pdf(tmp_path / "a.pdf", [PdfPage(lines=[red])]))
    values = np.asarray(Image.open(io.BytesIO(picture.data)).convert("RGB"))
    assert ((values[:, :, 0] > 200) & (values[:, :, 1] < 60)).any()


def test_page_is_as_wide_as_asked(tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "a.pdf", [paragraph(["Words."])])
    for width_px in (100, 777, 4000):
        image = Image.open(io.BytesIO(drawn(path, width_px=width_px).data))
        assert abs(image.width - width_px) <= 1


def test_file_locked_with_a_password_is_told_and_one_for_printing_only_is_drawn(
    tmp_path: Path,
) -> None:
    pages = [paragraph(["Words."])]
    locked = make_pdf(tmp_path / "a.pdf", pages, user_password="secret", owner_password="other")
    printing = make_pdf(tmp_path / "b.pdf", pages, owner_password="other")
    assert refused(locked).code == "encrypted"
    assert drawn(printing).media_type == "image/png"


@pytest.mark.parametrize("name", ["a.pdf", "a.png", "a.tif", "a.jpg"])
def test_damaged_file_is_refused(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"%PDF-1.4\x89PNG\xff\xd8\xff no more")
    assert refused(path).code in ("damaged", "parser_error")


def test_page_that_is_not_there_is_refused(tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "a.pdf", [paragraph(["Words."])])
    Image.new("L", (50, 50)).save(tmp_path / "a.png")
    assert refused(path, number=2).code == "damaged"
    assert refused(tmp_path / "a.png", number=2).code == "damaged"


def test_picture_with_far_too_many_pixels_is_refused_unread(tmp_path: Path) -> None:
    Image.new("1", (11_000, 10_000)).save(tmp_path / "a.png")
    assert refused(tmp_path / "a.png").code == "too_large"


def test_file_beyond_the_limit_and_one_that_is_gone_are_refused(tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "a.pdf", [paragraph(["Words."])])
    assert refused(path, limit_bytes=100).code == "too_large"
    assert refused(tmp_path / "gone.pdf").code == "unreadable"


@pytest.mark.parametrize("data", [b"", b"<svg onload=alert(1)>", b"GIF89a", b"RIFF0000WAVE"])
def test_worker_that_sends_something_else_than_a_picture_is_not_believed(data: bytes) -> None:
    with pytest.raises(ValueError, match="something else"):
        picture_of(data)


def test_formats_that_can_be_drawn_are_those_whose_loaders_give_pages() -> None:
    registry = LoaderRegistry()
    paginated = {
        suffix
        for suffix in registry.suffixes
        if (loader := registry.loader_for(f"a{suffix}")) and loader.name in ("pdf", "image")
    }
    assert paginated == PICTURE_SUFFIXES
