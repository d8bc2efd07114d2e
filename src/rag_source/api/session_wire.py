"""The JSON forms of sessions."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from rag_source.api.wire_base import RequestBody, Wire

__all__ = ["SessionCode", "SessionRequest", "link_of"]


class SessionRequest(RequestBody):
    """The code of a one-time link, as its fragment has it."""

    code: Annotated[str, Field(min_length=1, max_length=200)]


class SessionCode(Wire):
    """A code for the link `/#code=…`, good once."""

    code: str
    expires_in_s: int


def link_of(url: str, code: str) -> str:
    """The link to be opened; an address that means "all" is asked for on this machine."""
    for everywhere in ("//0.0.0.0", "//[::]"):
        url = url.replace(everywhere, "//127.0.0.1")
    return f"{url.rstrip('/')}/#code={code}"
