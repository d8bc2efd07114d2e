"""A document on its whole way: read, cut into chunks, found by its words, quoted and placed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pymupdf

from fakes import FakeCatalogue
from ingest.chunking_inputs import chunks_of
from rag_source.domain.answers import Box, Quote
from rag_source.domain.catalogue import DocumentRecord
from rag_source.domain.chunks import Chunk
from rag_source.domain.documents import ParsedDocument, SourceFile
from rag_source.generation.places import DocumentPlace, place_in_document
from rag_source.generation.quotes import locate
from rag_source.ingest.chunker import ChunkingPolicy
from rag_source.ingest.loader_tools import LoaderTools
from rag_source.ingest.ocr import OcrEngine, OcrPolicy
from rag_source.ingest.registry import LoaderRegistry
from rag_source.retrieval.bm25 import Bm25Encoder

__all__ = ["Cited", "bm25", "chunks_in", "cite", "dark_points", "inside", "read"]

_mupdf: Any = pymupdf  # It ships no type information.


@dataclass(frozen=True, kw_only=True)
class Cited:
    """A quote judged in the first chunk that holds it, the source's own words, and their place."""

    quote: Quote
    words: str
    place: DocumentPlace


def read(path: Path) -> ParsedDocument:
    """The document as its loader gives it, without OCR."""
    loader = _registry().loader_for(path)
    assert loader is not None, path.name
    return loader.load(path)


def chunks_in(parsed: ParsedDocument, policy: ChunkingPolicy | None = None) -> list[Chunk]:
    """Its chunks, of the usual size."""
    return [packed.chunk for packed in chunks_of(parsed, policy or ChunkingPolicy())]


def bm25(question: str, text: str) -> float:
    """What BM25 gives a text for a question, every term being as rare as any other."""
    encoder = Bm25Encoder()
    asked = encoder.encode_query(question, language="und")
    held = encoder.encode_document(text, language="und")
    weights = dict(zip(held.indices, held.values, strict=True))
    terms = zip(asked.indices, asked.values, strict=True)
    return sum(weight * weights.get(index, 0.0) for index, weight in terms)


def cite(parsed: ParsedDocument, quote: str, chunks: Sequence[Chunk] | None = None) -> Cited:
    """Locate a quote in the chunks of a document and place it there.

    Raises:
        AssertionError: No chunk verifies it.
    """
    catalogue = FakeCatalogue()
    source = SourceFile(path="file", fingerprint="f" * 64, size_bytes=1, mtime_ns=1)
    catalogue.save(DocumentRecord(doc_id="doc", source=source, status="ready", chunks=1), parsed)
    judged = [(locate(quote, chunk.text), chunk) for chunk in chunks or chunks_in(parsed)]
    for found, chunk in judged:
        if found.status == "verified":
            place = place_in_document(chunk, found.start, found.end, catalogue)
            return Cited(quote=found, words=chunk.text[found.start : found.end], place=place)
    raise AssertionError([found.reason for found, _ in judged])


def dark_points(path: Path, page: int, *, dpi: int = 72) -> list[tuple[float, float]]:
    """Where a page (counted from 1) as displayed is dark, in fractions of its size."""
    with _mupdf.open(path) as document:
        pixmap = document[page - 1].get_pixmap(dpi=dpi, colorspace=pymupdf.csGRAY)
    dark: list[tuple[float, float]] = []
    for y in range(pixmap.height):
        row = pixmap.samples[y * pixmap.stride : y * pixmap.stride + pixmap.width]
        dark += [
            ((x + 0.5) / pixmap.width, (y + 0.5) / pixmap.height)
            for x, value in enumerate(row)
            if value < 128
        ]
    return dark


def inside(points: Sequence[tuple[float, float]], box: Box) -> int:
    """How many of the points lie in a box."""
    return sum(box.x0 <= x <= box.x1 and box.y0 <= y <= box.y1 for x, y in points)


def _registry() -> LoaderRegistry:
    return LoaderRegistry(tools=LoaderTools(ocr=OcrEngine(OcrPolicy(mode="off"))))
