"""The tables of a document as typed rows: named columns, items, and the rows that sum them up."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rag_source.domain.documents import Block, ParsedDocument, TableRow
from rag_source.domain.folding import fold
from rag_source.generation.aggregate.figures import (
    ColumnReading,
    Unit,
    read_column,
    unit_named,
)
from rag_source.generation.aggregate.lexicon import MEASURES, base, concept
from rag_source.generation.aggregate.rows import kinds_of_rows
from rag_source.generation.terms import STOP_WORDS
from rag_source.generation.words import word_key, words_of

__all__ = ["Column", "Row", "Table", "names_of", "tables_of"]

_IN_BRACKETS = re.compile(r"[(\[]\s*([^()\[\]]{1,24})\s*[)\]]")
_QUALIFIER = re.compile(r"[A-Z]{2,4}")  # HT, TTC, USD
_UNIT_PRICE = re.compile(r"(?<!\w)p\.?\s?u\.?(?!\w)", re.IGNORECASE)
_COUNTING = frozenset(("nombre", "number", "nb", "nbre", "no", base("عدد")))
_OWN_WORD = 2  # letters of a unit that is named beside the name, not in brackets: "Montant DH"
_NO_UNITS = frozenset({"year", "minute"})  # "an" and "mn" beside a name are words


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """A column: its header path as spelt, the concepts in it, and the unit the header names.

    `qualifier` is a mark in brackets that is no unit but tells two columns apart, such as `HT`.
    """

    index: int
    name: str
    concepts: frozenset[str]
    unit: Unit | None = None
    qualifier: str = ""

    @property
    def key(self) -> tuple[frozenset[str], str]:
        """What columns of two tables must share to be one column."""
        return self.concepts, self.qualifier


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A row of a table: `text[start:end]` of its document, and the texts of its cells."""

    start: int
    end: int
    cells: tuple[str, ...]

    def cell(self, column: Column) -> str:
        """The text in a column, empty where the row is too short."""
        return self.cells[column.index] if column.index < len(self.cells) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table. `items` are its rows without headers, titles, repeated headers and summary rows.

    `sound`: every item has a cell for every column, so that a cell is known to be its column's,
    and no row leaves a doubt whether it is an item or sums others up.
    `readings` are the columns' figures, over the items, by the column's index. `figures` are the
    columns that may be computed with, `words` the others: words, dates, numbers that are names.
    """

    doc_id: str
    path: str
    language: str
    block: Block
    columns: tuple[Column, ...]
    items: tuple[Row, ...]
    summaries: tuple[Row, ...]
    sound: bool
    readings: dict[int, ColumnReading]
    figures: tuple[Column, ...]
    words: tuple[Column, ...]

    @property
    def signature(self) -> frozenset[tuple[frozenset[str], str]]:
        """What tables of one kind share."""
        return frozenset(column.key for column in self.columns)

    def reading(self, column: Column) -> ColumnReading:
        """The figures of a column, one for each item."""
        return self.readings[column.index]


def names_of(text: str) -> frozenset[str]:
    """The concepts that a name or title speaks of."""
    spelt = fold(_UNIT_PRICE.sub(" prix unitaire ", text)).text
    return frozenset(
        concept(word.key)
        for word in words_of(spelt)
        if word.kind == "number" or (word.kind == "word" and word.key not in STOP_WORDS)
    )


def tables_of(doc_id: str, path: str, parsed: ParsedDocument) -> list[Table]:
    """The tables of a document that name their columns, in order.

    A table without names may be the rest of one with as many columns, cut by a page: then that
    one is not sound.
    """
    named = [block for block in parsed.blocks if any(row.header for row in block.rows)]
    nameless = [block for block in parsed.blocks if block.rows and block not in named]
    widths = {len(row.cells) for block in nameless for row in block.rows}
    tables = [_table(doc_id, path, block, parsed) for block in named]
    return [
        replace(table, sound=table.sound and len(table.columns) not in widths)
        for table in tables
        if table is not None
    ]


def _table(doc_id: str, path: str, block: Block, parsed: ParsedDocument) -> Table | None:
    text = parsed.text
    headers = [_row(row, text) for row in block.rows if row.header]
    columns = _columns([row.cells for row in headers])
    titles = {_plain(row.cells) for row in headers}
    body = [_row(row, text) for row in block.rows if not row.header]
    body = [row for row in body if _plain(row.cells) not in titles]
    kinds = kinds_of_rows([row.cells for row in body], len(columns), parsed.language)
    items = [row for row, kind in zip(body, kinds, strict=True) if kind in ("item", "doubtful")]
    summaries = [row for row, kind in zip(body, kinds, strict=True) if kind == "summary"]
    if not items:
        return None
    readings = _readings(columns, items, parsed.language)
    delimited = all(row.place.kind == "row" for row in block.rows)
    widths = {len(row.cells) for row in items}
    return Table(
        doc_id=doc_id,
        path=path,
        language=parsed.language,
        block=block,
        columns=columns,
        items=tuple(items),
        summaries=tuple(summaries),
        sound="doubtful" not in kinds
        and max(widths) <= len(columns)
        and (delimited or widths == {len(columns)}),
        readings=readings,
        figures=tuple(column for column in columns if _counts(column, readings[column.index])),
        words=tuple(column for column in columns if not _counts(column, readings[column.index])),
    )


def _counts(column: Column, reading: ColumnReading) -> bool:
    """Whether a column's figures are quantities."""
    measures = bool(column.concepts & MEASURES) or column.unit is not None
    return reading.holds_figures and (measures or not reading.identifies)


