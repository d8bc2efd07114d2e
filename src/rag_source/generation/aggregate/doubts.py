"""What makes it doubtful that the documents of a selection may be taken together.

A file saved twice with a correction, an invoice and its copy, two stock lists of different days:
added up, each gives a figure that looks right and is not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

from rag_source.domain.folding import fold
from rag_source.generation.aggregate.documents_meant import Search
from rag_source.generation.aggregate.lexicon import FLOWS, IDENTIFYING
from rag_source.generation.aggregate.pools import Candidate
from rag_source.generation.aggregate.sources import Source
from rag_source.generation.facts import facts_of

__all__ = ["is_doubtful"]

_SHARED = 0.5  # of the rows' names: documents that share more list the same things
_FEWEST_ROWS = 2  # that are equal in two documents, for the documents to be one


def is_doubtful(search: Search, chosen: Sequence[Candidate]) -> bool:
    """Whether the chosen tables should not be computed with."""
    return (
        not all(candidate.table.sound for candidate in chosen)
        or _mixes_kinds(chosen)
        or _asks_for_documents(search)
        or _may_hold_one_twice(chosen)
        or (not _adds_up(search) and _list_the_same(chosen))
    )


def _list_the_same(candidates: Iterable[Candidate]) -> bool:
    """Whether two of the documents name mostly the same things in their rows."""
    candidates = list(candidates)
    if len({candidate.source.doc_id for candidate in candidates}) < 2:
        return False
    named: dict[str, set[str]] = {}
    for candidate in candidates:
        table = candidate.table
        columns = [c for c in table.columns if c.concepts & IDENTIFYING]
        columns = columns or list(table.words)[:1]
        named.setdefault(candidate.source.doc_id, set()).update(
            " ".join(fold(row.cell(column), case=True).text for column in columns)
            for row in table.items
        )
    return any(
        len(a & b) > _SHARED * min(len(a), len(b)) for a, b in combinations(named.values(), 2)
    )


def _adds_up(search: Search) -> bool:
    """Whether documents of this kind may list the same things and still be added up.

    Every delivery of an article counts; two stock lists hold the same article twice.
    """
    flows = any(term.concept in FLOWS for term in search.kind)
    named = sum(term.kind != "word" for term in search.kind) > 1
    return flows or named or search.expected > 0 or search.wish.every


def _mixes_kinds(candidates: Sequence[Candidate]) -> bool:
    """Whether one document has the column in tables of two kinds."""
    kinds: dict[str, frozenset[tuple[frozenset[str], str]]] = {}
    return any(
        kinds.setdefault(c.source.doc_id, c.table.signature) != c.table.signature
        for c in candidates
    )


def _asks_for_documents(search: Search) -> bool:
    """Whether an extreme is asked for of documents: "which note has the highest amount" is about
    the notes' sums, not their rows; and "cheapest" must say of what."""
    wish = search.wish
    if wish.operation not in ("min", "max"):
        return False
    kinds = [term.position for term in search.kind if term.kind == "word"]
    if any(place < wish.near[0] for place in kinds):
        return True
    things = search.filtered or any(term.concept in IDENTIFYING for term in wish.terms)
    return bool(wish.implied) and not things


def _may_hold_one_twice(candidates: Iterable[Candidate]) -> bool:
    """Whether two documents may be two states or copies of one."""
    found: dict[str, tuple[Source, set[str]]] = {}
    for candidate in candidates:
        _, rows = found.setdefault(candidate.source.doc_id, (candidate.source, set()))
        rows |= {" | ".join(row.cells).casefold() for row in candidate.table.items}
    headed = [codes for source, _ in found.values() if (codes := _codes(_headed(source)))]
    if len(set(headed)) < len(headed):
        return True
    alike: dict[frozenset[str], list[Source]] = {}
    for source, rows in found.values():
        if len(rows) >= _FEWEST_ROWS:
            alike.setdefault(frozenset(rows), []).append(source)
    same = [sources for sources in alike.values() if len(sources) > 1]
    return any(len({_codes(s.around) for s in sources}) < len(sources) for sources in same)


def _headed(source: Source) -> str:
    """The document's title and headings, its path left out."""
    return source.about_text.partition("\n")[2]


def _codes(text: str) -> frozenset[str]:
    """The references, numbers and dates that tell one document from another."""
    facts = [fact for fact in facts_of(text) if fact.kind in ("code", "date")]
    return frozenset[str]().union(*(fact.values for fact in facts))
