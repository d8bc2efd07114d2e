"""The watch where there are no events, or no folder; and its end."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import watchfiles

from ingest.looking import QUICK, looking, write
from rag_source.ingest.watched_folder import folders_below
from rag_source.ingest.watching import FolderWatcher, WatchPolicy, WatchState

WATCH = "rag_source.ingest.watch_thread.watch"
POLL = replace(QUICK, mode="poll")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    return folder


async def test_root_moved_away_and_back_is_a_state_and_no_look(root: Path, tmp_path: Path) -> None:
    write(root, "a.txt")
    async with looking(root) as looker:
        os.rename(root, tmp_path / "away")
        await looker.until(lambda: looker.kind == "missing")
        looks = len(looker.notices)
        write(tmp_path, "away/b.txt")
        os.rename(tmp_path / "away", root)
        await looker.until(lambda: looker.seen == {"a.txt", "b.txt"})

        assert looker.notices[looks].reasons == {"returned"}
        assert looker.kind == "events"
        assert [state.kind for state in looker.states] == ["events", "missing", "events"]
        assert "does not exist" in looker.states[1].message
        assert looker.states[1].hint


async def test_empty_folder_in_the_place_of_the_corpus_is_an_unplugged_disk(
    root: Path, tmp_path: Path
) -> None:
    write(root, "a.txt")
    async with looking(root) as looker:
        os.rename(root, tmp_path / "disk")
        os.mkdir(root)
        await looker.until(
            lambda: looker.kind == "missing" and "empty" in looker.states[-1].message
        )
        os.rmdir(root)
        os.rename(tmp_path / "disk", root)
        await looker.until(lambda: looker.kind == "events")
        await looker.until(lambda: "returned" in looker.notices[-1].reasons)

        assert looker.seen == {"a.txt"}
        assert looker.events() == []


async def test_other_folder_in_the_place_of_the_corpus_is_followed(
    root: Path, tmp_path: Path
) -> None:
    write(root, "a.txt")
    write(tmp_path, "other/b.txt")
    async with looking(root) as looker:
        os.rename(root, tmp_path / "former")
        os.rename(tmp_path / "other", root)
        await looker.until(lambda: looker.seen == {"b.txt"})
        write(root, "c.txt")
        await looker.until(lambda: looker.seen == {"b.txt", "c.txt"})


async def test_missing_root_at_start_is_waited_for(root: Path) -> None:
    os.rmdir(root)
    async with looking(root) as looker:
        assert looker.kind == "missing"
        assert looker.notices == []
        write(root, "a.txt")
        await looker.until(lambda: looker.seen == {"a.txt"})

        assert "start" in looker.notices[0].reasons


async def test_polling_asks_for_a_look_at_times(root: Path) -> None:
    async with looking(root, POLL) as looker:
        write(root, "a.txt")
        await looker.until(lambda: looker.seen == {"a.txt"})
        await looker.until(lambda: len(looker.notices) >= 4)

        reasons = {reason for notice in looker.notices for reason in notice.reasons}
        assert reasons == {"start", "poll"}
        assert looker.states == [WatchState(kind="polling")]


async def test_polling_waits_for_a_root_that_is_gone(root: Path, tmp_path: Path) -> None:
    async with looking(root, POLL) as looker:
        os.rename(root, tmp_path / "away")
        await looker.until(lambda: looker.kind == "missing")
        os.rename(tmp_path / "away", root)
        await looker.until(lambda: looker.kind == "polling")
        await looker.until(lambda: any("returned" in n.reasons for n in looker.notices))


async def test_off_gives_the_first_notice_and_those_asked_for(root: Path) -> None:
    async with looking(root, replace(QUICK, mode="off")) as looker:
        looker.watcher.look_again(0.01)
        await looker.until(lambda: len(looker.notices) == 2)

        assert [set(notice.reasons) for notice in looker.notices] == [{"start"}, {"asked"}]
        assert looker.kind == "off"


def _refuse(error: Exception) -> Callable[..., Any]:
    def refuse(*paths: str, **options: Any) -> Any:
        raise error

    return refuse


async def test_limit_of_the_system_is_one_warning_and_polling(
    root: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    error = OSError('OS file watch limit reached. about ["/x"] (Error { kind: MaxFilesWatch })')
    monkeypatch.setattr(WATCH, _refuse(error))
    with caplog.at_level(logging.WARNING, "rag_source"):
        async with looking(root, replace(QUICK, recheck_s=0.05)) as looker:
            write(root, "a.txt")
            await looker.until(lambda: looker.seen == {"a.txt"})
            await looker.until(lambda: len(looker.notices) >= 4)

    (record,) = caplog.records
    assert "by events: OS file watch limit reached. Raise" in record.message
    assert "max_user_watches" in record.message
    assert "every 0.1 s" in record.message


async def test_events_are_tried_again_after_a_failure(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    error = RuntimeError("Error creating recommended watcher: Too many open files (os error 24)")
    monkeypatch.setattr(WATCH, _refuse(error))
    async with looking(root, replace(QUICK, poll_s=60, recheck_s=0.2)) as looker:
        assert "max_user_instances" in looker.states[0].hint
        write(root, "a.txt")
        monkeypatch.setattr(WATCH, watchfiles.watch)
        await looker.until(lambda: looker.kind == "events")
        await looker.until(lambda: looker.seen == {"a.txt"})


async def test_folder_that_goes_before_its_watch_is_no_reason_to_poll(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def with_a_ghost(*args: Any) -> frozenset[str]:
        found = folders_below(*args)
        return found if calls.pop() else found | {str(root / "ghost")}

    calls = [1, 1, 1, 1, 0, 0]
    monkeypatch.setattr("rag_source.ingest.watch_thread.folders_below", with_a_ghost)
    async with looking(root) as looker:
        assert looker.states == [WatchState(kind="events")]


async def test_network_drive_is_polled_with_a_warning(
    root: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    mounts = tmp_path / "mountinfo"
    mounts.write_text("30 1 0:50 / / rw shared:1 - nfs4 server:/x rw\n", encoding="utf-8")
    monkeypatch.setattr("rag_source.ingest.watch_thread._MOUNTS", mounts)
    async with looking(root) as looker:
        write(root, "a.txt")
        await looker.until(lambda: looker.seen == {"a.txt"})

        assert looker.events() == []
        assert "network drive (nfs4)" in looker.states[0].message


async def test_fault_in_the_watch_is_logged_and_survived(
    root: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail_once(*paths: str, **options: Any) -> Any:
        if faults:
            raise faults.pop()
        return watchfiles.watch(*paths, **options)

    faults = [ZeroDivisionError()]
    monkeypatch.setattr(WATCH, fail_once)
    async with looking(root) as looker:
        write(root, "a.txt")
        await looker.until(lambda: looker.seen == {"a.txt"})

    assert [record.levelname for record in caplog.records] == ["ERROR"]


async def test_end_leaves_no_thread_and_stops_the_iteration(root: Path) -> None:
    async with FolderWatcher(root, policy=QUICK) as watcher:
        await anext(watcher)
        assert "folder-watch" in {thread.name for thread in threading.enumerate()}

    assert "folder-watch" not in {thread.name for thread in threading.enumerate()}
    assert [notice async for notice in watcher] == []


async def test_cancelled_consumer_ends_promptly(root: Path) -> None:
    async def consume() -> None:
        async with FolderWatcher(root) as watcher:
            async for _ in watcher:
                started.set()

    started = asyncio.Event()
    task = asyncio.create_task(consume())
    await started.wait()
    begun = asyncio.get_running_loop().time()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert asyncio.get_running_loop().time() - begun < 4
    assert "folder-watch" not in {thread.name for thread in threading.enumerate()}


@pytest.mark.parametrize(
    "times",
    [{"poll_s": 0}, {"quiet_s": 2, "limit_s": 1}, {"retry_s": 60}, {"step_s": -1}],
    ids=["zero", "limit-below-quiet", "retry-above-limit", "negative"],
)
def test_impossible_times_are_refused(times: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must"):
        WatchPolicy(**times)  # type: ignore[arg-type]  # mypy takes the first field's type.


_LIMITED = """
import asyncio, logging, pathlib, sys
from rag_source.ingest.watching import FolderWatcher
logging.basicConfig(format="%(message)s")
async def main():
    async with FolderWatcher(pathlib.Path(sys.argv[1])) as watcher:
        await anext(watcher)
        print(watcher.state.kind)
asyncio.run(main())
"""


@pytest.mark.processes
def test_real_limit_of_the_kernel_is_noticed(root: Path) -> None:
    write(root, *(f"{i}/a.txt" for i in range(40)))
    within = ["unshare", "--user", "--map-root-user", "bash", "-c"]
    limit = "echo 20 > /proc/sys/user/max_inotify_watches"
    if (
        not shutil.which("unshare")
        or subprocess.run([*within, limit], capture_output=True).returncode
    ):
        pytest.skip("this system allows no user namespaces")
    command = f'{limit} && exec "$@"'

    done = subprocess.run(
        [*within, command, "-", sys.executable, "-c", _LIMITED, str(root)],
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.stdout.strip() == "polling"
    assert "watch limit" in done.stderr
    assert "max_user_watches" in done.stderr
