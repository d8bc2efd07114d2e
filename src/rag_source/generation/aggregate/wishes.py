"""What a question asks to compute, read without a model; most questions ask for nothing.

A *wish* is only a reading of the words. Whether there is such a column, and what the other words
of the question mean, the tables must say (`binding`): a question whose words are not all accounted
for is no wish.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, TypeAlias

from rag_source.domain.calculations import Operation
from rag_source.domain.folding import fold
from rag_source.domain.languages import detect_language
from rag_source.generation.aggregate.figures import Figure, Unit, read_column, unit_named
from rag_source.generation.aggregate.lexicon import IGNORED, SOFT, base, concept, is_arabic
from rag_source.generation.aggregate.phrases import (
    AND,
    COMPARISONS,
    DISTINCT,
    EVERY,
    GROUP,
    HOW_MANY,
    IMPLYING,
    MAX,
    MEAN,
    MIN,
    REFUSED,
    SUM,
    TOTAL,
    Line,
)
from rag_source.generation.facts import Fact, facts_of
from rag_source.generation.terms import STOP_WORDS
from rag_source.generation.words import Word, is_negation, words_of

__all__ = ["Comparison", "Term", "TermKind", "Wish", "read_wish"]

TermKind: TypeAlias = Literal["word", "number", "code", "date"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Term:
    """A word of the question that must mean something in the tables.

    `position` counts the question's words, `part` the parts that "and" joins. `name`: it is
    written like a name. `fact` is that of a code or date.
    """

    position: int
    key: str
    spelt: str
    concept: str
    kind: TermKind
    part: int
    name: bool = False
    fact: Fact | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A bound on a figure: `> 100`, with the unit that the question names."""

    sign: Literal[">", ">=", "<", "<="]
    value: Decimal
    unit: Unit | None
    spelt: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """A calculation that the question asks for.

    `firm`: it cannot be meant as the look-up of a figure that a document states ("the sum of the
    amounts", but not "the total amount"). `how_many`: it asks for a number of something, whose
    name is the first term from `head` on. `near` is the span of positions of the words that name
    the operation, `named` are their bases. `implied` is the concept of the column that they name by
    themselves ("cheapest"). `group` is the position after "by" or "for each", -1 without. `every`:
    it asks for all documents of a kind.
    """

    operation: Operation
    firm: bool
    terms: tuple[Term, ...]
    near: tuple[int, int]
    named: frozenset[str] = frozenset()
    how_many: bool = False
    head: int = 0
    implied: str = ""
    group: int = -1
    every: bool = False
    distinct: bool = False
    comparison: Comparison | None = None


_LETTERS = 3  # of a name written in capitals that is a common word otherwise


def read_wish(question: str) -> Wish | None:
    """The calculation that a question asks for; None for an ordinary question."""
    text = fold(question).text
    words = [word for word in words_of(text) if word.kind != "sign"]
    line = Line(words)
    how_many = line.take(HOW_MANY)
    comparison = _comparison(line, text)
    found = _operations(line)
    if found is None or (not found and how_many is None):
        return None
    if not found and comparison is None and how_many is None:
        return None
    group = line.take(GROUP)
    distinct = line.take(DISTINCT)
    if _refuses(line, how_many):
        return None
    near = _near(found, how_many)
    operation, firm, implied = _meant(found)
    return Wish(
        operation=operation,
        firm=firm,
        terms=tuple(_terms(text, line)),
        near=near,
        named=frozenset(base(word.key) for word in words[slice(*near)]),
        how_many=how_many is not None,
        head=how_many[1] if how_many else near[1],
        implied=implied,
        group=group[1] if group else -1,
        every=_means_every_document(line),
        distinct=distinct is not None,
        comparison=comparison,
    )


_Found: TypeAlias = list[tuple[Operation, bool, str, tuple[int, int]]]


def _operations(line: Line) -> _Found | None:
    """The operations that are named, as operation, firm, implied concept and place.

    None if they are several: then none is clear.
    """
    found: _Found = []
    for operation, implied, pattern in IMPLYING:
        if place := line.take(pattern):
            found.append((operation, True, implied, place))
    plain: tuple[tuple[Operation, bool, re.Pattern[str]], ...] = (
        ("sum", True, SUM),
        ("sum", False, TOTAL),
        ("mean", True, MEAN),
        ("max", True, MAX),
        ("min", True, MIN),
    )
    for operation, firm, pattern in plain:
        while place := line.take(pattern):
            found.append((operation, firm, "", place))
    return found if len({operation for operation, _, _, _ in found}) <= 1 else None


