"""What a loader yields: a document's text, its blocks, and where each lies in the original.

The *document text* is one string; every position is a half-open range of Unicode code points in
it. `inspect --text` prints it, citations point into it, renditions carry it unchanged.
Nothing here reads a file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = [
    "Block",
    "BlockKind",
    "Cell",
    "FlowPlace",
    "Page",
    "PagePlace",
    "ParagraphPlace",
    "ParseWarning",
    "ParsedDocument",
    "Place",
    "PointerPlace",
    "RowPlace",
    "SheetPlace",
    "SlidePlace",
    "SourceFile",
    "TableRow",
    "WordBox",
]

BlockKind: TypeAlias = Literal[
    "heading", "paragraph", "list_item", "table", "record", "note", "image_text"
]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """A file of the corpus as the disk shows it.

    `path` is relative to the corpus root with `/` separators; it is also the document's name to
    the user. `fingerprint` is the sha256 of the bytes, in hexadecimal.
    """

    path: str
    fingerprint: str
    size_bytes: int
    mtime_ns: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PagePlace:
    """On a page of a paginated file; pages count from 1."""

    page: int
    kind: Literal["page"] = "page"


@dataclass(frozen=True, slots=True, kw_only=True)
class RowPlace:
    """A row of a delimited file; physical lines count from 1, the header included."""

    row: int
    kind: Literal["row"] = "row"


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowPlace:
    """In running text: the range in the document text is the whole place."""

    kind: Literal["flow"] = "flow"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParagraphPlace:
    """A paragraph of a word processor's file; paragraphs count from 1 within their part.

    `part` is `body`, `header`, `footer`, `footnote`, `endnote` or `comment`.
    """

    paragraph: int
    part: str = "body"
    kind: Literal["paragraph"] = "paragraph"


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetPlace:
    """A cell of a spreadsheet: the sheet's name and the cell's address, such as `C12`.

    A row lies at its first cell, a table at its top left one; an empty `cell` is the whole sheet.
    """

    sheet: str
    cell: str = ""
    kind: Literal["sheet"] = "sheet"


@dataclass(frozen=True, slots=True, kw_only=True)
class SlidePlace:
    """On a slide; slides count from 1, hidden ones included."""

    slide: int
    kind: Literal["slide"] = "slide"


@dataclass(frozen=True, slots=True, kw_only=True)
class PointerPlace:
    """A value of a JSON file, by its pointer (RFC 6901); the empty pointer is the whole file.

    In a file of JSON lines the first step is the line's number, counting from 1.
    """

    pointer: str
    kind: Literal["pointer"] = "pointer"


Place: TypeAlias = (
    PagePlace | RowPlace | FlowPlace | ParagraphPlace | SheetPlace | SlidePlace | PointerPlace
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A table cell: its range in the document text (empty range: an empty cell)."""

    start: int
    end: int
    place: Place = FlowPlace()


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRow:
    """A row of a table block. `header` rows name the columns of the rows after them."""

    start: int
    end: int
    cells: tuple[Cell, ...]
    header: bool = False
    place: Place = FlowPlace()


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """A piece of a document with its place.

    `id` is unique in the document and the same for every parse of the same bytes by the same
    loader version. `section` is the path of headings above the block, outermost first, the block
    itself excluded. `level` is 1 to 6 for headings, otherwise 0.
    """

    id: str
    kind: BlockKind
    start: int
    end: int
    section: tuple[str, ...] = ()
    level: int = 0
    place: Place = FlowPlace()
    rows: tuple[TableRow, ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"block {self.id!r} has the range [{self.start}, {self.end})")


@dataclass(frozen=True, slots=True, kw_only=True)
class WordBox:
    """A word of a page: its range in the document text and its box.

    The box is in PDF points of the *unrotated* page, origin at the crop box's top left.
    `confidence` (0..100) is how sure OCR is of the word; 100 for a word of a text layer.
    """

    start: int
    end: int
    x0: float
    y0: float
    x1: float
    y1: float
    confidence: float = 100.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A page and its words.

    `width_pt` and `height_pt` are those of the unrotated crop box; `rotation` is how many degrees
    clockwise the viewer turns it (0, 90, 180 or 270). `number` counts from 1.
    """

    number: int
    width_pt: float
    height_pt: float
    rotation: int
    start: int
    end: int
    words: tuple[WordBox, ...] = ()

    def __post_init__(self) -> None:
        if self.rotation not in (0, 90, 180, 270):
            raise ValueError(f"page {self.number} has the rotation {self.rotation}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseWarning:
    """Something the user should know about a file that was nevertheless read."""

    code: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedDocument:
    """One parse of one file, complete.

    Blocks are in reading order and do not overlap. `language` is `fr`, `en`, `ar` or `und`.
    `loader` and `loader_version` say what made it: a new version re-parses.
    """

    text: str
    blocks: tuple[Block, ...]
    title: str
    language: str
    loader: str
    loader_version: int
    pages: tuple[Page, ...] = ()
    warnings: tuple[ParseWarning, ...] = ()

    def __post_init__(self) -> None:
        end = 0
        for block in self.blocks:
            if block.start < end or block.end > len(self.text):
                raise ValueError(f"block {block.id!r} overlaps its neighbour or leaves the text")
            end = block.end
