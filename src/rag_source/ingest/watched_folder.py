"""What a watch must know of its folder: whether it is there, its sub-folders, the kind of drive."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from rag_source.domain.errors import ConfigurationError
from rag_source.ingest.scan import is_passed_over

__all__ = ["Root", "concerns", "folders_below", "probe", "remote_kind"]

# Drives on which others write without the kernel here hearing of it.
_REMOTE_KINDS = frozenset(
    "9p afs beegfs ceph cifs coda davfs glusterfs gpfs lustre ncpfs nfs nfs4 prl_fs smb3 smbfs "
    "vboxsf virtiofs vmhgfs".split()
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Root:
    """The document folder as it was at one moment.

    `path` has its links resolved. `identity` is device and inode: another disk, or another folder
    moved to the same name, has another. `is_empty` overlooks what `scan` passes over.
    """

    path: str
    identity: tuple[int, int]
    is_empty: bool


def probe(root: Path) -> Root:
    """Look at the folder itself: a stat and its first names. May block on a dead network drive.

    Raises:
        ConfigurationError: It is missing, no folder, or cannot be read.
    """
    try:
        path = os.path.realpath(root)
        stat = os.stat(path)
        with os.scandir(path) as entries:
            is_empty = all(is_passed_over(entry.name) for entry in entries)
    except NotADirectoryError as error:
        raise _missing(root, "is not a folder") from error
    except FileNotFoundError as error:
        raise _missing(root, "does not exist") from error
    except OSError as error:
        raise _missing(root, f"cannot be read: {error.strerror or error}") from error
    return Root(path=path, identity=(stat.st_dev, stat.st_ino), is_empty=is_empty)


def _missing(root: Path, what: str) -> ConfigurationError:
    return ConfigurationError(
        f"the folder of documents {str(root)!r} {what}",
        hint="Check that its disk is there; it is watched again as soon as it returns.",
        code="corpus_missing",
    )


def folders_below(
    root: str, ignored: Collection[str], is_stopped: Callable[[], bool]
) -> frozenset[str]:
    """The root and every folder below it that `scan` enters, as absolute paths.

    Links are not followed: one to `/` would have the whole machine watched. A folder that cannot
    be listed cannot be watched either and is left out.
    """
    found: set[str] = set()
    pending = [root]
    while pending and not is_stopped():
        folder = pending.pop()
        try:
            with os.scandir(folder) as entries:
                below = [
                    entry.path
                    for entry in entries
                    if entry.is_dir(follow_symlinks=False)
                    and not is_passed_over(entry.name)
                    and entry.path not in ignored
                    and _is_text(entry.path)
                ]
        except OSError:
            continue
        found.add(folder)
        pending += below
    return frozenset(found)


def concerns(path: str, root: str, ignored: Collection[str]) -> bool:
    """Whether a change of this path can matter to `scan`: not hidden, no left-over, not ours."""
    if path == root:
        return True
    if any(path == own or path.startswith(f"{own}/") for own in ignored):
        return False
    below = path.removeprefix(root).strip("/")
    return not any(is_passed_over(name) for name in below.split("/"))


def remote_kind(root: str, mounts: str) -> str:
    """The kind of network drive that the root lies on, or one mounted below it; "" for none.

    Args:
        root: Absolute, links resolved.
        mounts: The text of `/proc/self/mountinfo` (proc_pid_mountinfo(5)).
    """
    own_point, own_kind = "", ""
    for line in mounts.splitlines():
        left, _, right = line.partition(" - ")
        if len(left.split()) < 5 or not right:
            continue
        point = _unescaped(left.split()[4])
        kind = right.split()[0]
        if point.startswith(f"{root.rstrip('/')}/") and _is_remote(kind):
            return kind
        holds = point == "/" or point == root or root.startswith(f"{point}/")
        # Later lines lie over earlier ones of the same point.
        if holds and len(point) >= len(own_point):
            own_point, own_kind = point, kind
    return own_kind if _is_remote(own_kind) else ""


def _is_remote(kind: str) -> bool:
    return kind in _REMOTE_KINDS or kind.startswith("fuse.")


def _unescaped(point: str) -> str:
    for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        point = point.replace(code, char)
    return point


def _is_text(path: str) -> bool:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
