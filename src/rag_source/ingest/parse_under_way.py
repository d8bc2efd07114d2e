"""A parse that minds its job: it ends when the job is not to go on, and tells how far it has come.

The file after the one at hand is parsed ahead of its turn. Until then its job is only looked at:
what state it has, and how far it is in it, is not the parse's to say.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import suppress
from typing import Any, TypeAlias

from rag_source.domain.documents import ParsedDocument
from rag_source.domain.errors import SourceError
from rag_source.domain.jobs import Job
from rag_source.ingest.loader_tools import PageProgress
from rag_source.ingest.queue import InterruptedJobError, JobQueue

__all__ = ["ParseUnderWay", "Parsed"]

Parsed: TypeAlias = ParsedDocument | SourceError
"""What came of a file; failures are values."""

_Parse: TypeAlias = Callable[[PageProgress], Coroutine[Any, Any, Parsed]]

_ATTENTION_S = 0.25
"""How often work that cannot be asked to stop is checked for a pause."""


class ParseUnderWay:
    """Starts at once; whoever made it asks for its `result` or ends it.

    Args:
        job: The file's job.
        queue: Tells whether the job is to go on.
        parse: Parses the file, telling how many pages it has read.
    """

    def __init__(
        self,
        job: Job,
        queue: JobQueue,
        parse: _Parse,
    ) -> None:
        self._job = job
        self._queue = queue
        self._is_its_turn = False
        self._pages = (0, 0)
        self._task = asyncio.create_task(self._minding(parse))

    def is_for(self, job: Job) -> bool:
        """Whether it is still what the job needs."""
        was_interrupted = self._task.done() and (
            self._task.cancelled() or self._task.exception() is not None
        )
        return self._job.ticket == job.ticket and not was_interrupted

    async def result(self) -> Parsed:
        """What came of the file, whose turn it is now: pages are the job's progress.

        Raises:
            InterruptedJobError: The job is not to go on.
        """
        self._is_its_turn = True
        try:
            self._note()
            return await self._task
        except BaseException:
            await self.end()
            raise

    async def end(self) -> None:
        """Stop, if it has not come to its end."""
        self._task.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await self._task

    async def _minding(self, parse: _Parse) -> Parsed:
        parsing = asyncio.create_task(parse(self._read))
        try:
            while not (await asyncio.wait({parsing}, timeout=_ATTENTION_S))[0]:
                self._note()
            return parsing.result()
        except BaseException as error:
            parsing.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await parsing
            if isinstance(error, InterruptedJobError):
                # Only now nothing more is put in the spool.
                self._queue.leave(self._job)
            raise

    def _read(self, done: int, total: int) -> None:
        self._pages = (done, total)

    def _note(self) -> None:
        if self._is_its_turn:
            self._queue.advance(self._job, "parsing", *self._pages)
        else:
            self._queue.check(self._job)
