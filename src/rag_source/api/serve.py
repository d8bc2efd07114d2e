"""Run the API on a socket of our own, so that a taken port is known before anything starts."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable

import uvicorn
from fastapi import FastAPI

from rag_source.domain.errors import ConfigurationError, PortTakenError

__all__ = ["bind", "serve"]


def bind(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one.

    Raises:
        PortTakenError: Another process listens there.
        ConfigurationError: The address is not this machine's, or the port needs privileges.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio turns Nagle's algorithm off only where the protocol is named: with it, each answer in
    # two pieces, as streams are, waits 40 ms for the reader's acknowledgement of the first.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        # Without this a restart within a minute of the last one would find its own port taken.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        sock.listen(128)
    except OSError as error:
        sock.close()
        if error.errno == errno.EADDRINUSE:
            raise PortTakenError(
                f"port {port} on {host} is taken by another process",
                hint="set RAG_SOURCE_API_PORT to a free port, or to 0 to take any",
            ) from error
        raise ConfigurationError(
            f"cannot listen on {host}:{port}: {error.strerror or error}",
            hint="set RAG_SOURCE_API_HOST and RAG_SOURCE_API_PORT",
            code="cannot_listen",
        ) from error
    return sock


async def serve(app: FastAPI, sock: socket.socket, *, on_ready: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM; `on_ready` gets the URL once requests are answered."""
    host, port = sock.getsockname()[:2]
    url = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, timeout_graceful_shutdown=5, lifespan="on"
    )
    server = _AnnouncingServer(config, on_started=lambda: on_ready(url))
    await server.serve(sockets=[sock])


class _AnnouncingServer(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, *, on_started: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_started = on_started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started:
            self._on_started()
