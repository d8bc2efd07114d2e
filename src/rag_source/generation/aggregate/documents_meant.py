"""Which documents a question speaks of: their kind, their names, how many there are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rag_source.domain.folding import fold
from rag_source.generation.aggregate.binding import NAMING
from rag_source.generation.aggregate.figures import unit_named
from rag_source.generation.aggregate.lexicon import SOFT, base, is_arabic
from rag_source.generation.aggregate.pools import Candidate, in_rows, matches
from rag_source.generation.aggregate.sources import Bystander, Source, Sources
from rag_source.generation.aggregate.wishes import Term, Wish
from rag_source.generation.facts import ledger_of
from rag_source.generation.units import NUMBER_WORDS
from rag_source.generation.words import words_of

__all__ = [
    "Search",
    "count_of_documents",
    "is_about",
    "is_column_word",
    "names_document",
    "take_count_of_documents",
    "take_documents",
    "take_names",
    "uncounted",
]

_TOGETHER = 2  # positions between a number and the documents that it counts: "three notes"


@dataclass(slots=True)
class Search:
    """The state of one selection: what is left of the candidates and of the question's words.

    `having` are the documents that have what is computed, before any of them was left out;
    `kind` the words that say which documents, `names` those that stand in their text.
    """

    wish: Wish
    sources: Sources
    candidates: list[Candidate]
    left: list[Term]
    having: frozenset[str] = frozenset()
    classed: bool = False
    kind: tuple[Term, ...] = ()
    names: tuple[tuple[Term, ...], ...] = ()
    expected: int = 0
    grouped: bool = False
    group: frozenset[str] = frozenset()
    bound: frozenset[str] = frozenset()
    labels: frozenset[str] = frozenset()
    filtered: bool = False


def take_documents(search: Search) -> bool:
    """Account for words that say which documents: their kind, their names, numbers and dates."""
    search.having = frozenset(candidate.source.doc_id for candidate in search.candidates)
    ids: list[tuple[Term, list[Candidate]]] = []
    kind: list[Term] = []
    for term in list(search.left):
        having = [c for c in search.candidates if names_document(term, c.source)]
        if not having:
            continue
        if term.kind == "word" and is_column_word(search, term):
            continue
        if term.kind == "word":
            kind.append(term)
        else:
            ids.append((term, having))
    for term in kind:
        fitting = [c for c in search.candidates if is_about(term, c.source.about)]
        if not fitting and base(term.key) not in SOFT:
            return False
        search.candidates = fitting or search.candidates
    named = _named_documents(ids, search.candidates)
    if named is None:
        return False
    search.candidates = named
    search.kind = (*kind, *(term for term, _ in ids))
    search.classed = search.classed or bool(kind or ids)
    search.left = [term for term in search.left if term not in search.kind]
    return True


def is_column_word(search: Search, term: Term) -> bool:
    """Whether a word names a column of words, whose values the question may speak of."""
    return any(
        column.concepts - NAMING == {term.concept}
        for candidate in search.candidates
        for column in candidate.table.words
    )


def _named_documents(
    ids: Sequence[tuple[Term, list[Candidate]]], candidates: list[Candidate]
) -> list[Candidate] | None:
    """The candidates that bear all of the names, or else one of them each: "0312 and 0318"."""
    if not ids:
        return candidates
    alive = [[c for c in having if c in candidates] for _, having in ids]
    if not all(alive):
        return None
    together = [c for c in candidates if all(c in having for having in alive)]
    telling = [having for having in alive if len(having) < len(candidates)]
    return together or [c for c in candidates if any(c in having for having in telling)]


def take_count_of_documents(search: Search) -> bool:
    """Account for "three" in "the three delivery notes"."""
    for term in search.left:
        count = count_of_documents(term, search.kind)
        if count:
            search.expected = count
            search.left.remove(term)
            return True
    return True


def count_of_documents(term: Term, kind: Iterable[Term]) -> int:
    """The number that a term gives beside the name of a kind of documents; 0 if it gives none."""
    places = [other.position for other in kind if other.kind == "word"]
    if not any(0 < abs(place - term.position) <= _TOGETHER for place in places):
        return 0
    key = term.key.removeprefix("ال") if is_arabic(term.key) else term.key
    if term.kind == "number" and key.isdigit():
        return int(key) if 2 <= int(key) <= 100 else 0
    return next((n for form in (key, f"{key}ة") if (n := NUMBER_WORDS.get(form, 0))), 0)


def take_names(search: Search) -> bool:
    """Account for codes and names that stand in a document beside its tables.

    A name of one word does not count: "delivered to Casablanca" is not said by the address of the
    supplier at the foot of the page.
    """
    loose = [
        term
        for term in search.left
        if (term.name or term.kind == "code")
        and not is_column_word(search, term)
        and not (base(term.key) in SOFT or unit_named(term.key))
        and not in_rows(term, search.candidates)
    ]
    runs = _runs(loose)
    if not runs:
        return True
    having = [c for c in search.candidates if all(_mentions(c.source, run) for run in runs)]
    search.left = [term for term in search.left if not any(term in run for run in runs)]
    search.candidates = having
    search.names = runs
    search.classed = True
    return bool(having)


def _runs(terms: Sequence[Term]) -> tuple[tuple[Term, ...], ...]:
    """Names of two words or more that follow each other, and single codes."""
    runs: list[tuple[Term, ...]] = []
    for term in terms:
        if runs and term.kind == "word" and runs[-1][-1].position == term.position - 1:
            runs[-1] = (*runs[-1], term)
        else:
            runs.append((term,))
    return tuple(run for run in runs if len(run) > 1 or run[0].kind == "code")


def _mentions(source: Source, run: Sequence[Term]) -> bool:
    """Whether the text outside the tables holds a code, or a name as it is written."""
    text = source.around
    if run[0].kind == "code":
        return any(matches(run[0], line) for line in text.split("\n"))
    name = r"[\W_]+".join(re.escape(term.key) for term in run)
    keyed = " ".join(word.key for word in words_of(fold(text).text))
    return re.search(rf"(?<!\w){name}(?!\w)", keyed) is not None


def uncounted(search: Search) -> tuple[tuple[str, ...], bool]:
    """Documents of the kind that is asked for in which there is no such column."""
    words = [term for term in search.kind if term.kind == "word" and base(term.key) not in SOFT]
    ids = [term for term in search.kind if term.kind != "word"]
    together = any(_bears_all(ids, c.source.about_text, c.source.about) for c in search.candidates)
    if not words and not ids:
        return (), False
    everything: list[Source | Bystander] = [*search.sources.tabular, *search.sources.others]
    paths = [
        one.path
        for one in everything
        if one.doc_id not in search.having
        and all(is_about(term, one.about) for term in words)
        and _bears_all(ids, one.about_text, one.about, any_of=not together)
        and _may_mention(one, search)
    ]
    return tuple(sorted(paths)), bool(ids) or len(words) > 1


def _may_mention(one: Source | Bystander, search: Search) -> bool:
    source = search.sources.read(one) if isinstance(one, Bystander) and search.names else one
    if not isinstance(source, Source):
        return True
    return all(_mentions(source, run) for run in search.names)


def _bears_all(
    ids: Sequence[Term], about_text: str, about: frozenset[str], *, any_of: bool = False
) -> bool:
    """Whether a document is called by all of these numbers, or any of them."""
    borne = [_bears(term, about_text, about) for term in ids]
    return any(borne) if any_of and borne else all(borne)


def names_document(term: Term, one: Source | Bystander) -> bool:
    """Whether a word, number, code or date says what a document is, or is called."""
    if term.kind == "word":
        return is_about(term, one.about)
    return _bears(term, one.about_text, one.about)


def _bears(term: Term, about_text: str, about: frozenset[str]) -> bool:
    if term.fact is not None:
        return ledger_of(about_text).holds(term.fact)
    return term.key in about


def is_about(term: Term, about: frozenset[str]) -> bool:
    """Whether a word is one of those that say what a document is."""
    return term.kind == "word" and (term.concept in about or base(term.key) in about)
