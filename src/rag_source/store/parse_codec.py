"""A parse as compact bytes for the catalogue, and back.

Text is UTF-8 and blocks are JSON arrays without keys, both through zlib. The words of a page are
columns of little-endian numbers: two of 32-bit integers (start within the page, length) and four
of 32-bit floats (the box), through zlib. PyMuPDF's boxes are 32-bit floats to begin with. Where OCR
read the page, a column of bytes follows: how sure it was of each word, in half percents.
"""

from __future__ import annotations

import json
import zlib
from itertools import repeat
from typing import Any, cast

import numpy as np

from rag_source.domain.documents import (
    Block,
    Cell,
    FlowPlace,
    Page,
    PagePlace,
    ParagraphPlace,
    ParseWarning,
    Place,
    PointerPlace,
    RowPlace,
    SheetPlace,
    SlidePlace,
    TableRow,
    WordBox,
)

__all__ = [
    "PARSE_CODEC",
    "READABLE_CODECS",
    "pack_blocks",
    "pack_text",
    "pack_warnings",
    "pack_words",
    "unpack_blocks",
    "unpack_text",
    "unpack_warnings",
    "unpack_words",
]

PARSE_CODEC = 2
"""Stored beside each parse; raised whenever these bytes would be read differently.

Since 2 the words of recognised pages have their confidence.
"""

READABLE_CODECS = frozenset({1, 2})
"""A parse of codec 1 is read as it is: all its words have the confidence 100. A pass makes it anew
as soon as it compares recipes (`changes.compare`): such old records have none."""

_LEVEL = 3
"""zlib level. The words of a PDF page shrink to 42 % of their bytes; the default level 6 saves
another 2 % for an eighth more time."""

_FLOW = FlowPlace()
_UNSURE = b"\x01"
"""Stands before the words of a page that OCR read. Others are a bare zlib stream, which starts with
0x78, as they were in codec 1."""
_WORD_BYTES = 24
_SURE = 200
"""100 % in half percents."""


def pack_text(text: str) -> bytes:
    """Lone surrogates, which some PDFs yield, survive."""
    return zlib.compress(text.encode("utf-8", "surrogatepass"), _LEVEL)


def unpack_text(data: bytes) -> str:
    return zlib.decompress(data).decode("utf-8", "surrogatepass")


def pack_blocks(blocks: tuple[Block, ...]) -> bytes:
    rows = [
        [b.id, b.kind, b.start, b.end, b.section, b.level, _place(b.place), _rows(b.rows)]
        for b in blocks
    ]
    return zlib.compress(json.dumps(rows, separators=(",", ":")).encode(), _LEVEL)


def unpack_blocks(data: bytes) -> tuple[Block, ...]:
    return tuple(
        Block(
            id=id,
            kind=kind,
            start=start,
            end=end,
            section=tuple(section),
            level=level,
            place=_read_place(place),
            rows=tuple(_read_row(row) for row in rows),
        )
        for id, kind, start, end, section, level, place, rows in json.loads(zlib.decompress(data))
    )


def _rows(rows: tuple[TableRow, ...]) -> list[list[Any]]:
    return [
        [
            row.start,
            row.end,
            [n for cell in row.cells for n in (cell.start, cell.end)],
            int(row.header),
            _place(row.place),
            _cell_places(row),
        ]
        for row in rows
    ]


def _read_row(row: list[Any]) -> TableRow:
    # Parses stored before cells had places have five fields a row.
    start, end, cells, header, place, *rest = row
    row_place = _read_place(place)
    starts, ends = cells[::2], cells[1::2]
    places: list[Any] = (rest[0] if rest else None) or [0] * len(starts)
    return TableRow(
        start=start,
        end=end,
        cells=tuple(
            Cell(start=a, end=b, place=_read_cell_place(p, row_place))
            for a, b, p in zip(starts, ends, places, strict=True)
        ),
        header=bool(header),
        place=row_place,
    )


