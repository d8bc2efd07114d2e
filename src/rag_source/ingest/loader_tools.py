"""What a loader may need besides the file, and how it gets it.

Most formats need nothing: their module ends with `loader = _TextLoader()`. A loader that needs a
tool has a method `with_tools`; the registry asks it for the loader to use, so that no loader reads
a setting and each can be built in a test by hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeAlias, runtime_checkable

from rag_source.domain.ports import DocumentLoader
from rag_source.ingest.ocr import OcrEngine

__all__ = ["LoaderTools", "PageProgress", "ParseLimits", "ToolUser"]

PageProgress: TypeAlias = Callable[[int, int], None]
"""Called with the pages of a file that have been read and how many it has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParseLimits:
    """What one file may hold.

    `pages` bounds paginated files; 5,000 pages of a financial report take about two minutes of one
    core (2.3 s for 83, eval/bench/parse.py).
    """

    pages: int = 5_000

    def __post_init__(self) -> None:
        if self.pages < 1:
            raise ValueError(f"pages is at least 1, not {self.pages}")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoaderTools:
    """Shared by all loaders of one registry.

    `page_spool` is a folder for pages that OCR has read; without one they are read at each parse.
    `on_pages` is called by loaders whose files may take minutes: first with 0 pages, last with all.
    """

    ocr: OcrEngine = field(default_factory=OcrEngine)
    limits: ParseLimits = field(default_factory=ParseLimits)
    page_spool: Path | None = None
    on_pages: PageProgress = lambda done, total: None

    def counted(self, total: int) -> Iterator[int]:
        """The indices of so many pages, telling `on_pages` before each and after the last."""
        for index in range(total):
            self.on_pages(index, total)
            yield index
        self.on_pages(total, total)


@runtime_checkable
class ToolUser(Protocol):
    """A loader that wants tools."""

    def with_tools(self, tools: LoaderTools) -> DocumentLoader:
        """The same loader with these tools."""
