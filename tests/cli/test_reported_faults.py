"""Reported faults of files that cannot be used, as their user sees them: a state and a reason."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import Run
from documents import PdfPage, make_pdf, make_text, paragraph
from rag_source import wiring
from rag_source.ingest import InProcessParser, LoaderRegistry, Parser
from rag_source.ingest.loader_tools import LoaderTools
from rag_source.ingest.ocr import OcrEngine, OcrPolicy


@pytest.fixture(autouse=True)
def _without_ocr(monkeypatch: pytest.MonkeyPatch, _parses_in_this_process: None) -> None:
    @asynccontextmanager
    async def open_here(*_: object) -> AsyncIterator[Parser]:
        tools = LoaderTools(ocr=OcrEngine(OcrPolicy(mode="off")))
        yield InProcessParser(LoaderRegistry(tools=tools))

    monkeypatch.setattr(wiring, "open_parser", open_here)


def _listed(run: Run) -> dict[str, dict[str, Any]]:
    """The documents as the API lists them, by path."""
    run("ingest", "--json")
    return {one["path"]: one for one in run("docs", "--json").json["documents"]}


@pytest.mark.usefixtures("generator")
def test_broken_pdfs_fail_with_a_reason_and_the_queue_goes_on(run: Run, corpus: Path) -> None:
    mended = make_pdf(corpus / "mended.pdf", [paragraph(["Mended words"])])
    data = mended.read_bytes()
    at = data.rindex(b"startxref") + len(b"startxref\n")
    mended.write_bytes(data[:at] + b"9" + data[at + 1 :])
    cut = make_pdf(corpus / "cut.pdf", [paragraph([f"Page {i}"]) for i in range(8)])
    cut.write_bytes(cut.read_bytes()[: int(cut.stat().st_size * 0.6)])
    (corpus / "nothing.pdf").touch()
    make_text(corpus / "renamed.pdf", "Just some text.")
    make_text(corpus / "zulu.txt", "The last file of all.")

    listed = _listed(run)

    failed = {path: one["code"] for path, one in listed.items() if one["status"] == "failed"}
    assert failed == {"cut.pdf": "damaged", "nothing.pdf": "empty", "renamed.pdf": "unsupported"}
    assert all(listed[path]["message"] for path in failed)
    assert "structure is damaged" in " ".join(listed["mended.pdf"]["warnings"])
    assert listed["mended.pdf"]["chunks"] == listed["zulu.txt"]["chunks"] == 1


@pytest.mark.usefixtures("generator")
def test_locked_pdf_is_called_encrypted_and_an_owner_password_locks_nothing(
    run: Run, corpus: Path
) -> None:
    make_pdf(corpus / "user.pdf", [paragraph(["Secret"])], user_password="u", owner_password="o")
    make_pdf(corpus / "owner.pdf", [paragraph(["Open words"])], owner_password="o")

    listed = _listed(run)

    locked, open_ = listed["user.pdf"], listed["owner.pdf"]
    assert (locked["status"], locked["code"], locked["chunks"]) == ("failed", "encrypted", 0)
    assert "password" in locked["message"]
    assert (open_["status"], open_["code"], open_["chunks"]) == ("ready", "", 1)
    assert "encrypted" in run("docs").out


@pytest.mark.usefixtures("generator")
def test_nothing_is_ready_without_chunks(run: Run, corpus: Path) -> None:
    make_pdf(corpus / "scan.pdf", [PdfPage(image=True)])
    make_pdf(corpus / "mixed.pdf", [PdfPage(lines=paragraph(["Typed"])), PdfPage(image=True)])
    make_text(corpus / "blank.txt", " \n\t\n")
    make_text(corpus / "rule.md", "---\n\n***\n")
    make_text(corpus / "script.html", "<script>render()</script>")
    make_text(corpus / "commas.csv", ",,\n,,\n")

    listed = _listed(run)

    ready = {path for path, one in listed.items() if one["status"] == "ready"}
    assert ready == {"mixed.pdf"}
    assert {one["code"] for path, one in listed.items() if path not in ready} == {"no_text"}
    assert listed["mixed.pdf"]["chunks"] == 1
    assert listed["mixed.pdf"]["warnings"] == ["These pages hold no text: 2."]
    assert "OCR" in listed["scan.pdf"]["message"]


@pytest.mark.usefixtures("generator")
def test_search_finds_nothing_of_a_file_that_failed(run: Run, corpus: Path) -> None:
    make_pdf(corpus / "user.pdf", [paragraph(["Zanzibar"])], user_password="u")
    make_text(corpus / "open.txt", "Other words entirely.")
    run("ingest")

    assert run("search", "Zanzibar", "--mode", "bm25", "--json").json["results"] == []
