"""Models that come inside an installed dependency."""

from __future__ import annotations

import base64
import hashlib
import importlib.metadata
from pathlib import Path

from rag_source.models.cache import FileState
from rag_source.models.lockfile import PackageSource

__all__ = ["package_state"]


def package_state(source: PackageSource, *, thorough: bool = False) -> FileState:
    """Whether the pinned version is installed; `thorough` compares each file with its RECORD."""
    try:
        installed = importlib.metadata.distribution(source.package)
    except importlib.metadata.PackageNotFoundError:
        return "missing"
    if installed.version != source.version:
        return "wrong"
    if thorough:
        for file in installed.files or ():
            path = Path(str(installed.locate_file(file)))
            if file.hash and not _has_hash(path, file.hash.mode, file.hash.value):
                return "wrong"
    return "ready"


def _has_hash(path: Path, mode: str, value: str) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, mode).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode("ascii") == value
