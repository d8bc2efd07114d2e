"""`inspect --html` prints the rendition of one file and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.conftest import Run
from documents import make_text
from rag_source.ingest.registry import LoaderRegistry
from rag_source.ingest.rendition import render


def test_html_is_the_rendition_and_nothing_else(run: Run, corpus: Path) -> None:
    path = make_text(corpus / "a.md", "# Délais <b>\n\n- un 😀\n- deux\n")
    loader = LoaderRegistry().loader_for(path.name)
    assert loader is not None

    outcome = run("inspect", str(path), "--html")

    assert outcome.code == 0
    assert outcome.out == render(loader.load(path)).html


def test_html_as_json_is_one_value(run: Run, corpus: Path) -> None:
    path = make_text(corpus / "a.txt", "Words.")

    found = run("inspect", str(path), "--html", "--json").json

    assert list(found) == ["path", "html"]
    assert found["path"] == "a.txt"
    assert "Words.</p>" in found["html"]


@pytest.mark.parametrize("name", [".", "missing.txt"], ids=["folder", "missing"])
def test_html_of_what_is_not_a_file_is_an_error(run: Run, corpus: Path, name: str) -> None:
    outcome = run("inspect", str(corpus / name), "--html")

    assert outcome.code == 2
    assert "error [not_found]" in outcome.err
    assert outcome.out == ""


def test_file_that_cannot_be_read_says_why_and_exits_1(run: Run, corpus: Path) -> None:
    outcome = run("inspect", str(make_text(corpus / "a.txt", "")), "--html")

    assert outcome.code == 1
    assert "error [empty]" in outcome.err
    assert outcome.out == ""
