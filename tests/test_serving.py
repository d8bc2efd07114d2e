"""The whole service over real documents, with fakes for the models alone: from an answer to the
place that proves it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.services import TOKEN
from api.test_app import AUTH, BASE
from documents import PdfText, make_csv, make_pdf, make_text
from fakes import FakeEmbedder, FakeGenerator, WordCounter
from rag_source import wiring
from rag_source.api.app import create_app
from rag_source.api.static import find_ui
from rag_source.api.up import run_service
from rag_source.application import Application
from rag_source.domain.projects import DEFAULT_PROJECT
from rag_source.ingest import InProcessParser, LoaderRegistry, Parser
from rag_source.installation import Installation, open_installation
from rag_source.model_servers import ModelServers
from rag_source.models.library import ModelLibrary
from rag_source.settings import ApiSettings, DataSettings, SearchSettings, Settings, StateSettings

QUESTION = "How long does the guarantee of the pump last?"
ANSWER = "The guarantee of the pump lasts two years from delivery [1]."


@pytest.fixture
def generator() -> FakeGenerator:
    return FakeGenerator()


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, generator: FakeGenerator) -> Settings:
    @asynccontextmanager
    async def open_fakes(settings: Settings, library: ModelLibrary) -> AsyncIterator[ModelServers]:
        yield ModelServers(
            embedder=FakeEmbedder(), generator=generator, counter=WordCounter(), endpoints=()
        )

    @asynccontextmanager
    async def open_here(settings: Settings, *_: object) -> AsyncIterator[Parser]:
        yield InProcessParser(LoaderRegistry())

    monkeypatch.setattr(wiring, "open_models", open_fakes)
    monkeypatch.setattr(wiring, "open_parser", open_here)
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    lines = [
        PdfText(text="The guarantee of the pump lasts two years from delivery.", x=72, y=120),
        PdfText(text="Invoices are paid within thirty days.", x=72, y=400),
    ]
    make_pdf(corpus / "contract.pdf", [[PdfText(text="Cover page.", x=72, y=99)], lines])
    make_csv(corpus / "prices.csv", [["item", "price"], ["pump", "120"], ["valve", "35"]])
    return Settings(
        data=DataSettings(dir=corpus, watch="poll", poll_s=1),
        state=StateSettings(dir=tmp_path / "state"),
        search=SearchSettings(threshold=0.0),
    )


@asynccontextmanager
async def _serving(
    settings: Settings,
) -> AsyncIterator[tuple[httpx.AsyncClient, Installation]]:
    async with open_installation(settings, purpose="test") as installation:
        app = create_app(
            installation.project(DEFAULT_PROJECT),
            token=TOKEN,
            projects=installation,
        )
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(
            transport=transport, base_url=BASE, headers=AUTH, timeout=60
        ) as http:
            yield http, installation


async def _get(http: httpx.AsyncClient, path: str) -> Any:
    response = await http.get(path)
    assert response.status_code == 200, response.text
    return response.json()


async def _post(http: httpx.AsyncClient, path: str, body: object = None) -> Any:
    response = await http.post(path, json=body)
    assert response.status_code == 200, response.text
    return response.json()


async def test_citation_leads_to_the_words_on_the_page(
    settings: Settings, generator: FakeGenerator
) -> None:
    generator.answers.append(ANSWER)
    async with _serving(settings) as (http, _):
        assert (await _post(http, "/v1/ingest"))["added"] == 2
        answer = await _post(http, "/v1/ask", {"question": QUESTION})
        citation = answer["citations"][0]
        assert citation["status"] == "verified", answer
        view = await _get(http, f"/v1/documents/{citation['doc_id']}")
        page = await _get(
            http, f"/v1/documents/{citation['doc_id']}/pages/{citation['page']}/words"
        )
        located = await _post(
            http, "/v1/locate", {"doc_id": citation["doc_id"], "ranges": citation["ranges"]}
        )
    assert (view["path"], view["view"], len(view["pages"])) == ("contract.pdf", "pages", 2)
    assert citation["page"] == 2
    low, high = citation["ranges"][0][0], citation["ranges"][-1][1]
    quoted = [word for word in page["words"] if low <= word["start"] < high]
    assert " ".join(word["text"] for word in quoted) == citation["quote"]
    assert located["boxes"] == citation["boxes"]
    box = located["boxes"][0]
    assert all(box["x0"] - 1e-6 <= w["x0"] and w["x1"] <= box["x1"] + 1e-6 for w in quoted)
    assert located["place"] == "p. 2"


async def test_cell_of_a_table_is_found_and_shown_in_its_rendition(settings: Settings) -> None:
    async with _serving(settings) as (http, _):
        await _post(http, "/v1/ingest")
        found = await _post(http, "/v1/verify", {"quote": "valve | 35"})
        located = await _post(
            http, "/v1/locate", {"doc_id": found["doc_id"], "ranges": found["ranges"]}
        )
        rendition = await http.get(f"/v1/documents/{found['doc_id']}/rendition")
    assert (found["status"], found["path"]) == ("verified", "prices.csv")
    assert located["place"] == "row 3"
    for anchor in located["anchors"]:
        assert f'id="{anchor["element"]}"' in rendition.text


async def test_conversation_is_there_after_a_restart(
    settings: Settings, generator: FakeGenerator
) -> None:
    generator.answers += [ANSWER, ANSWER]
    async with _serving(settings) as (http, _):
        await _post(http, "/v1/ingest")
        first = await _post(http, "/v1/ask", {"question": QUESTION})
        second = await _post(
            http,
            "/v1/ask",
            {"question": QUESTION, "conversation_id": first["conversation_id"]},
        )
    async with _serving(settings) as (http, _):
        found = await _get(http, f"/v1/conversations/{first['conversation_id']}")
    assert [kept["answer_id"] for kept in found["answers"]] == [
        first["answer_id"],
        second["answer_id"],
    ]
    kept = found["answers"][0]
    assert {name: kept[name] for name in first} == first


async def test_uploaded_file_is_indexed_and_then_found(settings: Settings) -> None:
    async with _serving(settings) as (http, installation):
        keeping = asyncio.create_task(installation.keep_index())
        try:
            response = await http.post(
                "/v1/documents?path=notes/gate.txt",
                content=b"The north gate is locked at nine in the evening.",
                headers={"Content-Type": "application/octet-stream"},
            )
            assert response.status_code == 201
            async with asyncio.timeout(60):
                quote = "The north gate is locked at nine"
                while await _verified(http, quote) != "verified":  # noqa: ASYNC110 - no event
                    await asyncio.sleep(0.1)
        finally:
            keeping.cancel()
            with suppress(asyncio.CancelledError):
                await keeping


async def test_service_prints_a_link_that_lets_one_browser_in(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Application, "check_models", lambda self: None)
    monkeypatch.setattr(Application, "warm_up", _nothing)
    said: list[str] = []
    serving = settings.model_copy(update={"api": ApiSettings(port=0, names="docs.example")})
    task = asyncio.create_task(run_service(serving, say=said.append))
    try:
        async with asyncio.timeout(60):
            while not any(line.startswith("open ") for line in said):  # noqa: ASYNC110 - no event
                await asyncio.sleep(0.05)
        link = next(line for line in said if line.startswith("open ")).removeprefix("open ")
        url, code = link.split("/#code=")
        async with httpx.AsyncClient(base_url=url, trust_env=False) as http:
            page = await http.get("/")
            assert (await http.get("/v1/documents")).status_code == 401
            assert (await http.post("/v1/session", json={"code": code})).status_code == 204
            assert (await http.get("/v1/documents")).status_code == 200
            again = await http.post("/v1/session", json={"code": code})
            named = await http.get("/health", headers={"Host": "docs.example"})
            audit = await _get(http, "/v1/audit")
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
    assert page.status_code == (200 if find_ui() else 401)
    assert (again.status_code, named.status_code) == (401, 200)
    names = [(entry["name"], entry["status"]) for entry in audit["entries"]]
    assert ("service.start", 200) in names
    assert names[:1] == [("GET /health", 200)]
    assert ("GET /v1/documents", 200) in names
    assert ("GET -", 401) in names
    assert ("GET -", 200) not in names
    assert code not in " ".join(map(str, audit["entries"]))


async def _nothing(self: object) -> None:
    """No model is started."""


async def _verified(http: httpx.AsyncClient, quote: str) -> str:
    return str((await _post(http, "/v1/verify", {"quote": quote}))["status"])


async def test_project_has_documents_and_conversations_of_its_own(
    settings: Settings, generator: FakeGenerator, tmp_path: Path
) -> None:
    generator.answers.append(ANSWER)
    other = tmp_path / "other"
    other.mkdir()
    make_text(other / "harbour.txt", "The harbour opens at six.")
    async with _serving(settings) as (http, installation):
        await installation.add("port", other)
        await _post(http, "/v1/ingest")
        await _post(http, "/v1/ingest?project=port")
        answer = await _post(http, "/v1/ask", {"question": QUESTION})
        listed = await _get(http, "/v1/documents?project=port")
        conversations = await _get(http, "/v1/conversations?project=port")
        doc_id = answer["citations"][0]["doc_id"]
        elsewhere = await http.get(f"/v1/documents/{doc_id}?project=port")
        file = await http.get(f"/v1/documents/{doc_id}/file?project=port")
    assert [one["path"] for one in listed["documents"]] == ["harbour.txt"]
    assert conversations == []
    assert (elsewhere.status_code, file.status_code) == (404, 404)
