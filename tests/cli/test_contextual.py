"""`RAG_SOURCE_CONTEXTUAL`: the answer model situates chunks at ingestion, once, out of sight."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.conftest import Run
from fakes import FakeGenerator

TEXT = "# Returns\n\nGoods may be returned within thirty days, unused and in their box.\n"
WRITTEN = "This section of the shop's terms is about refunds."


@pytest.fixture
def shop(corpus: Path) -> Path:
    path = corpus / "terms.md"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_headings_ask_the_answer_model_nothing(
    run: Run, generator: FakeGenerator, shop: Path
) -> None:
    assert run("ingest").code == 0
    assert generator.prompts == []


def test_written_text_finds_its_chunk_is_not_shown_and_is_paid_for_once(
    run: Run, generator: FakeGenerator, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_SOURCE_CONTEXTUAL", "llm")
    generator.answers = [WRITTEN]
    assert run("ingest").code == 0
    assert run("ingest", "--force").code == 0
    assert len(generator.prompts) == 1

    found = run("search", "refunds", "--mode", "bm25", "--json")
    assert [result["path"] for result in found.json["results"]] == [shop.name]
    assert "refunds" not in found.json["results"][0]["text"]


def test_unknown_way_of_situating_is_refused(
    run: Run, shop: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAG_SOURCE_CONTEXTUAL", "title")
    outcome = run("ingest")
    assert outcome.code == 2
    assert "RAG_SOURCE_CONTEXTUAL" in outcome.err
