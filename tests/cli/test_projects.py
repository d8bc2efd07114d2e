"""Projects by the command line: each has its own documents and its own index."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.conftest import Run
from documents import make_text
from fakes import FakeGenerator


@pytest.fixture
def second(tmp_path: Path) -> Path:
    folder = tmp_path / "second"
    folder.mkdir()
    make_text(folder / "pump.txt", "The pump lifts water to 40 metres.")
    return folder


def test_each_project_answers_from_its_own_documents(
    run: Run, corpus: Path, second: Path, generator: FakeGenerator
) -> None:
    make_text(corpus / "crane.txt", "The crane lifts 900 kg.")
    assert run("projects", "add", "water", str(second)).code == 0
    assert run("ingest", "--json").json["added"] == 1
    assert run("--project", "water", "ingest", "--json").json["added"] == 1
    both = [run(*options, "docs", "--json").json for options in ((), ("--project", "water"))]
    paths = [[document["path"] for document in found["documents"]] for found in both]
    assert paths == [["crane.txt"], ["pump.txt"]]
    assert run("projects", "list", "--json").json["projects"] == [
        {"name": "water", "folder": str(second)}
    ]


def test_removed_project_leaves_its_documents(
    run: Run, corpus: Path, second: Path, generator: FakeGenerator
) -> None:
    run("projects", "add", "water", str(second))
    run("--project", "water", "ingest")
    assert run("projects", "remove", "water").code == 0
    assert (second / "pump.txt").is_file()
    outcome = run("--project", "water", "docs")
    assert outcome.code == 2
    assert "there is no project 'water'" in outcome.err
    assert len(outcome.err.strip().splitlines()) == 1


def test_project_of_the_environment_is_used(
    run: Run, corpus: Path, second: Path, generator: FakeGenerator, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("projects", "add", "water", str(second))
    monkeypatch.setenv("RAG_SOURCE_PROJECT", "water")
    assert run("ingest", "--json").json["added"] == 1


def test_name_or_folder_that_cannot_be_one_is_a_one_line_error(
    run: Run, corpus: Path, second: Path
) -> None:
    for arguments in (("No Name", str(second)), ("water", str(second / "missing"))):
        outcome = run("projects", "add", *arguments)
        assert outcome.code == 2
        assert len(outcome.err.strip().splitlines()) == 1
