"""`verify`: one quote against the documents, or a file of checks against itself."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rag_source.cli.output import EMPTY, OK, print_json, say
from rag_source.cli.session import open_backend, settings_of
from rag_source.domain.errors import RequestError

if TYPE_CHECKING:
    from rag_source.api.verify_wire import CandidateOut, VerifyResponse

__all__ = ["verify"]

_MARKS = {"verified": "✓", "unverified": "~", "not_found": "✗"}


def verify(
    context: typer.Context,
    quote: Annotated[
        str | None, typer.Option("--quote", help="A sentence: where does it come from?")
    ] = None,
    source: Annotated[
        list[str] | None, typer.Option("--source", help="Only this document; may be repeated.")
    ] = None,
    checks: Annotated[
        Path | None, typer.Option("--checks", help="JSON lines {id, source, quote, expect}.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Find a quote in the documents, or judge a file of quotes; exit 1 unless all is verified."""
    if (quote is None) == (checks is None):
        raise RequestError(
            "`verify` needs either --quote or --checks",
            hint='give --quote "the sentence", or --checks FILE',
            code="bad_options",
        )
    if checks is not None:
        raise typer.Exit(_judge_file(checks, as_json=json))
    settings = settings_of(context)

    async def run() -> VerifyResponse:
        async with open_backend(settings, "rag-source verify") as backend:
            return await backend.verify(quote or "", sources=source or [])

    found = asyncio.run(run())
    if json:
        print_json(found.model_dump(mode="json"))
    else:
        _print_found(found)
    raise typer.Exit(OK if found.status == "verified" else EMPTY)


def _judge_file(checks: Path, *, as_json: bool) -> int:
    # Lazy: rapidfuzz.
    from rag_source.generation.check_file import run_checks

    try:
        with checks.open(encoding="utf-8") as lines:
            report = run_checks(lines)
    except (OSError, UnicodeDecodeError) as error:
        raise RequestError(
            f"the file {str(checks)!r} cannot be read: {error}",
            hint="give a UTF-8 file of JSON lines",
            code="unreadable_checks",
        ) from error
    if as_json:
        print_json(asdict(report))
    else:
        say(
            f"{report.right} of {report.total} right, {report.false_verified} falsely verified, "
            f"{report.false_unverified} falsely unverified"
        )
        for name in report.wrong:
            say(f"  {name}")
    return OK if report.right == report.total else EMPTY


def _print_found(found: VerifyResponse) -> None:
    say(f"{_MARKS[found.status]} {found.status}")
    if found.path:
        _print_place(found)
    elif found.reason:
        say(f"  {found.reason}")
    for candidate in found.candidates:
        say(f"  also {_MARKS[candidate.status]}" if found.path else "  nearest")
        _print_place(candidate)


def _print_place(place: CandidateOut) -> None:
    page = f", p. {place.page}" if place.page else ""
    say(f"  {place.path}{page} ({place.score:.0f})")
    words = " ".join(place.source_words.split())
    say(f"      « {words if len(words) <= 200 else words[:199] + '…'} »")
    if place.reason:
        say(f"      {place.reason}")
