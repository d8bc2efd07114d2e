"""The XML of a sheet as raw rows, while it is unpacked.

A sheet of 100,000 cells is half a million elements: a tree of them costs four times the time of
these handlers, and all the memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, NamedTuple
from xml.parsers import expat

from rag_source.ingest.office_xml import checked_stream, damaged_part

__all__ = ["RawCell", "RawRow", "SheetStream"]

_CHUNK_BYTES = 65_536
_MARGINS = frozenset("oddHeader oddFooter evenHeader evenFooter firstHeader firstFooter".split())
_TEXTS = _MARGINS | {"v", "f", "t"}
_MOST_MERGES = 100_000


class RawCell(NamedTuple):
    """A cell as stored; what is absent is None. `text` is that of an inline string."""

    reference: str
    style: str
    kind: str
    value: str | None
    formula: str | None
    text: str | None


class RawRow(NamedTuple):
    """A row's attributes and its cells that hold something."""

    attributes: dict[str, str]
    cells: list[RawCell]


class SheetStream:
    """Reads one sheet once; what stands beside the rows is complete when they have ended.

    Attributes:
        columns: The attributes of each run of columns.
        merges: The ranges of merged cells.
        margins: The codes of printed headers and footers.
    """

    def __init__(self) -> None:
        self.columns: list[dict[str, str]] = []
        self.merges: list[str] = []
        self.margins: list[str] = []
        self._rows: list[RawRow] = []
        self._row = RawRow({}, [])
        self._cell: dict[str, str] | None = None
        self._value: str | None = None
        self._formula: str | None = None
        self._text: str | None = None
        self._buffer: list[str] = []
        self._phonetic = False

    def rows(self, stream: IO[bytes], *, part: str, document: str) -> Iterator[RawRow]:
        """The rows in the file's order.

        Raises:
            SourceError: `damaged`.
        """
        checked = checked_stream(stream, part=part, document=document)
        parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._buffer.append
        try:
            while chunk := checked.read(_CHUNK_BYTES):
                parser.Parse(chunk, False)
                yield from self._rows
                self._rows.clear()
            parser.Parse(b"", True)
        except (expat.ExpatError, ValueError, LookupError) as error:
            raise damaged_part(document, part, str(error)) from error

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        name = name.rpartition(":")[2]
        if name == "c":
            self._cell = attributes
            self._value = self._formula = self._text = None
        elif name in _TEXTS:
            self._buffer.clear()
        elif name == "row":
            self._row = RawRow(attributes, [])
        elif name == "rPh":
            self._phonetic = True
        elif name == "col":
            self.columns.append(attributes)
        elif name == "mergeCell" and len(self.merges) < _MOST_MERGES:
            self.merges.append(attributes.get("ref", ""))

    def _end(self, name: str) -> None:
        name = name.rpartition(":")[2]
        if name == "v":
            self._value = "".join(self._buffer)
        elif name == "c":
            self._end_cell()
        elif name == "f":
            self._formula = "".join(self._buffer)
        elif name == "t" and not self._phonetic:
            self._text = (self._text or "") + "".join(self._buffer)
        elif name == "rPh":
            self._phonetic = False
        elif name == "row":
            self._rows.append(self._row)
        elif name in _MARGINS:
            self.margins.append("".join(self._buffer))
        self._buffer.clear()

    def _end_cell(self) -> None:
        """Keep the cell if it holds something; an unnamed empty one still takes its place."""
        cell, self._cell = self._cell, None
        if cell is None:
            return
        empty = self._value is None and self._formula is None and self._text is None
        if empty and "r" in cell:
            return
        self._row.cells.append(
            RawCell(
                cell.get("r", ""),
                cell.get("s", ""),
                cell.get("t", "n"),
                self._value,
                self._formula,
                self._text,
            )
        )
