"""Put a new file into the corpus: whole or not at all, in the folder and nowhere else."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import secrets
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from rag_source.domain.errors import (
    BackendError,
    BodyTooLargeError,
    ConfigurationError,
    ConflictError,
    RequestError,
)
from rag_source.domain.reports import Uploaded
from rag_source.ingest.parsing import unsupported_hint
from rag_source.ingest.registry import LoaderRegistry
from rag_source.ingest.scan import is_passed_over

__all__ = ["LIMIT_UPLOAD_BYTES", "check_upload_path", "receive_upload"]

LIMIT_UPLOAD_BYTES = 200_000_000
_LIMIT_NAME_BYTES, _LIMIT_PATH_CHARS, _LIMIT_DEPTH = 255, 1024, 16
# Hidden, so that the scan passes over it while it grows.
_PREFIX = ".rag-source-upload-"
_LEFT_OVER_S = 86_400
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_NAMES = frozenset({errno.EEXIST, errno.ENOTDIR, errno.ENAMETOOLONG, errno.EINVAL, errno.EILSEQ})
_FORBIDDEN = frozenset('\\:*?"<>|')  # Other systems cannot have them, and a shell may obey them.


async def receive_upload(
    root: Path,
    path: str,
    pieces: AsyncIterator[bytes],
    *,
    overwrite: bool = False,
    limit_bytes: int = LIMIT_UPLOAD_BYTES,
) -> Uploaded:
    """Write the pieces to a hidden file in the folder, then give it its name.

    Args:
        root: The folder of documents.
        path: Where in it, with `/` between names; folders are made.
        pieces: The bytes, as they come.
        overwrite: Whether a file of that name may be replaced.
        limit_bytes: How many bytes there may be.

    Raises:
        RequestError: The name cannot be taken, or its format is unknown.
        ConflictError: There is a file of that name.
        BodyTooLargeError: There are too many bytes.
        ConfigurationError, BackendError: The folder cannot be written, or its disk is full.
    """
    path = check_upload_path(path)
    target = await asyncio.to_thread(_target, root, path, overwrite)
    with _written_errors():
        await asyncio.to_thread(_clear_left_overs, root)
        temporary = root / f"{_PREFIX}{secrets.token_hex(8)}.part"
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
        try:
            with os.fdopen(descriptor, "wb") as file:
                size_bytes = 0
                async for piece in pieces:
                    size_bytes += len(piece)
                    if size_bytes > limit_bytes:
                        raise BodyTooLargeError(
                            f"the file has more than {limit_bytes:,} bytes",
                            hint="put it into the folder itself",
                        )
                    await asyncio.to_thread(file.write, piece)
                await asyncio.to_thread(_settled, file)
            replaced = await asyncio.to_thread(_name, temporary, target, path, overwrite)
        finally:
            temporary.unlink(missing_ok=True)
    return Uploaded(path=path, size_bytes=size_bytes, replaced=replaced)


def check_upload_path(path: str) -> str:
    """The path, if a file may be put there.

    Raises:
        RequestError: A name is empty, hidden, too long, goes upwards or holds what file systems do
            not take; or no loader reads its format.
    """
    names = path.split("/")
    if len(path) > _LIMIT_PATH_CHARS or len(names) > _LIMIT_DEPTH or not all(map(_is_safe, names)):
        raise RequestError(
            f"{path[:200]!r} cannot be the name of a new file",
            hint="use a plain name, without '..', leading dots or characters such as ? * : \\",
            code="bad_name",
        )
    if LoaderRegistry().loader_for(PurePosixPath(path)) is None:
        raise RequestError(
            f"{path[:200]!r} is of no supported format", hint=unsupported_hint(), code="unsupported"
        )
    return path


def _is_safe(name: str) -> bool:
    try:
        length = len(name.encode("utf-8"))
    except UnicodeEncodeError:
        return False
    return (
        0 < length <= _LIMIT_NAME_BYTES
        and name == name.strip()
        and not is_passed_over(name)
        and not name.endswith(".")
        and not any(ord(c) < 32 or 127 <= ord(c) < 160 or c in _FORBIDDEN for c in name)
    )


def _target(root: Path, path: str, overwrite: bool) -> Path:
    """Where the file goes; its folder is made, and is inside the corpus."""
    base = root.resolve()
    folder = base
    with _written_errors():
        for name in PurePosixPath(path).parts[:-1]:
            folder = folder / name
            if not folder.resolve().is_relative_to(base):
                raise _outside(path)
            folder.mkdir(exist_ok=True)
    target = folder.resolve() / PurePosixPath(path).name
    if target.is_dir() or (target.is_symlink() and not target.resolve().is_relative_to(base)):
        raise _outside(path)
    if os.path.lexists(target) and not overwrite:
        raise _exists(path)
    return target


def _name(temporary: Path, target: Path, path: str, overwrite: bool) -> bool:
    """Give the file its name in one step; returns whether another had it."""
    if overwrite:
        replaced = os.path.lexists(target)
        temporary.replace(target)
        return replaced
    try:
        # Unlike a rename, a link never takes the place of a file that came in the meantime.
        os.link(temporary, target)
    except FileExistsError as error:
        raise _exists(path) from error
    except OSError:
        # File systems without links.
        if os.path.lexists(target):
            raise _exists(path) from None
        temporary.rename(target)
    return False


def _settled(file: BinaryIO) -> None:
    """What has a name must have its bytes, even after a power cut."""
    file.flush()
    os.fsync(file.fileno())


def _clear_left_overs(root: Path) -> None:
    """Remove what a process that was killed has left behind."""
    for left in root.glob(f"{_PREFIX}*.part"):
        with contextlib.suppress(OSError):
            if time.time() - left.lstat().st_mtime > _LEFT_OVER_S:
                left.unlink()


@contextlib.contextmanager
def _written_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in _FULL:
            raise BackendError(
                f"the file could not be written: {error.strerror}",
                hint="free some disk space where the documents are, and try again",
                code="disk_full",
            ) from error
        if error.errno in _NAMES:
            raise RequestError(
                f"the file could not be given its name: {error.strerror}",
                hint="choose another name",
                code="bad_name",
            ) from error
        raise ConfigurationError(
            f"the folder of documents cannot be written: {error.strerror or error}",
            hint="put the file there by another way, or make the folder writable",
            code="corpus_unwritable",
        ) from error


def _exists(path: str) -> ConflictError:
    return ConflictError(
        f"there is a file {path[:200]!r} already",
        hint="choose another name, or send `overwrite=true`",
    )


def _outside(path: str) -> RequestError:
    return RequestError(
        f"{path[:200]!r} is not a place for a file in the folder",
        hint="use a name that no folder or link has",
        code="bad_name",
    )
