"""Routes of the projects: which there are, a new one, one less."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Depends
from pydantic import Field

from rag_source.api.service import ProjectDirectory, directory_of
from rag_source.api.wire_base import RequestBody, Wire
from rag_source.domain.errors import RequestError
from rag_source.domain.projects import Project

__all__ = ["ProjectOut", "ProjectRequest", "ProjectsResponse", "router"]


class ProjectOut(Wire):
    """A folder of documents with an index of its own."""

    name: str
    folder: str

    @classmethod
    def of(cls, project: Project) -> ProjectOut:
        return cls(name=project.name, folder=str(project.folder))


class ProjectsResponse(Wire):
    """All projects, the default one first."""

    projects: list[ProjectOut]


class ProjectRequest(RequestBody):
    """A new project: a short name, and the absolute path of a folder on the service's machine."""

    name: Annotated[str, Field(min_length=1, max_length=63)]
    folder: Annotated[str, Field(min_length=1, max_length=4096)]


_Directory = Annotated[ProjectDirectory, Depends(directory_of)]

router = APIRouter(prefix="/v1/projects", tags=["projects"])


@router.get("")
async def projects(directory: _Directory) -> ProjectsResponse:
    """The projects that this service has; other routes take their names as `?project=`."""
    return ProjectsResponse(projects=[ProjectOut.of(one) for one in directory.projects()])


@router.post("")
async def add(body: ProjectRequest, directory: _Directory) -> ProjectOut:
    """Make a project of a folder; its documents are indexed from now on."""
    folder = Path(body.folder)
    if not folder.is_absolute() or "\0" in body.folder:
        raise RequestError(
            "the folder of a project must be an absolute path",
            code="bad_request",
            hint="give the whole path, as it is on the machine of the service",
        )
    return ProjectOut.of(await directory.add(body.name, folder))


@router.delete("/{name}")
async def remove(name: str, directory: _Directory) -> ProjectsResponse:
    """Forget a project and delete its index; its documents stay untouched."""
    await directory.remove(name)
    return await projects(directory)
