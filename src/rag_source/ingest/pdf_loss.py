"""Tell which pages of a PDF lost their content because the file was cut short.

A download that broke off opens after a repair, with all its pages, the last ones empty. Nothing
but the references that lead nowhere tells them from pages that were blank.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from rag_source.ingest.mupdf import mupdf

__all__ = ["lost_pages"]

# Readers look for the end mark in the last 1,024 bytes (PDF 1.7, appendix H, note 18).
_TAIL_BYTES = 1024
_END_MARK = b"%%EOF"
_OBJECT = re.compile(rb"(?<!\d)(\d{1,10})\s+\d{1,5}\s+obj\b")
_REFERENCE = re.compile(r"(?:/(\w+)\s*)?(?<!\d)(\d{1,10})\s+\d{1,5}\s+R\b")
# These lead back up the tree, or to other pages.
_UPWARDS = frozenset({"Parent", "P", "Pg", "Dest", "StructParent", "OC"})


def lost_pages(document: Any, data: bytes) -> list[int]:
    """The numbers, from 1, of pages of which the file no longer holds everything they draw.

    Args:
        document: The open PyMuPDF document.
        data: Its bytes. Where they end as a PDF does nothing was cut off, and nothing is lost.
    """
    if _END_MARK in data[-_TAIL_BYTES:]:
        return []
    losses = _Losses(document, _cut_object(data))
    return [i + 1 for i in range(document.page_count) if losses.touch_page(i)]


def _cut_object(data: bytes) -> int:
    """The number of the object in which the file ends; 0 if it ends between two."""
    begun = [int(match[1]) for match in _OBJECT.finditer(data, data.rfind(b"endobj") + 1)]
    return begun[-1] if begun else 0


class _Losses:
    """Which objects are missing, or need one that is."""

    def __init__(self, document: Any, cut: int) -> None:
        self._document = document
        self._cut = cut
        self._objects: dict[int, str] = {}

    def touch_page(self, index: int) -> bool:
        try:
            page = self._document.page_xref(index)
            drawn = [self._document.xref_get_key(page, key)[1] for key in ("Contents", "Resources")]
        except (mupdf.mupdf.FzErrorBase, RuntimeError, ValueError, IndexError):
            return True
        waiting = [number for value in drawn for number in _references(value)]
        seen: set[int] = set()
        while waiting:
            number = waiting.pop()
            if number in seen:
                continue
            seen.add(number)
            if self._is_missing(number):
                return True
            waiting += _references(self._source(number))
        return False

    def _is_missing(self, number: int) -> bool:
        return number == self._cut or self._source(number) in ("", "null")

    def _source(self, number: int) -> str:
        """What the object says, streams apart; empty if there is none."""
        if number not in self._objects:
            try:
                self._objects[number] = self._document.xref_object(number, compressed=True).strip()
            except (mupdf.mupdf.FzErrorBase, RuntimeError, ValueError, IndexError):
                self._objects[number] = ""
        return self._objects[number]


def _references(source: str) -> Iterator[int]:
    for match in _REFERENCE.finditer(source):
        if match[1] not in _UPWARDS:
            yield int(match[2])
