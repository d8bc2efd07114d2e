"""One fetch of a file at a time, across processes. The kernel frees the lock of a dead holder."""

from __future__ import annotations

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from rag_source.models.disk import disk_errors

__all__ = ["fetch_lock"]

_POLL_S = 0.5


@asynccontextmanager
async def fetch_lock(
    path: Path,
    *,
    on_wait: Callable[[str], None],
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> AsyncIterator[None]:
    """Hold the lock; while another process does, wait and tell `on_wait` its process id (once).

    The file stays: removing it would let a third process lock a file that nobody else sees.
    """
    with disk_errors(path):
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        told = False
        while not _acquire(descriptor):
            if not told:
                on_wait(os.pread(descriptor, 32, 0).decode("ascii", "replace").strip() or "?")
                told = True
            await sleep(_POLL_S)
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        yield
    finally:
        os.close(descriptor)


def _acquire(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
