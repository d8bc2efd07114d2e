"""Bad input gets one line that says what happened and what to do next, and the right exit code."""

from __future__ import annotations

import json
import os
import socket
from pathlib import Path

import pytest

from cli.conftest import Run
from fakes import FakeGenerator
from rag_source.store.lock import StateLock


def only_line(err: str) -> str:
    """The one line of an error; progress lines apart."""
    lines = [line for line in err.splitlines() if not line.startswith("indexing")]
    assert len(lines) == 1, err
    return lines[0]


def test_empty_folder_is_an_empty_result(run: Run, generator: FakeGenerator) -> None:
    outcome = run("ingest", "--json")
    assert outcome.code == 1
    assert outcome.json["added"] == 0
    assert outcome.json["failed"] == []


def test_missing_folder_is_an_error_that_names_it(
    run: Run, generator: FakeGenerator, corpus: Path
) -> None:
    corpus.rmdir()
    outcome = run("ingest")
    assert outcome.code == 2
    line = only_line(outcome.err)
    assert str(corpus) in line
    assert "RAG_SOURCE_DATA_DIR" in line


def test_no_folder_named_is_an_error(
    run: Run, generator: FakeGenerator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("RAG_SOURCE_DATA_DIR")
    outcome = run("ingest")
    assert outcome.code == 2
    assert "data_dir_missing" in only_line(outcome.err)


def test_zero_byte_file_fails_alone(run: Run, generator: FakeGenerator, corpus: Path) -> None:
    (corpus / "empty.txt").write_bytes(b"")
    (corpus / "good.txt").write_text("The turntable must turn.", encoding="utf-8")
    outcome = run("ingest", "--json")
    assert outcome.code == 0
    assert outcome.json["added"] == 1
    assert [(f["path"], f["code"]) for f in outcome.json["failed"]] == [("empty.txt", "empty")]


def test_binary_named_txt_is_unsupported(run: Run, generator: FakeGenerator, corpus: Path) -> None:
    (corpus / "photo.txt").write_bytes(bytes(range(256)) * 20)
    outcome = run("ingest", "--json")
    assert outcome.code == 1
    assert [(f["path"], f["code"]) for f in outcome.json["failed"]] == [
        ("photo.txt", "unsupported")
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_unreadable_file_fails_alone(run: Run, generator: FakeGenerator, corpus: Path) -> None:
    (corpus / "good.txt").write_text("The turntable must turn.", encoding="utf-8")
    (corpus / "secret.txt").write_text("x", encoding="utf-8")
    (corpus / "secret.txt").chmod(0)
    outcome = run("ingest", "--json")
    assert [(f["path"], f["code"]) for f in outcome.json["failed"]] == [
        ("secret.txt", "unreadable")
    ]


def test_file_that_cannot_be_opened_fails_alone_even_for_root(
    run: Run, generator: FakeGenerator, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (corpus / "good.txt").write_text("The turntable must turn.", encoding="utf-8")
    (corpus / "secret.txt").write_text("x", encoding="utf-8")
    real_open = Path.open

    def refusing(self: Path, *args: object, **kwargs: object) -> object:
        if self.name == "secret.txt":
            raise PermissionError(13, "Permission denied")
        return real_open(self, *args, **kwargs)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", refusing)
    outcome = run("ingest", "--json")
    assert [(f["path"], f["code"]) for f in outcome.json["failed"]] == [
        ("secret.txt", "unreadable")
    ]


@pytest.mark.parametrize("question", ["", "   ", "\n\t"])
def test_empty_question_is_refused(run: Run, generator: FakeGenerator, question: str) -> None:
    outcome = run("ask", question)
    assert outcome.code == 2
    assert "empty_question" in only_line(outcome.err)


def test_question_of_100_000_characters_is_refused(run: Run, generator: FakeGenerator) -> None:
    outcome = run("ask", "mot " * 25_000)
    assert outcome.code == 2
    assert "question_too_long" in only_line(outcome.err)
    assert len(only_line(outcome.err)) < 400


def test_search_for_nothing_is_refused(run: Run, generator: FakeGenerator) -> None:
    outcome = run("search", " ")
    assert outcome.code == 2
    assert "empty_question" in only_line(outcome.err)


def test_unknown_mode_names_the_modes(run: Run, generator: FakeGenerator) -> None:
    outcome = run("search", "x", "--mode", "magic")
    assert outcome.code == 2
    assert "hybrid+rerank" in only_line(outcome.err)


def test_models_not_fetched_says_how_to_fetch(run: Run, corpus: Path) -> None:
    (corpus / "good.txt").write_text("The turntable must turn.", encoding="utf-8")
    outcome = run("ingest")
    assert outcome.code == 2
    line = only_line(outcome.err)
    assert "models_missing" in line
    assert "rag-source models fetch embedded" in line


def test_health_without_models_is_degraded_and_says_what_to_do(run: Run) -> None:
    outcome = run("health", "--json")
    assert outcome.code == 1
    assert outcome.json["status"] == "degraded"
    assert any("models fetch embedded" in problem for problem in outcome.json["problems"])


def test_up_without_models_serves_nothing(run: Run, corpus: Path) -> None:
    outcome = run("up", "--port", "0")
    assert outcome.code == 2
    assert "models_missing" in only_line(outcome.err)


def test_taken_port_is_named(run: Run, corpus: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        outcome = run("up", "--port", str(port))
    assert outcome.code == 2
    line = only_line(outcome.err)
    assert "port_taken" in line
    assert str(port) in line


@pytest.mark.parametrize("token", ["", "  ", "short", "changeme-changeme-changeme", "a" * 32])
def test_up_refuses_a_weak_token(run: Run, monkeypatch: pytest.MonkeyPatch, token: str) -> None:
    monkeypatch.setenv("RAG_SOURCE_API_TOKEN", token)
    outcome = run("up", "--port", "0")
    assert outcome.code == 2
    assert "weak_token" in only_line(outcome.err)


def test_state_in_use_names_the_holder(run: Run, generator: FakeGenerator, state: Path) -> None:
    state.mkdir()
    with StateLock(state, "rag-source ingest"):
        outcome = run("ask", "what?")
    assert outcome.code == 2
    line = only_line(outcome.err)
    assert "state_in_use" in line
    assert str(os.getpid()) in line
    assert "rag-source ingest" in line


def test_state_of_another_corpus_is_not_overwritten(
    run: Run, generator: FakeGenerator, corpus: Path, tmp_path: Path
) -> None:
    (corpus / "good.txt").write_text("The turntable must turn.", encoding="utf-8")
    assert run("ingest").code == 0
    other = tmp_path / "other"
    other.mkdir()
    outcome = run("--data-dir", str(other), "ingest")
    assert outcome.code == 2
    assert "state_of_another_corpus" in only_line(outcome.err)
    assert [d["path"] for d in run("docs", "--json").json["documents"]] == ["good.txt"]


def test_corpus_that_moved_keeps_its_state(
    run: Run, generator: FakeGenerator, corpus: Path, tmp_path: Path
) -> None:
    (corpus / "good.txt").write_text("The turntable must turn.", encoding="utf-8")
    assert run("ingest").code == 0
    moved = tmp_path / "moved"
    corpus.rename(moved)
    outcome = run("--data-dir", str(moved), "ingest", "--json")
    assert outcome.code == 0
    assert outcome.json["unchanged"] == 1


def test_unknown_setting_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_SOURCE_LLM_CONTEXT", "4096")
    outcome = run("docs")
    assert outcome.code == 2
    assert "RAG_SOURCE_LLM_CONTEXT" in only_line(outcome.err)


def test_setting_out_of_its_bounds_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAG_SOURCE_LLM_CONTEXT_SIZE", "12")
    outcome = run("docs")
    assert outcome.code == 2
    assert "RAG_SOURCE_LLM_CONTEXT_SIZE" in only_line(outcome.err)


def test_service_that_does_not_answer_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    monkeypatch.setenv("RAG_SOURCE_API_URL", url)
    outcome = run("docs")
    assert outcome.code == 2
    line = only_line(outcome.err)
    assert url in line
    assert "rag-source up" in line


def test_error_with_json_is_one_json_object_on_stderr(run: Run, generator: FakeGenerator) -> None:
    outcome = run("ask", "", "--json")
    assert outcome.out == ""
    assert set(json.loads(only_line(outcome.err))) == {"code", "message", "hint"}


def test_inspecting_nothing_is_an_error(run: Run, tmp_path: Path) -> None:
    outcome = run("inspect", str(tmp_path / "nowhere.pdf"))
    assert outcome.code == 2
    assert "nowhere.pdf" in only_line(outcome.err)


def test_checks_file_that_is_missing_is_named(run: Run, tmp_path: Path) -> None:
    outcome = run("verify", "--checks", str(tmp_path / "none.jsonl"))
    assert outcome.code == 2
    assert "none.jsonl" in only_line(outcome.err)


def test_checks_file_with_a_bad_line_gives_its_number(run: Run, tmp_path: Path) -> None:
    checks = tmp_path / "checks.jsonl"
    good = {"id": "1", "source": "a b", "quote": "a", "expect": "verified"}
    checks.write_text(json.dumps(good) + "\n{oops\n", encoding="utf-8")
    outcome = run("verify", "--checks", str(checks))
    assert outcome.code == 2
    assert "2" in only_line(outcome.err)


def test_dataset_that_is_none_is_an_error(run: Run, tmp_path: Path) -> None:
    outcome = run("eval", str(tmp_path))
    assert outcome.code == 2
    assert only_line(outcome.err)
