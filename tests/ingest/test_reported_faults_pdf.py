"""Reported faults of PDF reading, on the whole way from the file to the marked words.

What the loader alone answers for is in `loaders/test_pdf.py`; the table in docs/testing.md says
which test stands for which report.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from documents import (
    PdfPage,
    PdfText,
    columns,
    make_pdf,
    paragraph,
    remap_unicode,
    rtl_text,
    shaped,
)
from rag_source.domain.documents import ParsedDocument
from rag_source.ingest.chunker import ChunkingPolicy
from reading import Cited, bm25, chunks_in, cite, dark_points, inside, read

RETURNED = "Three times it has returned."
ARABIC = "السلام عليكم 25 مئوية محمد21"


def _covers_its_ink_alone(path: Path, cited: Cited, *, dpi: int = 72, on_page: int = 1) -> None:
    """Assert that one box holds all the ink of the page, and little else."""
    (box,) = cited.place.boxes
    ink = dark_points(path, on_page, dpi=dpi)
    assert box.page == on_page
    assert len(ink) > 20
    assert inside(ink, box) == len(ink)
    assert (box.x1 - box.x0) * (box.y1 - box.y0) < 0.1


# B01


@pytest.mark.parametrize("right_first", [False, True], ids=["left-first", "right-first"])
def test_quote_over_two_lines_of_a_column_is_verified(tmp_path: Path, right_first: bool) -> None:
    left = ["The left column starts here", "and goes on to a second", "line where it ends."]
    right = ["The right column begins with", "another thought and needs", "three lines as well."]
    lines = columns(left, right, right_first=right_first)

    parsed = read(make_pdf(tmp_path / "a.pdf", [lines]))

    cited = cite(parsed, "and goes on to a second line where it ends.")
    assert parsed.text.split() == " ".join([*left, *right]).split()
    assert len(cited.place.boxes) == 2
    assert all(box.x1 < 0.5 for box in cited.place.boxes)


# B02


@pytest.mark.parametrize("word", ["scientific", "efficient"])
def test_word_with_a_ligature_is_found_quoted_and_boxed(tmp_path: Path, word: str) -> None:
    printed = {"scientific": "scienti\ufb01c", "efficient": "e\ufb03cient"}[word]
    text = "The scienti\ufb01c and e\ufb03cient work."
    path = make_pdf(tmp_path / "a.pdf", [[PdfText(text=text, x=72, y=99, font="arabic")]])
    alone = PdfText(text=printed, x=72, y=99, font="arabic")

    parsed = read(path)
    cited = cite(parsed, word)

    (box,) = cited.place.boxes
    assert bm25(word, parsed.text) > 0
    assert (cited.quote.score, cited.words) == (97, printed)
    assert inside(dark_points(path, 1, dpi=200), box) > 100
    assert (box.x1 - box.x0) * 595 == pytest.approx(_width_of(tmp_path, alone), abs=1)


def _width_of(tmp_path: Path, text: PdfText) -> float:
    word = read(make_pdf(tmp_path / "alone.pdf", [[text]])).pages[0].words[0]
    return word.x1 - word.x0


# B03


def test_no_character_without_a_meaning_reaches_a_chunk(tmp_path: Path) -> None:
    text = "The result of the o\ufb03ce was classi\ufb01ed as bro\ufb01en."
    path = make_pdf(tmp_path / "a.pdf", [[PdfText(text=text, x=72, y=99, font="arabic")]])
    remap_unicode(path, b"<fb01>", b"<0000>")

    parsed = read(path)

    texts = [parsed.text, parsed.title, *(chunk.embedded_text for chunk in chunks_in(parsed))]
    assert "text_layer_damaged" in {warning.code for warning in parsed.warnings}
    assert not any(ord(char) < 32 and char != "\n" for one in texts for char in one)
    assert bm25("office", texts[0]) > 0


# B04


@pytest.mark.parametrize("hyphen", ["-", "\u2010", "\u00ad"], ids=["ascii", "u2010", "soft"])
def test_word_cut_at_a_line_end_is_found_and_has_two_rectangles(
    tmp_path: Path, hyphen: str
) -> None:
    lines = [f"Everyone in the firm follows the environ{hyphen}", "mental policy of the firm."]
    texts = [PdfText(text=t, x=72, y=100 + 16 * i, font="arabic") for i, t in enumerate(lines)]

    parsed = read(make_pdf(tmp_path / "a.pdf", [texts]))
    cited = cite(parsed, "the environmental policy")

    upper, lower = cited.place.boxes
    assert bm25("environmental", parsed.text) > 0
    assert cited.quote.score == 97
    assert upper.y1 <= lower.y0 + 0.005
    assert upper.x0 > lower.x0


def test_hyphen_that_belongs_to_its_word_is_kept_at_a_line_end(tmp_path: Path) -> None:
    lines = ["Everyone in the firm follows a rule that is well-", "known to all of them."]

    parsed = read(make_pdf(tmp_path / "a.pdf", [paragraph(lines)]))
    cited = cite(parsed, "a rule that is well-known to all")

    assert bm25("well-known", parsed.text) > 0
    assert bm25("known", parsed.text) > 0
    assert (cited.quote.score, len(cited.place.boxes)) == (97, 2)


# B05 and B06


@pytest.mark.parametrize("crop", [None, (100, 100, 471, 620)], ids=["media", "inset"])
def test_box_of_a_quote_holds_its_ink_on_pages_turned_all_ways(
    tmp_path: Path, crop: tuple[float, float, float, float] | None
) -> None:
    pages = [
        PdfPage(
            lines=[PdfText(text=f"KNOWN{rotation}", x=150, y=300, size=18)],
            size=(571, 720),
            origin=(36, 45),
            rotation=rotation,
            crop=crop,
        )
        for rotation in (0, 90, 180, 270)
    ]
    path = make_pdf(tmp_path / "a.pdf", pages)

    parsed = read(path)

    for number, rotation in enumerate((0, 90, 180, 270), start=1):
        _covers_its_ink_alone(path, cite(parsed, f"KNOWN{rotation}"), on_page=number)


# B07


@pytest.mark.parametrize("zoom", [0.5, 1, 2])
def test_box_on_a_page_of_another_size_is_right_at_every_zoom(tmp_path: Path, zoom: float) -> None:
    pages = [
        PdfPage(lines=[PdfText(text="Portrait", x=72, y=72)]),
        PdfPage(lines=[PdfText(text="Landscape", x=700, y=600, size=24)], size=(1191, 842)),
    ]
    path = make_pdf(tmp_path / "a.pdf", pages)

    cited = cite(read(path), "Landscape")

    assert cited.place.page == 2
    _covers_its_ink_alone(path, cited, dpi=int(72 * zoom), on_page=2)


# B08


def test_quote_over_a_page_break_is_verified_and_marked_on_both_pages(tmp_path: Path) -> None:
    first = [
        "Either of them may end the agreement, which then",
        "runs to the last day of the month in",
    ]
    second = ["which the other was told. After that day nothing", "is owed by anyone to anyone."]
    pages = [
        [
            *paragraph(lines, y=y),
            PdfText(text="Contract 4711 - confidential", x=72, y=812),
            PdfText(text=str(number), x=500, y=812),
        ]
        for number, lines, y in ((1, first, 750), (2, second, 80))
    ]

    cited = cite(
        read(make_pdf(tmp_path / "a.pdf", pages)),
        "runs to the last day of the month in which the other was told.",
    )

    assert cited.quote.score == 97
    assert [box.page for box in cited.place.boxes] == [1, 2]
    assert "Contract" not in cited.words
    assert all(box.y1 < 0.95 for box in cited.place.boxes)


# B09


def test_occurrence_in_the_cited_chunk_is_the_one_that_is_marked(tmp_path: Path) -> None:
    filler = [f"Filler sentence {i} says nothing that is of any use here." for i in range(9)]
    lines = [line for _ in range(3) for line in (*filler, RETURNED)]
    parsed = read(make_pdf(tmp_path / "a.pdf", [paragraph(lines)]))
    small = ChunkingPolicy(target_tokens=150, embed_limit_tokens=200, overlap=0.0)
    chunks = [chunk for chunk in chunks_in(parsed, small) if RETURNED in chunk.text]

    places = [cite(parsed, RETURNED, [chunk]).place for chunk in chunks]

    assert len(places) == 3
    assert [parsed.text[place.start : place.end] for place in places] == [RETURNED] * 3
    tops = [place.boxes[0].y0 for place in places]
    assert tops == sorted(tops)
    assert tops[2] == pytest.approx((100 + 29 * 14 - 11) / 842, abs=0.01)


# B13


def test_line_of_a_skewed_scan_is_read_from_left_to_right(tmp_path: Path) -> None:
    words = [PdfText(text=f"word{i}", x=40 + 45 * i, y=100 + 0.6 * i) for i in range(9)]
    below = [PdfText(text=f"next{i}", x=40 + 45 * i, y=114 + 0.6 * i) for i in range(9)]
    written = [*words[::2], *below, *words[1::2]]

    parsed = read(make_pdf(tmp_path / "a.pdf", [written]))

    assert parsed.text.split() == [text.text for text in (*words, *below)]


# B31


@pytest.mark.parametrize("order", ["logical", "visual"])
@pytest.mark.parametrize("glyphs", [False, True], ids=["letters", "presentation-forms"])
def test_arabic_is_read_quoted_and_boxed_whatever_the_file_holds(
    tmp_path: Path, glyphs: bool, order: Literal["logical", "visual"]
) -> None:
    written = shaped(ARABIC) if glyphs else ARABIC
    path = make_pdf(tmp_path / "a.pdf", [rtl_text(written, right=500, y=100, order=order)])

    parsed = read(path)

    assert parsed.text == ARABIC
    assert bm25("السلام", parsed.text) > 0
    _covers_its_ink_alone(path, cite(parsed, ARABIC))


def test_glyph_that_its_font_spells_as_lam_and_alef_is_read_as_both(tmp_path: Path) -> None:
    path = make_pdf(
        tmp_path / "a.pdf", [rtl_text(shaped("السلام عليكم"), right=500, y=100, order="visual")]
    )
    # The two glyphs of the ligature, alone and joined to the letter before, are one range.
    remap_unicode(path, b"<fefb>", b"[<06440627> <06440627>]")

    parsed = read(path)

    assert parsed.text == "السلام عليكم"


def test_digits_after_an_arabic_name_keep_their_order(tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "a.pdf", [rtl_text(ARABIC, right=500, y=100, order="visual")])

    parsed = read(path)

    assert _place_of(parsed, "محمد21") < _place_of(parsed, "25")


def _place_of(parsed: ParsedDocument, word: str) -> float:
    """The left edge of a word on its page: Arabic goes leftwards."""
    page = parsed.pages[0]
    return next(w.x0 for w in page.words if parsed.text[w.start : w.end] == word)
