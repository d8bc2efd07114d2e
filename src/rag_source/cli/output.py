"""How the command line speaks: JSON or text on stdout, errors and progress on stderr."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import typer

from rag_source.domain.errors import RagError

__all__ = ["EMPTY", "ERROR", "OK", "Bar", "note", "print_error", "print_json", "say"]

OK, EMPTY, ERROR = 0, 1, 2
"""Exit codes: success; empty result, refusal or degraded service; error."""


def say(text: str = "") -> None:
    """A line of data."""
    sys.stdout.write(text + "\n")


def print_json(value: Any) -> None:
    """Data for programs: one JSON value, no escapes for letters that are not ASCII."""
    say(json.dumps(value, ensure_ascii=False, indent=2))


def note(text: str) -> None:
    """A line for the person at the terminal."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def print_error(error: RagError, *, as_json: bool) -> None:
    """The error in one line: `{code, message, hint}` as JSON or as text."""
    if as_json:
        note(json.dumps(error.as_dict(), ensure_ascii=False))
        return
    hint = f" ({error.hint})" if error.hint else ""
    label = typer.style(f"error [{error.code}]:", fg="red", bold=True) if _tty() else None
    note(f"{label or f'error [{error.code}]:'} {error.message}{hint}")


class Bar:
    """A progress line on stderr: redrawn in place on a terminal, a line every 10 s elsewhere."""

    def __init__(self, label: str, *, unit: str = "", scale: float = 1.0) -> None:
        self._label = label
        self._unit = unit
        self._scale = scale
        self._shown_at = 0.0
        self._drawn = False

    def update(self, done: float, total: float, detail: str = "") -> None:
        """Show `done` of `total`; cheap to call often."""
        now = time.monotonic()
        if now - self._shown_at < (0.1 if _tty() else 10.0) and done < total:
            return
        self._shown_at = now
        share = done / total if total else 1.0
        figures = f"{done / self._scale:,.0f}/{total / self._scale:,.0f}{self._unit}"
        if _tty():
            filled = "█" * int(24 * share)
            sys.stderr.write(f"\r\033[K{self._label} {filled:░<24} {figures} {detail[:40]}")
            sys.stderr.flush()
            self._drawn = True
        else:
            note(f"{self._label} {share:4.0%} {figures} {detail}".rstrip())

    def close(self) -> None:
        """End the line."""
        if self._drawn:
            sys.stderr.write("\r\033[K")
            sys.stderr.flush()


def _tty() -> bool:
    return sys.stderr.isatty()
