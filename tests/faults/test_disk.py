"""A disk that is full or may not be written: said in one line, nothing broken, nothing lost."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from documents import make_text
from faults.counting import paid_in
from faults.killing import CatalogueEye
from faults.papers import Papers
from faults.processes import Embedder, Installation, wait_for
from faults.state_checks import faults_of, left_over, opened

pytestmark = [pytest.mark.processes, pytest.mark.timeout(240)]

_MIB = 1 << 20


@pytest.fixture
def papers(tmp_path: Path) -> Papers:
    papers = Papers(tmp_path / "papers", random.Random(3))
    papers.add(4)
    return papers


def _error(run: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """The one line of an error, after which the command ends with 2."""
    assert run.returncode == 2, run.stderr
    lines = [line for line in run.stderr.splitlines() if line and not line.startswith("\r")]
    assert sum(line.startswith("{") for line in lines) == 1, run.stderr
    assert "Traceback" not in run.stderr
    error: dict[str, Any] = json.loads(lines[-1])
    assert error["message"]
    assert error["hint"]
    return error


def _fill(disk: Path, *, leave_bytes: int) -> Path:
    """A file that takes all space but some; to the last byte if nothing is to be left."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        left = shutil.disk_usage(disk).free - leave_bytes
        for size_bytes in (_MIB, 512):
            with suppress(OSError):
                while left > 0 or not leave_bytes:
                    left -= file.write(b"x" * size_bytes)
    return filler


def _found(installation: Installation, words: str) -> list[str]:
    run = installation.run("search", words, "--mode", "bm25", "--json")
    assert run.returncode in (0, 1), run.stderr
    return [result["text"] for result in json.loads(run.stdout)["results"]]


async def _prepared(installation: Installation) -> dict[str, str]:
    """Index what there is; returns the fingerprints by path."""
    url = installation.embedder.url
    async with opened(installation.corpus, installation.state, url) as application:
        await application.ingest()
        records = await application.documents()
    return {record.source.path: record.source.fingerprint for record in records}


@pytest.mark.parametrize("leave_bytes", [40 * _MIB, 0], ids=["little-room", "no-room"])
async def test_full_disk_stops_the_work_and_nothing_else(
    small_disk: Path, papers: Papers, embedder: Embedder, leave_bytes: int
) -> None:
    state = small_disk / "state"
    installation = Installation(papers.root, state, embedder)
    eye = CatalogueEye(state / "catalogue.db")
    known = await _prepared(installation)
    (old,) = (papers.marks[known[path]] for path in known if path.endswith(".md"))

    service = installation.start()
    service.url()
    filler = _fill(small_disk, leave_bytes=leave_bytes)
    for path in papers.paths():
        papers.rewrite(path)
    papers.add(2)
    wait_for(
        lambda: any(words in service.words for words in ("indexing stopped", "be looked through")),
        "the work stops",
    )
    assert "MiB are free" in service.words or "is full" in service.words
    assert any(old in text for text in _found(installation, f"About {old}"))
    assert service.running
    assert eye.fingerprints() == known

    filler.unlink()
    wanted = papers.fingerprints()
    wait_for(lambda: eye.has_all(wanted), "the work goes on", timeout_s=90)
    service.stop()
    async with opened(papers.root, state, embedder.url) as application:
        assert await faults_of(application, papers.marks) == []
    assert left_over(state) == []


async def test_command_on_a_full_disk_says_so_and_leaves_the_index_as_it_was(
    small_disk: Path, papers: Papers, embedder: Embedder
) -> None:
    installation = Installation(papers.root, small_disk / "state", embedder)
    known = await _prepared(installation)
    papers.rewrite(papers.paths()[0])
    filler = _fill(small_disk, leave_bytes=0)
    assert _error(installation.run("ingest", "--json"))["code"] == "disk_full"
    filler.unlink()
    assert CatalogueEye(small_disk / "state" / "catalogue.db").fingerprints() == known
    assert await _prepared(installation) == papers.fingerprints()


async def test_limit_of_file_sizes_stops_the_work_and_nothing_is_broken(
    tmp_path: Path, papers: Papers, embedder: Embedder
) -> None:
    """The second way in which a write fails: `ulimit -f`, which needs no disk of its own."""
    installation = Installation(papers.root, tmp_path / "state", embedder)
    known = await _prepared(installation)
    lines = (f"Line {n} is about chimneys and pumps, number {n * n}." for n in range(400))
    make_text(papers.root / "long.txt", "About chimneys\n\n" + "\n\n".join(lines))
    installation.limit_file_bytes = 400_000
    error = _error(installation.run("ingest", "--json"))
    assert error["code"] == "disk_error"
    assert "ulimit -f" in error["hint"]
    assert CatalogueEye(tmp_path / "state" / "catalogue.db").fingerprints() == known
    assert (await _prepared(installation)).keys() == {*known, "long.txt"}
    # The batch that was paid for when its vectors could not be written.
    assert len(paid_in(embedder.log).beyond) <= 8
    assert left_over(tmp_path / "state") == []


async def test_new_state_within_a_limit_of_file_sizes_is_refused_in_one_line(
    tmp_path: Path, papers: Papers, embedder: Embedder
) -> None:
    installation = Installation(papers.root, tmp_path / "state", embedder)
    installation.limit_file_bytes = 2 * _MIB
    assert _error(installation.run("ingest", "--json"))["code"] == "disk_full"
    assert await _prepared(installation) == papers.fingerprints()


async def test_read_only_state_is_refused_with_what_to_do(
    small_disk: Path, papers: Papers, embedder: Embedder
) -> None:
    installation = Installation(papers.root, small_disk / "state", embedder)
    known = await _prepared(installation)
    _remount(small_disk, "ro")
    before = _bytes_of(small_disk)
    assert _error(installation.run("ingest", "--json"))["code"] == "state_unwritable"
    service = installation.run("up", "--port", "0")
    assert service.returncode == 2
    assert "is read-only" in service.stderr
    assert "RAG_SOURCE_STATE_DIR" in service.stderr
    assert "Traceback" not in service.stderr
    assert _bytes_of(small_disk) == before
    _remount(small_disk, "rw")
    assert await _prepared(installation) == known


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_state_of_somebody_else_is_refused_in_one_line(
    tmp_path: Path, papers: Papers, embedder: Embedder
) -> None:
    state = tmp_path / "state"
    state.mkdir(mode=0o500)
    installation = Installation(papers.root, state, embedder)
    assert _error(installation.run("ingest", "--json"))["code"] == "state_unwritable"


def _remount(disk: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", str(disk)], check=True)


def _bytes_of(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file() and path.stat().st_size < _MIB)
    return {str(path): path.read_bytes() for path in files}
