"""PDF files with a text layer."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from documents import (
    PdfPage,
    PdfText,
    columns,
    make_pdf,
    make_text,
    paragraph,
    remap_unicode,
    rtl_text,
)
from rag_source.domain.documents import Page, ParsedDocument
from rag_source.domain.errors import SourceError
from rag_source.domain.folding import fold
from rag_source.domain.geometry import displayed_box
from rag_source.ingest.loader_tools import LoaderTools
from rag_source.ingest.loaders.pdf import loader as pdf_loader
from rag_source.ingest.ocr import OcrEngine, OcrPolicy
from reading import dark_points, inside

_mupdf: Any = pymupdf  # It ships no type information.
# Recognition has tests of its own, in `test_ocr_pdf.py`.
loader = pdf_loader.with_tools(LoaderTools(ocr=OcrEngine(OcrPolicy(mode="off"))))
LEFT = ["Left column line one", "left column line two", "left column line three."]
RIGHT = ["Right column line one", "right column line two", "right column line three."]
ARABIC = "السلام عليكم 25 مئوية محمد21 (شرح)"


def _load(tmp_path: Path, *pages: Any, **options: str) -> ParsedDocument:
    return loader.load(make_pdf(tmp_path / "file.pdf", pages, **options))


def _flat(text: str) -> str:
    return " ".join(text.split())


def _warnings(parsed: ParsedDocument) -> dict[str, str]:
    return {warning.code: warning.message for warning in parsed.warnings}


def _words(parsed: ParsedDocument, page: Page) -> list[str]:
    return [parsed.text[word.start : word.end] for word in page.words]


@pytest.mark.parametrize("right_first", [False, True], ids=["left-first", "right-first"])
@pytest.mark.parametrize("shift", [0, 5], ids=["aligned", "shifted"])
def test_two_columns_are_read_one_after_the_other(
    tmp_path: Path, right_first: bool, shift: float
) -> None:
    parsed = _load(tmp_path, columns(LEFT, RIGHT, right_first=right_first, right_shift=shift))

    assert _flat(parsed.text) == " ".join([*LEFT, *RIGHT])


def test_title_across_the_page_comes_before_the_columns(tmp_path: Path) -> None:
    title = PdfText(text="A title that goes across both of the columns below", x=120, y=70, size=16)

    parsed = _load(tmp_path, [*columns(LEFT, RIGHT), title])

    assert _flat(parsed.text) == " ".join([title.text, *LEFT, *RIGHT])


def test_table_of_figures_is_read_row_by_row(tmp_path: Path) -> None:
    names = ["Bowl", "Cup", "Plate"]
    prices = ["18,50", "6,00", "27,30"]

    parsed = _load(tmp_path, columns(names, prices))

    assert _flat(parsed.text) == "Bowl 18,50 Cup 6,00 Plate 27,30"


def test_word_two_points_lower_stays_in_its_place(tmp_path: Path) -> None:
    words = [("word1", 72, 0), ("word2", 110, 0), ("word3", 148, 2), ("word4", 186, 0)]

    parsed = _load(tmp_path, [PdfText(text=t, x=x, y=100 + dy) for t, x, dy in words])

    assert parsed.text == "word1 word2 word3 word4"


def test_lines_of_a_paragraph_stay_together_and_paragraphs_apart(tmp_path: Path) -> None:
    first = ["The first paragraph goes on for a full line of words and", "then it ends here."]
    second = ["The second paragraph starts lower down, at a distance."]

    parsed = _load(tmp_path, [*paragraph(first), *paragraph(second, y=150)])

    assert parsed.text == "\n".join(first) + "\n\n" + second[0]


def test_larger_and_bold_lines_are_headings_with_levels(tmp_path: Path) -> None:
    body = "The body of the text has the usual size and is longer than its headings."
    lines = [
        PdfText(text="Manual", x=72, y=60, size=20),
        PdfText(text="Maintenance", x=72, y=90, size=15),
        PdfText(text=body, x=72, y=115),
        PdfText(text="Turntable", x=72, y=140, font="bold"),
        PdfText(text=body, x=72, y=160),
    ]

    parsed = _load(tmp_path, lines)

    assert [b.level for b in parsed.blocks] == [1, 2, 0, 3, 0]
    assert parsed.blocks[-1].section == ("Manual", "Maintenance", "Turntable")


def test_ligatures_and_line_end_hyphens_are_kept_as_in_the_file(tmp_path: Path) -> None:
    lines = ["The scienti\ufb01c and e\ufb03cient environ-", "mental policy is well-known."]
    texts = [
        PdfText(text=line, x=72, y=100 + 16 * i, font="arabic") for i, line in enumerate(lines)
    ]

    parsed = _load(tmp_path, texts)

    assert "environ-\nmental" in parsed.text
    assert "scientific and efficient environmental policy" in fold(parsed.text).text


@pytest.mark.parametrize("order", ["logical", "visual"])
def test_arabic_is_in_logical_order_whatever_the_file_holds(tmp_path: Path, order: Any) -> None:
    parsed = _load(tmp_path, rtl_text(ARABIC, right=500, y=100, order=order))

    assert parsed.text == ARABIC
    assert parsed.language == "ar"


def test_arabic_shapes_become_letters_and_lam_alef_two(tmp_path: Path) -> None:
    # "سلام" in presentation forms, in the visual order of a browser's print.
    parsed = _load(tmp_path, [PdfText(text="\ufee1\ufefc\ufeb3", x=300, y=100, font="arabic")])

    assert parsed.text == "سلام"
    assert len(parsed.pages[0].words) == 1


def test_arabic_name_inside_a_latin_line_is_turned_alone(tmp_path: Path) -> None:
    parsed = _load(
        tmp_path, [PdfText(text="Hello \u062f\u0645\u062d\u0645 World", x=72, y=99, font="arabic")]
    )

    assert parsed.text == "Hello محمد World"


def test_two_arabic_columns_start_at_the_right(tmp_path: Path) -> None:
    right = ["العمود الأول السطر الأول", "العمود الأول السطر الثاني"]
    left = ["العمود الثاني السطر الأول", "العمود الثاني السطر الثاني"]
    lines = [
        piece
        for side, x in ((left, 260), (right, 520))
        for i, text in enumerate(side)
        for piece in rtl_text(text, right=x, y=100 + 20 * i, order="visual")
    ]

    assert _flat(_load(tmp_path, lines).text) == " ".join([*right, *left])


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("crop", [None, (60, 80, 360, 380)], ids=["whole", "cropped"])
@pytest.mark.parametrize("origin", [(0, 0), (36, 45), (-20, 30)], ids=["plain", "odd", "negative"])
def test_displayed_box_of_a_word_holds_all_its_ink(
    tmp_path: Path,
    rotation: int,
    crop: tuple[float, float, float, float] | None,
    origin: tuple[float, float],
) -> None:
    page = PdfPage(
        lines=[PdfText(text="HIGHLIGHT", x=130, y=200, size=20)],
        size=(420, 500),
        rotation=rotation,
        crop=crop,
        origin=origin,
    )
    path = make_pdf(tmp_path / "file.pdf", [page])

    parsed = loader.load(path)

    (word,) = parsed.pages[0].words
    box = displayed_box(parsed.pages[0], word)
    ink = dark_points(path, 1)
    assert len(ink) > 100
    assert inside(ink, box) == len(ink)
    assert (box.x1 - box.x0) * (box.y1 - box.y0) < 0.1


def test_each_page_has_its_own_size_and_range(tmp_path: Path) -> None:
    parsed = _load(
        tmp_path,
        PdfPage(lines=[PdfText(text="Portrait", x=72, y=72)]),
        PdfPage(lines=[PdfText(text="Landscape", x=72, y=72)], size=(1191, 842)),
    )

    first, second = parsed.pages
    assert (second.width_pt, second.height_pt) == (1191, 842)
    assert parsed.text[first.start : first.end] == "Portrait"
    assert parsed.text[second.start : second.end] == "Landscape"
    assert _words(parsed, second) == ["Landscape"]


def test_running_header_footer_and_page_number_are_blocks_of_their_own(tmp_path: Path) -> None:
    pages = [
        [
            PdfText(text="Annual report 2026", x=72, y=40),
            PdfText(text=f"The text of page {n} is long enough to be a body line.", x=72, y=300),
            PdfText(text=f"Page {n} of 3", x=280, y=815),
        ]
        for n in (1, 2, 3)
    ]

    parsed = _load(tmp_path, *pages)

    kinds = [(b.kind, parsed.text[b.start : b.end]) for b in parsed.blocks[:3]]
    assert kinds == [
        ("note", "Annual report 2026"),
        ("paragraph", "The text of page 1 is long enough to be a body line."),
        ("note", "Page 1 of 3"),
    ]


def test_line_printed_twice_for_a_bold_look_is_read_once(tmp_path: Path) -> None:
    twice = [
        PdfText(text="Shadowed title", x=72, y=99),
        PdfText(text="Shadowed title", x=72.6, y=99),
    ]

    assert _load(tmp_path, twice).text == "Shadowed title"


def test_same_line_further_down_is_read_again(tmp_path: Path) -> None:
    lines = paragraph(["Three times it has returned."] * 3, step=20)

    assert _load(tmp_path, lines).text.count("returned") == 3


def test_title_of_the_metadata_is_used_if_it_makes_sense(tmp_path: Path) -> None:
    lines = [PdfText(text="Delivery note", x=72, y=60, size=20), *paragraph(["Body text, longer."])]

    assert _load(tmp_path, lines, title="Microsoft Word - Note 12.docx").title == "Note 12"
    assert _load(tmp_path, lines, title="untitled").title == "Delivery note"


def test_user_password_is_encrypted(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="password") as caught:
        _load(tmp_path, paragraph(["Secret"]), user_password="u", owner_password="o")
    assert caught.value.code == "encrypted"
    assert caught.value.hint


def test_owner_password_alone_is_read_normally(tmp_path: Path) -> None:
    assert _load(tmp_path, paragraph(["Open words"]), owner_password="o").text == "Open words"


def test_wrong_startxref_is_repaired_and_reported(tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "file.pdf", [paragraph(["Repaired words"])])
    data = path.read_bytes()
    at = data.rindex(b"startxref") + len(b"startxref\n")
    path.write_bytes(data[:at] + b"9" + data[at + 1 :])

    parsed = loader.load(path)

    assert parsed.text == "Repaired words"
    assert "repaired" in _warnings(parsed)


@pytest.mark.parametrize("pages", [1, 4, 8])
@pytest.mark.parametrize("kept", [0.3, 0.5, 0.6, 0.7])
def test_file_cut_short_is_damaged_unless_nothing_of_its_pages_is_lost(
    tmp_path: Path, pages: int, kept: float
) -> None:
    path = make_pdf(tmp_path / "file.pdf", [paragraph([f"Page {i}"]) for i in range(pages)])
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * kept)])

    whole = " ".join(f"Page {i}" for i in range(pages))
    assert _text_or_code(path) in {"damaged", whole}


def test_scan_whose_picture_was_cut_off_is_damaged(tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "file.pdf", [paragraph(["Words"]), PdfPage(image=True)])
    data = path.read_bytes()
    at = data.index(b"/Subtype/Image")
    path.write_bytes(data[: data.index(b"stream", at) + 12])

    with pytest.raises(SourceError, match="missing: 2") as caught:
        loader.load(path)
    assert caught.value.code == "damaged"


def test_file_without_an_end_mark_that_holds_all_its_pages_is_repaired(tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "file.pdf", [paragraph(["Some words"]), paragraph(["Others"])])
    data = path.read_bytes()
    path.write_bytes(data[: data.rindex(b"xref\n0")])

    parsed = loader.load(path)

    assert parsed.text == "Some words\n\nOthers"
    assert "repaired" in _warnings(parsed)


def test_text_file_named_pdf_is_unsupported(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        loader.load(make_text(tmp_path / "a.pdf", "Just some text."))
    assert caught.value.code == "unsupported"


def test_pages_without_text_are_named(tmp_path: Path) -> None:
    scan = PdfPage(image=True)

    parsed = _load(tmp_path, paragraph(["Words"]), scan, scan, paragraph(["More"]), scan)

    assert _warnings(parsed)["pages_without_text"] == "These pages hold no text: 2-3, 5."


def test_scan_without_text_is_no_text_with_a_hint_of_ocr(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        _load(tmp_path, PdfPage(image=True))
    assert caught.value.code == "no_text"
    assert "OCR" in caught.value.hint


def test_damaged_text_layer_is_reported_and_free_of_nul(tmp_path: Path) -> None:
    line = PdfText(text="pay \u20bf12 or \u20bf15", x=72, y=99, font="arabic")
    path = make_pdf(tmp_path / "file.pdf", [[line]])
    remap_unicode(path, b"<20bf>", b"<0000>")

    parsed = loader.load(path)

    assert parsed.text == "pay \ufffd12 or \ufffd15"
    assert "text_layer_damaged" in _warnings(parsed)


def test_form_values_are_part_of_the_text(tmp_path: Path) -> None:
    document: Any = _mupdf.open()
    page = document.new_page()
    widget: Any = _mupdf.Widget()
    widget.field_type = _mupdf.PDF_WIDGET_TYPE_TEXT
    widget.field_name = "reference"
    widget.field_value = "TK-1226"
    widget.rect = _mupdf.Rect(100, 100, 200, 120)
    page.add_widget(widget)
    document.save(tmp_path / "form.pdf")

    assert "TK-1226" in loader.load(tmp_path / "form.pdf").text


def test_threads_parse_without_failures_and_alike(tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "file.pdf", [columns(LEFT, RIGHT)] * 3)
    texts: list[str] = []

    def parse() -> None:
        texts.extend(loader.load(path).text for _ in range(5))

    threads = [threading.Thread(target=parse) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(texts) == 20
    assert len(set(texts)) == 1


def test_two_parses_are_equal(tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "file.pdf", [columns(LEFT, RIGHT)])

    assert loader.load(path) == loader.load(path)


def test_word_ranges_name_the_words_in_the_document_text(tmp_path: Path) -> None:
    parsed = _load(tmp_path, columns(LEFT, RIGHT))

    assert _words(parsed, parsed.pages[0]) == parsed.text.split()


def _text_or_code(path: Path) -> str:
    try:
        return _flat(loader.load(path).text)
    except SourceError as error:
        return error.code
