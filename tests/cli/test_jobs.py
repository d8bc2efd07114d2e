"""`rag-source jobs` on a real state: what waits, and what can be done about it."""

from __future__ import annotations

from pathlib import Path

from cli.conftest import Run
from documents import make_text
from fakes import FakeGenerator


def test_nothing_waits_in_an_indexed_folder(
    run: Run, corpus: Path, generator: FakeGenerator
) -> None:
    make_text(corpus / "a.txt", "The crane lifts 900 kg.")
    assert run("ingest").code == 0
    outcome = run("jobs")
    assert outcome.code == 0
    assert outcome.out == "nothing waits to be indexed\n"


def test_paused_queue_holds_files_back_until_it_is_resumed(
    run: Run, corpus: Path, generator: FakeGenerator
) -> None:
    make_text(corpus / "a.txt", "The crane lifts 900 kg.")
    assert run("jobs", "pause").out.startswith("indexing is paused")
    run("ingest")
    waiting = run("jobs", "--json").json
    assert waiting["paused"]
    assert [(job["path"], job["state"]) for job in waiting["jobs"]] == [("a.txt", "queued")]
    assert "indexing is paused" in run("health").out
    run("jobs", "resume")
    assert run("ingest", "--json").json["added"] == 1


def test_unknown_file_is_a_one_line_error(run: Run, corpus: Path, generator: FakeGenerator) -> None:
    outcome = run("jobs", "pause", "unknown.pdf")
    assert outcome.code == 2
    assert "'unknown.pdf' is not in the queue" in outcome.err
    assert len(outcome.err.strip().splitlines()) == 1


def test_unknown_action_is_refused(run: Run, corpus: Path, generator: FakeGenerator) -> None:
    assert run("jobs", "destroy").code == 2
