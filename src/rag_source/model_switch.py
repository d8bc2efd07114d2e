"""A project on its way from the embedding model of its index to the one that the settings name."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from rag_source.domain.chunks import EmbeddingModel
from rag_source.domain.errors import RagError
from rag_source.domain.health import Reembedding
from rag_source.ingest import Progress
from rag_source.ingest.reembedding import CollectionBuilder

__all__ = ["ModelSwitch"]

logger = logging.getLogger(__name__)

_RETRY_S = 2.0
_RETRY_LIMIT_S = 60.0


class ModelSwitch:
    """Done once: `run` by one who waits for it, or `run_behind` beside everything else.

    Args:
        former: The model of the index that answers.
        wanted: The model of the settings.
        prepare: Opens the new collection, once; called again after a failure.
        finish: Called when the new collection answers, to take leave of the former one.
        sleep: Waits before another try.
    """

    def __init__(
        self,
        *,
        former: EmbeddingModel,
        wanted: EmbeddingModel,
        prepare: Callable[[], Awaitable[CollectionBuilder]],
        finish: Callable[[], Awaitable[None]],
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._former = former
        self._wanted = wanted
        self._prepare = prepare
        self._finish = finish
        self._sleep = sleep
        self._running = asyncio.Lock()
        self._builder: CollectionBuilder | None = None
        self._problem = ""
        self.is_done = False

    @property
    def is_running(self) -> bool:
        """Whether somebody is at it."""
        return self._running.locked()

    @property
    def status(self) -> Reembedding | None:
        """How far it has come; None once the new index answers."""
        if self.is_done:
            return None
        builder = self._builder
        return Reembedding(
            former=self._former.name,
            wanted=self._wanted.name,
            done=builder.done if builder else 0,
            total=builder.total if builder else 0,
        )

    @property
    def problems(self) -> tuple[str, ...]:
        """What keeps it from going on at the moment, one line each."""
        return (self._problem,) if self._problem and not self.is_done else ()

    async def run(self, *, on_progress: Progress = lambda done, total, path: None) -> None:
        """To the end; at once if it is done.

        Raises:
            BackendError: A model server or a store failed; what is done stays done.
            ConfigurationError: The new collection cannot be opened.
        """
        async with self._running:
            if self.is_done:
                return
            logger.info("the index moves from %s to %s", self._former.name, self._wanted.name)
            # The one of an earlier try counts what it had; the collection is opened once.
            self._builder = self._builder or await self._prepare()
            await self._builder.run(on_progress=on_progress)
            self.is_done = True
            await self._finish()

    async def run_behind(self) -> None:
        """To the end, trying again after each failure."""
        wait_s = _RETRY_S
        while True:
            try:
                await self.run()
            except RagError as error:
                hint = f": {error.hint}" if error.hint else ""
                self._problem = f"the index is not made anew: {error.message}{hint}"
                logger.warning("again in %.0f s: %s", wait_s, self._problem)
                await self._sleep(wait_s)
                wait_s = min(2 * wait_s, _RETRY_LIMIT_S)
                continue
            self._problem = ""
            return
