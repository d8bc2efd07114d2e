"""Cut text into sentences: the unit that is embedded, supported and cited.

Chunks never cut a sentence, the reranker compares sentences, citations rest on sentences: all three
must agree on where one ends, so they all come here.
"""

from __future__ import annotations

import re

from rag_source.domain.chunks import TextRange

__all__ = ["split_sentences"]

_ABBREVIATIONS = frozenset(
    # French
    "m mm mme mlle dr pr me st ste art al cf ex fig p pp env av apr chap vol tél n no num réf ref "
    "éd etc ch bd max min "
    # English
    "mr mrs ms prof jr sr vs e.g i.e eg ie inc ltd co corp dept est approx sec no nos "
    "jan feb mar apr jun jul aug sep sept oct nov dec".split()
)
# Abbreviations after which a capital usually does start a sentence.
_OFTEN_FINAL = frozenset({"etc", "inc", "ltd", "co", "corp", "max", "min", "est", "al", "jr", "sr"})
# Words that are abbreviations only before a number: "no. 12", but "the answer is no."
_BEFORE_NUMBER = frozenset({"no", "nos", "num"})
_END = re.compile(r"[.!?…؟۔]+[\"'»”’)\]]*(?=\s|$)|[؛;](?=\s*\n)")
_BREAK = re.compile(r"\n[ \t]*\n\s*|\n(?=[ \t]*(?:[-*•▪‣◦]|\d{1,3}[.)])\s)")
_LAST_WORD = re.compile(r"([^\W\d_](?:[\w.]*[^\W_])?)\.$")


def split_sentences(text: str) -> list[TextRange]:
    """Ranges of the sentences of a text, in order, white space at their ends left out.

    A blank line and the start of a list item always end a sentence. A full stop does not, after a
    known abbreviation, a single initial, or before a lower-case letter.
    """
    ranges: list[TextRange] = []
    start = 0
    for paragraph in _BREAK.finditer(text):
        ranges += _within_paragraph(text, start, paragraph.start())
        start = paragraph.end()
    ranges += _within_paragraph(text, start, len(text))
    return ranges


def _within_paragraph(text: str, start: int, end: int) -> list[TextRange]:
    ranges: list[TextRange] = []
    for match in _END.finditer(text, start, end):
        if _ends_sentence(text, start, match.start(), match.end(), end):
            _append(ranges, text, start, match.end())
            start = match.end()
    _append(ranges, text, start, end)
    return ranges


def _ends_sentence(text: str, start: int, stop: int, after: int, end: int) -> bool:
    if text[stop] != "." or text[stop : stop + 2] in ("..", ".."):
        return not _continues(text, after, end)
    if _continues(text, after, end):
        return False
    word = _LAST_WORD.search(text[max(start, stop - 24) : stop + 1])
    if word is None:
        return True
    name = word.group(1).lower()
    if len(name) == 1:
        return False
    if name in _BEFORE_NUMBER:
        return not text[after:end].lstrip()[:1].isdigit()
    return name not in _ABBREVIATIONS or name in _OFTEN_FINAL


def _continues(text: str, after: int, end: int) -> bool:
    """Whether what follows can only be the middle of a sentence."""
    i = after
    while i < end and text[i].isspace():
        i += 1
    return i < end and text[i].islower()


def _append(ranges: list[TextRange], text: str, start: int, end: int) -> None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        ranges.append(TextRange(start=start, end=end))
