"""Whether the disk has room for a write, and the errors of one that has none.

The engine writes through mapped files, whose space is given out only when a page is touched: on a
full disk the kernel ends the process (SIGBUS), where any other write would get an error. So room is
looked for before each of its writes.
"""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

from rag_source.domain.errors import BackendError, ConfigurationError

__all__ = ["FULL_DISK_HINT", "is_full", "require_room", "unwritable"]

FULL_DISK_HINT = "free some disk space and try again"

_ERRNOS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_WORDS = ("No space left", "Disk quota exceeded", "File too large")


def is_full(error: BaseException) -> bool:
    """Whether an error says that nothing more can be written: no space, a quota, a limit of sizes.

    The engine passes the system's errors on as texts.
    """
    return getattr(error, "errno", None) in _ERRNOS or any(word in str(error) for word in _WORDS)


def require_room(folder: Path, size_bytes: int, doing: str) -> None:
    """
    Raises:
        BackendError: `disk_full`: less than so many bytes are free on the folder's disk.
    """
    free_bytes = shutil.disk_usage(folder).free
    if free_bytes < size_bytes:
        raise BackendError(
            f"the vector engine could not {doing}: {free_bytes / 2**20:,.0f} MiB are free in "
            f"{str(folder)!r}, and it needs {size_bytes / 2**20:,.0f}",
            code="disk_full",
            hint=FULL_DISK_HINT,
        )


def unwritable(state_dir: Path, error: OSError) -> ConfigurationError:
    """The error of a state directory in which a file could not be written."""
    full = is_full(error)
    return ConfigurationError(
        f"the state directory {str(state_dir)!r} cannot be written: {error.strerror or error}",
        hint=FULL_DISK_HINT
        if full
        else "make it writable, or choose another with RAG_SOURCE_STATE_DIR",
        code="disk_full" if full else "state_unwritable",
    )
