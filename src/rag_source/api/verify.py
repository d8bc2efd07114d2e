"""The route that finds where a sentence comes from."""

from __future__ import annotations

from typing import Annotated, Protocol

from fastapi import APIRouter, Depends

from rag_source.api.service import service_of
from rag_source.api.verify_wire import VerifyRequest, VerifyResponse
from rag_source.domain.evidence import SearchFilter
from rag_source.domain.verification import Verification

__all__ = ["VerifyService", "router"]


class VerifyService(Protocol):
    """What this route needs."""

    async def verify(self, quote: str, *, filter: SearchFilter) -> Verification: ...


router = APIRouter(tags=["answers"])


@router.post("/v1/verify")
async def verify(
    body: VerifyRequest, service: Annotated[VerifyService, Depends(service_of)]
) -> VerifyResponse:
    """Where a sentence comes from: the verdict that a citation of it would get, and its place."""
    return VerifyResponse.of_verification(await service.verify(body.quote, filter=body.filter()))
