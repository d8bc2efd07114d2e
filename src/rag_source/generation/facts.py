"""The facts of a claim, and which of them a source does not hold (SPEC A5).

Facts are what a reader would check: numbers with their units, dates, codes, proper names. Each is
compared by value, so that `82 900,00 DH`, `82,900.00 MAD` and `82900 درهم` are one amount, and
"12 March 2024", `12/03/2024` and `2024-03-12` one date.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from rag_source.domain.folding import fold
from rag_source.generation.units import NUMBER_WORDS, unit_of
from rag_source.generation.words import MONTHS, Word, word_key, words_of

__all__ = ["Fact", "FactKind", "Ledger", "facts_of", "ledger_of"]

FactKind: TypeAlias = Literal["number", "date", "code", "name"]
Day: TypeAlias = tuple[int, int, int]
"""Year (0 where not given), month, day."""

_CODE = re.compile(r"[^\W_]+(?:[-/._][^\W_]+)*")
_COMPOUND = re.compile(r"[^\W_]+(?:[-/_][^\W_]+)+|\d{1,2}\.\d{1,2}\.\d{2,4}")
_MEASURE = re.compile(r"\d+(?:[.,]\d+)*[^\W\d_]{1,4}")
_NUMERIC_DAY = re.compile(r"(?<!\d)(\d{1,4})([/.-])(\d{1,2})\2(\d{2,4})(?!\d)")
_MONTH_NAME = "|".join(sorted((re.escape(name) for name in MONTHS), key=len, reverse=True))
_DAY_MONTH = re.compile(
    rf"(?<!\d)(\d{{1,2}})(?:er|st|nd|rd|th)?\s+(?:de\s+|of\s+)?({_MONTH_NAME})\b\.?,?(?:\s+(\d{{4}}))?"
)
_MONTH_DAY = re.compile(
    rf"\b({_MONTH_NAME})\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,?\s+(\d{{4}}))?"
)
_TITLE_CHARS = 3
_NAME = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_NOT_NAMES = frozenset(
    "i le la les un une de du des il elle ils elles the a an in it its this these he she they "
    "we you "
    "article section page chapter chapitre passage document oui non yes no je nous vous "
    "mr mrs ms mme m monsieur madame".split()
)


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact as a sentence states it. `values` are its readings, any of which may be meant."""

    kind: FactKind
    spelt: str
    values: frozenset[str]
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Ledger:
    """The facts that a source holds, ready to be asked."""

    numbers: frozenset[str]
    units: dict[str, frozenset[str]]
    days: frozenset[Day]
    keyed: str
    keys: frozenset[str]

    def holds(self, fact: Fact) -> bool:
        """Whether the source states the fact, in whatever spelling."""
        if fact.kind == "code":
            return any(_code_pattern(value).search(self.keyed) for value in fact.values)
        if fact.kind == "name":
            return bool(fact.values & self.keys)
        if fact.kind == "date":
            return any(_same_day(_day(value), day) for value in fact.values for day in self.days)
        found = fact.values & self.numbers
        if not found:
            return False
        known = frozenset[str]().union(*(self.units.get(value, frozenset()) for value in found))
        return not fact.unit or not known or fact.unit in known or "" in known


@lru_cache(maxsize=1024)
def facts_of(sentence: str) -> tuple[Fact, ...]:
    """The facts that a sentence states, in kinds: dates, codes, numbers, names."""
    text = fold(sentence).text
    keyed = _keyed(text)
    facts: list[Fact] = []
    taken: list[tuple[int, int]] = []
    for start, end, days in _days(keyed):
        values = frozenset(f"{y}-{m}-{d}" for y, m, d in days)
        facts.append(Fact("date", text[start:end], values))
        taken.append((start, end))
    for start, end, key in _codes(text):
        if not _overlaps(start, end, taken):
            facts.append(Fact("code", text[start:end], frozenset({key})))
            taken.append((start, end))
    words = words_of(text)
    for start, end, values, unit in _numbers(text, words):
        if not _overlaps(start, end, taken):
            facts.append(Fact("number", text[start:end], values, unit))
    facts += [
        Fact("name", text[start:end], frozenset({word_key(text[start:end])}))
        for start, end in _names(text)
        if not _overlaps(start, end, taken)
    ]
    return tuple(facts)


@lru_cache(maxsize=512)
def ledger_of(source: str) -> Ledger:
    """The facts of a source text; the last ones are remembered."""
    text = fold(source).text
    keyed = _keyed(text)
    words = words_of(text)
    numbers: set[str] = set()
    units: dict[str, set[str]] = {}
    for _, _, values, unit in _numbers(text, words):
        numbers |= values
        for value in values:
            units.setdefault(value, set()).add(unit)
    for match in _COMPOUND.finditer(text):  # the parts of dates, ranges and codes
        numbers.update(re.findall(r"\d+", match[0]))
    return Ledger(
        numbers=frozenset(numbers),
        units={value: frozenset(found) for value, found in units.items()},
        days=frozenset(day for _, _, days in _days(keyed) for day in days),
        keyed=keyed,
        keys=frozenset(word.key for word in words),
    )


class _Keys(dict[int, str]):
    """A translation table that learns each character's key, if it is one character, once."""

    def __missing__(self, code: int) -> str:
        key = word_key(chr(code))
        self[code] = key if len(key) == 1 else chr(code)
        return self[code]


