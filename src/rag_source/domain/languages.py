"""Tell French, English and Arabic apart, for stemming, prompts and refusals.

A list of function words and the script decide: three languages and short texts need no more, and
a wrong guess costs a stem, not a wrong answer.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

__all__ = ["Language", "answer_language", "detect_language"]

Language: TypeAlias = Literal["fr", "en", "ar", "und"]

_SAMPLE_CHARS = 4000
_WORD = re.compile(r"[^\W\d_]+")
_FRENCH = frozenset(
    "le la les un une des du de et est en dans pour que qui quoi sur par au aux avec ce cette ces "
    "il elle ne pas plus ou où se sont son sa ses leur leurs nous vous je quel quelle quels "
    "quelles combien comment quand pourquoi à été être ont a-t-il y d l qu n s c j m t dont mais "
    "lors chaque selon sans sous entre tout toute tous fait doit peut".split()
)
_ENGLISH = frozenset(
    "the of and to in is for that on with as are was were be by at from this these those which who "
    "what when where how why it its not or an his her their has have had do does did can may must "
    "should will would there than then into about many much you your we our i they he she each "
    "according between after before under over any all no if".split()
)


def detect_language(text: str) -> Language:
    """The language of a text; `und` where nothing speaks for any of the three."""
    sample = text[:_SAMPLE_CHARS]
    letters = sum(c.isalpha() for c in sample)
    arabic = sum("\u0600" <= c <= "\u06ff" or "\ufb50" <= c <= "\ufeff" for c in sample)
    if letters and arabic > 0.4 * letters:
        return "ar"
    words = [word.lower() for word in _WORD.findall(sample)]
    french = sum(word in _FRENCH for word in words)
    french += sum(any(c in "éèêàçùœîôû" for c in word) for word in words)
    english = sum(word in _ENGLISH for word in words)
    if french == english:
        return "und"
    return "fr" if french > english else "en"


def answer_language(question: str) -> Literal["fr", "en", "ar"]:
    """The language to answer in; English where the question does not say."""
    language = detect_language(question)
    return "en" if language == "und" else language
