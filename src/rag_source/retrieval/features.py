"""What the reranker sees of a question and a chunk: a few numbers between about 0 and 1.

Cosines come from the engine with the candidate. Coverage asks how much of what the question says
stands in the chunk, each word weighed by its IDF: a missing name weighs more than a missing verb.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from rag_source.domain.chunks import Chunk
from rag_source.domain.evidence import Candidate
from rag_source.domain.languages import detect_language
from rag_source.retrieval.terms import (
    Word,
    is_function_word,
    read_surfaces,
    read_words,
    term_index,
    word_forms,
)

__all__ = [
    "FEATURES",
    "ChunkWords",
    "Question",
    "coverage",
    "describe",
    "read_chunk",
    "read_question",
    "scale_free",
]

FEATURES = ("dense", "sentence", "coverage", "sentence_coverage", "bm25", "figures")
"""The columns of `describe`, in order.

`dense` and `sentence` are cosines. `coverage` is the share (0..1) of the question's IDF weight that
the chunk holds, `sentence_coverage` the most that one of its sentences holds. `bm25` is the BM25
score over that IDF weight: 0 for nothing in common, about 1 for every word once in a chunk of
normal length, so that it does not grow with the question. `figures` is the share (0..1) of the
question's codes and numbers that the chunk holds, 1 if it has none: a page about E07 does not
answer a question about E12, however near they are.
"""
_COSINES = 2
"""How many of the first columns are cosines."""
_ANY_LANGUAGE = "und"
_IN_ARABIC = re.compile("[\u0600-\u06ff]{2}")


@dataclass(frozen=True, slots=True)
class ChunkWords:
    """The surfaces of the words of a chunk, and those of each of its sentences."""

    whole: frozenset[str]
    sentences: tuple[frozenset[str], ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A question as its distinct content words: the forms each may stand under, and its weight.

    `figures` are those of its words that are codes or numbers of two characters or more: the forms
    of each, and the forms of its pieces, which stand for it all together.
    """

    language: str
    words: tuple[tuple[tuple[str, ...], float], ...]
    figures: tuple[tuple[frozenset[str], frozenset[str]], ...] = ()

    @property
    def terms(self) -> tuple[int, ...]:
        """The index of every form of every word, for `ChunkStore.term_idf`."""
        return tuple(dict.fromkeys(term_index(form) for forms, _ in self.words for form in forms))

    @property
    def forms(self) -> frozenset[str]:
        """Everything that is looked for in a chunk."""
        return frozenset(form for forms, _ in self.words for form in forms).union(
            *(whole | pieces for whole, pieces in self.figures)
        )

    def weigh(self, idf: Mapping[int, float]) -> WeighedWords:
        """The words with their IDF weights. A word under several stems is as frequent as the most
        frequent of them.
        """
        return tuple(
            (forms, weight * min(idf[term_index(form)] for form in forms))
            for forms, weight in self.words
        )


WeighedWords: TypeAlias = tuple[tuple[tuple[str, ...], float], ...]
"""Words as the forms each may stand under, with a weight each."""


def read_question(text: str) -> Question:
    """The words a chunk is searched for; function words only where there is nothing else."""
    language = detect_language(text)
    words = read_words(text, language)
    content = [word for word in words if not is_function_word(word)] or words
    distinct = {word.forms: word for word in content}
    return Question(
        language,
        tuple((forms, word.weight) for forms, word in distinct.items()),
        tuple(
            (frozenset(forms), frozenset(word.parts))
            for forms, word in distinct.items()
            if _is_figure(word)
        ),
    )


def read_chunk(chunk: Chunk) -> ChunkWords:
    """The words of a chunk, each character read once.

    The situating text belongs to every sentence: where a document's title says "delivery note 312",
    its lines need not.
    """
    situating = read_surfaces(chunk.context)
    sentences: list[frozenset[str]] = []
    between: list[frozenset[str]] = [situating]
    end = 0
    for sentence in chunk.sentences:
        between.append(read_surfaces(chunk.text[end : sentence.start]))
        sentences.append(read_surfaces(chunk.text[sentence.start : sentence.end]) | situating)
        end = max(end, sentence.end)
    between.append(read_surfaces(chunk.text[end:]))
    return ChunkWords(frozenset().union(*sentences, *between), tuple(sentences))


def coverage(words: WeighedWords, found: AbstractSet[str]) -> float:
    """The weight of those words that have one of their forms among those found."""
    return sum(weight for forms, weight in words if not found.isdisjoint(forms))


