"""What the API says of services outside and of an index on its way to another model."""

from __future__ import annotations

from dataclasses import replace

import httpx

from api.services import TOKEN, FakeService, make_answer
from rag_source.api.app import create_app
from rag_source.api.wire import AskResponse
from rag_source.domain.health import Health, Reembedding
from rag_source.domain.sovereignty import Outflow

AUTH = {"Authorization": f"Bearer {TOKEN}"}


class _Service(FakeService):
    async def health(self) -> Health:
        return replace(
            await super().health(),
            problems=(),
            warnings=("Worth knowing.",),
            outflows=(Outflow(to="llm.example.org", what="each question"),),
            reembedding=Reembedding(former="one", wanted="other", done=2, total=5),
        )


def _client(service: FakeService) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(app=create_app(service, token=TOKEN))
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8321")


async def test_external_service_is_said_to_everybody_and_what_goes_there_to_users_alone() -> None:
    async with _client(_Service()) as http:
        nobody = (await http.get("/health")).json()
        user = (await http.get("/health", headers=AUTH)).json()
    assert nobody["sovereignty"] == user["sovereignty"] == "external"
    assert (nobody["outflows"], nobody["warnings"], nobody["reembedding"]) == ([], [], None)
    assert user["outflows"] == [{"to": "llm.example.org", "what": "each question"}]
    assert user["warnings"] == ["Worth knowing."]


async def test_warnings_and_a_change_of_the_model_degrade_nothing() -> None:
    async with _client(_Service()) as http:
        user = (await http.get("/health", headers=AUTH)).json()
    assert user["status"] == "ok"
    assert user["reembedding"] == {"former": "one", "wanted": "other", "done": 2, "total": 5}


async def test_installation_without_services_is_local() -> None:
    async with _client(FakeService()) as http:
        user = (await http.get("/health", headers=AUTH)).json()
    assert (user["sovereignty"], user["outflows"], user["reembedding"]) == ("local", [], None)


def test_answer_says_whether_text_left_the_machine_for_it() -> None:
    assert AskResponse.of(make_answer()).sovereignty == "local"
    external = replace(make_answer(), sovereignty="external")
    assert AskResponse.of(external).sovereignty == "external"
