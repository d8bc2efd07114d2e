"""PowerPoint presentations (Office Open XML), and a clear refusal of the older binary ones."""

from __future__ import annotations

from pathlib import Path

from rag_source.domain.documents import ParsedDocument
from rag_source.domain.errors import SourceError
from rag_source.ingest.builder import DocumentBuilder
from rag_source.ingest.office_package import OfficeKind, PackageLimits, open_package
from rag_source.ingest.slide_deck import SlideDeck

__all__ = ["loader"]

_KIND = OfficeKind(
    what="a PowerPoint presentation",
    root="presentation",
    main="ppt/presentation.xml",
    suffix=".pptx",
)


class _PptxLoader:
    """Slides in order, hidden ones skipped; speaker notes follow their slide."""

    name = "pptx"
    version = 1
    suffixes = (".potx", ".pps", ".ppsx", ".ppt", ".pptm", ".pptx")

    def __init__(self, limits: PackageLimits) -> None:
        self._limits = limits

    def load(self, path: Path) -> ParsedDocument:
        builder = DocumentBuilder()
        with open_package(path, _KIND, self._limits) as (package, main, root):
            SlideDeck(package, main, root, builder).append()
            title = package.title()
            package.report(builder)
        if builder.is_empty:
            raise SourceError(
                f"{path.name!r} has no text on any visible slide",
                code="no_text",
                hint="If its slides are pictures, print it to PDF so that they can be recognised.",
            )
        return builder.build(
            title=title or builder.first_heading() or path.stem,
            loader=self.name,
            version=self.version,
        )


loader = _PptxLoader(PackageLimits())
