"""Tell a text layer that says something else than the page shows, without a dictionary.

Broken fonts give NUL, U+FFFD or private-use characters, letters of mixed scripts, or letters
shifted by a constant, which leaves words without vowels.
"""

from __future__ import annotations

import re

from rag_source.ingest.plausibility import plausibility

__all__ = ["is_damaged"]

_SENSELESS = re.compile("[\x00-\x08\x0e-\x1f\ufffd\ue000-\uf8ff]|\\(cid:\\d+\\)")
# A broken font has holes inside its words; bullets and leader dots of symbol fonts stand alone.
_BROKEN_WORDS = 0.02
_SENSELESS_WORDS = 0.5
# The mean verdict of ordinary pages in a dozen scripts is above 0.
_LEAST_PLAUSIBILITY = -0.5
_FEWEST_JUDGED = 20
_WORD = re.compile(r"[A-Za-z\u00c0-\u024f]{4,}")
_VOWEL = re.compile(r"[aeiouyàáâãäåæèéêëìíîïòóôõöøùúûüýœ]", re.IGNORECASE)
# French and English pages have under 2 % of such words (codes and abbreviations).
_VOWELLESS_RATIO = 0.3
_FEWEST_WORDS = 12


def is_damaged(text: str) -> bool:
    """Whether a page's text layer, words parted by spaces, is not what its reader sees."""
    visible = sum(not char.isspace() for char in text)
    if not visible:
        return False
    words = text.split()
    senseless = [word for word in words if _SENSELESS.search(word)]
    broken = sum(any(map(str.isalnum, word)) for word in senseless)
    if broken > _BROKEN_WORDS * len(words) or len(senseless) > _SENSELESS_WORDS * len(words):
        return True
    rest = _SENSELESS.sub("", text)
    judged = sum(char >= "\x80" for char in rest)
    if judged >= _FEWEST_JUDGED and judged > 0.1 * visible:
        return plausibility(rest) < _LEAST_PLAUSIBILITY
    latin = [word for word in _WORD.findall(text) if not word.isupper()]
    bare = sum(_VOWEL.search(word) is None for word in latin)
    return len(latin) >= _FEWEST_WORDS and bare > _VOWELLESS_RATIO * len(latin)
