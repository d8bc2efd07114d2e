"""Choose a few files of a folder, of every format, so that a look at them tells about all."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import PurePosixPath

from rag_source.ingest.registry import LoaderRegistry

__all__ = ["sampled"]


def sampled(paths: Sequence[str], count: int, registry: LoaderRegistry) -> list[str]:
    """At most `count` of the paths, in their order; the same ones for the same folder every time.

    Formats take turns, those with most files first, so that a folder of a thousand scans and one
    spreadsheet shows both. Files that no loader reads are one format together, whatever their
    suffixes. Within a format the choice goes by a hash of the path: neither the first folder nor
    the longest series of names fills the sample.
    """
    groups: dict[str, list[str]] = {}
    for path in paths:
        loader = registry.loader_for(path)
        groups.setdefault(PurePosixPath(path).suffix.lower() if loader else "", []).append(path)
    queues = [sorted(group, key=_shuffled) for _, group in sorted(groups.items(), key=_by_size)]
    chosen = set(_in_turns(queues, count))
    return [path for path in paths if path in chosen]


def _by_size(group: tuple[str, list[str]]) -> tuple[int, str]:
    suffix, paths = group
    return -len(paths), suffix


def _shuffled(path: str) -> tuple[bytes, str]:
    return hashlib.sha256(path.encode("utf-8", "surrogatepass")).digest(), path


def _in_turns(queues: Sequence[Sequence[str]], count: int) -> Iterable[str]:
    turns = max(map(len, queues), default=0)
    picked = [queue[turn] for turn in range(turns) for queue in queues if turn < len(queue)]
    return picked[:count]
