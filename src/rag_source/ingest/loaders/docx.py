"""Word documents (Office Open XML), and a clear refusal of the older binary ones."""

from __future__ import annotations

from pathlib import Path

from rag_source.domain.documents import ParsedDocument
from rag_source.domain.errors import SourceError
from rag_source.ingest.builder import DocumentBuilder
from rag_source.ingest.office_package import OfficeKind, PackageLimits, open_package
from rag_source.ingest.word_document import WordDocument

__all__ = ["loader"]

_KIND = OfficeKind(
    what="a Word document", root="document", main="word/document.xml", suffix=".docx"
)


class _DocxLoader:
    """Reads insertions, never deletions; headers come first and footers last, each once.

    Footnotes, endnotes and comments are notes after the paragraph that refers to them.
    """

    name = "docx"
    version = 1
    suffixes = (".doc", ".docm", ".docx", ".dotm", ".dotx")

    def __init__(self, limits: PackageLimits) -> None:
        self._limits = limits

    def load(self, path: Path) -> ParsedDocument:
        builder = DocumentBuilder()
        with open_package(path, _KIND, self._limits) as (package, main, root):
            WordDocument(package, main, root, builder).append()
            title = package.title()
            package.report(builder)
        if builder.is_empty:
            raise SourceError(
                f"{path.name!r} holds no text",
                code="no_text",
                hint="If its pages are pictures, print it to PDF so that they can be recognised.",
            )
        return builder.build(
            title=title or builder.first_heading() or path.stem,
            loader=self.name,
            version=self.version,
        )


loader = _DocxLoader(PackageLimits())
