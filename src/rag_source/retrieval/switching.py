"""One retriever in whose place another can be put while searches are under way."""

from __future__ import annotations

import asyncio

from rag_source.domain.errors import RequestError
from rag_source.domain.evidence import NO_FILTER, SearchFilter, SearchMode, SearchResult
from rag_source.domain.ports import Retriever

__all__ = ["SwitchableRetriever", "WordsOnlyRetriever"]


class SwitchableRetriever:
    """A `Retriever`: each search is done, to its end, by the one that is current at its beginning.

    A question embedded by one model is never looked for among the vectors of another. One event
    loop uses it.
    """

    def __init__(self, retriever: Retriever) -> None:
        self._current = _Counted(retriever)

    async def search(
        self,
        question: str,
        *,
        mode: SearchMode,
        limit: int,
        filter: SearchFilter = NO_FILTER,
    ) -> SearchResult:
        """As of the retriever that is current."""
        current = self._current
        current.enter()
        try:
            return await current.retriever.search(question, mode=mode, limit=limit, filter=filter)
        finally:
            current.leave()

    def switch(self, retriever: Retriever) -> asyncio.Event:
        """Let searches that begin from now on go to another retriever.

        Returns:
            Set as soon as no search is under way on the former one.
        """
        former, self._current = self._current, _Counted(retriever)
        return former.idle


class _Counted:
    """A retriever and how many searches are under way on it."""

    def __init__(self, retriever: Retriever) -> None:
        self.retriever = retriever
        self.idle = asyncio.Event()
        self.idle.set()
        self._searches = 0

    def enter(self) -> None:
        self._searches += 1
        self.idle.clear()

    def leave(self) -> None:
        self._searches -= 1
        if not self._searches:
            self.idle.set()


class WordsOnlyRetriever:
    """A `Retriever` over a collection whose embedding model cannot be run any more.

    Every search is one by BM25, and says so in its result.
    """

    def __init__(self, retriever: Retriever) -> None:
        self._retriever = retriever

    async def search(
        self,
        question: str,
        *,
        mode: SearchMode,
        limit: int,
        filter: SearchFilter = NO_FILTER,
    ) -> SearchResult:
        """As the retriever's own in the mode `bm25`, whatever mode is asked for but `dense`.

        Raises:
            RequestError: The mode is `dense`: there is nothing to compare vectors with.
        """
        if mode == "dense":
            raise RequestError(
                "the index was made by an embedding model that cannot be run any more",
                code="collection_mismatch",
                hint="wait until it is made anew (`rag-source up` or `ingest`), or use mode bm25",
            )
        return await self._retriever.search(question, mode="bm25", limit=limit, filter=filter)
