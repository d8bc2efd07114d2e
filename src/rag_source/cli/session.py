"""From a command's options to something that answers: the running service, or this process.

`health`, `docs`, `ask` and `search` go to the service that is configured (`RAG_SOURCE_API_URL`) or
that holds the state directory, and otherwise open the state themselves.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import typer

from rag_source.domain.evidence import SearchMode
from rag_source.domain.projects import DEFAULT_PROJECT

if TYPE_CHECKING:
    from rag_source.api.check_wire import CheckOut
    from rag_source.api.corpus_wire import DocumentsResponse, HealthResponse, IngestResponse
    from rag_source.api.job_wire import JobsResponse
    from rag_source.api.verify_wire import VerifyResponse
    from rag_source.api.wire import AskResponse, SearchResponse
    from rag_source.domain.jobs import JobAction
    from rag_source.settings import Settings

__all__ = ["Backend", "Options", "open_backend", "running_service", "settings_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """The options that come before a command."""

    data_dir: Path | None = None
    state_dir: Path | None = None
    project: str | None = None
    verbose: bool = False


class Backend(Protocol):
    """What answers a command, near or far; every result is in wire form."""

    async def search(
        self, query: str, *, mode: SearchMode, limit: int, sources: list[str]
    ) -> SearchResponse: ...

    async def ask(
        self,
        question: str,
        *,
        mode: SearchMode,
        sources: list[str],
        on_token: Callable[[str], None],
    ) -> AskResponse: ...

    async def documents(self) -> DocumentsResponse: ...

    async def ingest(
        self, *, force: bool, on_progress: Callable[..., None] | None = None
    ) -> IngestResponse: ...

    async def health(self) -> HealthResponse: ...

    def checks(self, *, repair: bool) -> AsyncIterator[CheckOut]: ...

    async def verify(self, quote: str, *, sources: list[str]) -> VerifyResponse: ...

    async def jobs(self) -> JobsResponse: ...

    async def control(self, action: JobAction, path: str | None) -> JobsResponse: ...


def settings_of(context: typer.Context, *, for_project: bool = True, **overrides: Any) -> Settings:
    """The settings of a command, its global options applied; sets up logging.

    Args:
        context: The command's.
        for_project: Whether folder and state are those of the project that is named.
        overrides: Sections and fields of the settings.

    Raises:
        NotFoundError: There is no such project.
        ConfigurationError: A setting is not valid.
    """
    # Lazy: pydantic-settings costs more than all of `--help`.
    from rag_source.settings import load_settings

    options: Options = context.obj or Options()
    if options.data_dir is not None:
        overrides.setdefault("data", {"dir": options.data_dir})
    if options.state_dir is not None:
        overrides.setdefault("state", {"dir": options.state_dir})
    if options.project is not None:
        overrides.setdefault("project", options.project)
    settings = load_settings(**overrides)
    # A service at a far end has a list of its own.
    if for_project and settings.project != DEFAULT_PROJECT and not settings.api.url:
        settings = _of_project(settings)
    level = "INFO" if options.verbose else settings.log.level
    logging.basicConfig(level=level, format="%(levelname)s %(name)s: %(message)s")
    # They log each URL and each batch of events at INFO; our own lines say what matters.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    logging.getLogger("watchfiles").setLevel(logging.WARNING)
    return settings


def _of_project(settings: Settings) -> Settings:
    # Lazy: most commands are about the default project.
    from rag_source.store.projects import ProjectRegistry

    project = ProjectRegistry(settings.projects_dir()).project(settings.project)
    return settings.for_project(project.folder, project.state)


@asynccontextmanager
async def open_backend(settings: Settings, purpose: str) -> AsyncIterator[Backend]:
    """The service if one runs for this state, otherwise this process on the state itself.

    Raises:
        StateInUseError: A process that is not a service holds the state.
        BackendUnavailableError: The configured service does not answer.
    """
    # Lazy: httpx or the whole application, only the one that is needed.
    from rag_source.cli.backends import LocalBackend, RemoteBackend

    running = running_service(settings)
    if running is not None:
        url, token = running
        async with RemoteBackend(url, token, project=settings.project) as backend:
            yield backend
        return
    async with LocalBackend(settings, purpose) as local:
        yield local


def running_service(settings: Settings) -> tuple[str, str] | None:
    """URL and token of the service to ask, or None."""
    # Lazy: only commands that may go remote read these.
    from rag_source.store.lock import current_holder
    from rag_source.store.state import StateDirectory

    given = settings.api.token.get_secret_value()
    if settings.api.url:
        # The tunnel's far end has its own token; a state of ours need not exist.
        local = settings.data.dir is not None or settings.state.dir is not None
        kept = StateDirectory(settings.state_dir()).token() if local else ""
        return settings.api.url.rstrip("/"), given or kept
    state = StateDirectory(settings.state_dir())
    holder = current_holder(state.path) if state.path.is_dir() else None
    if holder is None or not holder.address:
        return None
    return holder.address, given or state.token()
