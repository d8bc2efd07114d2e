"""Tell the items of a table from the rows that sum them up.

A total counted as an item doubles the sum, and an item taken for a total is missing from it. So a
row is a summary by its words, or by its figures where its words leave a doubt; where both do, it
is `doubtful`, and nothing is computed from its table.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Literal, TypeAlias

from rag_source.domain.folding import fold
from rag_source.generation.aggregate.figures import Figure, holds_words, read_column
from rag_source.generation.words import words_of

__all__ = ["RowKind", "kinds_of_rows"]

RowKind: TypeAlias = Literal["item", "summary", "title", "doubtful"]

_TOTAL = r"(?:grand |sous[- ]?|sub[- ]?)?(?:total|totaux|totals|totale)"
_LABEL = re.compile(
    rf"(?:{_TOTAL}|somme|sum|solde|moyenne|average|mean|maximum|minimum|net a payer|"
    r"montant a payer|montant total|amount due|balance due|balance|tva|vat|tax|taxes|"
    r"a reporter|report|carried forward|brought forward|"
    r"(?:ال)?مجموع|(?:ال)?اجمالي|(?:ال)?متوسط|الصافي|(?:ال)?ضريبة)(?!\w)"
    rf"|.*(?<!\w){_TOTAL}(?!\w)|.*(?<!\w)(?:ال)?(?:مجموع|اجمالي)(?!\w)"
)
_SURE = frozenset(
    "total totaux totals totale grand sous sub subtotal general generale ht ttc hors taxe taxes "
    "toutes comprises tax vat tva net a payer due of de du des la le les and et amount montant "
    "montants somme sum overall final all solde balance partiel partielle page reporter forward "
    "carried brought average moyenne mean maximum minimum report "
    "المجموع مجموع الاجمالي اجمالي الكلي العام الجزيي المبلغ الصافي للدفع الضريبة ضريبة على القيمة "
    "المضافة متوسط المتوسط".split()
)
_LONG = 5  # words; a longer label describes a thing


def kinds_of_rows(rows: Sequence[Sequence[str]], width: int, language: str) -> list[RowKind]:
    """What each row of a table's body is.

    Args:
        rows: The texts of the cells, row by row; rows may be of unlike length.
        width: How many columns the header names.
        language: The document's, to read its figures.
    """
    labels = [[cell for cell in row if holds_words(cell)] for row in rows]
    usual = sorted(map(len, labels))[len(labels) // 2] if labels else 0
    kinds = [_kind(row, labels[i], usual, width) for i, row in enumerate(rows)]
    if "doubtful" in kinds:
        _settle(kinds, labels, _values(rows, width, language))
    return kinds


def _settle(
    kinds: list[RowKind],
    labels: Sequence[Sequence[str]],
    values: Sequence[Sequence[Decimal | None]],
) -> None:
    """Settle doubtful rows by their figures: a sum of items above is a summary."""
    pending: list[int] = []  # items since the last summary
    for i, kind in enumerate(kinds):
        if kind == "doubtful":
            everything = [j for j, known in enumerate(kinds[:i]) if known == "item"]
            if _adds_up(values, i, pending) or _adds_up(values, i, everything):
                kinds[i] = "summary"
            elif labels[i] and _describes(labels[i][0]):
                kinds[i] = "item"
        if kinds[i] == "item":
            pending.append(i)
        elif kinds[i] == "summary":
            pending.clear()


def _kind(row: Sequence[str], labels: Sequence[str], usual: int, width: int) -> RowKind:
    """What the words of a row say it is."""
    if not labels:
        # Among rows with words, one without, and nothing in its first cell, is a nameless total.
        return "doubtful" if usual and not (row and row[0]) else "item"
    first = fold(labels[0], case=True, accents=True).text
    if _LABEL.match(first):
        words = [word.key for word in words_of(first) if word.kind == "word"]
        sure = all(word in _SURE for word in words) or len(labels) < usual
        return "summary" if sure else "doubtful"
    alone = sum(bool(cell) for cell in row) == 1
    return "title" if alone and width > 2 else "item"


def _describes(label: str) -> bool:
    """Whether a label with a total's word in it names a thing: "Huile Total 5 L"."""
    words = words_of(fold(label).text)
    return len(words) >= _LONG or any(word.kind == "number" for word in words)


def _values(rows: Sequence[Sequence[str]], width: int, language: str) -> list[list[Decimal | None]]:
    """The figures of the rows, column by column."""
    everything = [cell for row in rows for cell in row]
    columns = []
    for index in range(width):
        cells = [row[index] if index < len(row) else "" for row in rows]
        reading = read_column(cells, beside=everything, language=language)
        columns.append([c.value if isinstance(c, Figure) else None for c in reading.cells])
    return columns


def _adds_up(values: Sequence[Sequence[Decimal | None]], row: int, items: Sequence[int]) -> bool:
    """Whether a figure of a row is the sum of two items or more in its column."""
    for column in values:
        above = [value for i in items if (value := column[i]) is not None]
        if len(above) > 1 and column[row] is not None and sum(above) == column[row]:
            return True
    return False
