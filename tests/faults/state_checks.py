"""Look at a state as the application sees it, and say everything that must not be."""

from __future__ import annotations

import sqlite3
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any
from unittest.mock import patch

from qdrant_edge import ScrollRequest

from faults.papers import MARK
from faults.stand_in import open_stand_ins
from rag_source import wiring
from rag_source.application import Application
from rag_source.domain.catalogue import DocumentRecord
from rag_source.domain.chunks import Chunk
from rag_source.domain.documents import ParsedDocument
from rag_source.settings import load_settings
from rag_source.store.codec import chunk_from_payload

__all__ = ["Stored", "faults_of", "index_of", "left_over", "opened", "stored"]

Stored = dict[str, list[tuple[dict[str, Any], dict[str, Any]]]]
"""Payload and vectors of every point that the engine has, seen by searches or not, by document."""


@asynccontextmanager
async def opened(
    corpus: Path, state: Path, embedder_url: str, *, read_s: float = 30.0
) -> AsyncIterator[Application]:
    """The real application on a state, with the stand-in for its models."""
    settings = load_settings(
        data={"dir": corpus}, state={"dir": state}, cache={"dir": corpus.parent / "cache"}
    )
    with patch.object(wiring, "open_models", open_stand_ins(embedder_url, read_s=read_s)):
        async with wiring.open_application(settings, purpose="a look by the tests") as application:
            yield application


def stored(application: Application) -> Stored:
    """What the engine has."""
    store = application._engine.store
    limit = store._points() + 1
    records, _ = store._shard.scroll(
        ScrollRequest(limit=limit, with_payload=True, with_vector=True)
    )
    found: Stored = {}
    for record in records:
        payload = dict(record.payload or {})
        vectors: Any = record.vector
        found.setdefault(payload["doc_id"], []).append((payload, dict(vectors)))
    for points in found.values():
        points.sort(key=lambda point: (point[0]["ordinal"], point[0]["generation"]))
    return found


async def faults_of(application: Application, marks: Mapping[str, str]) -> list[str]:
    """Everything about a state, just opened, that must never be, whatever ended the last process.

    Args:
        application: An application on the state.
        marks: The mark that every sentence of a file has, by the file's fingerprint.
    """
    records = {record.doc_id: record for record in await application.documents()}
    points = stored(application)
    found = [f"chunks of the unknown document {key}" for key in points if key not in records]
    if application._catalogue.staged():
        found.append("a version is staged")
    for doc_id, record in records.items():
        path = record.source.path
        mine = points.get(doc_id, [])
        if record.status == "ready":
            parsed = application._catalogue.parsed(doc_id)
            mark = marks.get(record.source.fingerprint, "no text of ours")
            found += [f"{path}: {fault}" for fault in _document_faults(record, parsed, mine, mark)]
        elif mine:
            found.append(f"{path}: {record.status}, and has chunks")
    return found + await _search_faults(application, records, marks)


def _document_faults(
    record: DocumentRecord,
    parsed: ParsedDocument | None,
    points: list[tuple[dict[str, Any], dict[str, Any]]],
    mark: str,
) -> list[str]:
    if not points:
        return ["ready without chunks"]
    if parsed is None:
        return ["ready without a parse"]
    found: list[str] = []
    if len({payload["generation"] for payload, _ in points}) > 1:
        found.append("chunks of two versions")
    if len(points) != record.chunks:
        found.append(f"{len(points)} chunks of {record.chunks}")
    if set(MARK.findall(parsed.text)) != {mark}:
        found.append(f"the parse is not of {mark}")
    for payload, _ in points:
        chunk = chunk_from_payload(payload)
        faults = _chunk_faults(chunk, parsed, record.source.path, mark)
        found += [f"chunk {chunk.ordinal} {fault}" for fault in faults]
    return found


def _chunk_faults(chunk: Chunk, parsed: ParsedDocument, path: str, mark: str) -> list[str]:
    found: list[str] = []
    if set(MARK.findall(chunk.text)) != {mark}:
        found.append(f"is not of {mark}")
    if chunk.path != path:
        found.append(f"says it is of {chunk.path}")
    if not any(block.id == chunk.block_id for block in parsed.blocks):
        found.append("points at no block")
    for segment in chunk.segments:
        length = segment.end - segment.start
        there = parsed.text[segment.document_start : segment.document_start + length]
        if chunk.text[segment.start : segment.end] != there:
            found.append("is not the words of the parse")
    return found


async def _search_faults(
    application: Application, records: Mapping[str, DocumentRecord], marks: Mapping[str, str]
) -> list[str]:
    """Searches answer from documents that are known, and with the texts that are theirs."""
    found: list[str] = []
    ready = {r.source.path: r for r in records.values() if r.status == "ready"}
    current = {marks.get(record.source.fingerprint, "") for record in ready.values()}
    asked = sorted(set(marks.values()) - current)[:3] + sorted(current)[:2]
    for mark in asked:
        result = await application.search(f"line of {mark}", mode="hybrid+rerank", limit=6)
        for evidence in result.evidence:
            record = ready.get(evidence.chunk.path)
            if record is None:
                found.append(f"a search finds {evidence.chunk.path}, which is not ready")
            elif marks.get(record.source.fingerprint, "?") not in evidence.chunk.text:
                found.append(f"a search finds another text of {evidence.chunk.path}")
            if mark not in current and mark in evidence.chunk.text:
                found.append(f"a search finds {mark}, which is gone")
    return found


def index_of(application: Application, records: list[DocumentRecord]) -> dict[str, Any]:
    """The whole index by path, ids and times left out: equal for equal corpora."""
    points = stored(application)
    index: dict[str, Any] = {}
    for record in records:
        source = record.source
        parsed = application._catalogue.parsed(record.doc_id)
        index[source.path] = (
            *(source.fingerprint, record.status, record.code, record.chunks, record.title),
            *(record.language, record.recipe, record.pages, record.blocks, record.tables),
            parsed,
            [(_without_ids(payload), _numbers(vs)) for payload, vs in points[record.doc_id]],
        )
    return index


def _without_ids(payload: dict[str, Any]) -> dict[str, Any]:
    ids = ("doc_id", "chunk_id", "generation")
    return {key: value for key, value in payload.items() if key not in ids}


def _numbers(vectors: dict[str, Any]) -> dict[str, Any]:
    """Vectors as plain numbers: the engine's own types compare by identity."""
    return {
        name: sorted(zip(vector.indices, vector.values, strict=True))
        if hasattr(vector, "indices")
        else vector
        for name, vector in vectors.items()
    }


def left_over(state: Path) -> list[str]:
    """What a finished queue must not leave in the catalogue's file."""
    with closing(sqlite3.connect(f"file:{state / 'catalogue.db'}?mode=ro", uri=True)) as database:
        counts = {
            "jobs": "SELECT count(*) FROM jobs",
            "spooled vectors": "SELECT count(*) FROM spooled_vectors",
            "staged versions": "SELECT count(*) FROM staged",
            "spooled parses": "SELECT count(*) FROM versions WHERE doc_id GLOB 'spool:*'",
            "versions of no document": "SELECT count(*) FROM versions "
            "WHERE version_id NOT IN (SELECT version_id FROM documents)",
        }
        found = {what: database.execute(sql).fetchone()[0] for what, sql in counts.items()}
    return [f"{count} {what}" for what, count in found.items() if count]
