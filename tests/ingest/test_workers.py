"""A hostile file costs its worker, one file at a time; the pool goes on."""

from __future__ import annotations

import asyncio
import os
import pickle
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from documents import columns, make_pdf, make_text, paragraph, rtl_text
from rag_source.domain.documents import (
    Block,
    Cell,
    PagePlace,
    ParsedDocument,
    ParseWarning,
    RowPlace,
    TableRow,
)
from rag_source.domain.errors import ConfigurationError, SourceError
from rag_source.ingest.loader_tools import ParseLimits
from rag_source.ingest.loaders.pdf import loader as pdf_loader
from rag_source.ingest.ocr import OcrPolicy
from rag_source.ingest.parse_codec import packed, unpacked
from rag_source.ingest.parsing import ParsingPolicy
from rag_source.ingest.workers import ParserPool, WorkerPolicy
from scans import hanging_tesseract, picture_of, scanned_pdf

pytestmark = pytest.mark.processes

ONE = WorkerPolicy(workers=1)


def _hanging(tmp_path: Path) -> Path:
    """A file whose reading never ends: a pipe into which nobody writes."""
    path = tmp_path / "hangs.txt"
    os.mkfifo(path)
    return path


async def _failure(pool: ParserPool, path: Path) -> SourceError:
    with pytest.raises(SourceError) as caught:
        await pool.parse(path)
    return caught.value


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not condition():  # noqa: ASYNC110 - processes tell no event
            await asyncio.sleep(0.02)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # A zombie is dead; only its parent has not asked yet.
    state = Path(f"/proc/{pid}/stat")
    return (
        not state.exists() or state.read_text(encoding="ascii").rsplit(")", 1)[1].split()[0] != "Z"
    )


async def test_worker_gives_what_the_loader_gives_and_is_kept(tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "a.pdf", [paragraph(["Some words."]), paragraph(["مرحبا"])])
    async with ParserPool(workers=ONE) as pool:
        first = await pool.parse(path)
        pids = pool.pids
        second = await pool.parse(path)

        assert first == second == pdf_loader.load(path)
        assert pool.pids == pids
        assert pids[0] != os.getpid()
    assert not _is_running(pids[0])


async def test_copies_parsed_side_by_side_never_fail_and_read_alike(tmp_path: Path) -> None:
    pages = [columns([f"left {i}a", f"left {i}b"], [f"right {i}a", f"right {i}b"]) for i in "123"]
    good = make_pdf(
        tmp_path / "0.pdf", [*pages, rtl_text("محمد21", right=500, y=99, order="visual")]
    )
    copies = [good, *(Path(shutil.copy(good, tmp_path / f"{i}.pdf")) for i in range(1, 8))]
    texts: list[str] = []

    async with ParserPool(workers=WorkerPolicy(workers=4)) as pool:
        for _ in range(20):
            parsed = await asyncio.gather(*(pool.parse(copy) for copy in copies))
            texts += [document.text for document in parsed]
        assert len(pool.pids) == 4

    assert len(texts) == 160
    assert set(texts) == {pdf_loader.load(good).text}


async def test_reason_of_the_loader_arrives_whole(tmp_path: Path) -> None:
    async with ParserPool(workers=ONE) as pool:
        empty = await _failure(pool, make_text(tmp_path / "empty.txt", ""))
        unknown = await _failure(pool, make_text(tmp_path / "a.xyz", "words"))
        gone = await _failure(pool, tmp_path / "gone.txt")

    assert (empty.code, unknown.code, gone.code) == ("empty", "unsupported", "unreadable")
    assert all(error.hint for error in (empty, unknown, gone))


async def test_hanging_file_is_a_timeout_and_the_next_one_is_parsed(tmp_path: Path) -> None:
    good = make_text(tmp_path / "good.txt", "Good words.")
    async with ParserPool(ParsingPolicy(timeout_s=0.4), workers=ONE) as pool:
        await pool.parse(good)
        (pid,) = pool.pids

        error = await _failure(pool, _hanging(tmp_path))

        assert error.code == "timeout"
        assert "hangs.txt" in error.message
        assert not _is_running(pid)
        # Starting anew is not part of the file's time.
        assert (await pool.parse(good)).text == "Good words."


