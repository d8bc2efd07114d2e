"""llama.cpp's embedding routes over an `EmbeddingEngine`: loopback, keep-alive, a key.

`POST /v1/embeddings` also reads `input_type` (`query` or `passage`, the default), which decides
the prefix the model wants. `POST /v1/token-counts` takes `{"input": [...]}` and answers
`{"counts": [...]}`: what each text would cost as a passage. Errors have llama.cpp's form.
"""

from __future__ import annotations

import base64
import hmac
import json
import select
import socket
from array import array
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from rag_source.runtime.embed_engine import EmbeddingEngine, Submission

__all__ = ["EmbeddingServer", "ServedModel"]

_BODY_BYTES = 8 << 20
"""Far above what a client sends at once; a larger body is a mistake or an attack."""
_INPUT_TOKENS = 8192
"""The engine averages over windows of a long text; past 16 windows that means nothing."""
_IDLE_S = 600
_CANCEL_POLL_S = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedModel:
    """What `/props` says about the model."""

    name: str
    dimension: int
    context_tokens: int


class EmbeddingServer(ThreadingHTTPServer):
    """Serves one engine on a free loopback port; `serve_forever` until `shutdown`."""

    daemon_threads = True
    request_queue_size = 64

    def __init__(self, engine: EmbeddingEngine, model: ServedModel, *, api_key: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.engine = engine
        self.model = model
        self.authorization = f"Bearer {api_key}".encode()

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class _RefusedError(Exception):
    def __init__(self, status: int, message: str, kind: str = "invalid_request_error") -> None:
        super().__init__(message)
        self.status, self.message, self.kind = status, message, kind


class _Handler(BaseHTTPRequestHandler):
    server: EmbeddingServer
    protocol_version = "HTTP/1.1"
    # A small reply must not wait for the acknowledgement of its headers: 17 ms instead of 57.
    disable_nagle_algorithm = True
    wbufsize = -1
    timeout = _IDLE_S

    def do_GET(self) -> None:
        routes = {"/health": self._health, "/v1/health": self._health, "/props": self._props}
        self._answer(routes.get(self.path))

    def do_POST(self) -> None:
        routes = {"/v1/embeddings": self._embeddings, "/v1/token-counts": self._token_counts}
        self._answer(routes.get(self.path))

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the parent reads stderr for last words only."""

    def _answer(self, route: Any) -> None:
        try:
            # The body must be read even for a refusal, or it is taken for the next request.
            body = self._body()
            if route != self._health and not self._authorized():
                raise _RefusedError(401, "Invalid API Key", "authentication_error")
            if route is None:
                raise _RefusedError(404, "File Not Found", "not_found_error")
            self._send(200, route(body))
        except _RefusedError as error:
            self._send(
                error.status,
                {"error": {"code": error.status, "message": error.message, "type": error.kind}},
            )
        except (ConnectionError, TimeoutError):
            self.close_connection = True

    def _body(self) -> bytes:
        if self.command == "GET":
            return b""
        try:
            length = int(self.headers.get("Content-Length", ""))
        except ValueError:
            length = -1
        if length < 0:
            self.close_connection = True
            raise _RefusedError(411, "a Content-Length is required")
        if length > _BODY_BYTES:
            self.close_connection = True
            raise _RefusedError(413, f"the body exceeds {_BODY_BYTES} bytes")
        return self.rfile.read(length)

    def _authorized(self) -> bool:
        given = self.headers.get("Authorization", "").encode("utf-8", "replace")
        return hmac.compare_digest(given, self.server.authorization)

    def _send(self, status: int, reply: dict[str, Any]) -> None:
        data = json.dumps(reply).encode("ascii")
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(data)
        self.wfile.flush()

    def _health(self, _: bytes) -> dict[str, Any]:
        return {"status": "ok"}

    def _props(self, _: bytes) -> dict[str, Any]:
        model = self.server.model
        return {
            "model_alias": model.name,
            "dimension": model.dimension,
            "total_slots": 1,
            "default_generation_settings": {"n_ctx": model.context_tokens},
        }

    def _token_counts(self, body: bytes) -> dict[str, Any]:
        # An empty text has a length (the special tokens), if no direction to embed it in.
        texts = _texts(_parse(body), allow_empty=True)
        return {"counts": self.server.engine.token_counts(texts, is_query=False)}

    def _embeddings(self, body: bytes) -> dict[str, Any]:
        request = _parse(body)
        texts, is_query = _texts(request), request.get("input_type", "passage") == "query"
        counts = self.server.engine.token_counts(texts, is_query=is_query)
        if max(counts) > _INPUT_TOKENS:
            raise _RefusedError(
                400,
                f"input ({max(counts)} tokens) is larger than the max context size "
                f"({_INPUT_TOKENS} tokens). skipping",
                "exceed_context_size_error",
            )
        submission = self.server.engine.submit(texts, is_query=is_query)
        self._wait(submission)
        if submission.error is not None:
            raise _RefusedError(500, f"embedding failed: {submission.error}", "server_error")
        encode = _base64 if request.get("encoding_format") == "base64" else _floats
        return {
            "object": "list",
            "model": self.server.model.name,
            "usage": {"prompt_tokens": sum(counts), "total_tokens": sum(counts)},
            "data": [
                {"object": "embedding", "index": index, **encode(vector)}
                for index, vector in enumerate(submission.vectors)
            ],
        }

    def _wait(self, submission: Submission) -> None:
        while not submission.finished.wait(_CANCEL_POLL_S):
            if _hung_up(self.connection):
                submission.cancel()
                raise ConnectionError("the client went away")


def _hung_up(connection: socket.socket) -> bool:
    readable, _, _ = select.select([connection], [], [], 0)
    return bool(readable) and not connection.recv(1, socket.MSG_PEEK)


def _parse(body: bytes) -> dict[str, Any]:
    try:
        request = json.loads(body)
    except (ValueError, RecursionError):
        request = None
    if not isinstance(request, dict):
        raise _RefusedError(400, "the body is not a JSON object")
    return request


def _texts(request: dict[str, Any], *, allow_empty: bool = False) -> list[str]:
    given = request.get("input")
    texts = [given] if isinstance(given, str) else given
    if not isinstance(texts, list) or not texts or not all(isinstance(t, str) for t in texts):
        raise _RefusedError(400, '"input" must be a string or a non-empty array of strings')
    if not allow_empty and not all(text.strip() for text in texts):
        raise _RefusedError(400, '"input" must not contain empty strings')
    return texts


def _base64(vector: bytes) -> dict[str, Any]:
    return {"embedding": base64.b64encode(vector).decode("ascii"), "encoding_format": "base64"}


def _floats(vector: bytes) -> dict[str, Any]:
    return {"embedding": array("f", vector).tolist()}
