"""Markdown (CommonMark with tables): its words, without its markup."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rag_source.domain.documents import ParsedDocument
from rag_source.domain.errors import SourceError
from rag_source.ingest.builder import DocumentBuilder, RowText, one_line
from rag_source.ingest.decoding import decode, read_bytes

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

__all__ = ["loader"]

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TITLE_FIELD = re.compile(r"^title[ \t]*:[ \t]*(.+)$", re.IGNORECASE | re.MULTILINE)
_HTML_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
# The preset's 20 drops the text of deeper lists without a word.
_MOST_NESTING = 200


class _MarkdownLoader:
    name = "markdown"
    version = 1
    suffixes = (".markdown", ".md")

    def load(self, path: Path) -> ParsedDocument:
        decoded = decode(read_bytes(path), name=path.name)
        text = decoded.text.replace("\r\n", "\n").replace("\r", "\n")
        builder = DocumentBuilder()
        title = ""
        front = _FRONT_MATTER.match(text)
        if front:
            builder.text(front.group(1), "record")
            field = _TITLE_FIELD.search(front.group(1))
            title = field.group(1).strip().strip("\"'") if field else ""
            text = text[front.end() :]
        _append(builder, _parser().parse(text))
        if builder.is_empty:
            raise SourceError(
                f"{path.name!r} holds no text", code="no_text", hint="Save it again with its text."
            )
        if decoded.repaired:
            builder.warn("encoding_repaired", f"Some bytes did not fit {decoded.encoding}.")
        return builder.build(
            title=title or builder.first_heading() or path.stem,
            loader=self.name,
            version=self.version,
        )


def _parser() -> MarkdownIt:
    # Lazy: only a process that reads Markdown should pay for the parser.
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"maxNesting": _MOST_NESTING}).enable(
        ["table", "strikethrough"]
    )


def _append(builder: DocumentBuilder, tokens: Sequence[Token]) -> None:
    items = 0
    i = 0
    while i < len(tokens):
        token = tokens[i]
        if token.type == "table_open":
            i = _append_table(builder, tokens, i)
            continue
        if token.type == "heading_open":
            builder.heading(one_line(_words(tokens[i + 1])), int(token.tag[1:]))
            i += 3
            continue
        if token.type in ("list_item_open", "list_item_close"):
            items += token.nesting
        elif token.type == "inline":
            builder.text(_words(token), "list_item" if items else "paragraph")
        elif token.type in ("fence", "code_block"):
            builder.text(token.content)
        elif token.type == "html_block":
            # Lazy: few Markdown files hold HTML, and its parser costs half a second.
            from rag_source.ingest.html_blocks import append_html

            append_html(builder, token.content)
        i += 1


def _append_table(builder: DocumentBuilder, tokens: Sequence[Token], start: int) -> int:
    """Append the table that opens at `start`; returns the index after its end."""
    rows: list[RowText] = []
    cells: list[str] = []
    header = False
    i = start
    while tokens[i].type != "table_close":
        token = tokens[i]
        if token.type == "thead_open":
            header = True
        elif token.type == "thead_close":
            header = False
        elif token.type == "inline":
            cells.append(one_line(_words(token)))
        elif token.type == "tr_close":
            rows.append(RowText(cells=tuple(cells), header=header))
            cells = []
        i += 1
    builder.table(rows)
    return i + 1


def _words(inline: Token) -> str:
    """The text of an inline token: no emphasis marks, link targets or tags."""
    out: list[str] = []
    for token in inline.children or []:
        if token.type in ("softbreak", "hardbreak"):
            out.append("\n")
        elif token.type == "html_inline":
            if _HTML_BREAK.fullmatch(token.content):
                out.append("\n")
        elif token.type == "image" and token.children:
            out.append(_words(token))
        else:
            out.append(token.content)
    return "".join(out)


loader = _MarkdownLoader()
