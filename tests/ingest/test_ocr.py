"""One picture of a page: its words, their order, their places."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from documents import PdfText, paragraph
from rag_source.domain.errors import SourceError
from rag_source.ingest.ocr import OcrEngine, OcrPage, OcrPolicy
from rag_source.ingest.ocr_fragments import ocr_fragments
from rag_source.ingest.ocr_tesseract import Tesseract, parse_tsv
from rag_source.ingest.page_blocks import page_blocks
from scans import (
    DPI,
    arabic_picture,
    hanging_tesseract,
    needs_arabic,
    needs_tesseract,
    picture_of,
    tesseract_saying,
    tsv_row,
    without_tesseract,
)

pytestmark = pytest.mark.processes

ENGLISH = OcrPolicy(languages=("eng",))
LINES = [
    "Delivery note number 4711 of March",
    "twelve boxes of hexagonal bolts.",
]


def _drawn() -> list[PdfText]:
    return paragraph(LINES, x=40, y=70, size=14, step=26)


def _text(page: OcrPage) -> str:
    blocks = page_blocks(
        ocr_fragments(page), height=page.height, repeated=frozenset(), glyphs=False
    )
    return "\n".join(block.text for block in blocks)


def _covered(image: Image.Image, page: OcrPage) -> tuple[float, float]:
    """The share of the ink that lies in word boxes, and of the boxes' pixels in the picture."""
    ink = np.asarray(image) < 128
    inside = np.zeros_like(ink)
    for word in page.words:
        x0, y0, x1, y1 = (round(v * DPI / 72) for v in word.source)
        inside[max(0, y0 - 1) : y1 + 1, max(0, x0 - 1) : x1 + 1] = True
    return float((ink & inside).sum() / ink.sum()), float(inside.mean())


def _flat(text: str) -> str:
    return " ".join(text.split())


@needs_tesseract
@pytest.mark.parametrize(
    ("turn", "skew"),
    [(0, 3), (0, -5), (90, 0), (180, 2)],
    ids=["skewed", "skewed-back", "turned-right", "upside-down-and-skewed"],
)
def test_turned_or_skewed_page_is_read_and_boxes_hold_its_ink(
    tmp_path: Path, turn: int, skew: float
) -> None:
    image = picture_of(tmp_path, _drawn(), turn=turn, skew=skew)

    page = OcrEngine(ENGLISH).recognise(image, dpi=DPI)

    assert _flat(_text(page)) == " ".join(LINES)
    assert page.turn == turn
    assert page.skew == pytest.approx(skew, abs=0.4)
    assert page.confidence > 80
    share, area = _covered(image, page)
    assert share > 0.97
    assert area < 0.35


@needs_tesseract
def test_small_letters_of_a_low_resolution_picture_are_read(tmp_path: Path) -> None:
    image = picture_of(tmp_path, _drawn(), dpi=80)

    page = OcrEngine(ENGLISH).recognise(image, dpi=80)

    assert _flat(_text(page)) == " ".join(LINES)


@needs_tesseract
def test_white_letters_on_black_are_read(tmp_path: Path) -> None:
    image = picture_of(tmp_path, _drawn()).point(lambda value: 255 - value)

    assert _flat(_text(OcrEngine(ENGLISH).recognise(image, dpi=DPI))) == " ".join(LINES)


@needs_arabic
def test_arabic_lines_are_in_reading_order_with_numbers_left_to_right(tmp_path: Path) -> None:
    text = "يجب تسليم الفاتورة رقم 4578 قبل نهاية الأسبوع"
    image = arabic_picture(tmp_path, text, "المبلغ الإجمالي هو 1250 درهم", dpi=300)

    page = OcrEngine(OcrPolicy(languages=("eng", "ara"))).recognise(image, dpi=300)

    assert _text(page).split("\n")[0] == text
    first = next(word for word in page.words if word.text == "يجب")
    last = next(word for word in page.words if word.text == "الأسبوع")
    assert first.source[0] > last.source[2]