def _meant(found: _Found) -> tuple[Operation, bool, str]:
    if not found:
        return "count", False, ""
    return found[0][0], any(firm for _, firm, _, _ in found), found[0][2]


def _near(found: _Found, how_many: tuple[int, int] | None) -> tuple[int, int]:
    places = [place for _, _, _, place in found] or ([how_many] if how_many else [])
    return min(first for first, _ in places), max(end for _, end in places)


def _comparison(line: Line, text: str) -> Comparison | None:
    for sign, pattern in COMPARISONS:
        place = line.take(pattern)
        if place is None:
            continue
        first, number = line.words[place[0]], line.words[place[1] - 1]
        reading = read_column([text[number.start : number.end]], language=detect_language(text))
        figure = reading.cells[0]
        if reading.ambiguous or not isinstance(figure, Figure):
            line.give_back(place)  # the number stays unaccounted for
            return None
        unit, end = _unit_beside(line, text, place[1])
        return Comparison(sign=sign, value=figure.value, unit=unit, spelt=text[first.start : end])
    return None


def _unit_beside(line: Line, text: str, after: int) -> tuple[Unit | None, int]:
    """The unit that stands beside a number, and where the two end; its word is accounted for.

    Args:
        line: The question's words; the number stands before the word at `after`.
        text: The question, folded.
        after: A position.
    """
    number = line.words[after - 1]
    word = line.words[after] if after < len(line.words) else None
    if word is not None and (unit := unit_named(text[word.start : word.end])):
        line.taken[after] = True
        return unit, word.end
    sign = text[number.end :].lstrip()[:1]
    if unit := unit_named(sign):
        return unit, text.index(sign, number.end) + 1
    before = text[number.start - 1 : number.start] if number.start else ""
    return unit_named(before), number.end


def _means_every_document(line: Line) -> bool:
    """Whether "all" is said of documents: "all the files", not "all quantities"."""
    place = line.look(EVERY)
    if place is None:
        return False
    after = [word.key for word in line.words[place[1] :] if word.key not in STOP_WORDS]
    return bool(after) and base(after[0]) in SOFT


def _refuses(line: Line, how_many: tuple[int, int] | None) -> bool:
    """Whether some word makes the question another one than a plain calculation."""
    for i, word in enumerate(line.words):
        if line.taken[i]:
            continue
        asks_how = how_many is not None and how_many[0] <= i < how_many[1]
        if not asks_how and (word.key in REFUSED or is_negation(word.key)):
            return True
    return False


def _terms(text: str, line: Line) -> Iterator[Term]:
    """The words that are left, codes and dates in one piece."""
    spans = _spans(text)
    shouted = text.isupper()
    part = 0
    last_end = -1
    for position, word in enumerate(line.words):
        if word.start < last_end or line.taken[position]:
            continue
        span = next((s for s in spans if s[0] <= word.start < s[1]), None)
        if span:
            start, last_end, fact = span
            kind: TermKind = "code" if fact.kind == "code" else "date"
            yield Term(
                position=position,
                key=text[start:last_end].casefold(),
                spelt=text[start:last_end],
                concept="",
                kind=kind,
                part=part,
                fact=fact,
            )
            continue
        # In Arabic "and" is written onto the word.
        part += word.key in AND or (is_arabic(word.key) and word.key[0] == "و")
        if word.key in AND:
            continue
        if word.key not in IGNORED or (
            position and not shouted and _is_letter_name(text[word.start : word.end])
        ):
            yield _term(text, position, word, part)


def _is_letter_name(spelt: str) -> bool:
    """Whether a word is written as a name although it is a common word: "site A", "the US"."""
    return spelt.isascii() and spelt.isupper() and len(spelt) <= _LETTERS and spelt != "I"


def _term(text: str, position: int, word: Word, part: int) -> Term:
    spelt = text[word.start : word.end]
    return Term(
        position=position,
        key=word.key,
        spelt=spelt,
        concept=word.key if word.kind == "number" else concept(word.key),
        kind="number" if word.kind == "number" else "word",
        part=part,
        name=position > 0 and spelt[:1].isupper(),
    )


def _spans(text: str) -> list[tuple[int, int, Fact]]:
    """Where the codes and dates of a folded text stand."""
    found: list[tuple[int, int, Fact]] = []
    end = 0
    for fact in facts_of(text):
        if fact.kind in ("code", "date"):
            start = text.find(fact.spelt, end if fact.kind == "code" else 0)
            if start >= 0:
                found.append((start, start + len(fact.spelt), fact))
                end = start + len(fact.spelt) if fact.kind == "code" else end
    return found
