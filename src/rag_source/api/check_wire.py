"""The self-checks in wire form."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from rag_source.domain.health import Check

__all__ = ["CheckOut", "ChecksResponse"]


class _Wire(BaseModel):
    model_config = ConfigDict(extra="forbid")


class CheckOut(_Wire):
    """One self-check, and what to do if it is not `ok`."""

    name: str
    ok: bool
    detail: str
    remedy: str

    @classmethod
    def of(cls, check: Check) -> CheckOut:
        return cls(name=check.name, ok=check.ok, detail=check.detail, remedy=check.remedy)


class ChecksResponse(_Wire):
    """The self-checks, the costly ones last."""

    checks: list[CheckOut]
