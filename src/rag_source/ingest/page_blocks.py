"""From the rows of a page to its blocks: paragraphs, list items, table rows, running lines."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from rag_source.domain.documents import BlockKind
from rag_source.ingest.bidi import base_direction, has_rtl, logical_order, logical_word
from rag_source.ingest.layout import Fragment, Item, Row, reading_order

__all__ = ["Line", "TextBlock", "is_running", "joined_text", "page_blocks", "running_key"]

_BULLET = re.compile(r"(?:[•▪‣◦●○■□➢✓*–—-]|\d{1,3}[.)]|[a-zA-Z][.)]|\([a-z0-9]{1,3}\))(?:\s|$)")
_TERMINAL = re.compile(r"[.!?:;…؟؛。！？][\"'»”’)\]]*$")
_PAGE_NUMBER = re.compile(
    r"[-–—|\s]*(?:(?:page|p\.?|pg\.?|صفحة|الصفحة|ص)\s*)?\d{1,4}"
    r"(?:\s*(?:/|of|sur|de|من)\s*\d{1,4})?[-–—|\s]*",
    re.IGNORECASE,
)
_ROMAN_PAGE = re.compile(r"[ivxlc]{1,7}", re.IGNORECASE)
_DIGITS = re.compile(r"\d+")
_CJK = re.compile("[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
# A line break was forced if the next word would have fitted; the slack allows for ragged right.
_SLACK_EM = 1.0
_WIDE_GAP = 1.4


@dataclass(frozen=True, slots=True)
class Line:
    """The words of a line in the order they are read."""

    words: tuple[Item, ...]
    size: float

    @property
    def text(self) -> str:
        return joined_text(self.words, self.size)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextBlock:
    """Lines that belong together, with what is needed to tell a heading."""

    kind: BlockKind
    lines: tuple[Line, ...]
    size: float
    bold: bool

    @property
    def text(self) -> str:
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
) -> list[TextBlock]:
    """The blocks of a page in reading order.

    Args:
        fragments: All fragments of one reading frame.
        height: Of the page in that frame.
        repeated: Keys of running headers and footers.
        glyphs: The items are glyph clusters whose order must be found, not words (whose letters
            are in order, as OCR gives them).
    """
    body = [f for f in fragments if not is_running(f, height, repeated)]
    margins = [f for f in fragments if is_running(f, height, repeated)]
    rtl = _is_rtl(fragments)
    blocks: list[TextBlock] = []
    for header in (f for f in margins if f.center < height / 2):
        blocks += _notes([header], glyphs, rtl)
    for rows in reading_order(body, right_to_left=rtl):
        blocks += _paragraphs(rows, glyphs, rtl)
    for footer in (f for f in margins if f.center >= height / 2):
        blocks += _notes([footer], glyphs, rtl)
    return [block for block in blocks if block.lines]


def joined_text(words: Sequence[Item], size: float) -> str:
    """The words of a line: a space between, none between ideographs that touch."""
    return "".join(separator + word.text for separator, word in separated(words, size))


def separated(words: Sequence[Item], size: float) -> Iterable[tuple[str, Item]]:
    """Each word with the separator before it."""
    before: Item | None = None
    for word in words:
        yield ("" if before is None or _touch(before, word, size) else " "), word
        before = word


def _touch(a: Item, b: Item, size: float) -> bool:
    if not (_CJK.match(a.text[-1]) and _CJK.match(b.text[0])):
        return False
    return b.box[0] - a.box[2] < 0.3 * size


def _is_rtl(fragments: Sequence[Fragment]) -> bool:
    text = "".join(f.text for f in fragments)
    letters = sum(c.isalpha() for c in text)
    return sum(has_rtl(c) for c in text if c.isalpha()) > 0.5 * letters


def _notes(fragments: Sequence[Fragment], glyphs: bool, rtl: bool) -> list[TextBlock]:
    line = _line(Row(tuple(fragments)), glyphs, rtl)
    if not line.words:
        return []
    first = fragments[0]
    return [TextBlock(kind="note", lines=(line,), size=first.size, bold=first.bold)]


def _paragraphs(rows: Sequence[Row], glyphs: bool, rtl: bool) -> list[TextBlock]:
    pitch = _pitch(rows)
    edge = min(row.x0 for row in rows) if rtl else max(row.x1 for row in rows)
    start = max(row.x1 for row in rows) if rtl else min(row.x0 for row in rows)
    blocks: list[TextBlock] = []
    group: list[tuple[Row, Line]] = []
    for row in rows:
        line = _line(row, glyphs, rtl)
        if not line.words:
            continue
        if group and _breaks(group[-1], (row, line), pitch, edge, start, rtl):
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
    pitch: float,
    edge: float,
    start: float,
    rtl: bool,
) -> bool:
    """Whether a new block begins between two rows of a region."""
    (upper, upper_line), (lower, lower_line) = before, after
    size = upper.size
    if upper.cells > 1 or lower.cells > 1 or _BULLET.match(lower_line.text):
        return True
    if lower.y0 - upper.y0 > _WIDE_GAP * pitch:
        return True
    if abs(lower.size - size) > 0.12 * size or upper.bold != lower.bold:
        return True
    room = upper.x0 - edge if rtl else edge - upper.x1
    first = lower_line.words[0].box
    if room > (first[2] - first[0]) + _SLACK_EM * size and not _hangs(upper, lower, size):
        return True
    indent = start - lower.x1 if rtl else lower.x0 - start
    flush = start - upper.x1 if rtl else upper.x0 - start
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


def _line(row: Row, glyphs: bool, page_is_rtl: bool) -> Line:
    items = sorted((item for f in row.fragments for item in f.items), key=lambda item: item.box[0])
    text = "".join(item.text for item in items)
    if not glyphs and not has_rtl(text):
        return Line(tuple(items), row.size)
    base = base_direction(text, page_is_rtl=page_is_rtl)
    words = items
    if glyphs:
        words = [_joined(word, base) for word in _cluster_words(items, row.size) if word]
    ordered = logical_order(words, lambda word: word.text, base)
    return Line(tuple(ordered), row.size)


def _cluster_words(items: Sequence[Item], size: float) -> list[list[Item]]:
    """Cut glyph clusters, sorted from left to right, at spaces and at gaps."""
    words: list[list[Item]] = [[]]
    for item in items:
        text = item.text
        last = words[-1][-1] if words[-1] else None
        if not text.strip():
            words.append([])
            continue
        if last is not None and item.box[0] - last.box[2] > _gap_of_words(last, item) * size:
            words.append([])
        words[-1].append(item)
        if text[-1].isspace() or text[0].isspace():
            words.append([])
    return words


def _gap_of_words(a: Item, b: Item) -> float:
    """The gap, in ems, that parts two words: hardly any where the script changes, because word
    processors draw the space of a turned word on its other side."""
    if a.text[-1].isalpha() and b.text[0].isalpha() and has_rtl(a.text) != has_rtl(b.text):
        return 0.03
    return 0.2


def _joined(clusters: Sequence[Item], base: str) -> Item:
    text = logical_word([c.text.strip() for c in clusters], "R" if base == "R" else "L")
    return Item(
        text=text,
        box=_hull([c.box for c in clusters]),
        source=_hull([c.source for c in clusters]),
    )


def _hull(boxes: Sequence[tuple[float, float, float, float]]) -> tuple[float, float, float, float]:
    return (
        min(b[0] for b in boxes),
        min(b[1] for b in boxes),
        max(b[2] for b in boxes),
        max(b[3] for b in boxes),
    )