def describe(
    question: Question,
    idf: Mapping[int, float],
    candidates: Sequence[Candidate],
    *,
    foreign_coverage: float,
    reader: Callable[[Chunk], ChunkWords] = read_chunk,
) -> list[tuple[float, ...]]:
    """A row of `FEATURES` for each candidate, in order.

    A chunk in another language than the question cannot share its words: its coverages and BM25
    count as those of the best candidate in the question's language at least, so that neither is
    preferred for its language, or as `foreign_coverage` where all are in other languages. `reader`
    is `read_chunk` or a cache of it.
    """
    words = question.weigh(idf)
    read = [reader(candidate.chunk) for candidate in candidates]
    hits = _hits(question.forms, frozenset().union(*(one.whole for one in read)))
    rows: list[tuple[float, float, _Lexical, float]] = []
    native = _Lexical(0.0, 0.0, 0.0)
    has_native = False
    for candidate, chunk in zip(candidates, read, strict=True):
        lexical = _lexical(words, chunk, hits, candidate.bm25 or 0.0)
        if not _are_foreign(question.language, candidate.chunk.language):
            native = native.at_least(lexical)
            has_native = True
        dense = candidate.dense if candidate.dense is not None else 0.0
        sentence = candidate.sentence if candidate.sentence is not None else dense
        figures = _figures_found(question.figures, _forms_in(chunk.whole, hits))
        rows.append((dense, sentence, lexical, figures))
    floor = native if has_native else _Lexical(*[foreign_coverage] * 3)
    return [
        (
            dense,
            sentence,
            *(
                lexical.at_least(floor)
                if _are_foreign(question.language, candidate.chunk.language)
                else lexical
            ),
            figures,
        )
        for candidate, (dense, sentence, lexical, figures) in zip(candidates, rows, strict=True)
    ]


def scale_free(rows: Sequence[Sequence[float]]) -> list[tuple[float, ...]]:
    """The rows with each cosine told by how far it stands out among those of all candidates.

    In standard deviations from their mean, 0 where all are equal. Each embedding model has a range
    of its own: the cosines of one lie between 0.75 and 0.9, of another between 0.2 and 0.7. What
    this loses is that a question without an answer has low cosines all over.
    """
    if not rows:
        return []
    columns = list(zip(*rows, strict=True))
    standard = [_standardised(column) for column in columns[:_COSINES]]
    return list(zip(*standard, *columns[_COSINES:], strict=True))


def _standardised(column: Sequence[float]) -> list[float]:
    mean = math.fsum(column) / len(column)
    spread = math.sqrt(math.fsum((value - mean) ** 2 for value in column) / len(column))
    return [(value - mean) / spread if spread > 1e-9 else 0.0 for value in column]


def _hits(wanted: frozenset[str], surfaces: frozenset[str]) -> dict[str, frozenset[str]]:
    """Those of the surfaces that have wanted forms, with these.

    Only words that can have one are stemmed: a stem costs a tenth of a millisecond, and twenty
    chunks have two thousand words. Latin stems begin like their word ("using", "used": two letters
    are sure), Arabic ones stand somewhere in it.
    """
    if not wanted:
        return {}
    signs = {form[:3] if _IN_ARABIC.match(form) else f"^{re.escape(form[:2])}" for form in wanted}
    may_match = re.compile("|".join(sorted(signs))).search
    hits = {}
    for surface in surfaces:
        if may_match(surface):
            forms = wanted.intersection(word_forms(surface, _ANY_LANGUAGE))
            if forms:
                hits[surface] = forms
    return hits


def _forms_in(surfaces: frozenset[str], hits: Mapping[str, frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*(hits[surface] for surface in hits.keys() & surfaces))


class _Lexical(NamedTuple):
    """The features that only a chunk in the question's language can have."""

    coverage: float
    sentence_coverage: float
    bm25: float

    def at_least(self, floor: _Lexical) -> _Lexical:
        return _Lexical(*map(max, self, floor))


def _lexical(
    words: WeighedWords, chunk: ChunkWords, hits: Mapping[str, frozenset[str]], bm25: float
) -> _Lexical:
    total = sum(weight for _, weight in words) or 1.0
    whole = coverage(words, _forms_in(chunk.whole, hits))
    best = max(
        (coverage(words, _forms_in(sentence, hits)) for sentence in chunk.sentences),
        default=whole,
    )
    return _Lexical(whole / total, best / total, bm25 / total)


def _is_figure(word: Word) -> bool:
    """Parts of a code are not asked for by themselves; one digit may well be written as a word."""
    whole = word.weight == 1.0
    return whole and len(word.surface) > 1 and any(c.isdigit() for c in word.surface)


def _figures_found(
    figures: Sequence[tuple[frozenset[str], frozenset[str]]], found: frozenset[str]
) -> float:
    """The share of the figures that were found, whole or in all their pieces."""
    if not figures:
        return 1.0
    held = [bool(whole & found) or (bool(parts) and parts <= found) for whole, parts in figures]
    return sum(held) / len(held)


def _are_foreign(one: str, other: str) -> bool:
    return one != other and "und" not in (one, other)
