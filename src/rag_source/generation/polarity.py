"""Whether a sentence and its source say yes and no alike.

"Do not connect to 110 V" shares every word with "connect to 110 V". A negation counts only in the
clause that the two share, and not where it states a bound ("shall not exceed", "ne … que").
"""

from __future__ import annotations

import re

from rag_source.domain.folding import fold
from rag_source.generation.terms import stem, terms_of_words
from rag_source.generation.words import Word, is_negation, word_key, words_of

__all__ = ["polarity_difference"]

_CLAUSE = re.compile(r"[.;:!?,()|\n؛؟،]+(?!\d)")
_BOUND_REACH = 4  # words after a negation in which a bound turns it into a limit
_BOUNDS = tuple(
    fold(word_key(stem)).text
    for stem in (
        "depass exced superieu inferieu exceed more less later longer greater fewer beyond only "
        "يتجاوز تتجاوز تجاوز يزيد تزيد يقل تقل"
    ).split()
)
_SHARED_SHARE = 0.5  # of a clause's terms: then the claim speaks of that clause


def polarity_difference(claim: str, source: str) -> str:
    """What differs in negation between a claim and its source, in words; empty if nothing."""
    claim_words = words_of(fold(claim).text)
    claim_terms = terms_of_words(claim_words)
    negated = _negations(claim_words)
    source_clauses = [words_of(clause) for clause in _CLAUSE.split(fold(source).text)]
    found = [word for clause in source_clauses for word in _negations(clause)]
    if negated and not found:
        return f"negation added: {negated[0]}"
    if negated:
        return ""
    for clause in source_clauses:
        hidden = _negations(clause)
        terms = terms_of_words(clause) - {stem(word) for word in hidden}
        if hidden and terms and len(terms & claim_terms) >= _SHARED_SHARE * len(terms):
            return f"negation left out: {hidden[0]}"
    return ""


def _negations(words: list[Word]) -> list[str]:
    """Negations that turn a statement around: bounds and "ne … que" do not."""
    found = []
    for i, word in enumerate(words):
        if word.kind != "word" or not is_negation(word.key):
            continue
        after = [w.key for w in words[i + 1 : i + 1 + _BOUND_REACH]]
        if any(key.startswith(bound) for key in after for bound in _BOUNDS):
            continue
        if word.key in ("ne", "n") and _only(after):
            continue
        if word.key in ("pas", "jamais") and "que" in after[:1]:
            continue
        found.append(word.key)
    return found


def _only(after: list[str]) -> bool:
    """ "Ne … que" means "only", unless a second negation stands between."""
    if "que" not in after and "qu" not in after:
        return False
    between = after[: after.index("que" if "que" in after else "qu")]
    return not any(is_negation(key) for key in between)
