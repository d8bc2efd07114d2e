"""The Typer application: global options, the commands, and the way every error leaves."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Annotated

import typer

from rag_source.cli import ask, corpus, jobs, measure, models, projects, service
from rag_source.cli.inspection import InspectCommand
from rag_source.cli.link import link
from rag_source.cli.output import ERROR, note, print_error
from rag_source.cli.session import Options
from rag_source.cli.verify import verify
from rag_source.domain.errors import RagError

__all__ = ["app", "main"]

app = typer.Typer(
    name="rag-source",
    help="Ask a folder of documents; every claim opens the original at the words it rests on.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
)


@app.callback()
def options(
    context: typer.Context,
    data_dir: Annotated[
        Path | None, typer.Option(help="Folder of documents (RAG_SOURCE_DATA_DIR).")
    ] = None,
    state_dir: Annotated[
        Path | None, typer.Option(help="Where the index lives (RAG_SOURCE_STATE_DIR).")
    ] = None,
    project: Annotated[
        str | None, typer.Option(help="Project to work on (RAG_SOURCE_PROJECT).")
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Log what happens to stderr.")
    ] = False,
) -> None:
    """Options that come before the command."""
    context.obj = Options(data_dir=data_dir, state_dir=state_dir, project=project, verbose=verbose)


for command in (
    service.demo,
    service.up,
    link,
    service.health,
    service.doctor,
    corpus.docs,
    ask.ask,
    ask.search,
    corpus.ingest,
    jobs.jobs,
    corpus.inspect,
    verify,
    service.config,
):
    app.command(cls=InspectCommand if command is corpus.inspect else None)(command)
app.command(name="eval")(measure.evaluate)
app.add_typer(models.app, name="models")
app.add_typer(projects.app, name="projects")


def main() -> None:
    """Entry point: run a command and leave with its exit code."""
    try:
        app()
    except RagError as error:
        logging.getLogger(__name__).debug("failed", exc_info=error)
        print_error(error, as_json="--json" in sys.argv)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # The reader of our output left (`| head`); there is nobody to tell.
        sys.stderr.close()
        sys.exit(ERROR)
    except KeyboardInterrupt:
        note("interrupted")
        sys.exit(130)
