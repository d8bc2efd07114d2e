"""One way through the queue: the next file is parsed while this one is embedded."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeAlias

from rag_source.domain.jobs import Job
from rag_source.ingest.loader_tools import PageProgress
from rag_source.ingest.parse_under_way import Parsed, ParseUnderWay
from rag_source.ingest.queue import InterruptedJobError, JobQueue

__all__ = ["Drain", "Progress"]

Progress: TypeAlias = Callable[[int, int, str], None]
"""Called with files done, files to do and the path at hand."""


class Drain:
    """Works until no job is runnable.

    Args:
        queue: The queue.
        turn: Held for one file at a time.
        parse: Parses a job's file, with a report of its pages.
        index: Takes a parsed file to its end.
        on_progress: Called before each file, and at the end.
    """

    def __init__(
        self,
        *,
        queue: JobQueue,
        turn: asyncio.Lock,
        parse: Callable[[Job, PageProgress], Coroutine[Any, Any, Parsed]],
        index: Callable[[Job, Parsed], Awaitable[None]],
        on_progress: Progress,
    ) -> None:
        self._queue = queue
        self._turn = turn
        self._parse = parse
        self._index = index
        self._on_progress = on_progress
        self._ahead: ParseUnderWay | None = None

    async def work(self) -> None:
        """To the end of the queue.

        Raises:
            BackendError: A model server or the store failed; the jobs stay queued.
        """
        done = 0
        try:
            while (job := self._queue.next()) is not None:
                self._on_progress(done, done + self._queue.waiting(), job.path)
                try:
                    async with self._turn:
                        await self._one(job)
                except InterruptedJobError:
                    self._queue.leave(job)
                    continue
                except BaseException:
                    self._queue.release(job)
                    raise
                done += 1
        finally:
            await self._drop_ahead()
        if done:
            self._on_progress(done, done, "")

    async def _one(self, job: Job) -> None:
        job = self._queue.advance(job, "parsing")
        parsing = await self._parsing(job)
        parsed = await parsing.result()
        following = self._queue.next(after=job.path)
        if following is not None:
            self._ahead = self._start(following)
        await self._index(job, parsed)

    async def _parsing(self, job: Job) -> ParseUnderWay:
        """The parse of the job, whether it was started ahead or not."""
        if self._ahead is not None and self._ahead.is_for(job):
            ahead, self._ahead = self._ahead, None
            return ahead
        await self._drop_ahead()
        return self._start(job)

    def _start(self, job: Job) -> ParseUnderWay:
        return ParseUnderWay(job, self._queue, lambda on_page: self._parse(job, on_page))

    async def _drop_ahead(self) -> None:
        if self._ahead is not None:
            await self._ahead.end()
            self._ahead = None
