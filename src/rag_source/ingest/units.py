"""Cut a parsed document into units: the pieces of text that a chunk never cuts.

A unit is a heading, a sentence of prose, a list item or a table row. Together the units hold every
word of the document, in reading order.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_source.domain.chunks import TextRange
from rag_source.domain.documents import Block, BlockKind, ParsedDocument, TableRow
from rag_source.domain.sentences import split_sentences

__all__ = ["Unit", "context_of", "cut_unit", "units"]

_SECTION_SEPARATOR = " › "
# A situating text of about 60 tokens at most: it shares the embedding model's window.
_LONGEST_CONTEXT_CHARS = 200
_LONGEST_NAME_CHARS = 80
# A longer list item is prose with a bullet before it.
_LONGEST_ITEM_CHARS = 300
_TERMINAL = re.compile(r"[.!?:;…؟؛。！？][\"'»”’)\]]*$")
_CUT_WORD = re.compile(r"(?<=[^\W\d_])[-\u00ad\u2010]\n\s*(?=[a-zà-ÿ])")
_WRAP_FLOOR_CHARS = 50
_WRAP_SLACK_CHARS = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A piece of the document text that is kept whole.

    `ranges` is one range, or two where a sentence goes on after a page break. `path` is the
    section path, a heading's own text included. `standalone` is what is embedded for the unit by
    itself. `is_sentence` is false for what supports no claim, such as a page number.
    """

    ranges: tuple[TextRange, ...]
    kind: BlockKind
    block: int
    path: tuple[str, ...] = ()
    page: int | None = None
    header: bool = False
    standalone: str = ""
    is_sentence: bool = True

    def text(self, document: str) -> str:
        """The unit's words, parts of a broken sentence on two lines."""
        return "\n".join(document[r.start : r.end] for r in self.ranges)


def units(parsed: ParsedDocument) -> tuple[Unit, ...]:
    """The units of a document in reading order."""
    found: list[Unit] = []
    body = -1  # Where the last unit of running text stands, or -1.
    for index, block in enumerate(parsed.blocks):
        if block.kind == "table":
            found += _rows(parsed, index, block)
            body = -1
            continue
        pieces = _pieces(parsed, index, block)
        if block.kind == "note" or not pieces:
            found += pieces
            continue
        if body >= 0 and _goes_on(parsed.text, found[body], pieces[0]):
            found[body] = _joined(found[body], pieces[0])
            found += pieces[1:]
            body = len(found) - 1 if len(pieces) > 1 else body
        else:
            found += pieces
            body = len(found) - 1
    return tuple(found)


def context_of(title: str, path: Sequence[str], caption: str = "") -> str:
    """The situating text: title, section path and caption, each cut to a readable length."""
    names = [title, *path] if not path or path[0].casefold() != title.casefold() else list(path)
    names = [_shortened(name, _LONGEST_NAME_CHARS) for name in names if name]
    while len(names) > 2 and len(_SECTION_SEPARATOR.join(names)) > _LONGEST_CONTEXT_CHARS:
        del names[1]
    line = _SECTION_SEPARATOR.join(names)
    return f"{line}: {_shortened(caption, _LONGEST_NAME_CHARS)}" if caption else line


