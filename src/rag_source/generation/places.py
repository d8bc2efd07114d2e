"""Where a citation lies in its document: offsets, block, page and boxes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_source.domain.answers import Box, Citation, TablePlace
from rag_source.domain.chunks import Chunk, TextRange
from rag_source.domain.documents import Block, Page, ParsedDocument
from rag_source.domain.folding import fold
from rag_source.domain.geometry import displayed_box, merge_line_boxes
from rag_source.domain.ports import Catalogue
from rag_source.generation.citing import CheckedMarker
from rag_source.generation.support import FLOOR
from rag_source.generation.table_places import table_place

__all__ = ["DocumentPlace", "place_in_document", "place_of_ranges", "resolve"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPlace:
    """A range of the document text; `page` and `boxes` for paginated files, `table` for tables.

    `ranges` are the parts of `[start, end)` that are meant, in the order of the chunk's text.
    """

    start: int
    end: int
    block: str
    page: int | None
    boxes: tuple[Box, ...]
    table: TablePlace | None = None
    ranges: tuple[TextRange, ...] = ()


def resolve(marker: CheckedMarker, chunk: Chunk | None, catalogue: Catalogue) -> Citation:
    """The citation of a checked marker: the source's own words and where they stand.

    A rejected marker names no source. An unverified one whose lines hold too little of the
    sentence shows the whole chunk instead (SPEC A3).
    """
    if marker.support is None or chunk is None:
        return Citation(
            marker=marker.number,
            status=marker.status,
            score=0.0,
            reason=marker.reason,
            sentence=marker.sentence,
        )
    located = marker.status == "verified" or marker.support.score >= FLOOR
    start, end = marker.support.start, marker.support.end
    if not located:
        start, end = 0, len(chunk.text)
    place = place_in_document(chunk, start, end, catalogue)
    return Citation(
        marker=marker.number,
        status=marker.status,
        score=100.0 if located else 0.0,
        quote=chunk.text[start:end],
        path=chunk.path,
        page=place.page,
        block=place.block,
        start=place.start,
        end=place.end,
        boxes=place.boxes,
        chunk_id=chunk.chunk_id,
        reason=marker.reason,
        sentence=marker.sentence,
        added=marker.added,
        occurrences=_occurrences(chunk.text[start:end], chunk.text),
        table=place.table,
        doc_id=chunk.doc_id,
        ranges=place.ranges,
    )


def place_in_document(chunk: Chunk, start: int, end: int, catalogue: Catalogue) -> DocumentPlace:
    """Where `chunk.text[start:end]` stands in the original.

    A quote over a page break has boxes on both pages; words between its parts that are not in
    the chunk (a running footer) get none.
    """
    ranges = chunk.document_ranges(start, end) or chunk.document_ranges(0, len(chunk.text))
    parsed = catalogue.parsed(chunk.doc_id)
    if parsed is None:  # removed since it was found: the chunk itself is all there is
        return DocumentPlace(
            start=min(place.start for place in ranges),
            end=max(place.end for place in ranges),
            block=chunk.block_id,
            page=chunk.page,
            boxes=(),
            ranges=ranges,
        )
    place = place_of_ranges(ranges, parsed, catalogue, chunk.doc_id)
    return replace(place, block=place.block or chunk.block_id, page=place.page or chunk.page)


def place_of_ranges(
    ranges: Sequence[TextRange], parsed: ParsedDocument, catalogue: Catalogue, doc_id: str
) -> DocumentPlace:
    """Where ranges of the document text, at least one, stand in the original.

    `block` is empty where the first of them lies in none.
    """
    low = min(place.start for place in ranges)
    numbers = [page.number for page in parsed.pages if _meets(ranges, page.start, page.end)]
    pages = catalogue.pages(doc_id, numbers) if numbers else []
    block = _block_at(parsed, low)
    return DocumentPlace(
        start=low,
        end=max(place.end for place in ranges),
        block=block.id if block else "",
        page=numbers[0] if numbers else None,
        boxes=tuple(box for page in pages for box in _boxes(page, ranges)),
        table=table_place(parsed.text, block, ranges) if block else None,
        ranges=tuple(ranges),
    )


def _boxes(page: Page, ranges: Sequence[TextRange]) -> list[Box]:
    words = [word for word in page.words if _meets(ranges, word.start, word.end)]
    return merge_line_boxes([displayed_box(page, word) for word in words])


def _meets(ranges: Sequence[TextRange], start: int, end: int) -> bool:
    return any(place.start < end and start < place.end for place in ranges)


def _block_at(parsed: ParsedDocument, position: int) -> Block | None:
    for block in parsed.blocks:
        if block.start <= position < block.end:
            return block
    return None


def _occurrences(quote: str, text: str) -> int:
    """How often the words of a quote stand in its chunk, 1 at least."""
    needle = fold(quote).text
    words = re.compile(rf"(?<!\w){re.escape(needle)}(?!\w)") if needle else None
    return max(1, len(words.findall(fold(text).text))) if words else 1
