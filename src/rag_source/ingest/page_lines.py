"""From the fragments of a line to its words, in the order they are read, and what parts them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rag_source.ingest.bidi import base_direction, has_rtl, logical_order, logical_word
from rag_source.ingest.layout import Fragment, Item, Row

__all__ = ["Line", "is_rtl", "joined_text", "line_of", "separated"]

_CJK = re.compile("[\u3000-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")


@dataclass(frozen=True, slots=True)
class Line:
    """The words of a line in the order they are read."""

    words: tuple[Item, ...]
    size: float

    @property
    def text(self) -> str:
        return joined_text(self.words, self.size)


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


def is_rtl(fragments: Sequence[Fragment]) -> bool:
    """Whether most letters are of a right-to-left script."""
    text = "".join(f.text for f in fragments)
    letters = sum(c.isalpha() for c in text)
    return sum(has_rtl(c) for c in text if c.isalpha()) > 0.5 * letters


def line_of(row: Row, glyphs: bool, page_is_rtl: bool) -> Line:
    """The row as words in reading order; `glyphs` as in `PageText`."""
    items = sorted((item for f in row.fragments for item in f.items), key=lambda item: item.box[0])
    if not glyphs:
        items = [stripped for item in items if (stripped := _stripped(item)).text]
    text = "".join(item.text for item in items)
    if not glyphs and not has_rtl(text):
        return Line(tuple(items), row.size)
    base = base_direction(text, page_is_rtl=page_is_rtl)
    words = items
    if glyphs:
        words = [_joined(word, base) for word in _cluster_words(items, row.size) if word]
        words = [word for word in words if word.text]
    ordered = logical_order(words, lambda word: word.text, base)
    return Line(tuple(ordered), row.size)


def _stripped(word: Item) -> Item:
    """The word without the white space that some files count to it: a text has none at its ends."""
    text = word.text.strip()
    return word if text == word.text else replace(word, text=text)


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


def _hull(
    boxes: Sequence[tuple[float, float, float, float]],
) -> tuple[float, float, float, float]:
    return (
        min(b[0] for b in boxes),
        min(b[1] for b in boxes),
        max(b[2] for b in boxes),
        max(b[3] for b in boxes),
    )
