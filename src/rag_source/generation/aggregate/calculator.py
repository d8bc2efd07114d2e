"""Answer a question by a calculation over table rows, without a model (SPEC A8)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from rag_source.domain.answers import Citation
from rag_source.domain.calculations import Calculation
from rag_source.domain.evidence import SearchFilter, SearchResult
from rag_source.domain.ports import Catalogue
from rag_source.generation.aggregate.computing import compute
from rag_source.generation.aggregate.row_citations import RowCiter
from rag_source.generation.aggregate.selecting import may_hold, select
from rag_source.generation.aggregate.sources import SourceReader
from rag_source.generation.aggregate.telling import tell
from rag_source.generation.aggregate.wishes import Wish, read_wish
from rag_source.generation.shelf import Passage

__all__ = ["Calculator", "Computed"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Computed:
    """A computed answer: its text, the citations of its rows, and the calculation itself.

    `reason` is empty, or says why nothing was computed although the question asks for it.
    """

    text: str
    citations: tuple[Citation, ...]
    calculation: Calculation

    @property
    def reason(self) -> str:
        return self.calculation.reason


class Calculator:
    """Computes what a question asks to add up, count, average or compare over table rows."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._reader = SourceReader(catalogue)

    async def answer(
        self,
        question: str,
        *,
        language: str,
        search: SearchResult,
        passages: Sequence[Passage],
        filter: SearchFilter,
    ) -> Computed | None:
        """The computed answer; None for a question that is to be answered from the passages.

        Args:
            question: As the user put it.
            language: The answer's, `fr`, `en` or `ar`.
            search: What was found. The calculation reads whole tables, not only these chunks;
                but one of these documents must have the column.
            passages: The numbered passages, for the markers.
            filter: Restricts the documents, as it restricted the search.
        """
        wish = read_wish(question)
        if wish is None or not search.evidence:
            return None
        return await asyncio.to_thread(self._compute, wish, language, search, passages, filter)

    def _compute(
        self,
        wish: Wish,
        language: str,
        search: SearchResult,
        passages: Sequence[Passage],
        filter: SearchFilter,
    ) -> Computed | None:
        ranked = sorted(search.evidence, key=lambda evidence: (not evidence.kept, evidence.rank))
        found = list(dict.fromkeys(evidence.chunk.doc_id for evidence in ranked))
        if not self._reader.is_promising(filter, found, lambda source: may_hold(wish, source)):
            return None
        sources = self._reader.read(filter)
        if sources is None:
            logger.info("no calculation: too many documents have tables")
            return None
        selection = select(wish, sources, found)
        result = compute(wish, selection) if selection else None
        if selection is None or result is None:
            return None
        told = tell(wish, selection, result, language, RowCiter(self._catalogue, passages))
        return Computed(text=told.text, citations=told.citations, calculation=told.calculation)
