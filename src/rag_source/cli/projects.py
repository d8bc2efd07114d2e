"""`projects`: the folders that have an index of their own."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag_source.cli.output import OK, print_json, say
from rag_source.cli.session import settings_of

if TYPE_CHECKING:
    from rag_source.store.projects import ProjectRegistry

__all__ = ["app"]

app = typer.Typer(help="Folders of documents that each have an index of their own.")


@app.command(name="list")
def list_(
    context: typer.Context,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the projects; `--project NAME` before a command works on one of them."""
    projects = _registry(context).projects()
    if json:
        print_json({"projects": [{"name": p.name, "folder": str(p.folder)} for p in projects]})
    else:
        for project in projects:
            say(f"{project.name}: {project.folder}")
        if not projects:
            say("no projects but the default one, the folder of RAG_SOURCE_DATA_DIR")
    raise typer.Exit(OK)


@app.command()
def add(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="A short name for it.")],
    folder: Annotated[Path, typer.Argument(help="The folder of its documents.")],
) -> None:
    """Make a project of a folder; a running service serves it a moment later."""
    project = _registry(context).add(name, folder)
    say(f"{project.name}: {project.folder}")


@app.command()
def remove(
    context: typer.Context,
    name: Annotated[str, typer.Argument(help="The project.")],
) -> None:
    """Forget a project and delete its index; its documents stay untouched."""
    project = _registry(context).remove(name)
    say(f"{project.name} is forgotten; {project.folder} is as it was")


def _registry(context: typer.Context) -> ProjectRegistry:
    # Lazy: `--help` needs no settings.
    from rag_source.store.projects import ProjectRegistry

    return ProjectRegistry(settings_of(context, for_project=False).projects_dir())
