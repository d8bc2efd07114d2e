"""Workbooks; the inputs of B19 to B24 and of the spreadsheet side of B15 to B17."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from ingest.chunking_inputs import chunks_of
from office_documents import cell, inline_row, make_xlsx, relations
from rag_source.domain.documents import Block, ParsedDocument, SheetPlace
from rag_source.domain.errors import SourceError
from rag_source.ingest.loaders.xlsx import SpreadsheetPolicy, loader
from rag_source.ingest.office_package import PackageLimits

HEADER = ["Part", "Price", "Stock"]


def _load(tmp_path: Path, sheets: dict[str, str], **options: object) -> ParsedDocument:
    return loader.load(make_xlsx(tmp_path / "a.xlsx", sheets, **options))  # type: ignore[arg-type]


def _blocks(parsed: ParsedDocument) -> list[tuple[str, str]]:
    return [(b.kind, parsed.text[b.start : b.end]) for b in parsed.blocks]


def _tables(parsed: ParsedDocument) -> list[Block]:
    return [block for block in parsed.blocks if block.kind == "table"]


def _cells(parsed: ParsedDocument) -> list[list[str]]:
    return [[parsed.text[c.start : c.end] for c in row.cells] for row in _tables(parsed)[0].rows]


def _warnings(parsed: ParsedDocument) -> dict[str, str]:
    return {warning.code: warning.message for warning in parsed.warnings}


def _rows(*rows: Sequence[str | float | None]) -> str:
    return "".join(inline_row(i, row) for i, row in enumerate(rows, 1))


def _merged(rows: str, *areas: str) -> str:
    merges = "".join(f'<mergeCell ref="{area}"/>' for area in areas)
    return f"<sheetData>{rows}</sheetData><mergeCells>{merges}</mergeCells>"


def _failure(path: Path) -> SourceError:
    with pytest.raises(SourceError) as caught:
        loader.load(path)
    return caught.value


# B19


def test_a_calculated_formula_is_its_value(tmp_path: Path) -> None:
    rows = _rows(["Total"]) + f'<row r="2">{cell("A2", "5", formula="SUM(B1:B2)")}</row>'
    assert _load(tmp_path, {"S": rows}).text == "S\n\nTotal\n5"


def test_a_formula_that_was_never_calculated_is_kept_and_marked(tmp_path: Path) -> None:
    rows = _rows([2], [3]) + f'<row r="3">{cell("A3", "", formula="SUM(A1:A2)")}</row>'
    parsed = _load(tmp_path, {"S": rows})
    assert parsed.text.endswith("=SUM(A1:A2) (not calculated)")
    assert "formulas_not_calculated" in _warnings(parsed)


def test_a_formula_whose_value_is_the_empty_text_is_empty(tmp_path: Path) -> None:
    formula = cell("A1", "", kind="str", formula='IF(B1,"","")')
    rows = f'<row r="1">{formula}</row>' + inline_row(2, ["End"])
    parsed = _load(tmp_path, {"S": rows})
    assert _blocks(parsed)[1:] == [("paragraph", "End")]


# B20


def test_a_merged_header_gives_paths_in_one_table(tmp_path: Path) -> None:
    rows = _rows([2024], ["Q1", "Q2", "Q3"], [10, 20, 30])
    parsed = _load(tmp_path, {"Sales": _merged(rows, "A1:C1")})
    assert _blocks(parsed) == [
        ("heading", "Sales"),
        ("table", "2024 / Q1 | 2024 / Q2 | 2024 / Q3\n10 | 20 | 30"),
    ]
    assert [row.header for row in _tables(parsed)[0].rows] == [True, False]


def test_a_header_of_three_levels_keeps_the_plain_columns_beside_it(tmp_path: Path) -> None:
    rows = _rows(
        ["Region", "Europe", None, None, None],
        [None, 2023, None, 2024, None],
        [None, "Q1", "Q2", "Q1", "Q2"],
        ["North", 1, 2, 3, 4],
    )
    areas = ("A1:A3", "B1:E1", "B2:C2", "D2:E2")
    assert _cells(_load(tmp_path, {"S": _merged(rows, *areas)}))[0] == [
        "Region",
        "Europe / 2023 / Q1",
        "Europe / 2023 / Q2",
        "Europe / 2024 / Q1",
        "Europe / 2024 / Q2",
    ]


def test_a_merged_cell_of_the_body_stands_once(tmp_path: Path) -> None:
    rows = _rows(["Region", "City"], ["North", "Lille"], [None, "Calais"])
    parsed = _load(tmp_path, {"S": _merged(rows, "A2:A3")})
    assert parsed.text.count("North") == 1
    assert len(_tables(parsed)) == 1


def test_values_that_a_merged_cell_covers_are_not_shown(tmp_path: Path) -> None:
    rows = _rows(["Shown", "covered"], ["Part", "Price"], ["Nut", 2])
    assert "covered" not in _load(tmp_path, {"S": _merged(rows, "A1:B1")}).text


def test_a_title_over_the_table_is_a_paragraph_before_it(tmp_path: Path) -> None:
    rows = _rows(["Price list of the northern depots, excluding tax"], HEADER, ["Nut", 2, 7])
    parsed = _load(tmp_path, {"S": _merged(rows, "A1:C1")})
    assert [kind for kind, _ in _blocks(parsed)] == ["heading", "paragraph", "table"]


# B21


def test_the_header_row_is_marked_and_years_may_name_columns(tmp_path: Path) -> None:
    parsed = _load(tmp_path, {"S": _rows(["Country", 2023, 2024], ["France", 1, 2])})
    assert [row.header for row in _tables(parsed)[0].rows] == [True, False]


def test_a_table_object_names_its_header(tmp_path: Path) -> None:
    rows = _rows(["12", "13"], ["1", "2"], ["3", "4"])
    path = make_xlsx(
        tmp_path / "a.xlsx",
        {"S": rows},
        extra={
            "xl/tables/t.xml": '<table ref="A1:B3" headerRowCount="1"/>',
            "xl/worksheets/_rels/sheet1.xml.rels": relations({"r": ("table", "../tables/t.xml")}),
        },
    )
    parsed = loader.load(path)
    assert [row.header for row in _tables(parsed)[0].rows] == [True, False, False]


# B22


@pytest.mark.parametrize(
    ("stored", "code", "shown"),
    [
        ("46205", "yyyy/mm/dd", "2026-07-02"),
        ("46205.5", "dd/mm/yyyy hh:mm", "2026-07-02 12:00"),
        ("46205", "[$-40C]d mmmm yyyy;@", "2026-07-02"),
        ("0.75", "h:mm AM/PM", "18:00"),
        ("1.5", "[h]:mm", "36:00"),
        ("59", "d-mmm", "1900-02-28"),
        ("61", "d-mmm", "1900-03-01"),
        ("0.125", "0%", "12.5 %"),
        ("0.125", "0.00%", "12.5 %"),
        ("0.30000000000000004", "General", "0.3"),
        ("33.333333333333336", "0.00", "33.33"),
        ("12.345", "0.00", "12.345"),
        ("7", "00000", "00007"),
        ("1599.99", '"$"#,##0.00_);[Red]\\("$"#,##0.00\\)', "$1599.99"),
        ("-1599.99", '"$"#,##0.00_);[Red]\\("$"#,##0.00\\)', "-$1599.99"),
        ("82900", "#,##0.00\\ [$€-40C]", "82900 €"),
        ("12", '0" kg"', "12 kg"),
        ("3", '0 "m2"', "3 m2"),
        ("1000000", "General", "1000000"),
        ("1E-7", "General", "0.0000001"),
        ("1234567", '#,##0,"k"', "1234567"),
        ("not a number", "0.00", "not a number"),
    ],
)
def test_a_number_is_shown_as_its_reader_sees_it(
    tmp_path: Path, stored: str, code: str, shown: str
) -> None:
    rows = f'<row r="1">{cell("A1", stored, style=1)}</row>'
    assert _blocks(_load(tmp_path, {"S": rows}, formats=[code]))[1] == ("paragraph", shown)


def test_a_workbook_of_the_1904_epoch_has_the_same_dates(tmp_path: Path) -> None:
    rows = f'<row r="1">{cell("A1", str(46205 - 1462), style=1)}</row>'
    parsed = _load(tmp_path, {"S": rows}, formats=["yyyy-mm-dd"], date1904=True)
    assert parsed.text.endswith("2026-07-02")


def test_a_text_code_keeps_its_zeros(tmp_path: Path) -> None:
    assert "0012" in _load(tmp_path, {"S": _rows(["Code", "Part"], ["0012", "Nut"])}).text


def test_a_number_whose_format_shows_nothing_is_left_out_and_reported(tmp_path: Path) -> None:
    rows = f'<row r="1">{cell("A1", "99", style=1)}</row>' + inline_row(2, ["Shown"])
    parsed = _load(tmp_path, {"S": rows}, formats=[";;;"])
    assert "99" not in parsed.text
    assert "hidden_text" in _warnings(parsed)


# B23


@pytest.mark.parametrize("state", ["hidden", "veryHidden"])
def test_a_hidden_sheet_is_skipped_and_named(tmp_path: Path, state: str) -> None:
    sheets = {"Open": _rows(["Public"]), "Salaries": _rows(["Secret"])}
    parsed = _load(tmp_path, sheets, states={"Salaries": state})
    assert "Secret" not in parsed.text
    assert "'Salaries'" in _warnings(parsed)["hidden_sheet_skipped"]


def test_hidden_sheets_are_read_where_the_policy_says_so(tmp_path: Path) -> None:
    path = make_xlsx(tmp_path / "a.xlsx", {"S": _rows(["Secret"])}, states={"S": "hidden"})
    assert _failure(path).code == "no_text"
    reading = type(loader)(PackageLimits(), SpreadsheetPolicy(hidden_sheets=True))
    assert "Secret" in reading.load(path).text


def test_hidden_rows_and_columns_are_skipped_and_named(tmp_path: Path) -> None:
    rows = (
        inline_row(1, ["Part", "Cost", "Price"])
        + inline_row(2, ["Nut", 1, 2])
        + inline_row(3, ["Bolt", 3, 4], attributes='hidden="1"')
        + inline_row(4, ["Gear", 5, 6], attributes='ht="0" customHeight="1"')
        + inline_row(5, ["Axle", 7, 8])
    )
    columns = '<cols><col min="2" max="2" width="9" hidden="1"/></cols>'
    parsed = _load(tmp_path, {"S": f"{columns}<sheetData>{rows}</sheetData>"})
    assert _cells(parsed) == [["Part", "Price"], ["Nut", "2"], ["Axle", "8"]]
    assert "hidden rows 3-4." in _warnings(parsed)["hidden_rows_skipped"]
    assert "hidden columns B." in _warnings(parsed)["hidden_columns_skipped"]


# B24 and giants


def test_a_large_sheet_is_one_table_with_a_place_for_each_cell(tmp_path: Path) -> None:
    names: list[str | float | None] = [f"Column {i}" for i in range(20)]
    rows: list[list[str | float | None]] = [[r * 100.0 + c for c in range(20)] for r in range(500)]
    parsed = _load(tmp_path, {"Data": _rows(names, *rows)})
    (table,) = _tables(parsed)
    assert len(table.rows) == 501
    assert table.rows[500].cells[19].place == SheetPlace(sheet="Data", cell="T501")


def test_every_chunk_of_a_large_table_carries_header_and_whole_rows(tmp_path: Path) -> None:
    names = ["Quarter", "Region", "Product", "Sales", "Cost"]
    rows: list[list[str | float]] = [[f"Q{i}", f"R{i}", f"P{i}", 1000 + i, i] for i in range(1, 81)]
    parsed = _load(tmp_path, {"Quarterly sales": _rows(names, *rows)})
    chunks = [packed.chunk for packed in chunks_of(parsed)]
    tables = [chunk for chunk in chunks if "Q7" in chunk.text]
    assert len(chunks) > 3
    assert all("Quarter | Region | Product | Sales | Cost" in chunk.text for chunk in tables)
    assert sum("Q77 | R77 | P77 | 1077 | 77" in chunk.text for chunk in chunks) >= 1
    assert all(chunk.section == ("Quarterly sales",) for chunk in tables)


def test_a_sheet_that_claims_a_million_rows_costs_what_it_holds(tmp_path: Path) -> None:
    rows = (
        '<dimension ref="A1:XFD1048576"/><sheetData>'
        + inline_row(1, HEADER)
        + inline_row(2, ["Nut", 2, 7])
        + '<row r="1048576" ht="15"><c r="A1048576" s="0"/></row></sheetData>'
        + '<mergeCells><mergeCell ref="A3:XFD1048576"/></mergeCells>'
    )
    assert _cells(_load(tmp_path, {"S": rows})) == [HEADER, ["Nut", "2", "7"]]


def test_a_sheet_beyond_the_limit_is_cut_and_says_so(tmp_path: Path) -> None:
    short = type(loader)(PackageLimits(), SpreadsheetPolicy(limit_cells=6))
    parts: list[list[str | float]] = [[f"Part {i}", i, i] for i in range(2, 9)]
    rows = _rows(HEADER, *parts)
    parsed = short.load(make_xlsx(tmp_path / "a.xlsx", {"S": rows}))
    assert "up to row 2 only" in _warnings(parsed)["truncated"]


# Regions


def test_each_used_region_is_a_table_of_its_own(tmp_path: Path) -> None:
    rows = _rows(
        ["Part", "Price", None, "Name", "City"],
        ["Nut", 2, None, "Anna", "Lille"],
        ["Bolt", 3, None, None, None],
        [],
        ["Year", "Sum", "Tax"],
        [2024, 5, 6],
    )
    parsed = _load(tmp_path, {"S": rows})
    assert [block.place for block in _tables(parsed)] == [
        SheetPlace(sheet="S", cell="A1"),
        SheetPlace(sheet="S", cell="D1"),
        SheetPlace(sheet="S", cell="A5"),
    ]


def test_tables_that_touch_at_a_corner_are_two(tmp_path: Path) -> None:
    rows = _rows(["a", "b"], ["x", 1], [None, None, "c", "d"], [None, None, "y", 2])
    assert len(_tables(_load(tmp_path, {"S": rows}))) == 2


def test_an_empty_row_inside_a_table_does_not_part_it_from_its_header(tmp_path: Path) -> None:
    rows = _rows(HEADER, ["Nut", 2, 7], [], ["Bolt", 3, 8], ["Gear", 4, 9])
    assert len(_tables(_load(tmp_path, {"S": rows}))) == 1


def test_an_empty_column_that_spaces_out_a_table_does_not_part_it(tmp_path: Path) -> None:
    rows = _rows(["Item", None, 2023, None, 2024], ["Sales", None, 1, None, 2])
    assert len(_tables(_load(tmp_path, {"S": rows}))) == 1


def test_lines_of_prose_are_paragraphs(tmp_path: Path) -> None:
    rows = _rows(["Read me first."], ["This workbook lists parts."])
    assert [kind for kind, _ in _blocks(_load(tmp_path, {"S": rows}))] == [
        "heading",
        "paragraph",
        "paragraph",
    ]


# The file itself


def test_cells_without_addresses_follow_one_another(tmp_path: Path) -> None:
    rows = "".join(
        "<row>" + "".join(f'<c t="str"><v>{v}</v></c>' for v in row) + "</row>"
        for row in (["Ion", "Mass"], ["H", "1"])
    )
    assert _cells(_load(tmp_path, {"S": rows})) == [["Ion", "Mass"], ["H", "1"]]


def test_shared_strings_lose_phonetics_and_keep_their_runs(tmp_path: Path) -> None:
    strings = (
        "<sst><si><r><t>Tour</t></r><r><t> Eiffel</t></r><rPh><t>x</t></rPh></si>"
        "<si><t>a_x000D_b</t></si></sst>"
    )
    path = make_xlsx(tmp_path / "a.xlsx", {"S": f'<row r="1">{cell("A1", "0", kind="s")}</row>'})
    with zipfile.ZipFile(path) as source:
        parts = {name: source.read(name) for name in source.namelist()}
    links = parts["xl/_rels/workbook.xml.rels"].decode()
    added = relations({"rIdS": ("sharedStrings", "sharedStrings.xml")})
    parts["xl/_rels/workbook.xml.rels"] = (
        links.replace("</Relationships>", "") + added.partition(">")[2]
    ).encode()
    with zipfile.ZipFile(path, "w") as target:
        for name, data in {**parts, "xl/sharedStrings.xml": strings.encode()}.items():
            target.writestr(name, data)
    assert loader.load(path).text.endswith("Tour Eiffel")


def test_comments_are_notes_at_their_cells(tmp_path: Path) -> None:
    comments = '<comments><commentList><comment ref="B2"><text><t>Net</t></text></comment>'
    path = make_xlsx(
        tmp_path / "a.xlsx",
        {"S": _rows(HEADER, ["Nut", 2, 7])},
        extra={
            "xl/comments1.xml": f"{comments}</commentList></comments>",
            "xl/worksheets/_rels/sheet1.xml.rels": relations(
                {"r": ("comments", "../comments1.xml")}
            ),
        },
    )
    note = loader.load(path).blocks[-1]
    assert (note.kind, note.place) == ("note", SheetPlace(sheet="S", cell="B2"))


def test_a_sheet_is_the_section_of_its_table(tmp_path: Path) -> None:
    parsed = _load(tmp_path, {"Prix 2024": _rows(HEADER, ["Nut", 2, 7])}, title="Tarifs")
    assert (parsed.title, _tables(parsed)[0].section) == ("Tarifs", ("Prix 2024",))


def test_the_same_bytes_give_equal_blocks(tmp_path: Path) -> None:
    path = make_xlsx(tmp_path / "a.xlsx", {"S": _rows(HEADER, ["Nut", 2, 7])})
    assert loader.load(path) == loader.load(path)


def test_entities_in_the_strings_are_refused(tmp_path: Path) -> None:
    path = make_xlsx(tmp_path / "a.xlsx", {"S": _rows(["x"])})
    with zipfile.ZipFile(path) as source:
        parts = {name: source.read(name) for name in source.namelist()}
    bomb = b'<!DOCTYPE w [<!ENTITY a "aaaaaaaa">]>' + parts["xl/worksheets/sheet1.xml"]
    with zipfile.ZipFile(path, "w") as target:
        for name, data in {**parts, "xl/worksheets/sheet1.xml": bomb}.items():
            target.writestr(name, data)
    assert _failure(path).code == "damaged"


def test_a_bomb_of_rows_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = make_xlsx(tmp_path / "a.xlsx", {"S": "<row><c/></row>" * 1_000_000})
    assert path.stat().st_size < 100_000
    assert _failure(path).code == "too_large"


@pytest.mark.parametrize("suffix", [".xls", ".xlsb"])
def test_binary_workbooks_are_refused_with_what_to_do(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600))
    error = _failure(path)
    assert (error.code, ".xlsx" in error.hint) == ("unsupported", True)


def test_a_word_file_with_the_wrong_suffix_is_unsupported(tmp_path: Path) -> None:
    path = make_xlsx(tmp_path / "a.xlsx", {"S": _rows(["x"])})
    with zipfile.ZipFile(path) as source:
        parts = {name: source.read(name) for name in source.namelist()}
    parts["xl/workbook.xml"] = b"<document/>"
    with zipfile.ZipFile(path, "w") as target:
        for name, data in parts.items():
            target.writestr(name, data)
    assert _failure(path).code == "unsupported"
