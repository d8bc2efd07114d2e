"""Parse and draw files in worker processes with limits: a hostile file costs its worker alone.

Workers are programs of their own, started without forking this process and its threads, kept from
file to file, and replaced when they die, hang or grow too large.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import pickle
import signal
import struct
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, Self, TypeVar

from rag_source.domain.documents import ParsedDocument
from rag_source.domain.errors import ConfigurationError, SourceError
from rag_source.ingest.loader_tools import PageProgress, ParseLimits
from rag_source.ingest.ocr import OcrPolicy
from rag_source.ingest.parse_codec import FRAME, PAGES, Kind, WorkerSetup, unpacked
from rag_source.ingest.parsing import ParsingPolicy
from rag_source.ingest.pictures import Picture, PictureRequest, picture_of

__all__ = ["ParserPool", "WorkerPolicy"]

logger = logging.getLogger(__name__)

T = TypeVar("T")

_NUMBER = struct.Struct("<d")
_START_TIMEOUT_S = 60.0
_LOOK_EVERY_S = 0.1
_PROGRAM = "rag_source.ingest.parse_worker"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerPolicy:
    """How many workers there may be, and what each may use.

    `workers` start when they are needed; 0 is one for each core. `memory_bytes` is resident
    memory, Tesseract apart: a report of 109 pages peaks at 180 MB (eval/bench/parse.py).
    After `files_per_worker` a worker is replaced, so that what its libraries leak stays small.
    """

    workers: int = 0
    memory_bytes: int = 2 * 1024**3
    files_per_worker: int = 500

    def __post_init__(self) -> None:
        if self.workers < 0 or self.files_per_worker < 1:
            raise ValueError("workers is at least 0 and files_per_worker at least 1")
        if self.memory_bytes < 256 * 1024**2:
            raise ValueError(f"memory_bytes is at least 256 MiB, not {self.memory_bytes}")


class ParserPool:
    """Parses files at the same time, each in a worker; an async context that ends the workers.

    Args:
        parsing: Limits of one parse. Time that a page waits for OCR, which has a limit of its own,
            does not count.
        workers: Limits of the workers.
        ocr: How pages are recognised.
        limits: What a file may hold.
        page_spool: A folder for the pages that OCR has read, so that a parse that is cut short
            does not cost them again; whoever has finished with a content deletes its pages.
    """

    def __init__(
        self,
        parsing: ParsingPolicy | None = None,
        *,
        workers: WorkerPolicy | None = None,
        ocr: OcrPolicy | None = None,
        limits: ParseLimits | None = None,
        page_spool: Path | None = None,
    ) -> None:
        self._parsing = parsing or ParsingPolicy()
        self._policy = workers or WorkerPolicy()
        self._setup = WorkerSetup(
            ocr=ocr or OcrPolicy(),
            limits=limits or ParseLimits(),
            limit_bytes=self._parsing.limit_bytes,
            memory_bytes=self._policy.memory_bytes,
            page_spool=page_spool,
        )
        self._slots = asyncio.Semaphore(self._policy.workers or os.cpu_count() or 1)
        self._idle: list[_Worker] = []
        self._busy: set[_Worker] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.aclose()

    @property
    def pids(self) -> tuple[int, ...]:
        """The process ids of the workers that run."""
        return tuple(worker.pid for worker in (*self._busy, *self._idle))

    async def parse(self, path: Path, *, on_progress: PageProgress | None = None) -> ParsedDocument:
        """The document; waits for a worker if all are busy. Cancelling it ends its worker.

        Args:
            path: The file.
            on_progress: As of `Parser.parse`.

        Raises:
            SourceError: The file cannot be used: the loader's reason, `timeout`, `too_large` (its
                worker took too much memory) or `parser_error` (its worker crashed).
            ConfigurationError: Workers do not start.
        """
        return await self._answer(_Question(path, path, Kind.DOCUMENT, unpacked, on_progress))

    async def picture(self, request: PictureRequest) -> Picture:
        """A page as a picture; raises as `parse`."""
        return await self._answer(_Question(request, request.path, Kind.PICTURE, picture_of))

    async def _answer(self, question: _Question[T]) -> T:
        async with self._slots:
            try:
                return await self._answer_once(question)
            except _KilledError:
                # Someone else's SIGKILL, such as the system's when memory ran out, says nothing
                # about the file: it gets a second worker, and no third.
                logger.warning("a parser was killed from outside; starting another")
            try:
                return await self._answer_once(question)
            except _KilledError as error:
                raise SourceError(
                    f"the parser of {question.path.name!r} was killed twice",
                    code="parser_error",
                    hint="The machine may be out of memory; parse the file again later.",
                ) from error

    async def aclose(self) -> None:
        """End all workers; a later `parse` starts new ones."""
        ending = [*self._idle, *self._busy]
        self._idle.clear()
        await asyncio.gather(*(worker.end() for worker in ending))

    async def _answer_once(self, question: _Question[T]) -> T:
        worker = await self._free_worker()
        self._busy.add(worker)
        try:
            body = await worker.answer(question, self._parsing.timeout_s, self._policy.memory_bytes)
            answer = await asyncio.to_thread(question.read, body)
        except SourceError:
            raise
        except BaseException:
            # Cancelled, or out of step: the next file must not get this one's answer.
            await asyncio.shield(worker.end())
            raise
        finally:
            self._busy.discard(worker)
            if worker.is_alive and worker.parsed < self._policy.files_per_worker:
                self._idle.append(worker)
            else:
                await asyncio.shield(worker.end())
        return answer

    async def _free_worker(self) -> _Worker:
        while self._idle:
            worker = self._idle.pop()
            if worker.is_alive:
                return worker
            # Killed while it waited: no file is to blame for that.
            await worker.end()
        return await _Worker.started(self._setup)


class _KilledError(Exception):
    """The worker got a SIGKILL that was not ours."""


@dataclass(frozen=True, slots=True)
class _Question(Generic[T]):
    """What a worker is asked about the file at `path`: the kind of frame that answers, and how its
    body is read."""

    request: object
    path: Path
    kind: bytes
    read: Callable[[bytes], T]
    on_progress: PageProgress | None = None


class _Worker:
    """One process, and the half of the conversation with it."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._process = process
        self._stdin = process.stdin
        self._stdout = process.stdout
        self._ended = False
        self.parsed = 0

    @classmethod
    async def started(cls, setup: WorkerSetup) -> _Worker:
        """A worker that is ready.

        Raises:
            ConfigurationError: It cannot be started, it ended, or was not ready in time.
        """
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                _PROGRAM,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                # A group of its own: ending it ends Tesseract too, and Ctrl-C reaches us first.
                start_new_session=True,
            )
        except OSError as error:
            # No more processes, memory or open files: that passes, and is no file's fault.
            raise ConfigurationError(
                f"a parser process cannot be started: {error.strerror or error}",
                hint="end other programs, or raise the limits (`ulimit -u`, `ulimit -n`)",
            ) from error
        worker = cls(process)
        try:
            worker._send(setup)
            async with asyncio.timeout(_START_TIMEOUT_S):
                kind, _ = await worker._frame()
            if kind != Kind.READY:
                raise ValueError("not ready")
        except (TimeoutError, OSError, EOFError, ValueError) as error:
            await worker.end()
            raise ConfigurationError(
                f"a parser process does not start (exit code {process.returncode})",
                hint=f"run `{sys.executable} -m {_PROGRAM}` to see why",
            ) from error
        except BaseException:
            await asyncio.shield(worker.end())
            raise
        return worker

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        return not self._ended and self._process.returncode is None

    async def answer(self, question: _Question[Any], timeout_s: float, memory_bytes: int) -> bytes:
        """The body of the answer.

        Raises as `ParserPool.parse`; `_KilledError` if the process was killed from outside.
        """
        self.parsed += 1
        path, on_progress = question.path, question.on_progress
        now = asyncio.get_running_loop().time
        deadline = now() + timeout_s
        try:
            self._send(question.request)
        except OSError as error:
            raise await self._death(path) from error

        async def check() -> None:
            await self._check(path, now() - deadline, timeout_s, memory_bytes)

        while True:
            kind, body = await self._frame_while(check, path)
            if kind == Kind.GRANT:
                deadline += _NUMBER.unpack(body)[0]
            elif kind == Kind.LOG:
                logger.debug("parser: %s", body.decode("utf-8", "replace"))
            elif kind == Kind.PAGES and len(body) == PAGES.size:
                done, total = PAGES.unpack(body)
                if on_progress is not None and done <= total:
                    on_progress(done, total)
            elif kind == Kind.FAILED:
                code, message, hint = json.loads(body)
                raise SourceError(message, code=code, hint=hint)
            elif kind == question.kind:
                return body

    async def _frame_while(
        self, check: Callable[[], Awaitable[None]], path: Path
    ) -> tuple[bytes, bytes]:
        """As `_frame`, with a look at the process from time to time, and at why it has ended."""
        reading = asyncio.ensure_future(self._frame())
        try:
            while not reading.done():
                await asyncio.wait({reading}, timeout=_LOOK_EVERY_S)
                if not reading.done():
                    await check()
            return reading.result()
        except (EOFError, OSError, ValueError) as error:
            raise await self._death(path) from error
        finally:
            reading.cancel()

    async def end(self) -> None:
        """Kill the process and all that it started."""
        self._ended = True
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._stdin.close()
        await self._process.wait()

    async def _check(
        self, path: Path, overdue_s: float, timeout_s: float, memory_bytes: int
    ) -> None:
        if overdue_s > 0:
            await self.end()
            raise SourceError(
                f"{path.name!r} took longer than {timeout_s:g} s to parse",
                code="timeout",
                hint="Split the file, or raise the parsing time limit.",
            )
        if _resident_bytes(self._process.pid) > memory_bytes:
            await self.end()
            raise SourceError(
                f"{path.name!r} needs more than {memory_bytes // 1024**2:,} MiB to parse",
                code="too_large",
                hint="Split the file, or save it without its pictures.",
            )

    async def _death(self, path: Path) -> Exception:
        """Why the process is no longer there."""
        if self._ended:
            return SourceError(
                f"the parser of {path.name!r} was closed",
                code="parser_error",
                hint="Parse the file again.",
            )
        self._stdin.close()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(5):
                await self._process.wait()
        code = self._process.returncode
        await self.end()
        if code == -signal.SIGKILL:
            return _KilledError()
        return SourceError(
            f"{path.name!r} made its parser crash (exit code {code})",
            code="parser_error",
            hint="Save the file again from its program, or print it to PDF.",
        )

    def _send(self, value: object) -> None:
        self._stdin.write(pickle.dumps(value))

    async def _frame(self) -> tuple[bytes, bytes]:
        """Kind and body of the next frame. Raises EOFError at the end of the process."""
        kind, length = FRAME.unpack(await self._stdout.readexactly(FRAME.size))
        return kind, await self._stdout.readexactly(length)


def _resident_bytes(pid: int) -> int:
    """Memory of a process that is in use; 0 where the system does not say (Linux does)."""
    try:
        with open(f"/proc/{pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return 0
