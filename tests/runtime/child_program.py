"""A child that keeps the agreement of `child.py` and then behaves as its argument says."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

from rag_source.runtime.child import announce_port, take_orders


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    key = ""

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        if self.path == "/crash":
            sys.stderr.write("out of memory\n")
            sys.stderr.flush()
            os._exit(3)
        right = self.headers.get("Authorization") == f"Bearer {self.key}"
        body = json.dumps({"pid": os.getpid(), "authorized": right}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main(how: str, log: str) -> None:
    with Path(log).open("a", encoding="ascii") as file:
        file.write(f"{os.getpid()}\n")
    if how == "crash-at-start":
        sys.stderr.write("cannot load the model: bad magic\n")
        raise SystemExit(7)
    orders = take_orders()
    if how == "never-ready":
        time.sleep(600)
    if how == "ignore-the-end":
        # Native code that never lets go of its thread: only a kill helps.
        threading.Thread(target=time.sleep, args=(600,)).start()
        os.close(0)
        os.open(os.devnull, os.O_RDONLY)
    print("noise of a library on stdout")  # noqa: T201  # what the redirection is for
    Handler.key = orders["api_key"]
    server = HTTPServer(("127.0.0.1", 0), Handler)
    announce_port(server.server_address[1])
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
