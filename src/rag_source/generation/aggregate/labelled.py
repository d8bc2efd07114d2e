"""Figures that documents state in a line, not in a table: "27 pallets", "Gross weight: 4 860 kg".

Only over documents whose kind the question names, and only where each of them states one figure
of that name: then the lines are read as the rows of a table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rag_source.domain.documents import Block
from rag_source.domain.folding import fold
from rag_source.domain.sentences import split_sentences
from rag_source.generation.aggregate.binding import Target
from rag_source.generation.aggregate.documents_meant import (
    count_of_documents,
    is_about,
    names_document,
)
from rag_source.generation.aggregate.figures import Figure, read_column, unit_named
from rag_source.generation.aggregate.lexicon import SOFT, base, concept
from rag_source.generation.aggregate.pools import Candidate
from rag_source.generation.aggregate.sources import Bystander, Source, Sources
from rag_source.generation.aggregate.tables import Column, Row, Table
from rag_source.generation.aggregate.wishes import Term, Wish
from rag_source.generation.terms import STOP_WORDS
from rag_source.generation.words import Word, words_of

__all__ = ["labelled_candidates"]

_FEWEST = 2  # documents: a figure that one document states is looked up, not computed
_MOST_WORDS = 3  # in the name of a figure


def labelled_candidates(wish: Wish, sources: Sources) -> list[Candidate]:
    """The lines as tables of one row; empty where they are not clear.

    A document of the kind that states no such figure is left out; one that states two different
    ones leaves nothing clear.
    """
    if wish.operation == "count" or wish.comparison or wish.distinct:
        return []
    everything: list[Source | Bystander] = [*sources.tabular, *sources.others]
    kind = [t for t in wish.terms if sum(is_about(t, one.about) for one in everything) >= _FEWEST]
    ids = [
        term
        for term in wish.terms
        if term.kind != "word" and any(names_document(term, one) for one in everything)
    ]
    name = _name(wish, kind)
    if not name or not (kind or len(ids) >= _FEWEST):
        return []
    found = []
    for one in everything:
        if not all(is_about(term, one.about) for term in kind):
            continue
        if ids and not any(names_document(term, one) for term in ids):
            continue
        source = sources.read(one) if isinstance(one, Bystander) else one
        tables = list(_stated(source, name, wish)) if source else []
        if len({table.items[0].cells for table in tables}) > 1:
            return []
        if source and tables:
            column = tables[0].columns[0]
            used = frozenset(term.position for term in name)
            target = Target(kind="figures", column=column, used=used)
            found.append(Candidate(source=source, table=tables[0], target=target))
    return found if len(found) >= _FEWEST else []


def _name(wish: Wish, kind: Sequence[Term]) -> list[Term]:
    """The words that name the figure: those that name no document, side by side."""
    name = [
        term
        for term in wish.terms
        if term.kind == "word"
        and term not in kind
        and not term.name
        and base(term.key) not in SOFT
        and not count_of_documents(term, kind)
    ]
    places = [term.position for term in name]
    close = bool(name) and max(places) - min(places) <= len(name)
    return name if close and len(name) <= _MOST_WORDS else []


def _stated(source: Source, name: Sequence[Term], wish: Wish) -> Iterator[Table]:
    """Each place where a line states the figure, as a table."""
    text = source.parsed.text
    wanted = frozenset(term.concept for term in name)
    for block in source.parsed.blocks:
        if block.rows:
            continue
        for place in split_sentences(text[block.start : block.end]):
            start, end = block.start + place.start, block.start + place.end
            for figure in _figures(text[start:end], wanted, wish.named):
                row = Row(start=start, end=end, cells=(figure,))
                yield _table(source, block, row, name)


def _figures(line: str, wanted: frozenset[str], named: frozenset[str]) -> Iterator[str]:
    """The figures in a line that stand right before or right after the wanted words."""
    folded = fold(line).text
    words = [
        word
        for word in words_of(folded)
        if word.kind != "sign" and base(word.key) not in named and word.key not in STOP_WORDS
    ]
    size = len(wanted)
    for i, word in enumerate(words):
        if word.kind != "number":
            continue
        if _concepts(words[i + 1 : i + 1 + size]) == wanted:
            yield folded[word.start : word.end]
        elif i >= size and _concepts(words[i - size : i]) == wanted:
            unit = words[i + 1] if i + 1 < len(words) else None
            known = unit is not None and unit_named(folded[unit.start : unit.end])
            end = unit.end if unit is not None and known else word.end
            yield folded[word.start : end]


def _concepts(words: Sequence[Word]) -> frozenset[str]:
    return frozenset(concept(word.key) for word in words)


def _table(source: Source, block: Block, row: Row, name: Sequence[Term]) -> Table:
    spelt = " ".join(term.spelt for term in name)
    reading = read_column(row.cells, language=source.parsed.language)
    unit = next((cell.unit for cell in reading.cells if isinstance(cell, Figure)), None)
    column = Column(
        index=0,
        name=spelt,
        concepts=frozenset(term.concept for term in name),
        unit=unit,
    )
    return Table(
        doc_id=source.doc_id,
        path=source.path,
        language=source.parsed.language,
        block=block,
        columns=(column,),
        items=(row,),
        summaries=(),
        sound=True,
        readings={0: reading},
        figures=(column,),
        words=(),
    )
