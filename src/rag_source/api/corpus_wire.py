"""The JSON forms of the corpus: its documents, a pass over the folder, and its health.

Field names are stable and documented in `docs/cli.md`; a snapshot test guards them.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Literal

from pydantic import Field

from rag_source.api.wire_base import Wire
from rag_source.domain.catalogue import DocumentRecord
from rag_source.domain.health import Health
from rag_source.domain.reports import IngestReport, Uploaded
from rag_source.domain.sovereignty import Sovereignty

__all__ = [
    "DocumentOut",
    "DocumentsResponse",
    "HealthResponse",
    "IngestResponse",
    "UploadResponse",
]


class DocumentOut(Wire):
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


class DocumentsResponse(Wire):
    """Every known file, ordered by path."""

    documents: list[DocumentOut]


class UploadResponse(Wire):
    """A file that is now in the folder; it is in the list once it has been seen there."""

    path: str
    size_bytes: int
    replaced: bool

    @classmethod
    def of(cls, uploaded: Uploaded) -> UploadResponse:
        return cls(path=uploaded.path, size_bytes=uploaded.size_bytes, replaced=uploaded.replaced)


class FailedFileOut(Wire):
    path: str
    code: str
    message: str


class IngestResponse(Wire):
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


class OutflowOut(Wire):
    """Text that leaves the machine: the host it goes to, and what of it."""

    to: str
    what: str


class ReembeddingOut(Wire):
    """An index on its way to another embedding model, in documents."""

    former: str
    wanted: str
    done: int
    total: int


class HealthResponse(Wire):
    """`status` is `ok`, or `degraded` with what is missing in `problems`.

    `warnings` change no status. `sovereignty` is `external` if `outflows` has anything. Without a
    valid token only `status` and `sovereignty` are filled: the rest is nobody's business.
    """

    status: Literal["ok", "degraded"]
    sovereignty: Sovereignty = "local"
    profile: str | None = None
    documents: int | None = None
    failed_documents: int | None = None
    chunks: int | None = None
    waiting_jobs: int | None = None
    models: dict[str, str] | None = None
    problems: list[str] = Field(default_factory=list)
    warnings: list[str] = Field(default_factory=list)
    outflows: list[OutflowOut] = Field(default_factory=list)
    reembedding: ReembeddingOut | None = None

    @classmethod
    def of(cls, health: Health) -> HealthResponse:
        return cls(
            status=health.status,
            sovereignty=health.sovereignty,
            profile=health.profile,
            documents=health.documents,
            failed_documents=health.failed_documents,
            chunks=health.chunks,
            waiting_jobs=health.waiting_jobs,
            models=health.models,
            problems=list(health.problems),
            warnings=list(health.warnings),
            outflows=[OutflowOut(to=flow.to, what=flow.what) for flow in health.outflows],
            reembedding=ReembeddingOut(**asdict(health.reembedding))
            if health.reembedding
            else None,
        )
