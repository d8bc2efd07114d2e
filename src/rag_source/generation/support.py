"""Find the words of the passages that a sentence of an answer rests on, and judge them (SPEC A2).

What **verified** means for a sentence in prose. The quote is copied from the source by range, so
it exists there by construction; that alone is never shown as support. The citation is verified
only if, besides,

- every number, date, code and proper name of the sentence stands where `standing` looks for it,
  equal in value and in unit;
- no figure stands beside words that the source gives to another figure (`roles`);
- sentence and source say yes and no alike (`polarity`);
- the sentence and the quote share enough of their other words: `FLOOR` of their weight, two terms
  at least, and most of those that the passage knows at all;
- a sentence with figures speaks of things that the passage knows: "the phone number is 4471" is
  not supported by a lorry's plate. In Arabic, where names have no capitals, it brings in no new
  word but the light ones.

A sentence in another language than its source shares no words: there the facts alone must carry
it. They must be new (not those that the question names already) and telling (a code, a date, a
name, a long number, or two of them), and hardly a word of the sentence may be left that stands
neither in the question nor in the source. Everything else is unverified, with the reason in words.
Pure functions.
"""

from __future__ import annotations

from dataclasses import dataclass

from rag_source.domain.folding import fold
from rag_source.domain.languages import Language, detect_language
from rag_source.generation.facts import Fact, facts_of, ledger_of
from rag_source.generation.polarity import polarity_difference
from rag_source.generation.roles import misplaced_figure
from rag_source.generation.shelf import Line, Shelf, ShelvedPassage
from rag_source.generation.standing import has_rival, stands
from rag_source.generation.terms import LIGHT_TERMS, known_as, stem, terms_of
from rag_source.generation.units import unit_of
from rag_source.generation.words import is_negation, words_of

__all__ = ["FLOOR", "Support", "is_near", "support_everywhere", "support_in", "whole_line"]

FLOOR = 0.34
"""Share (0..1) of the weight of a sentence's terms that its quote must hold. The ADR on verified
citations has the measurement."""
_BARE_FLOOR = 0.5  # for a sentence without any fact: its words are all there is to check
_CONTEXT_SHARE = 0.5  # what a term counts that only stands around the quote (heading, title, file)
_TOGETHER = 0.5  # share of a sentence's words known to the passage that the quote must hold
_FOREIGN = 1 / 3  # share of a sentence's words unknown to the passage from which it is refuted
_JOIN_GAIN = 0.15  # a line is joined to a quote for a fact or a good part of the words
_LINES = 3  # the most lines that one quote joins
_QUOTE_CHARS = 600
_PROMISING = 4  # lines that are looked at closely
_UNCHECKED_WORDS = 1  # in a sentence of another language than its source
_FRAGMENT_TERMS = 3  # a shorter sentence ("10 days.") is read together with its question


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """The best quote for a sentence in one passage: `chunk.text[start:end]`, and its judgement.

    `score` (0..1) is the share of the sentence's weight that the quote holds. `reason` is empty
    if the citation is verified. `refuted`: the passage speaks against the sentence, or of other
    things; it does not only say less.
    """

    marker: int
    start: int
    end: int
    score: float
    reason: str
    refuted: bool = False

    @property
    def verified(self) -> bool:
        return not self.reason


@dataclass(frozen=True, slots=True, kw_only=True)
class _Claim:
    """A sentence and what it states. `words` are its terms without its facts' and light ones."""

    sentence: str
    terms: frozenset[str]
    words: frozenset[str]
    facts: tuple[Fact, ...]
    claimed: frozenset[str]
    language: Language


@dataclass(frozen=True, slots=True, kw_only=True)
class _Quote:
    """Joined lines of a passage, and how much of the claim they hold."""

    start: int
    end: int
    text: str
    terms: frozenset[str]
    score: float
    held: tuple[Fact, ...]


def support_in(sentence: str, marker: int, shelf: Shelf) -> Support | None:
    """The best quote for a sentence in the passage of this number; None if there is none."""
    shelved = shelf.passage(marker)
    return None if shelved is None else _support(_claim(sentence, shelf), shelved, shelf)


def support_everywhere(sentence: str, shelf: Shelf) -> list[Support]:
    """The best quote in every passage: verified ones first, then by score, then by rank."""
    claim = _claim(sentence, shelf)
    found = [_support(claim, shelved, shelf) for shelved in shelf.passages]
    return sorted(found, key=lambda support: (not support.verified, -support.score))


def is_near(support: Support) -> bool:
    """Whether a sentence comes close enough to its passage to be shown at all."""
    return support.score >= FLOOR and not support.refuted


