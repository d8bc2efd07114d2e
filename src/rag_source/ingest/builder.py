"""Compose a document's text block by block, keeping every range, section path and page.

The building block that all loaders share. It invents nothing but the blank line between blocks,
" | " between the cells of a row and the line break between rows.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from rag_source.domain.documents import (
    Block,
    BlockKind,
    Cell,
    FlowPlace,
    Page,
    ParsedDocument,
    ParseWarning,
    Place,
    TableRow,
)
from rag_source.domain.languages import detect_language

__all__ = ["CELL_SEPARATOR", "DocumentBuilder", "RowText", "one_line"]

CELL_SEPARATOR = " | "
_BLOCK_SEPARATOR = "\n\n"
_FLOW = FlowPlace()
# C0 controls but tab and line feed, DEL, and C1: never a word of a document, and NUL breaks JSON
# consumers and SQLite text further down.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_BREAKS = re.compile(r"[ \t]*\n\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class RowText:
    """The cells of one row as read; line breaks inside a cell become spaces.

    `cell_places` is empty, or has the place of each cell.
    """

    cells: tuple[str, ...]
    header: bool = False
    place: Place = _FLOW
    cell_places: tuple[Place, ...] = ()


def one_line(text: str) -> str:
    """The text with each run of white space as one space, none at the ends."""
    return " ".join(text.split())


class DocumentBuilder:
    """Appends blocks in reading order; `build` freezes them into a `ParsedDocument`."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._blocks: list[Block] = []
        self._headings: list[tuple[int, str]] = []
        self._pages: list[Page] = []
        self._warnings: list[ParseWarning] = []

    @property
    def is_empty(self) -> bool:
        return not self._blocks

    @property
    def length(self) -> int:
        """Code points of the document text so far."""
        return self._length

    def text(self, text: str, kind: BlockKind = "paragraph", place: Place = _FLOW) -> int | None:
        """Append a block of running text.

        White space at its ends and control characters are left out. Returns where the block
        starts in the document text, or None if nothing was left to append.
        """
        cleaned = _clean(text)
        if not cleaned:
            return None
        start = self._open(cleaned)
        self._blocks.append(
            Block(
                id=self._next_id(),
                kind=kind,
                start=start,
                end=self._length,
                section=self._section(),
                place=place,
            )
        )
        return start

    def heading(self, text: str, level: int, place: Place = _FLOW) -> int | None:
        """Append a heading; blocks after it carry it in their section path.

        `level` counts from 1; a heading closes all those of its level and deeper. Returns as
        `text` does.
        """
        cleaned = _clean(text)
        if not cleaned:
            return None
        level = min(6, max(1, level))
        while self._headings and self._headings[-1][0] >= level:
            self._headings.pop()
        start = self._open(cleaned)
        self._blocks.append(
            Block(
                id=self._next_id(),
                kind="heading",
                start=start,
                end=self._length,
                section=self._section(),
                level=level,
                place=place,
            )
        )
        self._headings.append((level, one_line(cleaned)))
        return start

    def table(
        self, rows: Sequence[RowText], place: Place = _FLOW, header: Sequence[TableRow] = ()
    ) -> int | None:
        """Append a table: cells joined by " | ", rows by line breaks; rows without words left out.

        `header` are rows of an earlier block that name the columns of this one too. Returns as
        `text` does.
        """
        lines: list[str] = []
        shapes: list[TableRow] = []
        offset = self._length + (len(_BLOCK_SEPARATOR) if self._parts else 0)
        for row in rows:
            cells = [_cell(cell) for cell in row.cells]
            if not any(cells):
                continue
            line = CELL_SEPARATOR.join(cells)
            ranges: list[Cell] = []
            at = offset
            places = row.cell_places or (_FLOW,) * len(cells)
            for cell, cell_place in zip(cells, places, strict=True):
                ranges.append(Cell(start=at, end=at + len(cell), place=cell_place))
                at += len(cell) + len(CELL_SEPARATOR)
            shapes.append(
                TableRow(
                    start=offset,
                    end=offset + len(line),
                    cells=tuple(ranges),
                    header=row.header,
                    place=row.place,
                )
            )
            lines.append(line)
            offset += len(line) + 1
        if not lines:
            return None
        start = self._open("\n".join(lines))
        self._blocks.append(
            Block(
                id=self._next_id(),
                kind="table",
                start=start,
                end=self._length,
                section=self._section(),
                place=place,
                rows=(*header, *shapes),
            )
        )
        return start

    def end_sections(self) -> None:
        """Close every open heading: what follows stands under none."""
        self._headings.clear()

    def page(self, page: Page) -> None:
        """Add a page; its range and words are given in the coordinates of the document text."""
        self._pages.append(page)

    def warn(self, code: str, message: str) -> None:
        """Report something the user should know; the same warning is kept once."""
        warning = ParseWarning(code=code, message=message)
        if warning not in self._warnings:
            self._warnings.append(warning)

    def first_heading(self) -> str:
        """The first heading in one line, empty if there is none."""
        for block in self._blocks:
            if block.kind == "heading":
                return one_line("".join(self._parts)[block.start : block.end])
        return ""

    def build(self, *, title: str, loader: str, version: int) -> ParsedDocument:
        """The document; `title` is cut to one line of at most 200 characters."""
        text = "".join(self._parts)
        return ParsedDocument(
            text=text,
            blocks=tuple(self._blocks),
            title=one_line(_CONTROL.sub(" ", title))[:200].strip(),
            language=detect_language(text),
            loader=loader,
            loader_version=version,
            pages=tuple(self._pages),
            warnings=tuple(self._warnings),
        )

    def _open(self, content: str) -> int:
        """Append the separator and the content; returns where the content starts."""
        if self._parts:
            self._parts.append(_BLOCK_SEPARATOR)
            self._length += len(_BLOCK_SEPARATOR)
        start = self._length
        self._parts.append(content)
        self._length += len(content)
        return start

    def _section(self) -> tuple[str, ...]:
        return tuple(text for _, text in self._headings)

    def _next_id(self) -> str:
        return f"b{len(self._blocks) + 1}"


def _clean(text: str) -> str:
    return _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).strip()


def _cell(text: str) -> str:
    if text.isprintable():
        return text.strip()
    return _BREAKS.sub(" ", _clean(text))
