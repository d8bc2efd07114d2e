"""`rag-source up`: one process that holds the state, indexes the folder and serves the API."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from fastapi import FastAPI

from rag_source.api.app import create_app
from rag_source.api.serve import bind, serve
from rag_source.domain.errors import RagError
from rag_source.settings import Settings, check_token
from rag_source.store.state import StateDirectory
from rag_source.wiring import Application, open_application

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
        async with open_application(settings, purpose="rag-source up") as application:
            application.check_models()
            state = StateDirectory(settings.state_dir())
            # The answer and embedding models load while the folder is being read.
            app = create_app(
                application,
                token=token or state.make_token(),
                lifespan=_indexing(application, say, on_progress),
            )

            def ready(url: str) -> None:
                application.announce(url)
                say(f"rag-source answers on {url} (Ctrl+C stops it)")
                if not token:
                    say(f"token: in {state.path / 'api-token'}")

            await serve(app, sock, on_ready=ready)


def _indexing(
    application: Application,
    say: Callable[[str], None],
    on_progress: Callable[..., None] | None,
) -> Callable[[FastAPI], contextlib.AbstractAsyncContextManager[None]]:
    """A lifespan that brings the index up to date beside the requests, and ends with them."""

    async def index() -> None:
        try:
            report = await application.ingest(on_progress=on_progress)
        except RagError as error:
            say(f"indexing failed: {error.message} ({error.hint})")
            return
        say(
            f"index: {report.added} added, {report.updated} updated, {report.removed} removed, "
            f"{report.unchanged} unchanged, {len(report.failed)} failed"
        )

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with asyncio.TaskGroup() as tasks:
            indexing = tasks.create_task(index())
            warming = tasks.create_task(application.warm_up())
            try:
                yield
            finally:
                indexing.cancel()
                warming.cancel()

    return lifespan
