"""PyMuPDF, imported at its first use.

To know which formats there are, a command makes every loader; the library behind this one takes a
second to import, several from a cold disk, and 40 MB, which only a process that opens a PDF should
pay.
"""

from __future__ import annotations

from typing import Any

__all__ = ["mupdf"]


class _Mupdf:
    def __getattr__(self, name: str) -> Any:
        # Lazy: see above.
        import pymupdf

        return getattr(pymupdf, name)


mupdf: Any = _Mupdf()  # It ships no type information.
