"""Downloads one file of known hash, resuming what an earlier attempt left."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

import httpx

from rag_source.domain.errors import BackendUnavailableError, ConfigurationError
from rag_source.models.disk import GrowingFile, size_of
from rag_source.models.transport import mirror_errors, shown

__all__ = ["DownloadPolicy", "ExpectedFile", "download", "until_done"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class DownloadPolicy:
    """How hard a download tries.

    `attempts` counts tries in a row that brought less than `progress_bytes`; any that brought
    more starts the count again, so that a long file survives many cuts and a dead mirror fails
    after `attempts - 1` pauses, the n-th of n times `pause_s` seconds. At most `look_ahead` wheels
    are on the disk or on their way at any time, about 52 MB each; the next one comes while one is
    unpacked (measured: three at once bring 27 MB/s, one 16 to 24).
    """

    attempts: int = 3
    pause_s: float = 1.0
    progress_bytes: int = 1 << 20
    look_ahead: int = 2

    def __post_init__(self) -> None:
        if self.attempts < 1 or self.look_ahead < 1 or self.pause_s < 0:
            raise ValueError("attempts and look_ahead are at least 1, pause_s is not negative")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedFile:
    """What a download must turn out to be; `name` is for messages."""

    name: str
    sha256: str
    size_bytes: int


async def download(
    http: httpx.AsyncClient,
    url: str,
    path: Path,
    expected: ExpectedFile,
    *,
    on_bytes: Callable[[int], None],
) -> None:
    """Fetch `url` into `path`, continuing after the bytes that are there already.

    `on_bytes` is told how many bytes more (or, when the file has to start again, fewer) are on
    disk. On return the file is complete and its hash is right. After an error other than a wrong
    hash it holds what came so far; a wrong hash leaves nothing behind.

    Raises:
        BackendUnavailableError: No connection, or it was cut.
        ConfigurationError: The hash is wrong, or the disk is full.
    """
    with await asyncio.to_thread(GrowingFile, path) as file:
        resumed = file.size_bytes
        on_bytes(resumed)
        if file.size_bytes < expected.size_bytes:
            await _receive(http, url, file, expected, on_bytes)
        if _is(file, expected):
            return
        if resumed:
            # The leftover of the earlier attempt may be what is wrong: pay once more, from zero.
            logger.warning("%s: the resumed file is wrong, starting again", expected.name)
            on_bytes(-file.size_bytes)
            file.restart()
            await _receive(http, url, file, expected, on_bytes)
        found = file.sha256.hexdigest()
        if _is(file, expected):
            return
        on_bytes(-file.size_bytes)
    await asyncio.to_thread(path.unlink, missing_ok=True)
    raise ConfigurationError(
        f"{expected.name!r} from {shown(url)!r} has sha256 {found}, "
        f"models.lock wants {expected.sha256}",
        hint="this mirror does not carry the pinned file; use another one",
        code="wrong_hash",
    )


async def until_done(
    attempt: Callable[[], Awaitable[None]],
    path: Path,
    policy: DownloadPolicy,
    *,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Repeat a download that was cut, as long as `path` grows or attempts are left.

    Raises:
        BackendUnavailableError: The last attempt's.
    """
    fruitless = 0
    while True:
        before = size_of(path)
        try:
            return await attempt()
        except BackendUnavailableError as error:
            grown = size_of(path) - before >= policy.progress_bytes
            fruitless = 0 if grown else fruitless + 1
            if fruitless >= policy.attempts:
                raise
            logger.info("%s; trying again", error.message)
        await sleep(policy.pause_s * max(1, fruitless))


async def _receive(
    http: httpx.AsyncClient,
    url: str,
    file: GrowingFile,
    expected: ExpectedFile,
    on_bytes: Callable[[int], None],
) -> None:
    start = file.size_bytes
    # Any encoding would make byte ranges and hashes those of something else.
    headers = {"Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
    with mirror_errors(f"the download of {expected.name!r}"):
        async with http.stream("GET", url, headers=headers) as reply:
            if start and reply.status_code in (200, 206, 416) and not _continues(reply, start):
                on_bytes(-file.size_bytes)
                file.restart()
                if reply.status_code != 200:
                    raise BackendUnavailableError(
                        f"the server of {expected.name!r} cannot resume the download",
                        hint="run it again: it starts from the beginning",
                    )
            reply.raise_for_status()
            # As it arrives: a chunk size would lose what is gathered when the line is cut.
            async for block in reply.aiter_raw():
                file.write(block)
                on_bytes(len(block))
                if file.size_bytes > expected.size_bytes:
                    return  # too long to be right: the hash will say so
    if file.size_bytes < expected.size_bytes and not reply.headers.get("content-length"):
        raise BackendUnavailableError(
            f"the download of {expected.name!r} was cut after {file.size_bytes:,} bytes",
            hint="run it again: it resumes where it was",
        )


def _continues(reply: httpx.Response, start: int) -> bool:
    sent = reply.headers.get("content-range", "")
    return reply.status_code == 206 and sent.startswith(f"bytes {start}-")


def _is(file: GrowingFile, expected: ExpectedFile) -> bool:
    return file.size_bytes == expected.size_bytes and file.sha256.hexdigest() == expected.sha256
