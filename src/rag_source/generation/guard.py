"""The fact guard: does a quote say what its place in the source says? (SPEC A4)

Word against word, in order. Every word, number and sign must have its equal on the other side.
One letter *replaced inside* a long word is forgiven (OCR noise, a typing slip), because such a
slip makes no other word, or hardly ever; a letter added, lost, or changed at either end of a word
does ("contract" and "contact", "normal" and "formal", "employer" and "employee"), so it is not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from rapidfuzz.distance import Levenshtein

from rag_source.domain.folding import fold
from rag_source.generation.words import EXACT_WORDS, Word, is_negation, spelt_as_lines, words_of

__all__ = ["disagreement", "left_out_before"]

_SLIP_LETTERS = 6  # the shortest word in which one replaced letter is forgiven
_WORDS_PER_SLIP = 12  # one slip, and one more for each so many words
_CONTEXT = 60  # characters looked at before and after a quote
_CLAUSE_END = re.compile(r"[.;:!?,()|\n؛؟،…]")
_COMPOUND = re.compile(r"[^\W_]+(?:[-/._:][^\W_]+)+")
_LIGHT = frozenset({"to", "be", "de", "d", "a", "etre", "ان"})
_HYPHENS_ONLY = re.compile(r"[-'\s]*")


def disagreement(source: str, theirs: Sequence[Word], quote: str, ours: Sequence[Word]) -> str:
    """What differs between words of the source and those of the quote; empty if nothing.

    Both texts are folded with case kept.
    """
    slips = 0
    for op in Levenshtein.opcodes(*spelt_as_lines(theirs, ours)):
        old = theirs[op.src_start : op.src_end]
        new = ours[op.dest_start : op.dest_end]
        if op.tag == "equal":
            reason = _spelling_differs(source, old, quote, new)
        elif _same_letters(source, old, quote, new):
            reason = ""
        elif op.tag == "replace" and len(old) == len(new):
            wrong = [(a, b) for a, b in zip(old, new, strict=True) if not _is_slip(a, b, source)]
            slips += len(old) - len(wrong)
            reason = _difference(source, [a for a, _ in wrong], quote, [b for _, b in wrong])
        else:
            reason = _difference(source, old, quote, new)
        if reason:
            return reason
    if slips > 1 + len(ours) // _WORDS_PER_SLIP:
        return f"{slips} words are spelt differently"
    return ""


def left_out_before(text: str, start: int, end: int) -> str:
    """What a quote of `text[start:end]` cuts at its ends, in words; empty if it stands by itself.

    A quote may not begin or end inside a word, a number or a code, nor start right after a
    negation that it leaves out.
    """
    low, high = max(0, start - _CONTEXT), min(len(text), end + _CONTEXT)
    before, inside, after = text[low:start], text[start:end], text[end:high]
    head = _cut(before, inside)
    if head:
        return head
    tail = _cut(inside[-_CONTEXT:], after)
    return tail or _negation_before(before)


def _cut(left: str, right: str) -> str:
    """The word, number or code that a cut between `left` and `right` goes through."""
    if not left or not right:
        return ""
    glued = fold(left[-_CONTEXT:] + right[:_CONTEXT])
    boundary = min(_CONTEXT, len(left))
    for word in (*words_of(glued.text), *_compounds(glued.text)):
        first, last = glued.starts[word.start], glued.ends[word.end - 1]
        if first < boundary < last and word.end - word.start > 1:
            return f"cuts {glued.text[word.start : word.end]!r}"
    return _lone_sign(left, right)


def _compounds(folded: str) -> list[Word]:
    """Codes, ranges and dates such as `VT-COB/SKU98496` or `2026-03-12`: they have a digit."""
    return [
        Word("word", match[0], match.start(), match.end())
        for match in _COMPOUND.finditer(folded)
        if any(c.isdigit() for c in match[0])
    ]


def _lone_sign(left: str, right: str) -> str:
    """A sign glued to the number beside it belongs to it: `-18` is not `18`."""
    if right[0].isdigit() and fold(left[-1]).text in {
        "-",
        "+",
        "±",
        "<",
        ">",
        "≤",
        "≥",
        "$",
        "€",
        "£",
    }:
        return f"cuts the sign off {left[-1] + right[:8].split()[0]!r}"
    if left[-1].isdigit() and right[0] in "%‰":
        return f"cuts the sign off {left.split()[-1] + right[0]!r}"
    return ""


def _negation_before(before: str) -> str:
    folded = fold(before).text
    words = words_of(folded)
    light = bool(words) and words[-1].key in _LIGHT
    for word in words[-2:] if light else words[-1:]:
        if word.kind == "word" and is_negation(word.key):
            if _CLAUSE_END.search(folded, word.end):
                continue
            return f"leaves out the {folded[word.start : word.end]!r} before it"
    return ""


def _spelling_differs(source: str, theirs: Sequence[Word], quote: str, ours: Sequence[Word]) -> str:
    """Words with equal keys whose spelling changes a fact after all."""
    after_number = False
    for a, b in zip(theirs, ours, strict=True):
        x, y = source[a.start : a.end], quote[b.start : b.end]
        if x != y and (
            (a.kind == "number" and _reads_two_ways(x, y))
            or (after_number and _unit_case_differs(x, y))
        ):
            return f"{'number' if a.kind == 'number' else 'unit'} differs: {x} → {y}"
        after_number = a.kind == "number"
    return ""


def _reads_two_ways(a: str, b: str) -> bool:
    """`12.345` and `12,345`: one of them may be a decimal, so they are not the same number."""
    pattern = r"\d{1,3}[.,]\d{3}"
    return bool(re.fullmatch(pattern, a) and re.fullmatch(pattern, b))


def _unit_case_differs(a: str, b: str) -> bool:
    """`mW` and `MW`, `Mb` and `MB`: a prefix or a unit changes with case."""
    if not 2 <= len(a) <= 3 or len(a) != len(b):
        return False
    return (a[0] != b[0] and a[0] in "mM") or (a[-1] != b[-1] and a[-1] in "bB")


def _is_slip(a: Word, b: Word, source: str) -> bool:
    """Whether two words differ in one letter replaced inside, and are not two known words."""
    x, y = a.key, b.key
    if a.kind != "word" or b.kind != "word" or len(x) != len(y) or len(x) < _SLIP_LETTERS:
        return False
    if x in EXACT_WORDS or y in EXACT_WORDS:
        return False
    wrong = [i for i, (c, d) in enumerate(zip(x, y, strict=True)) if c != d]
    if len(wrong) != 1 or wrong[0] in (0, len(x) - 1):
        return False
    # Both spellings elsewhere in the source: they are two words, not one word and its slip.
    text = source.casefold()
    return not (y in text and text.count(x) > 1)


def _same_letters(source: str, theirs: Sequence[Word], quote: str, ours: Sequence[Word]) -> bool:
    """`well-known` and `wellknown`, `it's` and `its`: cut differently, the same letters."""
    if not theirs or not ours or any(w.kind != "word" for w in (*theirs, *ours)):
        return False
    if "".join(w.key for w in theirs) != "".join(w.key for w in ours):
        return False
    return _only_hyphens(source, theirs) and _only_hyphens(quote, ours)


def _only_hyphens(text: str, words: Sequence[Word]) -> bool:
    return all(text[a.end : b.start] in ("-", "'", "- ") for a, b in pairwise(words))


def _difference(source: str, theirs: Sequence[Word], quote: str, ours: Sequence[Word]) -> str:
    """The disagreement in words, for the reader: `number differs: 30 → 90`."""
    if not theirs and not ours:
        return ""
    removed, added = _spelt(source, theirs), _spelt(quote, ours)
    negated = {w.key for w in theirs if is_negation(w.key)} != {
        w.key for w in ours if is_negation(w.key)
    }
    kinds = {w.kind for w in (*theirs, *ours)}
    if negated:
        what = "negation"
    elif "number" in kinds:
        what = "number"
    elif kinds == {"sign"}:
        what = "sign"
    else:
        what = "words" if len(theirs) > 1 or len(ours) > 1 else "word"
    if not ours:
        return f"{what} left out: {removed}"
    if not theirs:
        return f"{what} added: {added}"
    return f"{what} {'differ' if what == 'words' else 'differs'}: {removed} → {added}"


def _spelt(text: str, words: Sequence[Word]) -> str:
    return text[words[0].start : words[-1].end] if words else ""
