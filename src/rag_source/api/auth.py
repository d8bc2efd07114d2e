"""Who may call: a token or a session on every route, but for the few that are open.

Middlewares, not dependencies of each route: a route that someone forgets to decorate is closed,
not open.
"""

from __future__ import annotations

import hmac
import ipaddress
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rag_source.api.session import SessionBook, cookie_of
from rag_source.domain.errors import (
    BodyTooLargeError,
    ForbiddenError,
    RagError,
    UnauthorizedError,
)

__all__ = ["CSRF_HEADER", "BodyLimit", "Gate", "HostCheck"]

CSRF_HEADER = "x-rag-source"
_SAFE_METHODS = frozenset({"GET", "HEAD"})
_OPEN = frozenset({("GET", "/health"), ("POST", "/v1/session")})
_LOOPBACK = frozenset({"localhost"})
_WRONG = UnauthorizedError(
    "the request has no valid token",
    hint="send the header 'Authorization: Bearer TOKEN'; `rag-source config` says where it is "
    "kept; in a browser, open the link that `rag-source link` prints",
)
_NO_HEADER = ForbiddenError(
    "a session may change something only from the page itself",
    hint="send the header 'X-Rag-Source: 1'",
    code="csrf",
)


class Gate:
    """Answers 401 without the right token or session; marks open paths as authorised or not.

    `scope["state"]["caller"]` becomes `token`, `session` or empty.
    """

    def __init__(self, app: ASGIApp, *, token: str, sessions: SessionBook) -> None:
        if not token.strip():
            raise ValueError("an empty token guards nothing")
        self._app = app
        self._token = token.encode()
        self._sessions = sessions

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        caller = self._caller(headers)
        scope.setdefault("state", {}).update(caller=caller, authorized=bool(caller))
        if (scope["method"], scope["path"]) in _OPEN:
            await self._app(scope, receive, send)
        elif not caller:
            await _refuse(_WRONG, scope, receive, send, {"WWW-Authenticate": "Bearer"})
        elif (
            caller == "session"
            and scope["method"] not in _SAFE_METHODS
            and headers.get(CSRF_HEADER) != "1"
        ):
            await _refuse(_NO_HEADER, scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _caller(self, headers: Headers) -> str:
        header = headers.get("authorization")
        if header is not None:
            # Judged by it alone: a wrong token is a mistake that a cookie must not hide.
            return "token" if self._is_token(header) else ""
        return "session" if self._sessions.is_open(cookie_of(headers.get("cookie", ""))) else ""

    def _is_token(self, header: str) -> bool:
        scheme, _, given = header.partition(" ")
        return scheme.lower() == "bearer" and hmac.compare_digest(given.encode(), self._token)


class HostCheck:
    """Answers 403 to a request for another host's name, or from another site's page.

    A page of the internet whose name is made to point at this machine (DNS rebinding) has its own
    name in `Host`. Nothing is shared with other origins: there are no CORS headers at all.

    Args:
        app: What is guarded.
        names: Host names beside those of loopback, without ports.
    """

    def __init__(self, app: ASGIApp, *, names: tuple[str, ...] = ()) -> None:
        self._app = app
        self._names = _LOOPBACK | {name.strip().lower().rstrip(".") for name in names}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        hosts = headers.getlist("host")
        origin = headers.get("origin")
        if len(hosts) != 1 or not self._knows(hosts[0]):
            error = ForbiddenError(
                "the service does not answer to this host name",
                hint="ask for 127.0.0.1, or set RAG_SOURCE_API_NAMES to the name",
                code="wrong_host",
            )
        elif (
            origin is not None
            and scope["method"] not in _SAFE_METHODS
            and not _same_origin(origin, hosts[0])
        ):
            error = ForbiddenError(
                "the request comes from another site's page",
                hint="open the service's own page",
                code="wrong_origin",
            )
        else:
            await self._app(scope, receive, send)
            return
        await _refuse(error, scope, receive, send)

    def _knows(self, host: str) -> bool:
        try:
            name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
        except ValueError:
            return False
        if name in self._names:
            return True
        try:
            return ipaddress.ip_address(name).is_loopback
        except ValueError:
            return False


class BodyLimit:
    """Answers 413 to a body over `limit_bytes`, declared or not, before it is all in memory.

    `unlimited` are methods and paths whose routes count for themselves.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        limit_bytes: int,
        unlimited: frozenset[tuple[str, str]] = frozenset(),
    ) -> None:
        self._app = app
        self._limit_bytes = limit_bytes
        self._unlimited = unlimited

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or (scope["method"], scope["path"]) in self._unlimited:
            await self._app(scope, receive, send)
            return
        declared = Headers(scope=scope).get("content-length", "0")
        if declared.isascii() and declared.isdigit() and int(declared) > self._limit_bytes:
            error = BodyTooLargeError(f"the request body is over {self._limit_bytes} bytes")
            await _refuse(error, scope, receive, send)
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


def _same_origin(origin: str, host: str) -> bool:
    try:
        return urlsplit(origin).netloc.lower() == host.lower()
    except ValueError:
        return False


async def _refuse(
    error: RagError,
    scope: Scope,
    receive: Receive,
    send: Send,
    headers: dict[str, str] | None = None,
) -> None:
    response = JSONResponse(error.as_dict(), status_code=error.http_status, headers=headers)
    await response(scope, receive, send)
