"""Tables in which a wish has a column, their rows in one pool, and the words that the rows hold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rag_source.domain.folding import fold
from rag_source.generation.aggregate.binding import Target
from rag_source.generation.aggregate.lexicon import base, is_arabic
from rag_source.generation.aggregate.sources import Source
from rag_source.generation.aggregate.tables import Column, Row, Table
from rag_source.generation.aggregate.wishes import Term
from rag_source.generation.facts import ledger_of
from rag_source.generation.words import words_of

__all__ = [
    "Candidate",
    "PooledRow",
    "columns_holding",
    "holding",
    "holding_one_part",
    "in_one_column",
    "in_rows",
    "matches",
    "narrows",
    "pool",
    "word_column",
]

_REFERENCE_DIGITS = 5  # from which a number is a reference, whatever its column


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Candidate:
    """A table in which the wish has a column."""

    source: Source
    table: Table
    target: Target


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PooledRow:
    """An item of a candidate's table; `index` is its place among the items."""

    candidate: Candidate
    row: Row
    index: int


def pool(candidates: Iterable[Candidate]) -> list[PooledRow]:
    """The items of the candidates' tables, in order."""
    return [
        PooledRow(candidate=candidate, row=row, index=index)
        for candidate in candidates
        for index, row in enumerate(candidate.table.items)
    ]


def word_column(candidate: Candidate, concepts: frozenset[str]) -> Column | None:
    """The one column of words that these concepts name."""
    found = [c for c in candidate.table.words if concepts <= c.concepts]
    exact = [c for c in found if c.concepts == concepts]
    return exact[0] if len(exact) == 1 else found[0] if len(found) == 1 else None


def in_rows(term: Term, candidates: Iterable[Candidate]) -> bool:
    """Whether any item of the candidates' tables holds a word."""
    return any(columns_holding(term, one) for one in pool(candidates))


def holding(terms: Sequence[Term], rows: Iterable[PooledRow]) -> list[PooledRow]:
    """The rows that hold all of the words."""
    return [one for one in rows if all(columns_holding(term, one) for term in terms)]


def holding_one_part(terms: Sequence[Term], rows: Sequence[PooledRow]) -> list[PooledRow]:
    """For "bowls and jugs": the rows that hold the words of one part or of the other.

    Each part must stand in one cell somewhere, all of them in columns of one name: in "bowls and
    jugs in Agadir" it cannot be told whether the bowls are in Agadir too.
    """
    parts: dict[int, list[Term]] = {}
    for term in terms:
        parts.setdefault(term.part, []).append(term)
    names: set[frozenset[str]] = set()
    kept: set[PooledRow] = set()
    for part in parts.values():
        held = {one: _common_column(part, one) for one in rows}
        found = {one: column for one, column in held.items() if column is not None}
        if not found:
            return []
        kept.update(found)
        names |= {column.concepts for column in found.values()}
    return [one for one in rows if one in kept] if len(parts) > 1 and len(names) == 1 else []


def _common_column(terms: Sequence[Term], one: PooledRow) -> Column | None:
    """The one column in which a row holds all of the words."""
    columns = [columns_holding(term, one) for term in terms]
    common = [column for column in columns[0] if all(column in other for other in columns[1:])]
    return common[0] if len(common) == 1 else None


def in_one_column(term: Term, rows: Sequence[PooledRow]) -> bool:
    """Whether all rows that hold a word have it in a column of one name.

    "Port Douglas" as the winner and as the runner-up are two things.
    """
    columns = [{column.concepts for column in columns_holding(term, one)} for one in rows]
    holding = [names for names in columns if names]
    return bool(frozenset.intersection(*map(frozenset, holding)))


def narrows(term: Term, rows: Sequence[PooledRow]) -> bool:
    """Whether a word that names documents stands in some of their rows and not in others."""
    holding = sum(bool(columns_holding(term, one)) for one in rows)
    return 0 < holding < len(rows)


def columns_holding(term: Term, one: PooledRow) -> list[Column]:
    """The columns in which a row holds a word; a short number is none of a column of figures."""
    table = one.candidate.table
    columns = table.words if term.kind == "word" or _is_short(term) else table.columns
    return [column for column in columns if matches(term, one.row.cell(column))]


def _is_short(term: Term) -> bool:
    return term.kind == "number" and len(term.key) < _REFERENCE_DIGITS


def matches(term: Term, text: str) -> bool:
    """Whether a cell or line holds the word, number, code or date."""
    if term.fact is not None:
        return ledger_of(text).holds(term.fact)
    forms = {base(term.key)}
    if is_arabic(term.key) and term.key[0] in "وفبلك" and len(term.key) > 4:
        forms.add(base(term.key[1:]))
    return not forms.isdisjoint(_bases(text))


@lru_cache(maxsize=65536)
def _bases(text: str) -> frozenset[str]:
    return frozenset(base(word.key) for word in words_of(fold(text).text) if word.kind != "sign")
