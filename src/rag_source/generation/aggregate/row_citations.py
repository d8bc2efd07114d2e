"""Cite the rows of a calculation: each quoted word for word, located and judged like any quote."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from rag_source.domain.answers import Citation
from rag_source.domain.chunks import Chunk, Segment, TextRange
from rag_source.domain.folding import fold
from rag_source.domain.ports import Catalogue
from rag_source.generation.aggregate.pools import PooledRow
from rag_source.generation.aggregate.tables import Row
from rag_source.generation.citing import CheckedMarker
from rag_source.generation.facts import ledger_of
from rag_source.generation.places import resolve
from rag_source.generation.quotes import locate
from rag_source.generation.shelf import Passage
from rag_source.generation.support import whole_line

__all__ = ["CitedRow", "RowCiter"]


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedRow:
    """A row to cite: where the answer shows it, and the figure that was taken from it."""

    pooled: PooledRow
    sentence: tuple[int, int]
    marker: int
    value: Decimal | None


class RowCiter:
    """Gives rows their markers, and citations.

    A row that stands in a passage of the search has its number; other tables get the numbers
    after those, one each.
    """

    def __init__(self, catalogue: Catalogue, passages: Sequence[Passage]) -> None:
        self._catalogue = catalogue
        self._passages = passages
        self._next = len(passages) + 1
        self._tables: dict[tuple[str, str], int] = {}

    def marker(self, one: PooledRow) -> int:
        """The number under which a row is cited; the same for the same passage or table."""
        source, table = one.candidate.source, one.candidate.table
        passage = self._passage(source.doc_id, one.row)
        if passage is not None:
            return passage.marker
        key = source.doc_id, table.block.id
        if key not in self._tables:
            self._tables[key] = self._next
            self._next += 1
        return self._tables[key]

    def cite(self, row: CitedRow) -> Citation:
        """The citation of a row, with its verdict."""
        source, item = row.pooled.candidate.source, row.pooled.row
        passage = self._passage(source.doc_id, item)
        text = source.parsed.text[item.start : item.end]
        chunk = passage.chunk if passage else _chunk_of(row.pooled, text)
        start = _position(chunk, item) if passage else 0
        quote = locate(text, chunk.text, near=start)
        reason = quote.reason or _disagreement(row, text)
        checked = CheckedMarker(
            number=row.marker,
            status="unverified" if reason else "verified",
            support=whole_line(row.marker, quote.start, quote.end),
            reason=reason,
            sentence=row.sentence,
            added=True,
        )
        return resolve(checked, chunk, self._catalogue)

    def _passage(self, doc_id: str, row: Row) -> Passage | None:
        for passage in self._passages:
            if passage.chunk.doc_id == doc_id and _position(passage.chunk, row) >= 0:
                return passage
        return None


def _position(chunk: Chunk, row: Row) -> int:
    """Where a row of the document begins in a chunk's text; -1 if the chunk does not hold it."""
    for segment in chunk.segments:
        length = segment.end - segment.start
        inside = row.start - segment.document_start
        if inside >= 0 and row.end - segment.document_start <= length:
            return segment.start + inside
    return -1


def _chunk_of(one: PooledRow, text: str) -> Chunk:
    """A row that no passage holds, as a passage of its own; it has no id in the index."""
    table = one.candidate.table
    return Chunk(
        chunk_id="",
        doc_id=table.doc_id,
        path=table.path,
        ordinal=0,
        text=text,
        segments=(Segment(start=0, end=len(text), document_start=one.row.start),),
        sentences=(TextRange(start=0, end=len(text)),),
        block_id=table.block.id,
        section=table.block.section,
        language=table.language,
    )


def _disagreement(row: CitedRow, text: str) -> str:
    """What the row does not say of the figure that was taken from it; empty if it says all."""
    column = row.pooled.candidate.target.column
    if row.value is None or column is None:
        return ""
    cell = row.pooled.row.cell(column)
    numbers = ledger_of(text).numbers
    plain = f"{row.value.normalize():f}"
    # A figure such as 1.500 has two readings; its column told which one is meant.
    spelt = re.sub(r"\D", "", fold(cell).text).strip("0")
    if plain in numbers or spelt == re.sub(r"\D", "", plain).strip("0"):
        return ""
    return f"not in the row: {plain}"
