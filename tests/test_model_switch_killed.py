"""A move to another embedding model whose process is killed again and again."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from documents import make_text
from fakes import FakeEmbedder, FakeGenerator, WordCounter
from rag_source import wiring
from rag_source.ingest.pipeline import IndexingPolicy
from rag_source.model_servers import ModelServers
from rag_source.models.library import ModelLibrary
from rag_source.settings import DataSettings, Settings, StateSettings
from store_inputs import engine_folder
from switch_program import DIMENSIONS

pytestmark = pytest.mark.processes

PROGRAM = Path(__file__).with_name("switch_program.py")
DOCUMENTS, MOMENTS, SEED = 12, 6, 7


@pytest.fixture
def folder() -> Iterator[Path]:
    with engine_folder() as path:
        (path / "corpus").mkdir()
        for n in range(DOCUMENTS):
            lines = [f"Line {line} of paper {n} names part {n}-{line}." for line in range(24)]
            make_text(path / "corpus" / f"{n}.txt", "\n\n".join(lines))
        yield path


def _start(folder: Path, model: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, PROGRAM, folder / "corpus", folder / "state", model, _log(folder, model)],
        env=os.environ | {"PYTHONPATH": str(PROGRAM.parent)},
    )


def _log(folder: Path, model: str) -> Path:
    return folder / f"{model}.log"


def _embedded(folder: Path, model: str) -> list[str]:
    log = _log(folder, model)
    if not log.exists():
        return []
    lines = log.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def _killed(folder: Path, more: int) -> bool:
    """Kill the move when it has embedded so many texts more; whether it was still there to kill."""
    wanted = len(_embedded(folder, "second")) + more
    process = _start(folder, "second")
    while process.poll() is None:
        if len(_embedded(folder, "second")) >= wanted:
            process.send_signal(signal.SIGKILL)
            process.wait()
            return True
        time.sleep(0.001)
    assert process.returncode == 0
    return False


@pytest.mark.timeout(600)
def test_move_that_is_killed_again_and_again_pays_for_a_batch_at_each_end_at_most(
    folder: Path,
) -> None:
    assert _start(folder, "first").wait() == 0
    chance = random.Random(SEED)
    kills = sum(_killed(folder, chance.randint(1, 40)) for _ in range(MOMENTS))
    assert kills >= MOMENTS // 2
    assert _start(folder, "second").wait() == 0

    texts = Counter(_embedded(folder, "second"))
    again = sum(count - 1 for count in texts.values())
    assert again <= kills * IndexingPolicy().embed_batch
    assert texts.keys() == set(_embedded(folder, "first"))
    asyncio.run(_check(folder))


async def _check(folder: Path) -> None:
    """Every document is found by the new model, and records and chunks agree."""

    @asynccontextmanager
    async def open_fakes(settings: Settings, library: ModelLibrary):  # type: ignore[no-untyped-def]  # a stand-in
        yield ModelServers(
            embedder=FakeEmbedder(name="second", dimension=DIMENSIONS["second"]),
            generator=FakeGenerator(),
            counter=WordCounter(),
            endpoints=(),
        )

    settings = Settings(
        data=DataSettings(dir=folder / "corpus"), state=StateSettings(dir=folder / "state")
    )
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(wiring, "open_models", open_fakes)
        async with wiring.open_application(settings, purpose="test") as application:
            assert (await application.health()).reembedding is None
            checks = [one async for one in application.checks() if one.name == "index"]
            assert [check.ok for check in checks] == [True]
            for n in range(DOCUMENTS):
                found = await application.search(f"part {n}-17", mode="hybrid", limit=3)
                assert f"{n}.txt" in {item.chunk.path for item in found.evidence}
    assert len(list((folder / "state").glob("vectors*"))) == 1
