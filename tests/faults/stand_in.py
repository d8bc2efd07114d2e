"""The models of an application under test: an embedder asked over HTTP, fakes for the rest."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

import httpx

from fakes import FakeGenerator, WordCounter
from rag_source import wiring
from rag_source.clients.embeddings import (
    MULTILINGUAL_E5_SMALL_Q4,
    EmbeddingPolicy,
    HttpEmbedder,
)
from rag_source.domain.ports import ServerAddress
from rag_source.models.library import ModelLibrary
from rag_source.settings import Settings

__all__ = ["open_stand_ins"]

OpenModels = Callable[[Settings, ModelLibrary], AbstractAsyncContextManager[wiring.ModelServers]]


@dataclass(frozen=True)
class _Fixed:
    """An `Endpoint` that is already there."""

    url: str

    async def address(self) -> ServerAddress:
        return ServerAddress(base_url=self.url)


def open_stand_ins(url: str, *, read_s: float = 30.0) -> OpenModels:
    """What to put in place of `wiring.open_models`; all else of the application is real.

    Args:
        url: Where the stand-in embedder answers.
        read_s: How long the client waits for it.
    """

    @asynccontextmanager
    async def open_models(
        settings: Settings, library: ModelLibrary
    ) -> AsyncIterator[wiring.ModelServers]:
        async with httpx.AsyncClient(trust_env=False, verify=False) as http:
            yield wiring.ModelServers(
                embedder=HttpEmbedder(
                    _Fixed(url),
                    http,
                    MULTILINGUAL_E5_SMALL_Q4,
                    policy=EmbeddingPolicy(read_s=read_s),
                ),
                generator=FakeGenerator(),
                counter=WordCounter(),
                endpoints=(),
            )

    return open_models
