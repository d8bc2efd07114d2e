"""HTML pages, saved web pages included."""

from __future__ import annotations

import re
from pathlib import Path

from rag_source.domain.documents import ParsedDocument
from rag_source.domain.errors import SourceError
from rag_source.ingest.builder import DocumentBuilder
from rag_source.ingest.decoding import decode, read_bytes

__all__ = ["loader"]

# WHATWG HTML, 13.2.3.2: a declaration counts only in the first 1,024 bytes; saved pages put
# comments before it, so we look further.
_PROLOGUE_BYTES = 4096
_COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
_META = re.compile(rb"<meta\b[^>]*?charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)
_XML = re.compile(rb"^\s*<\?xml\b[^>]*?encoding\s*=\s*[\"']([\w.:-]+)", re.IGNORECASE)


class _HtmlLoader:
    name = "html"
    version = 1
    suffixes = (".htm", ".html", ".xhtml")

    def load(self, path: Path) -> ParsedDocument:
        # Lazy: Beautiful Soup costs half a second, which only a process that reads HTML should pay.
        from rag_source.ingest.html_blocks import append_html

        data = read_bytes(path)
        decoded = decode(data, name=path.name, declared=_declared_encoding(data))
        builder = DocumentBuilder()
        title = append_html(builder, decoded.text)
        if builder.is_empty:
            raise SourceError(
                f"{path.name!r} shows no text",
                code="no_text",
                hint="Pages that scripts fill must be saved from the browser, or printed to PDF.",
            )
        if decoded.repaired:
            builder.warn("encoding_repaired", f"Some bytes did not fit {decoded.encoding}.")
        return builder.build(
            title=title or builder.first_heading() or path.stem,
            loader=self.name,
            version=self.version,
        )


def _declared_encoding(data: bytes) -> str | None:
    prologue = _COMMENT.sub(b"", data[:_PROLOGUE_BYTES])
    match = _XML.search(prologue) or _META.search(prologue)
    return match.group(1).decode("ascii") if match else None


loader = _HtmlLoader()
