"""A chunk as the engine's payload, and back.

The payload is the whole chunk, so that a search needs no second look-up. Ranges are flat lists of
integers. `CODEC_VERSION` stands in the collection's metadata: a payload of another version is never
read.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from rag_source.domain.chunks import Chunk, Segment, TextRange

__all__ = [
    "CODEC_VERSION",
    "canonical_format",
    "chunk_from_payload",
    "chunk_to_payload",
    "document_format",
    "parent_folders",
    "path_payload",
]

CODEC_VERSION = 1
"""Raised whenever a payload written before would be read differently."""

_FORMAT_ALIASES = {"htm": "html", "markdown": "md", "jpeg": "jpg", "tif": "tiff", "text": "txt"}


def canonical_format(name: str) -> str:
    """One name for a format however it is spelt: `.HTM` and `html` are both `html`."""
    bare = name.strip().lower().removeprefix(".")
    return _FORMAT_ALIASES.get(bare, bare)


def document_format(path: str) -> str:
    """The format a path's suffix names, such as `pdf`; empty without a suffix."""
    return canonical_format(PurePosixPath(path).suffix)


def parent_folders(path: str) -> list[str]:
    """Every folder above a relative path, outermost first: `a/b/c.txt` gives `a`, `a/b`."""
    parts = path.split("/")[:-1]
    return ["/".join(parts[: i + 1]) for i in range(len(parts))]


def path_payload(path: str) -> dict[str, Any]:
    """The payload keys that follow from the path alone; a rename writes these and no others."""
    return {"path": path, "folders": parent_folders(path), "format": document_format(path)}


def chunk_to_payload(chunk: Chunk, *, generation: int) -> dict[str, Any]:
    """`generation` tells the versions of one document apart while one takes the other's place."""
    return {
        **path_payload(chunk.path),
        "generation": generation,
        "chunk_id": chunk.chunk_id,
        "doc_id": chunk.doc_id,
        "ordinal": chunk.ordinal,
        "text": chunk.text,
        "segments": [n for s in chunk.segments for n in (s.start, s.end, s.document_start)],
        "sentences": [n for s in chunk.sentences for n in (s.start, s.end)],
        "block_id": chunk.block_id,
        "section": list(chunk.section),
        "page": chunk.page,
        "kind": chunk.kind,
        "title": chunk.title,
        "language": chunk.language,
        "context": chunk.context,
    }


def chunk_from_payload(payload: Mapping[str, Any]) -> Chunk:
    """The chunk that was stored.

    Raises:
        KeyError, TypeError, ValueError: The payload is not one of this codec's.
    """
    segments, sentences = payload["segments"], payload["sentences"]
    return Chunk(
        chunk_id=payload["chunk_id"],
        doc_id=payload["doc_id"],
        path=payload["path"],
        ordinal=payload["ordinal"],
        text=payload["text"],
        segments=tuple(
            Segment(start=a, end=b, document_start=c)
            for a, b, c in zip(segments[::3], segments[1::3], segments[2::3], strict=True)
        ),
        sentences=tuple(
            TextRange(start=a, end=b) for a, b in zip(sentences[::2], sentences[1::2], strict=True)
        ),
        block_id=payload["block_id"],
        section=tuple(payload["section"]),
        page=payload["page"],
        kind=payload["kind"],
        title=payload["title"],
        language=payload["language"],
        context=payload["context"],
    )
