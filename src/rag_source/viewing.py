"""What a reader opens to check an answer: a document's pages, words, places, and original bytes.

Every place comes from the parse that the chunks were cut from; pictures are drawn by worker
processes, and the file itself is opened inside the corpus alone.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Literal, Protocol, TypeAlias

from rag_source.domain.answers import Box
from rag_source.domain.catalogue import DocumentRecord
from rag_source.domain.chunks import TextRange
from rag_source.domain.documents import Page, ParsedDocument
from rag_source.domain.errors import NotFoundError, RequestError
from rag_source.domain.geometry import displayed_box
from rag_source.domain.ports import Catalogue
from rag_source.generation.places import place_of_ranges
from rag_source.ingest.corpus_files import OpenedFile, Staleness, open_confined
from rag_source.ingest.pictures import PICTURE_SUFFIXES, Picture, PictureRequest
from rag_source.ingest.rendition import RENDITION_VERSION, Anchor, anchors, place_label, render

__all__ = [
    "DocumentView",
    "DocumentViews",
    "Location",
    "Original",
    "PageSize",
    "PageWords",
    "Picturer",
    "ShownPage",
    "ShownRendition",
    "ShownWord",
    "ViewKind",
]

ViewKind: TypeAlias = Literal["pages", "rendition"]

_LIMIT_LOCATED = 100_000
"""Code points that one question about places may cover: some thirty dense pages."""
_LIMIT_RENDITION = 1_000_000
"""Code points of a rendition made at a time; its `data-to` says how far it came."""
_CACHE_BYTES = 48 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSize:
    """A page as it is displayed, in points."""

    number: int
    width_pt: float
    height_pt: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentView:
    """A document and how it is best shown. `length` is that of its text, in code points."""

    record: DocumentRecord
    view: ViewKind
    pages: tuple[PageSize, ...]
    length: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownWord:
    """A word of a page, its range in the document text, and its box on the displayed page."""

    text: str
    start: int
    end: int
    box: Box
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PageWords:
    """A page with its words in reading order; `start` is where its text begins."""

    size: PageSize
    start: int
    words: tuple[ShownWord, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """Where ranges of a document text lie: on its pages, in its rendition, and in words."""

    boxes: tuple[Box, ...]
    anchors: tuple[Anchor, ...]
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPage:
    """A picture of a page; `stale` if the file is no longer the one that was indexed.

    `tag` names the picture, which is None for one whose tag the asker knows already.
    """

    picture: Picture | None
    tag: str
    stale: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownRendition:
    """A part of a document as HTML; `tag` names its content."""

    html: str
    tag: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """The file itself, open; whoever asked for it closes it."""

    opened: OpenedFile
    name: str
    stale: bool


class Picturer(Protocol):
    """Draws pages; `ingest.workers.ParserPool` is the real one."""

    async def picture(self, request: PictureRequest) -> Picture: ...


class DocumentViews:
    """Shows the documents of one corpus.

    Args:
        catalogue: Their records and parses.
        root: The folder; called when a file is opened.
        picturer: Draws pages; owned by the caller.
    """

    def __init__(
        self, *, catalogue: Catalogue, root: Callable[[], Path], picturer: Picturer
    ) -> None:
        self._catalogue = catalogue
        self._root = root
        self._picturer = picturer
        self._staleness = Staleness()
        self._pictures = _PictureCache(_CACHE_BYTES)

    async def document(self, doc_id: str) -> DocumentView:
        """The document and its pages.

        Raises:
            NotFoundError: It is not known, here and below.
        """
        return await asyncio.to_thread(self._document, doc_id)

    async def words(self, doc_id: str, number: int) -> PageWords:
        """The words of a page; NotFoundError too if it has no such page."""
        return await asyncio.to_thread(self._words, doc_id, number)

    async def locate(self, doc_id: str, ranges: Sequence[TextRange]) -> Location:
        """Where ranges of the document text lie; what is outside of it lies nowhere.

        Raises:
            RequestError: They cover too much to be shown at once.
        """
        return await asyncio.to_thread(self._locate, doc_id, ranges)

    async def rendition(self, doc_id: str, window: TextRange) -> ShownRendition:
        """The blocks and rows that meet the window, as `ingest.rendition.render` gives them."""
        return await asyncio.to_thread(self._rendition, doc_id, window)

    async def original(self, doc_id: str) -> Original:
        """The file as it is on disk now."""
        return await asyncio.to_thread(self._original, doc_id)

    async def page(
        self, doc_id: str, number: int, width_px: int, *, known: Collection[str] = ()
    ) -> ShownPage:
        """A page, `width_px` wide, or less where the picture would be too large.

        Args:
            doc_id: The document.
            number: The page, from 1.
            width_px: Pixels.
            known: The tags of pictures that the asker has.

        Raises:
            SourceError: It cannot be drawn.
        """
        asked = await asyncio.to_thread(self._asked_page, doc_id, number, width_px)
        if asked.tag in known:
            return ShownPage(picture=None, tag=asked.tag, stale=asked.stale)
        picture = self._pictures.get(asked.tag)
        if picture is None:
            picture = await self._picturer.picture(asked.request)
            self._pictures.put(asked.tag, picture)
        return ShownPage(picture=picture, tag=asked.tag, stale=asked.stale)

    def _record(self, doc_id: str) -> DocumentRecord:
        record = self._catalogue.document(doc_id)
        if record is None:
            raise NotFoundError(
                f"there is no document {doc_id[:80]!r}", hint="`rag-source docs` lists them"
            )
        return record

    def _parsed(self, doc_id: str) -> ParsedDocument:
        self._record(doc_id)
        parsed = self._catalogue.parsed(doc_id)
        if parsed is None:
            raise NotFoundError(
                f"nothing has been read of the document {doc_id[:80]!r}",
                hint="`rag-source docs` says why, or that it waits",
                code="not_indexed",
            )
        return parsed

    def _document(self, doc_id: str) -> DocumentView:
        record = self._record(doc_id)
        parsed = self._catalogue.parsed(doc_id)
        pages = parsed.pages if parsed else ()
        return DocumentView(
            record=record,
            view="pages" if pages and _can_be_drawn(record) else "rendition",
            pages=tuple(map(_size, pages)),
            length=len(parsed.text) if parsed else 0,
        )

    def _page(self, doc_id: str, number: int) -> Page:
        found = self._catalogue.pages(doc_id, [number])
        if not found:
            raise NotFoundError(
                f"the document {doc_id[:80]!r} has no page {number}",
                hint="ask for the document: it lists its pages",
            )
        return found[0]

    def _words(self, doc_id: str, number: int) -> PageWords:
        text = self._parsed(doc_id).text
        page = self._page(doc_id, number)
        words = tuple(
            ShownWord(
                text=text[word.start : word.end],
                start=word.start,
                end=word.end,
                box=displayed_box(page, word),
                confidence=word.confidence,
            )
            for word in page.words
        )
        return PageWords(size=_size(page), start=page.start, words=words)

    def _locate(self, doc_id: str, ranges: Sequence[TextRange]) -> Location:
        if sum(part.end - part.start for part in ranges) > _LIMIT_LOCATED:
            raise RequestError(
                f"the ranges cover more than {_LIMIT_LOCATED:,} characters",
                hint="ask for the places of less at a time",
                code="too_wide",
            )
        parsed = self._parsed(doc_id)
        inside = [
            TextRange(start=part.start, end=min(part.end, len(parsed.text)))
            for part in ranges
            if part.start < len(parsed.text)
        ]
        if not inside:
            return Location(boxes=(), anchors=(), place="")
        place = place_of_ranges(inside, parsed, self._catalogue, doc_id)
        return Location(
            boxes=place.boxes,
            anchors=tuple(
                anchor for part in inside for anchor in anchors(parsed, part.start, part.end)
            ),
            place=_place_in_words(parsed, inside),
        )

    def _rendition(self, doc_id: str, window: TextRange) -> ShownRendition:
        record = self._record(doc_id)
        parsed = self._parsed(doc_id)
        start = min(window.start, len(parsed.text))
        end = min(max(window.end, start), start + _LIMIT_RENDITION, len(parsed.text))
        tag = _tag(
            *(record.source.fingerprint, record.loader, record.loader_version, record.recipe),
            *(record.indexed_at, RENDITION_VERSION, start, end),
        )
        return ShownRendition(html=render(parsed, TextRange(start=start, end=end)).html, tag=tag)

    def _original(self, doc_id: str) -> Original:
        record = self._record(doc_id)
        opened = open_confined(self._root(), record.source.path)
        try:
            stale = self._staleness.is_stale(record.source, opened)
        except BaseException:
            opened.file.close()
            raise
        return Original(opened=opened, name=PurePosixPath(record.source.path).name, stale=stale)

    def _asked_page(self, doc_id: str, number: int, width_px: int) -> _AskedPage:
        record = self._record(doc_id)
        if not _can_be_drawn(record):
            raise NotFoundError(
                f"the document {record.source.path!r} has no pages", hint="ask for its rendition"
            )
        self._page(doc_id, number)
        original = self._original(doc_id)
        original.opened.file.close()
        opened = original.opened
        request = PictureRequest(path=opened.path, number=number, width_px=width_px)
        tag = _tag(doc_id, opened.size_bytes, opened.mtime_ns, opened.path, number, width_px)
        return _AskedPage(request, tag, original.stale)


@dataclass(frozen=True, slots=True)
class _AskedPage:
    request: PictureRequest
    tag: str
    stale: bool


class _PictureCache:
    """The pictures that were asked for last, up to so many bytes."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._size_bytes = 0
        self._pictures: OrderedDict[str, Picture] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, tag: str) -> Picture | None:
        with self._lock:
            picture = self._pictures.get(tag)
            if picture is not None:
                self._pictures.move_to_end(tag)
            return picture

    def put(self, tag: str, picture: Picture) -> None:
        with self._lock:
            before = self._pictures.pop(tag, None)
            self._size_bytes += len(picture.data) - (len(before.data) if before else 0)
            self._pictures[tag] = picture
            while self._size_bytes > self._limit_bytes and self._pictures:
                _, oldest = self._pictures.popitem(last=False)
                self._size_bytes -= len(oldest.data)


