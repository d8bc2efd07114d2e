"""Which column of a table a wish is about; None where that is not beyond doubt."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rag_source.generation.aggregate.figures import unit_named
from rag_source.generation.aggregate.lexicon import IDENTIFYING, MEASURES, PIECES, ROWS, base
from rag_source.generation.aggregate.tables import Column, Table, names_of
from rag_source.generation.aggregate.wishes import Term, Wish

__all__ = ["NAMING", "Target", "bound_column", "target_in"]

TargetKind: TypeAlias = Literal["figures", "rows", "values"]

NAMING = names_of("name names nom noms title titre اسم")
"""What a column's name may hold besides: "Network name" is the column of networks."""
_REACH = 1  # terms that may stand between the operation's words and the column's


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What is computed in a table: the figures of a column, its rows, or the values of a column.

    `column` is None for rows. `used` are the positions of the question's words that name it.
    """

    kind: TargetKind
    column: Column | None
    used: frozenset[int]


def target_in(wish: Wish, table: Table) -> Target | None:
    """What the wish means in this table, if it means anything there."""
    if wish.how_many:
        return _counted(wish, table)
    column, used = _named_column(wish, table, wish.terms)
    if column is None and wish.implied:
        column, used = _implied(wish.implied, table), frozenset()
    if column is None or not _is_meant(wish, table, column, used):
        return None
    return Target(kind="figures", column=column, used=used)


def bound_column(wish: Wish, table: Table, target: Target) -> tuple[Column, frozenset[int]] | None:
    """The column of figures that a comparison ("more than 100") is about, and its words."""
    assert wish.comparison is not None
    unit = wish.comparison.unit
    if target.kind == "figures":
        column, used = target.column, frozenset[int]()
    else:
        column, used = _best(wish.terms, table.figures)
        if column is None and unit is not None:
            same = [c for c in table.figures if c.unit and c.unit.name == unit.name]
            column = same[0] if len(same) == 1 else None
    if column is None or (unit and column.unit and column.unit.name != unit.name):
        return None
    return column, used


def _counted(wish: Wish, table: Table) -> Target | None:
    """What "how many …" asks for: a sum of figures, a number of rows or of values."""
    head = next((term for term in wish.terms if term.position >= wish.head), None)
    if head is None or wish.operation not in ("count", "sum"):
        return _plain_mean(wish, table)
    if unit_named(head.key):
        return None  # "how many euros", "how many days": of which column?
    after = [t for t in wish.terms if head.position <= t.position <= head.position + _REACH + 1]
    column, used = _best(after, table.figures)
    if column is not None and head.position in used:
        meant = wish.operation == "sum" and _is_meant(wish, table, column, used)
        return Target(kind="figures", column=column, used=used) if meant else None
    quantity = _implied("quantity", table)
    if wish.operation == "sum" and quantity and base(head.key) not in ROWS:
        pieces = base(head.key) in PIECES
        if pieces or (wish.firm and head.concept not in IDENTIFYING):
            used = frozenset({head.position}) if pieces else frozenset()
            return Target(kind="figures", column=quantity, used=used)
        return None
    if wish.operation == "sum" and head.concept in IDENTIFYING and quantity:
        return None  # "how many articles in total": rows or pieces?
    return _rows_or_values(head, table)


def _plain_mean(wish: Wish, table: Table) -> Target | None:
    """A mean or an extreme that speaks of a number: "le nombre moyen de palettes"."""
    column, used = _named_column(wish, table, wish.terms)
    if column is None or not _is_meant(wish, table, column, used):
        return None
    return Target(kind="figures", column=column, used=used)


def _rows_or_values(head: Term, table: Table) -> Target | None:
    if base(head.key) in ROWS:
        return Target(kind="rows", column=None, used=frozenset({head.position}))
    named = [c for c in table.columns if c.concepts == {head.concept}]
    words = [c for c in table.words if c.concepts - NAMING == {head.concept}]
    for found in (named, words):
        if len(found) == 1:
            return Target(kind="values", column=found[0], used=frozenset({head.position}))
    return None


def _implied(concept: str, table: Table) -> Column | None:
    found = [column for column in table.figures if concept in column.concepts]
    exact = [column for column in found if column.concepts == {concept}]
    for columns in (exact, found):
        if len(columns) == 1:
            return columns[0]
    return None


def _named_column(
    wish: Wish, table: Table, terms: Sequence[Term]
) -> tuple[Column | None, frozenset[int]]:
    """The column of figures that words beside the operation's name."""
    near = [term for term in terms if _distance(term, wish, terms) <= _REACH]
    column, used = _best(near, table.figures)
    if column is None:
        return None, frozenset()
    # "prix unitaire moyen": words of the column may follow each other away from the operation.
    named = frozenset(term.position for term in terms if term.concept in column.concepts)
    return column, used | {p for p in named if any(abs(p - q) <= _REACH for q in used)}


def _distance(term: Term, wish: Wish, terms: Iterable[Term]) -> int:
    """How many other terms stand between a term and the words of the operation."""
    first, end = wish.near
    low, high = (term.position, first) if term.position < first else (end - 1, term.position)
    return sum(low < other.position < high for other in terms)


def _best(terms: Iterable[Term], columns: Iterable[Column]) -> tuple[Column | None, frozenset[int]]:
    """The one column that the terms name best; None where two are named as well."""
    ranked: list[tuple[bool, int, Column, frozenset[int]]] = []
    terms = list(terms)
    for column in columns:
        used = [t for t in terms if t.kind in ("word", "number") and t.concept in column.concepts]
        held = {term.concept for term in used}
        full = held >= column.concepts
        if held and (full or held & MEASURES):
            places = frozenset(term.position for term in used)
            ranked.append((full, len(held), column, places))
    if not ranked:
        return None, frozenset()
    best = max(ranked, key=lambda one: one[:2])
    if sum(one[:2] == best[:2] for one in ranked) > 1:
        return None, frozenset()
    return best[2], best[3]


def _is_meant(wish: Wish, table: Table, column: Column, used: frozenset[int]) -> bool:
    """Whether the operation is the question's and not part of a column's name.

    A table with a column "Average temperature" or "Total points" answers by itself. And prices of
    a unit are never added up where only "price" was said.
    """
    said = {term.concept for term in wish.terms if term.position in used}
    measures = bool(column.concepts & MEASURES)
    if wish.operation == "sum" and measures:
        return not ({"price", "unit"} <= column.concepts and "unit" not in said)
    names = [c.concepts for c in table.columns if c.concepts & wish.named]
    if measures:
        names = [concepts for concepts in names if concepts & said]
    return not any(concepts <= wish.named | said for concepts in names)