def test_blank_paper_is_not_given_to_tesseract(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tesseract_saying(tmp_path, monkeypatch, tsv_row("ghost", (10, 10, 50, 20)))
    paper = Image.fromarray(np.random.default_rng(1).integers(225, 250, (600, 400), np.uint8))

    assert OcrEngine().recognise(paper, dpi=DPI).words == ()


def test_word_a_little_lower_stays_in_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    boxes = {"one": (40, 100), "two": (150, 101), "three": (250, 106), "four": (380, 99)}
    rows = [
        tsv_row(text, (x, y, 90, 30), line=1 + (text == "three")) for text, (x, y) in boxes.items()
    ]
    tesseract_saying(tmp_path, monkeypatch, *rows)

    page = OcrEngine().recognise(picture_of(tmp_path, _drawn()), dpi=DPI)

    assert _text(page) == "one two three four"


def test_confidence_keeps_its_decimals_and_short_rows_are_left_out() -> None:
    tsv = "\n".join(
        [
            "level\tpage_num\tblock_num",
            tsv_row("sure", (1, 2, 3, 4), confidence=96.913467),
            "5\t1\t1\t1\t1\t2\t9\t9\t9\t9\t0",
            tsv_row(" ", (1, 2, 3, 4)),
            tsv_row("\u200eACME\u200f", (5, 6, 7, 8), confidence=0, line=2),
        ]
    )

    words = parse_tsv(tsv)

    assert [(word.text, word.confidence) for word in words] == [("sure", 96.913467), ("ACME", 0)]


def test_rules_of_a_table_are_no_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [tsv_row("|", (10, 10, 3, 80)), tsv_row("Total", (40, 20, 90, 30))]
    tesseract_saying(tmp_path, monkeypatch, *rows)

    page = OcrEngine().recognise(picture_of(tmp_path, _drawn()), dpi=DPI)

    assert [word.text for word in page.words] == ["Total"]


def test_garbage_from_a_photograph_is_no_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [tsv_row(text, (10, 10, 50, 20), confidence=12.5) for text in ("ae", "~x", "Il")]
    tesseract_saying(tmp_path, monkeypatch, *rows)

    assert OcrEngine().recognise(picture_of(tmp_path, _drawn()), dpi=DPI).words == ()


def test_missing_program_is_unavailable_with_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_tesseract(tmp_path, monkeypatch)

    with pytest.raises(SourceError) as caught:
        OcrEngine(OcrPolicy(languages=("eng", "ara"))).recognise(Image.new("L", (99, 99)), dpi=72)

    assert caught.value.code == "ocr_unavailable"
    assert "apt-get install tesseract-ocr tesseract-ocr-eng tesseract-ocr-ara" in caught.value.hint


def test_missing_language_is_unavailable_with_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tesseract_saying(tmp_path, monkeypatch, languages="eng")

    with pytest.raises(SourceError) as caught:
        OcrEngine().recognise(Image.new("L", (99, 99)), dpi=72)

    assert caught.value.code == "ocr_unavailable"
    assert caught.value.hint.endswith("apt-get install tesseract-ocr tesseract-ocr-fra")


def test_tesseract_works_once_what_it_missed_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tesseract = Tesseract(("eng", "fra"), 5)
    tesseract_saying(tmp_path, monkeypatch, languages="eng")
    assert not tesseract.works()

    program = tmp_path / "bin" / "tesseract"
    program.write_text(program.read_text(encoding="utf-8").replace("eng", "eng\nfra"), "utf-8")
    assert tesseract.works()


def test_hanging_tesseract_is_killed_at_its_timeout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid_file = hanging_tesseract(tmp_path, monkeypatch)
    granted: list[float] = []
    engine = OcrEngine(OcrPolicy(timeout_s=0.5), grant=granted.append)

    with pytest.raises(SourceError) as caught:
        engine.recognise(picture_of(tmp_path, _drawn()), dpi=DPI)

    assert caught.value.code == "timeout"
    assert _is_gone(int(pid_file.read_text(encoding="utf-8")))
    assert granted[0] == 0.5
    assert 0.4 < sum(granted) < 5


@pytest.mark.parametrize(("takes_s", "granted_s"), [(0.75, 0.75), (90.0, 2.0)])
def test_work_on_a_page_does_not_count_within_reason(takes_s: float, granted_s: float) -> None:
    granted: list[float] = []
    clock = [1000.0]
    engine = OcrEngine(grant=granted.append, now=lambda: clock[0])

    with engine.page():
        clock[0] += takes_s

    assert granted == [granted_s]


def test_time_that_tesseract_takes_is_granted_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tesseract_saying(tmp_path, monkeypatch, tsv_row("Words.", (100, 130, 120, 30)))
    granted: list[float] = []
    ticks = iter(range(100))
    engine = OcrEngine(ENGLISH, grant=granted.append, now=lambda: float(next(ticks)))
    picture = picture_of(tmp_path, _drawn())

    with engine.page():
        engine.recognise(picture, dpi=DPI)

    # The clock is read at both ends of the page and of each run: one second between two looks.
    looks = next(ticks)
    assert sum(granted) == looks - 1


def test_picture_beyond_the_limit_is_too_large() -> None:
    engine = OcrEngine(OcrPolicy(limit_pixels=1_000_000))

    with pytest.raises(SourceError) as caught:
        engine.recognise(Image.new("L", (1001, 1000)), dpi=72)

    assert caught.value.code in ("too_large", "ocr_unavailable")


@pytest.mark.parametrize(
    "values",
    [{"languages": ()}, {"languages": ("eng -c x",)}, {"dpi": 20}, {"timeout_s": 0}],
    ids=["no-language", "option-as-language", "low-dpi", "no-timeout"],
)
def test_policy_out_of_bounds_is_refused(values: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        OcrPolicy(**values)  # type: ignore[arg-type]  # wrong on purpose


def _is_gone(pid: int) -> bool:
    for _ in range(50):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    return False


def test_sizes_are_those_of_the_letters_whatever_letters_a_line_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def row(text: str, height: int, line: int) -> str:
        return tsv_row(text, (40, 60 * line, 20 * len(text), height), line=line)

    # The ink of "seaman" is lower than that of "Digital" at one font size.
    rows = [row("Digital", 29, 1), row("seaman", 16, 2), row("gypsum", 23, 3), row("HUGE", 70, 4)]
    tesseract_saying(tmp_path, monkeypatch, *rows)

    page = OcrEngine().recognise(picture_of(tmp_path, _drawn()), dpi=DPI)

    sizes = _sizes(page, ("Digital", "seaman", "gypsum", "HUGE"))
    assert len(set(sizes[:3])) == 1
    assert sizes[3] > 1.5 * sizes[0]


def _sizes(page: OcrPage, texts: Sequence[str]) -> list[float]:
    sizes = {fragment.text: fragment.size for fragment in ocr_fragments(page)}
    return [sizes[text] for text in texts]
