"""`jobs`: what is still to be indexed, and the user's hand on it."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from rag_source.cli.output import OK, print_json, say
from rag_source.cli.session import open_backend, settings_of

if TYPE_CHECKING:
    from rag_source.api.job_wire import JobOut, JobsResponse

__all__ = ["jobs"]


class _Action(StrEnum):
    pause = "pause"
    resume = "resume"
    cancel = "cancel"
    retry = "retry"
    prefer = "prefer"


def jobs(
    context: typer.Context,
    action: Annotated[_Action | None, typer.Argument(help="What to do.")] = None,
    path: Annotated[
        str | None, typer.Argument(help="The file, by its path in the folder; all without it.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the files that wait to be indexed; pause, resume, cancel, retry or prefer them."""
    settings = settings_of(context)

    async def run() -> JobsResponse:
        async with open_backend(settings, "rag-source jobs") as backend:
            if action is None:
                return await backend.jobs()
            return await backend.control(action.value, path)

    queue = asyncio.run(run())
    if json:
        print_json(queue.model_dump(mode="json"))
    else:
        if queue.paused:
            say("indexing is paused: `rag-source jobs resume` goes on")
        for job in queue.jobs:
            say(f"{job.state:<9} {job.path}{_progress(job)}")
        if not queue.jobs:
            say("nothing waits to be indexed")
    raise typer.Exit(OK)


def _progress(job: JobOut) -> str:
    return f": {job.done:,} of {job.total:,}" if job.total else ""
