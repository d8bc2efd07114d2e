"""Whether the installation can answer, and what is missing if not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Check", "Health"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One self-check: what was found, and in one line what to do if it is not `ok`."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """`problems` are one line each, with the remedy; any of them makes the status `degraded`.

    `waiting_jobs` are files that are still to be indexed. `models` maps a role (`llm`, `embed`) to
    the file or package that serves it.
    """

    profile: str
    documents: int
    failed_documents: int
    chunks: int
    models: dict[str, str]
    waiting_jobs: int = 0
    problems: tuple[str, ...] = ()

    @property
    def status(self) -> Literal["ok", "degraded"]:
        return "degraded" if self.problems else "ok"
