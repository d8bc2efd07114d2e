"""Run the loader of a file, with every failure as a value that can cross a process border.

`workers.py` does this in processes with limits; `InProcessParser` does it here.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from rag_source.domain.documents import ParsedDocument
from rag_source.domain.errors import SourceError
from rag_source.domain.ports import DocumentLoader
from rag_source.ingest.loader_tools import PageProgress
from rag_source.ingest.registry import LoaderRegistry

__all__ = [
    "InProcessParser",
    "ParseFailure",
    "Parser",
    "ParsingPolicy",
    "parse_outcome",
    "unsupported_hint",
    "unwrapped",
]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsingPolicy:
    """Limits of one parse.

    `timeout_s` is wall time: the slowest honest file measured, a book of 1,000 pages, takes about
    two minutes on one busy core. `limit_bytes` is the size of the file.
    """

    timeout_s: float = 300.0
    limit_bytes: int = 512 * 1024 * 1024

    def __post_init__(self) -> None:
        if not 0 < self.timeout_s <= 3600:
            raise ValueError(f"timeout_s must be above 0 and at most 3600, not {self.timeout_s}")
        if self.limit_bytes <= 0:
            raise ValueError(f"limit_bytes must be positive, not {self.limit_bytes}")


class Parser(Protocol):
    """Parses a file by the loader of its suffix."""

    async def parse(self, path: Path, *, on_progress: PageProgress | None = None) -> ParsedDocument:
        """The document.

        Args:
            path: The file.
            on_progress: Called a few times a second while a paginated file is parsed, if the parser
                can tell; begins anew should the file be parsed anew.

        Raises:
            SourceError: It cannot be used; anything a loader did not foresee is `parser_error`.
        """


@dataclass(frozen=True, slots=True)
class ParseFailure:
    """A `SourceError` as it crosses the process border: exceptions with keywords do not pickle."""

    code: str
    message: str
    hint: str


class InProcessParser:
    """Parses in a thread of this process, one file at a time; for tests and single files."""

    def __init__(self, registry: LoaderRegistry, policy: ParsingPolicy | None = None) -> None:
        self._registry = registry
        self._policy = policy or ParsingPolicy()
        self._turn = asyncio.Lock()

    async def parse(self, path: Path, *, on_progress: PageProgress | None = None) -> ParsedDocument:
        """As `Parser.parse`; does not tell pages."""
        async with self._turn:
            outcome = await asyncio.to_thread(
                parse_outcome, self._registry.loader_for(path), path, self._policy.limit_bytes
            )
        return unwrapped(outcome)


def parse_outcome(
    loader: DocumentLoader | None, path: Path, limit_bytes: int
) -> ParsedDocument | ParseFailure:
    """What a loader makes of a file of at most so many bytes; raises nothing."""
    if loader is None:
        return ParseFailure(
            "unsupported", f"{path.name!r} is of no supported format", unsupported_hint()
        )
    try:
        size = path.stat().st_size
        if size > limit_bytes:
            return ParseFailure(
                "too_large",
                f"{path.name!r} has {size:,} bytes, more than the limit of {limit_bytes:,}",
                "Split the file.",
            )
        return loader.load(path)
    except SourceError as error:
        return ParseFailure(error.code, error.message, error.hint)
    except OSError as error:
        return ParseFailure(
            "unreadable",
            f"{path.name!r} cannot be read: {error.strerror or error}",
            "Check that the file is still there, and its permissions.",
        )
    except MemoryError:
        return ParseFailure(
            "too_large",
            f"{path.name!r} needs more memory than a parser may use",
            "Split the file, or save it without its pictures.",
        )
    except Exception as error:
        logger.exception("loader %s failed on %s", loader.name, path.name)
        return ParseFailure(
            "parser_error",
            f"{path.name!r} could not be parsed ({type(error).__name__})",
            "Save the file again from its program, or print it to PDF.",
        )


def unsupported_hint() -> str:
    """What to do with a file of an unknown format."""
    return "Save it as PDF, DOCX, PPTX, XLSX, HTML, Markdown, CSV, JSON, text or a picture."


def unwrapped(outcome: ParsedDocument | ParseFailure) -> ParsedDocument:
    """The document, or the failure as the `SourceError` that it was."""
    if isinstance(outcome, ParseFailure):
        raise SourceError(outcome.message, code=outcome.code, hint=outcome.hint)
    return outcome
