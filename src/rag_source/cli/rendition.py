"""`inspect --html`: one file as the web page would show it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from rag_source.cli.output import EMPTY, OK, print_error, print_json, say
from rag_source.domain.errors import RequestError, SourceError

if TYPE_CHECKING:
    from rag_source.domain.documents import ParsedDocument
    from rag_source.settings import Settings

__all__ = ["show_rendition"]


def show_rendition(settings: Settings, path: Path, *, as_json: bool) -> int:
    """Print the rendition of a file and nothing else; returns the exit code.

    Raises:
        RequestError: There is no file at `path`.
    """
    # Lazy: the parsers are not needed for `--help`.
    from rag_source.ingest.rendition import render

    if not path.is_file():
        raise RequestError(
            f"{str(path)!r} is not a file", code="not_found", hint="Give the path of one file."
        )
    try:
        html = render(asyncio.run(_parsed(settings, path))).html
    except SourceError as error:
        print_error(error, as_json=as_json)
        return EMPTY
    if as_json:
        print_json({"path": path.name, "html": html})
    else:
        say(html.removesuffix("\n"))
    return OK


async def _parsed(settings: Settings, path: Path) -> ParsedDocument:
    from rag_source.wiring import open_parser

    async with open_parser(settings) as parser:
        return await parser.parse(path)
