"""`verify --quote` and `link`."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from api.services import TOKEN, FakeService
from cli.conftest import Run
from fakes import FakeGenerator
from rag_source.api.app import create_app
from rag_source.cli import backends


@pytest.fixture
def indexed(run: Run, generator: FakeGenerator, corpus: Path) -> Run:
    (corpus / "terms.md").write_text(
        "# Terms\n\nPayment is due within 30 days of the invoice date.\n", encoding="utf-8"
    )
    (corpus / "parking.txt").write_text("Visitors park behind the church.", encoding="utf-8")
    assert run("ingest").code == 0
    return run


def test_quote_of_a_document_is_verified_with_its_place(indexed: Run) -> None:
    outcome = indexed("verify", "--quote", "payment is due within 30 days", "--json")
    assert outcome.code == 0, outcome.err
    assert (outcome.json["status"], outcome.json["path"]) == ("verified", "terms.md")
    assert outcome.json["source_words"] == "Payment is due within 30 days"
    assert list(outcome.json) == [
        *("status", "score", "reason", "path", "doc_id", "page", "ranges", "boxes"),
        *("source_words", "quote", "candidates"),
    ]


def test_changed_number_exits_1_and_says_what_differs(indexed: Run) -> None:
    outcome = indexed("verify", "--quote", "Payment is due within 90 days of the invoice date.")
    assert outcome.code == 1
    assert outcome.out.startswith("~ unverified\n  terms.md")
    assert "30" in outcome.out


def test_source_restricts_where_the_quote_may_stand(indexed: Run) -> None:
    quote = "Payment is due within 30 days of the invoice date."
    other = indexed("verify", "--quote", quote, "--source", "parking.txt", "--json")
    unknown = indexed("verify", "--quote", quote, "--source", "nothing.txt")
    assert (other.code, other.json["status"]) == (1, "not_found")
    assert unknown.code == 2
    assert "not_found" in unknown.err


@pytest.mark.parametrize("options", [(), ("--quote", "x", "--checks", "y")], ids=["none", "both"])
def test_one_of_quote_and_checks_is_needed(run: Run, options: tuple[str, ...]) -> None:
    outcome = run("verify", *options)
    assert outcome.code == 2
    assert "bad_options" in outcome.err


def test_empty_quote_is_an_error(indexed: Run) -> None:
    outcome = indexed("verify", "--quote", " ")
    assert outcome.code == 2
    assert "empty_quote" in outcome.err


async def test_running_service_finds_the_same() -> None:
    transport = httpx.ASGITransport(app=create_app(FakeService(), token=TOKEN))
    async with backends.RemoteBackend("http://localhost", TOKEN, transport=transport) as backend:
        found = await backend.verify("3 240 unités", sources=[])
        code = await backend.new_code()
    assert (found.status, found.path) == ("verified", "bl.pdf")
    assert code.expires_in_s == 600


def test_link_needs_a_running_service(run: Run) -> None:
    outcome = run("link")
    assert outcome.code == 2
    assert "rag-source up" in outcome.err
