"""`link`: let a browser in."""

from __future__ import annotations

import asyncio
from typing import Annotated

import typer

from rag_source.cli.output import OK, print_json, say
from rag_source.cli.session import running_service, settings_of
from rag_source.domain.errors import BackendUnavailableError

__all__ = ["link"]


def link(
    context: typer.Context,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Print a link that lets one browser into the running service, once, within ten minutes."""
    # Lazy: httpx.
    from rag_source.api.session_wire import SessionCode, link_of
    from rag_source.cli.backends import RemoteBackend

    running = running_service(settings_of(context))
    if running is None:
        raise BackendUnavailableError("no service is running", hint="start it with `rag-source up`")
    url, token = running

    async def run() -> SessionCode:
        async with RemoteBackend(url, token) as backend:
            return await backend.new_code()

    made = asyncio.run(run())
    address = link_of(url, made.code)
    if json:
        print_json({"link": address, "expires_in_s": made.expires_in_s})
    else:
        say(address)
    raise typer.Exit(OK)
