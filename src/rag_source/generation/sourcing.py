"""Find where a sentence comes from, in the whole index, with the verdicts of citations."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from rag_source.domain.chunks import Chunk, TextRange
from rag_source.domain.documents import ParsedDocument
from rag_source.domain.errors import BackendError, NotFoundError, RequestError
from rag_source.domain.evidence import NO_FILTER, SearchFilter, SearchMode, SearchResult
from rag_source.domain.folding import fold
from rag_source.domain.ports import Catalogue
from rag_source.domain.verification import QuotePlace, Verification
from rag_source.generation.places import DocumentPlace, place_in_document, place_of_ranges
from rag_source.generation.quotes import FLOOR, locate

__all__ = ["LIMIT_QUOTE_CHARS", "QuoteFinder"]

logger = logging.getLogger(__name__)

LIMIT_QUOTE_CHARS = 2000
_CHUNKS = 20
_OTHERS = 5
_NEAREST = 3
_SLACK_CHARS = 200
_READ_THROUGH = 10
"""Documents that are read from end to end if they were named and the search did not find the quote
in them."""
_LIMIT_READ_CHARS = 2_000_000


@dataclass(frozen=True, slots=True)
class _Judged:
    """A quote against one text of a document; `place` is where the judgement fell."""

    place: QuotePlace
    start: int

    @property
    def rank(self) -> tuple[bool, float]:
        return self.place.status == "verified", self.place.score


class Search(Protocol):
    """`Retriever.search`, or what stands in front of it."""

    async def __call__(
        self, query: str, /, *, mode: SearchMode, limit: int, filter: SearchFilter
    ) -> SearchResult: ...


class QuoteFinder:
    """Searches with the engine alone: no reranker and no answer model is asked."""

    def __init__(self, *, search: Search, catalogue: Catalogue) -> None:
        self._engine = search
        self._catalogue = catalogue

    async def find(self, quote: str, *, filter: SearchFilter = NO_FILTER) -> Verification:
        """Where the quote stands, and whether it says what stands there.

        Raises:
            RequestError: It is empty (`empty_quote`) or too long (`quote_too_long`).
            NotFoundError: None of the documents that the filter names is known.
        """
        quote = _checked(quote)
        named = await asyncio.to_thread(self._named, filter)
        chunks = [item.chunk for item in (await self._search(quote, filter)).evidence]
        return await asyncio.to_thread(self._verification, quote, chunks, named)

    async def _search(self, quote: str, filter: SearchFilter) -> SearchResult:
        try:
            return await self._engine(quote, mode="hybrid", limit=_CHUNKS, filter=filter)
        except BackendError as error:
            # Its words are enough to find a quote; the embedder is for paraphrases.
            logger.info("a quote is looked for by its words alone: %s", error.code)
            return await self._engine(quote, mode="bm25", limit=_CHUNKS, filter=filter)

    def _named(self, filter: SearchFilter) -> list[str]:
        """The ids of the documents that the filter names by path."""
        if not filter.paths:
            return []
        found = [r.doc_id for r in self._catalogue.documents() if r.source.path in filter.paths]
        if not found:
            raise NotFoundError(
                f"there is no document {filter.paths[0][:200]!r}",
                hint="`rag-source docs` lists the documents and their paths",
            )
        return found

    def _verification(
        self, quote: str, chunks: Sequence[Chunk], named: Sequence[str]
    ) -> Verification:
        judged = [one for chunk in chunks if (one := self._in_chunk(quote, chunk)) is not None]
        if not any(one.place.status == "verified" for one in judged):
            judged += self._around(quote, chunks)
        if not any(one.place.status == "verified" for one in judged):
            judged += self._throughout(quote, named)
        places = _distinct(sorted(judged, key=lambda one: one.rank, reverse=True))
        if not places:
            nearest = tuple(self._whole(chunk) for chunk in chunks[:_NEAREST])
            return Verification(quote=quote, status="not_found", best=None, others=nearest)
        return Verification(
            quote=quote,
            status=places[0].status,
            best=places[0],
            others=tuple(places[1 : 1 + _OTHERS]),
        )

    def _in_chunk(self, quote: str, chunk: Chunk) -> _Judged | None:
        found = locate(quote, chunk.text)
        if not found.end or found.score < FLOOR:
            return None
        place = place_in_document(chunk, found.start, found.end, self._catalogue)
        words = chunk.text[found.start : found.end]
        return _judged(chunk, place, words, found.status == "verified", found.score, found.reason)

    def _around(self, quote: str, chunks: Sequence[Chunk]) -> Iterator[_Judged]:
        """The document text around each chunk: a quote may begin in one and end in the next."""
        reach = len(quote) + _SLACK_CHARS
        for chunk in chunks:
            parsed = self._catalogue.parsed(chunk.doc_id)
            if parsed is not None:
                parts = chunk.document_ranges(0, len(chunk.text))
                low = max(0, min(part.start for part in parts) - reach)
                high = max(part.end for part in parts) + reach
                yield from self._in_window(quote, chunk.doc_id, parsed, low, high)

    def _throughout(self, quote: str, doc_ids: Sequence[str]) -> Iterator[_Judged]:
        """Documents that were named, read from end to end for the folded words."""
        needle = fold(quote, case=True, accents=True).text
        for doc_id in doc_ids[:_READ_THROUGH]:
            parsed = self._catalogue.parsed(doc_id)
            if parsed is None or not needle or len(parsed.text) > _LIMIT_READ_CHARS:
                continue
            folded = fold(parsed.text, case=True, accents=True)
            at = folded.text.find(needle)
            if at >= 0:
                found = folded.source_range(at, at + len(needle))
                low, high = max(0, found.start - _SLACK_CHARS), found.end + _SLACK_CHARS
                yield from self._in_window(quote, doc_id, parsed, low, high)

    def _in_window(
        self, quote: str, doc_id: str, parsed: ParsedDocument, low: int, high: int
    ) -> Iterator[_Judged]:
        text = parsed.text[low:high]
        found = locate(quote, text)
        record = self._catalogue.document(doc_id)
        if not found.end or found.score < FLOOR or record is None:
            return
        ranges = [TextRange(start=low + found.start, end=low + found.end)]
        place = place_of_ranges(ranges, parsed, self._catalogue, doc_id)
        yield _Judged(
            QuotePlace(
                status="verified" if found.status == "verified" else "unverified",
                score=found.score,
                reason=found.reason,
                path=record.source.path,
                doc_id=doc_id,
                page=place.page,
                ranges=place.ranges,
                boxes=place.boxes,
                words=text[found.start : found.end],
            ),
            place.start,
        )

    def _whole(self, chunk: Chunk) -> QuotePlace:
        place = place_in_document(chunk, 0, len(chunk.text), self._catalogue)
        reason = "nothing in the source resembles the quote"
        return _judged(chunk, place, chunk.text, False, 0.0, reason).place


def _judged(
    chunk: Chunk, place: DocumentPlace, words: str, verified: bool, score: float, reason: str
) -> _Judged:
    return _Judged(
        QuotePlace(
            status="verified" if verified else "unverified",
            score=score,
            reason=reason,
            path=chunk.path,
            doc_id=chunk.doc_id,
            page=place.page,
            ranges=place.ranges,
            boxes=place.boxes,
            words=words,
        ),
        place.start,
    )


def _distinct(judged: Iterable[_Judged]) -> list[QuotePlace]:
    """One for each place: chunks overlap, and so do their surroundings."""
    seen: set[tuple[str, int]] = set()
    kept = []
    for one in judged:
        key = (one.place.doc_id, one.start)
        if key not in seen:
            seen.add(key)
            kept.append(one.place)
    return kept


def _checked(quote: str) -> str:
    asked = quote.strip()
    if not asked:
        raise RequestError(
            "the quote is empty", hint="give the words to look for", code="empty_quote"
        )
    if len(asked) > LIMIT_QUOTE_CHARS:
        raise RequestError(
            f"the quote has {len(asked)} characters, more than {LIMIT_QUOTE_CHARS}",
            hint="look for a sentence or a paragraph at a time",
            code="quote_too_long",
        )
    return asked
