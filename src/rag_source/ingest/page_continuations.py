"""Tables that go on over the page: which header, pages above, names the columns of a part.

The document text says a header once, where the page shows it. A part without one refers to it, so
that its chunks carry it and a citation of it opens the page it stands on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rag_source.ingest.page_blocks import TextBlock
from rag_source.ingest.page_tables import PageTable

__all__ = ["continued_tables"]

# How far, in points, edges of the same columns lie apart: rules hardly, words more.
_NEAR_RULED = 4.0
_NEAR = 15.0
_NEAR_OUTER = 40.0
_CONTINUED = re.compile(r"\b(?:continued|cont['’]?d|cont\.|suite|fortsetzung)|تابع", re.IGNORECASE)
_LONGEST_NOTICE = 120


def continued_tables(pages: Sequence[Sequence[TextBlock]]) -> dict[int, PageTable]:
    """For tables that continue one of the page before: the table whose header is theirs.

    Args:
        pages: The blocks of each page in reading order.

    Returns:
        By `id()` of the continuing table, the table (of the nearest page) that has the header.
    """
    origins: dict[int, PageTable] = {}
    before: PageTable | None = None
    for blocks in pages:
        body = [block for block in blocks if block.kind != "note"]
        first = _first_table(body)
        if first is not None and before is not None and _goes_on(before, first):
            origin = origins.get(id(before), before)
            if origin.headers:
                origins[id(first)] = origin
        before = body[-1].table if body else None
    return origins


def _first_table(body: Sequence[TextBlock]) -> PageTable | None:
    """The table that a page begins with, perhaps below a line that says that it goes on."""
    for block in body:
        if block.table is not None:
            return block.table
        if len(block.text) > _LONGEST_NOTICE or not _CONTINUED.search(block.text):
            return None
    return None


def _goes_on(before: PageTable, after: PageTable) -> bool:
    """Whether the columns are the same and the second table has no names of its own."""
    if after.headers or len(before.edges) != len(after.edges):
        return False
    inner = zip(before.edges[1:-1], after.edges[1:-1], strict=True)
    ends = ((before.edges[0], after.edges[0]), (before.edges[-1], after.edges[-1]))
    if before.ruled and after.ruled:
        return all(abs(a - b) <= _NEAR_RULED for a, b in (*inner, *ends))
    return all(abs(a - b) <= _NEAR for a, b in inner) and all(
        abs(a - b) <= _NEAR_OUTER for a, b in ends
    )
