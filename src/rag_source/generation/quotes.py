"""Find a quote in its source, and judge whether the source says the same (SPEC A3, A4).

A ratio cannot tell OCR noise from a changed fact: "30 days" against "90 days" scores 98. So the
ratio only locates, and the *fact guard* decides, whatever the ratio: word for word, number for
number and sign for sign, the quote must be what stands at that place. Forgiven are only what
changes no fact: case, accents, typography, white space, punctuation, a hyphen at a line end, the
spelling of a number, and one letter replaced inside a long word.

Pure functions; nothing here knows an answer, a model or a document.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from rapidfuzz import fuzz
from rapidfuzz.distance import Levenshtein

from rag_source.domain.answers import Quote
from rag_source.domain.folding import Folded, fold
from rag_source.generation.guard import disagreement, left_out_before
from rag_source.generation.words import Word, spelt_as_lines, words_of

__all__ = ["FLOOR", "locate"]

FLOOR = 72.0
"""Below this ratio (0..100) the quote was not found (SPEC A3)."""
_EXACT, _NORMALISED, _FUZZY_LIMIT = 100.0, 97.0, 96.9
_OCCURRENCES = 64  # of one quote in one text; more are not told apart
_SLACK = 2  # words by which the aligner's window may be off at each end
_MARGIN_CHARS = 80  # around the aligned characters: what was dropped or added stands within
_GAP_CHARS = 600  # the most an ellipsis may skip
_ELLIPSIS = re.compile(r"\s*(?:\[\s*(?:\.{3}|…)\s*\]|\(\s*(?:\.{3}|…)\s*\)|\.{3}|…)\s*")
_CUT_LINE = re.compile(r"[^\W\d_][-\u2010\u2011][^\S\n]*\n")


def locate(quote: str, text: str, *, near: int | None = None) -> Quote:
    """Find `quote` in `text` and judge it.

    `verified` if its words stand at the returned range and no fact differs, otherwise
    `unverified` with the reason in words. Two parts joined by an ellipsis must stand in order.

    Args:
        quote: What is claimed to stand in the text.
        text: The source, at most some tens of thousands of characters.
        near: A position in `text`: of several equal occurrences the nearest is meant. Without
            it, the first that stands by itself.
    """
    quote = quote.strip()
    if not quote:
        return _missing("the quote is empty")
    exact = _occurrences(text, quote)
    if exact:
        found = _judge_occurrences(exact, _EXACT, text, near)
    else:
        found = _best(_locate_folded(quote, text, joined, near) for joined in _readings(text))
    if found.status == "verified" or not _ELLIPSIS.search(quote):
        return found
    parts = [part for part in _ELLIPSIS.split(quote) if part.strip()]
    if len(parts) == 1 and parts[0] != quote:
        return locate(parts[0], text, near=near)
    if 2 <= len(parts) <= 4:
        return _locate_parts(parts, text)
    return found


@lru_cache(maxsize=64)
def _folded(text: str, join_hyphens: bool) -> Folded:
    return fold(text, join_hyphens=join_hyphens)


def _readings(text: str) -> tuple[bool, ...]:
    """Whether to join words cut at line ends: yes, then, if there are any, no."""
    return (True, False) if _CUT_LINE.search(text) else (True,)


def _best(results: Iterator[Quote]) -> Quote:
    best: Quote | None = None
    for result in results:
        if result.status == "verified":
            return result
        if best is None or result.score > best.score:
            best = result
    assert best is not None, "a text has one reading at least"
    return best


def _locate_folded(quote: str, text: str, joined: bool, near: int | None) -> Quote:
    needle = fold(quote).text
    folded = _folded(text, joined)
    found = _occurrences(folded.text, needle)
    if found:
        ranges = [folded.source_range(start, end) for start, end in found]
        return _judge_occurrences([(r.start, r.end) for r in ranges], _NORMALISED, text, near)
    return _align(needle, folded, text)


def _occurrences(text: str, needle: str) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    at = text.find(needle) if needle else -1
    while at >= 0 and len(found) < _OCCURRENCES:
        found.append((at, at + len(needle)))
        at = text.find(needle, at + 1)
    return found


def _judge_occurrences(
    ranges: list[tuple[int, int]], score: float, text: str, near: int | None
) -> Quote:
    """The nearest occurrence that stands by itself, or the nearest with what it leaves out."""
    if near is not None:
        ranges = sorted(ranges, key=lambda place: abs(place[0] - near))
    first = None
    for start, end in ranges:
        reason = left_out_before(text, start, end)
        if not reason:
            return Quote(status="verified", score=score, start=start, end=end)
        first = first or Quote(
            status="unverified", score=score, start=start, end=end, reason=reason
        )
    assert first is not None
    return first


def _align(needle: str, folded: Folded, text: str) -> Quote:
    """The most similar run of words, judged word by word."""
    ours = words_of(needle)
    around = _words_around(needle, folded.text)
    if not ours or not around:
        return _missing("the quote or the source has no words")
    line, source_line = spelt_as_lines(ours, around)
    first, end = _window(line, source_line)
    theirs = around[first:end]
    low, high = theirs[0].start, theirs[-1].end
    score = fuzz.ratio(needle.casefold(), folded.text[low:high].casefold())
    if score < FLOOR:
        return _missing("nothing in the source resembles the quote", score)
    place = folded.source_range(low, high)
    reason = disagreement(folded.text, theirs, needle, ours) or left_out_before(
        text, place.start, place.end
    )
    return Quote(
        status="unverified" if reason else "verified",
        score=min(_FUZZY_LIMIT, score),
        start=place.start,
        end=place.end,
        reason=reason,
    )


def _words_around(needle: str, folded: str) -> list[Word]:
    """The words of the part of the source that is most like the quote, and some on either side."""
    lowered = folded.lower()
    if len(lowered) != len(folded):  # "İ" becomes two: positions would drift
        lowered = folded
    alignment = fuzz.partial_ratio_alignment(needle.lower(), lowered)
    if alignment is None:
        return []
    low = folded.rfind(" ", 0, max(0, alignment.dest_start - _MARGIN_CHARS)) + 1
    high = folded.find(" ", alignment.dest_end + _MARGIN_CHARS)
    part = folded[low : high if high >= 0 else len(folded)]
    return [Word(word.kind, word.key, word.start + low, word.end + low) for word in words_of(part)]


def _window(quote: str, source: str) -> tuple[int, int]:
    """The run of words `[first, end)` nearest to the quote in edit distance."""
    alignment = fuzz.partial_ratio_alignment(quote, source)
    if alignment is None:
        return 0, len(source)
    first, end = alignment.dest_start, max(alignment.dest_end, alignment.dest_start + 1)
    best = (len(quote) + len(source) + 1, 0, 0, 0, 0)
    for low in range(max(0, first - _SLACK), min(first + _SLACK, len(source) - 1) + 1):
        for high in range(max(low + 1, end - _SLACK), min(end + _SLACK, len(source)) + 1):
            window = source[low:high]
            distance = Levenshtein.distance(quote, window)
            if distance <= best[0]:
                # Of equal distances: the one whose ends agree, then the one of equal length.
                ends = (window[0] != quote[0]) + (window[-1] != quote[-1])
                best = min(best, (distance, ends, abs(high - low - len(quote)), low, high))
    return best[3], best[4]


def _locate_parts(parts: list[str], text: str) -> Quote:
    """Parts of a quote with an ellipsis between them: each verified, in order, not far apart."""
    found: list[Quote] = []
    offset = 0
    for part in parts:
        result = locate(part, text[offset:])
        if result.status != "verified":
            return _moved(result, offset)
        place = _moved(result, offset)
        if found and place.start - found[-1].end > _GAP_CHARS:
            return _missing("the parts around the ellipsis stand far apart")
        found.append(place)
        offset = place.end
    return Quote(
        status="verified",
        score=min(quote.score for quote in found),
        start=found[0].start,
        end=found[-1].end,
    )


def _moved(quote: Quote, offset: int) -> Quote:
    if quote.end == 0:
        return quote
    return Quote(
        status=quote.status,
        score=quote.score,
        start=quote.start + offset,
        end=quote.end + offset,
        reason=quote.reason,
    )


def _missing(reason: str, score: float = 0.0) -> Quote:
    return Quote(status="unverified", score=score, start=0, end=0, reason=reason)
