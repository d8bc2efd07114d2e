"""Turn an HTML tree into blocks in reading order, for every loader that meets HTML.

The walk keeps its own stack: a page nested ten thousand levels deep must not end the process.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from bs4 import BeautifulSoup
from bs4.element import Comment, Declaration, Doctype, NavigableString, ProcessingInstruction, Tag

from rag_source.domain.documents import BlockKind
from rag_source.ingest.builder import DocumentBuilder, RowText
from rag_source.ingest.tables import looks_like_header

__all__ = ["append_html"]

_SKIPPED = frozenset(
    "script style template noscript head object iframe svg math audio video canvas "
    "select datalist input button".split()
)
_BLOCKS = frozenset(
    "address article aside blockquote body center dd details dialog dir div dl dt fieldset "
    "figcaption figure footer form header hgroup hr html legend li main menu nav ol optgroup "
    "option p pre section summary table tbody td tfoot th thead tr ul caption".split()
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_HIDING_STYLE = re.compile(
    r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0(?:px|pt|em|%)?)"
    r"\s*(?:!\s*important\s*)?(?:;|$)",
    re.IGNORECASE,
)
_NOT_TEXT = (Comment, Declaration, Doctype, ProcessingInstruction)
# Only what HTML calls white space collapses; a no-break space is the author's.
_SPACE = re.compile(r"[ \t\n\r\f]+")
_AROUND_BREAK = re.compile(r"[ \t]*\n[ \t]*")
# Browsers end a script at `</script foo>`; the parser of Python before 3.13 reads on to the end.
_RAW_TEXT_END = re.compile(r"</(script|style)\b[^>]*>", re.IGNORECASE)
_MOST_SPANNED_COLUMNS = 100


@dataclass(slots=True)
class _Walk:
    """Where the walk stands: the words waiting for their block to end, and what is around them."""

    builder: DocumentBuilder
    words: list[str] = field(default_factory=list)
    heading: int = 0
    items: int = 0
    pre: int = 0
    hidden_chars: int = 0

    def flush(self) -> None:
        text = "".join(self.words)
        self.words.clear()
        if not self.pre:
            text = _AROUND_BREAK.sub("\n", text)
        if self.heading:
            self.builder.heading(text.replace("\n", " "), self.heading)
        else:
            kind: BlockKind = "list_item" if self.items else "paragraph"
            self.builder.text(text, kind)


def append_html(builder: DocumentBuilder, html: str) -> str:
    """Append the visible text of `html` and warn about hidden text; returns the page's title.

    Scripts, styles, comments and elements hidden by an attribute or an inline style are left out.
    """
    soup = BeautifulSoup(_RAW_TEXT_END.sub(r"</\1>", html), "html.parser")
    walk = _Walk(builder)
    for event, node in _events(soup):
        if event == "text":
            walk.words.append(str(node) if walk.pre else _collapsed(str(node), walk.words))
        elif isinstance(node, Tag):
            _cross(walk, node, entering=event == "enter")
    walk.flush()
    if walk.hidden_chars:
        builder.warn(
            "hidden_text", f"{walk.hidden_chars} characters that the page hides were left out."
        )
    title = soup.find("title")
    return title.get_text(" ", strip=True) if isinstance(title, Tag) else ""


def _events(root: Tag, walk_tables: bool = True) -> Iterator[tuple[str, Tag | NavigableString]]:
    """Enter, text and leave events in document order; hidden elements come as one `hidden`."""
    stack: list[tuple[str, Tag | NavigableString]] = [
        ("visit", child)
        for child in reversed(root.contents)
        if isinstance(child, Tag | NavigableString)
    ]
    while stack:
        event, node = stack.pop()
        if event == "leave":
            yield event, node
        elif isinstance(node, NavigableString):
            if not isinstance(node, _NOT_TEXT):
                yield "text", node
        elif node.name in _SKIPPED:
            continue
        elif _is_hidden(node):
            yield "enter", node
        else:
            yield "enter", node
            if walk_tables and _is_data_table(node):
                continue
            stack.append(("leave", node))
            stack.extend(
                ("visit", child)
                for child in reversed(node.contents)
                if isinstance(child, Tag | NavigableString)
            )


def _cross(walk: _Walk, tag: Tag, *, entering: bool) -> None:
    """Apply what a tag's start or end means."""
    name = tag.name
    if entering and _is_hidden(tag):
        walk.hidden_chars += len("".join(tag.get_text().split()))
    elif entering and _is_data_table(tag):
        walk.flush()
        walk.hidden_chars += _append_table(walk.builder, tag)
    elif name == "br":
        if entering:
            walk.words.append("\n")
    elif name in _HEADINGS:
        walk.flush()
        walk.heading = _HEADINGS[name] if entering else 0
    elif name == "dd" and entering:
        # A definition belongs to its term: one block, so that neither is cited without the other.
        walk.words.append("\n")
        walk.items += 1
    elif name in _BLOCKS:
        _cross_block(walk, name, entering)


