"""The JSON forms of searches, answers, documents and events: what the API sends and the CLI prints.

Field names are stable and documented in `docs/cli.md`; a snapshot test guards them.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from rag_source.domain.answers import (
    Answer,
    AnswerDone,
    AnswerEvent,
    AnswerFailed,
    Citation,
    CitationChecked,
    NearMiss,
    SearchDone,
    TokenDelta,
)
from rag_source.domain.catalogue import DocumentRecord
from rag_source.domain.evidence import Evidence, SearchFilter, SearchMode, SearchResult
from rag_source.domain.health import Health
from rag_source.domain.reports import IngestReport

__all__ = [
    "AskRequest",
    "AskResponse",
    "DocumentOut",
    "DocumentsResponse",
    "ErrorBody",
    "HealthResponse",
    "IngestResponse",
    "SearchRequest",
    "SearchResponse",
    "WireEvent",
    "wire_event",
]

SECTION_SEPARATOR = " › "


class _Wire(BaseModel):
    model_config = ConfigDict(frozen=True)


class ErrorBody(_Wire):
    """The one outward form of an error."""

    code: str
    message: str
    hint: str = ""


class _Question(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

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
    """A question."""

    question: str
    mode: SearchMode = "hybrid+rerank"


class SearchHit(_Wire):
    rank: int
    score: float
    kept: bool
    path: str
    page: int | None
    section: str
    text: str
    chunk_id: str


class SearchResponse(_Wire):
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


class BoxOut(_Wire):
    page: int
    x0: float
    y0: float
    x1: float
    y1: float


class TablePlaceOut(_Wire):
    row: int
    columns: list[str]
    sheet: str


class CitationOut(_Wire):
    """One `[n]`. `start` and `end` are code points of the document text (`inspect --text`)."""

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
            boxes=[BoxOut(page=b.page, x0=b.x0, y0=b.y0, x1=b.x1, y1=b.y1) for b in citation.boxes],
            chunk_id=citation.chunk_id,
            reason=citation.reason,
            added=citation.added,
            sentence=citation.sentence,
            occurrences=citation.occurrences,
            table=TablePlaceOut(row=table.row, columns=list(table.columns), sheet=table.sheet)
            if table
            else None,
        )


class NearMissOut(_Wire):
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


class AskResponse(_Wire):
    """A checked answer, or a refusal with its reason."""

    question: str
    answer: str
    refused: bool
    reason: str
    language: str
    citations: list[CitationOut]
    uncited_figures: list[str]
    badge: str
    near_miss: NearMissOut | None
    timings_ms: dict[str, float]

    @classmethod
    def of(cls, answer: Answer) -> AskResponse:
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
            timings_ms=answer.timings_ms,
        )


class DocumentOut(_Wire):
    doc_id: str
    path: str
    status: str
    code: str
    message: str
    warnings: list[str]
    format: str
    title: str
    language: str
    size_bytes: int
    pages: int
    blocks: int
    tables: int
    chunks: int
    indexed_at: str

    @classmethod
    def of(cls, record: DocumentRecord) -> DocumentOut:
        return cls(
            doc_id=record.doc_id,
            path=record.source.path,
            status=record.status,
            code=record.code,
            message=record.message,
            warnings=[warning.message for warning in record.warnings],
            format=record.format,
            title=record.title,
            language=record.language,
            size_bytes=record.source.size_bytes,
            pages=record.pages,
            blocks=record.blocks,
            tables=record.tables,
            chunks=record.chunks,
            indexed_at=record.indexed_at,
        )


class DocumentsResponse(_Wire):
    """Every known file, ordered by path."""

    documents: list[DocumentOut]


class FailedFileOut(_Wire):
    path: str
    code: str
    message: str


class IngestResponse(_Wire):
    """What a pass over the folder did; `failed` lists every file that cannot be searched."""

    added: int
    updated: int
    removed: int
    unchanged: int
    failed: list[FailedFileOut]
    chunks: int
    seconds: float

    @classmethod
    def of(cls, report: IngestReport) -> IngestResponse:
        return cls(
            added=report.added,
            updated=report.updated,
            removed=report.removed,
            unchanged=report.unchanged,
            failed=[
                FailedFileOut(path=file.path, code=file.code, message=file.message)
                for file in report.failed
            ],
            chunks=report.chunks,
            seconds=round(report.seconds, 3),
        )


class HealthResponse(_Wire):
    """`status` is `ok`, or `degraded` with what is missing in `problems`.

    Without a valid token only `status` and `sovereignty` are filled: the rest is nobody's business.
    """

    status: Literal["ok", "degraded"]
    sovereignty: Literal["local"] = "local"
    profile: str | None = None
    documents: int | None = None
    failed_documents: int | None = None
    chunks: int | None = None
    waiting_jobs: int | None = None
    models: dict[str, str] | None = None
    problems: list[str] = Field(default_factory=list)

    @classmethod
    def of(cls, health: Health) -> HealthResponse:
        return cls(
            status=health.status,
            profile=health.profile,
            documents=health.documents,
            failed_documents=health.failed_documents,
            chunks=health.chunks,
            waiting_jobs=health.waiting_jobs,
            models=health.models,
            problems=list(health.problems),
        )


class SearchEvent(_Wire):
    type: Literal["search"] = "search"
    search: SearchResponse


class TokenEvent(_Wire):
    type: Literal["token"] = "token"
    text: str


class CitationEvent(_Wire):
    type: Literal["citation"] = "citation"
    citation: CitationOut


class DoneEvent(_Wire):
    type: Literal["done"] = "done"
    answer: AskResponse


class FailedEvent(_Wire):
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
        case AnswerDone(answer=answer):
            return DoneEvent(answer=AskResponse.of(answer))
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
    )
