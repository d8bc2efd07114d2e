"""Model services at an address of the operator's choice: where they are, and how they are reached.

A service that is not on this machine or its private network is external: the text of documents and
questions goes there. Its name is looked up once, to judge it; connections look it up again, as any
program does.
"""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import certifi
import httpx

from rag_source.clients.dialects import Dialect
from rag_source.domain.errors import ConfigurationError
from rag_source.domain.ports import ServerAddress
from rag_source.domain.sovereignty import is_local

__all__ = ["Lookup", "ModelService", "look_up", "read_service", "service_client"]

Lookup: TypeAlias = Callable[[str], Awaitable[list[str]]]
"""The IP addresses of a host name, none if it cannot be looked up."""

_LOOKUP_S = 5.0
_VERSION = "/v1"
_HOST = re.compile(r"[A-Za-z0-9._:-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelService:
    """An `Endpoint` that somebody else runs.

    `host` is that of the address, with its port if one was given. `root` is where llama.cpp has
    its own routes, `api` the path of the OpenAI routes below it. `model` is the name the service
    knows its model by. `is_local` says that the address is this machine's or a private one,
    `is_encrypted` that it is reached by TLS.
    """

    host: str
    root: str
    api: str
    model: str
    is_local: bool
    is_encrypted: bool
    api_key: str = field(default="", repr=False)

    @property
    def leaks(self) -> bool:
        """Whether text goes outside where others can read it."""
        return not self.is_local and not self.is_encrypted

    async def address(self) -> ServerAddress:
        """Where it is; nothing has to be started."""
        return ServerAddress(base_url=self.root, api_key=self.api_key)

    def dialect(self, kind: str) -> Dialect:
        """How it is spoken to; `kind` is what messages call it.

        Routes of llama.cpp are not tried on an external service: they would send it text for
        nothing, and counting tokens over the internet costs a round trip for each sentence.
        """
        return Dialect(
            server=f"{kind} at {self.host}",
            api=self.api,
            model=self.model,
            is_ours=False,
            has_llama_routes=self.is_local,
        )


async def read_service(
    url: str, *, variable: str, api_key: str = "", model: str = "", lookup: Lookup | None = None
) -> ModelService:
    """The service at an address: `http://host:8080`, `https://host/v1` or any other base path.

    Args:
        url: An address without a path gets `/v1`; any other path is taken as it is.
        variable: The setting that it comes from, for messages.
        api_key: Sent as bearer token; none if empty.
        model: The model's name there.
        lookup: Finds the addresses of the host's name.

    Raises:
        ConfigurationError: It is no address of a web service, or holds a user, query or fragment.
    """
    parsed = _parsed(url, variable)
    path = parsed.path.rstrip("/")
    origin = str(parsed.copy_with(path="/")).rstrip("/")
    if path.endswith(_VERSION) or not path:
        root, api = origin + path.removesuffix(_VERSION), _VERSION
    else:
        root, api = origin, path
    # As the client will connect to it, in ASCII.
    name = parsed.raw_host.decode("ascii")
    addresses = await (lookup or look_up)(name)
    return ModelService(
        host=parsed.netloc.decode("ascii"),
        root=root,
        api=api,
        model=model,
        is_local=is_local(name, addresses),
        is_encrypted=parsed.scheme == "https",
        api_key=api_key,
    )


def _parsed(url: str, variable: str) -> httpx.URL:
    # The client's own parser: one that read the host differently would judge another server.
    try:
        parsed = httpx.URL(url.strip())
        host = parsed.raw_host.decode("ascii")
    except (httpx.InvalidURL, ValueError, UnicodeError) as error:
        raise _bad(variable, f"is no address: {error}") from error
    if parsed.scheme not in ("http", "https") or not _HOST.fullmatch(host):
        raise _bad(variable, "is no address of a web service")
    if parsed.userinfo or parsed.query or parsed.fragment:
        raise _bad(variable, "has a user, a query or a fragment")
    return parsed


def _bad(variable: str, what: str) -> ConfigurationError:
    # Never the value itself: it may hold a password.
    return ConfigurationError(
        f"{variable} {what}",
        hint="give it as http://host:port or https://host/v1; a key has a setting of its own",
        code="bad_setting",
    )


async def look_up(host: str) -> list[str]:
    """The addresses of a name, those of an address itself; none within five seconds is none."""
    try:
        async with asyncio.timeout(_LOOKUP_S):
            found = await asyncio.get_running_loop().getaddrinfo(
                host, None, type=socket.SOCK_STREAM
            )
    except (OSError, TimeoutError, UnicodeError):
        return []
    return sorted({str(address[0]) for *_, address in found})


def service_client(service: ModelService) -> httpx.AsyncClient:
    """A client for the service; the caller closes it. It follows no redirect to another host.

    A proxy of the environment sees what goes outside, as it must, and never what stays here.
    Certificates are verified by the system's authorities and certifi's.
    """
    if not service.is_encrypted:
        # No certificates for plain HTTP: loading them costs 0.2 s.
        return httpx.AsyncClient(trust_env=not service.is_local, verify=_no_authorities())
    context = ssl.create_default_context(cafile=certifi.where())
    # A company's own authority is in the system's store, not in certifi's.
    context.load_default_certs()
    return httpx.AsyncClient(trust_env=not service.is_local, verify=context)


def _no_authorities() -> ssl.SSLContext:
    """Trusts nobody, so that TLS begun by mistake fails instead of being believed."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = True
    return context
