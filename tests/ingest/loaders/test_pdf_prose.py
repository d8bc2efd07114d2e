"""What looks like a table in a PDF file and is none stays prose, word for word."""

from __future__ import annotations

import random
import time
from pathlib import Path
from typing import Any

import pymupdf
import pytest

from pdf_tables import PageSpec, TableSpec, make_table_pdf, text_lines
from rag_source.domain.documents import ParsedDocument
from rag_source.ingest.loader_tools import LoaderTools
from rag_source.ingest.loaders.pdf import loader as pdf_loader
from rag_source.ingest.ocr import OcrEngine, OcrPolicy

_mupdf: Any = pymupdf  # It ships no type information.
loader = pdf_loader.with_tools(LoaderTools(ocr=OcrEngine(OcrPolicy(mode="off"))))
WORDS = (
    "turntable kiln glaze firing schedule clay bowl handle rim foot ring trimming wheel speed "
    "cone oxide ash temper slip cast mould drying shrinkage crack warp repair kitchen oven"
).split()
Lines = list[tuple[str, float, float, float]]


def _load(tmp_path: Path, *pages: PageSpec) -> ParsedDocument:
    return loader.load(make_table_pdf(tmp_path / "file.pdf", *pages))


def _has_table(parsed: ParsedDocument) -> bool:
    return any(block.kind == "table" for block in parsed.blocks)


