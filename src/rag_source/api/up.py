"""`rag-source up`: one process that holds the state, follows the folder and serves the API."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from fastapi import FastAPI

from rag_source.api.app import create_app
from rag_source.api.serve import bind, serve
from rag_source.domain.errors import RagError
from rag_source.domain.projects import DEFAULT_PROJECT
from rag_source.domain.reports import Drained
from rag_source.installation import Installation, open_installation
from rag_source.settings import Settings, check_token
from rag_source.store.state import StateDirectory

__all__ = ["run_service"]


async def run_service(
    settings: Settings,
    *,
    say: Callable[[str], None],
    on_progress: Callable[..., None] | None = None,
) -> None:
    """Serve until interrupted.

    Raises:
        PortTakenError, StateInUseError, ModelMissingError, ConfigurationError: Before anything is
            served.
    """
    token = settings.api.token.get_secret_value()
    if token:
        check_token(token)
    sock = bind(settings.api.host, settings.api.port)
    with contextlib.closing(sock):
        async with open_installation(settings, purpose="rag-source up") as installation:
            default = installation.project(DEFAULT_PROJECT)
            default.check_models()
            state = StateDirectory(settings.state_dir())
            generated = "" if token else state.make_token()
            # The answer and embedding models load while the folders are being read.
            app = create_app(
                default,
                token=token or generated,
                lifespan=_indexing(installation, say, on_progress),
                projects=installation,
            )

            def ready(url: str) -> None:
                installation.announce(url, generated)
                say(f"rag-source answers on {url} (Ctrl+C stops it)")
                if generated:
                    say(f"token: in {state.path / 'api-token'}")

            await serve(app, sock, on_ready=ready)


def _indexing(
    installation: Installation,
    say: Callable[[str], None],
    on_progress: Callable[..., None] | None,
) -> Callable[[FastAPI], contextlib.AbstractAsyncContextManager[None]]:
    """A lifespan that keeps the indexes up to date beside the requests, and ends with them."""
    reported: set[str] = set()

    def drained(project: str, result: Drained) -> None:
        if project not in reported or result != Drained():
            reported.add(project)
            say(
                f"{_of(project)}index: {result.added} added, {result.updated} updated, "
                f"{len(result.failed)} failed"
            )

    def failed(project: str, error: RagError) -> None:
        say(f"{_of(project)}indexing failed: {error.message} ({error.hint})")

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as tasks:
            indexing = tasks.create_task(
                installation.keep_index(
                    on_drained=drained, on_failed=failed, on_progress=on_progress
                )
            )
            warming = tasks.create_task(installation.warm_up())
            try:
                yield
            finally:
                indexing.cancel()
                warming.cancel()

    return lifespan


def _of(project: str) -> str:
    return "" if project == DEFAULT_PROJECT else f"{project}: "
