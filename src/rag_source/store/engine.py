"""The vector engine's side of the store: schema, filters, opening, and its errors in our words.

The engine is Qdrant Edge: one shard in a folder, in process, one process at a time.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from qdrant_edge import (
    Distance,
    EdgeConfig,
    EdgeShard,
    EdgeSparseVectorParams,
    EdgeVectorParams,
    FieldCondition,
    Filter,
    HnswIndexConfig,
    MatchAny,
    MatchValue,
    Memory,
    Modifier,
    MultiVectorComparator,
    MultiVectorConfig,
    PayloadSchemaType,
    UpdateOperation,
    VectorStorageDatatype,
)

from rag_source.domain.errors import BackendError, ConfigurationError, RagError, StateInUseError
from rag_source.domain.evidence import SearchFilter
from rag_source.store.codec import canonical_format
from rag_source.store.room import FULL_DISK_HINT, is_full, require_room

__all__ = [
    "BM25",
    "DENSE",
    "SENTENCES",
    "engine_errors",
    "open_shard",
    "shard_filter",
    "version_filter",
]

DENSE, SENTENCES, BM25 = "dense", "sentences", "bm25"

_KEYWORDS = ("doc_id", "path", "folders", "language", "format", "kind")
_NEW_SHARD_BYTES, _OPENING_BYTES = 160 << 20, 48 << 20
"""A new shard takes 51 MiB: a segment of the log, and the maps of the indexes. Opening one may take
another segment: 31 MiB were taken, and with 25 free the process was ended."""
_NO_GRAPH = HnswIndexConfig(m=0, ef_construct=4, full_scan_threshold=10_000)


@contextmanager
def engine_errors(doing: str) -> Iterator[None]:
    """Turns whatever the engine raises, and payloads that make no sense, into `BackendError`.

    The engine raises bare `Exception` with a text, so nothing narrower can be caught; a panic in
    its Rust code arrives as a `BaseException` of a class that cannot be imported.
    """
    try:
        yield
    except RagError:
        raise
    except Exception as error:
        raise _translated(doing, error) from error
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            raise _translated(doing, error) from error
        raise


def _translated(doing: str, error: BaseException) -> BackendError:
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    full_disk = is_full(error)
    return BackendError(
        f"the vector engine could not {doing}: {reason}",
        code="disk_full" if full_disk else None,
        hint=FULL_DISK_HINT
        if full_disk
        else "try again; if it persists, move the state folder away and ingest again",
    )


def open_shard(folder: Path, *, dimension: int) -> EdgeShard:
    """The shard in `folder`, created with the store's schema if it is not there.

    Creation happens beside and is renamed into place, so that a crash leaves no half of a schema.

    Raises:
        StateInUseError: Another process has it open.
        ConfigurationError: The files are damaged, or the folder cannot be written.
        BackendError: `disk_full`.
    """
    try:
        if not folder.exists():
            require_room(folder.parent, _NEW_SHARD_BYTES, "make the vector index")
            _create_shard(folder, dimension)
        # Opening may write what the log holds.
        require_room(folder, _OPENING_BYTES, "open the vector index")
        return EdgeShard.load(str(folder))
    except RagError:
        raise
    except Exception as error:
        raise _opening_error(folder, error) from error
    except BaseException as error:
        if type(error).__name__ == "PanicException":
            raise _opening_error(folder, error) from error
        raise


def _create_shard(folder: Path, dimension: int) -> None:
    unfinished = folder.with_name(folder.name + ".new")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.parent.mkdir(parents=True, exist_ok=True)
    shard = EdgeShard.create(str(unfinished), _schema(dimension))
    for key in _KEYWORDS:
        shard.update(UpdateOperation.create_field_index(key, PayloadSchemaType.Keyword))
    shard.update(UpdateOperation.create_field_index("generation", PayloadSchemaType.Integer))
    shard.flush()
    shard.close()
    unfinished.rename(folder)


def _schema(dimension: int) -> EdgeConfig:
    """Sentences have no graph: they are only ever scored for a handful of known chunks.

    They take most of the space, so they stay on disk as float16: the cosine moves by less than
    0.0001, which no threshold or coefficient resolves.
    """
    return EdgeConfig(
        vectors={
            DENSE: EdgeVectorParams(size=dimension, distance=Distance.Cosine),
            SENTENCES: EdgeVectorParams(
                size=dimension,
                distance=Distance.Cosine,
                multivector_config=MultiVectorConfig(MultiVectorComparator.MaxSim),
                hnsw_config=_NO_GRAPH,
                datatype=VectorStorageDatatype.Float16,
                memory=Memory.Cold,
            ),
        },
        sparse_vectors={BM25: EdgeSparseVectorParams(modifier=Modifier.Idf)},
    )


def _opening_error(folder: Path, error: BaseException) -> RagError:
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    if is_full(error):
        return _translated("open its files", error)
    if "WouldBlock" in reason:
        return StateInUseError(
            f"the vector index {str(folder)!r} is open in another process",
            hint="stop the other rag-source, or give this one its own state directory",
        )
    if isinstance(error, OSError):
        return ConfigurationError(
            f"the vector index cannot be made in {str(folder.parent)!r}: {reason}",
            hint="make the state directory writable, or choose another",
        )
    return ConfigurationError(
        f"the vector index {str(folder)!r} is damaged: {reason}",
        hint="move that folder away and ingest again; the documents themselves are untouched",
        code="index_damaged",
    )


def _one_of(key: str, values: tuple[str, ...]) -> FieldCondition:
    return FieldCondition(key, match=MatchAny(list(values)))


def version_filter(doc_id: str, generation: int) -> Filter:
    """The points of one version of one document."""
    return Filter(
        must=[
            FieldCondition("doc_id", match=MatchValue(doc_id)),
            FieldCondition("generation", match=MatchValue(generation)),
        ]
    )


def shard_filter(wanted: SearchFilter, hidden: Filter | None = None) -> Filter | None:
    """The engine's form of a search filter; `hidden` points never match. None: no restriction."""
    folders = tuple(folder.rstrip("/") for folder in wanted.folders)
    restricted = {
        "path": wanted.paths,
        "folders": () if "" in folders else folders,
        "doc_id": wanted.doc_ids,
        "language": wanted.languages,
        "format": tuple(canonical_format(name) for name in wanted.formats),
    }
    must = [_one_of(key, values) for key, values in restricted.items() if values]
    must_not: list[FieldCondition | Filter] = []
    if wanted.excluded_doc_ids:
        must_not.append(_one_of("doc_id", wanted.excluded_doc_ids))
    if hidden is not None:
        must_not.append(hidden)
    if not must and not must_not:
        return None
    return Filter(must=list(must) or None, must_not=list(must_not) or None)
