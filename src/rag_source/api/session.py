"""How a browser is let in: a one-time link becomes a cookie that no script can read.

The API token never reaches the page. A code is good once and for ten minutes; it travels in the
fragment of a link, which browsers send to nobody, and is traded for a cookie.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Annotated, Protocol

from fastapi import APIRouter, Depends, Request, Response
from starlette.requests import cookie_parser

from rag_source.api.session_wire import SessionCode, SessionRequest
from rag_source.domain.errors import ForbiddenError, TooManyRequestsError, UnauthorizedError

__all__ = ["COOKIE", "SessionBook", "cookie_of", "router"]

COOKIE = "rag_source_session"
CODE_S = 600
SESSION_S = 30 * 86_400
_BYTES = 32
_LIMIT_CODES, _LIMIT_SESSIONS = 20, 100
_LIMIT_WRONG, _WINDOW_S = 10, 60.0


class Keeper(Protocol):
    """Where sessions outlive the process; `store.sessions.SessionFile` is the real one."""

    def load(self) -> dict[str, float]: ...

    def save(self, sessions: dict[str, float]) -> None: ...


class _Memory:
    """Keeps nothing."""

    def load(self) -> dict[str, float]:
        return {}

    def save(self, sessions: dict[str, float]) -> None:
        """They end with the process."""


class SessionBook:
    """The codes that are out and the sessions that are open. May be used by several threads.

    Args:
        key: The API token: sessions of another one are void.
        keeper: Where sessions are kept; in memory without one.
        now: Seconds since 1970.
    """

    def __init__(
        self, *, key: str, keeper: Keeper | None = None, now: Callable[[], float] = time.time
    ) -> None:
        self._key = key.encode()
        self._keeper = keeper or _Memory()
        self._now = now
        self._lock = threading.Lock()
        self._codes: dict[str, float] = {}
        self._wrong: deque[float] = deque()
        self._sessions = self._keeper.load()

    def new_code(self) -> str:
        """A code that opens one session within `CODE_S` seconds."""
        code = secrets.token_urlsafe(_BYTES)
        with self._lock:
            self._forget_old()
            while len(self._codes) >= _LIMIT_CODES:
                del self._codes[next(iter(self._codes))]
            self._codes[code] = self._now() + CODE_S
        return code

    def redeem(self, code: str) -> str:
        """The cookie of a new session for a code, which is then spent.

        Raises:
            UnauthorizedError: The code is wrong, spent or too old.
            TooManyRequestsError: There were too many wrong ones within a minute.
        """
        with self._lock:
            self._forget_old()
            if len(self._wrong) >= _LIMIT_WRONG:
                raise TooManyRequestsError(
                    "too many wrong codes were tried", hint="wait a minute, then ask for a new link"
                )
            given = code.encode("utf-8", "replace")
            found = [known for known in self._codes if hmac.compare_digest(known.encode(), given)]
            if not found:
                self._wrong.append(self._now())
                raise UnauthorizedError(
                    "the link is not good, was used already, or is more than ten minutes old",
                    hint="run `rag-source link` for a new one",
                    code="bad_code",
                )
            del self._codes[found[0]]
            cookie = secrets.token_urlsafe(_BYTES)
            while len(self._sessions) >= _LIMIT_SESSIONS:
                del self._sessions[min(self._sessions, key=self._sessions.__getitem__)]
            self._sessions[self._hash(cookie)] = self._now() + SESSION_S
            self._keeper.save(self._sessions)
        return cookie

    def is_open(self, cookie: str) -> bool:
        """Whether it is the cookie of a session that has not ended."""
        return bool(cookie) and self._sessions.get(self._hash(cookie), 0.0) > self._now()

    def end(self, cookie: str) -> None:
        """End its session, if there is one."""
        with self._lock:
            if self._sessions.pop(self._hash(cookie), None) is not None:
                self._keeper.save(self._sessions)

    def _hash(self, cookie: str) -> str:
        # Looked up by a keyed hash: how long that takes tells nothing about the cookie.
        given = cookie.encode("utf-8", "replace")
        return hmac.new(self._key, given, hashlib.sha256).hexdigest()

    def _forget_old(self) -> None:
        now = self._now()
        self._codes = {code: end for code, end in self._codes.items() if end > now}
        self._sessions = {key: end for key, end in self._sessions.items() if end > now}
        while self._wrong and self._wrong[0] <= now - _WINDOW_S:
            self._wrong.popleft()


def cookie_of(header: str) -> str:
    """The session's cookie in a `Cookie` header; empty if there is none."""
    return cookie_parser(header).get(COOKIE, "")


def _book(request: Request) -> SessionBook:
    book: SessionBook = request.app.state.sessions
    return book


_Book = Annotated[SessionBook, Depends(_book)]

router = APIRouter(prefix="/v1/session", tags=["session"])


@router.post("", status_code=204)
async def open_session(body: SessionRequest, book: _Book, request: Request) -> Response:
    """Trade the code of a one-time link for a session's cookie; the code is the proof."""
    cookie = await asyncio.to_thread(book.redeem, body.code)
    response = Response(status_code=204)
    response.set_cookie(
        COOKIE,
        cookie,
        max_age=SESSION_S,
        httponly=True,
        samesite="strict",
        path="/",
        secure=request.url.scheme == "https",
    )
    return response


@router.delete("", status_code=204)
async def end_session(book: _Book, request: Request) -> Response:
    """End the session of the cookie that is sent."""
    await asyncio.to_thread(book.end, cookie_of(request.headers.get("cookie", "")))
    response = Response(status_code=204)
    response.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict")
    return response


@router.post("/code")
async def new_code(book: _Book, request: Request) -> SessionCode:
    """A new code for a one-time link; only for a caller with the API token."""
    if request.state.caller != "token":
        raise ForbiddenError(
            "only the API token makes links", hint="run `rag-source link` on the service's machine"
        )
    return SessionCode(code=book.new_code(), expires_in_s=CODE_S)
