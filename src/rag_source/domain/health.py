"""Whether the installation can answer, and what is missing if not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from rag_source.domain.sovereignty import Outflow, Sovereignty

__all__ = ["Check", "Health", "Reembedding"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One self-check: what was found, and in one line what to do if it is not `ok`."""

    name: str
    ok: bool
    detail: str
    remedy: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reembedding:
    """An index on its way to another embedding model: `done` of `total` documents.

    `former` is the model of the index that answers, `wanted` that of the one being made.
    """

    former: str
    wanted: str
    done: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """`problems` are one line each, with the remedy; any of them makes the status `degraded`.

    `warnings` are worth knowing and change no status. `waiting_jobs` are files that are still to be
    indexed. `models` maps a role (`llm`, `embed`) to the file, package or service that serves it.
    `outflows` are what is sent to services outside, `reembedding` a change of the embedding model
    that is not done yet.
    """

    profile: str
    documents: int
    failed_documents: int
    chunks: int
    models: dict[str, str]
    waiting_jobs: int = 0
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    outflows: tuple[Outflow, ...] = ()
    reembedding: Reembedding | None = None

    @property
    def sovereignty(self) -> Sovereignty:
        return "external" if self.outflows else "local"

    @property
    def status(self) -> Literal["ok", "degraded"]:
        return "degraded" if self.problems else "ok"
