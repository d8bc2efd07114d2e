"""Fold text for matching, with a map back to where each folded character came from.

One folding serves BM25, quote matching and Arabic search, so that "found" means the same thing
everywhere. Offsets survive: normalising without a map is how highlights drift (a fold may drop,
join or expand characters).
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from rag_source.domain.chunks import TextRange

__all__ = ["Folded", "fold", "fold_word"]

_DASHES = dict.fromkeys("‐‑‒–—―−﹘﹣－", "-")
_QUOTES = dict.fromkeys("‘’‚‛′ʼ`´", "'") | dict.fromkeys("“”„‟″«»‹›", '"')
_ARABIC = {"أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ی": "ي", "ؤ": "و", "ئ": "ي", "ک": "ك"}
_HYPHENS = frozenset("-\u2010\u2011")
_SOFT_HYPHEN = "\u00ad"
_DROPPED = frozenset(
    "\u00ad\u0640\u200b\u200c\u200d\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2066\u2067\u2068\u2069\ufeff"
)
_IDENTITY = array("l", range(1 << 15))
_SPELLED = _DASHES | _QUOTES | _ARABIC | {"…": "...", "ﷲ": "الله"}


@dataclass(frozen=True, slots=True)
class Folded:
    """Folded text; character i came from the original's range [starts[i], ends[i])."""

    text: str
    starts: array[int]
    ends: array[int]

    def source_range(self, start: int, end: int) -> TextRange:
        """The original range of `text[start:end]`, which must not be empty."""
        if not 0 <= start < end <= len(self.text):
            raise ValueError(f"[{start}, {end}) is not a range of {len(self.text)} characters")
        return TextRange(start=self.starts[start], end=self.ends[end - 1])


def fold(
    text: str, *, case: bool = False, accents: bool = False, join_hyphens: bool = True
) -> Folded:
    """Fold for matching.

    Always: compatibility forms (ligatures, Arabic presentation forms, full-width), typographic
    quotes and dashes, Arabic alef, ya and hamza carriers, tashkeel and tatweel, any digit script
    to ASCII, invisible and bidi marks dropped, runs of white space to one space, none at the ends.

    Args:
        case: Fold case too.
        accents: Drop accents from Latin letters too.
        join_hyphens: A hyphen at a line end, between letters, is a word cut in two: drop it and
            the break. Otherwise keep the hyphen and drop the break only. A soft hyphen always
            cuts a word.
    """
    plain = _plain(case, accents)
    out = _Folding()
    i, n = 0, len(text)
    while i < n:
        j = plain.run_end(text, i)
        if j > i:
            out.append_run(text[i:j].translate(plain.table), i, j)
        else:
            j = _fold_at(out, text, i, case, accents, join_hyphens)
        i = j
    return Folded("".join(out.pieces), out.starts, out.ends)


def fold_word(word: str) -> str:
    """The matching key of one word: folded, case and accents too."""
    return fold(word, case=True, accents=True).text


