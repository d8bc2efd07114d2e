"""A scripted model server and a client for it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import httpx
import pytest

from clients.fake_server import FakeServer, serve_replies


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with serve_replies() as served:
        yield served


@pytest.fixture
async def http() -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(trust_env=False, verify=False) as client:
        yield client
