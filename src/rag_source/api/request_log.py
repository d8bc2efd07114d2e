"""What every response has in common: an id, safe headers, a line in the log, and an answer at all.

The line names the route, never the path, the query or a body: documents and questions are private.
"""

from __future__ import annotations

import asyncio
import logging
import re
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["RequestLog", "Served"]

logger = logging.getLogger(__name__)

_CLIENT_LEFT = 499  # As nginx logs it: nobody was there to take the answer.
_ID = re.compile(r"[A-Za-z0-9_-]{8,64}")
_DEFAULTS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}
"""Of every response that does not say otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """One request when it is over.

    `route` is the template of its path, `-` for a request that was refused or that no route is for.
    """

    request_id: str
    method: str
    route: str
    status: int
    milliseconds: float
    caller: str


class RequestLog:
    """Wraps everything else.

    Args:
        app: The rest.
        on_served: Called with each request when it is over; must not wait.
        clock: Seconds, monotonic.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        on_served: Callable[[Served], None] = lambda served: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._app = app
        self._on_served = on_served
        self._clock = clock

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request_id = _request_id(scope)
        scope.setdefault("state", {})["request_id"] = request_id
        began = self._clock()
        status = 0

        async def headed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["X-Request-Id"] = request_id
                for name, value in _DEFAULTS.items():
                    headers.setdefault(name, value)
            await send(message)

        try:
            await self._app(scope, receive, headed)
        except asyncio.CancelledError:
            status = _CLIENT_LEFT
            raise
        except Exception as error:
            logger.error("request failed id=%s", request_id, exc_info=error)
            if status:
                # The answer has begun: only a broken connection tells that it is not whole.
                raise
            await _unforeseen()(scope, receive, headed)
        finally:
            self._tell(scope, request_id, status, (self._clock() - began) * 1000)

    def _tell(self, scope: Scope, request_id: str, status: int, milliseconds: float) -> None:
        state = scope["state"]
        route = state.get("route") or getattr(scope.get("route"), "path", "") or "-"
        served = Served(
            request_id=request_id,
            method=scope["method"],
            route=route,
            status=status or _CLIENT_LEFT,
            milliseconds=round(milliseconds, 1),
            caller=state.get("caller", ""),
        )
        logger.info(
            "request id=%s method=%s route=%s status=%d ms=%.0f caller=%s",
            *(served.request_id, served.method, served.route, served.status),
            *(served.milliseconds, served.caller or "-"),
        )
        self._on_served(served)


def _request_id(scope: Scope) -> str:
    """The one that a proxy gave, if it looks like one, so that both logs agree."""
    given = Headers(scope=scope).get("x-request-id", "")
    return given if _ID.fullmatch(given) else secrets.token_hex(8)


def _unforeseen() -> JSONResponse:
    body = {"code": "internal", "message": "the request failed", "hint": "see the log"}
    return JSONResponse(body, status_code=500)
