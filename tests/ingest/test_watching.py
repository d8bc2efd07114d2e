"""Changes of a real folder are heard by events; waits are for conditions, with wide limits."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

import pytest

from ingest.looking import LIMIT_S, QUICK, looking, write
from rag_source.ingest.scan import scan
from rag_source.ingest.settling import Settling
from rag_source.ingest.watching import FolderWatcher, Notice, WatchState


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    return folder


async def test_first_notice_comes_once_changes_are_heard(root: Path) -> None:
    async with looking(root) as looker:
        assert looker.notices == [Notice(reasons=frozenset({"start"}))]
        assert looker.states == [WatchState(kind="events")]


async def test_new_changed_and_deleted_files_are_noticed(root: Path) -> None:
    async with looking(root) as looker:
        write(root, "a.txt", "b.txt")
        await looker.until(lambda: looker.seen == {"a.txt", "b.txt"})
        heard = len(looker.events())
        write(root, "a.txt")
        await looker.until(lambda: len(looker.events()) > heard)
        os.remove(root / "a.txt")
        await looker.until(lambda: looker.seen == {"b.txt"})


async def test_atomic_save_is_noticed(root: Path) -> None:
    write(root, "a.txt")
    async with looking(root) as looker:
        write(root, ".a.txt.tmp")
        os.replace(root / ".a.txt.tmp", root / "a.txt")
        await looker.until(looker.events)

        assert looker.seen == {"a.txt"}


async def test_file_in_a_new_folder_is_noticed_at_once_and_later(root: Path) -> None:
    async with looking(root) as looker:
        write(root, "new/deep/a.txt")
        await looker.until(lambda: looker.seen == {"new/deep/a.txt"})
        write(root, "new/deep/b.txt")
        await looker.until(lambda: len(looker.seen) == 2)


async def test_folder_moved_into_the_corpus_is_followed(root: Path, tmp_path: Path) -> None:
    write(tmp_path, "elsewhere/deep/a.txt")
    async with looking(root) as looker:
        os.rename(tmp_path / "elsewhere", root / "here")
        await looker.until(lambda: looker.seen == {"here/deep/a.txt"})
        write(root, "here/deep/b.txt")
        await looker.until(lambda: len(looker.seen) == 2)


async def test_renamed_folder_of_500_files_is_one_look_and_is_followed(root: Path) -> None:
    write(root, *(f"old/{i % 7}/{i}.txt" for i in range(500)))
    async with looking(root) as looker:
        os.rename(root / "old", root / "new")
        await looker.until(lambda: all(path.startswith("new/") for path in looker.seen))

        # One; a stalled machine may part the two halves of a rename.
        assert len(looker.events()) <= 2
        write(root, "new/3/late.txt")
        await looker.until(lambda: "new/3/late.txt" in looker.seen)


async def test_folder_deleted_and_made_again_is_followed(root: Path) -> None:
    write(root, "sub/a.txt", "kept.txt")
    async with looking(root) as looker:
        shutil.rmtree(root / "sub")
        write(root, "sub/b.txt")
        await looker.until(lambda: looker.seen == {"kept.txt", "sub/b.txt"})
        write(root, "sub/c.txt")
        await looker.until(lambda: len(looker.seen) == 3)
        shutil.rmtree(root / "sub")
        await looker.until(lambda: looker.seen == {"kept.txt"})


async def test_5000_events_cost_few_looks(root: Path) -> None:
    def make_events() -> None:
        for i in range(500):
            with (root / f"{i}.txt").open("wb", buffering=0) as file:
                for _ in range(10):
                    file.write(b"x")

    async with looking(root) as looker:
        await asyncio.to_thread(make_events)
        await looker.until(lambda: len(looker.seen) == 500)

        # One for each `limit_s` that the stream lasts, and one after it.
        assert len(looker.events()) <= 20


async def test_changes_during_a_look_are_one_more_notice(root: Path) -> None:
    async with FolderWatcher(root, policy=QUICK) as watcher:
        await anext(watcher)
        for i in range(5):
            write(root, f"{i}.txt")
            await asyncio.sleep(0.2)  # so that each makes a notice of its own
        notice = await anext(watcher)

        assert notice.reasons == {"events"}
        assert notice.changes >= 2


async def test_left_overs_and_hidden_files_do_not_wake(root: Path) -> None:
    names = [".a.txt", ".git/a.txt", "~$a.docx", ".~lock.a.odt#", "a.pdf.part", "a.crdownload"]
    write(root, *names)
    await _assert_silent(root, [root / name for name in names])


async def test_the_programs_own_folder_does_not_wake(root: Path) -> None:
    write(root, "state/vectors/a.bin")
    await _assert_silent(root, [root / "state/vectors/a.bin"], ignored=(root / "state",))


async def test_what_a_link_leads_to_does_not_wake(root: Path, tmp_path: Path) -> None:
    write(tmp_path, "outside/a.txt")
    (root / "link").symlink_to(tmp_path / "outside")
    await _assert_silent(root, [tmp_path / "outside/a.txt"])


async def _assert_silent(root: Path, paths: list[Path], *, ignored: tuple[Path, ...] = ()) -> None:
    async with looking(root, ignored=ignored) as looker:
        for path in paths:
            write(path.parent, path.name, path.name + path.suffix)
        await asyncio.sleep(0.3)  # room for a notice that must not come
        write(root, "a.txt")
        await looker.until(looker.events)

        (notice,) = looker.events()
        assert notice.changes <= 2, "more was counted than the last file"


async def test_name_that_is_not_utf8_does_not_end_the_watch(root: Path) -> None:
    async with looking(root) as looker:
        with open(os.fsencode(root) + b"/caf\xe9.txt", "w", encoding="utf-8"):  # noqa: ASYNC230
            await looker.until(looker.events)
        write(root, "a.txt")
        await looker.until(lambda: looker.seen == {"a.txt"})


async def test_events_are_checked_by_a_look_from_time_to_time(root: Path) -> None:
    async with looking(root, replace(QUICK, recheck_s=0.1)) as looker:
        await looker.until(lambda: len(looker.notices) >= 3)

        assert looker.notices[-1].reasons == {"poll"}


async def test_earliest_call_for_a_look_counts(root: Path) -> None:
    async with FolderWatcher(root, policy=replace(QUICK, mode="off")) as watcher:
        await anext(watcher)
        watcher.look_again(600)
        watcher.look_again(0.01)
        watcher.look_again(600)
        async with asyncio.timeout(LIMIT_S):
            assert (await anext(watcher)).reasons == {"asked"}


async def _texts_at_rest(root: Path, settling: Settling) -> AsyncGenerator[list[str], None]:
    """Passes that read what is at rest, and have the rest looked at again."""
    async with FolderWatcher(root, policy=QUICK) as watcher:
        async for _ in watcher:
            found = await asyncio.to_thread(scan, root)
            waiting = settling.observe(found)
            at_rest = [file.path for file in found.files if file.path not in waiting]
            yield [(root / path).read_text(encoding="utf-8") for path in at_rest]
            due_s = settling.due_s()
            if due_s is not None:
                watcher.look_again(due_s)


async def test_file_written_in_ten_slow_steps_is_read_once_it_is_whole(root: Path) -> None:
    async def write_slowly() -> None:
        with open(root / "a.txt", "w", encoding="utf-8") as file:  # noqa: ASYNC230
            for i in range(10):
                file.write(f"{i} ")
                file.flush()
                await asyncio.sleep(0.1)

    passes: list[list[str]] = []
    async with asyncio.timeout(LIMIT_S), asyncio.TaskGroup() as tasks:
        tasks.create_task(write_slowly())
        async with aclosing(_texts_at_rest(root, Settling(quiet_s=0.8))) as texts:
            async for read in texts:
                passes.append(read)
                if read:
                    break

    assert passes[-1] == ["0 1 2 3 4 5 6 7 8 9 "]
    assert len(passes) > 2, "it was seen while it grew"
