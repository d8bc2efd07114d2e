"""What changed in the folder since the last pass: a comparison of stats, then of fingerprints."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from rag_source.domain.catalogue import DocumentRecord
from rag_source.domain.documents import SourceFile
from rag_source.domain.errors import SourceError
from rag_source.ingest.recipes import Recipe
from rag_source.ingest.registry import LoaderRegistry
from rag_source.ingest.scan import FoundFile, Scan

__all__ = [
    "ByContent",
    "Comparison",
    "Work",
    "compare",
    "fingerprint",
    "same_stat",
    "split_by_content",
]

_HASH_BLOCK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """A file to parse and index; `known` is its record if the path was seen before."""

    source: SourceFile
    known: DocumentRecord | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The folder against the catalogue, by stat alone.

    `same` needs nothing. `suspects` must be read: new, of another stat, of another loader, or made
    by another recipe.
    `unsupported` have no loader. `gone` are records without a file.
    """

    same: tuple[DocumentRecord, ...]
    suspects: tuple[tuple[FoundFile, DocumentRecord | None], ...]
    unsupported: tuple[tuple[FoundFile, DocumentRecord | None], ...]
    gone: tuple[DocumentRecord, ...]


@dataclass(slots=True)
class ByContent:
    """The suspects once they have been read.

    `touched` have the bytes that are indexed, under another stat. `moved` have the bytes of a
    record whose file is gone.
    """

    touched: list[DocumentRecord] = field(default_factory=list)
    moved: list[tuple[DocumentRecord, SourceFile]] = field(default_factory=list)
    work: list[Work] = field(default_factory=list)


def fingerprint(path: Path) -> str:
    """The sha256 of the file's bytes.

    Raises:
        SourceError: `unreadable`.
    """
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(_HASH_BLOCK_BYTES):
                digest.update(block)
    except OSError as error:
        raise SourceError(
            f"{path.name!r} cannot be read: {error.strerror or error}",
            code="unreadable",
            hint="Check the permissions of the file.",
        ) from error
    return digest.hexdigest()


def compare(
    found: Scan,
    records: Iterable[DocumentRecord],
    registry: LoaderRegistry,
    *,
    stored: set[str],
    force: bool,
    recipe: Recipe | None = None,
) -> Comparison:
    """Sort files by what has to be done for them.

    Args:
        found: The folder.
        records: The catalogue.
        registry: Tells formats and loader versions.
        stored: Documents that have chunks in the store: a `ready` record without any lost them.
        force: Take nothing for unchanged.
        recipe: Gives the recipe of today for a record; without it recipes are not compared.
    """
    known = {record.source.path: record for record in records}
    same: list[DocumentRecord] = []
    suspects: list[tuple[FoundFile, DocumentRecord | None]] = []
    unsupported: list[tuple[FoundFile, DocumentRecord | None]] = []
    for file in found.files:
        record = known.pop(file.path, None)
        if registry.loader_for(file.path) is None:
            unsupported.append((file, record))
        elif (
            record is not None
            and not force
            # Permissions can be mended without a trace in size or time.
            and record.code != "unreadable"
            and same_stat(record.source, file)
            and _is_settled(record, registry, stored, recipe)
        ):
            same.append(record)
        else:
            suspects.append((file, record))
    gone = [record for path, record in known.items() if not found.hides(path)]
    return Comparison(
        same=tuple(same),
        suspects=tuple(suspects),
        unsupported=tuple(unsupported),
        gone=tuple(gone),
    )


def split_by_content(
    read: Sequence[tuple[SourceFile, DocumentRecord | None]],
    gone: Sequence[DocumentRecord],
    registry: LoaderRegistry,
    *,
    stored: set[str],
    force: bool,
    recipe: Recipe | None = None,
) -> ByContent:
    """Tell what was only touched or moved from what must be parsed. Arguments as for `compare`."""
    result = ByContent()
    orphans = {
        record.source.fingerprint: record
        for record in gone
        if record.status == "ready" and _is_settled(record, registry, stored, recipe)
    }
    for source, record in read:
        if record is not None:
            settled = record.status == "ready" and _is_settled(record, registry, stored, recipe)
            if settled and not force and record.source.fingerprint == source.fingerprint:
                # A stale record has its old bytes back: whatever was wrong with the others is over.
                kept = tuple(warning for warning in record.warnings if warning.code != "stale")
                mended = replace(record, source=source, code="", message="", warnings=kept)
                if recipe is not None:
                    mended = replace(mended, recipe=recipe(mended))
                result.touched.append(mended)
            else:
                result.work.append(Work(source=source, known=record))
            continue
        moved = orphans.get(source.fingerprint)
        if moved is not None and not force and _same_loader(moved, source, registry):
            del orphans[source.fingerprint]
            result.moved.append((moved, source))
        else:
            result.work.append(Work(source=source))
    # Copies of the same bytes side by side, so that they are embedded once.
    result.work.sort(key=lambda work: (work.source.fingerprint, work.source.path))
    firsts = {w.source.fingerprint: w.source.path for w in reversed(result.work)}
    result.work.sort(key=lambda work: (firsts[work.source.fingerprint], work.source.path))
    return result


def same_stat(source: SourceFile, file: FoundFile) -> bool:
    """Whether size and modification time are those that were recorded."""
    return source.size_bytes == file.size_bytes and source.mtime_ns == file.mtime_ns


def _is_settled(
    record: DocumentRecord, registry: LoaderRegistry, stored: set[str], recipe: Recipe | None
) -> bool:
    """Whether an earlier pass came to an end with this file, by today's loader and settings."""
    loader = registry.loader_for(record.source.path)
    if loader is None or (record.loader, record.loader_version) != (loader.name, loader.version):
        return False
    if recipe is not None and record.recipe != recipe(record):
        return False
    if record.status == "ready":
        return record.doc_id in stored
    return record.status == "failed"


def _same_loader(record: DocumentRecord, source: SourceFile, registry: LoaderRegistry) -> bool:
    return registry.loader_for(record.source.path) is registry.loader_for(source.path)
