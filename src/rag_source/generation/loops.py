"""Cut what a small model repeats, and what it had no room to finish."""

from __future__ import annotations

import re

from rag_source.domain.sentences import split_sentences
from rag_source.generation.terms import terms_of

__all__ = ["finished_part", "loop_start"]

_STUTTER = re.compile(r"(.{1,60}?)\1{4,}$", re.DOTALL)
_WINDOW_CHARS = 400
_SHORT_CHARS = 16  # a shorter sentence ("Non.") may rightly come twice


def loop_start(text: str) -> int | None:
    """Where a draft starts to repeat itself, or None.

    It does where a whole sentence comes a second time, word for word, or where the same few
    characters come five times in a row.
    """
    offset = max(0, len(text) - _WINDOW_CHARS)
    stutter = _STUTTER.search(text[offset:])
    if stutter and stutter[1].strip():
        return offset + stutter.start() + len(stutter[1])
    seen: set[tuple[str, frozenset[str]]] = set()
    places = split_sentences(text)
    for place in places[:-1] if not text.rstrip().endswith((".", "!", "?", "؟", "]")) else places:
        sentence = text[place.start : place.end]
        key = (re.sub(r"\[\d+\]|\W+", "", sentence).casefold(), terms_of(sentence))
        if len(sentence) >= _SHORT_CHARS and key in seen:
            return place.start
        seen.add(key)
    return None


def finished_part(text: str) -> str:
    """A draft that ran out of room, up to its last whole sentence; all of it if it has but one."""
    places = split_sentences(text)
    if len(places) < 2 or text.rstrip().endswith((".", "!", "?", "؟", "]", "。")):
        return text
    return text[: places[-2].end]
