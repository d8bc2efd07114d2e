"""Which settings shaped a document, in a few characters, so that other settings make it anew.

A recipe is kept in the record of each document. It names the settings of chunking for all, those of
OCR only for documents in which OCR had, or would now have, something to say: another language for
OCR must not embed a thousand text files again.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from typing import TypeAlias

from rag_source.domain.catalogue import DocumentRecord, FileState
from rag_source.ingest.chunker import ChunkingPolicy
from rag_source.ingest.ocr import OcrPolicy

__all__ = ["Recipe", "Recipes"]

Recipe: TypeAlias = Callable[[DocumentRecord], str]
"""Names the settings of today for a record."""

# Raised whenever the same settings shape the same parse differently; loaders have versions of their
# own.
_VERSION = 1
# Pages that OCR read or might have read; its own warnings start with `ocr_`.
_NEEDS_OCR = frozenset({"pages_without_text", "text_layer_damaged"})


class Recipes:
    """The settings of today.

    Args:
        chunking: How chunks are cut.
        ocr: How pages are recognised.
        situating: Names how chunks are situated.
        ocr_works: Whether Tesseract and its languages are there; asked only where a document
            missed them, which is made anew once they have been installed.
    """

    def __init__(
        self,
        *,
        chunking: ChunkingPolicy,
        ocr: OcrPolicy,
        situating: str = "",
        ocr_works: Callable[[], bool] = lambda: False,
    ) -> None:
        self._chunks = _digest(_VERSION, chunking, situating)
        self._ocr = _digest(ocr.mode, ocr.languages, ocr.dpi)
        self._is_forced = ocr.mode == "force"
        self._ocr_works = ocr_works

    @property
    def parsing(self) -> str:
        """Names the settings that shape a parse, for parses that are kept by themselves."""
        return self._ocr

    @property
    def chunks(self) -> str:
        """Names the settings that shape chunks out of a parse."""
        return self._chunks

    def of(self, record: DocumentRecord) -> str:
        """The recipe by which the record's document is made by these settings.

        For a new record it is the recipe to keep; one that differs from the recipe kept earlier
        says that the document must be made anew.
        """
        return self._of(record, self._ocr_works)

    def for_all(self) -> Recipe:
        """As `of`, for many records at one moment: whether OCR works is asked once."""
        works = functools.cache(self._ocr_works)
        return lambda record: self._of(record, works)

    def for_states(self) -> Callable[[FileState], str]:
        """As `for_all`, of what a look at the folder knows of a record."""
        works = functools.cache(self._ocr_works)

        @functools.cache
        def named(code: str, warning_codes: str, paginated: bool) -> str:
            return self._named({code, *warning_codes.split()}, code, paginated, works)

        return lambda state: named(state.code, state.warning_codes, state.pages > 0)

    def _of(self, record: DocumentRecord, ocr_works: Callable[[], bool]) -> str:
        codes = {record.code, *(warning.code for warning in record.warnings)}
        return self._named(codes, record.code, record.pages > 0, ocr_works)

    def _named(
        self, codes: set[str], code: str, paginated: bool, ocr_works: Callable[[], bool]
    ) -> str:
        parts = [self._chunks]
        if self._has_to_do_with_ocr(code, codes, paginated):
            parts.append(self._ocr)
        if "ocr_unavailable" in codes and ocr_works():
            parts.append("now")
        return ".".join(parts)

    def _has_to_do_with_ocr(self, code: str, codes: set[str], paginated: bool) -> bool:
        # What failed is cheap to try again, and says nothing of its pages.
        if code:
            return True
        needed = any(one.startswith("ocr_") or one in _NEEDS_OCR for one in codes)
        return paginated and (self._is_forced or needed)


def _digest(*settings: object) -> str:
    return hashlib.sha256(repr(settings).encode()).hexdigest()[:8]