async def test_file_that_needs_too_much_memory_is_too_large(tmp_path: Path) -> None:
    greedy = make_text(tmp_path / "greedy.txt", "some words\n\n" * 1_500_000)
    good = make_text(tmp_path / "good.txt", "Good words.")
    policy = WorkerPolicy(workers=1, memory_bytes=256 * 1024**2)
    async with ParserPool(workers=policy) as pool:
        error = await _failure(pool, greedy)

        assert error.code == "too_large"
        assert (await pool.parse(good)).text == "Good words."


async def test_worker_killed_from_outside_is_replaced_and_the_file_parsed(tmp_path: Path) -> None:
    path = _hanging(tmp_path)
    async with ParserPool(workers=ONE) as pool:
        parsing = asyncio.create_task(pool.parse(path))
        await _until(lambda: len(pool.pids) == 1)
        (first,) = pool.pids
        os.kill(first, signal.SIGKILL)
        await _until(lambda: len(pool.pids) == 1 and pool.pids[0] != first)

        await asyncio.to_thread(path.write_bytes, b"Late words.")

        assert (await parsing).text == "Late words."


async def test_file_whose_worker_is_killed_twice_fails(tmp_path: Path) -> None:
    path = _hanging(tmp_path)
    killed: list[int] = []
    async with ParserPool(workers=ONE) as pool:
        parsing = asyncio.create_task(_failure(pool, path))
        for _ in range(2):
            await _until(lambda: any(pid not in killed for pid in pool.pids))
            killed.append(pool.pids[0])
            os.kill(pool.pids[0], signal.SIGKILL)

        assert (await parsing).code == "parser_error"


async def test_worker_killed_while_it_waits_is_no_fault_of_the_next_file(tmp_path: Path) -> None:
    files = [make_text(tmp_path / f"{name}.txt", f"Words of {name}.") for name in "ab"]
    async with ParserPool(workers=WorkerPolicy(workers=2)) as pool:
        await asyncio.gather(*map(pool.parse, files))
        idle = pool.pids
        assert len(idle) == 2
        for pid in idle:
            os.kill(pid, signal.SIGKILL)
        await asyncio.sleep(0.2)
        assert (await pool.parse(files[0])).text == "Words of a."
        assert not set(pool.pids) & set(idle)