def _prose(chance: random.Random, width: int, figures: float = 0.15) -> str:
    """A line of about `width` characters, some of its words numbers."""
    line = ""
    while len(line) < width:
        number = str(chance.randint(1, 2999))
        line += (number if chance.random() < figures else chance.choice(WORDS)) + " "
    return line.strip()


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("aligned", [True, False], ids=["aligned", "shifted"])
@pytest.mark.parametrize("by_rows", [True, False], ids=["row-wise", "column-wise"])
def test_prose_in_columns_stays_prose(
    tmp_path: Path, count: int, aligned: bool, by_rows: bool
) -> None:
    chance = random.Random(count)
    columns: list[Lines] = []
    for i in range(count):
        texts = [_prose(chance, 72 // count) for _ in range(30)]
        columns.append(
            text_lines(texts, x=60 + i * 480 / count, y=80 + (0 if aligned else 4 * i), size=9)
        )
    lines = [line for column in columns for line in column]
    if by_rows:
        lines.sort(key=lambda line: line[2])

    parsed = _load(tmp_path, PageSpec(lines=lines))

    assert not _has_table(parsed)


def test_contents_with_dots_stay_prose(tmp_path: Path) -> None:
    titles = ["Introduction", "Glazes and oxides", "Firing", "Repair of the wheel", "Index"]
    lines: Lines = []
    for i, (title, page) in enumerate(zip(titles, (1, 7, 12, 40, 51), strict=True)):
        y = 100 + 16 * i
        lines += [(f"{i + 1}", 72, y, 10), (title + " " + "." * (70 - len(title)), 96, y, 10)]
        lines.append((str(page), 480, y, 10))

    assert not _has_table(_load(tmp_path, PageSpec(lines=lines)))


@pytest.mark.parametrize("numbered", [True, False])
def test_contents_without_dots_stay_prose(tmp_path: Path, numbered: bool) -> None:
    titles = ["Introduction", "Glazes and oxides", "Firing", "Repair of the wheel", "Index"]
    rows = [
        [f"{i}.", title, str(page)] if numbered else [title, str(page)]
        for i, (title, page) in enumerate(zip(titles, (1, 7, 12, 40, 51), strict=True), 1)
    ]
    edges = (72, 96, 400, 480) if numbered else (72, 400, 480)
    spec = TableSpec(rows=rows, edges=edges, align="llr" if numbered else "lr")

    assert not _has_table(_load(tmp_path, PageSpec(tables=[spec])))


def test_labels_with_values_of_a_form_stay_prose(tmp_path: Path) -> None:
    rows = [
        ["Invoice no.:", "2024-118", "Customer:", "4711"],
        ["Date:", "03/05/2024", "Telephone:", "02 99 11 22 33"],
        ["Due:", "02/06/2024", "Amount:", "1 120,50"],
        ["Order:", "9918", "VAT:", "20 %"],
    ]
    spec = TableSpec(rows=rows, edges=(72, 150, 260, 340, 450))

    assert not _has_table(_load(tmp_path, PageSpec(tables=[spec])))


def test_numbered_and_bulleted_lists_stay_lists(tmp_path: Path) -> None:
    chance = random.Random(3)
    lines: Lines = []
    for i in range(12):
        lines += [(f"{i + 1}.", 72, 100 + 15 * i, 10), (_prose(chance, 60), 100, 100 + 15 * i, 10)]

    parsed = _load(tmp_path, PageSpec(lines=lines))

    assert not _has_table(parsed)


def test_code_stays_code(tmp_path: Path) -> None:
    code = [
        "int table[4][3] = {",
        "    {  1,    20,    3 },    // first",
        "    { 14,     5,   16 },    // second",
        "    {  7,   118,    9 },    // third",
        "    { 10,    11,   12 },    // fourth",
        "};",
        "x    = 1;        y   = 22;",
        "long = 30;       z   = 4;",
        "n    = 555;      abc = 6;",
    ]
    document: Any = _mupdf.open()
    page = document.new_page()
    for i, line in enumerate(code):
        page.insert_text((72, 100 + 13 * i), line, fontsize=10, fontname="cour")
    document.save(tmp_path / "code.pdf")

    assert not _has_table(loader.load(tmp_path / "code.pdf"))


@pytest.mark.parametrize("seed", range(5))
def test_justified_prose_with_rivers_stays_prose(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    font = _mupdf.Font("helv")
    lines: Lines = []
    for i in range(40):
        words = _prose(chance, 26, figures=0.3).split()
        room = 190 - sum(font.text_length(word, 10) for word in words)
        gap = room / max(1, len(words) - 1)
        x = 72.0
        for word in words:
            lines.append((word, x, 80 + 13 * i, 10))
            x += font.text_length(word, 10) + gap

    assert not _has_table(_load(tmp_path, PageSpec(lines=lines)))


def test_list_of_names_and_places_stays_prose(tmp_path: Path) -> None:
    rows = [["Bowl works", "Quimper"], ["Kiln company", "Brest"], ["Clay pit", "Rennes"]] * 4

    assert not _has_table(
        _load(tmp_path, PageSpec(tables=[TableSpec(rows=rows, edges=(72, 220, 340))]))
    )


def test_timeline_of_years_and_sentences_stays_prose(tmp_path: Path) -> None:
    chance = random.Random(9)
    rows = [[str(1990 + 3 * i), _prose(chance, 50)] for i in range(8)]

    assert not _has_table(
        _load(tmp_path, PageSpec(tables=[TableSpec(rows=rows, edges=(72, 120, 500))]))
    )


def test_frame_around_a_text_is_no_table(tmp_path: Path) -> None:
    frame = TableSpec(
        rows=[["Careful: the oven is hot.\nLet it cool first."]], edges=(60, 300), rules="grid"
    )

    parsed = _load(tmp_path, PageSpec(tables=[frame]))

    assert parsed.text == "Careful: the oven is hot.\nLet it cool first."
    assert not _has_table(parsed)


def test_two_columns_of_prose_in_a_ruled_box_are_no_table(tmp_path: Path) -> None:
    chance = random.Random(4)
    columns = ["\n".join(_prose(chance, 40) for _ in range(30)) for _ in range(2)]
    box = TableSpec(rows=[columns], edges=(50, 290, 540), rules="grid")

    assert not _has_table(_load(tmp_path, PageSpec(tables=[box])))


def test_boxes_of_a_form_that_stand_anywhere_are_no_table(tmp_path: Path) -> None:
    rows = [
        ["1 Name of the applicant", "", "", "", "2 Born on", ""],
        ["3 Street and number", "", "4 Town", "", "", "5 Code"],
        ["6 Employer", "7 Since", "", "8 Income of the year", "", ""],
        ["9 Remarks", "", "", "", "", ""],
    ]
    spans = [
        (0, 0, 1, 4), (0, 4, 1, 2), (1, 0, 1, 2), (1, 2, 1, 3), (2, 1, 1, 2), (2, 3, 1, 3),
        (3, 0, 1, 6),
    ]  # fmt: skip
    edges = (50, 140, 210, 290, 370, 450, 540)
    form = TableSpec(rows=rows, edges=edges, rules="grid", spans=spans, padding=14)

    assert not _has_table(_load(tmp_path, PageSpec(tables=[form])))


def test_page_with_a_hundred_thousand_lines_is_read_as_text_in_seconds(tmp_path: Path) -> None:
    document: Any = _mupdf.open()
    page = document.new_page()
    page.insert_text((72, 100), "Plan of the workshop, drawn by hand.")
    (xref,) = page.get_contents()
    chance = random.Random(1)
    grid = "".join(
        f"{x:.1f} {y:.1f} m {x + 9:.1f} {y:.1f} l S\n" if i % 2 else f"{x:.1f} {y:.1f} 9 0.5 re f\n"
        for i in range(100_000)
        for x, y in [(chance.uniform(0, 590), chance.uniform(0, 840))]
    )
    document.update_stream(xref, document.xref_stream(xref) + grid.encode())
    document.save(tmp_path / "drawn.pdf", deflate=True)
    started = time.process_time()

    parsed = loader.load(tmp_path / "drawn.pdf")

    assert parsed.text == "Plan of the workshop, drawn by hand."
    assert time.process_time() - started < 10


def test_page_with_a_grid_as_fine_as_graph_paper_is_read_as_text_in_seconds(tmp_path: Path) -> None:
    across = "".join(f"20 {20 + 5.5 * i:.1f} m 570 {20 + 5.5 * i:.1f} l S\n" for i in range(140))
    down = "".join(f"{20 + 5.5 * i:.1f} 20 m {20 + 5.5 * i:.1f} 785 l S\n" for i in range(100))
    document: Any = _mupdf.open()
    page = document.new_page()
    page.insert_text((72, 100), "A sketch of a cup.")
    (xref,) = page.get_contents()
    document.update_stream(xref, document.xref_stream(xref) + (across + down).encode())
    document.save(tmp_path / "paper.pdf")
    started = time.process_time()

    parsed = loader.load(tmp_path / "paper.pdf")

    assert parsed.text == "A sketch of a cup."
    assert time.process_time() - started < 10


def test_page_with_five_thousand_rows_of_figures_is_read_in_seconds(tmp_path: Path) -> None:
    rows = [[str(i), *(str(i * k % 997) for k in range(1, 6))] for i in range(5_000)]
    content = "".join(
        f"BT /helv 1.2 Tf {72 + 60 * j} {13_900 - 2.7 * i:.1f} Td ({word}) Tj ET\n"
        for i, row in enumerate(rows)
        for j, word in enumerate(row)
    )
    document: Any = _mupdf.open()
    page = document.new_page(width=595, height=14_000)
    page.insert_text((72, 20), "Figures")
    (xref,) = page.get_contents()
    document.update_stream(xref, document.xref_stream(xref) + content.encode())
    document.save(tmp_path / "long.pdf", deflate=True)
    started = time.process_time()

    parsed = loader.load(tmp_path / "long.pdf")

    assert parsed.text.replace("|", " ").split()[-6:] == rows[-1]
    assert time.process_time() - started < 30
