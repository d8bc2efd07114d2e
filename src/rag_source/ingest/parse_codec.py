"""What a worker and its parent say to each other, and a parse as bytes.

The parent sends pickles: a `WorkerSetup`, then paths of files to parse and `PictureRequest`s. The
worker sends frames: one byte of kind, eight bytes of length, the body. The parent must not trust a
process that read a hostile file: it rebuilds the domain's values and nothing else. Words are
columns of numbers: as pickled objects they take six times as long to write (a report of 300 pages
has 150,000).
"""

from __future__ import annotations

import io
import pickle
import struct
from array import array
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rag_source.domain import documents
from rag_source.domain.documents import Page, ParsedDocument, WordBox
from rag_source.ingest.loader_tools import ParseLimits
from rag_source.ingest.ocr import OcrPolicy

__all__ = ["FRAME", "PAGES", "Kind", "WorkerSetup", "packed", "unpacked"]

FRAME = struct.Struct("<cQ")

PAGES = struct.Struct("<II")

_LENGTH = struct.Struct("<Q")
_FIELDS = 5


class Kind:
    """What a frame from the worker says."""

    READY = b"R"
    DOCUMENT = b"D"
    PICTURE = b"I"
    """A page as a picture: its bytes, which say themselves what they are."""
    FAILED = b"F"
    GRANT = b"G"
    """A number: seconds that the file may take longer, or, negative, that it did not need."""
    LOG = b"L"
    PAGES = b"P"
    """How many pages have been read and how many there are: two numbers, as `PAGES` packs them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSetup:
    """The first thing a worker is told.

    `memory_bytes` is what it may use beyond its start, `page_spool` where it keeps the pages that
    OCR has read.
    """

    ocr: OcrPolicy
    limits: ParseLimits
    limit_bytes: int
    memory_bytes: int
    page_spool: Path | None = None


def packed(document: ParsedDocument) -> bytes:
    """The document as bytes for `unpacked`."""
    bare = replace(document, pages=tuple(replace(page, words=()) for page in document.pages))
    parts = [pickle.dumps(bare, protocol=5)]
    for page in document.pages:
        ranges, boxes = array("q"), array("d")
        for word in page.words:
            ranges.append(word.start)
            ranges.append(word.end)
            boxes.extend((word.x0, word.y0, word.x1, word.y1, word.confidence))
        parts += [ranges.tobytes(), boxes.tobytes()]
    return b"".join(_LENGTH.pack(len(part)) + part for part in parts)


def unpacked(data: bytes) -> ParsedDocument:
    """The document that was packed.

    Raises:
        ValueError: The bytes are not such a document.
    """
    parts = _parts(memoryview(data))
    try:
        bare = _DomainUnpickler(io.BytesIO(parts[0])).load()
    except (pickle.UnpicklingError, EOFError, TypeError, AttributeError, IndexError) as error:
        raise ValueError("a worker sent something else than a document") from error
    if not isinstance(bare, ParsedDocument) or len(parts) != 1 + 2 * len(bare.pages):
        raise ValueError("a worker sent something else than a document")
    pages = tuple(
        _with_words(page, parts[1 + 2 * i], parts[2 + 2 * i]) for i, page in enumerate(bare.pages)
    )
    return replace(bare, pages=pages)


def _with_words(page: Page, ranges: memoryview, boxes: memoryview) -> Page:
    positions, numbers = array("q"), array("d")
    positions.frombytes(ranges)
    numbers.frombytes(boxes)
    if len(positions) // 2 * _FIELDS != len(numbers):
        raise ValueError("a worker sent half a page")
    spans, values = iter(positions), iter(numbers)
    words = [
        WordBox(start=start, end=end, x0=x0, y0=y0, x1=x1, y1=y1, confidence=confidence)
        for (start, end), (x0, y0, x1, y1, confidence) in zip(
            zip(spans, spans, strict=True),
            zip(values, values, values, values, values, strict=True),
            strict=True,
        )
    ]
    return replace(page, words=tuple(words))


def _parts(data: memoryview) -> list[memoryview]:
    parts: list[memoryview] = []
    at = 0
    while at < len(data):
        if at + _LENGTH.size > len(data):
            raise ValueError("a worker's answer is cut short")
        (length,) = _LENGTH.unpack_from(data, at)
        at += _LENGTH.size
        if at + length > len(data):
            raise ValueError("a worker's answer is cut short")
        parts.append(data[at : at + length])
        at += length
    if not parts:
        raise ValueError("a worker's answer is empty")
    return parts


class _DomainUnpickler(pickle.Unpickler):  # noqa: S301 - it names what may be built
    """Builds the dataclasses of `domain.documents`; nothing that could run code has a name here."""

    def find_class(self, module: str, name: str) -> Any:
        if module == documents.__name__ and name in documents.__all__:
            return getattr(documents, name)
        raise pickle.UnpicklingError(f"a worker sent a {module}.{name}")
