"""The self-checks in wire form."""

from __future__ import annotations

from rag_source.api.wire_base import Wire
from rag_source.domain.health import Check

__all__ = ["CheckOut", "ChecksResponse"]


class CheckOut(Wire):
    """One self-check, and what to do if it is not `ok`."""

    name: str
    ok: bool
    detail: str
    remedy: str

    @classmethod
    def of(cls, check: Check) -> CheckOut:
        return cls(name=check.name, ok=check.ok, detail=check.detail, remedy=check.remedy)


class ChecksResponse(Wire):
    """The self-checks, the costly ones last."""

    checks: list[CheckOut]
