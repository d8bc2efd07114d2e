"""`models list`, `models fetch` and `models verify`."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from rag_source.cli.output import EMPTY, OK, Bar, note, print_json, say
from rag_source.cli.session import settings_of

if TYPE_CHECKING:
    from rag_source.models.library import ModelLibrary, ModelStatus

__all__ = ["app"]

app = typer.Typer(help="The model files: list, fetch, verify.", no_args_is_help=True)

_Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
_Profile = Annotated[str, typer.Argument(help="A profile of models.lock, such as embedded.")]


@app.command(name="list")
def list_models(context: typer.Context, json: _Json = False) -> None:
    """List every pinned model and what the cache has of it."""
    _print(_library(context).statuses(), as_json=json)


@app.command()
def fetch(context: typer.Context, profile: _Profile, json: _Json = False) -> None:
    """Obtain the models of a profile, check their hashes, and keep them for every checkout."""
    library = _library(context)
    for pin in library.lock.of_profile(profile):
        if pin.note:
            note(f"{pin.name}: {pin.licence} ({pin.note})")
    bar = Bar("fetching", unit=" MB", scale=1e6)

    async def run() -> list[ModelStatus]:
        try:
            return await library.fetch(profile, bar.update)
        finally:
            bar.close()

    _print(asyncio.run(run()), as_json=json)


@app.command()
def verify(
    context: typer.Context,
    profile: Annotated[str, typer.Argument(help="A profile of models.lock.")] = "embedded",
    json: _Json = False,
) -> None:
    """Hash the model files of a profile again; exit 1 if one is missing or another file."""
    library = _library(context)
    bar = Bar("checking", unit=" MB", scale=1e6)

    async def run() -> list[ModelStatus]:
        try:
            return await library.verify(profile, bar.update)
        finally:
            bar.close()

    statuses = asyncio.run(run())
    _print(statuses, as_json=json)
    raise typer.Exit(OK if all(status.state == "ready" for status in statuses) else EMPTY)


def _library(context: typer.Context) -> ModelLibrary:
    # Lazy: `--help` needs no HTTP client.
    from rag_source.wiring import model_library

    return model_library(settings_of(context))


def _print(statuses: Sequence[ModelStatus], *, as_json: bool) -> None:
    if as_json:
        print_json({"models": [_row(status) for status in statuses]})
        return
    for status in statuses:
        profiles = ", ".join(status.pin.profiles)
        say(
            f"{status.state:<8} {status.pin.role:<6} {status.pin.name} "
            f"({profiles}; {status.pin.licence}) {status.size_bytes / 1e6:,.0f} MB"
        )
        if status.path:
            say(f"         {status.path}")


def _row(status: ModelStatus) -> dict[str, object]:
    return {
        "name": status.pin.name,
        "role": status.pin.role,
        "profiles": list(status.pin.profiles),
        "licence": status.pin.licence,
        "state": status.state,
        "path": status.path,
        "size_bytes": status.size_bytes,
    }
