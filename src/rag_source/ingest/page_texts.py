"""From the pages of a paginated file, as fragments with boxes, to blocks, pages and word boxes.

PDF pages and recognised pictures go the same way from here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_source.domain.documents import Cell, Page, PagePlace, TableRow, WordBox
from rag_source.ingest.builder import CELL_SEPARATOR, DocumentBuilder, RowText
from rag_source.ingest.frames import Frame
from rag_source.ingest.headings import heading_levels
from rag_source.ingest.layout import Fragment, Item
from rag_source.ingest.page_blocks import TextBlock, page_blocks, running_key
from rag_source.ingest.page_continuations import continued_tables
from rag_source.ingest.page_lines import separated
from rag_source.ingest.page_rulings import Drawn, Rules, rules_of
from rag_source.ingest.page_tables import PageTable

__all__ = ["PageText", "append_pages", "listed"]

_MARGINAL = 0.2


@dataclass(frozen=True, slots=True)
class PageText:
    """What one page holds, before its place in the document is known.

    `width`, `height` and `rotation` are those of `Page`. `frames` are the fragments of each
    reading frame, the one with most text first. `glyphs` says that items are glyph clusters, not
    words. `damaged` says that the text is not what a reader sees. `recognised` is the mean
    confidence (0..100) of a page that was read by OCR, otherwise None. `drawn` are the rectangles
    that the page shows, in its own frame.
    """

    number: int
    width: float
    height: float
    rotation: int
    frames: tuple[tuple[Frame, tuple[Fragment, ...]], ...]
    glyphs: bool
    damaged: bool
    recognised: float | None = None
    drawn: tuple[Drawn, ...] = ()

    def rules(self, frame: Frame) -> Rules:
        """The rules that the page draws, in a reading frame; a recognised page is all picture."""
        if not self.drawn or self.recognised is not None:
            return Rules()
        return rules_of([Drawn(frame.turned(box), outline) for box, outline in self.drawn])


def append_pages(builder: DocumentBuilder, pages: Sequence[PageText]) -> None:
    """Append the blocks of the pages in reading order, and the pages with their words."""
    repeated = _repeated(pages)
    laid_out = [(page, _blocks(page, repeated)) for page in pages]
    levels = heading_levels([block for _, blocks in laid_out for block in blocks])
    origins = continued_tables([blocks for _, blocks in laid_out])
    headers: dict[int, tuple[TableRow, ...]] = {}
    for page, blocks in laid_out:
        place = PagePlace(page=page.number)
        start: int | None = None
        words: list[WordBox] = []
        for block in blocks:
            if block.table is not None:
                origin = origins.get(id(block.table))
                header = headers.get(id(origin), ())
                at, boxes, headers[id(block.table)] = _append_table(
                    builder, block.table, place, header
                )
            else:
                at, boxes = _append_text(builder, block, levels.get(id(block)), place)
            if at is None:
                continue
            start = at if start is None else start
            words += boxes
        builder.page(
            Page(
                number=page.number,
                width_pt=page.width,
                height_pt=page.height,
                rotation=page.rotation,
                start=builder.length if start is None else start,
                end=builder.length,
                words=tuple(words),
            )
        )


def _append_text(
    builder: DocumentBuilder, block: TextBlock, level: int | None, place: PagePlace
) -> tuple[int | None, list[WordBox]]:
    """Append a block of text; returns where it starts, and the boxes of its words."""
    text, boxes = _composed(block)
    at = builder.heading(text, level, place) if level else builder.text(text, block.kind, place)
    if at is None:
        return None, []
    return at, [replace(box, start=box.start + at, end=box.end + at) for box in boxes]


def _append_table(
    builder: DocumentBuilder, table: PageTable, place: PagePlace, header: tuple[TableRow, ...]
) -> tuple[int | None, list[WordBox], tuple[TableRow, ...]]:
    """Append a table; returns where it starts, the boxes of its words, and its header rows.

    A word that several header paths share has a box in each of them. `header` is that of an
    earlier part of the table.
    """
    rows = [row for row in table.rows if any(cell.words for cell in row)]
    texts = [tuple(cell.text for cell in row) for row in rows]
    at = builder.table(
        [
            RowText(cells=cells, header=i < table.headers, place=place)
            for i, cells in enumerate(texts)
        ],
        place,
        header,
    )
    if at is None:
        return None, [], ()
    boxes: list[WordBox] = []
    own: list[TableRow] = []
    offset = at
    for i, row in enumerate(rows):
        start = offset
        cells: list[Cell] = []
        for j, cell in enumerate(row):
            offset += len(CELL_SEPARATOR) if j else 0
            cell_start = offset
            for separator, word in cell.words:
                boxes.append(_word_box(word, offset + len(separator)))
                offset = boxes[-1].end
            cells.append(Cell(start=cell_start, end=offset))
        if i < table.headers:
            own.append(
                TableRow(start=start, end=offset, cells=tuple(cells), header=True, place=place)
            )
        offset += 1
    return at, boxes, tuple(own)


def listed(numbers: Sequence[int]) -> str:
    """Page numbers in words, runs shortened: `1, 3-5`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


def _blocks(page: PageText, repeated: frozenset[tuple[str, int]]) -> list[TextBlock]:
    blocks: list[TextBlock] = []
    total = sum(len(f.text) for _, fragments in page.frames for f in fragments)
    for i, (frame, fragments) in enumerate(page.frames):
        found = page_blocks(
            fragments,
            height=frame.height,
            repeated=repeated,
            glyphs=page.glyphs,
            rules=page.rules(frame),
        )
        if i and sum(len(f.text) for f in fragments) < _MARGINAL * total:
            # A stamp or a side note, written across the reading direction of the page.
            found = [block if block.table else replace(block, kind="note") for block in found]
        blocks += found
    return blocks


def _repeated(pages: Sequence[PageText]) -> frozenset[tuple[str, int]]:
    """Keys that at least three pages, and two in five, share; both pages of a document of two."""
    counts: Counter[tuple[str, int]] = Counter()
    for page in pages:
        keys = {running_key(f) for _, fragments in page.frames[:1] for f in fragments}
        counts.update(keys)
    needed = 2 if len(pages) == 2 else max(3, round(0.4 * len(pages)))
    return frozenset(key for key, count in counts.items() if count >= needed)


def _composed(block: TextBlock) -> tuple[str, list[WordBox]]:
    """The block's text and the boxes of its words, ranges relative to the text."""
    parts: list[str] = []
    boxes: list[WordBox] = []
    length = 0
    for i, line in enumerate(block.lines):
        for j, (separator, word) in enumerate(separated(line.words, line.size)):
            if j == 0 and i:
                separator = "\n"
            parts.append(separator + word.text)
            start = length + len(separator)
            length = start + len(word.text)
            boxes.append(_word_box(word, start))
    return "".join(parts), boxes


def _word_box(word: Item, start: int) -> WordBox:
    x0, y0, x1, y1 = word.source
    return WordBox(
        start=start,
        end=start + len(word.text),
        x0=x0,
        y0=y0,
        x1=x1,
        y1=y1,
        confidence=word.confidence,
    )
