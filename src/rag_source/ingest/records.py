"""What the catalogue is told of a file when its work has come to an end."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import PurePosixPath

from rag_source.domain.catalogue import DocumentRecord
from rag_source.domain.documents import ParsedDocument, ParseWarning, SourceFile
from rag_source.domain.errors import SourceError
from rag_source.domain.jobs import Job
from rag_source.domain.ports import DocumentLoader
from rag_source.domain.reports import FailedFile
from rag_source.ingest.recipes import Recipes
from rag_source.ingest.scan import FoundFile

__all__ = ["failed_record", "failure_of", "nameless", "ready_record", "source_of"]


def ready_record(
    job: Job, parsed: ParsedDocument, *, recipes: Recipes | None, now: datetime
) -> DocumentRecord:
    """The record of a version that is to answer; how many chunks it has is not known yet."""
    record = DocumentRecord(
        doc_id=job.doc_id,
        source=job.source,
        status="ready",
        warnings=parsed.warnings,
        format=_format(job.path),
        loader=parsed.loader,
        loader_version=parsed.loader_version,
        title=parsed.title,
        language=parsed.language,
        pages=len(parsed.pages),
        blocks=len(parsed.blocks),
        tables=sum(block.kind == "table" for block in parsed.blocks),
        chunks=1,
        indexed_at=_timestamp(now),
    )
    return replace(record, recipe=recipes.of(record)) if recipes else record


def failed_record(
    source: SourceFile,
    known: DocumentRecord | None,
    error: SourceError,
    *,
    doc_id: str,
    loader: DocumentLoader | None,
    recipes: Recipes | None,
    now: datetime,
) -> DocumentRecord:
    """The record of a failure; a version that was answering goes on answering, marked `stale`."""
    message = f"{error.message}. {error.hint}" if error.hint else error.message
    if known is not None and known.status == "ready":
        warning = ParseWarning(
            code="stale",
            message=f"The file has changed but could not be read ({error.code}); "
            f"answers come from its version of {known.indexed_at}.",
        )
        others = tuple(w for w in known.warnings if w.code != "stale")
        record = replace(
            known,
            # The new stat, so that the same bad file is not tried again; the old fingerprint,
            # which is that of the chunks.
            source=replace(source, fingerprint=known.source.fingerprint),
            code=error.code,
            message=message,
            warnings=(*others, warning),
        )
    else:
        record = DocumentRecord(
            doc_id=doc_id,
            source=source,
            status="failed",
            code=error.code,
            message=message,
            format=_format(source.path),
            loader=loader.name if loader else "",
            loader_version=loader.version if loader else 0,
            indexed_at=_timestamp(now),
        )
    return replace(record, recipe=recipes.of(record)) if recipes else record


def source_of(file: FoundFile, digest: str) -> SourceFile:
    return SourceFile(
        path=file.path, fingerprint=digest, size_bytes=file.size_bytes, mtime_ns=file.mtime_ns
    )


def failure_of(record: DocumentRecord) -> FailedFile:
    return FailedFile(path=record.source.path, code=record.code, message=record.message)


def nameless(path: str) -> FailedFile:
    """A file that cannot even be examined, or whose name is no text."""
    return FailedFile(
        path=path,
        code="unreadable",
        message=f"{path!r} cannot be examined. Check its permissions and that its name is UTF-8.",
    )


def _format(path: str) -> str:
    return PurePosixPath(path).suffix.lower().removeprefix(".")


def _timestamp(now: datetime) -> str:
    return now.astimezone(UTC).isoformat(timespec="seconds")
