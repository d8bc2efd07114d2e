"""Set aside the files that need nothing, so that only the others are looked at one by one.

In a folder at rest these are all of them, and what is asked of each is asked ten thousand times: so
it works on tuples, and builds nothing for a file that is as it was.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass

from rag_source.domain.catalogue import FileState
from rag_source.ingest.registry import LoaderRegistry
from rag_source.ingest.scan import FoundFile, Scan

__all__ = ["Suspicious", "set_aside_unchanged"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspicious:
    """What is left to be compared: the files of a scan, and the records by id. `unchanged` counts
    the pairs of both that were set aside."""

    found: Scan
    doc_ids: tuple[str, ...]
    unchanged: int


def set_aside_unchanged(
    found: Scan,
    states: Sequence[FileState],
    registry: LoaderRegistry,
    *,
    stored: Container[str],
    recipe: Callable[[FileState], str] | None,
) -> Suspicious:
    """Leave out each file whose record is ready, without a fault, and would be made the same today.

    Args:
        found: The folder.
        states: Of all records.
        registry: Tells formats and loader versions.
        stored: Documents that have chunks in the store.
        recipe: Gives the recipe of today; without it recipes are not compared.
    """
    known = {state.path: state for state in states}
    makers = _Makers(registry)
    rest: list[FoundFile] = []
    for file in found.files:
        path, size_bytes, mtime_ns = file
        state = known.get(path)
        if (
            state is not None
            and state.mtime_ns == mtime_ns
            and state.size_bytes == size_bytes
            and state.status == "ready"
            and not state.code
            and (state.loader, state.loader_version) == makers[path.rpartition(".")[2]]
            and (recipe is None or state.recipe == recipe(state))
            and state.doc_id in stored
        ):
            del known[path]
        else:
            rest.append(file)
    return Suspicious(
        found=Scan(
            files=tuple(rest),
            unreadable_folders=found.unreadable_folders,
            unreadable_files=found.unreadable_files,
        ),
        doc_ids=tuple(state.doc_id for state in known.values()),
        unchanged=len(found.files) - len(rest),
    )


class _Makers(dict[str, tuple[str, int]]):
    """Name and version of the loader for each ending after the last dot, as they are asked for."""

    def __init__(self, registry: LoaderRegistry) -> None:
        super().__init__()
        self._registry = registry

    def __missing__(self, ending: str) -> tuple[str, int]:
        loader = self._registry.loader_for(f"name.{ending}")
        made_by = (loader.name, loader.version) if loader else ("", -1)
        self[ending] = made_by
        return made_by
