"""Commands and models by address: what is refused, and what is not shown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.conftest import Run
from documents import make_text
from model_service import SECRET, ModelServiceStandIn, serve_models
from rag_source import model_servers
from rag_source.settings import load_settings


@pytest.fixture
def service() -> Iterator[ModelServiceStandIn]:
    with serve_models() as served:
        yield served


@pytest.mark.parametrize("command", ["ingest", "ask", "search", "health", "doctor", "up"])
def test_every_command_that_would_use_an_external_model_ends_with_2_and_sends_nothing(
    run: Run,
    corpus: Path,
    service: ModelServiceStandIn,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
) -> None:
    make_text(corpus / "pump.txt", SECRET)

    async def outside(host: str) -> list[str]:
        return ["203.0.113.7"]

    monkeypatch.setattr(model_servers, "look_up", outside)
    monkeypatch.setenv("RAG_SOURCE_LLM_URL", f"http://localhost:{service.port}")
    monkeypatch.setenv("RAG_SOURCE_REQUIRE_LOCAL_LLM", "true")
    monkeypatch.setenv("RAG_SOURCE_API_PORT", "0")
    words = ["How is the pump called?"] if command in ("ask", "search") else []
    outcome = run(command, *words)
    assert outcome.code == 2
    assert "external_refused" in outcome.err
    assert service.received == []


def test_keys_are_masked_wherever_settings_are_shown(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for role in ("LLM", "EMBED"):
        monkeypatch.setenv(f"RAG_SOURCE_{role}_API_KEY", "a-secret-key")
    outcome = run("config", "--json")
    assert "a-secret-key" not in outcome.out + outcome.err + repr(load_settings())
