"""The route that takes a new file."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Any, Protocol

from fastapi import APIRouter, Depends, Query, Request

from rag_source.api.corpus_wire import UploadResponse
from rag_source.api.service import service_of
from rag_source.domain.errors import BodyTooLargeError, RequestError
from rag_source.domain.reports import Uploaded
from rag_source.ingest.uploads import LIMIT_UPLOAD_BYTES

__all__ = ["UPLOAD_ROUTE", "UploadService", "router"]

UPLOAD_ROUTE = ("POST", "/v1/documents")
"""Its body may be as large as a document; it is counted here as it comes."""

_OCTETS = "application/octet-stream"


class UploadService(Protocol):
    """What this route needs."""

    async def upload(
        self, path: str, pieces: AsyncIterator[bytes], *, overwrite: bool = False
    ) -> Uploaded: ...


router = APIRouter(tags=["documents"])

_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {_OCTETS: {"schema": {"type": "string", "format": "binary"}}},
    }
}


@router.post("/v1/documents", status_code=201, openapi_extra=_BODY)
async def upload(
    request: Request,
    service: Annotated[UploadService, Depends(service_of)],
    path: Annotated[
        str,
        Query(min_length=1, max_length=1024, description="Where in the folder, such as `a/b.pdf`."),
    ],
    overwrite: Annotated[bool, Query(description="Replace a file of that name.")] = False,
) -> UploadResponse:
    """Put a file into the folder of documents; it is indexed from then on.

    The body is the file, at most 200 MB. A file of that name answers 409 unless `overwrite` is set.
    """
    if request.headers.get("content-type", _OCTETS).partition(";")[0].strip() != _OCTETS:
        raise RequestError(
            "the body is not the bytes of a file", hint=f"send it as {_OCTETS}", code="bad_request"
        )
    declared = request.headers.get("content-length", "")
    if declared.isascii() and declared.isdigit() and int(declared) > LIMIT_UPLOAD_BYTES:
        raise BodyTooLargeError(
            f"the file has more than {LIMIT_UPLOAD_BYTES:,} bytes",
            hint="put it into the folder itself",
        )
    done = await service.upload(path, request.stream(), overwrite=overwrite)
    return UploadResponse.of(done)
