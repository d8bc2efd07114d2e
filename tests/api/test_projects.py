"""The routes of the projects, and that every route asks the project it is told."""

from __future__ import annotations

from pathlib import Path

import pytest

from api.services import TOKEN, FakeService, make_job
from api.test_app import AUTH, client
from rag_source.api.app import create_app
from rag_source.domain.errors import NotFoundError
from rag_source.domain.projects import DEFAULT_PROJECT, Project


class FakeDirectory:
    """Two projects; adding and removing is remembered."""

    def __init__(self) -> None:
        self.services = {"water": FakeService()}
        self.services["water"].jobs = [make_job("pump.pdf")]
        self.folders = {DEFAULT_PROJECT: Path("/a"), "water": Path("/b")}

    def project(self, name: str) -> FakeService:
        if name not in self.services:
            raise NotFoundError(f"there is no project {name!r}")
        return self.services[name]

    def projects(self) -> list[Project]:
        return [
            Project(name=name, folder=folder, state=Path("/s") / name)
            for name, folder in self.folders.items()
        ]

    async def add(self, name: str, folder: Path) -> Project:
        self.folders[name] = folder
        return self.projects()[-1]

    async def remove(self, name: str) -> None:
        self.project(name)
        del self.folders[name]


async def test_projects_are_listed_added_and_removed() -> None:
    app = create_app(FakeService(), token=TOKEN, projects=FakeDirectory())
    async with client(app, AUTH) as http:
        added = await http.post("/v1/projects", json={"name": "new", "folder": "/c"})
        listed = await http.get("/v1/projects")
        left = await http.delete("/v1/projects/water")
        unknown = await http.delete("/v1/projects/unknown")
    assert added.json() == {"name": "new", "folder": "/c"}
    assert [p["name"] for p in listed.json()["projects"]] == ["default", "water", "new"]
    assert [p["name"] for p in left.json()["projects"]] == ["default", "new"]
    assert (unknown.status_code, unknown.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize("folder", ["relative", "", "/a\0b"])
async def test_folder_that_is_no_absolute_path_is_refused(folder: str) -> None:
    app = create_app(FakeService(), token=TOKEN, projects=FakeDirectory())
    async with client(app, AUTH) as http:
        response = await http.post("/v1/projects", json={"name": "new", "folder": folder})
    assert response.status_code == 400


async def test_route_asks_the_project_that_is_named() -> None:
    app = create_app(FakeService(), token=TOKEN, projects=FakeDirectory())
    async with client(app, AUTH) as http:
        default = await http.get("/v1/jobs")
        water = await http.get("/v1/jobs?project=water")
        unknown = await http.get("/v1/jobs?project=unknown")
    assert default.json()["jobs"][0]["path"] == "été.pdf"
    assert water.json()["jobs"][0]["path"] == "pump.pdf"
    assert unknown.status_code == 404


async def test_every_route_of_a_corpus_takes_a_project() -> None:
    paths = create_app(FakeService(), token=TOKEN).openapi()["paths"]
    without = {
        path
        for path, methods in paths.items()
        for method in methods.values()
        if "project" not in {p["name"] for p in method.get("parameters", [])}
    }
    assert without == {
        *("/v1/projects", "/v1/projects/{name}"),
        *("/v1/session", "/v1/session/code"),
    }
