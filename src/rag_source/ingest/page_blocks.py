"""From the rows of a page to its blocks: paragraphs, list items, table rows, running lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from rag_source.domain.documents import BlockKind
from rag_source.ingest.builder import CELL_SEPARATOR
from rag_source.ingest.layout import Fragment, Row, reading_order, rows_of
from rag_source.ingest.page_bands import banded_lattices
from rag_source.ingest.page_grids import grid_table
from rag_source.ingest.page_lines import Line, is_rtl, line_of
from rag_source.ingest.page_regions import with_column_names
from rag_source.ingest.page_rows import aligned_tables
from rag_source.ingest.page_rulings import Rules, lattices
from rag_source.ingest.page_tables import PageTable, TableFragment

__all__ = ["TextBlock", "is_running", "page_blocks", "running_key"]

_BULLET = re.compile(r"(?:[•▪‣◦●○■□➢✓*–—-]|\d{1,3}[.)]|[a-zA-Z][.)]|\([a-z0-9]{1,3}\))(?:\s|$)")
_TERMINAL = re.compile(r"[.!?:;…؟؛。！？][\"'»”’)\]]*$")
_PAGE_NUMBER = re.compile(
    r"[-–—|\s]*(?:(?:page|p\.?|pg\.?|صفحة|الصفحة|ص)\s*)?\d{1,4}"
    r"(?:\s*(?:/|of|sur|de|من)\s*\d{1,4})?[-–—|\s]*",
    re.IGNORECASE,
)
_ROMAN_PAGE = re.compile(r"[ivxlc]{1,7}", re.IGNORECASE)
_DIGITS = re.compile(r"\d+")
# A line break was forced if the next word would have fitted; the slack allows for ragged right.
_SLACK_EM = 1.0
_WIDE_GAP = 1.4
_NO_RULES = Rules()
_CELLS_OF_TABLE = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class TextBlock:
    """Lines that belong together, with what is needed to tell a heading; or a table, no lines."""

    kind: BlockKind
    lines: tuple[Line, ...]
    size: float
    bold: bool
    table: PageTable | None = None

    @property
    def text(self) -> str:
        if self.table is not None:
            return "\n".join(
                CELL_SEPARATOR.join(cell.text for cell in row) for row in self.table.rows
            )
        return "\n".join(line.text for line in self.lines)


def running_key(fragment: Fragment) -> tuple[str, int]:
    """What a running header or footer has in common on all its pages: words and height."""
    return _DIGITS.sub("#", fragment.text.strip().lower()), round(fragment.y0 / 6)


def is_running(fragment: Fragment, height: float, repeated: frozenset[tuple[str, int]]) -> bool:
    """Whether a fragment is a running header, a footer or a page number.

    `repeated` are the keys that enough pages share; only the outer margins count.
    """
    margin = 0.12 * height
    if margin <= fragment.center <= height - margin:
        return False
    if running_key(fragment) in repeated:
        return True
    text = fragment.text.strip()
    edge = 0.08 * height
    at_edge = fragment.center < edge or fragment.center > height - edge
    return at_edge and bool(_PAGE_NUMBER.fullmatch(text) or _ROMAN_PAGE.fullmatch(text))


def page_blocks(
    fragments: Sequence[Fragment],
    *,
    height: float,
    repeated: frozenset[tuple[str, int]],
    glyphs: bool,
    rules: Rules = _NO_RULES,
) -> list[TextBlock]:
    """The blocks of a page in reading order.

    Args:
        fragments: All fragments of one reading frame.
        height: Of the page in that frame.
        repeated: Keys of running headers and footers.
        glyphs: The items are glyph clusters whose order must be found, not words (whose letters
            are in order, as OCR gives them).
        rules: What the page draws in that frame.
    """
    rtl = is_rtl(fragments)
    loose = _ruled(fragments, rules, glyphs, rtl)
    margins = _margins(loose, height, repeated)
    apart = {id(f) for f in margins}
    above = [f for f in margins if f.center < height / 2]
    regions = reading_order([f for f in loose if id(f) not in apart], right_to_left=rtl)
    # The names of a table's columns may stand at the top of every page.
    regions = with_column_names([rows_of(above), *regions], rules, glyphs=glyphs, rtl=rtl)
    running = {id(f) for row in regions[0] for f in row.fragments}
    is_apart = running <= apart
    blocks: list[TextBlock] = []
    for header in above:
        if is_apart and id(header) in running:
            blocks += _notes([header], glyphs, rtl)
    for rows in regions[is_apart:]:
        blocks += _region(rows, rules, glyphs, rtl)
    for footer in (f for f in margins if f.center >= height / 2):
        blocks += _notes([footer], glyphs, rtl)
    return [block for block in blocks if block.lines or block.table]


def _margins(
    fragments: Sequence[Fragment], height: float, repeated: frozenset[tuple[str, int]]
) -> list[Fragment]:
    """The running lines, but for rows of a table that reach into the margins.

    Rows of figures at one height of several pages look alike once digits are left out.
    """
    text = [f for f in fragments if not f.whole]
    margins = [f for f in text if is_running(f, height, repeated)]
    if not margins:
        return []
    apart = {id(f) for f in margins}
    rows = rows_of(text)
    running = [sum(id(f) in apart for f in row.fragments) for row in rows]
    own = [len(row.fragments) - count for row, count in zip(rows, running, strict=True)]
    # A row with more words of the page's own than running ones is a row of the page.
    body = [n > 1 and n >= count for n, count in zip(own, running, strict=True)]
    for order in (range(len(rows) - 2, -1, -1), range(1, len(rows))):
        step = -order.step
        for i in order:
            if not own[i] and (own[i + step] or body[i + step]):
                body[i] = body[i] or _is_table_row(rows, i, step)
    kept = {
        id(f) for row, is_body in zip(rows, body, strict=True) if is_body for f in row.fragments
    }
    return [f for f in margins if id(f) not in kept]


def _is_table_row(rows: Sequence[Row], i: int, step: int) -> bool:
    """Whether a row of many cells is as close to the next as the following ones are."""
    if len(rows[i].fragments) < _CELLS_OF_TABLE:
        return False

    def gap(k: int) -> float:
        upper, lower = sorted((k, k + step))
        return rows[lower].y0 - rows[upper].y1

    following = [gap(i + n * step) for n in range(1, 5) if 0 <= i + (n + 1) * step < len(rows)]
    return bool(following) and gap(i) <= 1.3 * median(following) + 1.0


def _ruled(fragments: Sequence[Fragment], rules: Rules, glyphs: bool, rtl: bool) -> list[Fragment]:
    """The fragments, those inside a ruled table replaced by the table as a whole."""
    loose = list(fragments)
    for lattice in (*lattices(rules), *banded_lattices(rules, fragments, rtl=rtl)):
        found = grid_table(lattice, loose, fills=rules.grounds, glyphs=glyphs, page_is_rtl=rtl)
        if found is not None:
            loose = [*found.rest, *found.titles, TableFragment.of(found.table)]
    return loose


def _region(rows: Sequence[Row], rules: Rules, glyphs: bool, rtl: bool) -> list[TextBlock]:
    """The blocks of a region: its tables, and the paragraphs between them."""
    blocks: list[TextBlock] = []
    text = [row for row in rows if not row.fragments[0].whole]
    measures = _Measures.of(text, rtl) if text else None
    loose: list[Row] = []
    for row in (*rows, None):
        first = row.fragments[0] if row is not None else None
        if row is not None and not isinstance(first, TableFragment):
            loose.append(row)
            continue
        if loose and measures is not None:
            blocks += _between(loose, rules, measures, glyphs, rtl)
            loose = []
        if isinstance(first, TableFragment):
            blocks.append(_table_block(first.table))
    return blocks


def _between(
    rows: Sequence[Row], rules: Rules, measures: _Measures, glyphs: bool, rtl: bool
) -> list[TextBlock]:
    """The blocks of rows without a ruled table among them."""
    blocks: list[TextBlock] = []
    done = 0
    for found in aligned_tables(rows, rules, glyphs=glyphs, rtl=rtl):
        blocks += _paragraphs(rows[done : found.first], measures, glyphs, rtl)
        blocks.append(_table_block(found.table))
        done = found.last
    return blocks + _paragraphs(rows[done:], measures, glyphs, rtl)


def _table_block(table: PageTable) -> TextBlock:
    return TextBlock(kind="table", lines=(), size=table.size, bold=False, table=table)


def _notes(fragments: Sequence[Fragment], glyphs: bool, rtl: bool) -> list[TextBlock]:
    line = line_of(Row(tuple(fragments)), glyphs, rtl)
    if not line.words:
        return []
    first = fragments[0]
    return [TextBlock(kind="note", lines=(line,), size=first.size, bold=first.bold)]


@dataclass(frozen=True, slots=True)
class _Measures:
    """Of a region: the distance between lines, and the edges where lines end and begin."""

    pitch: float
    edge: float
    start: float

    @classmethod
    def of(cls, rows: Sequence[Row], rtl: bool) -> _Measures:
        left, right = min(row.x0 for row in rows), max(row.x1 for row in rows)
        edge, start = (left, right) if rtl else (right, left)
        return cls(_pitch(rows), edge, start)


def _paragraphs(
    rows: Sequence[Row], measures: _Measures, glyphs: bool, rtl: bool
) -> list[TextBlock]:
    blocks: list[TextBlock] = []
    group: list[tuple[Row, Line]] = []
    for row in rows:
        line = line_of(row, glyphs, rtl)
        if not line.words:
            continue
        if group and _breaks(group[-1], (row, line), measures, rtl):
            blocks.append(_block(group))
            group = []
        group.append((row, line))
    if group:
        blocks.append(_block(group))
    return blocks


def _block(group: Sequence[tuple[Row, Line]]) -> TextBlock:
    kind: BlockKind = "paragraph"
    if group[0][0].cells > 1:
        kind = "record"
    elif _BULLET.match(group[0][1].text):
        kind = "list_item"
    return TextBlock(
        kind=kind,
        lines=tuple(line for _, line in group),
        size=max(group, key=lambda pair: len(pair[1].text))[0].size,
        bold=all(row.bold for row, _ in group),
    )


def _breaks(
    before: tuple[Row, Line],
    after: tuple[Row, Line],
    measures: _Measures,
    rtl: bool,
) -> bool:
    """Whether a new block begins between two rows of a region."""
    (upper, upper_line), (lower, lower_line) = before, after
    size = upper.size
    if upper.cells > 1 or lower.cells > 1 or _BULLET.match(lower_line.text):
        return True
    if lower.y0 - upper.y0 > _WIDE_GAP * measures.pitch:
        return True
    if abs(lower.size - size) > 0.12 * size or upper.bold != lower.bold:
        return True
    room = upper.x0 - measures.edge if rtl else measures.edge - upper.x1
    first = lower_line.words[0].box
    if room > (first[2] - first[0]) + _SLACK_EM * size and not _hangs(upper, lower, size):
        return True
    indent = measures.start - lower.x1 if rtl else lower.x0 - measures.start
    flush = measures.start - upper.x1 if rtl else upper.x0 - measures.start
    return (
        0.8 * size < indent < 6 * size
        and flush < 0.3 * size
        and _TERMINAL.search(upper_line.text) is not None
    )


def _hangs(upper: Row, lower: Row, size: float) -> bool:
    """Centred lines of a heading or caption: nothing can be told from where they end."""
    middle = (upper.x0 + upper.x1) / 2 - (lower.x0 + lower.x1) / 2
    return abs(middle) < 0.5 * size and abs(upper.x0 - lower.x0) > size


def _pitch(rows: Sequence[Row]) -> float:
    """The usual distance between lines, never more than double spacing of the rows' own size."""
    size = median(row.size for row in rows)
    steps = [b.y0 - a.y0 for a, b in pairwise(rows) if b.y0 - a.y0 > 0.5 * size]
    return min(median(steps), 2.2 * size) if len(steps) > 1 else 1.4 * size
