"""Group units by the document's structure: sections, and the tables inside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from rag_source.ingest.units import Unit

__all__ = ["Piece", "pieces_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of prose, or a table.

    For prose `body` is all there is. For a table `rows` are its rows, `body` the short text that
    comes before it and goes into its first chunk, and `introduction` the sentence or caption that
    every part repeats.
    """

    path: tuple[str, ...] = ()
    body: tuple[Unit, ...] = ()
    rows: tuple[Unit, ...] = ()
    introduction: tuple[Unit, ...] = field(default=())


def pieces_of(
    found: Sequence[Unit],
    *,
    size: Callable[[Unit], int],
    smallest: int,
    largest: int,
    introduction: int,
) -> list[Piece]:
    """Sections and tables in reading order; every unit is in the body or rows of one of them.

    Args:
        found: The document's units.
        size: Tokens of a unit.
        smallest: A section below this joins a neighbour of the same parent.
        largest: Joined sections stay within this.
        introduction: Prose up to this size before a table becomes part of the table.
    """
    pieces = _by_structure(found, size, introduction)
    merged: list[Piece] = []
    for piece in pieces:
        if merged and _joins(merged[-1], piece, size, smallest, largest):
            merged[-1] = _merged(merged[-1], piece)
        else:
            merged.append(piece)
    return _backwards(merged, size, smallest, largest)


def _by_structure(
    found: Sequence[Unit], size: Callable[[Unit], int], introduction: int
) -> list[Piece]:
    pieces: list[Piece] = []
    current: list[Unit] = []
    i = 0
    while i < len(found):
        unit = found[i]
        if unit.kind == "table":
            end = i
            while end < len(found) and found[end].block == unit.block:
                end += 1
            rows = tuple(found[i:end])
            body, lead = _before_table(current, size, introduction)
            if not body and current:
                pieces.append(_prose(current))
            pieces.append(Piece(path=unit.path, body=body, rows=rows, introduction=lead))
            current = []
            i = end
            continue
        if unit.kind == "heading" and _has_body(current):
            pieces.append(_prose(current))
            current = []
        current.append(unit)
        i += 1
    if current:
        pieces.append(_prose(current))
    return pieces


def _before_table(
    current: Sequence[Unit], size: Callable[[Unit], int], introduction: int
) -> tuple[tuple[Unit, ...], tuple[Unit, ...]]:
    """What goes into the table's first chunk, and what each of its parts repeats."""
    prose = [unit for unit in current if unit.kind not in ("heading", "note")]
    last = tuple(prose[-1:]) if prose and size(prose[-1]) <= introduction else ()
    if not _has_body(current) or sum(map(size, current)) <= introduction:
        return tuple(current), last
    return (), last


def _prose(chosen: Sequence[Unit]) -> Piece:
    body = [unit for unit in chosen if unit.kind not in ("heading", "note")] or list(chosen)
    return Piece(path=body[0].path, body=tuple(chosen))


def _has_body(chosen: Sequence[Unit]) -> bool:
    return any(unit.kind not in ("heading", "note") for unit in chosen)


def _joins(
    before: Piece, after: Piece, size: Callable[[Unit], int], smallest: int, largest: int
) -> bool:
    if before.rows or after.rows or not _related(before.path, after.path):
        return False
    total = _tokens(before, size)
    return total < smallest and total + _tokens(after, size) <= largest


def _backwards(
    pieces: Sequence[Piece], size: Callable[[Unit], int], smallest: int, largest: int
) -> list[Piece]:
    """Give a last small section, and a heading with nothing under it, to what comes before."""
    out: list[Piece] = []
    for piece in pieces:
        alone = not piece.rows and not _has_body(piece.body)
        small = not piece.rows and _tokens(piece, size) < smallest
        if out and alone and out[-1].rows:
            # After a table: the heading goes with the rows that precede it.
            out[-1] = replace(out[-1], rows=(*out[-1].rows, *piece.body))
        elif (
            out and not out[-1].rows and (alone or (small and _fits(out[-1], piece, size, largest)))
        ):
            out[-1] = _merged(out[-1], piece)
        else:
            out.append(piece)
    return out


def _fits(before: Piece, after: Piece, size: Callable[[Unit], int], largest: int) -> bool:
    total = _tokens(before, size) + _tokens(after, size)
    return total <= largest and _related(before.path, after.path)


def _merged(before: Piece, after: Piece) -> Piece:
    if not _has_body(before.body):
        return Piece(path=after.path, body=before.body + after.body)
    shared = 0
    while (
        shared < min(len(before.path), len(after.path))
        and before.path[shared] == after.path[shared]
    ):
        shared += 1
    return Piece(path=before.path[:shared], body=before.body + after.body)


def _related(before: tuple[str, ...], after: tuple[str, ...]) -> bool:
    """Whether two sections are parent and child, or children of one parent."""
    return after[: len(before)] == before or before[:-1] == after[:-1]


def _tokens(piece: Piece, size: Callable[[Unit], int]) -> int:
    return sum(map(size, piece.body)) + sum(map(size, piece.rows))
