"""One `ingest` by fake models, as a process of its own: the program that the tests kill.

    python switch_program.py CORPUS STATE MODEL LOG

`MODEL` names the embedding model of the settings; each text that it embeds is a line of the log,
written before its batch is handed back.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from fakes import FakeEmbedder, FakeGenerator, WordCounter
from rag_source import wiring
from rag_source.domain.chunks import Vector
from rag_source.ingest import InProcessParser, LoaderRegistry, Parser
from rag_source.model_servers import ModelServers
from rag_source.models.library import ModelLibrary
from rag_source.settings import DataSettings, Settings, StateSettings

__all__ = ["DIMENSIONS", "main"]

DIMENSIONS = {"first": 64, "second": 32}


class _Logged(FakeEmbedder):
    def __init__(self, name: str, log: Path) -> None:
        super().__init__(name=name, dimension=DIMENSIONS[name])
        self._log = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        await asyncio.sleep(0.005)
        os.write(self._log, "".join(json.dumps(text) + "\n" for text in texts).encode())
        return await super().embed_passages(texts)


def main() -> None:
    """Index the corpus by that model, moving the index to it if it is of another one."""
    corpus, state, name, log = sys.argv[1:]

    @asynccontextmanager
    async def open_fakes(settings: Settings, library: ModelLibrary) -> AsyncIterator[ModelServers]:
        yield ModelServers(
            embedder=_Logged(name, Path(log)),
            generator=FakeGenerator(),
            counter=WordCounter(),
            endpoints=(),
        )

    @asynccontextmanager
    async def open_here(
        settings: Settings, page_spool: Path | None = None
    ) -> AsyncIterator[Parser]:
        yield InProcessParser(LoaderRegistry())

    wiring.open_models = open_fakes
    wiring.open_parser = open_here
    settings = Settings(data=DataSettings(dir=Path(corpus)), state=StateSettings(dir=Path(state)))
    asyncio.run(_ingest(settings))


async def _ingest(settings: Settings) -> None:
    async with wiring.open_application(settings, purpose="a test") as application:
        await application.ingest()


if __name__ == "__main__":
    main()
