"""CSV, TSV and their cousins: one table, its physical line numbers kept, no row dropped."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rag_source.domain.documents import ParsedDocument, RowPlace
from rag_source.domain.errors import SourceError
from rag_source.ingest.builder import DocumentBuilder, RowText
from rag_source.ingest.decoding import decode, read_bytes
from rag_source.ingest.tables import is_figure, looks_like_header

__all__ = ["loader"]

_DELIMITERS = (",", ";", "\t", "|")
_QUOTES = ('"', "'")
_SAMPLE_CHARS = 65_536
_SAMPLE_ROWS = 200
_LONGEST_FIELD = 16 * 1024 * 1024
# A quote left open swallows rows: more line breaks in one field than any address or note has.
_MOST_BREAKS_IN_FIELD = 60
_ROWS_LISTED = 10


@dataclass(frozen=True, slots=True)
class _Dialect:
    delimiter: str
    quote: str | None


@dataclass(frozen=True, slots=True)
class _Row:
    line: int
    cells: tuple[str, ...]


class _DelimitedLoader:
    name = "delimited"
    version = 1
    suffixes = (".csv", ".tab", ".tsv")

    def load(self, path: Path) -> ParsedDocument:
        decoded = decode(read_bytes(path), name=path.name)
        dialect = _detect(decoded.text)
        builder = DocumentBuilder()
        rows = _read(decoded.text, dialect)
        if dialect.quote is not None and _swallowed(rows):
            builder.warn("quotes_unbalanced", "A quote is never closed; quotes were read as text.")
            dialect = _Dialect(dialect.delimiter, None)
            rows = _read(decoded.text, dialect)
        rows = [row for row in rows if any(cell.strip() for cell in row.cells)]
        if not rows:
            raise SourceError(
                f"{path.name!r} has no row with text", code="no_text", hint="Export it again."
            )
        _append(builder, rows)
        if decoded.repaired:
            builder.warn("encoding_repaired", f"Some bytes did not fit {decoded.encoding}.")
        separator = {"\t": "tab"}.get(dialect.delimiter, dialect.delimiter)
        builder.warn("read_as", f"Read as {decoded.encoding}, fields separated by {separator!r}.")
        return builder.build(title=path.stem, loader=self.name, version=self.version)


def _append(builder: DocumentBuilder, rows: Sequence[_Row]) -> None:
    """Lines above the table as paragraphs, then the table with its header rows marked."""
    width = _usual_width(rows)
    first = next(i for i, row in enumerate(rows) if _filled_width(row) >= min(width, 2))
    first = _header_index(rows, width) if width > 1 else first
    for row in rows[:first]:
        builder.text("\n".join(cell for cell in row.cells if cell.strip()), place=_place(row))
    table = rows[first:]
    headers = _header_rows(table)
    expected = len(table[0].cells) if headers else width
    trailing = all(len(row.cells) > 1 and not row.cells[-1].strip() for row in table)
    malformed = [row for row in table if not _fits(row, expected, width)]
    texts = [
        RowText(
            cells=row.cells[:-1] if trailing else row.cells, header=i < headers, place=_place(row)
        )
        for i, row in enumerate(table)
    ]
    builder.table(texts, place=_place(table[0]))
    if malformed:
        listed = ", ".join(str(row.line) for row in malformed[:_ROWS_LISTED])
        more = f" and {len(malformed) - _ROWS_LISTED} more" if len(malformed) > _ROWS_LISTED else ""
        what, where = ("row does", "line") if len(malformed) == 1 else ("rows do", "lines")
        builder.warn(
            "rows_malformed",
            f"{len(malformed)} {what} not have {expected} fields ({where} {listed}{more}); "
            "kept as found.",
        )


def _place(row: _Row) -> RowPlace:
    return RowPlace(row=row.line)


def _fits(row: _Row, expected: int, usual: int) -> bool:
    """Whether a row has the header's fields; one empty field more is a trailing delimiter."""
    count = len(row.cells)
    return count in (expected, usual) or (count == expected + 1 and not row.cells[-1].strip())


