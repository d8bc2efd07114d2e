"""Which project's service a request is for."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Protocol

from fastapi import Query, Request

from rag_source.domain.errors import NotFoundError
from rag_source.domain.projects import DEFAULT_PROJECT, Project

__all__ = ["ProjectDirectory", "directory_of", "service_of"]


class ProjectDirectory(Protocol):
    """The projects of the process; `installation.Installation` is the real one."""

    def project(self, name: str) -> Any:
        """The service of that project; raises NotFoundError."""

    def projects(self) -> list[Project]: ...

    async def add(self, name: str, folder: Path) -> Project: ...

    async def remove(self, name: str) -> None: ...


def service_of(
    request: Request,
    project: Annotated[
        str, Query(max_length=63, description="The project that is meant.")
    ] = DEFAULT_PROJECT,
) -> Any:
    """The service of the project that the request names.

    Raises:
        NotFoundError: There is none of that name.
    """
    if project == DEFAULT_PROJECT:
        return request.app.state.service
    return directory_of(request).project(project)


def directory_of(request: Request) -> ProjectDirectory:
    """The projects of this process.

    Raises:
        NotFoundError: It serves only one.
    """
    directory: ProjectDirectory | None = request.app.state.projects
    if directory is None:
        raise NotFoundError("this service has no other project", hint="leave `project` out")
    return directory
