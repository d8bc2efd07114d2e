"""What each command prints, and the exit code it leaves with."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from api.services import TOKEN, FakeService
from cli.conftest import Run
from fakes import FakeGenerator
from rag_source.api.app import create_app
from rag_source.cli import backends
from rag_source.cli.demo import QUESTIONS, samples_dir
from rag_source.domain.errors import BackendUnavailableError, RagError

MANUAL = """# Microwave MW-104

## Error codes

Error code E07 means that the turntable motor is blocked. Remove the obstacle.

Error code E12 means that the door is open.
"""


@pytest.fixture
def indexed(run: Run, generator: FakeGenerator, corpus: Path) -> Run:
    (corpus / "manual.md").write_text(MANUAL, encoding="utf-8")
    assert run("ingest").code == 0
    return run


def test_ingest_reports_the_documented_fields_and_then_finds_nothing_to_do(
    run: Run, generator: FakeGenerator, corpus: Path
) -> None:
    (corpus / "manual.md").write_text(MANUAL, encoding="utf-8")
    first = run("ingest", "--json")
    again = run("ingest", "--json")
    assert list(first.json) == [
        "added",
        "updated",
        "removed",
        "unchanged",
        "failed",
        "chunks",
        "seconds",
    ]
    assert (first.json["added"], first.json["unchanged"]) == (1, 0)
    assert (again.json["added"], again.json["unchanged"], again.json["chunks"]) == (0, 1, 0)


def test_docs_lists_what_was_indexed(indexed: Run) -> None:
    document = indexed("docs", "--json").json["documents"][0]
    assert document["path"] == "manual.md"
    assert document["status"] == "ready"
    assert document["chunks"] >= 1


def test_search_prints_the_documented_fields(indexed: Run) -> None:
    outcome = indexed("search", "error code E07 turntable", "--mode", "hybrid", "--json")
    assert outcome.code == 0
    assert list(outcome.json) == ["query", "mode", "threshold", "results", "timings_ms"]
    assert list(outcome.json["results"][0]) == [
        "rank",
        "score",
        "kept",
        "path",
        "page",
        "section",
        "text",
        "chunk_id",
        "doc_id",
        "ranges",
    ]
    assert "E07" in outcome.json["results"][0]["text"]


@pytest.fixture
def any_score(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reranker is calibrated on the real embedder's narrow cosines, not on a bag of words."""
    monkeypatch.setenv("RAG_SOURCE_SEARCH_THRESHOLD", "0")


@pytest.mark.usefixtures("any_score")
def test_ask_prints_a_verified_citation_of_the_words_it_rests_on(
    indexed: Run, generator: FakeGenerator
) -> None:
    generator.answers.append("Error code E07 means that the turntable motor is blocked [1].")
    outcome = indexed("ask", "What does error code E07 mean for the turntable motor?", "--json")
    assert outcome.code == 0, outcome.out
    citation = outcome.json["citations"][0]
    assert citation["status"] == "verified"
    assert "turntable motor is blocked" in citation["quote"]
    assert outcome.json["badge"]


@pytest.mark.usefixtures("any_score")
def test_citation_offsets_are_those_of_inspect_text(
    indexed: Run, generator: FakeGenerator, corpus: Path
) -> None:
    generator.answers.append("Error code E07 means that the turntable motor is blocked [1].")
    answer = indexed("ask", "What does error code E07 mean for the turntable motor?", "--json").json
    inspected = indexed("inspect", str(corpus / "manual.md"), "--text", "--json").json
    text = inspected["files"][0]["text"]
    citation = answer["citations"][0]
    assert text[citation["start"] : citation["end"]] == citation["quote"]


def test_refusal_exits_1_and_shows_the_near_miss(indexed: Run, generator: FakeGenerator) -> None:
    outcome = indexed("ask", "Qui dirige le musée du Louvre ?", "--json")
    assert outcome.code == 1
    assert outcome.json["refused"] is True
    assert outcome.json["reason"] == "nothing_relevant"
    assert outcome.json["language"] == "fr"
    assert generator.prompts == []


def test_question_to_an_empty_index_is_refused_with_its_reason(
    run: Run, generator: FakeGenerator
) -> None:
    outcome = run("ask", "What is E07?", "--json")
    assert outcome.code == 1
    assert outcome.json["reason"] == "empty_index"


