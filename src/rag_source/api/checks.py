"""The route of the self-checks."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Annotated, Protocol

from fastapi import APIRouter, Depends

from rag_source.api.check_wire import CheckOut, ChecksResponse
from rag_source.api.service import service_of
from rag_source.domain.health import Check

__all__ = ["router"]


class CheckService(Protocol):
    """What this route needs."""

    def checks(self) -> AsyncIterator[Check]: ...

    async def repair(self) -> int: ...


router = APIRouter(tags=["corpus"])


@router.post("/v1/checks")
async def checks(
    service: Annotated[CheckService, Depends(service_of)], repair: bool = False
) -> ChecksResponse:
    """Ask each part whether it does what an answer rests on; starts the models."""
    if repair:
        await service.repair()
    return ChecksResponse(checks=[CheckOut.of(check) async for check in service.checks()])
