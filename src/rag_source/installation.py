"""The projects that one process serves: they share the models and are indexed in turn."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from rag_source.application import Application
from rag_source.domain.errors import NotFoundError, RagError
from rag_source.domain.projects import DEFAULT_PROJECT, Project
from rag_source.domain.reports import Drained
from rag_source.ingest import Progress
from rag_source.settings import Settings
from rag_source.store.projects import ProjectRegistry
from rag_source.store.state import StateDirectory
from rag_source.wiring import SharedParts, open_project, open_shared

__all__ = ["Installation", "open_installation"]

logger = logging.getLogger(__name__)

_LOOK_S = 2.0


@dataclass(slots=True)
class _Served:
    """A project that is open; `keeping` follows its folder once there is a loop for it."""

    project: Project
    application: Application
    stack: AsyncExitStack
    keeping: asyncio.Task[None] | None = None


class Installation:
    """The default project, which is always there, and those of the list. Close it when done.

    Other processes may change the list; `keep_index` follows it.
    """

    def __init__(
        self, settings: Settings, shared: SharedParts, registry: ProjectRegistry, purpose: str
    ) -> None:
        self._settings = settings
        self._shared = shared
        self._registry = registry
        self._purpose = purpose
        self._served: dict[str, _Served] = {}
        self._changing = asyncio.Lock()
        self._url = self._token = ""

    def project(self, name: str) -> Application:
        """The project of that name.

        Raises:
            NotFoundError: It is not served here.
        """
        served = self._served.get(name)
        if served is None:
            raise NotFoundError(
                f"there is no project {name[:80]!r}",
                hint="`rag-source projects` lists them, `rag-source projects add` makes one",
            )
        return served.application

    def projects(self) -> list[Project]:
        """Those that are served, the default one first."""
        return [served.project for served in self._served.values()]

    async def add(self, name: str, folder: Path) -> Project:
        """Make a project of a folder and serve it.

        Raises:
            RequestError: The name or the folder cannot be taken.
        """
        project = await asyncio.to_thread(self._registry.add, name, folder)
        await self.follow()
        return project

    async def remove(self, name: str) -> None:
        """Forget a project and delete its index; its documents stay untouched.

        Raises:
            NotFoundError: There is none of that name, or it is the default one.
        """
        async with self._changing:
            if name != DEFAULT_PROJECT and name in self._served:
                await self._close(name)
            await asyncio.to_thread(self._registry.remove, name)

    async def follow(self) -> None:
        """Serve what is in the list, and nothing else but the default project."""
        async with self._changing:
            listed = {one.name: one for one in await asyncio.to_thread(self._registry.projects)}
            for name in [*self._served]:
                if name != DEFAULT_PROJECT and name not in listed:
                    await self._close(name)
            for name, project in listed.items():
                if name not in self._served:
                    with suppress(RagError):
                        await self.open(project)

    async def open(self, project: Project) -> None:
        """Serve a project.

        Raises:
            StateInUseError, ConfigurationError: It cannot be.
        """
        stack = AsyncExitStack()
        settings = self._settings.for_project(project.folder, project.state)
        try:
            application = await stack.enter_async_context(
                open_project(settings, self._shared, purpose=self._purpose)
            )
        except RagError as error:
            logger.warning("project %r is not served: %s", project.name, error.message)
            raise
        self._served[project.name] = _Served(project, application, stack)
        self._announce(self._served[project.name])

    def announce(self, url: str, token: str) -> None:
        """Let other commands know where this process answers; `token` is empty if it is secret."""
        self._url, self._token = url, token
        for served in self._served.values():
            self._announce(served)

    async def warm_up(self) -> None:
        """As `Application.warm_up`: the models are everybody's."""
        await self.project(DEFAULT_PROJECT).warm_up()

    async def keep_index(
        self,
        *,
        on_drained: Callable[[str, Drained], None] = lambda name, drained: None,
        on_failed: Callable[[str, RagError], None] = lambda name, error: None,
        on_progress: Progress | None = None,
    ) -> None:
        """Keep every project up to date with its folder, and the projects with the list."""

        async def keep(served: _Served) -> None:
            name = served.project.name
            try:
                await served.application.keep_index(
                    on_drained=lambda drained: on_drained(name, drained), on_progress=on_progress
                )
            except RagError as error:
                on_failed(name, error)

        async with asyncio.TaskGroup() as tasks:
            seen: object = None
            while True:
                for served in [*self._served.values()]:
                    if served.keeping is None:
                        served.keeping = tasks.create_task(keep(served))
                stamp = await asyncio.to_thread(_stamp, self._registry.path)
                if stamp != seen:
                    seen = stamp
                    await self._follow_quietly()
                await asyncio.sleep(_LOOK_S)

    async def aclose(self) -> None:
        """Let go of every project."""
        async with self._changing:
            for name in [*self._served]:
                await self._close(name)

    async def _follow_quietly(self) -> None:
        try:
            await self.follow()
        except RagError as error:
            logger.warning("the list of projects cannot be followed: %s", error.message)

    async def _close(self, name: str) -> None:
        served = self._served.pop(name)
        if served.keeping is not None:
            served.keeping.cancel()
            with suppress(asyncio.CancelledError):
                await served.keeping
        await served.stack.aclose()

    def _announce(self, served: _Served) -> None:
        if not self._url:
            return
        if self._token:
            StateDirectory(served.project.state).keep_token(self._token)
        served.application.announce(self._url)


@asynccontextmanager
async def open_installation(settings: Settings, *, purpose: str) -> AsyncIterator[Installation]:
    """All projects of the settings; the default one must open, others that do not are left out.

    Raises:
        StateInUseError, ModelMissingError, ConfigurationError: As `open_project`.
    """
    default = Project(name=DEFAULT_PROJECT, folder=settings.data_dir(), state=settings.state_dir())
    async with open_shared(settings) as shared:
        registry = ProjectRegistry(settings.projects_dir())
        installation = Installation(settings, shared, registry, purpose)
        try:
            await installation.open(default)
            await installation.follow()
            yield installation
        finally:
            await installation.aclose()


def _stamp(path: Path) -> object:
    """Changes whenever the file does."""
    try:
        stat = path.stat()
    except OSError:
        return None
    return stat.st_mtime_ns, stat.st_size, stat.st_ino
