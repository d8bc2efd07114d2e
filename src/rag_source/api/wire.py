"""The JSON forms of searches, answers and events: what the API sends and the CLI prints.

Field names are stable and documented in `docs/cli.md`; a snapshot test guards them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import Field

from rag_source.api.wire_base import RequestBody, Wire
from rag_source.api.wire_calculation import CalculationOut
from rag_source.domain.answers import (
    Answer,
    AnswerDone,
    AnswerEvent,
    AnswerFailed,
    Box,
    Citation,
    CitationChecked,
    NearMiss,
    SearchDone,
    TokenDelta,
)
from rag_source.domain.chunks import TextRange
from rag_source.domain.evidence import Evidence, SearchFilter, SearchMode, SearchResult
from rag_source.domain.sovereignty import Sovereignty

__all__ = [
    "AskRequest",
    "AskResponse",
    "BoxOut",
    "CitationOut",
    "ErrorBody",
    "SearchRequest",
    "SearchResponse",
    "WireEvent",
    "wire_event",
]

SECTION_SEPARATOR = " › "


class ErrorBody(Wire):
    """The one outward form of an error."""

    code: str
    message: str
    hint: str = ""


class _Question(RequestBody):
    sources: list[str] = Field(
        default_factory=list, description="Only these documents (paths as in `docs`)."
    )

    def filter(self) -> SearchFilter:
        return SearchFilter(paths=tuple(self.sources))


class SearchRequest(_Question):
    """A search."""

    query: str
    mode: SearchMode = "hybrid+rerank"
    limit: int = Field(default=6, ge=1, le=100)


class AskRequest(_Question):
    """A question.

    Its answer is kept in the conversation that is named, or in a new one, unless `keep` is false.
    """

    question: str
    mode: SearchMode = "hybrid+rerank"
    conversation_id: Annotated[str, Field(max_length=64)] | None = None
    keep: bool = True


class SearchHit(Wire):
    rank: int
    score: float
    kept: bool
    path: str
    page: int | None
    section: str
    text: str
    chunk_id: str
    doc_id: str
    ranges: list[tuple[int, int]]


class SearchResponse(Wire):
    """Ranked evidence. `threshold` is null in modes without a reranker."""

    query: str
    mode: SearchMode
    threshold: float | None
    results: list[SearchHit]
    timings_ms: dict[str, float]

    @classmethod
    def of(cls, result: SearchResult) -> SearchResponse:
        return cls(
            query=result.query,
            mode=result.mode,
            threshold=result.threshold,
            results=[_hit(item) for item in result.evidence],
            timings_ms=result.timings_ms,
        )


class BoxOut(Wire):
    """A rectangle in fractions (0 to 1) of the displayed page, origin at the top left."""

    page: int
    x0: float
    y0: float
    x1: float
    y1: float

    @classmethod
    def of(cls, box: Box) -> BoxOut:
        return cls(page=box.page, x0=box.x0, y0=box.y0, x1=box.x1, y1=box.y1)


class TablePlaceOut(Wire):
    row: int
    columns: list[str]
    sheet: str


class CitationOut(Wire):
    """One `[n]`. `start` and `end` are code points of the document text (`inspect --text`).

    `ranges` are the parts of it that the quote is made of: what lies between is not quoted.
    """

    marker: int
    status: Literal["verified", "unverified", "rejected"]
    score: float
    quote: str
    path: str
    page: int | None
    block: str
    start: int
    end: int
    boxes: list[BoxOut]
    chunk_id: str
    reason: str
    added: bool
    sentence: tuple[int, int]
    occurrences: int
    table: TablePlaceOut | None
    doc_id: str
    ranges: list[tuple[int, int]]

    @classmethod
    def of(cls, citation: Citation) -> CitationOut:
        table = citation.table
        return cls(
            marker=citation.marker,
            status=citation.status,
            score=round(citation.score, 1),
            quote=citation.quote,
            path=citation.path,
            page=citation.page,
            block=citation.block,
            start=citation.start,
            end=citation.end,
            boxes=[BoxOut.of(box) for box in citation.boxes],
            chunk_id=citation.chunk_id,
            reason=citation.reason,
            added=citation.added,
            sentence=citation.sentence,
            occurrences=citation.occurrences,
            table=TablePlaceOut(row=table.row, columns=list(table.columns), sheet=table.sheet)
            if table
            else None,
            doc_id=citation.doc_id,
            ranges=_pairs(citation.ranges),
        )


class NearMissOut(Wire):
    path: str
    page: int | None
    section: str
    text: str
    score: float
    threshold: float

    @classmethod
    def of(cls, miss: NearMiss) -> NearMissOut:
        return cls(
            path=miss.path,
            page=miss.page,
            section=SECTION_SEPARATOR.join(miss.section),
            text=miss.text,
            score=miss.score,
            threshold=miss.threshold,
        )


class AskResponse(Wire):
    """A checked answer, or a refusal with its reason.

    `conversation_id` and `answer_id` are empty for an answer that is not kept.
    """

    question: str
    answer: str
    refused: bool
    reason: str
    language: str
    citations: list[CitationOut]
    uncited_figures: list[str]
    badge: str
    near_miss: NearMissOut | None
    calculation: CalculationOut | None = None
    timings_ms: dict[str, float]
    conversation_id: str
    answer_id: str
    sovereignty: Sovereignty = "local"

    @classmethod
    def of_done(cls, event: AnswerDone) -> AskResponse:
        return cls.of(
            event.answer, conversation_id=event.conversation_id, answer_id=event.answer_id
        )

    @classmethod
    def of(cls, answer: Answer, *, conversation_id: str = "", answer_id: str = "") -> AskResponse:
        return cls(
            question=answer.question,
            answer=answer.text,
            refused=answer.refused,
            reason=answer.reason,
            language=answer.language,
            citations=[CitationOut.of(citation) for citation in answer.citations],
            uncited_figures=list(answer.uncited_figures),
            badge=answer.badge,
            near_miss=NearMissOut.of(answer.near_miss) if answer.near_miss else None,
            calculation=CalculationOut.of(answer.calculation) if answer.calculation else None,
            timings_ms=answer.timings_ms,
            conversation_id=conversation_id,
            answer_id=answer_id,
            sovereignty=answer.sovereignty,
        )


class SearchEvent(Wire):
    type: Literal["search"] = "search"
    search: SearchResponse


class TokenEvent(Wire):
    type: Literal["token"] = "token"
    text: str


class CitationEvent(Wire):
    type: Literal["citation"] = "citation"
    citation: CitationOut


class DoneEvent(Wire):
    type: Literal["done"] = "done"
    answer: AskResponse
    conversation_id: str
    answer_id: str


class FailedEvent(Wire):
    type: Literal["failed"] = "failed"
    code: str
    message: str
    hint: str


WireEvent = SearchEvent | TokenEvent | CitationEvent | DoneEvent | FailedEvent


def wire_event(event: AnswerEvent) -> WireEvent:
    """The event as it is sent."""
    match event:
        case SearchDone(search=search):
            return SearchEvent(search=SearchResponse.of(search))
        case TokenDelta(text=text):
            return TokenEvent(text=text)
        case CitationChecked(citation=citation):
            return CitationEvent(citation=CitationOut.of(citation))
        case AnswerDone(conversation_id=conversation_id, answer_id=answer_id):
            return DoneEvent(
                answer=AskResponse.of_done(event),
                conversation_id=conversation_id,
                answer_id=answer_id,
            )
        case AnswerFailed(code=code, message=message, hint=hint):
            return FailedEvent(code=code, message=message, hint=hint)


def _hit(item: Evidence) -> SearchHit:
    return SearchHit(
        rank=item.rank,
        score=round(item.score, 6),
        kept=item.kept,
        path=item.chunk.path,
        page=item.chunk.page,
        section=SECTION_SEPARATOR.join(item.chunk.section),
        text=item.chunk.text,
        chunk_id=item.chunk.chunk_id,
        doc_id=item.chunk.doc_id,
        ranges=_pairs(item.chunk.document_ranges(0, len(item.chunk.text))),
    )


def _pairs(ranges: Iterable[TextRange]) -> list[tuple[int, int]]:
    return [(part.start, part.end) for part in ranges]
