"""A model server that fails for a while: the work waits for it, and questions say so."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from documents import make_text
from faults.counting import paid_in
from faults.processes import Embedder
from faults.state_checks import left_over, opened
from rag_source.application import Application
from rag_source.domain.errors import BackendError
from rag_source.ingest import keeper

pytestmark = [pytest.mark.processes, pytest.mark.timeout(120)]

_BATCH_MS = 160


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Back-offs as they are, but a tenth as long."""
    monkeypatch.setattr(keeper, "_RETRY_S", 0.2)
    monkeypatch.setattr(keeper, "_RETRY_LIMIT_S", 0.5)


@asynccontextmanager
async def _kept(application: Application) -> AsyncIterator[None]:
    task = asyncio.create_task(application.keep_index())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110  # states of other processes: no event
            await asyncio.sleep(0.02)


def _answers(embedder: Embedder) -> int:
    lines = embedder.log.read_text(encoding="utf-8").splitlines()
    return sum("sent" in json.loads(line) for line in lines)


def _long(path: Path, name: str) -> None:
    lines = (f"Line {n} of {name} is about pumps and valves." for n in range(30))
    make_text(path, f"About {name}\n\n" + "\n\n".join(lines))


@pytest.mark.parametrize(
    ("mode", "says"),
    [
        ("error", "out of memory"),
        ("loading", "Loading model"),
        ("hang", "did not answer in time"),
        ("cut", "cannot be reached"),
        ("nan", "not finite"),
        ("infinite", "not finite"),
        ("null", "not finite"),
        ("dimension", "383 dimensions"),
        ("nonsense", "vectors for|malformed"),
        ("gone", "cannot be reached"),
    ],
)
async def test_work_waits_for_a_model_server_in_trouble_and_goes_on_by_itself(
    corpus: Path, tmp_path: Path, embedder: Embedder, mode: str, says: str
) -> None:
    make_text(corpus / "first.txt", "The first paper is about chimneys.\n")
    async with opened(corpus, tmp_path / "state", embedder.url, read_s=0.5) as application:
        await application.ingest()
        embedder.set(text_ms=_BATCH_MS / 8)
        _long(corpus / "second.txt", "second")
        await application._indexer.reconcile(corpus)
        async with _kept(application):
            answered = _answers(embedder)
            await _until(lambda: _answers(embedder) > answered)
            if mode == "gone":
                embedder.kill()
            else:
                embedder.set(mode)
            await _until(lambda: application._keeper and application._keeper.problems)

            with pytest.raises(BackendError, match=says) as caught:
                await application.search("chimneys")
            assert caught.value.hint
            assert "\n" not in caught.value.message
            found = await application.search("chimneys", mode="bm25")
            assert [one.chunk.path for one in found.evidence] == ["first.txt"]
            assert [job.path for job in (await application.queue()).jobs] == ["second.txt"]
            assert len(await application.documents()) == 1

            if mode == "gone":
                embedder.start()
            embedder.set("ok")
            await _until(lambda: not application._indexer.queue.jobs())
            await _until(lambda: application._keeper and not application._keeper.problems)
        assert [record.status for record in await application.documents()] == ["ready", "ready"]
        found = await application.search("pumps and valves")
        assert found.evidence[0].chunk.path == "second.txt"
    assert left_over(tmp_path / "state") == []
    assert paid_in(embedder.log).again == 0
