"""Read a workbook's parts: its sheets, strings, formats, and the cells its reader sees.

Rows stream through, so a sheet that claims a million rows costs what it really holds. Hidden
rows and columns are left out here, and everything after works on what is visible.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple, TypeAlias

from rag_source.ingest.office_boilerplate import is_page_label
from rag_source.ingest.office_package import OfficePackage, Relation
from rag_source.ingest.office_xml import Element, attribute, child, children, local, stream_elements
from rag_source.ingest.sheet_stream import RawCell, SheetStream
from rag_source.ingest.sheet_values import (
    BUILT_IN_FORMATS,
    NumberFormat,
    display_number,
    read_format,
)

__all__ = [
    "Merge",
    "Sheet",
    "SheetCell",
    "SheetEntry",
    "Workbook",
    "address",
    "column_letters",
    "parse_range",
]

_ADDRESS = re.compile(r"\$?([A-Za-z]{1,3})\$?(\d{1,7})")
_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
_NO_SIZE = re.compile(r"0+(?:\.0+)?")
_PLAIN = NumberFormat()
_MOST_COLUMN = 16_384
_MOST_TABLES = 200
# Rows times merged cells that cover them: only files built to harm have so many.
_MOST_COVERED = 2_000_000
_Area: TypeAlias = tuple[int, int, int, int]
NOT_CALCULATED = "(not calculated)"


@dataclass(frozen=True, slots=True)
class SheetEntry:
    """A sheet as the workbook lists it; `state` is `visible`, `hidden` or `veryHidden`."""

    name: str
    state: str
    part: str


class SheetCell(NamedTuple):
    """What a cell shows. `row` and `column` count from 1 in the file, hidden ones included."""

    row: int
    column: int
    text: str
    figure: bool = False


@dataclass(frozen=True, slots=True)
class Merge:
    """How many visible rows and columns a merged cell covers."""

    height: int
    width: int


@dataclass(slots=True)
class Sheet:
    """The visible cells of a sheet, and what was left out of it.

    Attributes:
        cells: By the visible row and column they stand in (from 1), in reading order.
        merges: What merged cells cover, by the same positions.
        tables: First row, first column, last row, last column (visible) and number of header
            rows of each table object.
        hidden_rows: Those of the file, ascending; `hidden_columns` likewise.
        skipped_rows: The hidden ones that hold something; `skipped_columns` likewise.
        not_calculated: Formulas without a stored value.
        blanked: Cells that hold a number whose format shows nothing.
        truncated_at: The row at which reading stopped, 0 if it did not.
        margins: The printed header and footer.
    """

    cells: dict[tuple[int, int], SheetCell] = field(default_factory=dict)
    merges: dict[tuple[int, int], Merge] = field(default_factory=dict)
    tables: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    hidden_rows: list[int] = field(default_factory=list)
    hidden_columns: list[int] = field(default_factory=list)
    skipped_rows: list[int] = field(default_factory=list)
    skipped_columns: list[int] = field(default_factory=list)
    not_calculated: int = 0
    blanked: int = 0
    truncated_at: int = 0
    margins: list[str] = field(default_factory=list)

    def visible(self, row: int, column: int) -> tuple[int, int]:
        """The visible position of a position in the file."""
        return (
            row - bisect_left(self.hidden_rows, row),
            column - bisect_left(self.hidden_columns, column),
        )


class Workbook:
    """An open workbook.

    Args:
        package: The open file.
        main: The name of its main part.
        root: That part's root.
    """

    def __init__(self, package: OfficePackage, main: str, root: Element) -> None:
        self._package = package
        self._relations = package.relations(main)
        properties = child(root, "workbookPr")
        epoch = "" if properties is None else attribute(properties, "date1904")
        self._date1904 = epoch.lower() in ("1", "true", "on")
        self.sheets = tuple(self._list_sheets(root))
        self._strings = self._read_strings()
        self._formats = self._read_formats()

    def _list_sheets(self, root: Element) -> Iterator[SheetEntry]:
        for element in children(root, "sheets"):
            relation = self._relations.get(attribute(element, "id"))
            if relation is not None and relation.kind == "worksheet":
                state = attribute(element, "state", "visible")
                yield SheetEntry(attribute(element, "name"), state, relation.target)

    def _related(self, kind: str) -> Relation | None:
        return next((r for r in self._relations.values() if r.kind == kind), None)

    def _read_strings(self) -> list[str]:
        relation = self._related("sharedStrings")
        if relation is None or relation.target not in self._package:
            return []
        part, name = relation.target, self._package.name
        with self._package.stream(part) as stream:
            items = stream_elements(stream, "si", part=part, document=name)
            return [_string(item) for item in items]

    def _read_formats(self) -> list[NumberFormat]:
        """The number format of each cell style, by its index."""
        relation = self._related("styles")
        root = self._package.optional_xml(relation.target) if relation else None
        codes = dict(BUILT_IN_FORMATS)
        for element in children(root, "numFmts"):
            number = attribute(element, "numFmtId")
            if number.isdecimal():
                codes[int(number)] = attribute(element, "formatCode")
        formats = []
        for element in children(root, "cellXfs"):
            number = attribute(element, "numFmtId", "0")
            formats.append(read_format(codes.get(int(number), "") if number.isdecimal() else ""))
        return formats

    def read(self, entry: SheetEntry, *, limit_cells: int) -> Sheet:
        """The visible cells of a sheet, at most `limit_cells` of them.

        Raises:
            SourceError: `damaged` or `too_large`.
        """
        sheet, source = Sheet(), SheetStream()
        cells: list[SheetCell] = []
        number = 0
        with self._package.stream(entry.part) as stream:
            for row in source.rows(stream, part=entry.part, document=self._package.name):
                stored = row.attributes.get("r", "")
                number = int(stored) if stored.isdecimal() else number + 1
                if len(cells) >= limit_cells:
                    sheet.truncated_at = number
                    break
                if _is_hidden(row.attributes, "ht"):
                    sheet.hidden_rows.append(number)
                    if row.cells:
                        sheet.skipped_rows.append(number)
                else:
                    self._add_cells(cells, row.cells, number, sheet)
        sheet.hidden_rows.sort()
        sheet.hidden_columns = _hidden_columns(source.columns)
        margins = (_margin_text(code) for code in source.margins)
        sheet.margins = list(dict.fromkeys(margin for margin in margins if margin))
        _place(sheet, cells, [area for area in map(parse_range, source.merges) if area])
        for part in self._package.related(entry.part, "table")[:_MOST_TABLES]:
            self._add_table(part, sheet)
        return sheet

    def _add_cells(
        self, cells: list[SheetCell], row: Sequence[RawCell], number: int, sheet: Sheet
    ) -> None:
        column = 0
        for cell in row:
            column = _column_of(cell.reference) or column + 1
            text, figure = self._shown(cell, sheet)
            if text:
                cells.append(SheetCell(number, column, text, figure))

    def _shown(self, cell: RawCell, sheet: Sheet) -> tuple[str, bool]:
        """What the cell shows, and whether it is a number or a date."""
        form = self._format(cell.style)
        if form.kind == "hidden" and (cell.value or cell.text):
            sheet.blanked += 1
            return "", False
        if cell.formula is not None and not cell.value and cell.kind != "str":
            sheet.not_calculated += 1
            formula = cell.formula.strip() or "formula shared with another cell"
            return f"={formula} {NOT_CALCULATED}", False
        if cell.text is not None:
            return _unescaped(cell.text), False
        return self._value(cell.kind, cell.value or "", form)

    def _value(self, kind: str, value: str, form: NumberFormat) -> tuple[str, bool]:
        match kind:
            case "s":
                index = int(value) if value.isdecimal() else -1
                return (self._strings[index] if 0 <= index < len(self._strings) else ""), False
            case "str" | "e" | "inlineStr":
                return _unescaped(value), False
            case "b":
                return ("TRUE" if value.strip() in ("1", "true") else "FALSE"), False
            case "d":
                return value.replace("T", " ").removesuffix(" 00:00:00"), True
            case _:
                return display_number(value, form, date1904=self._date1904), bool(value)

    def _format(self, style: str) -> NumberFormat:
        if style.isdecimal() and int(style) < len(self._formats):
            return self._formats[int(style)]
        return _PLAIN

    def _add_table(self, part: str, sheet: Sheet) -> None:
        """Note where a table object lies; it knows its header better than any guess."""
        root = self._package.optional_xml(part)
        area = parse_range(attribute(root, "ref")) if root is not None else None
        if root is None or area is None:
            return
        headers = attribute(root, "headerRowCount", "1")
        top, left = sheet.visible(area[0], area[1])
        bottom, right = sheet.visible(area[2] + 1, area[3] + 1)
        count = int(headers) if headers.isdecimal() else 1
        if area[0] in sheet.hidden_rows:
            count = 0
        sheet.tables.append((top, left, bottom - 1, right - 1, count))


def address(row: int, column: int) -> str:
    """The address of a cell, such as `C12`; both count from 1."""
    return f"{column_letters(column)}{row}"


@cache
def column_letters(column: int) -> str:
    """The letters of a column that counts from 1."""
    letters = ""
    while column > 0:
        column, rest = divmod(column - 1, 26)
        letters = chr(65 + rest) + letters
    return letters


def parse_range(text: str) -> tuple[int, int, int, int] | None:
    """First row, first column, last row and last column of `A1:C3` or `A1`."""
    first, _, last = text.partition(":")
    begin = _ADDRESS.fullmatch(first.strip())
    end = _ADDRESS.fullmatch((last or first).strip())
    if begin is None or end is None:
        return None
    top, left = int(begin.group(2)), _column_number(begin.group(1))
    bottom, right = int(end.group(2)), _column_number(end.group(1))
    return min(top, bottom), min(left, right), max(top, bottom), max(left, right)


def _place(sheet: Sheet, cells: list[SheetCell], merges: list[_Area]) -> None:
    """Move the cells to their visible positions; of a merged cell only its own value is shown."""
    covers = _covers_by_row(cells, merges)
    hidden = frozenset(sheet.hidden_columns)
    as_stored = not hidden and not sheet.hidden_rows
    skipped: set[int] = set()
    for cell in cells:
        if cell.column in hidden:
            skipped.add(cell.column)
            continue
        if cell.row in covers and _is_covered(cell, covers[cell.row]):
            continue
        position = (cell.row, cell.column)
        sheet.cells[position if as_stored else sheet.visible(*position)] = cell
    sheet.skipped_columns = sorted(skipped)
    # A title merged over more columns than the sheet uses does not widen its table.
    last_row = max((cell.row for cell in cells), default=0)
    last_column = max((cell.column for cell in cells), default=0)
    for top, left, bottom, right in merges:
        row, column = sheet.visible(top, left)
        found = sheet.cells.get((row, column))
        if found is not None and (found.row, found.column) == (top, left):
            below, beside = sheet.visible(min(bottom, last_row) + 1, min(right, last_column) + 1)
            sheet.merges[row, column] = Merge(max(1, below - row), max(1, beside - column))


def _is_covered(cell: SheetCell, merges: Sequence[_Area]) -> bool:
    return any(
        left <= cell.column <= right and (top, left) != (cell.row, cell.column)
        for top, left, _, right in merges
    )


def _covers_by_row(cells: Sequence[SheetCell], merges: Sequence[_Area]) -> dict[int, list[_Area]]:
    """The merged ranges that cover something, by the rows that have cells."""
    if not merges:
        return {}
    rows = sorted({cell.row for cell in cells})
    covers: dict[int, list[_Area]] = {}
    noted = 0
    for merge in merges:
        begin, end = bisect_left(rows, merge[0]), bisect_left(rows, merge[2] + 1)
        noted += end - begin
        if noted > _MOST_COVERED:
            break
        for row in rows[begin:end]:
            covers.setdefault(row, []).append(merge)
    return covers


def _hidden_columns(columns: Sequence[Mapping[str, str]]) -> list[int]:
    hidden: set[int] = set()
    for run in columns:
        first, last = run.get("min", ""), run.get("max", "")
        if _is_hidden(run, "width") and first.isdecimal() and last.isdecimal():
            hidden.update(range(int(first), min(_MOST_COLUMN, int(last)) + 1))
    return sorted(hidden)


def _is_hidden(attributes: Mapping[str, str], size: str) -> bool:
    """Whether a row or column is hidden, or has no size."""
    if attributes.get("hidden", "0").lower() in ("1", "true", "on"):
        return True
    return _NO_SIZE.fullmatch(attributes.get(size, "")) is not None


def _column_of(reference: str) -> int:
    """The column of an address, 0 if it is none."""
    return _column_number(reference.rstrip("0123456789"))


@cache
def _column_number(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        if not "A" <= letter <= "Z":
            return 0
        number = number * 26 + ord(letter) - 64
    return number if number <= _MOST_COLUMN else 0


def _string(item: Element) -> str:
    """A string of plain or rich text, without its phonetic guide."""
    parts: list[str] = []
    for element in item:
        if local(element) == "t":
            parts.append(element.text or "")
        elif local(element) == "r":
            parts += [run.text or "" for run in element if local(run) == "t"]
    return _unescaped("".join(parts))


def _unescaped(text: str) -> str:
    """`_x000D_` and its like are characters that XML cannot hold (ECMA-376 part 1, 22.9.2.19)."""
    if "_x" not in text:
        return text
    return _ESCAPED.sub(lambda m: _character(int(m.group(1), 16)), text)


def _character(code: int) -> str:
    return "\ufffd" if 0xD800 <= code <= 0xDFFF else chr(code)


def _margin_text(code: str) -> str:
    """A printed header or footer without its layout codes, page numbers and dates."""
    code = code.replace("&&", "\0")
    code = re.sub(r"&[LCR]", "\n", code)
    code = re.sub(r'&"[^"]*"|&K[0-9A-Fa-f]{6}|&K\d\d[+-]\d{3}|&\d{1,3}|&.', "", code)
    lines = (line.strip() for line in code.replace("\0", "&").split("\n"))
    return "\n".join(line for line in lines if not is_page_label(line))
