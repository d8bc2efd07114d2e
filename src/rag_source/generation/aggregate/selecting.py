"""Which rows of which documents a wish is about. Every word of the question must be accounted for.

A word names the column, the kind of document, a document, a value in the rows, or nothing at all
("all", "compute"). One that is left over means that the question is not understood, and then
nothing is computed: the ordinary answer is better than a sum of the wrong rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rag_source.generation.aggregate.binding import bound_column, target_in
from rag_source.generation.aggregate.documents_meant import (
    Search,
    is_about,
    is_column_word,
    names_document,
    take_count_of_documents,
    take_documents,
    take_names,
    uncounted,
)
from rag_source.generation.aggregate.doubts import is_doubtful
from rag_source.generation.aggregate.figures import Unit, unit_named
from rag_source.generation.aggregate.labelled import labelled_candidates
from rag_source.generation.aggregate.lexicon import IDENTIFYING, PIECES, ROWS, SOFT, base
from rag_source.generation.aggregate.pools import (
    Candidate,
    PooledRow,
    columns_holding,
    holding,
    holding_one_part,
    in_one_column,
    narrows,
    pool,
    word_column,
)
from rag_source.generation.aggregate.sources import Source, Sources
from rag_source.generation.aggregate.wishes import Term, Wish

__all__ = ["Selection", "may_hold", "select"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The rows that are meant, and what was understood.

    `documents` are the paths of those looked at. `expected` is how many the question says there
    are, 0 if it does not. `uncounted` are documents of the kind without such a column, `surely` if
    they are named or their kind is named in full. `grouped`: by the column of the concepts
    `group`, by the document where they are empty. `bound` are the concepts of the column that a
    comparison bounds. `labels` are those of the columns whose value an extreme is asked for.
    """

    candidates: tuple[Candidate, ...]
    rows: tuple[PooledRow, ...]
    conditions: tuple[str, ...]
    documents: tuple[str, ...]
    expected: int = 0
    uncounted: tuple[str, ...] = ()
    surely: bool = False
    grouped: bool = False
    group: frozenset[str] = frozenset()
    bound: frozenset[str] = frozenset()
    labels: frozenset[str] = frozenset()


def may_hold(wish: Wish, source: Source) -> bool:
    """A first, cheap look: whether a document has the column, or is of a kind that is named."""
    if any(target_in(wish, table) for table in source.tables):
        return True
    return any(names_document(term, source) for term in wish.terms)


def select(wish: Wish, sources: Sources, found: Sequence[str]) -> Selection | None:
    """The rows that the wish is about; None where that is not beyond doubt.

    Args:
        wish: What the question asks for.
        sources: All documents that may be looked at.
        found: The ids of the documents that the search found, best first: one of them must have
            the column, unless the figure stands in lines of documents whose kind is named.
    """
    candidates = [
        Candidate(source=source, table=table, target=target)
        for source in sources.tabular
        for table in source.tables
        if (target := target_in(wish, table)) is not None
    ]
    order = {doc_id: rank for rank, doc_id in reversed(list(enumerate(found)))}
    seeds = sorted(
        (c for c in candidates if c.source.doc_id in order),
        key=lambda c: order[c.source.doc_id],
    )
    for used in dict.fromkeys(seed.target.used for seed in seeds):
        fitting = [c for c in candidates if c.target.used == used]
        selection = _selection(_search(wish, sources, fitting), seeds)
        if selection is not None:
            return selection
    stated = labelled_candidates(wish, sources)
    return _selection(_search(wish, sources, stated), stated) if stated else None


def _search(wish: Wish, sources: Sources, candidates: list[Candidate]) -> Search:
    used = candidates[0].target.used
    left = [term for term in wish.terms if term.position not in used]
    return Search(wish=wish, sources=sources, candidates=candidates, left=left)


def _selection(search: Search, seeds: Sequence[Candidate]) -> Selection | None:
    steps: tuple[Callable[[Search], bool], ...] = (
        _take_group,
        _take_comparison,
        take_documents,
        take_count_of_documents,
        take_names,
    )
    if not all(step(search) and search.candidates for step in steps):
        return None
    rows = pool(search.candidates)
    filtered = _filter(search, rows)
    if filtered is None:
        return None
    kept, conditions = filtered
    if not _take_rest(search, bool(conditions)) or not kept:
        return None
    if not search.classed:
        kept = _of_one_kind(search, seeds, kept)
    search.filtered = bool(conditions)
    chosen = _candidates_of(search, kept)
    if not chosen or is_doubtful(search, chosen):
        return None
    left_out, surely = uncounted(search)
    looked_at = {id(candidate) for candidate in chosen}
    return Selection(
        candidates=tuple(chosen),
        rows=tuple(row for row in kept if id(row.candidate) in looked_at),
        conditions=conditions,
        documents=tuple(dict.fromkeys(c.source.path for c in chosen)),
        expected=search.expected,
        uncounted=left_out,
        surely=surely,
        grouped=search.grouped,
        group=search.group,
        bound=search.bound,
        labels=search.labels,
    )