def _row(row: TableRow, text: str) -> Row:
    cells = tuple(text[cell.start : cell.end].strip() for cell in row.cells)
    return Row(start=row.start, end=row.end, cells=cells)


def _plain(cells: Sequence[str]) -> tuple[str, ...]:
    return tuple(fold(cell, case=True).text for cell in cells)


def _columns(headers: Sequence[Sequence[str]]) -> tuple[Column, ...]:
    paths: list[list[str]] = []
    for row in headers:
        for index, name in enumerate(row):
            paths += [[] for _ in range(index + 1 - len(paths))]
            if name and name not in paths[index]:
                paths[index].append(name)
    return tuple(_column(index, " / ".join(path)) for index, path in enumerate(paths))


def _column(index: int, name: str) -> Column:
    inside = " ".join(match[1] for match in _IN_BRACKETS.finditer(name))
    bare = _IN_BRACKETS.sub(" ", name)
    words = re.split(r"[\s/,;.]+", inside) if inside else []
    units = [unit for word in words if (unit := unit_named(word))]
    marks = [word for word in words if word and not unit_named(word)]
    qualifier = " ".join(word.casefold() for word in marks if _QUALIFIER.fullmatch(word))
    rest = " ".join(word for word in marks if not _QUALIFIER.fullmatch(word))
    concepts = names_of(f"{bare} {rest}")
    concepts = concepts - _COUNTING or concepts
    if not units:
        units = _units_beside(bare)
        named = {concept(word_key(unit.spelt)) for unit in units}
        concepts = concepts - named or concepts
    return Column(
        index=index, name=name, concepts=concepts, unit=_joined(units), qualifier=qualifier
    )


def _joined(units: Sequence[Unit]) -> Unit | None:
    """One unit of those named together, such as "millions" and "EUR"."""
    if not units:
        return None
    return Unit(
        " ".join(sorted(unit.name for unit in units)), " ".join(unit.spelt for unit in units)
    )


def _units_beside(bare: str) -> list[Unit]:
    """Units named beside a column's name, such as `Montant DH`; never the name itself."""
    words = [word for word in re.split(r"[\s_/.,;:]+", bare) if word]
    named = [unit for word in words[1:] if (unit := unit_named(word))]
    return [
        unit
        for unit in named
        if unit.is_money or (len(unit.spelt) == _OWN_WORD and unit.name not in _NO_UNITS)
    ]


def _readings(
    columns: Sequence[Column], items: Sequence[Row], language: str
) -> dict[int, ColumnReading]:
    everything = [cell for row in items for cell in row.cells]
    return {
        column.index: read_column(
            [row.cell(column) for row in items],
            beside=everything,
            language=language,
            unit=column.unit is not None and column.unit.is_money,
        )
        for column in columns
    }
