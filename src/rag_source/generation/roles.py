"""Whether a figure of a claim stands beside the words that the claim gives it.

"Net weight 12.5 kg, gross weight 14.0 kg": a claim "the net weight is 14.0 kg" has only words and
figures of the source, and is wrong. So a figure's own clause (for a table, its cell with the
column's name) must fit the claim's words at least as well as any clause that holds another figure
of the same unit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from rag_source.domain.folding import fold
from rag_source.generation.facts import Fact, facts_of
from rag_source.generation.terms import terms_of, terms_of_words
from rag_source.generation.units import unit_of
from rag_source.generation.words import words_of

__all__ = ["misplaced_figure", "table_header"]

_CLAUSE = re.compile(r"[;,!?()\n؛؟،](?!\d)|\.(?=\s)")


@dataclass(frozen=True, slots=True)
class _Clause:
    labels: frozenset[str]
    figures: tuple[Fact, ...]


def table_header(text: str) -> str:
    """The first line of a chunk of table rows: it names the columns. Empty for other text."""
    first, _, rest = text.partition("\n")
    cells = first.count("|")
    if cells and rest.partition("\n")[0].count("|") == cells:
        return first
    return ""


def misplaced_figure(claim: str, quote: str, lines: Sequence[str], header: str) -> str:
    """The figure that the passage gives to something else, in words; empty if all stand right.

    `quote` is where the claim's figures were found, `lines` the lines of the passage that share a
    word with the claim, `header` the names of the columns if it is a table.
    """
    figures = [fact for fact in facts_of(claim) if fact.kind == "number"]
    if not figures:
        return ""
    claimed = frozenset[str]().union(*(fact.values for fact in figures))
    labels = frozenset(
        term for term in terms_of(claim) if not term.lstrip("-").replace(".", "").isdigit()
    )
    clauses = _clauses(quote, header)
    everywhere = [clause for line in lines for clause in _clauses(line, header)]
    for figure in figures:
        homes = [c for c in clauses if any(f.values & figure.values for f in c.figures)]
        reason = homes and (
            _rival(figure, homes, everywhere, labels, claimed)
            or _other_unit(figure, homes, clauses, claimed)
        )
        if reason:
            return reason
    return ""


def _rival(
    figure: Fact,
    homes: Sequence[_Clause],
    everywhere: Sequence[_Clause],
    labels: frozenset[str],
    claimed: frozenset[str],
) -> str:
    """A clause that fits the claim's words better and holds another figure of the same unit."""
    own = frozenset[str]().union(*(home.labels & labels for home in homes))
    units = _units(figure, homes)
    for clause in everywhere:
        rivals = [f for f in clause.figures if f.unit in units and not f.values & claimed]
        if rivals and clause not in homes and clause.labels & labels > own:
            return f"{figure.spelt} stands elsewhere: here the source says {rivals[0].spelt}"
    return ""


def _other_unit(
    figure: Fact, homes: Sequence[_Clause], clauses: Sequence[_Clause], claimed: frozenset[str]
) -> str:
    """The source gives the figure another unit; or none, and another figure the unit claimed."""
    units = _units(figure, homes)
    if not figure.unit or figure.unit in units:
        return ""
    if "" not in units:
        return f"{figure.spelt} differs: the source gives it another unit"
    others = [f for clause in clauses for f in clause.figures if f.unit == figure.unit]
    if others and not any(f.values & claimed for f in others):
        return f"{figure.spelt} differs: the source says {others[0].spelt}"
    return ""


def _units(figure: Fact, homes: Sequence[_Clause]) -> set[str]:
    return {f.unit for home in homes for f in home.figures if f.values & figure.values}


@lru_cache(maxsize=1024)
def _clauses(source: str, header: str) -> tuple[_Clause, ...]:
    names = header.split("|") if header else []
    found: list[_Clause] = []
    for line in source.split("\n"):
        cells = line.split("|")
        if len(cells) > 1:
            columns = names if len(names) == len(cells) else [""] * len(cells)
            for name, cell in zip(columns, cells, strict=True):
                found.append(_clause(cell, name))
        else:
            found += [_clause(part, "") for part in _CLAUSE.split(line) if part.strip()]
    return tuple(found)


def _clause(text: str, column: str) -> _Clause:
    """A stretch of text, or a cell with the name of its column, which may name the unit too."""
    words = [word for word in words_of(fold(f"{column} {text}").text) if word.kind == "word"]
    named = next((unit for w in words_of(fold(column).text) if (unit := unit_of(w.key))), "")
    figures = tuple(
        fact if fact.unit else replace(fact, unit=named)
        for fact in facts_of(text)
        if fact.kind == "number"
    )
    return _Clause(labels=terms_of_words(words), figures=figures)
