"""Watch the folder of documents while the service runs, and say when to look at it again.

A pass of the indexer, which compares stats, is the only truth; what comes from here makes it run
soon. Thousands of changes are one notice, and whatever comes while a pass runs is the next one.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from rag_source.ingest.watch_policy import Reason, WatchPolicy, WatchState
from rag_source.ingest.watch_thread import WatchThread

__all__ = ["FolderWatcher", "Notice", "Reason", "WatchPolicy", "WatchState"]

logger = logging.getLogger(__name__)

_END_LIMIT_S = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Look at the folder again; `changes` were heard, a rough count for a log line."""

    reasons: frozenset[Reason]
    changes: int = 0


class FolderWatcher:
    """Notices as an async iterator, for one consumer; an async context manager owns the watch.

    ```python
    async with FolderWatcher(root, ignored=[state_dir]) as watcher:
        async for notice in watcher:  # the first at once, as soon as changes are heard
            ...  # one pass; it may raise ConfigurationError if the folder has just gone
            watcher.look_again(after_s)  # if files were still being written
    ```

    A missing folder is a state, not an error: the watch waits for it and gives no notice, so that
    an unplugged disk is not taken for deleted documents.

    Args:
        root: The folder; it may be missing.
        policy: How to watch.
        ignored: Folders whose changes are the program's own, such as its state directory.
        on_state: Called in the event loop with each new state; each is logged once as well, as a
            warning if it has a message.
    """

    def __init__(
        self,
        root: Path,
        *,
        policy: WatchPolicy | None = None,
        ignored: Collection[Path] = (),
        on_state: Callable[[WatchState], None] = lambda state: None,
    ) -> None:
        self._policy = policy or WatchPolicy()
        self._on_state = on_state
        self._watch = WatchThread(
            root,
            self._policy,
            ignored=ignored,
            on_look=lambda reasons, changes: self._call(partial(self._add, reasons, changes)),
            on_state=lambda state: self._call(partial(self._enter, state)),
        )
        self._thread = threading.Thread(target=self._run, name="folder-watch", daemon=True)
        self._wake = asyncio.Event()
        self._ended = asyncio.Event()
        self._reasons: frozenset[Reason] = frozenset()
        self._changes = 0
        self._is_closed = False
        self._timer: asyncio.TimerHandle | None = None
        self._state = WatchState(kind="starting")

    @property
    def state(self) -> WatchState:
        """How the folder is watched at the moment."""
        return self._state

    def look_again(self, after_s: float) -> None:
        """Give a notice in `after_s` seconds, unless one that was asked for comes before."""
        loop = asyncio.get_running_loop()
        due = loop.time() + max(0.0, after_s)
        if self._timer is not None:
            if self._timer.when() <= due:
                return
            self._timer.cancel()
        self._timer = loop.call_at(due, self._asked)

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        if self._policy.mode == "off":
            self._ended.set()
            self._enter(WatchState(kind="off"))
            self._add(frozenset({"start"}), 0)
        else:
            self._thread.start()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._is_closed = True
        self._watch.stop()
        self._wake.set()
        if self._timer is not None:
            self._timer.cancel()
        try:
            async with asyncio.timeout(_END_LIMIT_S):
                await self._ended.wait()
        except TimeoutError:
            # A daemon thread: a dead network drive must not keep the process alive.
            logger.warning("the watch does not end: the drive of the documents does not answer")
        else:
            if self._thread.ident is not None:
                self._thread.join()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Notice:
        await self._wake.wait()
        if self._is_closed:
            raise StopAsyncIteration
        notice = Notice(reasons=self._reasons, changes=self._changes)
        self._reasons, self._changes = frozenset(), 0
        self._wake.clear()
        return notice

    def _run(self) -> None:
        try:
            self._watch.run()
        finally:
            self._call(self._ended.set)

    def _call(self, function: Callable[[], object]) -> None:
        # The loop may be closed already if the watch had to be left behind.
        with suppress(RuntimeError):
            self._loop.call_soon_threadsafe(function)

    def _add(self, reasons: frozenset[Reason], changes: int) -> None:
        self._reasons |= reasons
        self._changes += changes
        self._wake.set()

    def _asked(self) -> None:
        self._timer = None
        self._add(frozenset({"asked"}), 0)

    def _enter(self, state: WatchState) -> None:
        self._state = state
        self._on_state(state)
