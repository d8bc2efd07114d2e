"""A document as HTML, from the same parse as its chunks, and the way from a range to an element.

The page is made of *bearers*: elements with an `id` and a `data-start`, never one inside another.
The text of a bearer, all its text nodes joined, is `text[data-start : data-start + length]` of the
document text, unchanged; lengths and positions count code points, where JavaScript counts UTF-16
units. What stands in no bearer is markup, or one of the separators that a table or a list of
fields shows by its form: blank lines between blocks, `" | "` between cells, line breaks between
rows and between the fields of a record. Nothing is searched for: `anchors` maps a range by
arithmetic alone.

Tags and attributes come from the lists below; a document gives nothing but escaped text and the
escaped value of `data-place`. No style, no script, no link: the page that shows a rendition must
give `white-space: pre-wrap` to the bearers, or line breaks inside a block are not seen.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from itertools import takewhile
from typing import Literal, NamedTuple, TypeAlias

from rag_source.domain.chunks import TextRange
from rag_source.domain.documents import Block, Cell, ParsedDocument, Place, TableRow

__all__ = [
    "ATTRIBUTES",
    "RENDITION_VERSION",
    "TAGS",
    "Anchor",
    "Rendition",
    "anchors",
    "place_label",
    "render",
]

RENDITION_VERSION = 1
"""Raised whenever the same parse would give other bytes."""

TAGS = frozenset(
    "html head meta title body article h1 h2 h3 h4 h5 h6 p ul li aside dl div dt dd "
    "table thead tbody tr th td".split()
)
"""Every tag a rendition may hold."""

ATTRIBUTES = frozenset(
    "charset class data-from data-length data-place data-start data-to dir id lang scope".split()
)
"""Every attribute a rendition may hold."""

_Direction: TypeAlias = Literal["ltr", "rtl"]

_LETTER = re.compile(r"[^\W\d_]")
# NUL and halves of surrogate pairs have no place in an HTML file in UTF-8. One character stands
# for one, so that every position stays.
_UNWRITABLE = re.compile("[\x00\ud800-\udfff]")
_SPECIAL = re.compile("[&<>\r\x00\ud800-\udfff]")
# Rows that come again with each part of a table; a table of nothing but names is rows all the same.
_MOST_HEADER_ROWS = 5
# A field of a record: its name, then a colon at the end of the line or before a space.
_FIELD = re.compile(r"^(?=\S)[^\n]{1,200}?:(?: |$)", re.MULTILINE)
# A list item that brings its own mark must not get a second one.
_MARK = re.compile(
    r"(?:[•▪▫‣◦●○■□➢✓✔*·–—-]|\(?(?:\d{1,3}(?:\.\d{1,3})*|[^\W\d_]|[ivxlc]{1,6})[.)])(?=\s)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rendition:
    """HTML of the part `[start, end)` of the document text: whole blocks and rows.

    `html` is a complete page without line ends of other systems; as UTF-8 it has no errors. What
    to show is its `article`, whose `data-from` and `data-to` are `start` and `end`, and whose
    `data-length` is the length of the document text.
    """

    html: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """A piece of the document text in a rendition: characters `[start, end)` of an element.

    `element` is the id of a bearer; both positions count code points of its text.
    """

    element: str
    start: int
    end: int


class _Field(NamedTuple):
    """A field of a record: where it starts, where its value starts, where it ends."""

    start: int
    value: int
    end: int


def render(parsed: ParsedDocument, window: TextRange | None = None) -> Rendition:
    """The rendition of a document, or of a part of it.

    The same parse gives the same bytes, and an element has the same id in every part.

    Args:
        parsed: Any parse; the pages of a paginated document are not told apart.
        window: The part of the document text that is wanted. Blocks that meet it come whole; of a
            table, the rows that meet it under the table's header.
    """
    window = window or TextRange(start=0, end=len(parsed.text))
    return _Writer(parsed, window).rendition()


def anchors(parsed: ParsedDocument, start: int, end: int) -> tuple[Anchor, ...]:
    """Where the range `[start, end)` of the document text stands in its rendition, in order.

    Separators map to nothing, and so do positions outside of the text: the result is empty only
    for a range that holds nothing else.
    """
    found: list[Anchor] = []
    window = TextRange(start=start, end=end)
    for block in _blocks(parsed, window):
        for name, at, stop in _bearers(parsed.text, block, window):
            low, high = max(start, at), min(end, stop)
            if low < high:
                found.append(Anchor(element=name, start=low - at, end=high - at))
    return tuple(found)


def place_label(place: Place) -> str:
    """A place in a few words for a reader, the same in every language; empty for running text."""
    match place.kind:
        case "page":
            return f"page {place.page}"
        case "row":
            return f"row {place.row}"
        case "paragraph":
            part = "paragraph" if place.part == "body" else place.part
            return f"{part} {place.paragraph}"
        case "sheet":
            return f"{place.sheet}!{place.cell}" if place.cell else place.sheet
        case "slide":
            return f"slide {place.slide}"
        case "pointer":
            return place.pointer
        case "flow":
            return ""


def _blocks(parsed: ParsedDocument, window: TextRange) -> Iterator[Block]:
    """The blocks that meet the window."""
    first = bisect_right(parsed.blocks, window.start, key=lambda block: block.end)
    return takewhile(
        lambda block: block.start < window.end,
        (parsed.blocks[i] for i in range(first, len(parsed.blocks))),
    )


def _rows(block: Block, window: TextRange) -> Iterator[tuple[int, TableRow]]:
    """The rows that meet the window, with their numbers from 1."""
    first = bisect_right(block.rows, window.start, key=lambda row: row.end)
    for index in range(first, len(block.rows)):
        row = block.rows[index]
        if row.start >= window.end:
            return
        yield index + 1, row


def _bearers(text: str, block: Block, window: TextRange) -> Iterator[tuple[str, int, int]]:
    """Id and range of each bearer of a block; of a table, those of the rows in the window."""
    if block.rows:
        for number, row in _rows(block, window):
            for column, cell in enumerate(row.cells, 1):
                yield _cell_id(block, number, column), cell.start, cell.end
    elif fields := _fields(text, block):
        for number, field in enumerate(fields, 1):
            yield _row_id(block, number), field.start, field.end
    else:
        yield block.id, block.start, block.end


def _row_id(block: Block, number: int) -> str:
    return f"{block.id}-r{number}"


def _cell_id(block: Block, number: int, column: int) -> str:
    return f"{block.id}-r{number}-c{column}"


def _fields(text: str, block: Block) -> list[_Field]:
    """The fields of a record; none if its first line has no name.

    A line without a name goes on with the field before it.
    """
    if block.kind != "record":
        return []
    found = list(_FIELD.finditer(text[block.start : block.end]))
    if not found or found[0].start():
        return []
    starts = [match.start() for match in found]
    ends = [start - 1 for start in starts[1:]] + [block.end - block.start]
    return [
        _Field(block.start + start, block.start + match.end(), block.start + end)
        for start, match, end in zip(starts, found, ends, strict=True)
    ]


class _Writer:
    """Writes the blocks of one part of one document."""

    def __init__(self, parsed: ParsedDocument, window: TextRange) -> None:
        self._parsed = parsed
        self._window = window
        self._text = parsed.text
        self._out: list[str] = []

    def rendition(self) -> Rendition:
        """The whole page."""
        parsed = self._parsed
        blocks = list(_blocks(parsed, self._window))
        covered = self._covered(blocks)
        self._write(blocks)
        lang = "" if parsed.language == "und" else _attribute(parsed.language)
        direction = "rtl" if lang == "ar" else self._direction(0, len(self._text))
        frame = f'lang="{lang}" dir="{direction}"'
        html = (
            f"<!DOCTYPE html>\n<html {frame}>\n"
            f'<head><meta charset="utf-8"><title>{_shown(parsed.title)}</title></head>\n<body>\n'
            f'<article class="rendition" {frame} data-from="{covered.start}" '
            f'data-to="{covered.end}" data-length="{len(parsed.text)}">\n'
            f"{''.join(self._out)}</article>\n</body>\n</html>\n"
        )
        return Rendition(html=html, start=covered.start, end=covered.end)

    def _covered(self, blocks: list[Block]) -> TextRange:
        """From the first to the last block or row of the part; empty if there is none."""
        parts = [part for block in (*blocks[:1], *blocks[-1:]) for part in self._parts(block)]
        if not parts:
            return TextRange(start=self._window.start, end=self._window.start)
        return TextRange(start=parts[0].start, end=parts[-1].end)

    def _parts(self, block: Block) -> list[Block] | list[TableRow]:
        """What the window takes of a block: all of it, or rows."""
        return [row for _, row in _rows(block, self._window)] if block.rows else [block]

    def _write(self, blocks: list[Block]) -> None:
        in_list = False
        for block in blocks:
            is_item = block.kind == "list_item"
            if is_item and not in_list:
                self._out.append(f'<ul dir="{self._direction(block.start, block.end)}">\n')
            elif in_list and not is_item:
                self._out.append("</ul>\n")
            in_list = is_item
            self._block(block)
        if in_list:
            self._out.append("</ul>\n")

    def _block(self, block: Block) -> None:
        if block.rows:
            self._table(block)
        elif fields := _fields(self._text, block):
            self._record(block, fields)
        elif block.kind == "heading":
            self._simple(block, f"h{min(6, max(1, block.level))}")
        elif block.kind == "list_item":
            marked = _MARK.match(self._text, block.start, block.end)
            self._simple(block, "li", "marked" if marked else "")
        elif block.kind == "note":
            self._simple(block, "aside")
        else:
            names = {"record": "record", "image_text": "image-text"}
            self._simple(block, "p", names.get(block.kind, ""))

    def _simple(self, block: Block, tag: str, name: str = "") -> None:
        """A block that is one bearer."""
        named = f' class="{name}"' if name else ""
        self._out.append(
            f'<{tag} id="{_attribute(block.id)}"{named} data-start="{block.start}" dir="auto"'
            f"{_place(block.place)}>{_shown(self._text[block.start : block.end])}</{tag}>\n"
        )

    def _record(self, block: Block, fields: list[_Field]) -> None:
        """Names and values; the colon and the space after it end the name."""
        text = self._text
        self._out.append(f'<dl id="{_attribute(block.id)}"{_place(block.place)}>\n')
        for number, (start, value, end) in enumerate(fields, 1):
            self._out.append(
                f'<div id="{_attribute(_row_id(block, number))}" data-start="{start}">'
                f'<dt dir="auto">{_shown(text[start:value])}</dt>'
                f'<dd dir="auto">{_shown(text[value:end])}</dd></div>\n'
            )
        self._out.append("</dl>\n")

    def _table(self, block: Block) -> None:
        direction = self._direction(block.start, block.end)
        self._out.append(
            f'<table id="{_attribute(block.id)}" dir="{direction}"{_place(block.place)}>\n'
        )
        names = enumerate(block.rows[:_MOST_HEADER_ROWS], 1)
        head = list(takewhile(lambda numbered: numbered[1].header, names))
        body = (row for row in _rows(block, self._window) if row[0] > len(head))
        if head:
            self._out.append("<thead>\n")
            for number, row in head:
                self._row(block, number, row)
            self._out.append("</thead>\n")
        self._out.append("<tbody>\n")
        for number, row in body:
            self._row(block, number, row)
        self._out.append("</tbody>\n</table>\n")

    def _row(self, block: Block, number: int, row: TableRow) -> None:
        text, out = self._text, self._out
        name = _attribute(_row_id(block, number))
        tag, scope = ("th", ' scope="col"') if row.header else ("td", "")
        shown = _shown if _SPECIAL.search(text, row.start, row.end) else str
        out.append(f'<tr id="{name}"{"" if row.place == block.place else _place(row.place)}>')
        for column, cell in enumerate(row.cells, 1):
            start, end = cell.start, cell.end
            if start == end:
                out.append("<td></td>")
                continue
            out.append(
                f'<{tag} id="{name}-c{column}"{scope} data-start="{start}" dir="auto"'
                f"{_cell_place(cell, row)}>{shown(text[start:end])}</{tag}>"
            )
        out.append("</tr>\n")

    def _direction(self, start: int, end: int) -> _Direction:
        """Which way a part runs: that of its first letter, as `dir="auto"` has it."""
        letter = _LETTER.search(self._text, start, end)
        if letter and unicodedata.bidirectional(letter.group()) in ("R", "AL"):
            return "rtl"
        return "ltr"


def _cell_place(cell: Cell, row: TableRow) -> str:
    """The cell's place where it tells more than its row's."""
    if cell.place.kind == "flow" or cell.place == row.place:
        return ""
    return _place(cell.place)


def _place(place: Place) -> str:
    label = place_label(place)
    return f' data-place="{_attribute(label)}"' if label else ""


def _attribute(value: str) -> str:
    return _shown(value).replace('"', "&quot;")


def _shown(text: str) -> str:
    """Text for HTML. A carriage return would be read back as a line feed if it were not escaped."""
    if not _SPECIAL.search(text):
        return text
    text = escape(text, quote=False).replace("\r", "&#13;")
    return _UNWRITABLE.sub("\ufffd", text)
