"""A document as the viewer asks for it: pages, words, places."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from rag_source.api.corpus_wire import DocumentOut
from rag_source.api.wire import BoxOut
from rag_source.api.wire_base import RequestBody, Wire
from rag_source.domain.chunks import TextRange
from rag_source.viewing import DocumentView, Location, PageSize, PageWords, ShownWord, ViewKind

__all__ = [
    "AnchorOut",
    "DocumentResponse",
    "LocateRequest",
    "LocationResponse",
    "PageOut",
    "PageWordsResponse",
    "WordOut",
]

_LIMIT_RANGES = 200
_LIMIT_POSITION = 2**31 - 1


class PageOut(Wire):
    """A page as it is displayed, rotation and crop applied; sizes are points."""

    number: int
    width: float
    height: float

    @classmethod
    def of(cls, size: PageSize) -> PageOut:
        return cls(number=size.number, width=size.width_pt, height=size.height_pt)


class DocumentResponse(DocumentOut):
    """A document as in the list, and how it is shown.

    `view` is `pages` where each page can be had as a picture, otherwise `rendition`. `length` is
    that of the document text, in code points; 0 where nothing has been read yet.
    """

    pages: list[PageOut]  # type: ignore[assignment]  # the list only counts them
    view: ViewKind
    length: int

    @classmethod
    def of_view(cls, view: DocumentView) -> DocumentResponse:
        listed = DocumentOut.of(view.record).model_dump(exclude={"pages"})
        return cls(
            **listed,
            pages=[PageOut.of(page) for page in view.pages],
            view=view.view,
            length=view.length,
        )


class WordOut(Wire):
    """A word of a page.

    `start` and `end` are code points of the document text. The box is in fractions (0 to 1) of the
    displayed page, origin at the top left. `confidence` is 100 for a word of a text layer.
    """

    text: str
    start: int
    end: int
    x0: float
    y0: float
    x1: float
    y1: float
    confidence: float

    @classmethod
    def of(cls, word: ShownWord) -> WordOut:
        box = word.box
        return cls(
            text=word.text,
            start=word.start,
            end=word.end,
            x0=round(box.x0, 6),
            y0=round(box.y0, 6),
            x1=round(box.x1, 6),
            y1=round(box.y1, 6),
            confidence=word.confidence,
        )


class PageWordsResponse(PageOut):
    """The words of a page in reading order; `text_start` is where the text of the page begins."""

    text_start: int
    words: list[WordOut]

    @classmethod
    def of_words(cls, page: PageWords) -> PageWordsResponse:
        return cls(
            **PageOut.of(page.size).model_dump(),
            text_start=page.start,
            words=[WordOut.of(word) for word in page.words],
        )


def _forward(pair: tuple[int, int]) -> tuple[int, int]:
    if not 0 <= pair[0] < pair[1] <= _LIMIT_POSITION:
        raise ValueError("a range is [start, end) with 0 <= start < end")
    return pair


class LocateRequest(RequestBody):
    """Ranges of a document text, as citations have them."""

    doc_id: Annotated[str, Field(min_length=1, max_length=200)]
    ranges: Annotated[
        list[Annotated[tuple[int, int], AfterValidator(_forward)]],
        Field(min_length=1, max_length=_LIMIT_RANGES),
    ]

    def text_ranges(self) -> list[TextRange]:
        return [TextRange(start=start, end=end) for start, end in self.ranges]


class AnchorOut(Wire):
    """Characters `[start, end)` of an element of the rendition, in code points of its text."""

    element: str
    start: int
    end: int


class LocationResponse(Wire):
    """Where ranges lie: boxes on pages, anchors in the rendition, and the place in words."""

    boxes: list[BoxOut]
    anchors: list[AnchorOut]
    place: str

    @classmethod
    def of(cls, location: Location) -> LocationResponse:
        return cls(
            boxes=[BoxOut.of(box) for box in location.boxes],
            anchors=[
                AnchorOut(element=one.element, start=one.start, end=one.end)
                for one in location.anchors
            ],
            place=location.place,
        )
