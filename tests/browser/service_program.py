"""`rag-source` itself with a scripted answer model and an embedder without weights.

    python service_program.py up --port 0

All the rest is what users run: parsers in worker processes, index, search, checks of quotes, API.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from unittest.mock import patch

from browser.embedder import LevelledEmbedder
from browser.script import ScriptedGenerator
from fakes import WordCounter
from rag_source import wiring
from rag_source.application import Application
from rag_source.cli import main as cli
from rag_source.model_servers import ModelServers

__all__ = ["main"]


@asynccontextmanager
async def _open_models(*_: object) -> AsyncIterator[ModelServers]:
    yield ModelServers(
        embedder=LevelledEmbedder(),
        generator=ScriptedGenerator(),
        counter=WordCounter(),
        endpoints=(),
    )


def main() -> None:
    """Run a command of `rag-source`."""
    with (
        patch.object(wiring, "open_models", _open_models),
        # No model file is there, and none is needed.
        patch.object(Application, "check_models", lambda self: None),
    ):
        cli()


if __name__ == "__main__":
    main()
