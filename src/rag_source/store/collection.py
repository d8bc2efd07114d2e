"""The small files beside the engine's: what the collection holds, and the swap under way.

`collection.json` binds a collection to one embedding model and one payload codec; `probe.json` has
a vector by which a model that is only known by name is known again. `swap.json`
exists only while a document's new version takes the old one's place, and tells the next start how
to finish or undo it.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from rag_source.domain.chunks import EmbeddingModel, Vector
from rag_source.domain.errors import ConfigurationError
from rag_source.store.codec import CODEC_VERSION

__all__ = ["Swap", "SwapJournal", "bind_collection", "bound_model", "keep_probe", "kept_probe"]

_METADATA = "collection.json"
_PROBE = "probe.json"
_REMEDY = "set the former embedding model again, or move that folder away and ingest again"
_LIMIT_TOKENS = 512
"""That of the only model there was before the metadata said it."""


def bind_collection(folder: Path, model: EmbeddingModel) -> None:
    """Make sure the collection in `folder` is one of `model` and this codec; a new one becomes so.

    Raises:
        ConfigurationError: It was made with another model or codec, its metadata cannot be read,
            or the folder cannot be written.
    """
    path = folder / _METADATA
    wanted = _metadata(model)
    try:
        if not path.exists():
            folder.mkdir(parents=True, exist_ok=True)
            _write_atomically(path, wanted | {"limit_tokens": model.limit_tokens})
            return
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigurationError(
            f"the collection {str(folder)!r} cannot be opened: {error.strerror}",
            hint="make the state directory readable and writable, or choose another",
        ) from error
    except ValueError as error:
        raise _damaged(path) from error
    if not isinstance(found, dict):
        raise _damaged(path)
    for key, value in wanted.items():
        if found.get(key) != value:
            raise ConfigurationError(
                f"the collection {str(folder)!r} was made with {key} {found.get(key)!r}, "
                f"and now {key} is {value!r}",
                hint=_REMEDY,
                code="collection_mismatch",
            )


def bound_model(folder: Path) -> EmbeddingModel | None:
    """The embedding model that the collection in `folder` is of; None if there is none yet.

    Raises:
        ConfigurationError: Its metadata cannot be read.
    """
    path = folder / _METADATA
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return EmbeddingModel(
            name=found["model"],
            dimension=found["dimension"],
            limit_tokens=found.get("limit_tokens", _LIMIT_TOKENS),
            pooling=found["pooling"],
            query_prefix=found["query_prefix"],
            passage_prefix=found["passage_prefix"],
        )
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ConfigurationError(
            f"the collection {str(folder)!r} cannot be opened: {error.strerror}",
            hint="make the state directory readable and writable, or choose another",
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise _damaged(path) from error


def kept_probe(folder: Path) -> Vector | None:
    """The vector by which the collection's model is known again; None if none was kept, or none
    that makes sense."""
    try:
        found = json.loads((folder / _PROBE).read_text(encoding="utf-8"))["vector"]
        return [float(number) for number in found]
    except (OSError, ValueError, KeyError, TypeError):
        return None


def keep_probe(folder: Path, vector: Vector) -> None:
    """Keep the vector by which the collection's model is known again."""
    _write_atomically(folder / _PROBE, {"vector": [round(float(number), 6) for number in vector]})


def _metadata(model: EmbeddingModel) -> dict[str, Any]:
    return {
        "codec": CODEC_VERSION,
        "model": model.name,
        "dimension": model.dimension,
        "pooling": model.pooling,
        "query_prefix": model.query_prefix,
        "passage_prefix": model.passage_prefix,
    }


def _damaged(path: Path) -> ConfigurationError:
    return ConfigurationError(
        f"the collection's metadata {str(path)!r} is damaged",
        hint="move the collection's folder away and ingest again",
        code="index_damaged",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """`staging`: the new version is being written and must not be seen. `committing`: it is whole,
    and every other version of the document goes."""

    doc_id: str
    generation: int
    phase: Literal["staging", "committing"]


class SwapJournal:
    """The swap under way, if any. Survives a kill of the process at any moment.

    Not synced to the platter for each document: after a power cut the engine's own log may be
    behind as well, and the catalogue decides what to index again.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / "swap.json"

    def read(self) -> Swap | None:
        """
        Raises:
            ConfigurationError: The file is not one of ours.
        """
        try:
            return Swap(**json.loads(self._path.read_text(encoding="utf-8")))
        except FileNotFoundError:
            return None
        except (ValueError, TypeError) as error:
            raise _damaged(self._path) from error

    def write(self, swap: Swap) -> None:
        _write_atomically(self._path, asdict(swap))

    def clear(self) -> None:
        self._path.unlink(missing_ok=True)


def _write_atomically(path: Path, content: dict[str, Any]) -> None:
    unfinished = path.with_name(path.name + ".new")
    unfinished.write_text(json.dumps(content, ensure_ascii=False, indent=1), encoding="utf-8")
    os.replace(unfinished, path)