async def test_system_without_room_for_a_process_is_no_fault_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_text(tmp_path / "good.txt", "Good words.")

    async def refuse(*_: object, **__: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    async with ParserPool(workers=ONE) as pool:
        with monkeypatch.context() as patch:
            patch.setattr(asyncio, "create_subprocess_exec", refuse)
            with pytest.raises(ConfigurationError, match="temporarily unavailable"):
                await pool.parse(path)
        assert (await pool.parse(path)).text == "Good words."


async def test_crash_of_a_worker_fails_its_file_and_no_other(tmp_path: Path) -> None:
    path = _hanging(tmp_path)
    good = make_text(tmp_path / "good.txt", "Good words.")
    async with ParserPool(workers=WorkerPolicy(workers=2)) as pool:
        parsing = asyncio.create_task(_failure(pool, path))
        await _until(lambda: len(pool.pids) == 1)
        os.kill(pool.pids[0], signal.SIGSEGV)

        error = await parsing

        assert error.code == "parser_error"
        assert (await pool.parse(good)).text == "Good words."


async def test_cancelled_parse_ends_its_worker(tmp_path: Path) -> None:
    async with ParserPool(workers=ONE) as pool:
        parsing = asyncio.create_task(pool.parse(_hanging(tmp_path)))
        await _until(lambda: len(pool.pids) == 1)
        (pid,) = pool.pids

        parsing.cancel()
        await asyncio.wait({parsing})

        assert not _is_running(pid)
        assert (await pool.parse(make_text(tmp_path / "a.txt", "Words."))).text == "Words."


async def test_files_are_parsed_at_the_same_time_and_alike(tmp_path: Path) -> None:
    lines = [f"Line {i} of a page" for i in range(30)]
    paths = [make_pdf(tmp_path / f"{i}.pdf", [paragraph(lines)] * 5) for i in range(8)]
    async with ParserPool(workers=WorkerPolicy(workers=2)) as pool:
        parsed = await asyncio.gather(*(pool.parse(path) for path in paths * 3))

        assert len(pool.pids) == 2
    assert len({document.text for document in parsed}) == 1


async def test_worker_is_replaced_after_its_share_of_files(tmp_path: Path) -> None:
    path = make_text(tmp_path / "a.txt", "Words.")
    async with ParserPool(workers=WorkerPolicy(workers=1, files_per_worker=1)) as pool:
        await pool.parse(path)

        assert pool.pids == ()
        assert (await pool.parse(path)).text == "Words."


async def test_limits_reach_the_loaders(tmp_path: Path) -> None:
    path = make_pdf(tmp_path / "long.pdf", [paragraph(["Words."])] * 4)
    async with ParserPool(workers=ONE, limits=ParseLimits(pages=3)) as pool:
        assert (await _failure(pool, path)).code == "too_large"
    async with ParserPool(ParsingPolicy(limit_bytes=10), workers=ONE) as pool:
        assert (await _failure(pool, path)).code == "too_large"


async def test_recognition_does_not_count_as_parsing_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = scanned_pdf(
        tmp_path / "scan.pdf", [picture_of(tmp_path, paragraph(["Words."], x=20, y=40))]
    )
    pid = hanging_tesseract(tmp_path, monkeypatch)
    parsing = ParsingPolicy(timeout_s=1.5)
    async with ParserPool(parsing, workers=ONE, ocr=OcrPolicy(timeout_s=3)) as pool:
        error = await _failure(pool, path)

    assert error.code == "timeout"
    assert "recognising a page" in error.message
    assert not _is_running(int(pid.read_text(encoding="utf-8")))


async def test_tesseract_ends_with_its_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = scanned_pdf(
        tmp_path / "scan.pdf", [picture_of(tmp_path, paragraph(["Words."], x=20, y=40))]
    )
    pid = hanging_tesseract(tmp_path, monkeypatch)
    async with ParserPool(workers=ONE) as pool:
        parsing = asyncio.create_task(pool.parse(path))
        await _until(lambda: pid.exists() and bool(pid.read_text(encoding="utf-8")))
        parsing.cancel()
        await asyncio.wait({parsing})

    await _until(lambda: not _is_running(int(pid.read_text(encoding="utf-8"))))


def test_workers_end_with_their_parent(tmp_path: Path) -> None:
    path = _hanging(tmp_path)
    script = textwrap.dedent(
        """
        import asyncio, sys
        from pathlib import Path
        from rag_source.ingest.workers import ParserPool

        async def main():
            pool = ParserPool()
            task = asyncio.create_task(pool.parse(Path(sys.argv[1])))
            while not pool.pids:
                await asyncio.sleep(0.02)
            print(pool.pids[0], flush=True)
            await task

        asyncio.run(main())
        """
    )
    command = [sys.executable, "-c", script, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        worker = int(parent.stdout.readline())
        assert _is_running(worker)
        parent.kill()

    deadline = time.monotonic() + 20
    while _is_running(worker) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _is_running(worker)


async def test_worker_that_does_not_start_is_a_matter_of_the_installation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    async with ParserPool(workers=ONE) as pool:
        with pytest.raises(ConfigurationError, match="does not start"):
            await pool.parse(make_text(tmp_path / "a.txt", "Words."))


def _document(tmp_path: Path) -> ParsedDocument:
    path = make_pdf(tmp_path / "a.pdf", [paragraph(["Some words 😀 here."]), paragraph(["مرحبا"])])
    parsed = pdf_loader.load(path)
    row = TableRow(
        start=0, end=4, cells=(Cell(start=0, end=4),), header=True, place=RowPlace(row=3)
    )
    table = Block(id="t", kind="table", start=0, end=4, place=PagePlace(page=1), rows=(row,))
    return replace(
        parsed,
        blocks=(table, *parsed.blocks[1:]),
        warnings=(ParseWarning(code="repaired", message="It was."),),
    )


def test_packed_document_comes_back_equal(tmp_path: Path) -> None:
    document = _document(tmp_path)

    assert unpacked(packed(document)) == document


def test_document_cut_short_is_refused(tmp_path: Path) -> None:
    data = packed(_document(tmp_path))

    for end in (0, 5, 40, len(data) - 8):
        with pytest.raises(ValueError, match="worker"):
            unpacked(data[:end])


def test_pickle_that_would_run_code_is_refused(tmp_path: Path) -> None:
    mark = tmp_path / "ran"

    class Hostile:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.mkdir, (str(mark),)

    body = pickle.dumps(Hostile())

    with pytest.raises(ValueError, match="something else"):
        unpacked(len(body).to_bytes(8, "little") + body)

    assert not mark.exists()


@pytest.mark.parametrize(
    "values",
    [{"workers": -1}, {"files_per_worker": 0}, {"memory_bytes": 1024}],
    ids=["workers", "files", "memory"],
)
def test_policy_out_of_bounds_is_refused(values: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"\d"):
        WorkerPolicy(**values)
