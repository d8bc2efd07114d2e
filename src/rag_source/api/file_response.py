"""Content that its reader may have already, and open files, in one piece or by a range (RFC 9110).

Starlette's own response for files opens them by path again, when something else may stand there.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from typing import BinaryIO
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from rag_source.domain.errors import RequestError

__all__ = ["attachment", "cached", "file_response", "known_tags"]

_PIECE_BYTES = 256 * 1024
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


def file_response(
    file: BinaryIO,
    size_bytes: int,
    *,
    headers: Mapping[str, str],
    tag: str,
    asked: Mapping[str, str],
) -> Response:
    """The response; the file is closed when it has been sent, or at once if nothing is.

    Args:
        file: Open for reading.
        size_bytes: Of the whole file.
        headers: Of the response.
        tag: Names the content; becomes the `ETag`.
        asked: The headers of the request.
    """
    given = {**headers, "ETag": f'"{tag}"', "Accept-Ranges": "bytes"}
    wanted = asked.get("range", "")
    if asked.get("if-range", f'"{tag}"') != f'"{tag}"':
        wanted = ""
    match = _RANGE.fullmatch(wanted.replace(" ", ""))
    if match is None or match[1] == match[2] == "":
        # Several ranges, other units and nonsense may be ignored: the whole file answers them too.
        given["Content-Length"] = str(size_bytes)
        return StreamingResponse(_pieces(file, 0, size_bytes), headers=given)
    start, end = _bounds(match[1], match[2], size_bytes)
    if start >= end:
        file.close()
        error = RequestError("the range is outside of the file", code="bad_range")
        return JSONResponse(
            error.as_dict(), status_code=416, headers={"Content-Range": f"bytes */{size_bytes}"}
        )
    given["Content-Length"] = str(end - start)
    given["Content-Range"] = f"bytes {start}-{end - 1}/{size_bytes}"
    return StreamingResponse(_pieces(file, start, end), status_code=206, headers=given)


def cached(
    request: Request,
    tag: str,
    content: bytes,
    headers: Mapping[str, str],
    *,
    control: str = "private, no-cache",
) -> Response:
    """The content, or nothing for a reader who has it, and who asks again each time."""
    given = {**headers, "ETag": f'"{tag}"', "Cache-Control": control}
    if tag in known_tags(request):
        given.pop("Content-Type", None)
        return Response(status_code=304, headers=given)
    return Response(content, headers=given)


def known_tags(request: Request) -> frozenset[str]:
    """The tags in `If-None-Match`; a proxy that compresses may have made them weak."""
    listed = request.headers.get("if-none-match", "").split(",")
    return frozenset(tag.strip().removeprefix("W/").strip('"') for tag in listed)


def attachment(name: str) -> str:
    """The value of `Content-Disposition` for a file to be saved; any name is safe in it."""
    return f"attachment; filename*=UTF-8''{quote(name, safe='', errors='replace')}"


def _bounds(first: str, last: str, size_bytes: int) -> tuple[int, int]:
    if not first:
        return max(0, size_bytes - int(last)), size_bytes
    return int(first), min(int(last) + 1, size_bytes) if last else size_bytes


async def _pieces(file: BinaryIO, start: int, end: int) -> AsyncIterator[bytes]:
    try:
        await asyncio.to_thread(file.seek, start)
        while start < end:
            piece = await asyncio.to_thread(file.read, min(_PIECE_BYTES, end - start))
            if not piece:
                # Cut short while it is being sent: the missing length tells the reader.
                return
            start += len(piece)
            yield piece
    finally:
        file.close()
