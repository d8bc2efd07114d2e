"""The original files, opened by their paths in the corpus and never outside of it.

Paths come from the catalogue, which the scan has filled; but a folder changes, and a link that is
put in the place of a file must not lead out.
"""

from __future__ import annotations

import hashlib
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from rag_source.domain.documents import SourceFile
from rag_source.domain.errors import NotFoundError

__all__ = ["OpenedFile", "Staleness", "confined", "open_confined"]

_PIECE_BYTES = 1 << 20
_OPEN_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_REMEMBERED = 256


@dataclass(frozen=True, slots=True)
class OpenedFile:
    """A file of the corpus, open for reading; whoever asked for it closes it."""

    file: BinaryIO
    path: Path
    size_bytes: int
    mtime_ns: int


def confined(root: Path, path: str) -> Path:
    """Where a file of the corpus really is.

    Raises:
        NotFoundError: There is none (`file_missing`), or it is not inside the folder.
    """
    parts = path.split("/")
    if "\0" in path or path.startswith("/") or ".." in parts or not path.strip():
        raise _outside(path)
    base = root.resolve()
    try:
        found = (base / path).resolve(strict=True)
    except (OSError, RuntimeError) as error:
        raise _missing(path) from error
    if not found.is_relative_to(base):
        raise _outside(path)
    return found


def open_confined(root: Path, path: str) -> OpenedFile:
    """The file, opened; raises as `confined`."""
    found = confined(root, path)
    try:
        descriptor = os.open(found, _OPEN_FLAGS)
    except OSError as error:
        raise _missing(path) from error
    file = os.fdopen(descriptor, "rb")
    try:
        status = os.fstat(descriptor)
        # A pipe or a device put in its place would never end.
        if not stat.S_ISREG(status.st_mode):
            raise _missing(path)
        # A folder on the way may have become a link since it was resolved; Linux tells.
        real = Path(f"/proc/self/fd/{descriptor}")
        if real.exists() and not real.resolve().is_relative_to(root.resolve()):
            raise _outside(path)
    except BaseException:
        file.close()
        raise
    return OpenedFile(file, found, status.st_size, status.st_mtime_ns)


class Staleness:
    """Whether a file still has the bytes that were indexed; remembers what it had to read."""

    def __init__(self) -> None:
        self._fingerprints: dict[tuple[str, int, int], str] = {}

    def is_stale(self, source: SourceFile, opened: OpenedFile) -> bool:
        """Reads the whole file where its size is the same and its time is not, once."""
        if opened.size_bytes != source.size_bytes:
            return True
        if opened.mtime_ns == source.mtime_ns:
            return False
        key = (source.path, opened.size_bytes, opened.mtime_ns)
        found = self._fingerprints.get(key)
        if found is None:
            found = _fingerprint(opened.file)
            if len(self._fingerprints) >= _REMEMBERED:
                self._fingerprints.clear()
            self._fingerprints[key] = found
        return found != source.fingerprint


def _fingerprint(file: BinaryIO) -> str:
    digest = hashlib.sha256()
    file.seek(0)
    while piece := file.read(_PIECE_BYTES):
        digest.update(piece)
    file.seek(0)
    return digest.hexdigest()


def _missing(path: str) -> NotFoundError:
    return NotFoundError(
        f"the file {path[:200]!r} is not there, or cannot be read",
        hint="put it back into the folder, or let the index be brought up to date",
        code="file_missing",
    )


def _outside(path: str) -> NotFoundError:
    return NotFoundError(
        f"{path[:200]!r} is no file of this folder", hint="ask for a document of the list"
    )
