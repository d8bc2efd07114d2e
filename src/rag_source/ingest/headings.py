"""Tell headings by what a reader sees: size first, then weight."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from rag_source.ingest.page_blocks import TextBlock

__all__ = ["heading_levels"]

_LARGER = 1.12
_MOST_LINES = 3
_MOST_CHARS = 160
_MOST_CHARS_BOLD = 90
_SENTENCE_END = re.compile(r"[.;,:،؛]$")
_MOST_LEVELS = 6


def heading_levels(blocks: Sequence[TextBlock]) -> dict[int, int]:
    """The level (1 to 6) of each block that is a heading, by the block's `id()`.

    The body's size is that of most characters. Larger sizes make the first levels; bold lines of
    the body's size make the next one.
    """
    weights: Counter[float] = Counter()
    for block in blocks:
        weights[_rounded(block.size)] += len(block.text)
    if not weights:
        return {}
    body = weights.most_common(1)[0][0]
    larger = [b for b in blocks if b.size >= _LARGER * body and _may_be_heading(b, _MOST_CHARS)]
    sizes = sorted({_rounded(block.size) for block in larger}, reverse=True)
    levels = {id(b): min(_MOST_LEVELS - 1, sizes.index(_rounded(b.size)) + 1) for b in larger}
    below = min(_MOST_LEVELS, len(sizes) + 1)
    all_bold = sum(len(b.text) for b in blocks if b.bold) > 0.5 * weights.total()
    if not all_bold:
        for block in blocks:
            if id(block) not in levels and _is_bold_heading(block, body):
                levels[id(block)] = below
    return levels


def _rounded(size: float) -> float:
    return round(size * 2) / 2


def _may_be_heading(block: TextBlock, most_chars: int) -> bool:
    text = block.text
    letters = sum(c.isalpha() for c in text)
    return (
        block.kind in ("paragraph", "list_item")
        and len(block.lines) <= _MOST_LINES
        and len(text) <= most_chars
        and letters >= 2
        and letters > sum(c.isdigit() for c in text)
    )


def _is_bold_heading(block: TextBlock, body: float) -> bool:
    return (
        block.bold
        and block.size >= 0.95 * body
        and len(block.lines) == 1
        and _may_be_heading(block, _MOST_CHARS_BOLD)
        and _SENTENCE_END.search(block.text.strip()) is None
    )
