"""Models by address: what goes where, what is refused, and what never leaves the machine."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from documents import make_text
from model_service import DIMENSION, SECRET, ModelServiceStandIn, serve_models
from rag_source import model_servers, wiring
from rag_source.application import Application
from rag_source.domain.answers import Answer, AnswerDone
from rag_source.domain.errors import ConfigurationError
from rag_source.ingest import InProcessParser, LoaderRegistry, Parser
from rag_source.model_servers import open_models
from rag_source.settings import (
    CacheSettings,
    DataSettings,
    EmbedSettings,
    LlmSettings,
    RequireSettings,
    Settings,
    StateSettings,
    load_settings,
)
from rag_source.store.projects import ProjectRegistry
from store_inputs import engine_folder


@pytest.fixture
def service() -> Iterator[ModelServiceStandIn]:
    with serve_models() as served:
        yield served


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[Settings]:
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    make_text(corpus / "pump.txt", SECRET)
    with engine_folder() as folder:
        yield Settings(
            data=DataSettings(dir=corpus),
            state=StateSettings(dir=folder / "state"),
            cache=CacheSettings(dir=tmp_path / "cache"),
        )


@pytest.fixture(autouse=True)
def _parses_here(monkeypatch: pytest.MonkeyPatch) -> None:
    @asynccontextmanager
    async def open_here(settings: Settings, *_: object) -> AsyncIterator[Parser]:
        yield InProcessParser(LoaderRegistry())

    monkeypatch.setattr(wiring, "open_parser", open_here)


def _served(settings: Settings, url: str, **more: Any) -> Settings:
    embed = EmbedSettings(url=url, model="an-embedder", dimension=DIMENSION)
    llm = LlmSettings(url=url, model="a-writer", api_key=SecretStr("the-key"))
    return settings.model_copy(update={"embed": embed, "llm": llm, **more})


def _names(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> list[str]:
    """Let every name stand for these addresses; returns the names that are looked up."""
    asked: list[str] = []

    async def lookup(host: str) -> list[str]:
        asked.append(host)
        return list(addresses)

    monkeypatch.setattr(model_servers, "look_up", lookup)
    return asked


@contextmanager
def _connections(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The hosts that are connected to within."""
    hosts: list[str] = []
    connect = socket.socket.connect

    def noted(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6):
            hosts.append(address[0])
        connect(self, address)

    with monkeypatch.context() as patched:
        patched.setattr(socket.socket, "connect", noted)
        yield hosts


async def _ask(application: Application) -> Answer:
    async for event in application.ask("How is the pump of the north hall called?"):
        if isinstance(event, AnswerDone):
            return event.answer
    raise AssertionError("no answer")