_KEYS = _Keys()


def _keyed(text: str) -> str:
    """Folded text without case and accents, and of the same length."""
    return text.lower() if text.isascii() else text.translate(_KEYS)


@lru_cache(maxsize=1024)
def _code_pattern(code: str) -> re.Pattern[str]:
    """The code however its letters and digits are joined: `MW-104`, `MW 104`, `mw104`."""
    pieces = map(re.escape, code.split("-"))
    return re.compile(rf"(?<![^\W_]){'[-/._ ]{0,3}'.join(pieces)}(?![^\W_])")


def _codes(text: str) -> Iterator[tuple[int, int, str]]:
    """References such as `VT-COB/SKU98496`, `BL-2024-118` or `E07`: letters and digits mixed."""
    for match in _CODE.finditer(text):
        code = match[0]
        mixed = any(c.isalpha() for c in code) and any(c.isdigit() for c in code)
        if mixed and not _MEASURE.fullmatch(code):
            pieces = re.findall(r"[^\W\d_]+|\d+", "".join(word_key(c) for c in code))
            yield match.start(), match.end(), "-".join(pieces)


def _days(keyed: str) -> Iterator[tuple[int, int, frozenset[Day]]]:
    for match in _NUMERIC_DAY.finditer(keyed):
        days = _numeric_days(match[1], match[3], match[4])
        if days:
            yield match.start(), match.end(), days
    for match in _DAY_MONTH.finditer(keyed):
        day = (int(match[3] or 0), MONTHS[match[2]], int(match[1]))
        yield match.start(), match.end(), frozenset({day})
    for match in _MONTH_DAY.finditer(keyed):
        day = (int(match[3] or 0), MONTHS[match[1]], int(match[2]))
        yield match.start(), match.end(), frozenset({day})


def _numeric_days(a: str, b: str, c: str) -> frozenset[Day]:
    """The days that three numbers may mean: ISO, day first, month first."""
    first, second, third = int(a), int(b), int(c)
    if len(a) == 4:
        readings = [(first, second, third)]
    elif len(a) <= 2:
        year = third if len(c) == 4 else 2000 + third
        readings = [(year, second, first), (year, first, second)]
    else:
        readings = []
    return frozenset(day for day in readings if 1 <= day[1] <= 12 and 1 <= day[2] <= 31)


def _day(value: str) -> Day:
    year, month, day = value.split("-")
    return int(year), int(month), int(day)


def _same_day(a: Day, b: Day) -> bool:
    return a[1:] == b[1:] and (a[0] == b[0] or not a[0] or not b[0])


def _numbers(text: str, words: list[Word]) -> Iterator[tuple[int, int, frozenset[str], str]]:
    """Quantities with their units: figures and number words."""
    i = 0
    while i < len(words):
        first = last = i
        value = _signed(words, i, text) if words[i].kind == "number" else ""
        if words[i].kind == "word":
            value, last = _number_word(words, i)
        i = last + 1
        if not value:
            continue
        after = unit_of(words[last + 1].key) if last + 1 < len(words) else ""
        before = unit_of(words[first - 1].key) if first and words[first - 1].kind == "sign" else ""
        start = words[first - 1].start if before and not after else words[first].start
        end = words[last + 1].end if after else words[last].end
        yield start, end, frozenset({value, value.lstrip("0") or "0"}), after or before


def _signed(words: list[Word], i: int, text: str) -> str:
    key = words[i].key
    if i == 0 or words[i - 1].key != "-" or words[i - 1].end != words[i].start:
        return key
    glued = words[i - 1].start > 0 and text[words[i - 1].start - 1].isalnum()
    return key if glued else f"-{key}"


def _number_word(words: list[Word], i: int) -> tuple[str, int]:
    """The number that words from `i` spell, and the last of them: "vingt-quatre", "twenty"."""
    value = NUMBER_WORDS.get(words[i].key)
    if value is None:
        return "", i
    if 20 <= value < 100:
        j = i + 1 + (i + 1 < len(words) and words[i + 1].key == "et")
        unit = NUMBER_WORDS.get(words[j].key, 0) if j < len(words) else 0
        if 0 < unit < 20:
            return str(value + unit), j
    return str(value), i


def _names(text: str) -> Iterator[tuple[int, int]]:
    """Words with a capital inside a sentence, and words all in capitals."""
    previous = ""
    last = 0
    for match in _NAME.finditer(text):
        gap = text[last : match.start()]
        stop = "." in gap and len(previous) > _TITLE_CHARS  # not after "M." or "Dr."
        first = not previous or stop or any(c in '!?:;\n(["' for c in gap)
        previous, last = match[0], match.end()
        name = match[0].split("'")[-1]
        acronym = len(name) > 1 and name.isupper()
        if name[0].isupper() and (acronym or not first) and not _is_common(name):
            yield match.end() - len(name), match.end()


def _is_common(word: str) -> bool:
    """Whether a word with a capital is no name: an article, a month, a unit, a single letter."""
    key = word_key(word)
    return len(word) < 2 or key in _NOT_NAMES or key in MONTHS or bool(unit_of(key))


def _overlaps(start: int, end: int, taken: list[tuple[int, int]]) -> bool:
    return any(start < b and a < end for a, b in taken)