def test_two_states_and_corpora_never_touch_one_another(
    indexed: Run, generator: FakeGenerator, tmp_path: Path
) -> None:
    other, state = tmp_path / "other", tmp_path / "other-state"
    other.mkdir()
    (other / "note.txt").write_text("The harbour opens at six.", encoding="utf-8")
    options = ("--data-dir", str(other), "--state-dir", str(state))
    assert indexed(*options, "ingest").code == 0
    assert [d["path"] for d in indexed(*options, "docs", "--json").json["documents"]] == [
        "note.txt"
    ]
    assert [d["path"] for d in indexed("docs", "--json").json["documents"]] == ["manual.md"]


def test_inspect_shows_the_extraction_without_an_index(run: Run, corpus: Path, state: Path) -> None:
    (corpus / "manual.md").write_text(MANUAL, encoding="utf-8")
    outcome = run("inspect", str(corpus), "--json")
    assert outcome.code == 0
    file = outcome.json["files"][0]
    assert {
        "path",
        "status",
        "code",
        "message",
        "warnings",
        "loader",
        "pages",
        "blocks",
        "tables",
        "chunks",
        "text",
    } <= set(file)
    assert file["path"] == "manual.md"
    assert file["text"] == ""
    assert not state.exists()


def test_verify_counts_the_wrong_verdicts(run: Run, tmp_path: Path) -> None:
    checks = tmp_path / "checks.jsonl"
    lines = [
        {"id": "a", "source": "Pay in 30 days.", "quote": "in 30 days", "expect": "verified"},
        {"id": "b", "source": "Pay in 30 days.", "quote": "in 90 days", "expect": "unverified"},
        {"id": "c", "source": "Pay in 30 days.", "quote": "in 30 days", "expect": "unverified"},
    ]
    checks.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    outcome = run("verify", "--checks", str(checks), "--json")
    assert outcome.code == 1
    assert outcome.json == {
        "total": 3,
        "right": 2,
        "false_verified": 1,
        "false_unverified": 0,
        "wrong": ["c"],
    }


def test_config_masks_the_token(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_SOURCE_API_TOKEN", TOKEN)
    outcome = run("config", "--json")
    assert outcome.code == 0
    assert TOKEN not in outcome.out
    assert outcome.json["llm"]["context_size"] == 4096


async def _remote(service: FakeService, token: str = TOKEN) -> backends.RemoteBackend:
    transport = httpx.ASGITransport(app=create_app(service, token=TOKEN))
    return backends.RemoteBackend("http://localhost", token, transport=transport)


async def test_remote_backend_gives_what_the_service_gives() -> None:
    tokens: list[str] = []
    async with await _remote(FakeService()) as backend:
        answer = await backend.ask("total ?", mode="hybrid", sources=[], on_token=tokens.append)
        found = await backend.search("total ?", mode="hybrid", limit=3, sources=[])
        documents = await backend.documents()
        report = await backend.ingest(force=False)
        health = await backend.health()
    assert answer.citations[0].status == "verified"
    assert tokens == ["Le total"]
    assert found.results[0].path == "bl.pdf"
    assert documents.documents[0].path == "bl.pdf"
    assert report.added == 1
    assert health.status == "degraded"


async def test_wrong_token_is_the_service_s_own_error() -> None:
    async with await _remote(FakeService(), token="wrong") as backend:
        with pytest.raises(RagError) as caught:
            await backend.documents()
    assert caught.value.code == "unauthorized"


async def test_error_in_the_stream_keeps_its_code() -> None:
    service = FakeService(error=BackendUnavailableError("down", hint="wait"))
    async with await _remote(service) as backend:
        with pytest.raises(RagError) as caught:
            await backend.ask("x", mode="hybrid", sources=[], on_token=lambda text: None)
    assert (caught.value.code, caught.value.hint) == ("backend_unavailable", "wait")


def test_demo_asks_in_each_language_and_once_in_vain() -> None:
    assert {language for language, _, unanswered in QUESTIONS if not unanswered} == {
        "fr",
        "en",
        "ar",
    }
    assert sum(unanswered for _, _, unanswered in QUESTIONS) == 1
    assert len(list(samples_dir().iterdir())) >= 12
