"""Excel workbooks (Office Open XML), and a clear refusal of the binary ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rag_source.domain.documents import ParsedDocument
from rag_source.domain.errors import SourceError
from rag_source.ingest.builder import DocumentBuilder
from rag_source.ingest.office_package import (
    OfficeKind,
    OfficePackage,
    PackageLimits,
    open_package,
)
from rag_source.ingest.sheet_annotations import append_comments, append_text_boxes
from rag_source.ingest.sheet_blocks import append_sheet
from rag_source.ingest.sheet_workbook import Sheet, Workbook, column_letters

__all__ = ["SpreadsheetPolicy", "loader"]

_KIND = OfficeKind(
    what="an Excel workbook", root="workbook", main="xl/workbook.xml", suffix=".xlsx"
)
_RUNS_LISTED = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class SpreadsheetPolicy:
    """What is read of a workbook.

    Attributes:
        limit_cells: Non-empty cells read of one file; the rest is left out with a warning.
            100,000 cells (5,000 rows of 20) take 3 s of a busy core and 120 MB, half a million
            18 s and 420 MB: more would not fit a worker of 1 GB with the chunker beside it.
        hidden_sheets: Read hidden sheets too; by default they are skipped and named.
    """

    limit_cells: int = 500_000
    hidden_sheets: bool = False


class _XlsxLoader:
    """Values, not formulas; dates as ISO; nothing that is hidden."""

    name = "xlsx"
    version = 1
    suffixes = (".xls", ".xlsb", ".xlsm", ".xlsx", ".xltm", ".xltx")

    def __init__(self, limits: PackageLimits, policy: SpreadsheetPolicy) -> None:
        self._limits = limits
        self._policy = policy

    def load(self, path: Path) -> ParsedDocument:
        builder = DocumentBuilder()
        with open_package(path, _KIND, self._limits) as (package, main, root):
            self._append_sheets(builder, package, Workbook(package, main, root))
            title = package.title()
            package.report(builder)
        if builder.is_empty:
            raise SourceError(
                f"{path.name!r} shows no cell with content",
                code="no_text",
                hint="If its sheets are hidden, show those that matter and save it again.",
            )
        return builder.build(title=title or path.stem, loader=self.name, version=self.version)

    def _append_sheets(
        self, builder: DocumentBuilder, package: OfficePackage, workbook: Workbook
    ) -> None:
        left = self._policy.limit_cells
        for entry in workbook.sheets:
            if entry.state != "visible" and not self._policy.hidden_sheets:
                builder.warn("hidden_sheet_skipped", f"The sheet {entry.name!r} is hidden.")
                continue
            if entry.part not in package:
                builder.warn("part_damaged", f"The sheet {entry.name!r} is missing in the file.")
                continue
            sheet = workbook.read(entry, limit_cells=left)
            left -= len(sheet.cells)
            append_sheet(builder, entry.name, sheet)
            append_text_boxes(builder, package, entry)
            append_comments(builder, package, entry, sheet)
            _warn(builder, entry.name, sheet)


def _warn(builder: DocumentBuilder, name: str, sheet: Sheet) -> None:
    if sheet.skipped_rows:
        rows = _listed(sheet.skipped_rows)
        builder.warn("hidden_rows_skipped", f"Sheet {name!r}: hidden rows {rows}.")
    if sheet.skipped_columns:
        columns = _listed(sheet.skipped_columns, column_letters)
        builder.warn("hidden_columns_skipped", f"Sheet {name!r}: hidden columns {columns}.")
    if sheet.blanked:
        builder.warn(
            "hidden_text", f"Sheet {name!r}: {sheet.blanked} cells whose format shows nothing."
        )
    if sheet.not_calculated:
        builder.warn(
            "formulas_not_calculated",
            f"Sheet {name!r}: {sheet.not_calculated} formulas have no stored value; "
            "open the file in a spreadsheet program and save it.",
        )
    if sheet.truncated_at:
        builder.warn(
            "truncated", f"Sheet {name!r} was read up to row {sheet.truncated_at - 1} only."
        )


def _listed(numbers: Sequence[int], name: Callable[[int], str] = str) -> str:
    """Ascending numbers as runs: `3-5, 8`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    parts = [name(a) if a == b else f"{name(a)}-{name(b)}" for a, b in runs]
    more = len(parts) - _RUNS_LISTED
    return ", ".join(parts[:_RUNS_LISTED]) + (f" and {more} more" if more > 0 else "")


loader = _XlsxLoader(PackageLimits(), SpreadsheetPolicy())
"""The loader that the registry finds."""
