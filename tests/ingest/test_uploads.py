"""A file that is uploaded is in the folder whole or not at all, and never outside of it."""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from rag_source.domain.errors import (
    BackendError,
    BodyTooLargeError,
    ConfigurationError,
    ConflictError,
    RequestError,
)
from rag_source.ingest.scan import scan
from rag_source.ingest.uploads import check_upload_path, receive_upload


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    return folder


async def pieces(*parts: bytes) -> AsyncIterator[bytes]:
    for part in parts:
        yield part


def names(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*"))


async def test_file_is_there_with_its_bytes(root: Path) -> None:
    done = await receive_upload(root, "a.pdf", pieces(b"one", b"", b"two"))
    assert (done.path, done.size_bytes, done.replaced) == ("a.pdf", 6, False)
    assert names(root) == ["a.pdf"]
    assert (root / "a.pdf").read_bytes() == b"onetwo"


async def test_folders_of_the_name_are_made(root: Path) -> None:
    await receive_upload(root, "factures/2026/été عربي.pdf", pieces(b"x"))
    assert (root / "factures" / "2026" / "été عربي.pdf").read_bytes() == b"x"


async def test_file_of_that_name_is_not_overwritten_unless_it_is_wished(root: Path) -> None:
    (root / "a.pdf").write_bytes(b"old")
    with pytest.raises(ConflictError) as caught:
        await receive_upload(root, "a.pdf", pieces(b"new"))
    assert caught.value.http_status == 409
    assert (root / "a.pdf").read_bytes() == b"old"
    done = await receive_upload(root, "a.pdf", pieces(b"new"), overwrite=True)
    assert done.replaced
    assert (root / "a.pdf").read_bytes() == b"new"
    assert names(root) == ["a.pdf"]


async def test_file_that_came_in_the_meantime_is_not_overwritten(root: Path) -> None:
    async def slow() -> AsyncIterator[bytes]:
        yield b"new"
        (root / "a.pdf").write_bytes(b"other")

    with pytest.raises(ConflictError):
        await receive_upload(root, "a.pdf", slow())
    assert (root / "a.pdf").read_bytes() == b"other"
    assert names(root) == ["a.pdf"]


async def test_too_large_a_file_leaves_nothing(root: Path) -> None:
    with pytest.raises(BodyTooLargeError) as caught:
        await receive_upload(root, "a.pdf", pieces(b"x" * 60, b"x" * 60), limit_bytes=100)
    assert caught.value.http_status == 413
    assert names(root) == []


async def test_upload_that_breaks_off_leaves_nothing(root: Path) -> None:
    async def broken() -> AsyncIterator[bytes]:
        yield b"half"
        raise ConnectionError("the client left")

    with pytest.raises(ConfigurationError):
        await receive_upload(root, "a.pdf", broken())
    assert names(root) == []


async def test_cancelled_upload_leaves_nothing(root: Path) -> None:
    async def endless() -> AsyncIterator[bytes]:
        yield b"half"
        await asyncio.sleep(60)

    task = asyncio.create_task(receive_upload(root, "a.pdf", endless()))
    await asyncio.sleep(0.1)
    assert scan(root).files == ()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert names(root) == []


@pytest.mark.parametrize(
    "path",
    [
        *("", ".", "..", "../a.pdf", "a/../b.pdf", "/a.pdf", "a//b.pdf", "a/", "./a.pdf"),
        *("a\0.pdf", "a\n.pdf", "\x7fa.pdf", ".a.pdf", "a/.b/c.pdf", "a.pdf~", "~$a.docx"),
        *("a\\b.pdf", "a:b.pdf", "a?.pdf", "<img>.pdf", "a|b.pdf", " a.pdf", "a.pdf ", "a /b.pdf"),
        *("x" * 252 + ".pdf", "\ud800.pdf", "/".join(["a"] * 17) + ".pdf", "a./b.pdf"),
    ],
    ids=repr,
)
def test_unsafe_name_is_refused(path: str) -> None:
    with pytest.raises(RequestError) as caught:
        check_upload_path(path)
    assert caught.value.code == "bad_name"


@pytest.mark.parametrize("path", ["a.exe", "a", "a.pdf.sh", "pdf", "a.htaccess"])
def test_unknown_format_is_refused(path: str) -> None:
    with pytest.raises(RequestError) as caught:
        check_upload_path(path)
    assert caught.value.code == "unsupported"


@pytest.mark.parametrize("path", ["a.PDF", "été.pdf", "عقد.docx", "a b (1).csv", "x/y/z.md"])
def test_ordinary_name_is_taken(path: str) -> None:
    assert check_upload_path(path) == path


async def test_link_to_a_folder_outside_is_not_followed(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (root / "out").symlink_to(outside)
    for path in ("out/a.pdf", "out/new/a.pdf"):
        with pytest.raises(RequestError):
            await receive_upload(root, path, pieces(b"x"))
    assert names(outside) == []


async def test_link_to_a_file_outside_is_not_written_through(root: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.pdf"
    secret.write_bytes(b"secret")
    (root / "a.pdf").symlink_to(secret)
    with pytest.raises(RequestError):
        await receive_upload(root, "a.pdf", pieces(b"x"), overwrite=True)
    assert secret.read_bytes() == b"secret"


async def test_folder_of_the_name_is_not_replaced(root: Path) -> None:
    (root / "a.pdf").mkdir()
    (root / "b.pdf").write_bytes(b"x")
    for path in ("a.pdf", "b.pdf/c.pdf"):
        with pytest.raises(RequestError):
            await receive_upload(root, path, pieces(b"x"), overwrite=True)


async def test_full_disk_is_told_and_leaves_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(BackendError) as caught:
        await receive_upload(root, "a.pdf", pieces(b"x"))
    assert caught.value.code == "disk_full"
    assert names(root) == []


async def test_folder_that_cannot_be_written_is_told(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*args: object, **options: object) -> int:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(ConfigurationError) as caught:
        await receive_upload(root, "a.pdf", pieces(b"x"))
    assert caught.value.code == "corpus_unwritable"


async def test_file_system_without_links_gets_the_file_all_the_same(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*args: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refused)
    await receive_upload(root, "a.pdf", pieces(b"x"))
    assert names(root) == ["a.pdf"]


async def test_left_over_of_a_killed_process_is_removed_after_a_day(root: Path) -> None:
    old, young = (root / f".rag-source-upload-{name}.part" for name in ("old", "young"))
    old.write_bytes(b"x")
    young.write_bytes(b"x")
    os.utime(old, (0, 0))
    await receive_upload(root, "a.pdf", pieces(b"x"))
    assert names(root) == [young.name, "a.pdf"]