def _take_group(search: Search) -> bool:
    """Account for "by supplier", "for each note"."""
    at = search.wish.group
    after = [term for term in search.left if at >= 0 and term.position >= at]
    if not after or after[0].position > at + 1:
        return True
    term = after[0]
    for size in (2, 1):
        named = frozenset(t.concept for t in after[:size])
        having = [c for c in search.candidates if word_column(c, named)]
        if len(after) >= size and having:
            search.candidates = having
            search.left = [t for t in search.left if t not in after[:size]]
            search.grouped, search.group = True, named
            return True
    if base(term.key) in SOFT:
        search.left.remove(term)
        search.grouped = search.classed = True
    elif any(is_about(term, c.source.about) for c in search.candidates):
        search.grouped = True
    return True


def _take_comparison(search: Search) -> bool:
    """Account for "more than 100": the column that it bounds must be clear in every table."""
    if search.wish.comparison is None:
        return True
    if search.wish.operation in ("min", "max"):
        return False
    found = [(c, bound_column(search.wish, c.table, c.target)) for c in search.candidates]
    bound = [(candidate, place) for candidate, place in found if place is not None]
    if not bound or len({(column.concepts, used) for _, (column, used) in bound}) > 1:
        return False
    search.candidates = [candidate for candidate, _ in bound]
    search.bound, used = bound[0][1][0].concepts, bound[0][1][1]
    search.left = [term for term in search.left if term.position not in used]
    return True


def _take_rest(search: Search, filtered: bool) -> bool:
    """Account for words that only name what rows are, or the column of a condition."""
    for term in search.left:
        form = base(term.key)
        if term.concept in IDENTIFYING or form in ROWS | PIECES | SOFT:
            if any(word_column(c, frozenset({term.concept})) for c in search.candidates):
                search.labels |= {term.concept}
            continue
        unit = unit_named(term.key)
        if unit and all(_has_unit(c, unit) for c in search.candidates):
            continue
        if not is_column_word(search, term):
            return False
        if search.wish.operation in ("min", "max"):
            search.labels |= {term.concept}
        elif not filtered:
            return False
    return True


def _has_unit(candidate: Candidate, unit: Unit) -> bool:
    """Whether a column is in that unit: "in EUR" asks for nothing else then."""
    column = candidate.target.column
    return column is not None and column.unit is not None and column.unit.name == unit.name


def _filter(
    search: Search, rows: list[PooledRow]
) -> tuple[list[PooledRow], tuple[str, ...]] | None:
    """The rows that hold the words that stand in rows; None if those cannot be told."""
    terms = [
        term
        for term in search.left
        if not (term.kind == "word" and (is_column_word(search, term) or _is_generic(term)))
        and any(columns_holding(term, one) for one in rows)
    ]
    if any(narrows(term, rows) for term in search.kind):
        return None
    if not terms:
        return rows, ()
    kept = holding(terms, rows)
    if not kept:
        kept = holding_one_part(terms, rows)
    if not kept or not all(in_one_column(term, kept) for term in terms):
        return None
    search.left = [term for term in search.left if term not in terms]
    return kept, tuple(term.spelt for term in terms)


def _is_generic(term: Term) -> bool:
    return term.concept in IDENTIFYING or base(term.key) in ROWS | PIECES | SOFT


def _of_one_kind(
    search: Search, seeds: Sequence[Candidate], rows: list[PooledRow]
) -> list[PooledRow]:
    """Without a word on which documents: rows of tables of one kind, and of no other."""
    signatures = {one.candidate.table.signature for one in rows}
    if len(signatures) > 1 or not any(seed.table.signature in signatures for seed in seeds):
        return []
    return rows


def _candidates_of(search: Search, rows: Sequence[PooledRow]) -> list[Candidate]:
    """The tables looked at: those with a row, and for a class of documents all of it."""
    having = {id(one.candidate) for one in rows}
    sources = {one.candidate.source.doc_id for one in rows}
    signatures = {one.candidate.table.signature for one in rows}
    if search.classed:  # of one document, the tables that have the rows
        return [c for c in search.candidates if id(c) in having or c.source.doc_id not in sources]
    return [c for c in search.candidates if c.table.signature in signatures]
