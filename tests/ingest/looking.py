"""A consumer of the watch for tests: looks at the folder at each notice, as the service does."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from rag_source.domain.errors import ConfigurationError
from rag_source.ingest.scan import scan
from rag_source.ingest.watching import FolderWatcher, Notice, WatchPolicy, WatchState

LIMIT_S = 30
"""How long a test waits for what must come, on the most loaded machine."""

QUICK = WatchPolicy(
    poll_s=0.1,
    quiet_s=0.1,
    limit_s=1.0,
    step_s=0.02,
    root_check_s=0.05,
    retry_s=0.02,
    retry_limit_s=0.1,
)


class Looker:
    """Remembers what the watch said and what the last look saw."""

    def __init__(self, root: Path, policy: WatchPolicy, ignored: tuple[Path, ...]) -> None:
        self.root = root
        self.states: list[WatchState] = []
        self.notices: list[Notice] = []
        self.seen: set[str] = set()
        self._news = asyncio.Event()
        self.watcher = FolderWatcher(root, policy=policy, ignored=ignored, on_state=self._enter)

    async def look(self) -> None:
        async for notice in self.watcher:
            try:
                found = await asyncio.to_thread(scan, self.root)
            except ConfigurationError:
                continue
            self.seen = {file.path for file in found.files}
            self.notices.append(notice)
            self._news.set()

    async def until(self, condition: Callable[[], object]) -> None:
        """Wait for a condition that a look or a state makes true."""
        async with asyncio.timeout(LIMIT_S):
            while not condition():
                await self._news.wait()
                self._news.clear()

    @property
    def kind(self) -> str:
        return self.watcher.state.kind

    def events(self) -> list[Notice]:
        return [notice for notice in self.notices if "events" in notice.reasons]

    def _enter(self, state: WatchState) -> None:
        self.states.append(state)
        self._news.set()


@asynccontextmanager
async def looking(
    root: Path, policy: WatchPolicy = QUICK, *, ignored: tuple[Path, ...] = ()
) -> AsyncGenerator[Looker, None]:
    """A watch at work that has had its first look, if there is a folder to look at."""
    looker = Looker(root, policy, ignored)
    is_there = os.path.isdir(root)  # noqa: ASYNC240 - the test's own folder.
    async with looker.watcher:
        task = asyncio.create_task(looker.look())
        try:
            await looker.until(lambda: looker.notices if is_there else looker.states)
            yield looker
        finally:
            task.cancel()


def write(root: Path, *names: str) -> None:
    """Make small text files, and their folders."""
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text", encoding="utf-8")
