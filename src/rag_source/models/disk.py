"""Writing large files: space checked before, a full disk told apart, hashes on the way."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

from rag_source.domain.errors import ConfigurationError

__all__ = [
    "BLOCK_BYTES",
    "GrowingFile",
    "check_space",
    "disk_errors",
    "hash_file",
    "publish",
    "size_of",
]

BLOCK_BYTES = 1 << 20
_SPARE_BYTES = 16 << 20
"""Room left for the rest of the system; some file systems misbehave when filled to the brim."""


def check_space(directory: Path, needed_bytes: int) -> None:
    """Make sure that `needed_bytes` more fit, before the first of them is paid for.

    Raises:
        ConfigurationError: They do not.
    """
    free = shutil.disk_usage(directory).free
    if needed_bytes and free < needed_bytes + _SPARE_BYTES:
        raise _full(directory, needed_bytes + _SPARE_BYTES, free)


@contextmanager
def disk_errors(path: Path, *, needed_bytes: int = 0) -> Iterator[None]:
    """Turn a failed write below `path` into the operator's error.

    Raises:
        ConfigurationError: The disk is full, or the place cannot be written.
    """
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            free = shutil.disk_usage(path.parent).free
            raise _full(path.parent, needed_bytes, free) from error
        raise ConfigurationError(
            f"{str(path)!r} cannot be written: {error.strerror or error}",
            hint="check the owner and permissions of the cache directory, or set "
            "RAG_SOURCE_CACHE_DIR",
            code="cache_unwritable",
        ) from error


class GrowingFile:
    """A file that only grows, with the sha256 of all it holds; a context manager that closes it.

    Making one opens the file and hashes what is already there, so that a resumed file is checked
    like a fresh one.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.sha256 = hashlib.sha256()
        self.size_bytes = 0
        with disk_errors(path):
            self._file = self._path.open("a+b")
            self._file.seek(0)
            for block in iter(lambda: self._file.read(BLOCK_BYTES), b""):
                self.sha256.update(block)
                self.size_bytes += len(block)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # What is still buffered may not fit; the error of the write itself is the one to tell.
        with disk_errors(self._path):
            self._file.close()

    def write(self, data: bytes) -> None:
        """Append. Raises as `disk_errors`."""
        with disk_errors(self._path, needed_bytes=len(data)):
            self._file.write(data)
        self.sha256.update(data)
        self.size_bytes += len(data)

    def restart(self) -> None:
        """Forget everything."""
        with disk_errors(self._path):
            self._file.truncate(0)
        self.sha256 = hashlib.sha256()
        self.size_bytes = 0


def hash_file(path: Path, on_bytes: Callable[[int], None] = lambda _: None) -> str:
    """The sha256 of a file; `on_bytes` is told how many more bytes were read."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        for block in iter(lambda: file.read(BLOCK_BYTES), b""):
            digest.update(block)
            on_bytes(len(block))
    return digest.hexdigest()


def size_of(path: Path) -> int:
    """The size of a file in bytes; 0 where there is none."""
    return path.stat().st_size if path.exists() else 0


def publish(partial: Path, final: Path) -> None:
    """Give a complete file its final name, such that a power cut leaves all of it or nothing."""
    with disk_errors(final):
        with partial.open("rb") as file:
            os.fsync(file.fileno())
        partial.replace(final)
        directory = os.open(final.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


def _full(directory: Path, needed_bytes: int, free_bytes: int) -> ConfigurationError:
    return ConfigurationError(
        f"the disk of {str(directory)!r} is full: {needed_bytes:,} bytes needed, "
        f"{free_bytes:,} free",
        hint="free some space or set RAG_SOURCE_CACHE_DIR to another disk, then run it again: it "
        "resumes where it was",
        code="disk_full",
    )
