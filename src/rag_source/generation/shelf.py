"""The passages of one answer, made ready: cut into lines, each with its terms and their weight."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from rag_source.domain.chunks import Chunk, TextRange
from rag_source.domain.languages import detect_language
from rag_source.generation.facts import facts_of
from rag_source.generation.orders import gives_orders
from rag_source.generation.roles import table_header
from rag_source.generation.terms import known_as, terms_of

__all__ = ["Line", "Passage", "Shelf", "ShelvedPassage", "shelve"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A chunk as the model saw it: under which number."""

    marker: int
    chunk: Chunk


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence or row of a chunk, `chunk.text[start:end]`, and its terms."""

    start: int
    end: int
    terms: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShelvedPassage:
    """A passage and its lines, those left out that give orders to whoever answers.

    `about` is what names it as a whole (file, title, section), `header` the row that names a
    table's columns. `named` are the terms of both, `around` those and all of its own, `ordered`
    those of its orders.
    """

    passage: Passage
    lines: tuple[Line, ...]
    about: str
    header: str
    named: frozenset[str]
    around: frozenset[str]
    ordered: frozenset[str]
    language: str

    @property
    def text(self) -> str:
        return self.passage.chunk.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """All passages of an answer. A term weighs by its rarity among their lines.

    `question` are the terms of the question, empty if it is not known; `vocabulary` are all terms
    of the passages; `named` are the values of the facts that the question names; `ordered` are
    words that stand in orders of the documents and nowhere else, the question included.
    """

    passages: tuple[ShelvedPassage, ...]
    weights: dict[str, float]
    unknown: float
    question: frozenset[str]
    vocabulary: frozenset[str]
    named: frozenset[str]
    ordered: frozenset[str]

    def passage(self, marker: int) -> ShelvedPassage | None:
        """The passage of this number."""
        for shelved in self.passages:
            if shelved.passage.marker == marker:
                return shelved
        return None

    def share(self, terms: frozenset[str], held: frozenset[str]) -> float:
        """The share (0..1) of the weight of `terms` that `held` has; 0 where there are none."""
        total = sum(self._weight(term) for term in terms)
        return sum(self._weight(term) for term in terms & held) / total if total else 0.0

    def _weight(self, term: str) -> float:
        return self.weights.get(term, self.unknown)


def shelve(passages: Sequence[Passage], *, question: str = "") -> Shelf:
    """Make passages ready. Weights are BM25's IDF over lines, plus a little for common terms."""
    shelved = tuple(_shelve(passage) for passage in passages)
    counts = Counter(term for item in shelved for line in item.lines for term in line.terms)
    total = sum(len(item.lines) for item in shelved)
    vocabulary = frozenset[str]().union(*(item.around for item in shelved))
    weights = {term: _idf(total, count) for term, count in counts.items()}
    return Shelf(
        passages=shelved,
        weights=weights,
        unknown=_idf(total, 0),
        question=frozenset(known_as(term, vocabulary) for term in terms_of(question)),
        vocabulary=vocabulary,
        named=frozenset[str]().union(*(fact.values for fact in facts_of(question))),
        ordered=frozenset[str]().union(*(item.ordered for item in shelved))
        - vocabulary
        - terms_of(question),
    )


def _idf(total: int, count: int) -> float:
    return math.log(1 + (total - count + 0.5) / (count + 0.5)) + 0.2


def _shelve(passage: Passage) -> ShelvedPassage:
    chunk = passage.chunk
    about = " ".join((chunk.path, chunk.title, *chunk.section))
    header = table_header(chunk.text)
    ranges = chunk.sentences or (TextRange(start=0, end=len(chunk.text)),)
    texts = [(r, chunk.text[r.start : r.end]) for r in ranges]
    # What a document orders the answerer to say is not what it says of anything.
    lines = tuple(Line(r.start, r.end, terms_of(t)) for r, t in texts if not gives_orders(t))
    orders = "\n".join(t for _, t in texts if gives_orders(t))
    named = terms_of(f"{about}\n{header}")
    return ShelvedPassage(
        passage=passage,
        lines=lines,
        about=about,
        header=header,
        named=named,
        around=named.union(*(line.terms for line in lines)),
        # A number alone is no sign: it is as likely a marker of the draft.
        ordered=frozenset(term for term in terms_of(orders) if any(c.isalpha() for c in term)),
        language=chunk.language if chunk.language != "und" else detect_language(chunk.text),
    )
