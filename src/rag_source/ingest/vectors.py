"""Vectors of texts already embedded in this pass."""

from __future__ import annotations

from rag_source.domain.chunks import Vector

__all__ = ["VectorCache"]


class VectorCache:
    """Vectors of one content, kept while its copies follow one another."""

    def __init__(self) -> None:
        self.vectors: dict[str, Vector] = {}
        self._content = ""

    def keep_for(self, content: str) -> None:
        """Forget everything unless the content, a fingerprint, is that of the file before."""
        if content != self._content:
            self.vectors.clear()
            self._content = content
