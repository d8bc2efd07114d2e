"""From the pages of a paginated file, as fragments with boxes, to blocks, pages and word boxes.

PDF pages and recognised pictures go the same way from here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_source.domain.documents import Page, PagePlace, WordBox
from rag_source.ingest.builder import DocumentBuilder
from rag_source.ingest.frames import Frame
from rag_source.ingest.headings import heading_levels
from rag_source.ingest.layout import Fragment
from rag_source.ingest.page_blocks import TextBlock, page_blocks, running_key, separated

__all__ = ["PageText", "append_pages", "listed"]

_MARGINAL = 0.2


@dataclass(frozen=True, slots=True)
class PageText:
    """What one page holds, before its place in the document is known.

    `width`, `height` and `rotation` are those of `Page`. `frames` are the fragments of each
    reading frame, the one with most text first. `glyphs` says that items are glyph clusters, not
    words. `damaged` says that the text is not what a reader sees. `recognised` is the mean
    confidence (0..100) of a page that was read by OCR, otherwise None.
    """

    number: int
    width: float
    height: float
    rotation: int
    frames: tuple[tuple[Frame, tuple[Fragment, ...]], ...]
    glyphs: bool
    damaged: bool
    recognised: float | None = None


def append_pages(builder: DocumentBuilder, pages: Sequence[PageText]) -> None:
    """Append the blocks of the pages in reading order, and the pages with their words."""
    repeated = _repeated(pages)
    laid_out = [(page, _blocks(page, repeated)) for page in pages]
    levels = heading_levels([block for _, blocks in laid_out for block in blocks])
    for page, blocks in laid_out:
        place = PagePlace(page=page.number)
        start: int | None = None
        words: list[WordBox] = []
        for block in blocks:
            text, boxes = _composed(block)
            level = levels.get(id(block))
            at = (
                builder.heading(text, level, place)
                if level
                else builder.text(text, block.kind, place)
            )
            if at is None:
                continue
            start = at if start is None else start
            words += [replace(box, start=box.start + at, end=box.end + at) for box in boxes]
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
        found = page_blocks(fragments, height=frame.height, repeated=repeated, glyphs=page.glyphs)
        if i and sum(len(f.text) for f in fragments) < _MARGINAL * total:
            # A stamp or a side note, written across the reading direction of the page.
            found = [replace(block, kind="note") for block in found]
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
            x0, y0, x1, y1 = word.source
            boxes.append(
                WordBox(
                    start=start,
                    end=length,
                    x0=x0,
                    y0=y0,
                    x1=x1,
                    y1=y1,
                    confidence=word.confidence,
                )
            )
    return "".join(parts), boxes
