"""What counts as the same word in a question and in a chunk.

BM25 and the reranker's term coverage both read text through here. Stems join inflections of
French, English and Arabic; codes and numbers are kept whole in one spelling *and* in parts, so
that `MW-104`, `MW 104` and `mw104`, or `82 900,00` and `82.900,00`, meet.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import snowballstemmer

from rag_source.domain.folding import fold, fold_word

__all__ = [
    "Word",
    "is_function_word",
    "is_question_word",
    "read_surfaces",
    "read_words",
    "term_index",
    "word_forms",
]

_LATIN_STEMMERS = ("french", "english")
_STEMMERS = {"fr": ("french",), "en": ("english",)}
_ARABIC = re.compile("[\u0600-\u06ff]")
_AND_THE = ("وال", "فال")
_DIGIT = re.compile(r"\d")

# A run without white space, joined by marks that codes, dates, figures and elisions are made with.
_RUN = re.compile(r"[^\W_]+(?:[-/._:'+&@,*#]+[^\W_]+)*")
_PIECE = re.compile(r"[^\W_]+")
_LINE_END_HYPHEN = re.compile(r"[-\u2010\u2011]\s*\n\s*")
_LETTERS_BEFORE = re.compile(r"[^\W\d_]+\Z")
_LETTERS_AFTER = re.compile(r"[^\W\d_]+")
_LONGEST_WORD_CHARS = 64
# `82 900,00`, `82.900,00`, `1,234.5`, `3,14`: groups of three digits, a decimal part, or both.
_FIGURE = re.compile(
    r"(?<![\w.,])(?:\d{1,3}(?:[ .,']\d{3})+(?:[.,]\d{1,6})?|\d+[.,]\d+)(?![\w]|[.,]\d)"
)
_GROUPED = re.compile(r"\d{1,3}(?:([ .,'])\d{3})(?:\1\d{3})*(?:(?!\1)[.,](\d{1,6}))?")
_SIMPLE_FIGURE = re.compile(r"[\d.,']+")
_LETTERS_THEN_DIGITS = re.compile(r"([^\W\d_]{2,})(\d{2,})|(\d{2,})([^\W\d_]{2,})")
_SEPARATORS_OF_ARABIC_FIGURES = str.maketrans({"٫": ".", "٬": ",", "،": ","})
# Articles and pronouns that French elides before an apostrophe.
_ELIDED = frozenset("l d qu n s c j m t jusqu lorsqu puisqu quoiqu".split())

_QUESTION_WORDS = frozenset(
    fold_word(word)
    for word in (
        "qui que quoi quel quelle quels quelles combien comment quand pourquoi où est ce lequel "
        "laquelle lesquels lesquelles "
        "what which who whom whose when where why how many much does do did is are was were "
        "ما ماذا من متى أين كيف لماذا كم هل أي هو هي ماهي ماهو مم عم بم فيم"
    ).split()
)
_FUNCTION_WORDS = _QUESTION_WORDS | frozenset(
    fold_word(word)
    for word in (
        "le la les un une des du de et en dans pour sur par au aux avec cette ces il elle ils "
        "elles ne pas plus se sont son sa ses leur leurs nous vous je à a été être ont y on dont "
        "mais était avait fut sera me mon ma mes tu te votre vos notre nos lui entre sans sous si "
        "comme "
        "the of and to in for that on with as by at from this these those it its not or an his her "
        "their has have had be been being can could may might must should will would there than "
        "then into about your you we our i they he she if my us "
        "في على إلى عن مع هذا هذه ذلك تلك أن إن أنه أنها كان كانت قد لقد و أو ثم بين عند كل التي "
        "الذي الذين لا لن لم ليس حتى إذا حيث"
    ).split()
)
_PART_WEIGHT = 0.5
"""A part of a code counts half in a question: the code itself must win over its look-alikes."""
_stemming = threading.Lock()
"""Snowball stemmers keep the word they work on in themselves: one thread at a time."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text and the terms it is indexed under.

    `surface` is its folded spelling. Every one of `forms` stands for the same word: one is enough
    to match. `position` says that it is a word of its own; parts and second spellings of a code
    are not, and do not lengthen the text. `parts` are the forms of the pieces that a code was
    joined from: all of them together stand for it too.
    """

    surface: str
    forms: tuple[str, ...]
    position: bool = True
    weight: float = 1.0
    parts: tuple[str, ...] = ()


class _Spelling(NamedTuple):
    """A word as it is written, before any stem; `pieces` are what a code was joined from."""

    surface: str
    position: bool = True
    weight: float = 1.0
    pieces: tuple[str, ...] = ()


def read_words(text: str, language: str) -> list[Word]:
    """The words of a text in order; a code or figure is followed by its parts.

    `language` chooses the stemmer of Latin words; any but `fr` and `en` gives both stems, which
    costs some precision (eval/README.md) and never misses. Arabic words are told by their script.
    """
    return [
        Word(
            surface,
            word_forms(surface, language),
            position,
            weight,
            tuple(word_forms(piece, language)[0] for piece in pieces),
        )
        for surface, position, weight, pieces in _spellings(text)
    ]


def read_surfaces(text: str) -> frozenset[str]:
    """The surfaces of the words of a text: no stemming, some ten times faster than `read_words`."""
    return frozenset(spelling.surface for spelling in _spellings(text))


def word_forms(surface: str, language: str) -> tuple[str, ...]:
    """The forms of a word in a text of this language; see `read_words`."""
    return _forms(surface, _STEMMERS.get(language, _LATIN_STEMMERS))


def is_question_word(word: Word) -> bool:
    """Whether it only asks: `combien` is not in the answer, and is rare enough to mislead."""
    return word.surface in _QUESTION_WORDS


def is_function_word(word: Word) -> bool:
    """Whether it says nothing about the subject."""
    return word.surface in _FUNCTION_WORDS


@lru_cache(maxsize=262_144)
def term_index(form: str) -> int:
    """The sparse index of a term: 32 bits of a hash that is the same on every run and machine."""
    return int.from_bytes(hashlib.blake2b(form.encode(), digest_size=4).digest(), "little")


def _spellings(text: str) -> Iterator[_Spelling]:
    folded = fold(text, case=True, accents=True).text.translate(_SEPARATORS_OF_ARABIC_FIGURES)
    for match in _FIGURE.finditer(folded):
        for figure in _plain_figures(match[0]):
            yield _Spelling(figure, position=False)
    for match in _RUN.finditer(folded):
        yield from _read_run(match[0])
    for half in filter(None, _halves(text)):
        yield _Spelling(half, position=False)


def _halves(text: str) -> Iterator[str]:
    """Both sides of each hyphen at a line end.

    `well-` over `known` is read as `wellknown` like any cut word; only a dictionary could tell
    that its hyphen stays. So it is found under its halves too.
    """
    for match in _LINE_END_HYPHEN.finditer(text):
        before = _LETTERS_BEFORE.search(
            text, max(0, match.start() - _LONGEST_WORD_CHARS), match.start()
        )
        after = _LETTERS_AFTER.match(text, match.end())
        if before and after:
            yield fold_word(before[0])
            yield fold_word(after[0])


def _read_run(run: str) -> Iterator[_Spelling]:
    head, apostrophe, tail = run.partition("'")
    while apostrophe and head in _ELIDED:
        run = tail
        head, apostrophe, tail = run.partition("'")
    pieces = _PIECE.findall(run)
    if apostrophe and pieces[-1] == "s":
        pieces.pop()
    coded = len(pieces) > 1 and _DIGIT.search(run) is not None
    weight = _PART_WEIGHT if coded else 1.0
    for piece in pieces:
        yield _Spelling(piece, weight=weight)
        for part in _parts(piece):
            yield _Spelling(part, position=False, weight=_PART_WEIGHT)
    if coded and not _SIMPLE_FIGURE.fullmatch(run):
        yield _Spelling("".join(pieces), position=False, pieces=tuple(pieces))


def _parts(piece: str) -> tuple[str, ...]:
    """`mw104` gives `mw` and `104`; `r24` stays whole, its parts would meet anything."""
    match = _LETTERS_THEN_DIGITS.fullmatch(piece)
    return tuple(part for part in match.groups() if part) if match else ()


@lru_cache(maxsize=262_144)
def _forms(word: str, stemmers: tuple[str, ...]) -> tuple[str, ...]:
    if _DIGIT.search(word):
        return (word,)
    if _ARABIC.search(word):
        stemmers = ("arabic",)
        # Snowball takes off the article, but not the "and" written onto it.
        word = word[1:] if word.startswith(_AND_THE) else word
    with _stemming:
        return tuple(dict.fromkeys(_stemmer(name).stemWord(word) or word for name in stemmers))


@lru_cache(maxsize=8)
def _stemmer(name: str) -> snowballstemmer.stemmer:
    return snowballstemmer.stemmer(name)


def _plain_figures(figure: str) -> list[str]:
    """The values a figure may stand for, without group separators, decimals after a point.

    `1.234` is a thousand in one country and one and a bit in another: both.
    """
    found: list[str] = []
    if grouped := _GROUPED.fullmatch(figure):
        decimals = (grouped[2] or "").rstrip("0")
        whole = figure[: grouped.start(2) - 1] if grouped[2] else figure
        digits = re.sub(r"\D", "", whole)
        found.append(f"{digits}.{decimals}" if decimals else digits)
    if re.fullmatch(r"\d+[.,]\d+", figure):
        units, decimals = re.split("[.,]", figure)
        decimals = decimals.rstrip("0")
        found.append(f"{units}.{decimals}" if decimals else units)
    return list(dict.fromkeys(found))
