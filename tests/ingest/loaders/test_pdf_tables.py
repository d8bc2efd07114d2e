"""Tables of PDF files: ruled and aligned ones become table blocks, word for word."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pymupdf
import pytest

from ingest.chunking_inputs import chunks_of
from pdf_tables import PageSpec, TableSpec, make_table_pdf, text_lines
from rag_source.domain.documents import Block, ParsedDocument
from rag_source.domain.geometry import displayed_box
from rag_source.ingest.loader_tools import LoaderTools
from rag_source.ingest.loaders.pdf import loader as pdf_loader
from rag_source.ingest.ocr import OcrEngine, OcrPolicy

_mupdf: Any = pymupdf  # It ships no type information.
loader = pdf_loader.with_tools(LoaderTools(ocr=OcrEngine(OcrPolicy(mode="off"))))
RULED = ("grid", "bars", "path")
GOODS = [
    ["Item", "Quantity", "Price"],
    ["Bowl", "12", "18,50"],
    ["Cup with saucer", "7", "6,00"],
    ["Plate", "104", "27,30"],
]
EDGES = (72, 220, 320, 420)


def _load(tmp_path: Path, *pages: PageSpec | TableSpec) -> ParsedDocument:
    specs = [page if isinstance(page, PageSpec) else PageSpec(tables=[page]) for page in pages]
    return loader.load(make_table_pdf(tmp_path / "file.pdf", *specs))


def _tables(parsed: ParsedDocument) -> list[Block]:
    return [block for block in parsed.blocks if block.kind == "table"]


def _cells(parsed: ParsedDocument, block: Block) -> list[list[str]]:
    """The cells of the rows that stand in the block itself."""
    return [
        [parsed.text[cell.start : cell.end] for cell in row.cells]
        for row in block.rows
        if row.start >= block.start
    ]


def _only_table(parsed: ParsedDocument) -> list[list[str]]:
    (block,) = _tables(parsed)
    return _cells(parsed, block)


@pytest.mark.parametrize("rules", [*RULED, "across", "none"])
def test_table_is_one_block_of_rows_with_its_header_marked(tmp_path: Path, rules: Any) -> None:
    parsed = _load(tmp_path, TableSpec(rows=GOODS, edges=EDGES, align="lrr", rules=rules))

    (block,) = parsed.blocks
    assert parsed.text == "\n".join(" | ".join(row) for row in GOODS)
    assert block.kind == "table"
    assert [row.header for row in block.rows] == [True, False, False, False]
    assert block.place.kind == "page" and block.place.page == 1
    assert _cells(parsed, block) == GOODS


@pytest.mark.parametrize("rules", RULED)
def test_merged_header_cells_make_paths(tmp_path: Path, rules: Any) -> None:
    rows = [
        ["Region", "2024", "", "2025", ""],
        ["", "Q1", "Q2", "Q1", "Q2"],
        ["North", "10", "20", "30", "40"],
        ["South", "11", "21", "31", "41"],
    ]
    spans = [(0, 0, 2, 1), (0, 1, 1, 2), (0, 3, 1, 2)]
    spec = TableSpec(rows=rows, edges=(72, 160, 220, 280, 340, 400), rules=rules, spans=spans)

    assert _only_table(_load(tmp_path, spec)) == [
        ["Region", "2024 / Q1", "2024 / Q2", "2025 / Q1", "2025 / Q2"],
        *rows[2:],
    ]


def test_names_centred_over_columns_without_rules_make_paths(tmp_path: Path) -> None:
    rows = [
        ["", "2024", "", "2025", ""],
        ["Region", "Q1", "Q2", "Q1", "Q2"],
        ["North", "1 010", "20", "30", "40"],
        ["South", "11", "2 021", "31", "41"],
        ["West", "12", "22", "3 032", "4 042"],
    ]
    spec = TableSpec(
        rows=rows,
        edges=(72, 160, 220, 280, 340, 400),
        align="lrrrr",
        spans=[(0, 1, 1, 2), (0, 3, 1, 2)],
    )

    assert _only_table(_load(tmp_path, spec)) == [
        ["Region", "2024 / Q1", "2024 / Q2", "2025 / Q1", "2025 / Q2"],
        *rows[2:],
    ]


def test_merged_cell_of_the_body_keeps_its_value_once(tmp_path: Path) -> None:
    rows = [["Kind", "Size", "Price"], ["Bowl", "S", "5,00"], ["", "L", "9,00"]]
    spec = TableSpec(rows=rows, edges=EDGES, rules="grid", spans=[(1, 0, 2, 1)])

    assert _only_table(_load(tmp_path, spec)) == rows


def test_lines_of_a_ruled_cell_are_one_cell(tmp_path: Path) -> None:
    rows = [["Part", "Remark"], ["Lid", "closes tightly\nand may be\nheated"], ["Base", "steel"]]

    cells = _only_table(_load(tmp_path, TableSpec(rows=rows, edges=(72, 150, 300), rules="grid")))

    assert cells[1] == ["Lid", "closes tightly and may be heated"]


def test_rows_between_the_sides_of_columns_stay_apart(tmp_path: Path) -> None:
    body = [GOODS[1], ["Cup with\nsaucer", "7", "6,00"], GOODS[3]]
    spec = TableSpec(rows=[GOODS[0], *body], edges=EDGES, align="lrr", rules="sides")

    assert _only_table(_load(tmp_path, spec)) == GOODS


def test_title_row_over_all_columns_is_the_text_before_the_table(tmp_path: Path) -> None:
    rows = [["Prices of May", "", ""], *GOODS]
    spec = TableSpec(rows=rows, edges=EDGES, rules="grid", spans=[(0, 0, 1, 3)])

    parsed = _load(tmp_path, spec)

    assert [block.kind for block in parsed.blocks] == ["paragraph", "table"]
    assert parsed.text.startswith("Prices of May\n\nItem | Quantity | Price\n")


def test_invoice_without_rules_has_its_columns(tmp_path: Path) -> None:
    rows = [
        ["Réf.", "Désignation", "Qté", "Prix"],
        ["A-100", "Vis à bois inox\ntête fraisée", "200", "0,12 EUR"],
        ["A-205", "Charnière", "4", "3,80 EUR"],
        ["B-010", "Poignée en laiton", "2", "12,50 EUR"],
    ]
    spec = TableSpec(rows=rows, edges=(72, 130, 300, 350, 430), align="llrr", padding=2)
    lines = text_lines(["Facture n° 2024-118 du 3 mai 2024"])

    parsed = _load(tmp_path, PageSpec(tables=[spec], lines=lines))

    assert [block.kind for block in parsed.blocks] == ["paragraph", "table"]
    rows[1][1] = "Vis à bois inox tête fraisée"
    assert _only_table(parsed) == rows
    assert parsed.blocks[1].rows[0].header


def test_three_rows_without_rules_and_tight_spacing_stay_three_rows(tmp_path: Path) -> None:
    rows = [["Bowl", "18", "4,50"], ["Cup", "6", "1,20"], ["Plate", "27", "3,30"]]
    spec = TableSpec(rows=rows, edges=EDGES, align="lrr", pitch=10, padding=0)

    assert _only_table(_load(tmp_path, spec)) == rows


def test_label_on_two_lines_is_one_row(tmp_path: Path) -> None:
    rows = [
        ["", "2024", "2023"],
        ["Net income", "5 079", "4 059"],
        ["Less: income that other\nholders of shares have", "93", "80"],
        ["Comprehensive income", "5 167", "4 141"],
    ]
    spec = TableSpec(rows=rows, edges=(72, 260, 330, 400), align="lrr", padding=3, pitch=11)

    cells = _only_table(_load(tmp_path, spec))

    assert cells[2] == ["Less: income that other holders of shares have", "93", "80"]


def test_label_above_rows_is_a_row_of_its_own(tmp_path: Path) -> None:
    rows = [
        ["", "2024", "2023"],
        ["Current assets:", "", ""],
        ["Cash", "1 093", "840"],
        ["Receivables", "856", "940"],
        ["Equity:", "", ""],
        ["Total", "1 949", "1 780"],
    ]
    spec = TableSpec(rows=rows, edges=EDGES, align="lrr")

    assert _only_table(_load(tmp_path, spec)) == rows


def test_sign_of_a_currency_in_a_column_of_its_own_belongs_to_its_figure(tmp_path: Path) -> None:
    rows = [
        ["", "", "2024", "", "2023"],
        ["Sales", "$", "1,093", "$", "840"],
        ["Costs", "", "(856)", "", "(940)"],
        ["Result", "$", "237", "$", "(100)"],
    ]
    spec = TableSpec(rows=rows, edges=(72, 200, 215, 290, 305, 380), align="llrlr")

    assert _only_table(_load(tmp_path, spec)) == [
        ["", "2024", "2023"],
        ["Sales", "$ 1,093", "$ 840"],
        ["Costs", "(856)", "(940)"],
        ["Result", "$ 237", "$ (100)"],
    ]


@pytest.mark.parametrize("rules", ["grid", "none"])
def test_columns_of_an_arabic_table_are_read_from_the_right(tmp_path: Path, rules: Any) -> None:
    # As a browser prints them: letters from left to right, so each word is written backwards.
    shown = [
        ["السعر", "الكمية", "الصنف"],
        ["18,50", "12", "صحن"],
        ["6,00", "7", "كوب شاي"],
        ["27,30", "104", "طبق"],
    ]
    written = [[cell if cell[0].isdigit() else cell[::-1] for cell in row] for row in shown]
    spec = TableSpec(
        rows=written, edges=(72, 150, 230, 340), align="rrr", rules=rules, rtl_text=True
    )

    assert _only_table(_load(tmp_path, spec)) == [row[::-1] for row in shown]


def test_sentence_before_a_table_goes_into_its_chunk(tmp_path: Path) -> None:
    numbers = [[f"Q{i}", str(i * 101), str(i * 77)] for i in range(1, 5)]
    spec = TableSpec(rows=numbers, edges=EDGES, align="lrr")
    lines = text_lines(["Quarterly sales 2023-2024, in pieces and in euros:"])

    packed = chunks_of(_load(tmp_path, PageSpec(tables=[spec], lines=lines)))

    (chunk,) = [one.chunk for one in packed if one.chunk.kind == "table"]
    assert "Quarterly sales" in chunk.text and "Q3 | 303 | 231" in chunk.text


@pytest.mark.parametrize("rules", ["grid", "none"])
def test_table_that_goes_on_over_the_page_has_its_header_in_every_chunk(
    tmp_path: Path, rules: Any
) -> None:
    def part(numbers: range, header: bool) -> TableSpec:
        rows = [[f"Part {n}", str(n * 3), f"{n * 7},50"] for n in numbers]
        return TableSpec(
            rows=[["Name", "Pieces", "Price"], *rows] if header else rows,
            edges=EDGES,
            align="lrr",
            rules=rules,
            top=60,
        )

    parsed = _load(tmp_path, part(range(100, 130), True), part(range(130, 160), False))

    first, second = _tables(parsed)
    assert parsed.text.count("Pieces") == 1
    assert second.rows[0] == first.rows[0]
    assert [row.header for row in second.rows].count(True) == 1
    assert len(_cells(parsed, second)) == 30
    chunks = [one.chunk for one in chunks_of(parsed)]
    assert all("Name | Pieces | Price" in chunk.text for chunk in chunks)
    assert any("Part 155 | 465 | 1085,50" in chunk.text for chunk in chunks)


def test_other_columns_on_the_next_page_are_another_table(tmp_path: Path) -> None:
    rows = [[f"Part {n}", str(n * 3), f"{n},50"] for n in range(100, 140)]
    first = TableSpec(rows=[["Name", "Pieces", "Price"], *rows], edges=EDGES, rules="grid", top=60)
    second = TableSpec(rows=rows, edges=(72, 150, 380, 500), rules="grid", top=60)

    parsed = _load(tmp_path, first, second)

    assert not any(row.header for row in _tables(parsed)[1].rows)


def test_header_printed_on_every_page_stays_with_the_rows_below(tmp_path: Path) -> None:
    pages = [
        TableSpec(
            rows=[["Account", "Debit", "Credit"], *([f"4{n}", f"{n},10", f"{n},20"] for n in part)],
            edges=EDGES,
            align="lrr",
            top=50,
        )
        for part in (range(100, 110), range(210, 220), range(320, 330))
    ]

    parsed = _load(tmp_path, *pages)

    assert [_cells(parsed, block)[0] for block in _tables(parsed)] == [
        ["Account", "Debit", "Credit"]
    ] * 3
    assert all(block.rows[0].header for block in _tables(parsed))


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.parametrize("crop", [None, (50, 60, 470, 500)], ids=["whole", "cropped"])
@pytest.mark.parametrize("origin", [(0, 0), (36, -45)], ids=["plain", "odd"])
@pytest.mark.parametrize("rules", ["grid", "none"])
def test_words_of_cells_have_the_boxes_that_their_ink_fills(
    tmp_path: Path, rotation: int, crop: Any, origin: tuple[float, float], rules: Any
) -> None:
    colors = {(i, j): ((i + 1) / 5, (j + 1) / 4, 0.0) for i in range(4) for j in range(3)}
    table = TableSpec(rows=GOODS, edges=EDGES, align="lrr", rules=rules, colors=colors)
    page = PageSpec(tables=[table], rotation=rotation, crop=crop, origin=origin)
    parsed = _load(tmp_path, page)
    assert _only_table(parsed) == GOODS
    (block,) = _tables(parsed)
    for i, row in enumerate(block.rows):
        for j, cell in enumerate(row.cells):
            words = [
                word
                for word in parsed.pages[0].words
                if cell.start <= word.start and word.end <= cell.end
            ]
            texts = [parsed.text[word.start : word.end] for word in words]
            assert texts == GOODS[i][j].split()
            boxes = [displayed_box(parsed.pages[0], word) for word in words]
            spots = _ink(tmp_path / "file.pdf", _rounded(colors[i, j]))
            assert len(spots) > 20
            outside = [
                (x, y)
                for x, y in spots
                if not any(b.x0 <= x <= b.x1 and b.y0 <= y <= b.y1 for b in boxes)
            ]
            assert not outside
            assert all(
                any(b.x0 <= x <= b.x1 and b.y0 <= y <= b.y1 for x, y in spots) for b in boxes
            )


def test_words_of_a_header_path_have_a_box_wherever_they_stand(tmp_path: Path) -> None:
    rows = [["Region", "2024", ""], ["", "Q1", "Q2"], ["North", "10", "20"], ["South", "1", "2"]]
    spec = TableSpec(rows=rows, edges=EDGES, rules="grid", spans=[(0, 0, 2, 1), (0, 1, 1, 2)])

    parsed = _load(tmp_path, spec)

    page = parsed.pages[0]
    words = [(parsed.text[word.start : word.end], word.x0, word.y0) for word in page.words]
    assert [text for text, _, _ in words[:5]] == ["Region", "2024", "Q1", "2024", "Q2"]
    assert words[1][1:] == words[3][1:]
    assert page.start == 0 and page.end == len(parsed.text)


@pytest.mark.parametrize("seed", range(40))
def test_random_tables_are_read_cell_for_cell(tmp_path: Path, seed: int) -> None:
    spec = _random_table(random.Random(seed))

    assert _only_table(_load(tmp_path, spec)) == [list(row) for row in spec.rows]


def _random_table(chance: random.Random) -> TableSpec:
    """Labels and numbers in 3 to 8 rows and columns, ruled or not, columns aligned in any way."""
    rows, columns = chance.randint(3, 8), chance.randint(3, 8)
    names = ["Kind", "Mass", "Width", "Depth", "Count", "Price", "Tax", "Total"][:columns]
    labels = ["Bowl", "Cup", "Plate", "Jug", "Dish", "Vase", "Tray", "Pot"]
    body = [
        [label, *(_random_number(chance) for _ in range(columns - 1))] for label in labels[:rows]
    ]
    edges = [60.0]
    for _ in range(columns):
        edges.append(edges[-1] + chance.uniform(54, 64))
    return TableSpec(
        rows=[names, *body],
        edges=edges,
        align="l" + "".join(chance.choice("lr") for _ in range(columns - 1)),
        rules=chance.choice(["grid", "bars", "path", "none", "none", "none"]),
        pitch=chance.uniform(10, 16),
        padding=chance.uniform(0, 6),
        size=chance.choice([8, 9, 10]),
    )


def _random_number(chance: random.Random) -> str:
    number = chance.choice([chance.uniform(0, 9), chance.uniform(10, 99), chance.uniform(100, 9999)])
    form = chance.choice(["{:.0f}", "{:.2f}", "{:,.0f}", "({:.1f})", "-{:.1f}", "{:.1f}%"])
    return form.format(number)


def _ink(path: Path, color: tuple[int, ...]) -> list[tuple[float, float]]:
    """Where the displayed page has a colour, in fractions of its size."""
    document: Any = _mupdf.open(path)
    with document:
        # Without smoothing, so that every spot of a text has its colour.
        _mupdf.TOOLS.set_aa_level(0)
        try:
            pixmap = document[0].get_pixmap(dpi=144)
        finally:
            _mupdf.TOOLS.set_aa_level(8)
    shape = (pixmap.height, pixmap.width, 3)
    pixels = np.frombuffer(pixmap.samples, np.uint8).reshape(shape).astype(int)
    spots = np.argwhere((abs(pixels - color) <= 2).all(2))
    return [((x + 0.5) / pixmap.width, (y + 0.5) / pixmap.height) for y, x in spots.tolist()]


def _rounded(color: tuple[float, float, float]) -> tuple[int, ...]:
    return tuple(round(255 * part) for part in color)
