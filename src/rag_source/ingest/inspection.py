"""Show what ingestion extracts from a file or a folder, without indexing and without models."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rag_source.domain.documents import ParsedDocument, ParseWarning
from rag_source.domain.errors import RequestError, SourceError
from rag_source.domain.ports import TokenCounter
from rag_source.ingest.chunker import ChunkIdentity, ChunkingPolicy, Tokens
from rag_source.ingest.measuring import chunked, estimate
from rag_source.ingest.parsing import Parser
from rag_source.ingest.registry import LoaderRegistry
from rag_source.ingest.scan import scan

__all__ = ["FileInspection", "inspect"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FileInspection:
    """What became of one file. `text` is the document text, empty for a file that failed.

    `chunks` is an estimate where no embedding model was asked.
    """

    path: str
    status: Literal["ready", "failed"]
    code: str = ""
    message: str = ""
    warnings: tuple[ParseWarning, ...] = ()
    loader: str = ""
    pages: int = 0
    blocks: int = 0
    tables: int = 0
    chunks: int = 0
    text: str = ""


async def inspect(
    path: Path,
    *,
    parser: Parser,
    registry: LoaderRegistry | None = None,
    chunking: ChunkingPolicy | None = None,
    counter: TokenCounter | None = None,
) -> list[FileInspection]:
    """Each file of a folder, or the one file, in the order of their paths.

    Args:
        path: A file or a folder; paths in the result are relative to the folder.
        parser: Parses them.
        registry: Names the loader of a file that failed.
        chunking: How chunks are counted.
        counter: Counts tokens exactly for the answer model; otherwise lengths are estimated.

    Raises:
        RequestError: There is nothing at `path`.
        ConfigurationError: The folder cannot be read.
    """
    registry = registry or LoaderRegistry()
    chunking = chunking or ChunkingPolicy()
    files = await asyncio.to_thread(_files, path)
    return [await _inspected(*file, parser, registry, chunking, counter) for file in files]


def _files(path: Path) -> list[tuple[Path, str]]:
    """Each file with its name in the result."""
    if path.is_dir():
        return [(path / file.path, file.path) for file in scan(path).files]
    if path.exists():
        return [(path, path.name)]
    raise RequestError(
        f"{str(path)!r} does not exist",
        code="not_found",
        hint="Give the path of a file or a folder.",
    )


async def _inspected(
    file: Path,
    name: str,
    parser: Parser,
    registry: LoaderRegistry,
    chunking: ChunkingPolicy,
    counter: TokenCounter | None,
) -> FileInspection:
    loader = registry.loader_for(name)
    loader_name = loader.name if loader else ""
    try:
        parsed = await parser.parse(file)
    except SourceError as error:
        message = f"{error.message}. {error.hint}" if error.hint else error.message
        return FileInspection(
            path=name, status="failed", code=error.code, message=message, loader=loader_name
        )
    chunks = await _chunk_count(parsed, chunking, counter)
    return FileInspection(
        path=name,
        status="ready",
        warnings=parsed.warnings,
        loader=parsed.loader,
        pages=len(parsed.pages),
        blocks=len(parsed.blocks),
        tables=sum(block.kind == "table" for block in parsed.blocks),
        chunks=chunks,
        text=parsed.text,
    )


async def _chunk_count(
    parsed: ParsedDocument, chunking: ChunkingPolicy, counter: TokenCounter | None
) -> int:
    async def measure(texts: Sequence[str]) -> list[Tokens]:
        guessed = await estimate(texts)
        if counter is None:
            return guessed
        return [Tokens(counter.count(t), g.embed) for t, g in zip(texts, guessed, strict=True)]

    identity = ChunkIdentity(doc_id="inspected", path="", fingerprint="")
    return len(await chunked(parsed, measure, chunking, identity))
