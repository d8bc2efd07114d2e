"""The JSON forms of "where does this sentence come from?"."""

from __future__ import annotations

from pydantic import Field

from rag_source.api.wire import BoxOut
from rag_source.api.wire_base import RequestBody, Wire
from rag_source.domain.answers import Box
from rag_source.domain.chunks import TextRange
from rag_source.domain.evidence import SearchFilter
from rag_source.domain.verification import QuotePlace, Verification, VerificationStatus

__all__ = ["CandidateOut", "VerifyRequest", "VerifyResponse"]


class VerifyRequest(RequestBody):
    """A quote to be found."""

    quote: str
    sources: list[str] = Field(
        default_factory=list,
        max_length=1000,
        description="Only these documents (paths as in `docs`).",
    )

    def filter(self) -> SearchFilter:
        return SearchFilter(paths=tuple(self.sources))


class CandidateOut(Wire):
    """A place that the quote was compared with. `source_words` are the source's own.

    `ranges` are code points of the document text, `score` 0 to 100.
    """

    status: VerificationStatus
    score: float
    reason: str
    path: str
    doc_id: str
    page: int | None
    ranges: list[tuple[int, int]]
    boxes: list[BoxOut]
    source_words: str

    @classmethod
    def of(cls, place: QuotePlace) -> CandidateOut:
        return cls(
            status=place.status,
            score=round(place.score, 1),
            reason=place.reason,
            path=place.path,
            doc_id=place.doc_id,
            page=place.page,
            ranges=_pairs(place.ranges),
            boxes=_boxes(place.boxes),
            source_words=place.words,
        )


class VerifyResponse(CandidateOut):
    """The verdict, its place, and others that were looked at, the best first.

    `not_found` names no place; its candidates are the nearest passages.
    """

    quote: str
    candidates: list[CandidateOut]

    @classmethod
    def of_verification(cls, found: Verification) -> VerifyResponse:
        others = [CandidateOut.of(place) for place in found.others]
        if found.best is not None:
            best = CandidateOut.of(found.best)
            return cls(**dict(best), quote=found.quote, candidates=others)
        return cls(
            status=found.status,
            score=0.0,
            reason="nothing in the documents resembles the quote",
            path="",
            doc_id="",
            page=None,
            ranges=[],
            boxes=[],
            source_words="",
            quote=found.quote,
            candidates=others,
        )


def _pairs(ranges: tuple[TextRange, ...]) -> list[tuple[int, int]]:
    return [(part.start, part.end) for part in ranges]


def _boxes(boxes: tuple[Box, ...]) -> list[BoxOut]:
    return [BoxOut.of(box) for box in boxes]
