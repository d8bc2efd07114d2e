"""One state and two processes, a state of a later version, a clock that jumps, folders renamed."""

from __future__ import annotations

import asyncio
import json
import os
import random
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path

import pytest

from documents import make_text
from faults.counting import paid_in
from faults.killing import CatalogueEye
from faults.papers import Papers
from faults.processes import Embedder, Installation, wait_for
from faults.state_checks import faults_of, opened
from rag_source.domain.errors import ConfigurationError
from rag_source.ingest import indexer

pytestmark = [pytest.mark.processes, pytest.mark.timeout(180)]

_DAY_S = 24 * 3600


@pytest.fixture
def papers(tmp_path: Path) -> Papers:
    papers = Papers(tmp_path / "papers", random.Random(3))
    papers.add(3)
    return papers


@pytest.fixture
def installation(tmp_path: Path, papers: Papers, embedder: Embedder) -> Installation:
    return Installation(papers.root, tmp_path / "state", embedder)


def test_state_belongs_to_one_service_until_that_is_gone(
    installation: Installation, papers: Papers
) -> None:
    first = installation.start()
    url = first.url()
    second = installation.run("up", "--port", "0")
    assert second.returncode == 2
    assert f"process {first.pid} (rag-source up at {url}" in second.stderr
    assert f"kill {first.pid}" in second.stderr
    assert "Traceback" not in second.stderr
    assert first.running

    first.kill()
    assert _holder(installation) == first.pid
    third = installation.start()
    third.url()
    assert _holder(installation) == third.pid
    eye = CatalogueEye(installation.state / "catalogue.db")
    wait_for(lambda: eye.has_all(papers.fingerprints()), "the third one does the work")
    third.stop()


def _holder(installation: Installation) -> int:
    """Who wrote the lock's file last, alive or not."""
    holder = json.loads((installation.state / "lock").read_text(encoding="utf-8"))
    return int(holder["pid"])


async def test_state_of_a_later_version_is_refused_and_left_as_it_is(
    installation: Installation,
) -> None:
    url = installation.embedder.url
    async with opened(installation.corpus, installation.state, url) as application:
        await application.ingest()
    path = installation.state / "catalogue.db"
    with closing(sqlite3.connect(path)) as database:
        (version,) = database.execute("PRAGMA user_version").fetchone()
        database.execute("PRAGMA user_version = 999")
    before = path.read_bytes()
    run = installation.run("up", "--port", "0")
    assert run.returncode == 2
    assert "has schema 999" in run.stderr
    assert "install the version that wrote it" in run.stderr
    assert "Traceback" not in run.stderr
    with pytest.raises(ConfigurationError, match="schema 999"):
        async with opened(installation.corpus, installation.state, url):
            pass
    assert path.read_bytes() == before
    with closing(sqlite3.connect(path)) as database:
        database.execute(f"PRAGMA user_version = {version}")
    async with opened(installation.corpus, installation.state, url) as application:
        assert len(await application.documents()) == 3


class _JumpingClock(datetime):
    """The wall clock, some seconds off."""

    off_s = 0.0

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
        return datetime.now(tz or UTC) + timedelta(seconds=cls.off_s)


async def test_clock_that_jumps_by_a_day_neither_loses_nor_repeats_anything(
    tmp_path: Path, papers: Papers, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexer, "datetime", _JumpingClock)
    monkeypatch.setattr(_JumpingClock, "off_s", 0.0)
    wall = time.time
    monkeypatch.setattr(time, "time", lambda: wall() + _JumpingClock.off_s)
    eye = CatalogueEye(tmp_path / "state" / "catalogue.db")

    async def all_is_indexed() -> None:
        wanted = papers.fingerprints()
        await _until(lambda: eye.has_all(wanted))

    async with opened(papers.root, tmp_path / "state", embedder.url) as application:
        keeping = asyncio.create_task(application.keep_index())
        await all_is_indexed()
        for jump_s in (_DAY_S, -_DAY_S):
            _JumpingClock.off_s = jump_s
            for path in papers.paths():
                papers.rewrite(path)
                # As the jumped clock would have it.
                os.utime(papers.root / path, (wall() + jump_s, wall() + jump_s))
            await all_is_indexed()
        keeping.cancel()
        with suppress(asyncio.CancelledError):
            await keeping
        assert await faults_of(application, papers.marks) == []
        paid = paid_in(embedder.log)
        assert paid.again == 0
        _JumpingClock.off_s = 0.0
        report = await application.ingest()
        assert (report.unchanged, report.updated, report.added) == (3, 0, 0)
        assert paid_in(embedder.log).embedded == paid.embedded


async def test_renamed_folder_of_500_files_is_embedded_once_only(
    tmp_path: Path, corpus: Path, embedder: Embedder
) -> None:
    for number in range(500):
        path = corpus / "offers" / f"{number % 10}" / f"offer-{number}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        make_text(path, f"Offer {number} is about {number * 7} pumps.\n")
    async with opened(corpus, tmp_path / "state", embedder.url) as application:
        report = await application.ingest()
        assert report.added == 500
        embedded = paid_in(embedder.log).embedded
        known = {r.source.path: r.doc_id for r in await application.documents()}

        (corpus / "offers").rename(corpus / "offers of 2026")
        report = await application.ingest()
        assert (report.added, report.updated, report.removed) == (0, 500, 0)
        assert paid_in(embedder.log).embedded == embedded
        moved = {r.source.path: r.doc_id for r in await application.documents()}
        assert moved == {
            path.replace("offers/", "offers of 2026/"): doc_id for path, doc_id in known.items()
        }
        found = await application.search("offer 321", mode="bm25")
        assert found.evidence[0].chunk.path == "offers of 2026/1/offer-321.txt"


async def _until(condition: Callable[[], object]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110  # states of a file: no event
            await asyncio.sleep(0.05)
