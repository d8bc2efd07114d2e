"""Run the command line in this process, with fakes in place of the model servers."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fakes import FakeEmbedder, FakeGenerator, WordCounter
from rag_source import wiring
from rag_source.cli import main
from rag_source.ingest import InProcessParser, LoaderRegistry, Parser
from rag_source.models.library import ModelLibrary
from rag_source.settings import Settings


@dataclass(frozen=True)
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Outcome]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    return folder


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "state"


@pytest.fixture
def run(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    corpus: Path,
    state: Path,
    tmp_path: Path,
) -> Run:
    """Runs `rag-source` on the corpus and state of this test, with an empty model cache."""
    monkeypatch.setenv("RAG_SOURCE_DATA_DIR", str(corpus))
    monkeypatch.setenv("RAG_SOURCE_STATE_DIR", str(state))
    monkeypatch.setenv("RAG_SOURCE_CACHE_DIR", str(tmp_path / "cache"))
    # A cut-off child of an earlier command must not be asked through a proxy of the machine.
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")

    def call(*arguments: str) -> Outcome:
        monkeypatch.setattr(sys, "argv", ["rag-source", *arguments])
        code = 0
        try:
            main()
        except SystemExit as exit_:
            code = int(exit_.code or 0)
        out, err = capsys.readouterr()
        return Outcome(code, out, err)

    return call


@pytest.fixture(autouse=True)
def _root_logger_as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture(autouse=True)
def _parses_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Starting a worker costs more than all else in these tests; the workers have their own."""

    @asynccontextmanager
    async def open_here(settings: Settings, *_: object) -> AsyncIterator[Parser]:
        yield InProcessParser(LoaderRegistry())

    monkeypatch.setattr(wiring, "open_parser", open_here)


@pytest.fixture
def generator(monkeypatch: pytest.MonkeyPatch) -> FakeGenerator:
    """Puts fake models behind the application; its answers are the test's to script."""
    fake = FakeGenerator()

    @asynccontextmanager
    async def open_fakes(
        settings: Settings, library: ModelLibrary
    ) -> AsyncIterator[wiring.ModelServers]:
        yield wiring.ModelServers(
            embedder=FakeEmbedder(), generator=fake, counter=WordCounter(), endpoints=()
        )

    monkeypatch.setattr(wiring, "open_models", open_fakes)
    return fake
