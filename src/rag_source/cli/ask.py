"""`ask` and `search`."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from rag_source.cli.output import EMPTY, OK, print_json, say
from rag_source.cli.session import open_backend, settings_of
from rag_source.domain.errors import RequestError
from rag_source.domain.evidence import SEARCH_MODES, SearchMode

if TYPE_CHECKING:
    from rag_source.api.wire import AskResponse, CitationOut, SearchResponse

__all__ = ["ask", "print_answer", "search"]

_MARKS = {"verified": "✓", "unverified": "~", "rejected": "✗"}
_Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
_Mode = Annotated[str, typer.Option(help=f"One of {', '.join(SEARCH_MODES)}.")]
_Source = Annotated[
    list[str] | None, typer.Option("--source", help="Only this document; may be repeated.")
]


def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="The question, in any of fr, en, ar.")],
    source: _Source = None,
    mode: _Mode = "hybrid+rerank",
    json: _Json = False,
) -> None:
    """Answer a question with checked citations; exit 1 for a refusal."""
    settings = settings_of(context)
    checked = check_mode(mode)

    async def run() -> AskResponse:
        async with open_backend(settings, "rag-source ask") as backend:
            draft = _Draft(shown=not json and sys.stderr.isatty())
            try:
                return await backend.ask(
                    question, mode=checked, sources=source or [], on_token=draft.show
                )
            finally:
                draft.clear()

    answer = asyncio.run(run())
    if json:
        print_json(answer.model_dump(mode="json", exclude={"question"}))
    else:
        print_answer(answer)
    raise typer.Exit(EMPTY if answer.refused else OK)


def search(
    context: typer.Context,
    query: Annotated[str, typer.Argument(help="What to look for.")],
    source: _Source = None,
    mode: _Mode = "hybrid+rerank",
    limit: Annotated[int, typer.Option(min=1, max=100, help="How many results.")] = 6,
    json: _Json = False,
) -> None:
    """Find evidence; exit 1 if there is none above the threshold."""
    settings = settings_of(context)
    checked = check_mode(mode)

    async def run() -> SearchResponse:
        async with open_backend(settings, "rag-source search") as backend:
            return await backend.search(query, mode=checked, limit=limit, sources=source or [])

    result = asyncio.run(run())
    if json:
        print_json(result.model_dump(mode="json"))
    else:
        _print_search(result)
    raise typer.Exit(OK if any(hit.kept for hit in result.results) else EMPTY)


def check_mode(mode: str) -> SearchMode:
    """The mode, if it is one.

    Raises:
        RequestError: It is not.
    """
    for known in SEARCH_MODES:
        if mode == known:
            return known
    raise RequestError(
        f"unknown mode {mode!r}", hint="use one of " + ", ".join(SEARCH_MODES), code="unknown_mode"
    )


def print_answer(answer: AskResponse) -> None:
    """The answer, then each citation with its verdict, place and the source's own words."""
    say(answer.answer)
    if answer.near_miss is not None:
        miss = answer.near_miss
        where = f"{miss.path}, p. {miss.page}" if miss.page else miss.path
        say(f"  ≈ {where} ({miss.score:.2f} < {miss.threshold:.2f}): {_one_line(miss.text)}")
    if answer.citations:
        say()
    for citation in answer.citations:
        say(f"  {_MARKS[citation.status]} [{citation.marker}] {_place(citation)}")
        if citation.quote:
            say(f"      « {_one_line(citation.quote)} »")
        if citation.occurrences > 1:
            say(f"      one of {citation.occurrences} places with these words")
        if citation.reason:
            say(f"      {citation.reason}")
    if answer.badge:
        say()
        say(answer.badge)
    for figure in answer.uncited_figures:
        say(f"  ! {figure}")


def _print_search(result: SearchResponse) -> None:
    for hit in result.results:
        place = f"{hit.path}, p. {hit.page}" if hit.page else hit.path
        mark = "✓" if hit.kept else " "
        section = f" · {hit.section}" if hit.section else ""
        say(f"{hit.rank:>2} {mark} {hit.score:.3f}  {place}{section}")
        say(f"      {_one_line(hit.text)}")
    if result.threshold is not None:
        say(f"✓ = reaches the threshold {result.threshold:.2f}")


def _place(citation: CitationOut) -> str:
    if not citation.path:
        return citation.status
    page = f", p. {citation.page}" if citation.page else f", {citation.block}"
    if citation.table is not None:
        sheet = f"{citation.table.sheet} " if citation.table.sheet else ""
        page = f"{page if citation.page else ''}, {sheet}row {citation.table.row}"
    how = "exact" if citation.score == 100 else f"{citation.score:.0f}"
    return f"{citation.path}{page} ({citation.status}, {how})"


def _one_line(text: str, limit: int = 200) -> str:
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"


class _Draft:
    """The words as they come, dim on stderr; the checked answer replaces them on stdout."""

    def __init__(self, *, shown: bool) -> None:
        self._shown = shown
        self._open = False

    def show(self, text: str) -> None:
        if self._shown:
            sys.stderr.write("\033[2m" + text + "\033[0m")
            sys.stderr.flush()
            self._open = True

    def clear(self) -> None:
        if self._open:
            sys.stderr.write("\n\n")
            self._open = False
