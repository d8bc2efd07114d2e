"""What the reranker sees of a question and a chunk: a few numbers between about 0 and 1.

Cosines come from the engine with the candidate. Coverage asks how much of what the question says
stands in the chunk, each word weighed by its IDF: a missing name weighs more than a missing verb.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from rag_source.domain.chunks import Chunk
from rag_source.domain.evidence import Candidate
from rag_source.domain.languages import detect_language
from rag_source.retrieval.terms import Word, is_function_word, read_words, term_index

__all__ = [
    "FEATURES",
    "ChunkTerms",
    "Question",
    "coverage",
    "describe",
    "read_chunk",
    "read_question",
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


@dataclass(frozen=True, slots=True)
class ChunkTerms:
    """The terms of a chunk, and those of each of its sentences."""

    whole: frozenset[int]
    sentences: tuple[frozenset[int], ...]


WeighedWords: TypeAlias = tuple[tuple[tuple[int, ...], float], ...]
"""Words as the terms each may stand under, with a weight each."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question as its distinct content words: the terms each may stand under, and its weight.

    `figures` are those of its words that are codes or numbers of two characters or more: the terms
    of each, and the terms of its pieces, which stand for it all together.
    """

    language: str
    words: WeighedWords
    figures: tuple[tuple[frozenset[int], frozenset[int]], ...] = ()

    @property
    def terms(self) -> tuple[int, ...]:
        """Every term of every word, for `ChunkStore.term_idf`."""
        return tuple(dict.fromkeys(term for terms, _ in self.words for term in terms))

    def weigh(self, idf: Mapping[int, float]) -> WeighedWords:
        """The words with their IDF weights. A word under several stems is as frequent as the most
        frequent of them.
        """
        return tuple(
            (terms, weight * min(idf[term] for term in terms)) for terms, weight in self.words
        )


def read_question(text: str) -> Question:
    """The words a chunk is searched for; function words only where there is nothing else."""
    language = detect_language(text)
    words = read_words(text, language)
    content = [word for word in words if not is_function_word(word)] or words
    distinct = {word.forms: word for word in content}
    terms = {forms: tuple(map(term_index, forms)) for forms in distinct}
    return Question(
        language,
        tuple((terms[forms], word.weight) for forms, word in distinct.items()),
        tuple(
            (frozenset(terms[forms]), frozenset(map(term_index, word.parts)))
            for forms, word in distinct.items()
            if _is_figure(word)
        ),
    )


def read_chunk(chunk: Chunk) -> ChunkTerms:
    """The terms of a chunk, each character read once.

    The situating text belongs to every sentence: where a document's title says "delivery note 312",
    its lines need not.
    """
    situating = _terms(chunk.context)
    sentences: list[frozenset[int]] = []
    between: list[frozenset[int]] = [situating]
    end = 0
    for sentence in chunk.sentences:
        between.append(_terms(chunk.text[end : sentence.start]))
        sentences.append(_terms(chunk.text[sentence.start : sentence.end]) | situating)
        end = max(end, sentence.end)
    between.append(_terms(chunk.text[end:]))
    return ChunkTerms(frozenset().union(*sentences, *between), tuple(sentences))


def coverage(words: WeighedWords, terms: frozenset[int]) -> float:
    """The weight of those words that are among the terms."""
    return sum(weight for forms, weight in words if not terms.isdisjoint(forms))


def describe(
    question: Question,
    idf: Mapping[int, float],
    candidates: Sequence[Candidate],
    *,
    foreign_coverage: float,
    reader: Callable[[Chunk], ChunkTerms] = read_chunk,
) -> list[tuple[float, ...]]:
    """A row of `FEATURES` for each candidate, in order.

    A chunk in another language than the question cannot share its words: its coverages and BM25
    count as those of the best candidate in the question's language at least, so that neither is
    preferred for its language, or as `foreign_coverage` where all are in other languages. `reader`
    is `read_chunk` or a cache of it.
    """
    words = question.weigh(idf)
    rows: list[tuple[float, float, _Lexical, float]] = []
    native = _Lexical(0.0, 0.0, 0.0)
    has_native = False
    for candidate in candidates:
        terms = reader(candidate.chunk)
        lexical = _lexical(words, terms, candidate.bm25 or 0.0)
        if not _are_foreign(question.language, candidate.chunk.language):
            native = native.at_least(lexical)
            has_native = True
        dense = candidate.dense if candidate.dense is not None else 0.0
        sentence = candidate.sentence if candidate.sentence is not None else dense
        rows.append((dense, sentence, lexical, _found(question.figures, terms.whole)))
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


class _Lexical(NamedTuple):
    """The features that only a chunk in the question's language can have."""

    coverage: float
    sentence_coverage: float
    bm25: float

    def at_least(self, floor: _Lexical) -> _Lexical:
        return _Lexical(*map(max, self, floor))


def _lexical(words: WeighedWords, terms: ChunkTerms, bm25: float) -> _Lexical:
    total = sum(weight for _, weight in words) or 1.0
    whole = coverage(words, terms.whole)
    best = max((coverage(words, sentence) for sentence in terms.sentences), default=whole)
    return _Lexical(whole / total, best / total, bm25 / total)


def _is_figure(word: Word) -> bool:
    """Parts of a code are not asked for by themselves; one digit may well be written as a word."""
    whole = word.weight == 1.0
    return whole and len(word.surface) > 1 and any(c.isdigit() for c in word.surface)


def _found(
    figures: Sequence[tuple[frozenset[int], frozenset[int]]], terms: frozenset[int]
) -> float:
    """The share of the figures that are among the terms, whole or in all their pieces."""
    if not figures:
        return 1.0
    found = [bool(whole & terms) or (bool(parts) and parts <= terms) for whole, parts in figures]
    return sum(found) / len(found)


def _are_foreign(one: str, other: str) -> bool:
    return one != other and "und" not in (one, other)


def _terms(text: str) -> frozenset[int]:
    return frozenset(term_index(form) for word in read_words(text, "und") for form in word.forms)