def whole_line(marker: int, start: int, end: int) -> Support:
    """A line of a passage as its own support: what is quoted word for word says itself."""
    return Support(marker=marker, start=start, end=end, score=1.0, reason="")


def _claim(sentence: str, shelf: Shelf) -> _Claim:
    facts = facts_of(sentence)
    words = words_of(fold(sentence).text)
    terms = frozenset(known_as(term, shelf.vocabulary) for term in terms_of(sentence))
    terms = frozenset(t for t in terms if t in shelf.vocabulary or t not in LIGHT_TERMS) or terms
    stated = frozenset[str]().union(*(terms_of(fact.spelt) for fact in facts))
    if len(terms) < _FRAGMENT_TERMS:
        terms |= shelf.question
    keys = frozenset(word.key for word in words)  # the first word included: it may be a name
    return _Claim(
        sentence=sentence,
        terms=terms,
        words=terms - stated - LIGHT_TERMS - {stem(key) for key in keys if _says_little(key)},
        facts=facts,
        claimed=keys.union(*(fact.values for fact in facts)),
        language=detect_language(sentence),
    )


def _says_little(key: str) -> bool:
    return is_negation(key) or bool(unit_of(key))


def _support(claim: _Claim, shelved: ShelvedPassage, shelf: Shelf) -> Support:
    quote = _quote(claim, shelved, shelf)
    against = _contradiction(claim, quote, shelved) or _foreign_subject(claim, shelved)
    return Support(
        marker=shelved.passage.marker,
        start=quote.start,
        end=quote.end,
        score=quote.score,
        reason=against or _weakness(claim, quote, shelved, shelf),
        refuted=bool(against),
    )


def _quote(claim: _Claim, shelved: ShelvedPassage, shelf: Shelf) -> _Quote:
    lines = _best_lines(claim, shelved, shelf)
    start, end = lines[0].start, lines[-1].end
    text = shelved.text[start:end]
    terms = frozenset[str]().union(*(line.terms for line in lines))
    beside = (shelved.around & claim.terms) - terms
    return _Quote(
        start=start,
        end=end,
        text=text,
        terms=terms,
        score=shelf.share(claim.terms, terms) + _CONTEXT_SHARE * shelf.share(claim.terms, beside),
        held=tuple(fact for fact in claim.facts if ledger_of(text).holds(fact)),
    )


def _best_lines(claim: _Claim, shelved: ShelvedPassage, shelf: Shelf) -> tuple[Line, ...]:
    """The line that holds most of the claim, and its neighbours as far as they hold more."""
    lines = shelved.lines

    def worth(first: int, last: int) -> float:
        held = frozenset[str]().union(*(line.terms for line in lines[first : last + 1]))
        place = lines[first].start, lines[last].end
        standing = sum(stands(fact, place, shelved, claim.claimed) for fact in claim.facts)
        return shelf.share(claim.terms, held) + standing / max(1, len(claim.facts))

    order = sorted(range(len(lines)), key=lambda i: (-_fit(claim, lines[i], shelf), i))
    best = max(order[:_PROMISING], key=lambda i: (worth(i, i), -i))
    first = last = best
    value = worth(best, best)
    while last - first + 1 < _LINES:
        steps = [
            (a, b) for a, b in ((first - 1, last), (first, last + 1)) if 0 <= a <= b < len(lines)
        ]
        grown = [
            (worth(a, b), a, b)
            for a, b in steps
            if _joinable(claim, lines[a if a < first else b], lines[a], lines[b], shelved)
        ]
        better = max(grown, default=None)
        if better is None or better[0] < value + _JOIN_GAIN:
            break
        value, first, last = better
    return lines[first : last + 1]


def _fit(claim: _Claim, line: Line, shelf: Shelf) -> float:
    """A first, cheap look at a line: the share of the claim's terms in it, and its figures."""
    held = sum(not fact.values.isdisjoint(line.terms) for fact in claim.facts)
    return shelf.share(claim.terms, line.terms) + held / max(1, len(claim.facts))


def _joinable(claim: _Claim, new: Line, first: Line, last: Line, shelved: ShelvedPassage) -> bool:
    """Whether a line may extend a quote. Rows of a table are records of their own, and a line
    that speaks of another name, code or figure is a statement of its own."""
    if last.end - first.start > _QUOTE_CHARS or "|" in shelved.text[first.start : last.end]:
        return False
    text = shelved.text[new.start : new.end]
    return not any(has_rival(text, fact, claim.claimed) for fact in claim.facts)