class _Folding:
    """A folded text under construction; white space waits until something follows it."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.starts: array[int] = array("l")
        self.ends: array[int] = array("l")
        self.space: tuple[int, int] | None = None

    def append(self, piece: str, start: int, end: int) -> None:
        """Add what became of `[start, end)`, however many characters it is now."""
        if not piece:
            return
        self._flush_space()
        self.pieces.append(piece)
        self.starts.extend([start] * len(piece))
        self.ends.extend([end] * len(piece))

    def append_run(self, piece: str, start: int, end: int) -> None:
        """Add characters that each became one character."""
        self._flush_space()
        self.pieces.append(piece)
        if end < len(_IDENTITY):  # copying a slice is far cheaper than counting again
            self.starts.extend(_IDENTITY[start:end])
            self.ends.extend(_IDENTITY[start + 1 : end + 1])
        else:
            self.starts.extend(range(start, end))
            self.ends.extend(range(start + 1, end + 1))

    def add_space(self, start: int, end: int) -> None:
        self.space = (self.space[0] if self.space else start, end)

    def _flush_space(self) -> None:
        if self.space and self.pieces:
            self.pieces.append(" ")
            self.starts.append(self.space[0])
            self.ends.append(self.space[1])
        self.space = None


def _fold_at(
    out: _Folding, text: str, i: int, case: bool, accents: bool, join_hyphens: bool
) -> int:
    """Fold the one cluster at `i`, whatever it is; returns where the next one starts."""
    j, n = i + 1, len(text)
    while j < n and unicodedata.combining(text[j]):
        j += 1
    char = text[i]
    if char.isspace():
        out.add_space(i, j)
        return j
    cuts = char in _HYPHENS or char == _SOFT_HYPHEN
    line_end = _line_break_after_hyphen(text, i) if cuts else 0
    if line_end and out.pieces and not out.space:
        if not join_hyphens and char != _SOFT_HYPHEN:
            out.append("-", i, i + 1)
        return line_end
    piece = _fold_cluster(text[i:j], case, accents)
    if piece and not char.isdecimal() and char.isnumeric() and _follows_digit(out):
        # "10²" is not 102 and "1½" is not 11/2: a digit that changes its place needs a mark.
        piece = f"^{piece}" if char.isdigit() else f" {piece}"
    out.append(piece, i, j)
    return j


def _follows_digit(out: _Folding) -> bool:
    return bool(out.pieces) and out.space is None and out.pieces[-1][-1].isdecimal()


class _Plain:
    """The characters that fold to exactly one character each, wherever they stand.

    Almost all text is made of them: a run is translated in one step instead of one by one.
    """

    def __init__(self, case: bool, accents: bool) -> None:
        self.table: dict[int, str] = {}
        kept: list[str] = []
        for char in _candidates():
            folded = _fold_cluster(char, case, accents)
            if len(folded) == 1:
                kept.append(char)
                # Unchanged ones too: `translate` is slow on a character its table lacks.
                self.table[ord(char)] = folded
        self.table[ord(" ")] = " "
        letters = "".join(re.escape(char) for char in kept)
        self._run = re.compile(f"[{letters}]+(?: [{letters}]+)*")

    def run_end(self, text: str, start: int) -> int:
        """The end of the run that starts at `start`; `start` itself if there is none."""
        match = self._run.match(text, start)
        if match is None:
            return start
        end = match.end()
        if end < len(text) and unicodedata.combining(text[end]):
            end -= 1  # the last character wears this mark: they fold together
            if end > start and text[end - 1] == " ":
                end -= 1  # a run never ends in a space
        return end


def _candidates() -> Iterator[str]:
    """Base characters of Latin and Arabic text and their punctuation, hyphens excepted."""
    for low, high in ((0x21, 0x17F), (0x600, 0x6FF), (0x2013, 0x2026), (0x20AC, 0x20AC)):
        for code in range(low, high + 1):
            char = chr(code)
            special = char in _HYPHENS or char.isspace() or unicodedata.combining(char)
            numeric = char.isnumeric() and not char.isdecimal()
            if not special and not numeric and unicodedata.category(char) not in ("Cc", "Cf", "Cn"):
                yield char


@lru_cache(maxsize=4)
def _plain(case: bool, accents: bool) -> _Plain:
    return _Plain(case, accents)


def _line_break_after_hyphen(text: str, hyphen: int) -> int:
    """The index of the letter after a hyphen and a line break, or 0."""
    if hyphen == 0 or not text[hyphen - 1].isalpha():
        return 0
    i = hyphen + 1
    seen_break = False
    while i < len(text) and text[i].isspace():
        seen_break = seen_break or text[i] == "\n"
        i += 1
    return i if seen_break and i < len(text) and text[i].isalpha() else 0


@lru_cache(maxsize=65536)
def _fold_cluster(cluster: str, case: bool, accents: bool) -> str:
    """Fold a base character with the marks on it."""
    composed = unicodedata.normalize("NFKC", cluster)
    out = []
    for char in composed:
        spelled = _SPELLED.get(char, char)
        for c in spelled:
            if c in _DROPPED or (unicodedata.combining(c) and _is_arabic_mark(c)):
                continue
            if c.isdecimal():
                out.append(str(unicodedata.decimal(c)))
            elif accents:
                out.append(_strip_accents(c))
            else:
                out.append(c)
    folded = "".join(out)
    return folded.casefold() if case else folded


def _is_arabic_mark(char: str) -> bool:
    return "\u0610" <= char <= "\u06ed" or "\u08d3" <= char <= "\u08ff"


def _strip_accents(char: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", char) if not unicodedata.combining(c))
