"""What is measured on a picture before it is read, and the way back from a turned view."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from documents import paragraph
from rag_source.ingest.ocr_image import (
    densest_area,
    grey,
    has_ink,
    skew_degrees,
    text_height_px,
)
from rag_source.ingest.ocr_view import Turn, View
from scans import picture_of

LINES = ["Twelve boxes of hexagonal bolts", "were received in good order", "by the warehouse."]


@pytest.mark.parametrize("skew", [-8.0, -1.5, 0.0, 0.6, 5.0])
def test_skew_is_measured_to_a_third_of_a_degree(tmp_path: Path, skew: float) -> None:
    image = picture_of(tmp_path, paragraph(LINES, x=40, y=50, size=14, step=26), skew=skew)

    assert skew_degrees(image) == pytest.approx(skew, abs=0.34)


@pytest.mark.parametrize("turn", [0, 90, 180, 270])
@pytest.mark.parametrize("skew", [0.0, 4.0, -7.0])
@pytest.mark.parametrize("scale", [1.0, 1.7])
def test_box_of_a_view_holds_the_mark_it_was_seen_at(turn: Turn, skew: float, scale: float) -> None:
    picture = Image.new("L", (400, 260), 255)
    picture.paste(0, (90, 60, 130, 80))
    view = View.of(picture.size, turn=turn, skew=skew, scale=scale)

    seen = view.picture(picture)

    ys, xs = np.nonzero(np.asarray(seen) < 128)
    box = view.original_box((float(xs.min()), float(ys.min()), xs.max() + 1.0, ys.max() + 1.0))
    assert seen.size == view.size
    # The hull of a turned hull grows with the sine of the angle, no more.
    grown = 2 * 40 * math.sin(math.radians(abs(skew))) + 1.5
    for found, wanted in zip(box, (90, 60, 130, 80), strict=True):
        assert abs(found - wanted) <= grown


def test_height_of_letters_is_the_same_for_turned_text(tmp_path: Path) -> None:
    lines = paragraph(LINES, x=40, y=50, size=14, step=26)

    upright = text_height_px(picture_of(tmp_path, lines))
    turned = text_height_px(picture_of(tmp_path, lines, turn=90))

    assert upright == turned
    assert 10 < upright < 25


def test_transparent_paper_becomes_white() -> None:
    picture = Image.new("RGBA", (50, 50), (0, 0, 0, 0))
    picture.paste((0, 0, 0, 255), (10, 10, 20, 20))

    assert grey(picture).getpixel((0, 0)) == 255
    assert grey(picture).getpixel((15, 15)) == 0


def test_sixteen_bit_grey_keeps_its_contrast() -> None:
    values = np.full((40, 40), 60_000, np.uint16)
    values[10:20, 10:20] = 2_000

    shown = np.asarray(grey(Image.fromarray(values)))

    assert shown[0, 0] > 240
    assert shown[15, 15] < 15


@pytest.mark.parametrize(
    ("side", "expected"), [(0, False), (2, False), (12, True)], ids=["blank", "speck", "word"]
)
def test_paper_with_dust_has_no_ink(side: int, expected: bool) -> None:
    paper = np.random.default_rng(2).integers(220, 240, (1600, 1100), np.uint8)
    paper[500 : 500 + side, 500 : 500 + 3 * side] = 20

    assert has_ink(Image.fromarray(paper)) is expected


def test_densest_area_is_where_the_text_is(tmp_path: Path) -> None:
    words = picture_of(tmp_path, paragraph(LINES, x=10, y=30, size=14, step=26))
    sheet = Image.new("L", (3000, 4000), 255)
    sheet.paste(words, (1800, 3000))

    left, top, right, bottom = densest_area(sheet, 1000)

    assert (right - left, bottom - top) == (1000, 1000)
    assert left < 1900
    assert top < 3060 < bottom
