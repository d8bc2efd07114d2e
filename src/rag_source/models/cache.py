"""The per-user directory of model files: which are there, and are they the pinned ones.

Beside a model `F` may stand `F.verified` (the size and time for which its hash was found right,
so that a start does not hash a gigabyte), `F.ranks` (its tokenizer), `F.partial` and `F.lock`.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeAlias

from rag_source.domain.errors import ModelMissingError
from rag_source.models.disk import hash_file
from rag_source.models.lockfile import ModelFile

__all__ = ["FileState", "ModelCache", "ranks_path"]

logger = logging.getLogger(__name__)

FileState: TypeAlias = Literal["ready", "partial", "missing", "wrong"]

_FETCH_HINT = "run `rag-source models fetch {profile}`"


def ranks_path(model: Path) -> Path:
    """Where the tokenizer's ranks of a model file lie or would lie."""
    return model.with_name(model.name + ".ranks")


class ModelCache:
    """Model files in one directory; the directory need not exist."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory

    def path(self, file: ModelFile) -> Path:
        """Where the complete file lies or would lie."""
        return self.directory / file.name

    def partial_path(self, file: ModelFile) -> Path:
        """Where the file grows before it is complete."""
        return self._beside(file, "partial")

    def lock_path(self, file: ModelFile) -> Path:
        """The lock that a fetch of this file holds."""
        return self._beside(file, "lock")

    def state(self, file: ModelFile) -> FileState:
        """What the cache has, hashing nothing that was hashed before."""
        path = self.path(file)
        if not path.is_file():
            return "partial" if self.partial_path(file).is_file() else "missing"
        if path.stat().st_size != file.size_bytes:
            return "wrong"
        if self._stamp(file) == self._read_stamp(file):
            return "ready"
        return self.check(file)

    def check(self, file: ModelFile, on_bytes: Callable[[int], None] = lambda _: None) -> FileState:
        """Hash the file whatever is known about it, and remember a good result."""
        path = self.path(file)
        if not path.is_file():
            return self.state(file)
        stamp = self._stamp(file)
        if path.stat().st_size != file.size_bytes or hash_file(path, on_bytes) != file.sha256:
            self._beside(file, "verified").unlink(missing_ok=True)
            return "wrong"
        self._write_stamp(file, stamp)
        return "ready"

    def require(self, file: ModelFile, *, profile: str) -> Path:
        """The path of the file, which is complete and right.

        Raises:
            ModelMissingError: It is not there, or is another file.
        """
        state = self.state(file)
        if state == "ready":
            return self.path(file)
        hint = _FETCH_HINT.format(profile=profile)
        if state == "wrong":
            raise ModelMissingError(
                f"{str(self.path(file))!r} is not the file that models.lock pins", hint=hint
            )
        raise ModelMissingError(
            f"the model {file.name!r} is not in {str(self.directory)!r}", hint=hint
        )

    def _beside(self, file: ModelFile, suffix: str) -> Path:
        return self.directory / f"{file.name}.{suffix}"

    def _stamp(self, file: ModelFile) -> dict[str, str | int]:
        status = self.path(file).stat()
        return {"sha256": file.sha256, "size": status.st_size, "mtime_ns": status.st_mtime_ns}

    def _read_stamp(self, file: ModelFile) -> object:
        try:
            return json.loads(self._beside(file, "verified").read_text(encoding="ascii"))
        except (OSError, ValueError):
            return None

    def _write_stamp(self, file: ModelFile, stamp: dict[str, str | int]) -> None:
        try:
            self._beside(file, "verified").write_text(json.dumps(stamp), encoding="ascii")
        except OSError as error:
            # A cache that several users share may be read-only: hash again next time.
            logger.info("%s: the check cannot be remembered: %s", file.name, error.strerror)