async def test_local_services_index_and_answer_and_nothing_goes_anywhere_else(
    settings: Settings, service: ModelServiceStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://192.0.2.1:3128")
    with _connections(monkeypatch) as hosts:
        async with wiring.open_application(
            _served(settings, service.url), purpose="test"
        ) as application:
            application.check_models()
            await application.ingest()
            answer = await _ask(application)
            health = await application.health()
            checks = {check.name: check.ok async for check in application.checks()}
    assert "Bartholomew" in answer.text
    assert answer.citations[0].status == "verified"
    assert answer.sovereignty == health.sovereignty == "local"
    assert health.outflows == ()
    assert health.models == {
        "llm": f"a-writer at 127.0.0.1:{service.port}",
        "embed": f"an-embedder at 127.0.0.1:{service.port}",
    }
    assert not [line for line in health.problems if "models fetch" in line]
    assert {checks["embedder"], checks["answer model"], checks["models"]} == {True}
    assert set(hosts) == {"127.0.0.1"}


async def test_without_an_address_no_text_leaves_the_machine(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = _names(monkeypatch, "203.0.113.7")
    with _connections(monkeypatch) as hosts:
        async with wiring.open_application(settings, purpose="test") as application:
            health = await application.health()
            # The models of the profile are not there: what would be asked is a child of ours.
            for endpoint in application._servers.endpoints:
                assert "ManagedServer" in type(endpoint).__name__
    assert (health.sovereignty, health.outflows) == ("local", ())
    assert asked == []
    assert set(hosts) <= {"127.0.0.1", "::1"}


async def test_external_service_is_told_in_health_and_answer(
    settings: Settings, service: ModelServiceStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The name leads here, and is judged as if it led outside.
    url = f"http://localhost:{service.port}"
    assert _names(monkeypatch, "203.0.113.7") == []
    async with wiring.open_application(_served(settings, url), purpose="test") as application:
        await application.ingest()
        answer = await _ask(application)
        health = await application.health()
    assert health.sovereignty == answer.sovereignty == "external"
    assert {flow.to for flow in health.outflows} == {f"localhost:{service.port}"}
    assert "all text of every document" in " ".join(flow.what for flow in health.outflows)
    assert any("without encryption" in warning for warning in health.warnings)
    assert any("Bartholomew" in body for body in service.received)


@pytest.mark.parametrize("role", ["llm", "embed"])
async def test_external_service_is_refused_where_a_local_one_is_required(
    settings: Settings, service: ModelServiceStandIn, monkeypatch: pytest.MonkeyPatch, role: str
) -> None:
    _names(monkeypatch, "203.0.113.7")
    required = _served(
        settings,
        f"http://localhost:{service.port}",
        require=RequireSettings(local_llm=True),
    )
    other = "embed" if role == "llm" else "llm"
    required = required.model_copy(update={other: getattr(settings, other)})
    with _connections(monkeypatch) as hosts, pytest.raises(ConfigurationError) as caught:
        async with wiring.open_application(required, purpose="test"):
            pass
    assert (caught.value.code, caught.value.exit_code) == ("external_refused", 2)
    assert f"RAG_SOURCE_{role.upper()}_URL" in caught.value.message
    assert "\n" not in caught.value.message + caught.value.hint
    assert hosts == []
    assert service.received == []


async def test_local_service_is_taken_where_a_local_one_is_required(
    settings: Settings, service: ModelServiceStandIn
) -> None:
    required = _served(settings, service.url, require=RequireSettings(local_llm=True))
    async with wiring.open_application(required, purpose="test") as application:
        await application.ingest()
    assert service.received


async def test_name_is_looked_up_once(
    settings: Settings, service: ModelServiceStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = _names(monkeypatch, "127.0.0.1")
    url = f"http://localhost:{service.port}"
    async with wiring.open_application(_served(settings, url), purpose="test") as application:
        await application.ingest()
        await application.health()
    assert asked == ["localhost", "localhost"]  # the answer model's and the embedder's


async def test_situating_by_an_external_model_is_told_as_such(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    _names(monkeypatch, "203.0.113.7")
    served = _served(settings, "https://llm.example.org/v1", contextual="llm")
    async with open_models(served, wiring.model_library(served)) as servers:
        (what,) = [flow.what for flow in servers.outflows if "found for it" in flow.what]
    assert "every passage of every document" in what
    assert servers.warnings == ()


async def test_profile_s_own_embedder_can_be_run_beside_a_service_if_it_is_there(
    settings: Settings, service: ModelServiceStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    served = _served(settings, service.url)
    library = wiring.model_library(served)
    for there in (True, False):
        monkeypatch.setattr(model_servers, "_is_there", lambda *_, there=there: there)
        async with open_models(served, library) as servers:
            assert servers.embedder.model.name == "an-embedder"
            assert len(servers.others) == there
            assert servers.roles == ()


@pytest.mark.parametrize(
    ("variables", "problem"),
    [
        ({"EMBED_URL": "http://llm"}, "needs RAG_SOURCE_EMBED_MODEL"),
        ({"EMBED_URL": "http://llm", "EMBED_MODEL": "m"}, "RAG_SOURCE_EMBED_DIMENSION"),
        ({"EMBED_MODEL": "m"}, "needs RAG_SOURCE_EMBED_URL"),
        ({"LLM_MODEL": "m"}, "needs RAG_SOURCE_LLM_URL"),
        ({"EMBED_LANGUAGES": "English"}, "RAG_SOURCE_EMBED_LANGUAGES"),
    ],
)
def test_half_a_service_is_refused_by_the_names_of_its_settings(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], problem: str
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(f"RAG_SOURCE_{name}", value)
    with pytest.raises(ConfigurationError, match=problem) as caught:
        load_settings()
    assert "\n" not in caught.value.message


def test_project_of_a_service_has_the_installation_s_models(
    settings: Settings, service: ModelServiceStandIn, tmp_path: Path
) -> None:
    folder = tmp_path / "second"
    folder.mkdir()
    served = _served(settings, service.url)
    project = ProjectRegistry(served.projects_dir()).add("two", folder)
    assert served.for_project(project.folder, project.state).embed == served.embed
    assert asyncio.run(_model_of(served)) == "an-embedder"


async def _model_of(settings: Settings) -> str:
    async with open_models(settings, wiring.model_library(settings)) as servers:
        return servers.embedder.model.name
