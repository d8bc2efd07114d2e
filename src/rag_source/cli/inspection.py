"""What `inspect` prints, and its option that may stand without its value."""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import aclosing
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand

from rag_source.cli.output import Bar, print_json, say

if TYPE_CHECKING:
    from rag_source.ingest import FileInspection, Selection
    from rag_source.settings import Settings

__all__ = ["DEFAULT_SAMPLE", "InspectCommand", "show_files"]

DEFAULT_SAMPLE = 12


class InspectCommand(TyperCommand):
    """Takes `--sample` without a number for `--sample 12`; Typer knows no optional values."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        completed: list[str] = []
        for i, argument in enumerate(args):
            completed.append(argument)
            if argument == "--sample" and not "".join(args[i + 1 : i + 2]).lstrip("-").isdecimal():
                completed.append(str(DEFAULT_SAMPLE))
        return super().parse_args(ctx, completed)


async def show_files(
    settings: Settings, selection: Selection, *, with_text: bool, as_json: bool
) -> Counter[str]:
    """Print each file as soon as it is inspected, or all of them as one JSON value at the end.

    Returns how many files came to which status.
    """
    # Lazy: the whole application.
    from rag_source.wiring import inspect_files

    shown: list[dict[str, object]] = []
    states: Counter[str] = Counter()
    bar = Bar("inspecting")
    try:
        async with aclosing(inspect_files(settings, selection)) as files:
            async for file in files:
                states[file.status] += 1
                bar.close()
                if as_json:
                    shown.append(asdict(file if with_text else replace(file, text="")))
                else:
                    _say_file(file, with_text=with_text)
                if len(selection.files) > 1:
                    bar.update(states.total(), len(selection.files), file.path)
    finally:
        bar.close()
    if as_json:
        print_json({"files": shown, "left_out": selection.left_out})
    elif states.total() + selection.left_out > 1:
        _say_summary(states, left_out=selection.left_out)
    return states


def _say_file(file: FileInspection, *, with_text: bool) -> None:
    """A line for the file, one for its reason and each warning, and its text if wanted."""
    state = f"{file.status} [{file.code}]" if file.code else file.status
    say(", ".join([f"{file.path}: {state}", file.loader or "no loader", *_figures(file)]))
    if file.message:
        say(f"  {file.message}")
    for warning in file.warnings:
        say(f"  {warning.message} [{warning.code}]")
    if with_text and file.text:
        say(file.text)
    # The next file may take minutes, and whoever reads a pipe waits for this one.
    sys.stdout.flush()


def _say_summary(states: Counter[str], *, left_out: int) -> None:
    """How many files came to which end, and how many were not looked at."""
    total = states.total()
    counts = ", ".join(f"{count} {state}" for state, count in sorted(states.items(), reverse=True))
    rest = f"; {left_out} of {total + left_out} left out" if left_out else ""
    say(f"{_counted(total, 'file')}: {counts}{rest}")


def _figures(file: FileInspection) -> list[str]:
    """What was found, zeros left out."""
    if not file.blocks:
        return []
    kinds = ", ".join(_counted(count, kind.replace("_", " ")) for kind, count in file.kinds.items())
    figures = [f"language {file.language}"]
    if file.pages:
        ocr = f" ({file.ocr_pages} by OCR)" if file.ocr_pages else ""
        figures.append(_counted(file.pages, "page") + ocr)
    figures.append(f"{_counted(file.blocks, 'block')} ({kinds})")
    if file.tables:
        figures.append(_counted(file.tables, "table"))
    figures.append(_counted(file.chunks, "chunk"))
    return figures


def _counted(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 or noun.endswith("text") else "s")
