"""Self-checks: what each says of a part that works, and of one that does not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from fakes import FakeCatalogue, FakeChunkStore, FakeEmbedder, FakeGenerator
from rag_source.checks import SelfChecks
from rag_source.domain.chunks import Vector
from rag_source.domain.errors import BackendUnavailableError, ConfigurationError
from rag_source.domain.evidence import Candidate
from rag_source.retrieval import Bm25Encoder
from store_inputs import make_record


class _Reranker:
    """Scores by the cosine, or as told."""

    threshold = 0.3

    def __init__(self, *scores: float) -> None:
        self.scores = list(scores)

    async def score(self, question: str, candidates: Sequence[Candidate]) -> list[float]:
        return self.scores or [one.dense or 0.0 for one in candidates]


class _LongVectors(FakeEmbedder):
    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        return [[2.0 * x for x in v] for v in await super().embed_passages(texts)]


class _NoEmbedder(FakeEmbedder):
    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        raise BackendUnavailableError("the embedder does not answer", hint="start it")


def _checks(tmp_path: Path) -> SelfChecks:
    return SelfChecks(
        catalogue=FakeCatalogue(),
        store=FakeChunkStore(),
        embedder=FakeEmbedder(),
        sparse=Bm25Encoder(),
        reranker=_Reranker(0.9, 0.1),
        generator=FakeGenerator(context_tokens=4096),
        state=tmp_path,
        context_size=4096,
        check_corpus=lambda: None,
        check_models=lambda: None,
        check_ocr=lambda: None,
    )


async def _failed(checks: SelfChecks) -> dict[str, str]:
    return {check.name: check.remedy async for check in checks.run() if not check.ok}


async def test_parts_that_work_pass(tmp_path: Path) -> None:
    assert await _failed(_checks(tmp_path)) == {}
    details = [check.detail async for check in _checks(tmp_path).run()]
    assert len(details) == 8
    assert all(details)


async def test_embedder_is_given_a_text_of_full_size(tmp_path: Path) -> None:
    embedder = FakeEmbedder(limit_tokens=100)
    async for _ in replace(_checks(tmp_path), embedder=embedder).run():
        pass
    (tokens,) = await embedder.count_tokens(embedder.embedded[:1])
    assert 85 <= tokens <= 100


async def test_vectors_of_another_length_are_found(tmp_path: Path) -> None:
    failed = await _failed(replace(_checks(tmp_path), embedder=_LongVectors()))
    assert "normalises" in failed["embedder"]


async def test_one_part_that_fails_stops_no_other_check(tmp_path: Path) -> None:
    def missing() -> None:
        raise ConfigurationError("no such folder", hint="name another")

    checks = replace(_checks(tmp_path), embedder=_NoEmbedder(), check_corpus=missing)
    assert await _failed(checks) == {
        "folder": "name another",
        "embedder": "start it",
        "reranker": "start it",
    }


@pytest.mark.parametrize("scores", [(0.1, 0.9), (0.9, 0.4), (7.0, 0.1)])
async def test_reranker_that_cannot_tell_is_found(
    tmp_path: Path, scores: tuple[float, float]
) -> None:
    failed = await _failed(replace(_checks(tmp_path), reranker=_Reranker(*scores)))
    assert list(failed) == ["reranker"]


async def test_context_smaller_than_promised_is_found(tmp_path: Path) -> None:
    failed = await _failed(replace(_checks(tmp_path), context_size=8192))
    assert "RAG_SOURCE_LLM_CONTEXT_SIZE" in failed["answer model"]


async def test_record_without_its_chunks_is_found_and_repaired(tmp_path: Path) -> None:
    checks = _checks(tmp_path)
    record = replace(make_record("d"), loader="pdf", loader_version=3)
    checks.catalogue.save(record)
    assert "doctor --repair" in (await _failed(checks))["index"]
    assert await checks.repair() == 1
    kept = checks.catalogue.document("d")
    assert kept is not None
    assert kept.loader_version == 0
