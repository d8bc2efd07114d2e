"""Small inputs for every test of a store: chunks with hand-made vectors, records, parses."""

from __future__ import annotations

import math
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from rag_source.domain.catalogue import DocumentRecord
from rag_source.domain.chunks import (
    Chunk,
    EmbeddedChunk,
    EmbeddingModel,
    Segment,
    SparseVector,
    TextRange,
)
from rag_source.domain.documents import (
    Block,
    Cell,
    Page,
    PagePlace,
    ParsedDocument,
    ParseWarning,
    RowPlace,
    SourceFile,
    TableRow,
    WordBox,
)

_RAM_DISK = Path("/dev/shm")
_ROOM_BYTES = 1 << 30

MODEL = EmbeddingModel(name="tiny", dimension=4, limit_tokens=512)


@contextmanager
def engine_folder() -> Iterator[Path]:
    """A folder for an engine's files, in memory where there is room: making them on a disk waits
    a second or two for its syncs."""
    roomy = _RAM_DISK.is_dir() and shutil.disk_usage(_RAM_DISK).free > _ROOM_BYTES
    with tempfile.TemporaryDirectory(dir=_RAM_DISK if roomy else None) as name:
        yield Path(name)


def unit(*numbers: float) -> list[float]:
    """A vector of length 1, padded with zeros to the model's dimension."""
    padded = [*numbers, *[0.0] * (MODEL.dimension - len(numbers))]
    norm = math.sqrt(sum(n * n for n in padded))
    return [n / norm for n in padded]


def make_chunk(
    doc_id: str,
    ordinal: int = 0,
    *,
    text: str = "Deux mots.",
    path: str = "",
    language: str = "fr",
) -> Chunk:
    return Chunk(
        chunk_id=f"{doc_id}#{ordinal}",
        doc_id=doc_id,
        path=path or f"{doc_id}.txt",
        ordinal=ordinal,
        text=text,
        segments=(Segment(start=0, end=len(text), document_start=10 * ordinal),),
        sentences=(TextRange(start=0, end=len(text)),),
        block_id=f"b{ordinal}",
        section=("Un", "Deux"),
        page=3,
        kind="text",
        title="Titre",
        language=language,
        context="Situé.",
    )


def embedded(
    chunk: Chunk,
    *,
    dense: Sequence[float] = (1.0, 0.0, 0.0, 0.0),
    terms: dict[int, float] | None = None,
    sentences: Sequence[Sequence[float]] = (),
) -> EmbeddedChunk:
    weights = dict(sorted((terms or {}).items()))
    return EmbeddedChunk(
        chunk=chunk,
        dense=tuple(dense),
        sparse=SparseVector(indices=tuple(weights), values=tuple(weights.values())),
        sentence_vectors=tuple(tuple(vector) for vector in sentences),
    )


def make_version(doc_id: str, number: int, *, chunks: int = 5) -> list[EmbeddedChunk]:
    """One version of a document; each of its chunks says which."""
    return [
        embedded(
            make_chunk(doc_id, i, text=f"version {number}"),
            dense=unit(1, i / 10),
            terms={1: 1.0},
            sentences=[unit(1, i)],
        )
        for i in range(chunks)
    ]


def terms(*indices: int) -> SparseVector:
    """A query for these terms, each with the weight 1."""
    return SparseVector(indices=tuple(sorted(indices)), values=(1.0,) * len(indices))


def make_record(doc_id: str, *, path: str = "") -> DocumentRecord:
    source = SourceFile(
        path=path or f"{doc_id}.pdf", fingerprint="f" * 64, size_bytes=12, mtime_ns=2**61
    )
    return DocumentRecord(doc_id=doc_id, source=source, status="ready", chunks=1, format="pdf")


def make_parse(*, pages: int = 2, words_per_page: int = 5, text: str = "mot") -> ParsedDocument:
    """A paginated parse with every kind of place, a table, and boxes that float32 holds exactly."""
    line = " ".join([text] * words_per_page) + "\n"
    made = tuple(
        Page(
            number=number,
            width_pt=595.276,
            height_pt=841.89,
            rotation=90 * (number % 4),
            start=(number - 1) * len(line),
            end=number * len(line) - 1,
            words=tuple(
                WordBox(
                    start=(number - 1) * len(line) + i * (len(text) + 1),
                    end=(number - 1) * len(line) + i * (len(text) + 1) + len(text),
                    x0=i + 0.5,
                    y0=number + 0.25,
                    x1=i + 1.5,
                    y1=number + 12.125,
                )
                for i in range(words_per_page)
            ),
        )
        for number in range(1, pages + 1)
    )
    whole = line * pages + "\udfff😀 عربي"
    row = TableRow(
        start=4,
        end=6,
        cells=(Cell(start=4, end=5), Cell(start=6, end=6)),
        header=True,
        place=RowPlace(row=7),
    )
    blocks = (
        Block(id="h", kind="heading", start=0, end=2, level=1),
        Block(id="t", kind="table", start=3, end=8, place=PagePlace(page=1), rows=(row,)),
        Block(id="p", kind="paragraph", start=8, end=len(whole), section=("A", "é")),
    )
    return ParsedDocument(
        text=whole,
        blocks=blocks,
        title="Titre",
        language="fr",
        loader="pdf",
        loader_version=2,
        pages=made,
        warnings=(ParseWarning(code="repaired", message="Réparé."),),
    )