def _header_index(rows: Sequence[_Row], width: int) -> int:
    """The first row as wide as the table: what stands above it is a preamble."""
    for i, row in enumerate(rows[:50]):
        if _filled_width(row) * 2 > width:
            return i
    return 0


def _header_rows(table: Sequence[_Row]) -> int:
    """How many rows name the columns: none, one, or the same one written twice."""
    if not looks_like_header(table[0].cells, [row.cells for row in table[1:30]]):
        return 0
    again = len(table) > 2 and [c.strip() for c in table[1].cells if c] == [
        c.strip() for c in table[0].cells if c
    ]
    return 2 if again else 1


def _filled_width(row: _Row) -> int:
    return sum(bool(cell.strip()) for cell in row.cells)


def _usual_width(rows: Sequence[_Row]) -> int:
    return Counter(len(row.cells) for row in rows).most_common(1)[0][0]


def _read(text: str, dialect: _Dialect, limit: int | None = None) -> list[_Row]:
    """All rows with the physical line each starts on, counted from 1."""
    csv.field_size_limit(_LONGEST_FIELD)
    reader = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=dialect.delimiter,
        quotechar=dialect.quote or '"',
        quoting=csv.QUOTE_NONE if dialect.quote is None else csv.QUOTE_MINIMAL,
        skipinitialspace=False,
        strict=False,
    )
    rows: list[_Row] = []
    line = 1
    for cells in reader:
        rows.append(_Row(line, tuple(cells)))
        line = reader.line_num + 1
        if limit is not None and len(rows) >= limit:
            break
    return rows


def _swallowed(rows: Sequence[_Row]) -> bool:
    return any(cell.count("\n") > _MOST_BREAKS_IN_FIELD for row in rows for cell in row.cells)


def _detect(text: str) -> _Dialect:
    """The delimiter and quote under which the first rows agree best."""
    sample = text[:_SAMPLE_CHARS]
    if len(text) > _SAMPLE_CHARS:
        sample = sample[: sample.rfind("\n") + 1] or sample
    declared = sample[:6].lower()
    if declared.startswith("sep=") and declared[4:5] in _DELIMITERS:
        return _Dialect(declared[4], '"')
    best, best_score = _Dialect(",", '"'), -1.0
    for quote in _QUOTES:
        if quote == "'" and not _quotes_fields(sample, quote):
            continue
        for delimiter in _DELIMITERS:
            dialect = _Dialect(delimiter, quote)
            score = _agreement(_read(sample, dialect, _SAMPLE_ROWS), delimiter)
            if score > best_score + 1e-9:
                best, best_score = dialect, score
    return best


def _quotes_fields(sample: str, quote: str) -> bool:
    """Whether fields begin and end with this quote, not just words with an apostrophe."""
    opened = sum(sample.count(f"{delimiter}{quote}") for delimiter in _DELIMITERS)
    closed = sum(sample.count(f"{quote}{delimiter}") for delimiter in _DELIMITERS)
    doubled = sum(sample.count(f'{delimiter}"') for delimiter in _DELIMITERS)
    return min(opened, closed) > max(2, 2 * doubled)


def _agreement(rows: Sequence[_Row], delimiter: str) -> float:
    """0..1: rows of one width, wide, whose fields hold no other delimiter.

    A decimal comma inside a field does not count: it stands between digits.
    """
    counts = Counter(len(row.cells) for row in rows if any(cell.strip() for cell in row.cells))
    if not counts:
        return 0.0
    width, rows_of_width = counts.most_common(1)[0]
    if width < 2:
        return 0.0
    consistency = rows_of_width / counts.total()
    fields = [cell for row in rows for cell in row.cells if cell.strip()]
    others = [other for other in _DELIMITERS[1:] if other != delimiter]
    clean = sum(
        is_figure(cell) or len(cell) > 60 or not any(other in cell for other in others)
        for cell in fields
    )
    return consistency * (1 - 1 / (width + 1)) * (clean / len(fields))


loader = _DelimitedLoader()
