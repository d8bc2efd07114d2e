"""Reads chosen metadata of a GGUF file (versions 2 and 3, little-endian), and nothing else of it.

The `gguf` package makes an array view of every string: 7 s for a vocabulary on a quiet machine,
100 s on a busy one. This stops at the last wanted key and takes under a second.
Format: the GGUF specification in the ggml repository, docs/gguf.md.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["read_metadata"]

_STRING, _ARRAY = 8, 9
_SCALARS = dict(zip((0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12), "BbHhIif?Qqd", strict=True))
"""The specification's type numbers, and how `struct` writes them."""


def read_metadata(path: Path, keys: Sequence[str]) -> dict[str, Any]:
    """The values of `keys`; arrays are lists, strings are bytes.

    Raises:
        ValueError: Not a GGUF file, cut off, or a key is missing.
        OSError: It cannot be read.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        try:
            found = _read(data, set(keys))
            return {key: found[key] for key in keys}
        except struct.error as error:
            raise ValueError(f"the metadata is cut off: {error}") from error


def _read(data: mmap.mmap, wanted: set[str]) -> dict[str, Any]:
    magic, version, _, count = struct.unpack_from("<4sIQQ", data)
    if magic != b"GGUF" or version not in (2, 3):
        raise ValueError("it is not a GGUF file of version 2 or 3")
    found: dict[str, Any] = {}
    place = struct.calcsize("<4sIQQ")
    for _ in range(count):
        raw_key, place = _string(data, place)
        (kind,) = struct.unpack_from("<I", data, place)
        value, place = _value(data, place + 4, kind)
        key = raw_key.decode("utf-8", "replace")
        if key in wanted:
            found[key] = value
            if len(found) == len(wanted):
                return found
    raise ValueError("it has no " + ", ".join(sorted(wanted - set(found))))


def _value(data: mmap.mmap, place: int, kind: int) -> tuple[Any, int]:
    if kind == _STRING:
        return _string(data, place)
    if kind == _ARRAY:
        return _array(data, place)
    form = "<" + _scalar(kind)
    return struct.unpack_from(form, data, place)[0], place + struct.calcsize(form)


def _array(data: mmap.mmap, place: int) -> tuple[list[Any], int]:
    kind, count = struct.unpack_from("<IQ", data, place)
    place += 12
    if count > len(data):
        raise ValueError(f"an array claims {count} items")
    if kind not in (_STRING, _ARRAY):
        form = f"<{count}{_scalar(kind)}"
        return list(struct.unpack_from(form, data, place)), place + struct.calcsize(form)
    items: list[Any] = []
    for _ in range(count):
        item, place = _value(data, place, kind)
        items.append(item)
    return items, place


def _string(data: mmap.mmap, place: int) -> tuple[bytes, int]:
    (length,) = struct.unpack_from("<Q", data, place)
    end = place + 8 + length
    if end > len(data):
        raise ValueError(f"a string claims {length} bytes")
    return data[place + 8 : end], end


def _scalar(kind: int) -> str:
    if kind not in _SCALARS:
        raise ValueError(f"it has a value of the unknown type {kind}")
    return _SCALARS[kind]
