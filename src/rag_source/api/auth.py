"""Who may call: a bearer token on every route but the liveness of `/health`.

A middleware, not a dependency of each route: a route that someone forgets to decorate is closed,
not open.
"""

from __future__ import annotations

import hmac

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rag_source.domain.errors import RequestError, UnauthorizedError

__all__ = ["BearerAuth", "BodyLimit"]

_OPEN_PATHS = frozenset({"/health"})
_WRONG = UnauthorizedError(
    "the request has no valid token",
    hint="send the header 'Authorization: Bearer TOKEN'; `rag-source config` says where it is kept",
)


class BearerAuth:
    """Answers 401 without the right token; marks open paths as authorised or not."""

    def __init__(self, app: ASGIApp, *, token: str) -> None:
        if not token.strip():
            raise ValueError("an empty token guards nothing")
        self._app = app
        self._token = token.encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        authorized = self._is_authorized(Headers(scope=scope).get("authorization", ""))
        scope.setdefault("state", {})["authorized"] = authorized
        if authorized or scope["path"] in _OPEN_PATHS:
            await self._app(scope, receive, send)
            return
        response = JSONResponse(
            _WRONG.as_dict(), status_code=401, headers={"WWW-Authenticate": "Bearer"}
        )
        await response(scope, receive, send)

    def _is_authorized(self, header: str) -> bool:
        scheme, _, given = header.partition(" ")
        return scheme.lower() == "bearer" and hmac.compare_digest(given.encode(), self._token)


class BodyLimit:
    """Answers 413 to a body over `limit_bytes`, declared or not, before it is all in memory."""

    def __init__(self, app: ASGIApp, *, limit_bytes: int) -> None:
        self._app = app
        self._limit_bytes = limit_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        declared = Headers(scope=scope).get("content-length", "0")
        if declared.isdigit() and int(declared) > self._limit_bytes:
            error = RequestError(
                f"the request body is over {self._limit_bytes} bytes", code="body_too_large"
            )
            await JSONResponse(error.as_dict(), status_code=413)(scope, receive, send)
            return
        received = 0

        async def counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._limit_bytes:
                # Cutting the body makes it invalid JSON: the route answers 4xx, memory stays flat.
                return {"type": "http.request", "body": b"", "more_body": False}
            return message

        await self._app(scope, counted, send)