def _can_be_drawn(record: DocumentRecord) -> bool:
    return PurePosixPath(record.source.path).suffix.lower() in PICTURE_SUFFIXES


def _size(page: Page) -> PageSize:
    width, height = page.width_pt, page.height_pt
    if page.rotation in (90, 270):
        width, height = height, width
    return PageSize(number=page.number, width_pt=width, height_pt=height)


def _place_in_words(parsed: ParsedDocument, ranges: Sequence[TextRange]) -> str:
    """`p. 5`, `pp. 5-6`, `Sheet1!C12`, `row 14`; for running text the headings above it."""
    pages = [
        page.number
        for page in parsed.pages
        if any(part.start < page.end and page.start < part.end for part in ranges)
    ]
    if pages:
        return f"p. {pages[0]}" if len(pages) == 1 else f"pp. {pages[0]}–{pages[-1]}"
    at = ranges[0].start
    block = next((block for block in parsed.blocks if block.start <= at < block.end), None)
    if block is None:
        return ""
    row = next((row for row in block.rows if row.start <= at < row.end), None)
    cells = row.cells if row else ()
    cell = next((cell for cell in cells if cell.start <= at < cell.end), None)
    labels = (place_label(part.place) for part in (cell, row, block) if part is not None)
    return next((label for label in labels if label), " › ".join(block.section))


def _tag(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]
