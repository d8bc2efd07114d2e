"""Give a table the column names that the layout took for columns of text above it."""

from __future__ import annotations

from collections.abc import Sequence

from rag_source.ingest.layout import Row, rows_of
from rag_source.ingest.page_rows import aligned_tables
from rag_source.ingest.page_rulings import Rules

__all__ = ["with_column_names"]

_MOST_ROWS = 6
_LONGEST_NAME = 60
# In ems: how far names stand above the table at most, from line to line, and all together.
_FARTHEST_EM = 2.2
_APART_EM = 1.2
_DEEPEST_EM = 10.0


def with_column_names(
    regions: Sequence[list[Row]], rules: Rules, *, glyphs: bool, rtl: bool
) -> list[list[Row]]:
    """The regions of a page, short lines above a table joined to it if they are all its header.

    Names on several lines, each written as a whole, look like short columns side by side.
    """
    out: list[list[Row]] = list(regions[:1])
    for rows in regions[1:]:
        names: list[Row] = []
        kept = list(out)
        while kept and kept[-1] and (found := _names_above(kept[-1], rows)):
            names += found
            kept[-1] = kept[-1][: -len(found)]
            if kept[-1]:
                break
            kept.pop()
        if names:
            joined = rows_of([f for row in (*names, *rows) for f in row.fragments])
            tables = aligned_tables(joined, rules, glyphs=glyphs, rtl=rtl)
            if tables and tables[0].first == 0 and tables[0].table.headers:
                out = [*kept, joined]
                continue
        out.append(rows)
    return out


def _names_above(above: Sequence[Row], rows: Sequence[Row]) -> list[Row]:
    """The last rows of a region that are short, close above another, and within its sides."""
    if len(rows) < 3 or any(f.whole for row in rows[:3] for f in row.fragments):
        return []
    top, size = rows[0].y0, rows[0].size
    left, right = min(row.x0 for row in rows), max(row.x1 for row in rows)
    if not -size <= top - above[-1].y1 <= _FARTHEST_EM * size:
        return []
    found: list[Row] = []
    for row in reversed(above):
        is_name = all(len(f.text) <= _LONGEST_NAME and not f.whole for f in row.fragments)
        inside = row.x0 >= left - size and row.x1 <= right + size
        near = not found or found[0].y0 - row.y1 <= _APART_EM * size
        if not (is_name and inside and near and top - row.y0 <= _DEEPEST_EM * size):
            break
        found.insert(0, row)
    return found if len(found) <= _MOST_ROWS else []
