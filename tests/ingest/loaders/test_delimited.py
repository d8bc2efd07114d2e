"""CSV and TSV."""

from __future__ import annotations

from pathlib import Path

import pytest

from documents import make_csv, make_text
from rag_source.domain.documents import ParsedDocument
from rag_source.domain.errors import SourceError
from rag_source.ingest.loaders.delimited import loader

ROWS = [
    ["Référence", "Désignation", "Prix"],
    ["40564101", "Câble “été”", "6,00"],
    ["0012", "Bol", "18,50"],
]
ARABIC_ROWS = [["المنتج", "السعر"], ["تفاح أحمر", "12"], ["برتقال", "7"]]
CHINESE_ROWS = [["产品", "价格"], ["红苹果", "12"], ["橙子汁", "7"]]
KOREAN_ROWS = [["품목", "단가"], ["볼트", "12"], ["너트", "7"]]


def _cells(parsed: ParsedDocument) -> list[list[str]]:
    table = next(block for block in parsed.blocks if block.kind == "table")
    return [[parsed.text[c.start : c.end] for c in row.cells] for row in table.rows]


def _warnings(parsed: ParsedDocument) -> dict[str, str]:
    return {warning.code: warning.message for warning in parsed.warnings}


@pytest.mark.parametrize(
    "delimiter", [",", ";", "\t", "|"], ids=["comma", "semicolon", "tab", "bar"]
)
@pytest.mark.parametrize(
    ("rows", "encoding", "bom"),
    [
        pytest.param(ROWS, "utf-8", True, id="utf-8-bom"),
        pytest.param(ROWS, "utf-16-le", True, id="utf-16-bom"),
        pytest.param(ROWS, "cp1252", False, id="cp1252"),
        pytest.param(ARABIC_ROWS, "cp1256", False, id="windows-1256"),
        pytest.param(ROWS, "utf-16-le", False, id="utf-16-bare"),
        pytest.param(CHINESE_ROWS, "gb18030", False, id="gb18030"),
        pytest.param(KOREAN_ROWS, "euc_kr", False, id="euc-kr"),
    ],
)
def test_every_encoding_and_delimiter_gives_the_same_cells(
    tmp_path: Path, rows: list[list[str]], encoding: str, bom: bool, delimiter: str
) -> None:
    path = make_csv(tmp_path / "a.csv", rows, delimiter=delimiter, encoding=encoding, bom=bom)

    parsed = loader.load(path)

    shown = "tab" if delimiter == "\t" else delimiter
    assert _cells(parsed) == rows
    assert parsed.text[0] == rows[0][0][0]
    assert _warnings(parsed)["read_as"] == f"Read as {encoding}, fields separated by {shown!r}."


def test_first_header_is_free_of_the_byte_order_mark(tmp_path: Path) -> None:
    parsed = loader.load(make_csv(tmp_path / "a.csv", ROWS, bom=True))

    assert parsed.text.startswith("Référence | Désignation")
    assert [row.header for row in parsed.blocks[0].rows] == [True, False, False]


def test_detected_encoding_and_delimiter_are_shown(tmp_path: Path) -> None:
    path = make_csv(tmp_path / "a.csv", ROWS, delimiter=";", encoding="cp1252")

    assert _warnings(loader.load(path))["read_as"] == "Read as cp1252, fields separated by ';'."


def test_row_numbers_are_physical_lines_through_quoted_line_breaks(tmp_path: Path) -> None:
    text = 'id,note\n1,"two\nlines with ""quotes"""\n2,plain\n'

    parsed = loader.load(make_text(tmp_path / "a.csv", text))

    assert _cells(parsed)[1] == ["1", 'two lines with "quotes"']
    places = [row.place for row in parsed.blocks[0].rows]
    assert [place.row for place in places if place.kind == "row"] == [1, 2, 4]


def test_malformed_rows_are_kept_and_reported_by_line(tmp_path: Path) -> None:
    text = "a,b,c\n1,2,3\n4,5,6,extra\n7,8\n9,10,11\n"

    parsed = loader.load(make_text(tmp_path / "a.csv", text))

    assert "extra" in parsed.text
    assert _cells(parsed)[3] == ["7", "8"]
    assert "lines 3, 4" in _warnings(parsed)["rows_malformed"]


def test_decimal_comma_does_not_pass_for_the_delimiter(tmp_path: Path) -> None:
    text = "ref;prix;tva\nA1;1,5;2,5\nA2;3,5;4,5\n"

    assert _cells(loader.load(make_text(tmp_path / "a.csv", text)))[1] == ["A1", "1,5", "2,5"]


def test_lines_above_the_table_are_kept_apart_from_its_header(tmp_path: Path) -> None:
    text = "Price list 2026,,\n,,\nref,name,price\n1,Bowl,2\n2,Cup,3\n"

    parsed = loader.load(make_text(tmp_path / "a.csv", text))

    assert [block.kind for block in parsed.blocks] == ["paragraph", "table"]
    assert _cells(parsed)[0] == ["ref", "name", "price"]


def test_figures_in_the_first_row_are_no_header(tmp_path: Path) -> None:
    parsed = loader.load(make_text(tmp_path / "a.csv", "1,2,3\n4,5,6\n"))

    assert not any(row.header for row in parsed.blocks[0].rows)


def test_quote_left_open_swallows_no_rows(tmp_path: Path) -> None:
    rows = "".join(f"{i},item {i}\n" for i in range(200))

    parsed = loader.load(make_text(tmp_path / "a.csv", f'id,name\n0,"open\n{rows}'))

    assert len(parsed.blocks[0].rows) == 202
    assert "quotes_unbalanced" in _warnings(parsed)


def test_rows_without_any_field_are_no_text(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        loader.load(make_text(tmp_path / "a.csv", ",,\n,,\n"))
    assert caught.value.code == "no_text"
