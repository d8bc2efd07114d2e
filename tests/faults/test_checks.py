"""The checks of the fault tests find what is planted: a check that sees nothing proves nothing."""

from __future__ import annotations

import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from qdrant_edge import FieldCondition, Filter, MatchValue, UpdateOperation

from faults.counting import paid_in
from faults.papers import Papers
from faults.processes import Embedder
from faults.state_checks import faults_of, index_of, opened
from rag_source import wiring
from rag_source.application import Application
from rag_source.ingest import InProcessParser, LoaderRegistry, Parser

pytestmark = [pytest.mark.processes, pytest.mark.timeout(120)]


@pytest.fixture
def papers(tmp_path: Path) -> Papers:
    papers = Papers(tmp_path / "papers", random.Random(3))
    papers.add(2)
    return papers


@asynccontextmanager
async def _open_parser_here(*_: object) -> AsyncIterator[Parser]:
    yield InProcessParser(LoaderRegistry())


@pytest.fixture
async def application(
    tmp_path: Path, papers: Papers, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Application]:
    # Processes for parsers have no part in this.
    monkeypatch.setattr(wiring, "open_parser", _open_parser_here)
    async with opened(papers.root, tmp_path / "state", embedder.url) as application:
        await application.ingest()
        assert await faults_of(application, papers.marks) == []
        yield application


async def test_document_without_chunks_is_found(application: Application, papers: Papers) -> None:
    first, _ = await application.documents()
    await application._engine.store.remove([first.doc_id])
    (fault,) = await faults_of(application, papers.marks)
    assert fault.endswith("ready without chunks")


async def test_missing_chunk_is_found(application: Application, papers: Papers) -> None:
    first, _ = await application.documents()
    of_first = FieldCondition("doc_id", match=MatchValue(first.doc_id))
    chunk = FieldCondition("ordinal", match=MatchValue(0))
    gone = UpdateOperation.delete_points_by_filter(Filter(must=[of_first, chunk]))
    application._engine.store._shard.update(gone)
    assert await faults_of(application, papers.marks)


async def test_chunks_without_a_record_are_found(application: Application, papers: Papers) -> None:
    first, _ = await application.documents()
    application._catalogue.remove([first.doc_id])
    found = await faults_of(application, papers.marks)
    assert f"chunks of the unknown document {first.doc_id}" in found


async def test_parse_of_another_version_is_found(application: Application, papers: Papers) -> None:
    first, second = await application.documents()
    parsed = application._catalogue.parsed(second.doc_id)
    assert parsed is not None
    application._catalogue.save(first, parsed)
    found = await faults_of(application, papers.marks)
    assert any("is not the words of the parse" in fault for fault in found)
    assert any("the parse is not of" in fault for fault in found)


async def test_record_of_another_version_is_found(application: Application, papers: Papers) -> None:
    first, second = await application.documents()
    source = replace(first.source, fingerprint=second.source.fingerprint)
    application._catalogue.save(replace(first, source=source))
    assert any("is not of" in fault for fault in await faults_of(application, papers.marks))


async def test_renamed_chunks_without_their_record_are_found(
    application: Application, papers: Papers
) -> None:
    first, _ = await application.documents()
    await application._engine.store.rename(first.doc_id, "elsewhere.txt")
    assert any("says it is of" in fault for fault in await faults_of(application, papers.marks))


async def test_index_of_another_text_is_another(application: Application, papers: Papers) -> None:
    before = index_of(application, await application.documents())
    assert index_of(application, await application.documents()) == before
    papers.rewrite(papers.paths()[0])
    await application.ingest()
    after = index_of(application, await application.documents())
    assert [path for path in before if before[path] != after[path]] == [papers.paths()[0]]


def test_text_embedded_again_is_excused_once_and_only_after_its_kill(tmp_path: Path) -> None:
    log = tmp_path / "log"
    entries: list[dict[str, object]] = [
        {"batch": "1", "texts": ["a", "b"]},
        {"sent": "1"},
        {"batch": "2", "texts": ["c", "d"]},
        {"sent": "2"},
        {"killed": "service"},
        {"batch": "3", "texts": ["c", "d", "a"]},
        {"sent": "3"},
        {"batch": "4", "texts": ["c", "e"]},
        {"batch": "5", "texts": ["e"]},
    ]
    log.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")
    paid = paid_in(log)
    assert paid.embedded == 10
    assert paid.in_flight == 2
    # `a` was not in the last batch before the kill, `c` had been made again already, and the first
    # request for `e` was never answered.
    assert paid.beyond == ["a", "c"]