def _cell_places(row: TableRow) -> list[Any] | int:
    """0 if no cell has a place of its own; a cell of the row's own sheet is just its address."""
    if all(isinstance(cell.place, FlowPlace) for cell in row.cells):
        return 0
    sheet = row.place.sheet if isinstance(row.place, SheetPlace) else None
    return [
        cell.place.cell
        if isinstance(cell.place, SheetPlace) and cell.place.sheet == sheet
        else _place(cell.place)
        for cell in row.cells
    ]


def _read_cell_place(data: list[Any] | str | int, row_place: Place) -> Place:
    if isinstance(data, str) and isinstance(row_place, SheetPlace):
        return SheetPlace(sheet=row_place.sheet, cell=data)
    return _read_place(cast("list[Any] | int", data))


def _place(place: Place) -> list[Any] | int:
    match place:
        case PagePlace():
            return ["page", place.page]
        case RowPlace():
            return ["row", place.row]
        case ParagraphPlace():
            return ["paragraph", place.paragraph, place.part]
        case SheetPlace():
            return ["sheet", place.sheet, place.cell]
        case SlidePlace():
            return ["slide", place.slide]
        case PointerPlace():
            return ["pointer", place.pointer]
        case FlowPlace():
            return 0


def _read_place(data: list[Any] | int) -> Place:
    match data:
        case ["page", int(page)]:
            return PagePlace(page=page)
        case ["row", int(row)]:
            return RowPlace(row=row)
        case ["paragraph", int(paragraph), str(part)]:
            return ParagraphPlace(paragraph=paragraph, part=part)
        case ["sheet", str(sheet), str(cell)]:
            return SheetPlace(sheet=sheet, cell=cell)
        case ["slide", int(slide)]:
            return SlidePlace(slide=slide)
        case ["pointer", str(pointer)]:
            return PointerPlace(pointer=pointer)
        case 0:
            return _FLOW
    raise ValueError("a block lies in no place that is known")


def pack_warnings(warnings: tuple[ParseWarning, ...]) -> str:
    return json.dumps([[w.code, w.message] for w in warnings], separators=(",", ":"))


def unpack_warnings(data: str) -> tuple[ParseWarning, ...]:
    return tuple(ParseWarning(code=code, message=message) for code, message in json.loads(data))


def pack_words(page: Page) -> bytes:
    words = page.words
    ranges = np.array([(w.start - page.start, w.end - w.start) for w in words], dtype="<i4")
    boxes = np.array([(w.x0, w.y0, w.x1, w.y1) for w in words], dtype="<f4")
    columns = ranges.T.tobytes() + boxes.T.tobytes()
    confidences = bytes(_half_percents(w.confidence) for w in words)
    if all(confidence == _SURE for confidence in confidences):
        return zlib.compress(columns, _LEVEL)
    return _UNSURE + zlib.compress(columns + confidences, _LEVEL)


def unpack_words(data: bytes, *, page_start: int) -> tuple[WordBox, ...]:
    unsure = data.startswith(_UNSURE)
    raw = zlib.decompress(data.removeprefix(_UNSURE))
    count, rest = divmod(len(raw), _WORD_BYTES + unsure)
    if rest:
        raise ValueError("the words of a page are cut short")
    ranges = np.frombuffer(raw, dtype="<i4", count=2 * count).reshape(2, count)
    boxes = np.frombuffer(raw, dtype="<f4", count=4 * count, offset=8 * count).reshape(4, count)
    starts = cast("list[int]", (ranges[0].astype(np.int64) + page_start).tolist())
    lengths = cast("list[int]", ranges[1].tolist())
    x0s, y0s, x1s, y1s = cast("list[list[float]]", boxes.tolist())
    confidences = raw[_WORD_BYTES * count :] if unsure else repeat(_SURE, count)
    columns = zip(starts, lengths, x0s, y0s, x1s, y1s, confidences, strict=True)
    return tuple(
        WordBox(
            start=start, end=start + length, x0=x0, y0=y0, x1=x1, y1=y1, confidence=confidence / 2
        )
        for start, length, x0, y0, x1, y1, confidence in columns
    )


def _half_percents(confidence: float) -> int:
    """Only a wholly sure word counts as such: by that the words of text layers are known."""
    return _SURE if confidence >= 100 else min(_SURE - 1, max(0, round(2 * confidence)))