def _contradiction(claim: _Claim, quote: _Quote, shelved: ShelvedPassage) -> str:
    """What the source says otherwise, or does not say at all, in words."""
    place = quote.start, quote.end
    missing = [f.spelt for f in claim.facts if not stands(f, place, shelved, claim.claimed)]
    if missing:
        return f"not in the passage: {', '.join(missing)}"
    lines = [
        shelved.text[line.start : line.end]
        for line in shelved.lines
        if not claim.terms.isdisjoint(line.terms)
    ]
    return polarity_difference(claim.sentence, quote.text) or misplaced_figure(
        claim.sentence, quote.text, lines, shelved.header
    )


def _foreign_subject(claim: _Claim, shelved: ShelvedPassage) -> str:
    """What a sentence with figures speaks of, if the passage does not; empty if it does."""
    if not any(fact.kind != "name" for fact in claim.facts) or _other_language(claim, shelved):
        return ""
    unknown = _unknown(claim, shelved)
    subject = claim.words & _before_figure(claim)
    if unknown and (
        len(unknown) >= _FOREIGN * len(claim.words) or (subject and not subject & shelved.around)
    ):
        return f"the passage says nothing of {unknown[0]!r}"
    return ""


def _before_figure(claim: _Claim) -> frozenset[str]:
    """The terms that stand before the claim's first figure, date or code: what it is about."""
    text = fold(claim.sentence).text
    places = [text.find(fact.spelt) for fact in claim.facts if fact.kind != "name"]
    return terms_of(text[: min(places)]) if places else frozenset()


def _weakness(claim: _Claim, quote: _Quote, shelved: ShelvedPassage, shelf: Shelf) -> str:
    """Why facts that all stand there still do not make a citation, in words."""
    if claim.facts and not quote.held:
        return "the quoted lines hold none of the sentence's facts"
    if _other_language(claim, shelved):
        return _cross_language_weakness(claim, quote, shelved, shelf)
    shared = {term for term in claim.terms & quote.terms if not unit_of(term)}
    shared |= claim.terms & shelved.named if shared else set()
    shared |= {fact.spelt for fact in quote.held if not terms_of(fact.spelt) & shared}
    if len(shared) < min(2, max(1, len(claim.terms))):
        return "the quoted lines share hardly a word with the sentence"
    if quote.score < (FLOOR if claim.facts else _BARE_FLOOR):
        return f"only {quote.score:.0%} of the sentence stands in the source"
    if claim.language == "ar" and (unknown := _unknown(claim, shelved)):
        return f"the passage says nothing of {unknown[0]!r}"
    return _scattered(claim, quote, shelved, shelf)


def _scattered(claim: _Claim, quote: _Quote, shelved: ShelvedPassage, shelf: Shelf) -> str:
    present = claim.words & shelved.around
    near = quote.terms | shelved.named
    named = [fact for fact in claim.facts if fact.kind in ("name", "code")]
    for line in shelved.lines if named else ():  # the line of a name or code may name the thing
        if not claim.terms.isdisjoint(line.terms):
            ledger = ledger_of(shelved.text[line.start : line.end])
            if any(ledger.holds(fact) for fact in named):
                near |= line.terms
    if present and shelf.share(present, near) < _TOGETHER:
        return "its words and its facts stand in different lines of the source"
    return ""


def _unknown(claim: _Claim, shelved: ShelvedPassage) -> list[str]:
    """Words of the claim that the passage does not have, in the order of the sentence."""
    unknown = claim.words - shelved.around
    if not unknown:
        return []
    text = fold(claim.sentence).text
    spelt = [text[word.start : word.end] for word in words_of(text)]
    return [word for word in dict.fromkeys(spelt) if terms_of(word) & unknown] or sorted(unknown)


def _other_language(claim: _Claim, shelved: ShelvedPassage) -> bool:
    return "und" not in (claim.language, shelved.language) and claim.language != shelved.language


def _cross_language_weakness(
    claim: _Claim, quote: _Quote, shelved: ShelvedPassage, shelf: Shelf
) -> str:
    """Why facts found again in another language are not enough, in words.

    What the question already names proves nothing, and words that neither the question nor the
    source has cannot be checked: "E07 means: door open" is no better for holding E07.
    """
    unchecked = claim.words - shelved.around - shelf.question
    if len(unchecked) > _UNCHECKED_WORDS:
        return f"another language: {len(unchecked)} words cannot be checked"
    new = [fact for fact in quote.held if not fact.values & shelf.named]
    if len(new) > 1 or any(
        fact.kind != "number" or any(len(value) > 2 for value in fact.values) for fact in new
    ):
        return ""
    return "another language, and no new fact to tell by"
