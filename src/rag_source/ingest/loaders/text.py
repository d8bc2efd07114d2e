"""Plain text: paragraphs between blank lines."""

from __future__ import annotations

import re
from pathlib import Path

from rag_source.domain.documents import ParsedDocument
from rag_source.domain.errors import SourceError
from rag_source.ingest.builder import DocumentBuilder, one_line
from rag_source.ingest.decoding import decode, read_bytes

__all__ = ["loader"]

# A line longer than any hard-wrapping editor makes is a paragraph by itself.
_LONGEST_WRAPPED_LINE = 200
_LONGEST_TITLE = 100
_GAP = re.compile(r"\n[ \t\u00a0]*\n\s*|\f")


class _TextLoader:
    """Nothing is guessed but paragraphs: plain text has no headings that can be relied on."""

    name = "text"
    version = 1
    suffixes = (".log", ".text", ".txt")

    def load(self, path: Path) -> ParsedDocument:
        decoded = decode(read_bytes(path), name=path.name)
        builder = DocumentBuilder()
        text = decoded.text.replace("\r\n", "\n").replace("\r", "\n")
        for paragraph in _GAP.split(text):
            for piece in _pieces(paragraph):
                builder.text(piece)
        if builder.is_empty:
            raise SourceError(
                f"{path.name!r} holds only white space",
                code="no_text",
                hint="Save the file again with its text.",
            )
        if decoded.repaired:
            builder.warn("encoding_repaired", f"Some bytes did not fit {decoded.encoding}.")
        return builder.build(title=_title(text, path), loader=self.name, version=self.version)


def _pieces(paragraph: str) -> list[str]:
    lines = paragraph.split("\n")
    if any(len(line) > _LONGEST_WRAPPED_LINE for line in lines):
        return lines
    return [paragraph]


def _title(text: str, path: Path) -> str:
    """The first line if it stands alone and does not read like a sentence, else the file's name."""
    first, _, rest = text.strip().partition("\n")
    alone = not rest.split("\n", 1)[0].strip()
    title = one_line(first)
    if alone and rest and 0 < len(title) <= _LONGEST_TITLE and title[-1] not in ".!?؟:;،,":
        return title
    return path.stem


loader = _TextLoader()
