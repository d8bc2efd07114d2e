"""Chunks: what is embedded, matched and cited, and how their text maps to the document's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

__all__ = [
    "Chunk",
    "EmbeddedChunk",
    "EmbeddingModel",
    "Segment",
    "SparseVector",
    "TextRange",
    "Vector",
]

Vector: TypeAlias = Sequence[float]
"""An embedding, L2-normalised, of the model's dimension."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SparseVector:
    """Term weights: `indices` are distinct and ascending, `values` are their weights."""

    indices: tuple[int, ...] = ()
    values: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddingModel:
    """What a collection must agree on before two vectors may be compared (SPEC R7).

    `limit_tokens` is the longest input the model reads, special tokens included. `pooling` and
    the prefixes change every vector, so they count as much as the name. `languages` are those the
    model was made for; empty: many.
    """

    name: str
    dimension: int
    limit_tokens: int
    pooling: str = ""
    query_prefix: str = ""
    passage_prefix: str = ""
    languages: tuple[str, ...] = ()

    @property
    def identity(self) -> str:
        """The same for models whose vectors can be compared, and for no others."""
        return repr(
            (self.name, self.dimension, self.pooling, self.query_prefix, self.passage_prefix)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TextRange:
    """A half-open range of code points."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A run of chunk text copied unchanged from the document text at `document_start`."""

    start: int
    end: int
    document_start: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """A piece of a document that is matched and cited as one.

    `text` is made of `segments` (copied from the document text, a table's header possibly
    repeated from further up) joined by separators that belong to none. `page` is the first page
    for paginated files, otherwise None. `ordinal` counts from 0 in the document. `context` is the
    situating text that is embedded before `text`, never shown and never cited. `sentences` are
    the ranges of `text` that can support a claim by themselves: sentences, rows, list items.
    """

    chunk_id: str
    doc_id: str
    path: str
    ordinal: int
    text: str
    segments: tuple[Segment, ...]
    sentences: tuple[TextRange, ...]
    block_id: str
    section: tuple[str, ...] = ()
    page: int | None = None
    kind: str = "text"
    title: str = ""
    language: str = "und"
    context: str = ""

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise ValueError(f"chunk {self.chunk_id!r} is empty")
        if not self.segments:
            raise ValueError(f"chunk {self.chunk_id!r} comes from nowhere")

    @property
    def embedded_text(self) -> str:
        """What the embedder reads: the situating text, then the chunk."""
        return f"{self.context}\n{self.text}" if self.context else self.text

    def document_ranges(self, start: int, end: int) -> tuple[TextRange, ...]:
        """Where `text[start:end]` stands in the document text, in chunk order.

        Separators between segments map to nothing; the result is empty only for such a range.
        """
        found: list[TextRange] = []
        for segment in self.segments:
            low, high = max(start, segment.start), min(end, segment.end)
            if low < high:
                shift = segment.document_start - segment.start
                found.append(TextRange(start=low + shift, end=high + shift))
        return tuple(found)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedChunk:
    """A chunk with the vectors it is found by: one dense, one sparse, one for each sentence."""

    chunk: Chunk
    dense: Vector
    sparse: SparseVector
    sentence_vectors: tuple[Vector, ...] = field(default=())
