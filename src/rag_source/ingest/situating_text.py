"""What is kept of a situating text that the answer model wrote.

It decides what is found, and nobody sees it: a false one would send questions to the wrong chunk
without a trace. So a sentence is kept only if it is a sentence about the document, in its
language, without a figure that the document does not hold.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from rag_source.domain.folding import fold
from rag_source.domain.languages import detect_language
from rag_source.domain.sentences import split_sentences

__all__ = ["KEPT_VERSION", "fewer_words", "kept_text"]

KEPT_VERSION = 1
"""Raised whenever another part of the same answer would be kept; answers need not be paid again."""

_MOST_SENTENCES = 2
_FEWEST_WORDS = 4
_FIGURE = re.compile(r"\d+")
_ENDED = re.compile(r"[.!?…؟۔][\"'»”’)\]]*$")
_WRAPPING = " \t\"'«»“”„*_#>-•"


def kept_text(
    answer: str, *, document: str, language: str, neutralise: Callable[[str], str]
) -> str:
    """The usable sentences of an answer, on one line; empty if there is none.

    Args:
        answer: What the model wrote.
        document: The texts of the document it was written from, unaltered.
        language: The language it was asked to write in.
        neutralise: Changes text that holds an order, a role or a control token: an answer that
            it would change repeats one of the document's, or comes from it.
    """
    text = " ".join(answer.split()).strip(_WRAPPING)
    if not text or neutralise(text) != text or detect_language(text) not in (language, "und"):
        return ""
    known = fold(document, case=True).text
    figures = set(_FIGURE.findall(known))
    kept: list[str] = []
    for part in split_sentences(text):
        sentence = text[part.start : part.end]
        folded = fold(sentence, case=True).text
        if (
            len(sentence.split()) >= _FEWEST_WORDS
            # Word for word in the document: an echo, be it of an order, and no placing.
            and folded.strip(" .!?…") not in known
            and figures.issuperset(_FIGURE.findall(folded))
            and sentence not in kept
        ):
            kept.append(sentence)
    kept = kept[:_MOST_SENTENCES]
    if len(kept) > 1 and not _ENDED.search(kept[-1]):
        # Cut by the limit of tokens; alone it still says where the chunk stands.
        kept.pop()
    return " ".join(kept)


def fewer_words(text: str, tokens: int) -> str:
    """The text shorter by about `tokens` tokens, at least by a word; empty if little remains.

    A word has a token at least, and about two: what half as many words leave over, the next call
    takes.
    """
    words = text.split()
    words = words[: len(words) - max(1, tokens // 2)]
    return " ".join(words) if len(words) >= _FEWEST_WORDS else ""
