"""One process at a time per state directory.

The lock is the kernel's (`flock` on `state/lock`), so a killed process leaves none behind. The
file's content only tells others who holds it.
"""

from __future__ import annotations

import fcntl
import json
import os
import time
import weakref
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from rag_source.domain.errors import ConfigurationError, StateInUseError
from rag_source.store.room import unwritable

__all__ = ["LockHolder", "StateLock", "current_holder"]

_ATTEMPTS, _PAUSE_S = 5, 0.02
"""Another process that merely asks who holds the lock has it for a moment."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LockHolder:
    """Who holds a state directory. `since` is an ISO 8601 time in UTC; `address` a URL or empty."""

    pid: int
    purpose: str
    since: str
    address: str = ""


class StateLock:
    """Exclusive use of a state directory, from `acquire` to `release` or the process's end.

    Child processes do not inherit it: not those started anew (the descriptor closes on exec), nor
    forked ones (they close it first thing), which would otherwise keep it past the parent's death.

    Args:
        state_dir: The directory; it must exist.
        purpose: What the process does, as the user would say it, such as `rag-source up`.
    """

    def __init__(
        self,
        state_dir: Path,
        purpose: str,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._path = state_dir / "lock"
        self._purpose = purpose
        self._now = now
        self._descriptor: int | None = None
        self._since = ""

    def acquire(self) -> None:
        """Take the lock, or say who has it. Taking it twice is an error of the second caller.

        Raises:
            StateInUseError: Another process, or another lock of this one, holds the directory.
            ConfigurationError: The directory is missing or cannot be written.
        """
        descriptor = _open(self._path)
        try:
            _lock(descriptor, self._path)
        except BaseException:
            os.close(descriptor)
            raise
        self._descriptor = descriptor
        self._since = self._now().isoformat(timespec="seconds")
        _held.add(self)
        self.announce("")

    def announce(self, address: str) -> None:
        """Record where this process answers, for those who find the directory in use."""
        if self._descriptor is None:
            raise RuntimeError("the lock is not held")
        holder = LockHolder(
            pid=os.getpid(), purpose=self._purpose, since=self._since, address=address
        )
        _write(self._descriptor, json.dumps(asdict(holder)) + "\n", self._path)

    def release(self) -> None:
        """Let go; without effect if it is not held."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            _held.discard(self)
            os.ftruncate(descriptor, 0)
            os.close(descriptor)

    def __enter__(self) -> StateLock:
        self.acquire()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

    def _forget_in_child(self) -> None:
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            os.close(descriptor)


_held: weakref.WeakSet[StateLock] = weakref.WeakSet()


def _close_in_child() -> None:
    for lock in list(_held):
        lock._forget_in_child()
    _held.clear()


os.register_at_fork(after_in_child=_close_in_child)


def current_holder(state_dir: Path) -> LockHolder | None:
    """Who holds the directory now; None if nobody does, or if it does not exist.

    A holder that could not be read, because it is just writing, has the pid 0.
    """
    try:
        descriptor = os.open(state_dir / "lock", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return _read(descriptor) or LockHolder(pid=0, purpose="another process", since="")
    finally:
        os.close(descriptor)
    return None


def _open(path: Path) -> int:
    if not path.parent.is_dir():
        raise ConfigurationError(
            f"the state directory {str(path.parent)!r} does not exist",
            hint="create it, or choose another with RAG_SOURCE_STATE_DIR",
            code="state_missing",
        )
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise unwritable(path.parent, error) from error


def _lock(descriptor: int, path: Path) -> None:
    for attempt in range(_ATTEMPTS):
        if attempt:
            time.sleep(_PAUSE_S)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            continue
        except OSError as error:
            raise unwritable(path.parent, error) from error
        return
    raise _in_use(path.parent, _read(descriptor))


def _in_use(state_dir: Path, holder: LockHolder | None) -> StateInUseError:
    if holder is None:
        return StateInUseError(
            f"the state {str(state_dir)!r} is in use by another process",
            hint="wait for it to end, or choose another with RAG_SOURCE_STATE_DIR",
        )
    where = f" at {holder.address}" if holder.address else ""
    return StateInUseError(
        f"the state {str(state_dir)!r} is in use by process {holder.pid} "
        f"({holder.purpose}{where}, since {holder.since})",
        hint=f"wait for it, end it (kill {holder.pid}), "
        "or choose another state with RAG_SOURCE_STATE_DIR",
    )


def _write(descriptor: int, text: str, path: Path) -> None:
    try:
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, text.encode(), 0)
    except OSError as error:
        raise unwritable(path.parent, error) from error


def _read(descriptor: int) -> LockHolder | None:
    try:
        return LockHolder(**json.loads(os.pread(descriptor, 4096, 0)))
    except (OSError, ValueError, TypeError):
        return None