def cut_unit(unit: Unit, document: str, parts: int) -> tuple[Unit, ...]:
    """The unit in pieces: the last resort for what fits no chunk.

    A unit of several sentences, such as a long list item, falls into its sentences. Otherwise it is
    cut in about `parts` pieces of like length, at a cell border, a line break or a space, in this
    order of preference, and in the middle of a word only where there is none. Returns the unit
    itself if it cannot be cut.
    """
    pieces = [] if unit.kind == "table" else _sentences_of(unit, document)
    if len(pieces) > 1:
        return tuple(pieces)
    pieces = []
    for whole in unit.ranges:
        start = whole.start
        step = max(1, -(-(whole.end - whole.start) // max(2, parts)))
        while start < whole.end:
            end = min(start + step, whole.end)
            if end < whole.end:
                end = _cut_before(document, start, end)
            text = document[start:end]
            stripped = text.strip()
            if stripped:
                low = start + len(text) - len(text.lstrip())
                piece = replace(
                    unit,
                    ranges=(TextRange(start=low, end=low + len(stripped)),),
                    standalone=_flowing(stripped),
                )
                pieces.append(piece)
            start = end
    return tuple(pieces) if len(pieces) > 1 else (unit,)


def _sentences_of(unit: Unit, document: str) -> list[Unit]:
    """The sentences of each of the unit's ranges; one that a page break divides stays whole."""
    if len(unit.ranges) > 1:
        return []
    start = unit.ranges[0].start
    text = unit.text(document)
    return [
        replace(
            unit,
            ranges=(TextRange(start=r.start + start, end=r.end + start),),
            standalone=_flowing(text[r.start : r.end]),
            is_sentence=_says_something(text[r.start : r.end], unit.kind),
        )
        for r in _speaking(text, split_sentences(text))
    ]


def _cut_before(text: str, start: int, end: int) -> int:
    earliest = start + (end - start) // 2
    for separator in (" | ", "\n", " "):
        at = text.rfind(separator, earliest, end)
        if at > start:
            return at + len(separator)
    return end


def _pieces(parsed: ParsedDocument, index: int, block: Block) -> list[Unit]:
    path = block.section
    text = parsed.text[block.start : block.end]
    if block.kind == "heading":
        path = (*path, " ".join(text.split()))
        ranges = [TextRange(start=0, end=len(text))]
    elif block.kind == "record" or (block.kind == "list_item" and len(text) <= _LONGEST_ITEM_CHARS):
        ranges = [TextRange(start=0, end=len(text))]
    else:
        ranges = _speaking(text, _sentences(text, wrapped=block.place.kind == "page"))
    return [
        Unit(
            ranges=(TextRange(start=r.start + block.start, end=r.end + block.start),),
            kind=block.kind,
            block=index,
            path=path,
            page=_page(block),
            standalone=_flowing(text[r.start : r.end]),
            is_sentence=_says_something(text[r.start : r.end], block.kind),
        )
        for r in ranges
    ]


def _sentences(text: str, *, wrapped: bool) -> list[TextRange]:
    """The sentences of a block; a line that was broken on purpose ends one.

    `wrapped`: the line breaks are the page's, and the layout has seen to the others.
    """
    if wrapped or "\n" not in text:
        return split_sentences(text)
    ranges: list[TextRange] = []
    for start, end in _deliberate_lines(text):
        ranges += [
            TextRange(start=r.start + start, end=r.end + start)
            for r in split_sentences(text[start:end])
        ]
    return ranges


def _speaking(text: str, ranges: Sequence[TextRange]) -> list[TextRange]:
    """The ranges, those without a letter or digit joined to the one before or after them.

    The leaders of a table of contents would otherwise be a hundred sentences of one dot each.
    """
    joined: list[TextRange] = []
    for one in ranges:
        mute = not any(c.isalnum() for c in text[one.start : one.end])
        first_is_mute = len(joined) == 1 and not any(
            c.isalnum() for c in text[joined[0].start : joined[0].end]
        )
        if joined and (mute or first_is_mute):
            joined[-1] = TextRange(start=joined[-1].start, end=one.end)
        else:
            joined.append(one)
    return joined


def _deliberate_lines(text: str) -> list[tuple[int, int]]:
    """Runs of lines that only wrapping divides: in a wrapped text the next word did not fit."""
    lines = text.split("\n")
    width = max(_WRAP_FLOOR_CHARS, *(len(line) for line in lines))
    runs: list[tuple[int, int]] = []
    start = at = 0
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        at += len(line) + 1
        first = following.split(maxsplit=1)[0] if following.strip() else ""
        fits = len(line.rstrip()) + 1 + len(first) < width - _WRAP_SLACK_CHARS
        if not first or (fits and not first[0].islower()):
            runs.append((start, min(at, len(text))))
            start = at
    if start < len(text):
        runs.append((start, len(text)))
    return [(a, b) for a, b in runs if text[a:b].strip()]


def _rows(parsed: ParsedDocument, index: int, block: Block) -> list[Unit]:
    names = _column_names(parsed.text, block)
    return [
        Unit(
            ranges=(TextRange(start=row.start, end=row.end),),
            kind="table",
            block=index,
            path=block.section,
            page=_page(block),
            header=row.header,
            standalone=_row_alone(parsed.text, row, names),
            is_sentence=_says_something(parsed.text[row.start : row.end], "table"),
        )
        for row in block.rows
    ]


def _column_names(text: str, block: Block) -> list[str]:
    """The header path of each column, outermost name first, such as `2024 / Q1`."""
    names: list[list[str]] = []
    for row in block.rows:
        if not row.header:
            continue
        for column, cell in enumerate(row.cells):
            name = text[cell.start : cell.end].strip()
            while len(names) <= column:
                names.append([])
            if name and name not in names[column]:
                names[column].append(name)
    return [" / ".join(parts) for parts in names]


def _row_alone(text: str, row: TableRow, names: Sequence[str]) -> str:
    """The row as it can stand without its table: each value with its column's name."""
    parts: list[str] = []
    for column, cell in enumerate(row.cells):
        value = text[cell.start : cell.end].strip()
        name = names[column] if column < len(names) and not row.header else ""
        if value:
            parts.append(f"{name}: {value}" if name else value)
    return "; ".join(parts)


def _goes_on(text: str, before: Unit, after: Unit) -> bool:
    """Whether a sentence that one block of a page leaves open goes on in the next."""
    if before.page is None or before.kind != "paragraph" or after.kind != "paragraph":
        return False
    if len(before.ranges) > 1 or before.block == after.block:
        return False
    left = before.text(text)
    return not _TERMINAL.search(left) and text[after.ranges[0].start].islower()


def _joined(before: Unit, after: Unit) -> Unit:
    return replace(
        before,
        ranges=(*before.ranges, *after.ranges),
        standalone=_flowing(f"{before.standalone}\n{after.standalone}"),
    )


def _page(block: Block) -> int | None:
    return block.place.page if block.place.kind == "page" else None


def _says_something(text: str, kind: BlockKind) -> bool:
    letters = sum(c.isalpha() for c in text)
    if kind == "note":
        return letters > 8
    return letters > 0 or any(c.isdigit() for c in text)


def _flowing(text: str) -> str:
    """The text on one line, words cut at a line end whole again."""
    return " ".join(_CUT_WORD.sub("", text).split())


def _shortened(text: str, limit: int) -> str:
    text = " ".join(text.split())
    if len(text) <= limit:
        return text
    cut = text.rfind(" ", 0, limit)
    return text[: cut if cut > limit // 2 else limit].rstrip()
