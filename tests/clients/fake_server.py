"""A scripted model server on loopback: each request gets the next reply."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from rag_source.domain.ports import ServerAddress

__all__ = ["FakeServer", "Reply", "serve_replies", "sse"]


@dataclass
class Reply:
    """One reply: `blocks` are sent one by one; `cut` ends the connection without an end."""

    status: int = 200
    blocks: list[bytes] = field(default_factory=list)
    kind: str = "application/json"
    cut: bool = False
    endless: bool = False

    @classmethod
    def of(cls, value: object, status: int = 200) -> Reply:
        return cls(status=status, blocks=[json.dumps(value).encode()])


def sse(*events: object, **options: Any) -> Reply:
    """A stream; a string event is sent as it is, anything else as the data of an event."""
    blocks = [
        event.encode() if isinstance(event, str) else f"data: {json.dumps(event)}\n\n".encode()
        for event in events
    ]
    return Reply(blocks=blocks, kind="text/event-stream", **options)


@dataclass
class FakeServer:
    """An `Endpoint` whose address is the fake server's."""

    replies: list[Reply] = field(default_factory=list)
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    authorizations: list[str] = field(default_factory=list)
    hung_up: threading.Event = field(default_factory=threading.Event)
    url: str = ""
    asked: int = 0

    async def address(self) -> ServerAddress:
        self.asked += 1
        return ServerAddress(base_url=self.url, api_key="the-key")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    script: FakeServer

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        self._serve({})

    def do_POST(self) -> None:
        self._serve(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def _serve(self, body: dict[str, Any]) -> None:
        self.script.requests.append((self.path, body))
        self.script.authorizations.append(self.headers.get("Authorization", ""))
        reply = self.script.replies.pop(0)
        self.send_response(reply.status)
        self.send_header("Content-Type", reply.kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            for block in reply.blocks:
                self._chunk(block)
            while reply.endless:
                self._chunk(reply.blocks[-1])
        except ConnectionError:
            self.script.hung_up.set()
            self.close_connection = True
            return
        if reply.cut:
            self.close_connection = True
        else:
            self._chunk(b"")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")


@contextmanager
def serve_replies() -> Iterator[FakeServer]:
    """A running server without replies."""
    script = FakeServer()
    handler = type("Handler", (_Handler,), {"script": script})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        script.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield script
        finally:
            server.shutdown()
            thread.join()
