"""Draw plain business papers as PDF: letterhead, tables, paragraphs, footer.

For `scripts/make_samples.py` only. Fonts are the base 14, so that the files stay small and look the
same everywhere; these fonts know Latin-1 alone. Lengths are PDF points, origin at the top left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymupdf as _pymupdf

__all__ = ["Column", "Paper", "pymupdf"]

pymupdf: Any = _pymupdf  # annotated in part only, which mypy's strict mode rejects

PAGE_WIDTH, PAGE_HEIGHT = 595, 842  # A4
MARGIN = 52
BOTTOM = PAGE_HEIGHT - 74
REGULAR, BOLD, ITALIC = "helv", "hebo", "heit"
_FONTS = {name: pymupdf.Font(name) for name in (REGULAR, BOLD, ITALIC)}
GREY = (0.38, 0.38, 0.42)
RULE = (0.72, 0.74, 0.78)
BLACK = (0.08, 0.08, 0.1)
Colour = tuple[float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A table column; `right` aligns its cells to the right."""

    title: str
    width: float
    right: bool = False


class Paper:
    """A document under construction: text flows down from `y` and opens a new page when full."""

    def __init__(self, *, title: str, author: str, date: str, accent: Colour, footer: str) -> None:
        """Start with an empty first page. `date` is a PDF date such as `D:20260312090000Z`."""
        self._document = pymupdf.open()
        self._document.set_metadata(
            {
                "title": title,
                "author": author,
                "creationDate": date,
                "modDate": date,
                "producer": "",
                "creator": "",
            }
        )
        self._accent = accent
        self._footer = footer
        self._open_page()

    def _open_page(self) -> None:
        self._page = self._document.new_page(width=PAGE_WIDTH, height=PAGE_HEIGHT)
        self.y: float = MARGIN

    def _need(self, height: float) -> None:
        if self.y + height > BOTTOM:
            self._open_page()

    def _write(
        self, x: float, text: str, *, size: float, font: str = REGULAR, colour: Colour = BLACK
    ) -> None:
        text.encode("latin-1")  # the base 14 would print "?" for anything else
        self._page.insert_text((x, self.y), text, fontsize=size, fontname=font, color=colour)

    def letterhead(self, name: str, lines: Sequence[str]) -> None:
        """The sender: a coloured mark, the name, and small lines of address at the right."""
        self._page.draw_rect((MARGIN, 44, MARGIN + 26, 70), color=None, fill=self._accent)
        self._page.draw_circle((MARGIN + 13, 57), 7, color=None, fill=(1, 1, 1))
        self.y = 63
        self._write(MARGIN + 36, name, size=15, font=BOLD, colour=self._accent)
        for i, line in enumerate(lines):
            width = _length(line, size=7.5, font=REGULAR)
            self.y = 48 + i * 9.5
            self._write(PAGE_WIDTH - MARGIN - width, line, size=7.5, colour=GREY)
        self.y = max(80.0, 48 + len(lines) * 9.5)
        self._page.draw_line(
            (MARGIN, self.y), (PAGE_WIDTH - MARGIN, self.y), color=self._accent, width=1.2
        )
        self.y += 30

    def title(self, text: str, *, under: str = "") -> None:
        """The heading of the paper and an optional line under it."""
        self._write(MARGIN, text, size=18, font=BOLD)
        self.y += 16
        if under:
            self._write(MARGIN, under, size=9.5, colour=GREY)
            self.y += 12
        self.y += 12

    def heading(self, text: str) -> None:
        """A section heading; never left alone at the foot of a page."""
        self.y += 8
        self._need(60)
        self._write(MARGIN, text, size=11.5, font=BOLD, colour=self._accent)
        self.y += 17

    def paragraph(self, text: str, *, size: float = 9.5, font: str = REGULAR) -> None:
        """Running text, wrapped to the page."""
        for line in _wrap(text, width=PAGE_WIDTH - 2 * MARGIN, size=size, font=font):
            self._need(size * 1.4)
            self._write(MARGIN, line, size=size, font=font)
            self.y += size * 1.4
        self.y += 5

    def steps(self, items: Sequence[str]) -> None:
        """A numbered list."""
        for number, item in enumerate(items, start=1):
            lines = _wrap(item, width=PAGE_WIDTH - 2 * MARGIN - 18, size=9.5, font=REGULAR)
            for i, line in enumerate(lines):
                self._need(14)
                if i == 0:
                    self._write(MARGIN, f"{number}.", size=9.5)
                self._write(MARGIN + 18, line, size=9.5)
                self.y += 13.5
        self.y += 5

    def boxes(self, *blocks: tuple[str, Sequence[str]]) -> None:
        """Framed blocks side by side, each with a small title: addresses, references."""
        gap = 14
        width = (PAGE_WIDTH - 2 * MARGIN - gap * (len(blocks) - 1)) / len(blocks)
        height = 26 + 12.5 * max(len(lines) for _, lines in blocks)
        top = self.y
        for i, (name, lines) in enumerate(blocks):
            x = MARGIN + i * (width + gap)
            self._page.draw_rect((x, top, x + width, top + height), color=RULE, width=0.7)
            self.y = top + 14
            self._write(x + 9, name, size=7.5, font=BOLD, colour=self._accent)
            for line in lines:
                self.y += 12.5
                self._write(x + 9, line, size=9)
        self.y = top + height + 24

    def table(self, columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> None:
        """A ruled table; cells wrap, rows stay whole, the header comes again on a new page."""
        self._need(52)
        self._header(columns)
        for cells in rows:
            wrapped = [
                _wrap(cell, width=column.width - 10, size=8.8, font=REGULAR)
                for column, cell in zip(columns, cells, strict=True)
            ]
            height = 7 + 11.5 * max(len(lines) for lines in wrapped)
            if self.y + height > BOTTOM:
                self._open_page()
                self._header(columns)
            self._row(columns, wrapped, height=height)
        self.y += 16

    def _header(self, columns: Sequence[Column]) -> None:
        x = float(MARGIN)
        for column in columns:
            box = (x, self.y, x + column.width, self.y + 20)
            self._page.draw_rect(box, color=RULE, fill=self._accent, width=0.6)
            x += column.width
        titles = [[column.title] for column in columns]
        self._cells(columns, titles, size=8.3, font=BOLD, colour=(1, 1, 1), first=13.5)
        self.y += 20

    def _row(self, columns: Sequence[Column], cells: list[list[str]], *, height: float) -> None:
        x = float(MARGIN)
        for column in columns:
            self._page.draw_rect(
                (x, self.y, x + column.width, self.y + height), color=RULE, width=0.6
            )
            x += column.width
        self._cells(columns, cells, size=8.8, font=REGULAR, colour=BLACK, first=12.5)
        self.y += height

    def _cells(
        self,
        columns: Sequence[Column],
        cells: Sequence[Sequence[str]],
        *,
        size: float,
        font: str,
        colour: Colour,
        first: float,
    ) -> None:
        top, x = self.y, float(MARGIN)
        for column, lines in zip(columns, cells, strict=True):
            for i, line in enumerate(lines):
                shift = 5.0
                if column.right:
                    length = _length(line, size=size, font=font)
                    shift = column.width - 5 - length
                self.y = top + first + i * 11.5
                self._write(x + shift, line, size=size, font=font, colour=colour)
            x += column.width
        self.y = top

    def total(self, *lines: str) -> None:
        """Closing lines of a table, in bold at the right."""
        self._need(16 * len(lines) + 8)
        for line in lines:
            width = _length(line, size=10.5, font=BOLD)
            self._write(PAGE_WIDTH - MARGIN - width, line, size=10.5, font=BOLD)
            self.y += 16
        self.y += 10

    def signatures(self, *names: str) -> None:
        """Empty frames to sign in, side by side."""
        self._need(90)
        gap = 14
        width = (PAGE_WIDTH - 2 * MARGIN - gap * (len(names) - 1)) / len(names)
        top = self.y
        for i, name in enumerate(names):
            x = MARGIN + i * (width + gap)
            self._page.draw_rect(
                (x, top, x + width, top + 70), color=RULE, width=0.7, dashes="[3 2] 0"
            )
            self.y = top + 13
            self._write(x + 8, name, size=8, font=ITALIC, colour=GREY)
        self.y = top + 84

    def save(self, path: Path) -> None:
        """Number the pages and write the file, the same bytes every time."""
        count = len(self._document)
        for number, page in enumerate(self._document, start=1):
            self._page = page
            self.y = PAGE_HEIGHT - 40
            page.draw_line((MARGIN, self.y - 14), (PAGE_WIDTH - MARGIN, self.y - 14), color=RULE)
            self._write(MARGIN, self._footer, size=7.5, colour=GREY)
            folio = f"{number}/{count}"
            width = _length(folio, size=7.5, font=REGULAR)
            self._write(PAGE_WIDTH - MARGIN - width, folio, size=7.5, colour=GREY)
        self._document.save(path, garbage=4, deflate=True, no_new_id=True)
        self._document.close()


def _length(text: str, *, size: float, font: str) -> float:
    """Width of a line. `pymupdf.get_text_length` counts accented letters too narrow."""
    return float(_FONTS[font].text_length(text, fontsize=size))


def _wrap(text: str, *, width: float, size: float, font: str) -> list[str]:
    """Lines of `text` that fit `width`, broken at spaces."""
    lines: list[str] = []
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and _length(longer, size=size, font=font) <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines
