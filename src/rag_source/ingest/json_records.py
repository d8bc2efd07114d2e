"""JSON values as blocks: tables for lists of like objects, records for the rest.

A record is lines of `path.to.key: value`, so that every value stands beside its name wherever
the record is cut out. Every block, row and cell has its pointer (RFC 6901).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rag_source.domain.documents import PointerPlace
from rag_source.ingest.builder import DocumentBuilder, RowText, one_line

__all__ = ["JsonLimits", "JsonValue", "JsonWriter"]

JsonValue: TypeAlias = "str | list[JsonValue] | dict[str, JsonValue] | None"
"""A parsed value; numbers and booleans are kept as they are spelt in the file."""

# An object of so many values reads as one record; a larger one is a chapter with sections.
_MOST_VALUES_IN_RECORD = 40
_MOST_RECORD_CHARS = 3_000
_MOST_COLUMNS = 30
_MOST_CELL_CHARS = 200
# A list is a table if its objects share their keys: this part of all cells is filled.
_FEWEST_FILLED = 0.6
_NAMING_KEYS = ("title", "name", "titre", "nom", "label", "العنوان", "الاسم", "id")
_LONGEST_NAME = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonLimits:
    """What is read of one file.

    Attributes:
        file_bytes: Larger files are refused; a parsed one takes about ten times as much memory.
        values: Values after which the rest is left out with a warning.
    """

    file_bytes: int = 64 * 1024 * 1024
    values: int = 500_000


class JsonWriter:
    """Appends values to a builder until the limit of values is reached.

    Args:
        builder: Where the blocks go.
        limit_values: How many values may be written.
    """

    def __init__(self, builder: DocumentBuilder, *, limit_values: int) -> None:
        self._builder = builder
        self._left = limit_values
        self.truncated_at = ""

    def append(self, value: JsonValue, pointer: str = "", level: int = 1) -> None:
        """Append a value with all that it holds.

        Args:
            value: Not nested deeper than Python can recurse; the loader sees to that.
            pointer: Where it stands in the file.
            level: The level of the headings that its keys become.
        """
        if self._is_spent(pointer):
            return
        if isinstance(value, dict):
            self._object(value, pointer, level)
        elif isinstance(value, list):
            self._list(value, pointer, level)
        elif value is not None:
            self._left -= 1
            self._builder.text(value, place=PointerPlace(pointer=pointer))

    def record(self, value: JsonValue, pointer: str) -> None:
        """Append a value as one record, however it is nested; several if it is long."""
        self._records(
            [f"{path}: {text}" if path else text for path, text in _lines(value, "")], pointer
        )

    def _records(self, lines: Sequence[str], pointer: str) -> None:
        self._left -= len(lines)
        for start in range(0, len(lines), _MOST_VALUES_IN_RECORD):
            text = "\n".join(lines[start : start + _MOST_VALUES_IN_RECORD])
            self._builder.text(text, "record", PointerPlace(pointer=pointer))

    def table(self, items: Sequence[dict[str, JsonValue]], pointers: Sequence[str]) -> None:
        """Append flat objects as one table; its header is their keys in order of appearance."""
        columns = list(dict.fromkeys(key for item in items for key in item))
        place = PointerPlace(pointer=_parent(pointers[0]))
        rows = [RowText(cells=tuple(columns), header=True, place=place)]
        for item, pointer in zip(items, pointers, strict=True):
            if self._is_spent(pointer):
                break
            self._left -= len(item)
            rows.append(
                RowText(
                    cells=tuple(_scalar(item.get(key)) for key in columns),
                    place=PointerPlace(pointer=pointer),
                    cell_places=tuple(
                        PointerPlace(pointer=f"{pointer}/{_escaped(key)}") for key in columns
                    ),
                )
            )
        self._builder.table(rows, place)

    def _object(self, value: dict[str, JsonValue], pointer: str, level: int) -> None:
        lists = any(_is_list_of_objects(part) for part in value.values())
        if is_record(value) and not (lists and not pointer):
            self.record(value, pointer)
            return
        small = {key: part for key, part in value.items() if _belongs_to_parent(part)}
        if small:
            self.record(small, pointer)
        for key, part in value.items():
            if key not in small:
                self._builder.heading(one_line(key), level, PointerPlace(pointer=pointer))
                self.append(part, f"{pointer}/{_escaped(key)}", level + 1)

    def _list(self, items: list[JsonValue], pointer: str, level: int) -> None:
        pointers = [f"{pointer}/{i}" for i in range(len(items))]
        objects = [item for item in items if isinstance(item, dict)]
        if len(objects) == len(items) and is_tabular(objects):
            self.table(objects, pointers)
        elif all(not isinstance(item, dict | list) for item in items) and items:
            self._records([_scalar(item) for item in items], pointer)
        else:
            for item, own in zip(items, pointers, strict=True):
                self._item(item, own, level)

    def _item(self, item: JsonValue, pointer: str, level: int) -> None:
        if self._is_spent(pointer):
            return
        if isinstance(item, dict | list) and is_record(item):
            self.record(item, pointer)
            return
        name = _name(item)
        if name:
            self._builder.heading(name, level, PointerPlace(pointer=pointer))
        self.append(item, pointer, level + 1 if name else level)

    def _is_spent(self, pointer: str) -> bool:
        if self._left > 0:
            return False
        self.truncated_at = self.truncated_at or pointer
        return True


def is_record(value: JsonValue) -> bool:
    """Whether a value is small enough to be read as one record."""
    chars = 0
    for count, (path, text) in enumerate(_lines(value, ""), 1):
        chars += len(path) + len(text)
        if count > _MOST_VALUES_IN_RECORD or (chars > _MOST_RECORD_CHARS and count > 1):
            return False
    return True


def is_tabular(items: Sequence[dict[str, JsonValue]]) -> bool:
    """Whether objects are rows of one table: flat, short values, mostly the same keys."""
    if len(items) < 2 or not all(items):
        return False
    columns: dict[str, None] = {}
    filled = 0
    for item in items:
        columns.update(dict.fromkeys(item))
        filled += len(item)
        if len(columns) > _MOST_COLUMNS or not all(_is_short(value) for value in item.values()):
            return False
    return filled >= _FEWEST_FILLED * len(columns) * len(items)


def _is_short(value: JsonValue) -> bool:
    if isinstance(value, dict):
        return not value
    if isinstance(value, list) and any(isinstance(part, dict | list) for part in value):
        return False
    return len(_scalar(value)) <= _MOST_CELL_CHARS


def _is_list_of_objects(value: JsonValue) -> bool:
    return isinstance(value, list) and sum(isinstance(part, dict) for part in value) > 1


def _belongs_to_parent(value: JsonValue) -> bool:
    """Whether a value is told in its parent's record, not under a heading of its own."""
    if isinstance(value, dict):
        lists = any(_is_list_of_objects(part) for part in value.values())
        return is_record(value) and not lists
    return not (isinstance(value, list) and any(isinstance(part, dict | list) for part in value))


def _lines(value: JsonValue, path: str) -> Iterator[tuple[str, str]]:
    """The path and text of each value inside; empty ones and nulls say nothing."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from _lines(part, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and any(isinstance(part, dict | list) for part in value):
        for i, part in enumerate(value):
            yield from _lines(part, f"{path}.{i}" if path else str(i))
    else:
        text = _scalar(value)
        if text:
            yield path, text


def _scalar(value: JsonValue) -> str:
    """A value on one line; a list's entries are separated by commas."""
    if isinstance(value, list):
        return ", ".join(_scalar(part) for part in value)
    return "" if value is None or isinstance(value, dict) else value


def _name(value: JsonValue) -> str:
    """What an object is called, by the keys that usually say so."""
    if not isinstance(value, dict):
        return ""
    by_key = {key.casefold(): part for key, part in value.items()}
    for key in _NAMING_KEYS:
        name = by_key.get(key)
        if isinstance(name, str) and 0 < len(name) <= _LONGEST_NAME:
            return one_line(name)
    return ""


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _parent(pointer: str) -> str:
    return pointer.rpartition("/")[0]
