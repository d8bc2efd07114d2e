"""What was done, when and how it ended: never what was asked, answered or read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

__all__ = ["LIMIT_ENTRIES", "AuditEntry", "AuditKind", "AuditLog"]

LIMIT_ENTRIES = 10_000
"""How many entries are kept; the oldest go first."""

AuditKind: TypeAlias = Literal["request", "action"]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """A request to the service, or something that the program did by itself.

    `name` is the method and the template of the route, or the action's name; `subject` the id of
    what it was about, if any. `at` is an ISO 8601 time in UTC. `status` is that of HTTP; an action
    that went well has 200, one that failed 500.
    """

    at: str
    kind: AuditKind
    name: str
    status: int
    milliseconds: float
    request_id: str = ""
    subject: str = ""


class AuditLog(Protocol):
    """The last `LIMIT_ENTRIES` entries. Synchronous, like the catalogue."""

    def record(self, entries: Sequence[AuditEntry]) -> None:
        """Add entries in their order."""

    def entries(self, *, limit: int) -> list[AuditEntry]:
        """The last ones, the newest first."""
