"""Show what ingestion extracts from a file or a folder, without indexing and without models."""

from __future__ import annotations

import asyncio
import os
from collections import Counter, deque
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Literal

from rag_source.domain.documents import Page, ParsedDocument, ParseWarning
from rag_source.domain.errors import RequestError, SourceError
from rag_source.domain.ports import TokenCounter
from rag_source.ingest.chunker import ChunkIdentity, ChunkingPolicy, Tokens
from rag_source.ingest.measuring import chunked, estimate
from rag_source.ingest.parsing import Parser
from rag_source.ingest.registry import LoaderRegistry
from rag_source.ingest.sampling import sampled
from rag_source.ingest.scan import scan

__all__ = ["FileInspection", "Selection", "inspect", "select_files"]

_NAMELESS = "{!r} cannot be examined. Check its permissions and that its name is UTF-8."


@dataclass(frozen=True, slots=True, kw_only=True)
class FileInspection:
    """What became of one file. `text` is the document text, empty for a file that failed.

    `format` is the suffix without its dot, `kinds` the number of blocks of each kind, the most
    frequent first, and `ocr_pages` how many of the `pages` OCR read. `chunks` is an estimate where
    no embedding model was asked.
    """

    path: str
    status: Literal["ready", "failed"]
    code: str = ""
    message: str = ""
    warnings: tuple[ParseWarning, ...] = ()
    format: str = ""
    loader: str = ""
    language: str = ""
    pages: int = 0
    ocr_pages: int = 0
    blocks: int = 0
    kinds: Mapping[str, int] = field(default_factory=dict)
    tables: int = 0
    chunks: int = 0
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The files to look at, ordered by path, each with its name in the result.

    `left_out` is how many files of the folder are not among them; `unreadable` are the names of
    files and folders that could not be examined at all.
    """

    files: tuple[tuple[Path, str], ...]
    left_out: int = 0
    unreadable: tuple[str, ...] = ()


def select_files(
    path: Path, *, sample: int = 0, registry: LoaderRegistry | None = None
) -> Selection:
    """Each file of a folder, or the one file; names are relative to the folder.

    Args:
        path: A file or a folder.
        sample: Take at most so many files of a folder, as `sampled` does; 0 takes all.
        registry: Tells formats.

    Raises:
        RequestError: There is nothing at `path`.
        ConfigurationError: The folder cannot be read.
    """
    if path.is_dir():
        found = scan(path)
        names = [file.path for file in found.files]
        chosen = sampled(names, sample, registry or LoaderRegistry()) if sample else names
        return Selection(
            files=tuple((path / name, name) for name in chosen),
            left_out=len(names) - len(chosen),
            unreadable=found.unreadable_folders + found.unreadable_files,
        )
    if path.exists():
        return Selection(files=((path, path.name),))
    raise RequestError(
        f"{str(path)!r} does not exist",
        code="not_found",
        hint="Give the path of a file or a folder.",
    )


async def inspect(
    selection: Selection,
    *,
    parser: Parser,
    registry: LoaderRegistry | None = None,
    chunking: ChunkingPolicy | None = None,
    counter: TokenCounter | None = None,
) -> AsyncGenerator[FileInspection, None]:
    """The files in their order, each as soon as it and those before it are done; what could not be
    examined comes last.

    A few files are parsed at a time. Closing the iterator ends what is under way.

    Args:
        selection: Which files.
        parser: Parses them.
        registry: Names the loader of a file that failed.
        chunking: How chunks are counted.
        counter: Counts tokens exactly for the answer model; otherwise lengths are estimated.

    Raises:
        ConfigurationError: The parser does not start.
    """
    registry = registry or LoaderRegistry()
    chunking = chunking or ChunkingPolicy()
    under_way: deque[asyncio.Task[FileInspection]] = deque()
    try:
        for file, name in selection.files:
            look = _inspected(file, name, parser, registry, chunking, counter)
            under_way.append(asyncio.create_task(look))
            if len(under_way) > (os.cpu_count() or 1):
                yield await under_way.popleft()
        while under_way:
            yield await under_way.popleft()
        for name in selection.unreadable:
            yield _failed(name, "unreadable", _NAMELESS.format(name))
    finally:
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)


async def _inspected(
    file: Path,
    name: str,
    parser: Parser,
    registry: LoaderRegistry,
    chunking: ChunkingPolicy,
    counter: TokenCounter | None,
) -> FileInspection:
    loader = registry.loader_for(name)
    try:
        parsed = await parser.parse(file)
    except SourceError as error:
        message = f"{error.message}. {error.hint}" if error.hint else error.message
        return _failed(name, error.code, message, loader=loader.name if loader else "")
    chunks = await _chunk_count(parsed, chunking, counter)
    kinds = Counter(block.kind for block in parsed.blocks)
    return FileInspection(
        path=name,
        status="ready" if chunks else "failed",
        code="" if chunks else "no_text",
        message="" if chunks else f"{name!r} has no text to index.",
        warnings=parsed.warnings,
        format=_format(name),
        loader=parsed.loader,
        language=parsed.language,
        pages=len(parsed.pages),
        ocr_pages=sum(map(_is_recognised, parsed.pages)),
        blocks=len(parsed.blocks),
        kinds=dict(kinds.most_common()),
        tables=kinds["table"],
        chunks=chunks,
        text=parsed.text,
    )


def _failed(name: str, code: str, message: str, *, loader: str = "") -> FileInspection:
    return FileInspection(
        path=name, status="failed", code=code, message=message, format=_format(name), loader=loader
    )


def _format(name: str) -> str:
    return PurePath(name).suffix.lower().removeprefix(".")


def _is_recognised(page: Page) -> bool:
    """Whether OCR read the page: it is never wholly sure of every word, a text layer always is."""
    return any(word.confidence < 100 for word in page.words)


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
