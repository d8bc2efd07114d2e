"""What a loader may need besides the file, and how it gets it.

Most formats need nothing: their module ends with `loader = _TextLoader()`. A loader that needs a
tool has a method `with_tools`; the registry asks it for the loader to use, so that no loader reads
a setting and each can be built in a test by hand.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from rag_source.domain.ports import DocumentLoader
from rag_source.ingest.ocr import OcrEngine

__all__ = ["LoaderTools", "ParseLimits", "ToolUser"]


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
    """Shared by all loaders of one registry."""

    ocr: OcrEngine = field(default_factory=OcrEngine)
    limits: ParseLimits = field(default_factory=ParseLimits)


@runtime_checkable
class ToolUser(Protocol):
    """A loader that wants tools."""

    def with_tools(self, tools: LoaderTools) -> DocumentLoader:
        """The same loader with these tools."""
