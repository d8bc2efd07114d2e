"""Where a fact of a sentence may be looked for, and where it belongs to something else."""

from __future__ import annotations

from rag_source.generation.facts import Fact, facts_of, ledger_of
from rag_source.generation.shelf import ShelvedPassage

__all__ = ["has_rival", "stands"]


def stands(
    fact: Fact, place: tuple[int, int], shelved: ShelvedPassage, claimed: frozenset[str]
) -> bool:
    """Whether the passage states the fact for the quote at `place`.

    Figures must stand in the quote or in what names it (heading, title, file, table header). A
    name may stand elsewhere in the passage ("Client: …" at its top), unless the quote names
    another: then it is the other's sentence. So may a code, if no code of its kind stands between:
    under "E09: …" a line does not speak of E07.

    Args:
        claimed: The keys and values of all that the sentence states.
    """
    start, end = place
    text = shelved.text
    quote = text[start:end]
    if any(ledger_of(part).holds(fact) for part in (quote, shelved.header, shelved.about)):
        return True
    if fact.kind not in ("name", "code") or has_rival(quote, fact, claimed):
        return False
    if fact.kind == "name":
        return ledger_of(text).holds(fact)
    before = [f for f in facts_of(text[:start]) if _shape(f) == _shape(fact)]
    after = [f for f in facts_of(text[end:]) if _shape(f) == _shape(fact)]
    nearest = before[-1:] or after[:1]
    return bool(nearest and nearest[0].values & fact.values)


def has_rival(text: str, fact: Fact, claimed: frozenset[str]) -> bool:
    """Whether a text states another fact of the same kind, one that the sentence does not."""
    return any(
        other.kind == fact.kind and _shape(other) == _shape(fact) and not other.values & claimed
        for other in facts_of(text)
    )


def _shape(fact: Fact) -> str:
    """What makes two facts rivals: a code's pattern of letters and digits, a number's unit."""
    if fact.kind != "code":
        return f"{fact.kind} {fact.unit}"
    code = min(fact.values)
    return "".join("-" if c == "-" else "9" if c.isdigit() else "a" for c in code)
