"""Disks without room: an error before the engine writes, never its end; the old version answers."""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest

from rag_source.domain.errors import BackendError, ConfigurationError
from rag_source.domain.ports import ChunkQuery
from rag_source.store.database import Database
from rag_source.store.edge import EdgeChunkStore, WritePolicy
from rag_source.store.lock import StateLock
from rag_source.store.room import is_full
from rag_source.store.state import StateDirectory
from store_inputs import MODEL, make_version, terms, unit

_Usage = namedtuple("_Usage", "total used free")
_QUERY = ChunkQuery(mode="hybrid", limit=50, depth=50, dense=tuple(unit(1)), sparse=terms(1))
_SMALL = WritePolicy(batch_points=2)


class _Disk:
    """What the system says is free."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.free_bytes = 1 << 40
        monkeypatch.setattr(shutil, "disk_usage", lambda _: _Usage(0, 0, self.free_bytes))


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> _Disk:
    return _Disk(monkeypatch)


class _FailingShard:
    """Passes everything on, but for updates while the disk is full."""

    def __init__(self, shard: Any) -> None:
        self._shard = shard
        self.updates_left = 10**6

    def update(self, operation: object) -> None:
        if self.updates_left == 0:
            raise RuntimeError("IO error: No space left on device (os error 28)")
        self.updates_left -= 1
        self._shard.update(operation)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._shard, name)


async def _texts(store: EdgeChunkStore) -> set[str]:
    return {candidate.chunk.text for candidate in await store.search(_QUERY)}


async def test_write_without_room_is_refused_and_the_old_version_answers(
    folder: Path, disk: _Disk
) -> None:
    with EdgeChunkStore(folder, MODEL) as store:
        await store.replace("d", make_version("d", 1))
        disk.free_bytes = 90 << 20
        with pytest.raises(BackendError, match="90 MiB are free") as caught:
            await store.replace("d", make_version("d", 2))
        assert caught.value.code == "disk_full"
        assert await _texts(store) == {"version 1"}
        disk.free_bytes = 100 << 20
        await store.replace("d", make_version("d", 2))
        assert await _texts(store) == {"version 2"}


async def test_deletion_and_rename_need_less_room_than_a_write(folder: Path, disk: _Disk) -> None:
    with EdgeChunkStore(folder, MODEL) as store:
        await store.replace("a", make_version("a", 1))
        await store.replace("b", make_version("b", 1))
        disk.free_bytes = 60 << 20
        await store.rename("a", "elsewhere/a.txt")
        await store.remove(["b"])
        assert await store.doc_ids() == {"a"}
        disk.free_bytes = 40 << 20
        with pytest.raises(BackendError, match="remove documents"):
            await store.remove(["a"])
        assert await store.doc_ids() == {"a"}


async def test_log_is_let_go_of_before_a_write_is_refused(
    folder: Path, disk: _Disk, monkeypatch: pytest.MonkeyPatch
) -> None:
    with EdgeChunkStore(folder, MODEL) as store:
        await store.replace("d", make_version("d", 1))
        disk.free_bytes = 90 << 20
        flush = store._flush

        def make_room() -> None:
            flush()
            disk.free_bytes = 110 << 20

        monkeypatch.setattr(store, "_flush", make_room)
        await store.replace("d", make_version("d", 2))
        assert await _texts(store) == {"version 2"}


async def test_index_that_cannot_be_opened_for_lack_of_room_is_not_called_damaged(
    folder: Path, disk: _Disk
) -> None:
    disk.free_bytes = 100 << 20
    with pytest.raises(BackendError, match="make the vector index") as caught:
        EdgeChunkStore(folder, MODEL)
    assert caught.value.code == "disk_full"
    disk.free_bytes = 200 << 20
    with EdgeChunkStore(folder, MODEL) as store:
        await store.replace("d", make_version("d", 1))
    disk.free_bytes = 40 << 20
    with pytest.raises(BackendError, match="open the vector index") as caught:
        EdgeChunkStore(folder, MODEL)
    assert caught.value.code == "disk_full"
    disk.free_bytes = 200 << 20
    with EdgeChunkStore(folder, MODEL) as store:
        assert await _texts(store) == {"version 1"}


async def test_old_version_that_cannot_be_deleted_is_seen_by_no_search(folder: Path) -> None:
    """The swap's last step fails: the new version is the one that answers, from now on."""
    with EdgeChunkStore(folder, MODEL, writing=_SMALL) as store:
        await store.replace("d", make_version("d", 1))
        failing = _FailingShard(store._shard)
        store._shard = failing  # type: ignore[assignment]
        failing.updates_left = 5  # nine chunks, two at a time; the sixth is the deletion
        await store.replace("d", make_version("d", 2, chunks=9))
        assert await _texts(store) == {"version 2"}
        assert await store.count() == 9
        assert len(await store.chunk_ids("d")) == 9
        failing.updates_left = 10**6
        await store.replace("other", make_version("other", 3))
        assert store._points() == 9 + 5
        assert await _texts(store) == {"version 2", "version 3"}


async def test_old_version_that_could_not_be_deleted_goes_at_the_next_start(folder: Path) -> None:
    with EdgeChunkStore(folder, MODEL, writing=_SMALL) as store:
        await store.replace("d", make_version("d", 1))
        failing = _FailingShard(store._shard)
        store._shard = failing  # type: ignore[assignment]
        failing.updates_left = 5
        await store.replace("d", make_version("d", 2, chunks=9))
    with EdgeChunkStore(folder, MODEL, writing=_SMALL) as store:
        assert store._points() == 9
        assert await _texts(store) == {"version 2"}


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "x"),
        OSError(errno.EDQUOT, "x"),
        OSError(errno.EFBIG, "x"),
        Exception("Service internal error: IO Error: No space left on device (os error 28)"),
        Exception("IO Error: File too large (os error 27)"),
    ],
    ids=["space", "quota", "size", "engine-space", "engine-size"],
)
def test_errors_of_a_full_disk_are_known(error: Exception) -> None:
    assert is_full(error)
    assert not is_full(OSError(errno.EACCES, "Permission denied"))


def test_small_files_of_the_state_say_that_the_disk_is_full(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = StateDirectory(tmp_path)

    def refuse(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "open", refuse)
    for write in (
        state.make_token,
        lambda: state.bind_corpus(tmp_path),
        StateLock(tmp_path, "x").acquire,
    ):
        with pytest.raises(ConfigurationError, match="cannot be written") as caught:
            write()
        assert caught.value.code == "disk_full"
        assert caught.value.hint.startswith("free some disk space")


def test_failed_write_of_the_catalogue_names_what_to_check(tmp_path: Path) -> None:

    database = Database(tmp_path / "c.db")
    error = sqlite3.OperationalError("disk I/O error")
    error.sqlite_errorname = "SQLITE_IOERR_WRITE"
    with pytest.raises(BackendError, match="could not update") as caught, database.errors("update"):
        raise error
    assert caught.value.code == "disk_error"
    assert "ulimit -f" in caught.value.hint
    database.close()
