"""The program of a worker process: `python -m rag_source.ingest.parse_worker`.

It reads paths and requests for pictures from its standard input, parses or draws one after the
other, and writes what came of it to its standard output. Started by `workers.ParserPool`, whose
end it does not outlive.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import pickle
import queue
import signal
import struct
import threading
import time
from pathlib import Path
from typing import BinaryIO

from rag_source.ingest.loader_tools import LoaderTools
from rag_source.ingest.ocr import OcrEngine
from rag_source.ingest.parse_codec import FRAME, PAGES, Kind, WorkerSetup, packed
from rag_source.ingest.parsing import ParseFailure, parse_outcome
from rag_source.ingest.pictures import Picture, PictureRequest, picture_outcome
from rag_source.ingest.registry import LoaderRegistry

__all__ = ["main"]

_NUMBER = struct.Struct("<d")
_PAGES_EVERY_S = 0.25


def main() -> None:
    """Parse files until the standard input ends."""
    source = os.fdopen(os.dup(0), "rb")
    sink = os.fdopen(os.dup(1), "wb")
    # A library that prints must not write into our frames, and one that asks gets no answer.
    null = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(null, descriptor)
    setup = pickle.load(source)  # noqa: S301 - from the parent
    assert isinstance(setup, WorkerSetup)
    sender = _Sender(sink)
    logging.getLogger("rag_source").addHandler(_Forward(sender))
    registry = LoaderRegistry(tools=_tools(setup, sender))
    asked: queue.SimpleQueue[object] = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(source, asked), daemon=True).start()
    _reserve()
    _limit_memory(setup.memory_bytes)
    sender.send(Kind.READY)
    while True:
        request = asked.get()
        if isinstance(request, PictureRequest):
            sender.picture(picture_outcome(request, setup.limit_bytes))
            continue
        assert isinstance(request, Path)
        sender.outcome(
            parse_outcome(registry.loader_for(request), request, setup.limit_bytes), request
        )


def _tools(setup: WorkerSetup, sender: _Sender) -> LoaderTools:
    pages = _Pages(sender)

    def grant(seconds: float) -> None:
        # What follows takes a while, in which the parent should not show an older page.
        pages.flush()
        sender.grant(seconds)

    return LoaderTools(
        ocr=OcrEngine(setup.ocr, grant=grant),
        limits=setup.limits,
        page_spool=setup.page_spool,
        on_pages=pages,
    )


class _Sender:
    """Writes frames, from any thread."""

    def __init__(self, sink: BinaryIO) -> None:
        self._sink = sink
        self._turn = threading.Lock()

    def send(self, kind: bytes, body: bytes = b"") -> None:
        with self._turn:
            self._sink.write(FRAME.pack(kind, len(body)))
            self._sink.write(body)
            self._sink.flush()

    def grant(self, seconds: float) -> None:
        self.send(Kind.GRANT, _NUMBER.pack(seconds))

    def pages(self, done: int, total: int) -> None:
        self.send(Kind.PAGES, PAGES.pack(done, total))

    def outcome(self, outcome: object, path: Path) -> None:
        if not isinstance(outcome, ParseFailure):
            try:
                self.send(Kind.DOCUMENT, packed(outcome))  # type: ignore[arg-type]  # the other case
                return
            except MemoryError:
                outcome = ParseFailure(
                    "too_large", f"{path.name!r} holds too much text", "Split the file."
                )
        self._failed(outcome)

    def picture(self, outcome: Picture | ParseFailure) -> None:
        if isinstance(outcome, ParseFailure):
            self._failed(outcome)
        else:
            self.send(Kind.PICTURE, outcome.data)

    def _failed(self, failure: ParseFailure) -> None:
        fields = [failure.code, failure.message, failure.hint]
        self.send(Kind.FAILED, json.dumps(fields).encode())


class _Pages:
    """Passes the progress of a file on: its beginning, its end, and a few times a second."""

    def __init__(self, sender: _Sender) -> None:
        self._sender = sender
        self._untold: tuple[int, int] | None = None
        self._told_at = 0.0

    def __call__(self, done: int, total: int) -> None:
        self._untold = (done, total)
        if done in (0, total) or time.monotonic() - self._told_at >= _PAGES_EVERY_S:
            self.flush()

    def flush(self) -> None:
        if self._untold is not None:
            self._sender.pages(*self._untold)
            self._untold, self._told_at = None, time.monotonic()


class _Forward(logging.Handler):
    """Gives log records to the parent: a worker has no place to write them to."""

    def __init__(self, sender: _Sender) -> None:
        super().__init__()
        self._sender = sender

    def emit(self, record: logging.LogRecord) -> None:
        self._sender.send(Kind.LOG, self.format(record).encode("utf-8", "replace"))


def _receive(source: BinaryIO, asked: queue.SimpleQueue[object]) -> None:
    """Queue what comes in; end the process, and Tesseract with it, when no more can."""
    with contextlib.suppress(EOFError, pickle.UnpicklingError, OSError):
        while True:
            asked.put(pickle.load(source))  # noqa: S301 - from the parent
    os.killpg(0, signal.SIGKILL)


def _reserve() -> None:
    """Import NumPy, of all that loaders import when they need it, before memory is limited.

    Its algebra library reserves address space for each core, which on a large machine is more than
    a file may use, and must not count as the file's.
    """
    import numpy  # noqa: F401 - for what it reserves


def _limit_memory(memory_bytes: int) -> None:
    """Refuse address space beyond the present size and the limit, and never dump core.

    The parent watches resident memory and acts first; this stops what grows faster than it looks.
    Systems that cannot limit address space (macOS) rely on the parent.
    """
    import resource  # Not on every system.

    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with contextlib.suppress(OSError, ValueError, IndexError):
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        limit = pages * resource.getpagesize() + memory_bytes
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


if __name__ == "__main__":
    main()
