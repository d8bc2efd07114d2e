"""The stand-in for the embedder: `python embedder_program.py --log FILE --control FILE [--port N]`.

It speaks the routes that `clients/embeddings.py` uses and gives each text a vector made of its
words' hashes. Every request for passages is logged in two lines, one when it came in and one when
its answer had been handed over whole, so that nothing that was paid for can be missed. A control
file, read at each request, slows it down or makes it misbehave:

    {"mode": "ok", "text_ms": 5}

`mode` is one of `MODES`; a misbehaviour is for passages and questions alike, never for `/health`.
"""

from __future__ import annotations

import argparse
import base64
import contextlib
import hashlib
import json
import math
import os
import re
import threading
import time
from array import array
from collections.abc import Callable
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

__all__ = ["DIMENSION", "MODES", "main", "vector_of"]

DIMENSION = 384
MODES = (
    "ok",
    "error",
    "loading",
    "hang",
    "cut",
    "nan",
    "infinite",
    "null",
    "dimension",
    "nonsense",
)
_WORD = re.compile(r"\w+")


def main() -> None:
    """Serve until killed; the port is the first line of the standard output."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--control", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    arguments = parser.parse_args()
    server = _Server(arguments.port, log=arguments.log, control=arguments.control)
    os.write(1, f"{server.server_address[1]}\n".encode())
    server.serve_forever()


def vector_of(text: str) -> array[float]:
    """Texts that share words are near; the same text has the same vector in every process."""
    numbers = [0.0] * DIMENSION
    for word in _WORD.findall(text.lower()):
        place, sign = _place(word)
        numbers[place] += sign
    norm = math.sqrt(sum(number * number for number in numbers))
    if not norm:
        numbers[0], norm = 1.0, 1.0
    return array("f", (number / norm for number in numbers))


@cache
def _place(word: str) -> tuple[int, float]:
    digest = hashlib.sha256(word.encode()).digest()
    return int.from_bytes(digest[:4], "big") % DIMENSION, 1.0 if digest[4] % 2 else 0.5


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, port: int, *, log: Path, control: Path) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        # One line for each write, and appended: lines of threads do not mix, and none is lost.
        self._log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._control = control
        self._turn = threading.Lock()
        self._requests = 0
        self.engine = threading.Lock()

    def note(self, **entry: object) -> None:
        os.write(self._log, json.dumps(entry).encode() + b"\n")

    def number(self) -> str:
        with self._turn:
            self._requests += 1
            return f"{os.getpid()}-{self._requests}"

    def orders(self) -> dict[str, Any]:
        try:
            orders: dict[str, Any] = json.loads(self._control.read_bytes())
        except (OSError, ValueError):
            # Not written yet, or just being written.
            return {}
        return orders


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1

    def handle(self) -> None:
        # Clients are killed: nobody is to be told.
        with contextlib.suppress(ConnectionError):
            super().handle()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        self._send(200, {"status": "ok"})

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        data = self.rfile.read(length)
        if len(data) < length:
            # Killed while it asked.
            self.close_connection = True
            return
        body = json.loads(data)
        if self.path == "/v1/token-counts":
            self._send(200, {"counts": [len(text.split()) + 4 for text in body["input"]]})
        elif self.path == "/v1/embeddings":
            self._embed(body["input"], is_query=body.get("input_type") == "query")
        else:
            self._send(404, {"error": {"code": 404, "message": "File Not Found"}})

    def _embed(self, texts: list[str], *, is_query: bool) -> None:
        name = self.server.number()
        if not is_query:
            self.server.note(batch=name, texts=texts)
        orders = self.server.orders()
        mode = orders.get("mode", "ok")
        # One text after the other, whoever asks: as a model on one processor.
        with self.server.engine:
            time.sleep(orders.get("text_ms", 0) / 1000 * len(texts))
        if mode != "ok":
            _MISBEHAVIOURS[mode](self, texts)
            return
        self._send(200, _reply([vector_of(text) for text in texts]))
        if not is_query:
            self.server.note(sent=name)

    def _send(self, status: int, reply: object, *, part: float = 1.0) -> None:
        data = json.dumps(reply).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: int(part * len(data))])
        self.wfile.flush()

    def error(self, status: int, kind: str) -> None:
        message = "out of memory" if status == 500 else "Loading model"
        self._send(status, {"error": {"code": status, "message": message, "type": kind}})

    def hang(self) -> None:
        # Until the client has had enough; nothing more is ever sent.
        self.connection.settimeout(60)
        self.connection.recv(1)
        self.close_connection = True

    def cut(self, texts: list[str]) -> None:
        self._send(200, _reply([vector_of(text) for text in texts]), part=0.5)
        self.close_connection = True

    def damaged(self, texts: list[str], change: Callable[[array[float]], Any]) -> None:
        vectors: list[Any] = [vector_of(text) for text in texts]
        # The last one: what comes before it is as it should be.
        vectors[-1] = change(vectors[-1])
        self._send(200, _reply(vectors))

    def nonsense(self) -> None:
        self._send(200, {"data": [{"index": 0, "vector": "?"}]})


_MISBEHAVIOURS: dict[str, Callable[[_Handler, list[str]], None]] = {
    "error": lambda handler, texts: handler.error(500, "server_error"),
    "loading": lambda handler, texts: handler.error(503, "unavailable_error"),
    "hang": lambda handler, texts: handler.hang(),
    "cut": lambda handler, texts: handler.cut(texts),
    "nan": lambda handler, texts: handler.damaged(texts, lambda v: array("f", [math.nan, *v[1:]])),
    "infinite": lambda handler, texts: handler.damaged(
        texts, lambda v: array("f", [math.inf, *v[1:]])
    ),
    "null": lambda handler, texts: handler.damaged(texts, lambda v: [None] * len(v)),
    "dimension": lambda handler, texts: handler.damaged(texts, lambda v: v[:-1]),
    "nonsense": lambda handler, texts: handler.nonsense(),
}


def _reply(vectors: list[Any]) -> dict[str, Any]:
    return {
        "data": [
            {"index": index, "embedding": _encoded(vector)} for index, vector in enumerate(vectors)
        ]
    }


def _encoded(vector: Any) -> Any:
    return vector if isinstance(vector, list) else base64.b64encode(vector.tobytes()).decode()


if __name__ == "__main__":
    main()
