"""What the fault tests start, and how it ends."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from faults.processes import Embedder, Service


@pytest.fixture(autouse=True)
def _no_service_outlives_its_test() -> Iterator[None]:
    yield
    while Service.started:
        service = Service.started.pop()
        if service.running:
            service.kill()


@pytest.fixture
def embedder(tmp_path: Path) -> Iterator[Embedder]:
    embedder = Embedder(tmp_path)
    yield embedder
    embedder.kill()


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    return folder


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of its own, of 260 MiB, in memory; mounting one takes root."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=260m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk is not permitted here")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)
