"""What both clients share: requests to an `Endpoint`, and vendor errors in the domain's words."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx

from rag_source.domain.errors import (
    BackendError,
    BackendOverflowError,
    BackendUnavailableError,
    RagError,
)
from rag_source.domain.ports import ServerAddress

__all__ = ["RETRY_PAUSE_S", "authorization", "error_of", "server_errors", "well_formed"]

RETRY_PAUSE_S = 0.2
"""Before the one retry: what the supervisor needs to notice that its child ended."""

_OVERFLOWS = ("exceed_context_size_error", "context_length_exceeded")
_OVERFLOW_TEXTS = (
    "too large to process",
    "larger than the max context",
    "exceeds the available context",
    "context size has been exceeded",
    "maximum context length",
    "exceeds the context length",
)
"""Older builds and the encoder routes say it in the message only, under HTTP 500; of other services
some have a code and some have words."""


def authorization(address: ServerAddress) -> dict[str, str]:
    """The header that carries the key; none for a server without one."""
    return {"Authorization": f"Bearer {address.api_key}"} if address.api_key else {}


@contextmanager
def server_errors(server: str) -> Iterator[None]:
    """Translate everything that talking to a model server can raise, parsing its reply included.

    Raises:
        BackendUnavailableError: Not reached, cut, timed out, or still loading.
        BackendError: It answered something that is not its contract.
    """
    try:
        yield
    except RagError:
        raise
    except httpx.TimeoutException as error:
        raise BackendUnavailableError(
            f"the {server} did not answer in time ({type(error).__name__})",
            hint="the machine may be overloaded; try again",
        ) from error
    except httpx.TransportError as error:
        raise BackendUnavailableError(
            f"the {server} cannot be reached: {str(error) or type(error).__name__}",
            hint="it may be restarting; try again",
        ) from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise BackendError(f"the {server} failed: {error}") from error
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise BackendError(
            f"the {server} sent a malformed reply ({type(error).__name__})",
            hint="is the address that of an OpenAI-compatible server?",
        ) from error


def error_of(server: str, status: int, body: bytes | str | Mapping[str, Any]) -> BackendError:
    """The error that a reply stands for; the body counts more than the status.

    `status` is that of HTTP; for an error inside a stream that began with 200 pass 200.
    """
    code, message, kind = _details(body)
    code = code or status
    text = f"the {server} refused: {message or f'HTTP {status}'}"
    if kind in _OVERFLOWS or any(part in message.lower() for part in _OVERFLOW_TEXTS):
        return BackendOverflowError(text, hint="send less text, or raise the model's context")
    if code == 413 or status == 413:
        return BackendOverflowError(text, hint="send less text at once")
    if code in (502, 503, 504) or kind == "unavailable_error":
        return BackendUnavailableError(text, hint="it may still be loading; try again")
    if code == 429:
        return BackendUnavailableError(text, hint="its limit is reached; try again later")
    if code in (401, 403):
        return BackendError(text, hint="check the key of the model server")
    return BackendError(text, hint="try again; if it persists, restart the model server")


def well_formed(text: str) -> str:
    """The text as UTF-8 can carry it: a lone surrogate, which some parsers produce, becomes "?"."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _details(body: bytes | str | Mapping[str, Any]) -> tuple[int, str, str]:
    """Code, message and kind of an error in llama.cpp's or OpenAI's form; zeros and blanks else."""
    try:
        data = body if isinstance(body, Mapping) else json.loads(body)
        error = data["error"]
        if isinstance(error, str):
            return 0, _line(error), ""
        code = error.get("code")
        # llama.cpp's code is the status; others have a word there, and a wider one as type.
        is_word = isinstance(code, str) and not code.isdigit()
        return (
            code if isinstance(code, int) else 0,
            _line(str(error.get("message", ""))),
            str(code if is_word else error.get("type", "")),
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return 0, "", ""


def _line(message: str) -> str:
    return " ".join(message.split())[:300]
