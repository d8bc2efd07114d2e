"""What every download needs: the client, its timeouts, and errors in the product's words."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit, urlunsplit

import certifi
import httpx

from rag_source.domain.errors import BackendError, BackendUnavailableError

__all__ = ["download_client", "mirror_errors", "shown"]

_TIMEOUT = httpx.Timeout(connect=15, read=60, write=30, pool=60)
"""Seconds. A read of 60 s covers a proxy that scans a 50 MB wheel before its first byte."""

_OFFLINE_HINT = "check the network and proxy settings, then run it again: it resumes where it was"


def download_client() -> httpx.AsyncClient:
    """A client for mirrors: follows redirects, honours proxies, trusts the system's authorities.

    The caller closes it.
    """
    context = ssl.create_default_context(cafile=certifi.where())
    # A company's own authority is in the system's store, not in certifi's.
    context.load_default_certs()
    return httpx.AsyncClient(verify=context, timeout=_TIMEOUT, follow_redirects=True)


@contextmanager
def mirror_errors(what: str) -> Iterator[None]:
    """Turn the transport's errors, and a malformed reply's, into the domain's.

    Raises:
        BackendUnavailableError: No connection, a timeout, a cut, or a 5xx.
        BackendError: Another refusal, or a reply that is not what was asked for.
    """
    try:
        yield
    except httpx.HTTPStatusError as error:
        status = error.response.status_code
        kind = BackendUnavailableError if status >= 500 or status == 429 else BackendError
        raise kind(f"{what} answered HTTP {status}", hint=_OFFLINE_HINT) from error
    except httpx.TimeoutException as error:
        raise BackendUnavailableError(
            f"{what} did not answer in time ({type(error).__name__})", hint=_OFFLINE_HINT
        ) from error
    except httpx.TransportError as error:
        reason = str(error) or type(error).__name__
        raise BackendUnavailableError(
            f"{what} cannot be reached: {reason}", hint=_OFFLINE_HINT
        ) from error
    except (httpx.InvalidURL, KeyError, ValueError, TypeError) as error:
        raise BackendError(
            f"{what} sent something that is not a package listing: {type(error).__name__}",
            hint="is the address that of an index (…/simple)?",
        ) from error


def shown(url: str) -> str:
    """The URL without user and password, as it may be printed and logged."""
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
