"""`rag-source up`: one process that holds the state, follows the folder and serves the API."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from fastapi import FastAPI

from rag_source.api.app import Front, create_app
from rag_source.api.request_log import Served
from rag_source.api.serve import bind, serve
from rag_source.api.session import SessionBook
from rag_source.api.session_wire import link_of
from rag_source.api.static import PAGE_ROUTE, find_ui
from rag_source.domain.audit import AuditEntry
from rag_source.domain.errors import NotFoundError, RagError
from rag_source.domain.projects import DEFAULT_PROJECT
from rag_source.domain.reports import Drained
from rag_source.history import History, utc_now
from rag_source.installation import Installation, open_installation
from rag_source.settings import Settings, check_token
from rag_source.store.sessions import SessionFile
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
            sessions = SessionBook(key=token or generated, keeper=SessionFile(state.sessions))
            # The answer and embedding models load while the folders are being read.
            app = create_app(
                default,
                token=token or generated,
                lifespan=_indexing(installation, say, on_progress),
                projects=installation,
                front=Front(
                    names=_names(settings),
                    ui=find_ui(),
                    sessions=sessions,
                    on_served=_audited(default.history),
                ),
            )

            def ready(url: str) -> None:
                installation.announce(url, generated)
                default.history.note("service.start")
                say(f"rag-source answers on {url} (Ctrl+C stops it)")
                say(f"open {link_of(url, sessions.new_code())}")
                if generated:
                    say(f"token: in {state.path / 'api-token'}")

            await serve(app, sock, on_ready=ready)


def _names(settings: Settings) -> tuple[str, ...]:
    """The host names that requests may be for; an address that means "all" is no name."""
    given = [name.strip() for name in settings.api.names.split(",")]
    return tuple(name for name in (settings.api.host, *given) if name not in ("", "0.0.0.0", "::"))  # noqa: S104 - left out here


def _audited(history: History) -> Callable[[Served], None]:
    """Puts each request that was served into the audit log, but for the files of the page."""

    def served(request: Served) -> None:
        if request.route == PAGE_ROUTE:
            return
        history.audit.note(
            AuditEntry(
                at=utc_now(),
                kind="request",
                name=f"{request.method} {request.route}",
                status=request.status,
                milliseconds=request.milliseconds,
                request_id=request.request_id,
            )
        )

    return served


def _indexing(
    installation: Installation,
    say: Callable[[str], None],
    on_progress: Callable[..., None] | None,
) -> Callable[[FastAPI], contextlib.AbstractAsyncContextManager[None]]:
    """A lifespan that keeps the indexes up to date beside the requests, and ends with them."""
    reported: set[str] = set()

    def note(project: str, *, failed: bool) -> None:
        # It may have been removed a moment ago.
        with contextlib.suppress(NotFoundError):
            history = installation.project(project).history
            history.note("index.update", status=500 if failed else 200)

    def drained(project: str, result: Drained) -> None:
        if project not in reported or result != Drained():
            reported.add(project)
            note(project, failed=bool(result.failed))
            say(
                f"{_of(project)}index: {result.added} added, {result.updated} updated, "
                f"{len(result.failed)} failed"
            )

    def failed(project: str, error: RagError) -> None:
        note(project, failed=True)
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
