"""Cut folded text into the words, numbers and signs that two texts must agree on.

Shared by the fact guard (is this quote what the source says?) and by support (does this sentence
say what the source says?). Punctuation that carries no fact is left out; the sign of a number, a
range's dash, percent and currency signs, comparisons and the question mark are kept.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

__all__ = [
    "EXACT_WORDS",
    "MONTHS",
    "NEGATIONS",
    "Word",
    "WordKind",
    "is_negation",
    "number_key",
    "spelt_as_lines",
    "word_key",
    "words_of",
]

WordKind: TypeAlias = Literal["word", "number", "sign"]

_TOKEN = re.compile(
    r"""
    (?P<word>[^\W\d_]+(?:'t(?![^\W\d_]))?)
  | (?P<number>
        (?<!\d)(?:
            \d{1,3}(?:[ ']\d{3})+(?!\d)(?:[.,]\d+(?![.,]?\d))?  # 82 900,00
          | \d+(?:[.,]\d+)*(?:\^\d+)?                           # 82.900,00  12.5  40564101  10^2
        )
    )
  | (?P<sign>[-+](?=\ ?\d)|(?<=\d)[:/](?=\d)|[%‰€$£¥₤<>=±≤≥≠×?؟])
    """,
    re.VERBOSE,
)
_FIRST_LETTER = 0x10000  # beyond the surrogates: room for a million distinct words
_GROUPED = re.compile(r"\d{1,3}(?:([., '])\d{3})(?:\1\d{3})*")


class Word(NamedTuple):
    """A token of folded text: what it must equal (`key`), and its range there.

    A tuple, not a dataclass: a chunk has six hundred, and each costs a third this way.
    """

    kind: WordKind
    key: str
    start: int
    end: int


def words_of(folded: str) -> list[Word]:
    """The tokens of folded text, in order. Case and accents do not count in a word's key."""
    found: list[Word] = []
    for match in _TOKEN.finditer(folded):
        kind = match.lastgroup
        start, end = match.span()
        text = folded[start:end]
        if kind == "word":
            found.append(Word("word", word_key(text), start, end))
        elif kind == "number":
            found.append(Word("number", number_key(text), start, end))
        else:
            found.append(Word("sign", "?" if text == "؟" else text, start, end))
    return found


def spelt_as_lines(*texts: Sequence[Word]) -> tuple[str, ...]:
    """Each text as a string in which each distinct word is one letter, the same in all texts.

    So a string aligner, in C, aligns words.
    """
    alphabet: dict[str, str] = {}
    for words in texts:
        for word in words:
            if word.key not in alphabet:
                alphabet[word.key] = chr(_FIRST_LETTER + len(alphabet))
    return tuple("".join([alphabet[word.key] for word in words]) for words in texts)


@lru_cache(maxsize=32768)
def word_key(word: str) -> str:
    """The word without case and accents."""
    lowered = word.casefold()
    if lowered.isascii():
        return lowered
    parts = unicodedata.normalize("NFKD", lowered)
    return "".join(c for c in parts if not unicodedata.combining(c))


@lru_cache(maxsize=8192)
def number_key(number: str) -> str:
    """One spelling for one value: `82 900,00`, `82.900,00`, `82,900.00` and `82900` are equal.

    A single group of three digits after a point or comma is read as thousands (`1.500` is 1500),
    unless the whole part is 0. Zeros in front of a whole number are kept: `0012` is a code.
    """
    text = number.replace(" ", "").replace("'", "")
    if _is_grouped(number):
        text = re.sub(r"[.,]", "", text)
    last = max(text.rfind("."), text.rfind(","))
    if last < 0:
        return text
    if len(re.findall(r"[.,]", text)) > 1 and not _GROUPED.fullmatch(text[:last]):
        return text  # 12.03.2026 or 1.2.3: a date or a version, not a quantity
    whole = re.sub(r"[.,]", "", text[:last])
    decimals = text[last + 1 :].rstrip("0")
    return f"{whole}.{decimals}" if decimals else whole


def _is_grouped(number: str) -> bool:
    return _GROUPED.fullmatch(number) is not None and not number.startswith("0")


def _keys(words: str) -> frozenset[str]:
    return frozenset(word_key(word) for word in words.split())


NEGATIONS = _keys(
    "not no never none neither nor cannot without except unless "
    "don't doesn't didn't isn't aren't wasn't weren't can't couldn't won't wouldn't shouldn't "
    "mustn't hasn't haven't hadn't non "
    "ne n pas jamais aucun aucune ni sans hors sauf hormis nul nulle guère "
    "لا لم لن ليس ليست ليسوا غير بدون دون عدا سوى ولا فلا بلا ولم فلم ولن فلن وليس وليست وغير "
    "وبدون ودون"
)
"""Words that turn a statement around, as keys (French, English, Arabic with its proclitics)."""

MONTHS: dict[str, int] = {
    word_key(name): number
    for number, names in enumerate(
        (
            "january janvier jan janv يناير كانون",
            "february février feb févr fév فبراير شباط",
            "march mars mar مارس آذار",
            "april avril apr avr أبريل ابريل نيسان",
            "may mai مايو ماي أيار",
            "june juin jun يونيو حزيران",
            "july juillet jul juil يوليو يوليوز تموز",
            "august août aug أغسطس غشت آب",
            "september septembre sep sept سبتمبر شتنبر أيلول",
            "october octobre oct أكتوبر",
            "november novembre nov نوفمبر نونبر",
            "december décembre dec déc ديسمبر دجنبر",
        ),
        start=1,
    )
    for name in names.translate(str.maketrans("أإآ", "ااا")).split()
}

EXACT_WORDS = (
    NEGATIONS
    | frozenset(MONTHS)
    | _keys(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen "
        "sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety "
        "hundred thousand million millions billion billions trillion trillions dozen first "
        "second third "
        "fourth fifth sixth seventh eighth ninth tenth half quarter double triple "
        "zéro un une deux trois quatre cinq sept huit neuf dix onze douze treize quatorze "
        "quinze seize "
        "vingt trente quarante cinquante soixante septante huitante nonante cent cents mille "
        "milliers "
        "millions milliard milliards billions douzaine premier première deuxième troisième "
        "quatrième "
        "cinquième sixième septième huitième neuvième dixième demi moitié tiers quart "
        "monday tuesday wednesday thursday friday saturday sunday "
        "lundi mardi mercredi jeudi vendredi samedi dimanche "
        "second seconds minute minutes hour hours day days week weeks month months year years "
        "seconde secondes heure heures jour jours semaine semaines mois année années an ans "
        "ثلاثة اربعة خمسة ستة سبعة ثمانية تسعة عشرة عشرون عشرين ثلاثون ثلاثين اربعون اربعين "
        "خمسون خمسين "
        "ستون ستين سبعون سبعين ثمانون ثمانين تسعون تسعين مائة مئة مائتان الف الفان مليون مليار "
        "ملايين "
        "الاول الثاني الثالث الرابع الخامس السادس السابع الثامن التاسع العاشر يوما يوم شهرا شهر "
        "سنة عام"
    )
)
"""Words in which one letter changes the fact: no slip is forgiven in them."""


def is_negation(key: str) -> bool:
    """Whether a word key turns a statement around."""
    return key in NEGATIONS or key.endswith("n't")
