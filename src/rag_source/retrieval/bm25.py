"""BM25 as sparse vectors: the document side carries term saturation, the engine brings the IDF."""

from __future__ import annotations

from dataclasses import dataclass

from rag_source.domain.chunks import SparseVector
from rag_source.retrieval.terms import Word, is_question_word, read_words, term_index

__all__ = ["BM25_VERSION", "Bm25Encoder", "Bm25Policy"]

BM25_VERSION = 2
"""Raised whenever the same text would be encoded differently: older indexes must be redone."""

_EVERY_LANGUAGE = "und"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bm25Policy:
    """The constants of BM25 (Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework").

    `k1` (>= 0) bounds what repetition adds, `b` (0..1) is how much length is held against a chunk,
    `average_words` (> 0) the length that counts as normal: fixed, because a sparse vector is
    written once and a corpus grows. The values are those of the table in eval/README.md.
    """

    k1: float = 1.2
    b: float = 0.75
    average_words: float = 128.0

    def __post_init__(self) -> None:
        if self.k1 < 0 or not 0 <= self.b <= 1 or self.average_words <= 0:
            raise ValueError(f"no BM25 has {self!r}")

    def saturate(self, frequency: float, words: int) -> float:
        """What a term found `frequency` times in a text of `words` words weighs, IDF apart."""
        norm = self.k1 * (1 - self.b + self.b * words / self.average_words)
        return frequency * (self.k1 + 1) / (frequency + norm)


class Bm25Encoder:
    """The `SparseEncoder` of every profile. Pure and safe to share between threads."""

    def __init__(self, policy: Bm25Policy | None = None) -> None:
        self.policy = policy or Bm25Policy()

    def encode_document(self, text: str, *, language: str) -> SparseVector:
        """Term weights of a chunk; empty for a text without letters or digits.

        Latin words are indexed under their French *and* English stems whatever the language: a
        question whose language was taken for the other still meets them, at no loss
        (eval/README.md); `language` is left to encoders that need it.
        """
        words = read_words(text, _EVERY_LANGUAGE)
        length = sum(word.position for word in words)
        frequencies: dict[int, float] = {}
        for word in words:
            for form in word.forms:
                index = term_index(form)
                frequencies[index] = frequencies.get(index, 0.0) + 1.0
        return _sparse({i: self.policy.saturate(n, length) for i, n in frequencies.items()})

    def encode_query(self, text: str, *, language: str) -> SparseVector:
        """A weight of one for each form of each distinct word, half for the parts of a code.

        Question words are left out unless nothing else is asked.
        """
        words = read_words(text, language)
        asked = [word for word in words if not is_question_word(word)] or words
        weights: dict[int, float] = {}
        for word in asked:
            _raise_weights(weights, word)
        return _sparse(weights)


def _raise_weights(weights: dict[int, float], word: Word) -> None:
    for form in word.forms:
        index = term_index(form)
        weights[index] = max(weights.get(index, 0.0), word.weight)


def _sparse(weights: dict[int, float]) -> SparseVector:
    ordered = sorted(weights.items())
    return SparseVector(
        indices=tuple(index for index, _ in ordered), values=tuple(value for _, value in ordered)
    )
