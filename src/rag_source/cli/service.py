"""`up`, `health`, `doctor`, `config` and `demo`."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rag_source.cli.output import EMPTY, OK, Bar, note, print_json, say
from rag_source.cli.session import open_backend, settings_of

if TYPE_CHECKING:
    from rag_source.api.check_wire import CheckOut
    from rag_source.api.corpus_wire import HealthResponse

__all__ = ["config", "demo", "doctor", "health", "up"]

_Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def up(
    context: typer.Context,
    port: Annotated[int | None, typer.Option(help="Port (RAG_SOURCE_API_PORT).")] = None,
) -> None:
    """Index the folder and serve the API on 127.0.0.1 until interrupted."""
    # Lazy: the whole application.
    from rag_source.api.up import run_service

    overrides: dict[str, Any] = {} if port is None else {"api": {"port": port}}
    settings = settings_of(context, **overrides)
    settings.data_dir()
    bar = Bar("indexing")
    asyncio.run(run_service(settings, say=note, on_progress=bar.update))


def health(context: typer.Context, json: _Json = False) -> None:
    """Say whether questions can be answered; exit 1 if something is missing."""
    settings = settings_of(context)

    async def run() -> HealthResponse:
        async with open_backend(settings, "rag-source health") as backend:
            return await backend.health()

    report = asyncio.run(run())
    if json:
        print_json(report.model_dump(mode="json"))
    else:
        say(f"{report.status}: profile {report.profile}, {report.sovereignty}")
        say(f"  {report.documents} documents ({report.failed_documents} failed), ")
        for role, name in (report.models or {}).items():
            say(f"  {role}: {name}")
        for problem in report.problems:
            say(f"  ! {problem}")
        for warning in report.warnings:
            say(f"  ~ {warning}")
    raise typer.Exit(OK if report.status == "ok" else EMPTY)


def doctor(
    context: typer.Context,
    repair: Annotated[
        bool, typer.Option(help="Have documents indexed anew whose record and chunks disagree.")
    ] = False,
    json: _Json = False,
) -> None:
    """Check that every part does what an answer rests on; exit 1 with the remedies if not."""
    settings = settings_of(context)

    async def run() -> list[CheckOut]:
        found: list[CheckOut] = []
        async with open_backend(settings, "rag-source doctor") as backend:
            async for check in backend.checks(repair=repair):
                found.append(check)
                if not json:
                    say(f"{'✓' if check.ok else '✗'} {check.name}: {check.detail}")
                    if check.remedy:
                        say(f"    {check.remedy}")
        return found

    checks = asyncio.run(run())
    if json:
        print_json({"checks": [check.model_dump(mode="json") for check in checks]})
    raise typer.Exit(OK if all(check.ok for check in checks) else EMPTY)


def config(context: typer.Context, json: _Json = False) -> None:
    """Print the effective settings; secrets are masked."""
    settings = settings_of(context)
    values = settings.model_dump(mode="json")
    if settings.data.dir is not None or settings.state.dir is not None:
        state = settings.state_dir()
        values["state"]["dir"] = str(state)
        values["api"]["token_file"] = str(state / "api-token")
    values["cache"]["dir"] = str(settings.cache_dir())
    if json:
        print_json(values)
        return
    for section, fields in values.items():
        if isinstance(fields, dict):
            for name, value in fields.items():
                say(f"{section}.{name} = {value}")
        else:
            say(f"{section} = {fields}")


def demo(
    context: typer.Context,
    json: _Json = False,
) -> None:
    """Index the samples and ask one question in each language, and one they do not answer."""
    # Lazy: the whole application.
    from rag_source.cli.demo import run_demo

    raise typer.Exit(run_demo(settings_of, context, as_json=json))
