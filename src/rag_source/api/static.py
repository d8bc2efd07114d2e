"""The page: the files of `ui/`, which anyone may read; they hold nothing of anybody's documents."""

from __future__ import annotations

import asyncio
import hashlib
import re
from pathlib import Path

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from rag_source.api.file_response import cached

__all__ = ["PAGE_POLICY", "PAGE_ROUTE", "StaticPage", "find_ui"]

PAGE_ROUTE = "(page)"
"""Stands in the log for all files of the page."""

PAGE_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'"
)
"""No code, style or picture from anywhere else, and none that stands inside a page."""

_TYPES = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")
_LIMIT_BYTES = 5_000_000
_METHODS = frozenset({"GET", "HEAD"})


class StaticPage:
    """Answers for the files of a folder and leaves everything else to the application.

    It stands before the gate: what is no file of the folder is answered as if it were not there.

    Args:
        app: The rest.
        root: The folder; None where there is no page.
    """

    def __init__(self, app: ASGIApp, *, root: Path | None) -> None:
        self._app = app
        self._root = root

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        found = await self._found(scope)
        if found is None:
            await self._app(scope, receive, send)
            return
        content, media_type = found
        scope.setdefault("state", {})["route"] = PAGE_ROUTE
        response = cached(
            Request(scope),
            hashlib.sha256(content).hexdigest()[:32],
            content,
            {"Content-Type": media_type, "Content-Security-Policy": PAGE_POLICY},
            control="no-cache",
        )
        await response(scope, receive, send)

    async def _found(self, scope: Scope) -> tuple[bytes, str] | None:
        """Content and type of the file that is asked for; None if it is none of the page."""
        if self._root is None or scope["type"] != "http" or scope["method"] not in _METHODS:
            return None
        names = "index.html" if scope["path"] == "/" else scope["path"].removeprefix("/")
        parts = names.split("/")
        media_type = _TYPES.get(Path(parts[-1]).suffix)
        if media_type is None or not all(_NAME.fullmatch(part) for part in parts):
            return None
        content = await asyncio.to_thread(_read, self._root, parts)
        return None if content is None else (content, media_type)


def find_ui() -> Path | None:
    """Where the page is: inside the installed package, or at the repository's root."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "ui", package.parents[1] / "ui"):
        if (folder / "index.html").is_file():
            return folder
    return None


def _read(root: Path, parts: list[str]) -> bytes | None:
    """A file of the page, which a link that leads out is not."""
    base = root.resolve()
    try:
        file = base.joinpath(*parts).resolve(strict=True)
        if not file.is_relative_to(base) or not file.is_file():
            return None
        if file.stat().st_size > _LIMIT_BYTES:
            return None
        return file.read_bytes()
    except (OSError, RuntimeError):
        return None
