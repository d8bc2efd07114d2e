"""A stand-in for an OpenAI-compatible service, for both models, on loopback."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from json import dumps, loads

__all__ = ["DIMENSION", "SECRET", "ModelServiceStandIn", "serve_models"]

DIMENSION = 16
SECRET = "The pump of the north hall is called Bartholomew."
"""What documents say, and the service answers whatever it is asked."""


class ModelServiceStandIn:
    """An OpenAI-like server for both roles on loopback; remembers all that it was sent."""

    def __init__(self) -> None:
        self.received: list[str] = []
        self.port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"


@contextmanager
def serve_models() -> Iterator[ModelServiceStandIn]:
    """A running service."""
    found = ModelServiceStandIn()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, format: str, *args: object) -> None:
            pass

        def do_GET(self) -> None:
            self._send(404, b"{}")

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            found.received.append(body)
            if self.path == "/v1/embeddings":
                texts = loads(body)["input"]
                data = [{"index": i, "embedding": _vector(text)} for i, text in enumerate(texts)]
                self._send(200, dumps({"data": data}).encode())
            elif self.path == "/v1/chat/completions":
                event = {"choices": [{"delta": {"content": SECRET}, "finish_reason": "stop"}]}
                self._send(200, f"data: {dumps(event)}\n\ndata: [DONE]\n\n".encode())
            else:
                self._send(404, b"{}")

        def _send(self, status: int, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        found.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield found
        finally:
            server.shutdown()
            thread.join()


def _vector(text: str) -> list[float]:
    vector = [0.1] * DIMENSION
    for word in re.findall(r"\w+", text.lower()):
        vector[sum(word.encode()) % DIMENSION] += 1.0
    return vector
