"""Where a sentence comes from: a quote looked for in the whole index, judged as citations are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from rag_source.domain.answers import Box
from rag_source.domain.chunks import TextRange

__all__ = ["QuotePlace", "Verification", "VerificationStatus"]

VerificationStatus: TypeAlias = Literal["verified", "unverified", "not_found"]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuotePlace:
    """A place that the quote was compared with. `words` are the source's own.

    `score` and `reason` are those of a `Quote`. `ranges` are parts of the document text.
    """

    status: Literal["verified", "unverified"]
    score: float
    reason: str
    path: str
    doc_id: str
    page: int | None
    ranges: tuple[TextRange, ...]
    boxes: tuple[Box, ...]
    words: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """The verdict on a quote.

    `verified`: its words stand at `best`, and no fact differs. `unverified`: something like it
    stands there, and the reason says what differs. `not_found`: nothing does, and `best` is None.
    `others` are more places, the best first; after `not_found` the nearest passages.
    """

    quote: str
    status: VerificationStatus
    best: QuotePlace | None
    others: tuple[QuotePlace, ...] = ()
