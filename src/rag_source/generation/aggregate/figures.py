"""Read the cells of a column as exact decimals with their units.

One cell says too little: `1.234` is a thousand in one country and one and a bit in another. So a
whole column is read at once: a figure elsewhere in it that can be read in one way only tells which
mark is the decimal one. Where nothing tells, the column is `ambiguous` and nobody may add it up.
Pure functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import Literal, TypeAlias

from rag_source.domain.folding import fold
from rag_source.generation.aggregate.lexicon import concept
from rag_source.generation.units import unit_of
from rag_source.generation.words import MONTHS, word_key

__all__ = [
    "ColumnReading",
    "Figure",
    "Unit",
    "Unreadable",
    "holds_words",
    "read_column",
    "unit_named",
]

DecimalMark: TypeAlias = Literal[".", ","]

_LONGEST_FIGURE = 30  # digits; nothing that anybody adds up is longer
_FEW = 3
_FIRST_YEAR, _LAST_YEAR = 1900, 2100
_POINT, _GROUP = "\u066b", "\u066c"  # the Arabic decimal and thousands marks: never ambiguous
_MISSING = frozenset(
    "- -- --- . .. ... / ? n/a na n.a. n.a nc n.c. n.c nd n.d. n.d nr n.r. ns null none nan "
    "s.o. s/o tbd x vide empty غ.م".split()
)
_LONGEST_MISSING = 8
_SIGNS = "%‰€$£¥₤"
_WORD = r"[^\W\d_]+\.?"
_CELL = re.compile(
    rf"""
    (?P<open>\()?\s*
    (?:(?P<before>[{_SIGNS}]|{_WORD})\ ?)?
    (?P<minus>-\ ?)?\+?
    (?P<figure>\d(?:[\d.,'{_POINT}{_GROUP}]|\ (?=\d))*(?<=\d))
    (?P<gap>\ ?)(?P<after>[{_SIGNS}]|{_WORD}(?:\ {_WORD})?)?
    \s*(?P<close>\))?[*†‡]*
    """,
    re.VERBOSE,
)
_SPACED = re.compile(rf"\d{{1,3}}(?:[ '{_GROUP}]\d{{3}})+(?![\d '{_GROUP}])")
_GROUPED = {mark: re.compile(rf"\d{{1,3}}(?:{re.escape(mark)}\d{{3}})+") for mark in ".,"}
_CURRENCIES = frozenset(
    "aed aud brl cad chf cny czk dkk dzd egp hkd huf inr jod jpy krw kwd lbp lyd mru mxn ngn nok "
    "nzd omr pln qar ron rub sar sek sgd sdg syp tnd try uah xaf xof yer zar".split()
)
_MONEY = _CURRENCIES | {"eur", "usd", "gbp", "mad"}


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit by its canonical name, the same in every language, and as the source spells it."""

    name: str
    spelt: str

    @property
    def is_money(self) -> bool:
        return not _MONEY.isdisjoint(self.name.split())


@dataclass(frozen=True, slots=True)
class Figure:
    """What a cell says. `unit` is None where neither the cell nor anything else names one."""

    value: Decimal
    unit: Unit | None = None


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A cell without a figure: empty (`missing`), or with words that are none."""

    missing: bool


@dataclass(frozen=True, slots=True)
class ColumnReading:
    """The cells of a column in order. `ambiguous`: its figures can be read in two ways."""

    cells: tuple[Figure | Unreadable, ...]
    ambiguous: bool

    @property
    def holds_figures(self) -> bool:
        """Whether most cells that say anything say a figure."""
        said = [cell for cell in self.cells if not (isinstance(cell, Unreadable) and cell.missing)]
        figures = sum(isinstance(cell, Figure) for cell in said)
        return figures > 0 and figures * 5 >= len(said) * 4

    @property
    def identifies(self) -> bool:
        """Whether its figures are names rather than quantities: whole numbers of one length, all
        different, such as article numbers; or years."""
        figures = [cell for cell in self.cells if isinstance(cell, Figure)]
        spelt = [f"{figure.value:f}" for figure in figures]
        if not spelt or any(figure.unit for figure in figures):
            return False
        whole = all(text.isdigit() for text in spelt) and len({len(text) for text in spelt}) == 1
        years = all(_FIRST_YEAR <= figure.value <= _LAST_YEAR for figure in figures)
        differ = len(set(spelt)) == len(spelt) and len(spelt) >= _FEW
        return whole and (years or (differ and len(spelt[0]) >= _FEW))


@dataclass(frozen=True, slots=True)
class _Raw:
    """A figure as it is spelt. `decimal` is the mark it shows beyond doubt, `group` likewise."""

    negative: bool
    parenthesised: bool
    digits: str
    unit: Unit | None
    decimal: DecimalMark | None = None
    group: DecimalMark | None = None
    open: bool = False


def unit_named(word: str) -> Unit | None:
    """The unit or currency that a word or sign names."""
    key = word_key(word.strip().rstrip("."))
    name = unit_of(key) or (key if key in _CURRENCIES else "")
    return Unit(name, word.strip()) if name else None


def read_column(
    cells: Sequence[str], *, beside: Iterable[str] = (), language: str = "und", unit: bool = False
) -> ColumnReading:
    """The figures of a column.

    Args:
        cells: The texts of its cells.
        beside: The texts of the table's other cells, which may tell its decimal mark.
        language: The document's, `fr`, `en` or `ar`, which may tell it too.
        unit: Whether the column's header names a currency: then `(1 234)` is negative.
    """
    raws = [_raw(cell) for cell in cells]
    found = [raw for raw in raws if raw is not None]
    mark = _decimal_mark(found)
    if mark is None and any(raw.open for raw in found):
        mark = _by_size(found) or _decimal_mark(filter(None, map(_raw, beside)))
        mark = mark or _by_language(found, language)
    ambiguous = any(raw.open for raw in found) and mark is None
    ambiguous = ambiguous or _contradictory(found)
    read: list[Figure | Unreadable] = []
    for raw, cell in zip(raws, cells, strict=True):
        if raw is None or (raw.parenthesised and not (unit or raw.unit)):
            read.append(Unreadable(missing=_is_missing(cell)))
        else:
            read.append(Figure(_value(raw, mark), raw.unit))
    return ColumnReading(tuple(read), ambiguous)


def holds_words(cell: str) -> bool:
    """Whether a cell holds words: no figure, and no sign for a missing one."""
    return bool(cell) and _raw(cell) is None and not _is_missing(cell)


def _is_missing(cell: str) -> bool:
    if len(cell) > _LONGEST_MISSING:
        return False
    text = fold(cell, case=True).text
    return not text or text in _MISSING


@lru_cache(maxsize=131_072)  # a cell is read as its row's, its column's and its table's
def _raw(cell: str) -> _Raw | None:
    if not any(char.isdecimal() for char in cell):
        return None
    match = _CELL.fullmatch(fold(cell).text)
    if match is None or bool(match["open"]) != bool(match["close"]):
        return None
    before = unit_named(match["before"]) if match["before"] else None
    if match["before"] and (before is None or before.name not in _MONEY):
        return None  # "T10" and "Page 3" are no quantities
    after = _unit_after(match["after"], bool(match["gap"])) if match["after"] else None
    if match["after"] and (after is None or before is not None):
        return None
    negative = bool(match["minus"] or match["open"])
    return _shaped(match["figure"], negative, bool(match["open"]), before or after)


def _unit_after(words: str, apart: bool) -> Unit | None:
    """The unit after a figure: any word apart from it, but glued to it only a known one.

    "3D", "12a" and "12 mars" are no quantities.
    """
    first, _, second = words.partition(" ")
    if any(word_key(word.rstrip(".")) in MONTHS for word in (first, second)):
        return None
    known = unit_named(first)
    if not second:
        if known or not apart:
            return known
        return Unit(concept(word_key(words.rstrip("."))), words)
    other = unit_named(second)
    if known and other:  # "1.5 million EUR"
        return Unit(" ".join(sorted((known.name, other.name))), words)
    return Unit(" ".join(word_key(word) for word in words.split()), words) if apart else None


def _shaped(spelt: str, negative: bool, parenthesised: bool, unit: Unit | None) -> _Raw | None:
    """What the marks in a figure say by themselves; None for a date, a version, a code."""
    if sum(char.isdigit() for char in spelt) > _LONGEST_FIGURE:
        return None
    whole = _SPACED.match(spelt)
    core = re.sub(rf"[ '{_GROUP}]", "", whole[0]) + spelt[whole.end() :] if whole else spelt
    core = core.replace(_POINT, ".", 1) if _POINT in core and not set(".,") & set(core) else core
    if re.search(rf"[ '{_POINT}{_GROUP}]", core):
        return None
    decimal, group = _marks(core, certain=whole is not None or _POINT in spelt)
    if decimal is None and group is None:
        shown = [mark for mark in ".," if mark in core]
        if not shown:
            zeros = len(core) > 1 and core[0] == "0"
            return None if zeros else _Raw(negative, parenthesised, core, unit)
        if core.count(shown[0]) == 1 and len(shown) == 1:
            return _Raw(negative, parenthesised, core, unit, open=True)
        return None
    if _POINT in spelt:  # its own mark says nothing of the others
        return _Raw(negative, parenthesised, core, unit)
    return _Raw(negative, parenthesised, core, unit, decimal, group)


def _marks(core: str, *, certain: bool) -> tuple[DecimalMark | None, DecimalMark | None]:
    """The decimal mark and the group mark that a figure shows beyond doubt."""
    marks: tuple[tuple[DecimalMark, DecimalMark], ...] = ((".", ","), (",", "."))
    for mark, other in marks:
        whole, _, decimals = core.rpartition(mark)
        if core.count(mark) == 1 and other in whole and decimals.isdigit():
            return (mark, other) if _GROUPED[other].fullmatch(whole) else (None, None)
        if core.count(mark) > 1 and other not in core:
            return (None, mark) if _GROUPED[mark].fullmatch(core) else (None, None)
        if core.count(mark) == 1 and other not in core:
            long_or_zero = len(whole) > 3 or whole.startswith("0")
            if certain or len(decimals) != 3 or long_or_zero:
                return mark, None
    return None, None


def _decimal_mark(raws: Iterable[_Raw]) -> DecimalMark | None:
    """The decimal mark that the figures show, if all that show one agree."""
    seen: set[DecimalMark] = set()
    for raw in raws:
        if raw.decimal:
            seen.add(raw.decimal)
        elif raw.group:
            seen.add("," if raw.group == "." else ".")
    return seen.pop() if len(seen) == 1 else None


def _by_size(raws: Sequence[_Raw]) -> DecimalMark | None:
    """Figures from a thousand up have a mark, and those below have none: it groups digits."""
    plain = [raw for raw in raws if raw.digits.isdigit()]
    marks = {mark for raw in raws if raw.open for mark in ".," if mark in raw.digits}
    if len(marks) == 1 and plain and all(len(raw.digits) <= 3 for raw in plain):
        return "," if marks == {"."} else "."
    return None


def _by_language(raws: Sequence[_Raw], language: str) -> DecimalMark | None:
    """Groups of three where the language writes them so; a decimal is never guessed."""
    marks = {mark for raw in raws if raw.open for mark in ".," if mark in raw.digits}
    if language == "en" and marks == {","}:
        return "."
    return "," if language == "fr" and marks == {"."} else None


def _contradictory(raws: Sequence[_Raw]) -> bool:
    """Whether one figure shows a decimal point and another a decimal comma, beside open ones."""
    decimals = {raw.decimal for raw in raws if raw.decimal}
    groups = {raw.group for raw in raws if raw.group}
    return any(raw.open for raw in raws) and (len(decimals) > 1 or bool(decimals & groups))


def _value(raw: _Raw, mark: DecimalMark | None) -> Decimal:
    if raw.open:
        plain = raw.digits.replace("," if mark == "." else ".", "").replace(",", ".")
    else:
        text = raw.digits.replace(raw.group, "") if raw.group else raw.digits
        plain = text.replace(",", ".")
    return Decimal(f"-{plain}" if raw.negative else plain)
