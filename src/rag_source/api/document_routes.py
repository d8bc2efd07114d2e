"""Routes of one document: how it is shown, its pages, words and places, its rendition, its file."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Annotated, Any, Protocol

from fastapi import APIRouter, Depends, Path, Query, Request
from starlette.responses import Response

from rag_source.api.document_wire import (
    DocumentResponse,
    LocateRequest,
    LocationResponse,
    PageWordsResponse,
)
from rag_source.api.file_response import attachment, cached, file_response, known_tags
from rag_source.api.service import service_of
from rag_source.domain.chunks import TextRange
from rag_source.ingest.pictures import HIGHEST_WIDTH_PX, LOWEST_WIDTH_PX
from rag_source.viewing import (
    DocumentView,
    Location,
    Original,
    PageWords,
    ShownPage,
    ShownRendition,
)

__all__ = ["router"]

_SANDBOX = "default-src 'none'; sandbox"
_STALE = {"X-Rag-Source-Stale": "1"}
_LAST_POSITION = 2**31 - 1
_MEDIA_TYPES = {
    ".pdf": "application/pdf",
    ".png": "image/png",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".tif": "image/tiff",
    ".tiff": "image/tiff",
    ".webp": "image/webp",
    ".gif": "image/gif",
    ".bmp": "image/bmp",
}


class Views(Protocol):
    """What shows documents; `viewing.DocumentViews` is the real one."""

    async def document(self, doc_id: str) -> DocumentView: ...

    async def words(self, doc_id: str, number: int) -> PageWords: ...

    async def locate(self, doc_id: str, ranges: Sequence[TextRange]) -> Location: ...

    async def rendition(self, doc_id: str, window: TextRange) -> ShownRendition: ...

    async def original(self, doc_id: str) -> Original: ...

    async def page(
        self, doc_id: str, number: int, width_px: int, *, known: Collection[str] = ()
    ) -> ShownPage: ...


class ViewService(Protocol):
    """What these routes need."""

    @property
    def views(self) -> Views: ...


_Service = Annotated[ViewService, Depends(service_of)]
_DocId = Annotated[str, Path(max_length=200, description="A document's id, as in the list.")]
_Number = Annotated[int, Path(ge=1, le=1_000_000, description="A page, from 1.")]

router = APIRouter(tags=["documents"])


def _content(*media_types: str) -> dict[int | str, dict[str, Any]]:
    kind = {"schema": {"type": "string", "format": "binary"}}
    return {
        200: {"content": dict.fromkeys(media_types, kind)},
        304: {"description": "The caller's copy is still good."},
    }


@router.get("/v1/documents/{doc_id}")
async def document(doc_id: _DocId, service: _Service) -> DocumentResponse:
    """A document, its pages, and whether it is shown as pages or as a rendition."""
    return DocumentResponse.of_view(await service.views.document(doc_id))


@router.get(
    "/v1/documents/{doc_id}/file",
    response_class=Response,
    responses=_content("application/octet-stream", *sorted({*_MEDIA_TYPES.values()})),
)
async def file(doc_id: _DocId, service: _Service, request: Request) -> Response:
    """The original bytes, to be saved; one range of them if asked.

    `X-Rag-Source-Stale: 1` says that the file is no longer the one that was indexed.
    """
    original = await service.views.original(doc_id)
    opened = original.opened
    suffix = opened.path.suffix.lower()
    return file_response(
        opened.file,
        opened.size_bytes,
        headers={
            "Content-Type": _MEDIA_TYPES.get(suffix, "application/octet-stream"),
            "Content-Disposition": attachment(original.name),
            "Content-Security-Policy": f"sandbox; {_SANDBOX.partition(';')[0]}",
            "Cache-Control": "private, no-cache",
            **(_STALE if original.stale else {}),
        },
        tag=f"{opened.mtime_ns:x}-{opened.size_bytes:x}",
        asked=request.headers,
    )


@router.get(
    "/v1/documents/{doc_id}/rendition", response_class=Response, responses=_content("text/html")
)
async def rendition(
    doc_id: _DocId,
    service: _Service,
    request: Request,
    start: Annotated[int, Query(ge=0, le=_LAST_POSITION)] = 0,
    end: Annotated[int, Query(ge=0, le=_LAST_POSITION)] = _LAST_POSITION,
) -> Response:
    """The blocks and rows of the document that meet `[start, end)`, as HTML (docs/renditions.md).

    At most 1,000,000 code points come at a time; `data-to` of the article says how far it goes.
    """
    shown = await service.views.rendition(doc_id, TextRange(start=start, end=end))
    return cached(
        request,
        shown.tag,
        shown.html.encode(),
        {"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": _SANDBOX},
    )


@router.get(
    "/v1/documents/{doc_id}/pages/{number}",
    response_class=Response,
    responses=_content("image/png", "image/webp"),
)
async def page(
    doc_id: _DocId,
    number: _Number,
    service: _Service,
    request: Request,
    width: Annotated[
        int, Query(ge=LOWEST_WIDTH_PX, le=HIGHEST_WIDTH_PX, description="Pixels.")
    ] = 1200,
) -> Response:
    """A picture of the page as it is displayed; a very long page comes out smaller than asked."""
    shown = await service.views.page(doc_id, number, width, known=known_tags(request))
    headers = dict(_STALE) if shown.stale else {}
    if shown.picture is None:
        return cached(request, shown.tag, b"", headers)
    headers["Content-Type"] = shown.picture.media_type
    return cached(request, shown.tag, shown.picture.data, headers)


@router.get("/v1/documents/{doc_id}/pages/{number}/words")
async def words(doc_id: _DocId, number: _Number, service: _Service) -> PageWordsResponse:
    """The words of a page with their boxes, for a layer of text over its picture."""
    return PageWordsResponse.of_words(await service.views.words(doc_id, number))


@router.post("/v1/locate")
async def locate(body: LocateRequest, service: _Service) -> LocationResponse:
    """Where ranges of a document text lie: boxes on its pages, anchors in its rendition."""
    location = await service.views.locate(body.doc_id, body.text_ranges())
    return LocationResponse.of(location)
