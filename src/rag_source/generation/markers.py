"""Read the `[n]` of a draft, and write them back in one form (bugs B44).

Models write `[1]`, `[1, 3]`, `[1-3]`, `【2】` or `[[2]]`; readers see `[1]`, `[1][3]`. Markers are
read from the whole draft, so one that was split over two tokens is no special case. Code, in
blocks or inline, is left as it is.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Draft", "Marker", "code_ranges", "insert_markers", "read_markers"]

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]+`", re.DOTALL)
_NUMBERS = r"\d{1,3}(?:\s*[-‐‑–—]\s*\d{1,3})?"
_LIST = rf"{_NUMBERS}(?:\s*(?:[,;،]|et|and|و|&)\s*{_NUMBERS})*"
_WORD = r"(?:(?:passages?|sources?|المقطع|المصدر)\s*(?:n[°o.]\s*)?)?"
_MARKER = re.compile(
    rf"[^\S\n]*(?:\(\s*{_WORD}\[\s*({_LIST})\s*\]\s*\)|\[\[\s*{_WORD}({_LIST})\s*\]\]|\[\s*{_WORD}({_LIST})\s*\]|【\s*{_WORD}({_LIST})\s*】)",
    re.IGNORECASE,
)
_RANGE = re.compile(_NUMBERS)
_LIMIT_RANGE = 20  # passages; a longer range is one mistaken number, not twenty citations


@dataclass(frozen=True, slots=True)
class Marker:
    """A number that the draft cites, and where in the text without markers it stood."""

    number: int
    position: int


@dataclass(frozen=True, slots=True)
class Draft:
    """A draft without its markers, and the markers in the order they stood."""

    text: str
    markers: tuple[Marker, ...]


def code_ranges(text: str) -> list[tuple[int, int]]:
    """Where the code blocks and inline code of a Markdown text lie."""
    return [(match.start(), match.end()) for match in _CODE.finditer(text)]


def read_markers(draft: str) -> Draft:
    """Take the markers out of a draft. Any number counts, also `0` and ones that name no source."""
    code = code_ranges(draft)
    pieces: list[str] = []
    markers: list[Marker] = []
    length = last = 0
    for match in _MARKER.finditer(draft):
        if any(a <= match.start() < b or a < match.end() <= b for a, b in code):
            continue
        piece = draft[last : match.start()]
        pieces.append(piece)
        length += len(piece)
        last = match.end()
        if not piece[-1:].strip("\n") and (length == 0 or piece.endswith("\n")):
            # At the head of a line it speaks of what follows: it stands where that begins.
            last += len(draft[last:]) - len(draft[last:].lstrip(" \t:-–"))
        for number in _numbers(next(group for group in match.groups() if group)):
            if Marker(number, length) not in markers:
                markers.append(Marker(number, length))
    pieces.append(draft[last:])
    return Draft("".join(pieces), tuple(markers))


def insert_markers(text: str, markers: Iterable[Marker]) -> tuple[str, list[int]]:
    """Write markers into a text without any: ` [1]`, or ` [1][3]` at one place.

    Returns:
        The text, and for each position of the old text up to its length the new position.
    """
    at: dict[int, list[int]] = {}
    for marker in markers:
        numbers = at.setdefault(marker.position, [])
        if marker.number not in numbers:
            numbers.append(marker.number)
    pieces: list[str] = []
    moved: list[int] = []
    length = 0
    for position in range(len(text) + 1):
        if position in at:
            written = "".join(f"[{number}]" for number in at[position])
            space = " " if position and not text[position - 1].isspace() else ""
            pieces.append(space + written)
            length += len(space) + len(written)
        moved.append(length)
        if position < len(text):
            pieces.append(text[position])
            length += 1
    return "".join(pieces), moved


def _numbers(listed: str) -> list[int]:
    found: list[int] = []
    for match in _RANGE.finditer(listed):
        parts = [_value(part) for part in re.findall(r"\d+", match[0])]
        low, high = parts[0], parts[-1]
        if low <= high <= low + _LIMIT_RANGE:
            found += range(low, high + 1)
        else:
            found += parts
    return found


def _value(digits: str) -> int:
    return int("".join(str(unicodedata.decimal(c)) for c in digits))
