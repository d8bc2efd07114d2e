"""Keep the index up to date for as long as the service runs.

Two loops side by side: one looks at the folder whenever it may have changed, the other works on the
queue. Neither ends for an error: what failed is reported, and tried again after a while.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection
from pathlib import Path

from rag_source.domain.errors import RagError
from rag_source.domain.reports import Drained
from rag_source.ingest.indexer import Indexer, Progress
from rag_source.ingest.settling import Settling
from rag_source.ingest.watching import FolderWatcher, WatchPolicy, WatchState

__all__ = ["IndexKeeper"]

logger = logging.getLogger(__name__)

_RETRY_S = 2.0
_RETRY_LIMIT_S = 60.0


class IndexKeeper:
    """Follows one folder; `run` it until cancelled.

    Args:
        indexer: Does the work.
        root: The folder.
        watching: How it is watched.
        ignored: Folders whose changes are the program's own.
        on_drained: Called each time the queue has been worked off, or had nothing to do at first.
        on_progress: As of `Indexer.drain`.
    """

    def __init__(
        self,
        indexer: Indexer,
        root: Path,
        *,
        watching: WatchPolicy | None = None,
        ignored: Collection[Path] = (),
        on_drained: Callable[[Drained], None] = lambda drained: None,
        on_progress: Progress | None = None,
    ) -> None:
        self._indexer = indexer
        self._root = root
        self._on_drained = on_drained
        self._on_progress = on_progress
        self._looked = asyncio.Event()
        self._folder_problem = ""
        self._work_problem = ""
        self._watcher = FolderWatcher(
            root, policy=watching, ignored=ignored, on_state=self._watch_changed
        )
        self._watch_problem = ""

    @property
    def problems(self) -> tuple[str, ...]:
        """What keeps the index from being up to date at the moment, one line each."""
        found = (self._watch_problem, self._folder_problem, self._work_problem)
        return tuple(problem for problem in found if problem)

    def look(self) -> None:
        """Look at the folder as soon as possible."""
        self._watcher.look_again(0.0)

    async def run(self) -> None:
        """Until cancelled."""
        async with self._watcher, asyncio.TaskGroup() as tasks:
            tasks.create_task(self._follow())
            tasks.create_task(self._work())

    async def _follow(self) -> None:
        settling = Settling()
        wait_s = _RETRY_S
        async for _ in self._watcher:
            try:
                found = await self._indexer.reconcile(self._root, settling=settling)
            except RagError as error:
                self._folder_problem = _line(error)
                logger.warning("the folder could not be looked through: %s", error.message)
                self._watcher.look_again(wait_s)
                wait_s = min(2 * wait_s, _RETRY_LIMIT_S)
                continue
            self._folder_problem, wait_s = "", _RETRY_S
            if found.due_s is not None:
                self._watcher.look_again(found.due_s)
            else:
                self._looked.set()

    async def _work(self) -> None:
        changed = self._indexer.queue.changed
        # Nothing is reported before the whole folder has been seen once.
        await self._first_look()
        wait_s = _RETRY_S
        while True:
            changed.clear()
            try:
                drained = await self._indexer.drain(self._root, on_progress=self._on_progress)
            except RagError as error:
                self._work_problem = _line(error)
                logger.warning("indexing stopped, again in %.0f s: %s", wait_s, error.message)
                await asyncio.sleep(wait_s)
                wait_s = min(2 * wait_s, _RETRY_LIMIT_S)
                continue
            self._work_problem, wait_s = "", _RETRY_S
            self._on_drained(drained)
            await changed.wait()

    async def _first_look(self) -> None:
        """Until the folder has been looked through, or there is something to do already."""
        looked = asyncio.create_task(self._looked.wait())
        changed = asyncio.create_task(self._indexer.queue.changed.wait())
        try:
            await asyncio.wait({looked, changed}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            looked.cancel()
            changed.cancel()

    def _watch_changed(self, state: WatchState) -> None:
        is_trouble = state.kind in ("polling", "missing") and bool(state.message)
        self._watch_problem = f"{state.message}. {state.hint}".strip() if is_trouble else ""


def _line(error: RagError) -> str:
    return f"{error.message}: {error.hint}" if error.hint else error.message