def _cross_block(walk: _Walk, name: str, entering: bool) -> None:
    if not (name == "dt" and not entering):
        walk.flush()
    step = 1 if entering else -1
    if name in ("li", "dt", "dd"):
        if name == "dt" and not entering:
            walk.items = max(0, walk.items - 1)
            return
        walk.items = max(0, walk.items + step)
    elif name == "pre":
        walk.pre = max(0, walk.pre + step)


def _collapsed(text: str, words: list[str]) -> str:
    text = _SPACE.sub(" ", text)
    if text.startswith(" ") and (not words or words[-1].endswith((" ", "\n"))):
        return text[1:]
    return text


def _is_hidden(tag: Tag) -> bool:
    if tag.has_attr("hidden"):
        return True
    style = tag.get("style")
    return isinstance(style, str) and _HIDING_STYLE.search(style) is not None


def _is_data_table(tag: Tag) -> bool:
    """A table of data, as opposed to one that only lays out the page."""
    if tag.name != "table":
        return False
    if tag.get("role") in ("presentation", "none"):
        return False
    if tag.find("th") is not None:
        return True
    if tag.find(["table", "h1", "h2", "h3", "p"]) is not None:
        return False
    widest = max((len(row.find_all("td")) for row in tag.find_all("tr")), default=0)
    return widest >= 2


def _append_table(builder: DocumentBuilder, table: Tag) -> int:
    """Append the caption and the table; returns how many hidden characters were left out."""
    caption = table.find("caption")
    hidden = 0
    if isinstance(caption, Tag):
        words, hidden = _cell_text(caption)
        builder.text(words)
    rows: list[RowText] = []
    spans: dict[int, int] = {}
    for tr in _own_rows(table):
        cells: list[str] = []
        tags = list(tr.find_all(["td", "th"], recursive=False))
        for tag in tags:
            _skip_spanned(cells, spans)
            words, left_out = _cell_text(tag)
            hidden += left_out
            width = _span(tag, "colspan")
            height = _span(tag, "rowspan")
            for column in range(len(cells), len(cells) + width):
                if height > 1:
                    spans[column] = height - 1
            cells += [words] + [""] * (width - 1)
        _skip_spanned(cells, spans)
        header = bool(tags) and (
            all(tag.name == "th" for tag in tags) or tr.find_parent("thead") is not None
        )
        rows.append(RowText(cells=tuple(cells), header=header))
    builder.table(_with_header(rows))
    return hidden


def _own_rows(table: Tag) -> Iterator[Tag]:
    for row in table.find_all("tr"):
        if row.find_parent("table") is table:
            yield row


def _skip_spanned(cells: list[str], spans: dict[int, int]) -> None:
    """Leave the places empty that a cell of a row above reaches down into."""
    while spans.get(len(cells), 0) > 0:
        spans[len(cells)] -= 1
        cells.append("")


def _span(tag: Tag, name: str) -> int:
    value = tag.get(name)
    if isinstance(value, str) and value.strip().isdecimal():
        return min(_MOST_SPANNED_COLUMNS, max(1, int(value.strip()[:4])))
    return 1


def _cell_text(cell: Tag) -> tuple[str, int]:
    """The visible words of a cell on one line, and how many hidden characters it has."""
    words: list[str] = []
    hidden = 0
    for event, node in _events(cell, walk_tables=False):
        if event == "text":
            words.append(_SPACE.sub(" ", str(node)))
        elif isinstance(node, Tag) and event == "enter" and _is_hidden(node):
            hidden += len("".join(node.get_text().split()))
        elif isinstance(node, Tag) and (node.name == "br" or node.name in _BLOCKS):
            words.append(" ")
    return re.sub(" +", " ", "".join(words)).strip(), hidden


def _with_header(rows: list[RowText]) -> list[RowText]:
    filled = [row for row in rows if any(row.cells)]
    if not filled or any(row.header for row in filled):
        return filled
    if looks_like_header(filled[0].cells, [row.cells for row in filled[1:]]):
        filled[0] = RowText(cells=filled[0].cells, header=True)
    return filled
