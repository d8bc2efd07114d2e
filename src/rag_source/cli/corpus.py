"""`ingest`, `inspect` and `docs`."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag_source.cli.inspection import DEFAULT_SAMPLE, show_files
from rag_source.cli.output import EMPTY, OK, Bar, print_json, say
from rag_source.cli.rendition import show_rendition
from rag_source.cli.session import open_backend, settings_of

if TYPE_CHECKING:
    from rag_source.api.corpus_wire import DocumentsResponse, IngestResponse

__all__ = ["docs", "ingest", "inspect"]

_Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def ingest(
    context: typer.Context,
    force: Annotated[bool, typer.Option(help="Parse and embed everything again.")] = False,
    json: _Json = False,
) -> None:
    """Bring the index up to date with the folder; exit 1 if nothing in it can be searched."""
    settings = settings_of(context)
    settings.data_dir()

    async def run() -> tuple[IngestResponse, DocumentsResponse]:
        bar = Bar("indexing")
        try:
            async with open_backend(settings, "rag-source ingest") as backend:
                report = await backend.ingest(force=force, on_progress=bar.update)
                return report, await backend.documents()
        finally:
            bar.close()

    report, documents = asyncio.run(run())
    if json:
        print_json(report.model_dump(mode="json"))
    else:
        say(
            f"{report.added} added, {report.updated} updated, {report.removed} removed, "
            f"{report.unchanged} unchanged, {len(report.failed)} failed, "
            f"{report.chunks} chunks, {report.seconds:.1f} s"
        )
        for failure in report.failed:
            say(f"  ✗ {failure.path}: {failure.message} [{failure.code}]")
    ready = any(document.status == "ready" for document in documents.documents)
    raise typer.Exit(OK if ready else EMPTY)


def inspect(
    context: typer.Context,
    path: Annotated[Path, typer.Argument(help="A file or a folder.")],
    sample: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="[N]",
            help=f"Look at N files of the folder, of every format; {DEFAULT_SAMPLE} without N.",
        ),
    ] = None,
    text: Annotated[bool, typer.Option("--text", help="Print the full document text.")] = False,
    html: Annotated[bool, typer.Option("--html", help="Print one file as HTML, no more.")] = False,
    json: _Json = False,
) -> None:
    """Show what ingestion extracts, without indexing; exit 1 if no file can be used."""
    # Lazy: the application is not needed for `--help`.
    from rag_source.ingest import select_files

    settings = settings_of(context)
    if html:
        raise typer.Exit(show_rendition(settings, path, as_json=json))
    selection = select_files(path, sample=sample or 0)
    states = asyncio.run(show_files(settings, selection, with_text=text, as_json=json))
    raise typer.Exit(OK if states["ready"] else EMPTY)


def docs(context: typer.Context, json: _Json = False) -> None:
    """List the documents and their states; exit 1 if there are none."""
    settings = settings_of(context)

    async def run() -> DocumentsResponse:
        async with open_backend(settings, "rag-source docs") as backend:
            return await backend.documents()

    documents = asyncio.run(run()).documents
    if json:
        print_json({"documents": [document.model_dump(mode="json") for document in documents]})
    else:
        for document in sorted(documents, key=lambda d: (d.status == "ready", d.path)):
            mark = "✓" if document.status == "ready" else "✗"
            detail = f"{document.pages} pages, " if document.pages else ""
            problem = f" {document.message} [{document.code}]" if document.code else ""
            say(f"{mark} {document.path}: {detail}{document.chunks} chunks{problem}")
            for warning in document.warnings:
                say(f"    {warning}")
    raise typer.Exit(OK if documents else EMPTY)
