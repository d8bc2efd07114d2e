"""Answers, their citations, and the events an answer is streamed as."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from rag_source.domain.calculations import Calculation
from rag_source.domain.chunks import TextRange
from rag_source.domain.evidence import SearchResult
from rag_source.domain.sovereignty import Sovereignty

__all__ = [
    "Answer",
    "AnswerDone",
    "AnswerEvent",
    "AnswerFailed",
    "Box",
    "Citation",
    "CitationChecked",
    "CitationStatus",
    "NearMiss",
    "Quote",
    "SearchDone",
    "TablePlace",
    "TokenDelta",
]

CitationStatus: TypeAlias = Literal["verified", "unverified", "rejected"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    """A rectangle on a page in fractions (0..1) of the *displayed* page, origin top left."""

    page: int
    x0: float
    y0: float
    x1: float
    y1: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A quote judged against a text.

    `score` is 100 for an exact substring, 97 for one that is equal after normalisation, otherwise
    the fuzzy ratio (0..100). `start` and `end` locate the source's own words in the text that was
    searched; both are 0 where nothing was found. `reason` names what disagrees, empty if nothing.
    """

    status: CitationStatus
    score: float
    start: int
    end: int
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TablePlace:
    """Where in a table a quote lies.

    `row` is what the file's own reader calls it: the line of a delimited file, the row of a sheet;
    elsewhere it counts the table's rows from 1, the header included. `columns` are the header
    paths of the cells that the quote touches, empty where the table names none.
    """

    row: int
    columns: tuple[str, ...] = ()
    sheet: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Citation:
    """One `[n]` of an answer, resolved.

    `quote` is the source's own words. `start` and `end` are a range of the document text, `block`
    the block in which it starts. `ranges` are the parts of that range that the quote is made of,
    in order: a running footer between two pages lies between two of them. `page` and `boxes` are
    given for paginated files. A rejected citation names no source: its `path` is empty.
    `sentence` is the range of the answer text that the citation stands for. `added` says that the
    program, not the model, put the marker there. `occurrences` is how often the words of the quote
    stand in the cited chunk: above 1 the place shown is one of several that say the same. `table`
    is given for a quote that starts in a table.
    """

    marker: int
    status: CitationStatus
    score: float
    quote: str = ""
    path: str = ""
    page: int | None = None
    block: str = ""
    start: int = 0
    end: int = 0
    boxes: tuple[Box, ...] = ()
    chunk_id: str = ""
    reason: str = ""
    sentence: tuple[int, int] = (0, 0)
    added: bool = False
    occurrences: int = 1
    table: TablePlace | None = None
    doc_id: str = ""
    ranges: tuple[TextRange, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NearMiss:
    """The best evidence of a refused question: it did not reach the threshold."""

    path: str
    page: int | None
    section: tuple[str, ...]
    text: str
    score: float
    threshold: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The answer to one question, checked.

    `reason` is empty for an answer, otherwise why it was refused: `nothing_relevant`,
    `empty_index`, `declined` (the model found no answer in the passages), `unsupported`
    (nothing the model said could be found in them) or that of a `calculation` without a result.
    `calculation` is given where the program computed the answer: its figures are then not quoted,
    and its rows are those cited. `uncited_figures` are sentences that state
    a figure without a marker. `badge` is the line "2 of 3 sources verified" in the answer's
    language. `sovereignty` is `external` if a model that it was made with is a service outside.
    """

    question: str
    text: str
    refused: bool
    reason: str
    language: str
    citations: tuple[Citation, ...]
    uncited_figures: tuple[str, ...]
    badge: str
    timings_ms: dict[str, float]
    near_miss: NearMiss | None = None
    calculation: Calculation | None = None
    sovereignty: Sovereignty = "local"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchDone:
    """The search is over; markers `[1]` to `[n]` are the kept evidence in this order."""

    search: SearchResult
    type: Literal["search"] = "search"


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenDelta:
    """More words of the draft. The final text is in `done`: verification may correct markers."""

    text: str
    type: Literal["token"] = "token"


@dataclass(frozen=True, slots=True, kw_only=True)
class CitationChecked:
    """A citation has been judged."""

    citation: Citation
    type: Literal["citation"] = "citation"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerDone:
    """The last event of a good stream. Both ids are empty for an answer that is not kept."""

    answer: Answer
    conversation_id: str = ""
    answer_id: str = ""
    type: Literal["done"] = "done"


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFailed:
    """The last event of a broken stream."""

    code: str
    message: str
    hint: str = ""
    type: Literal["failed"] = "failed"


AnswerEvent: TypeAlias = SearchDone | TokenDelta | CitationChecked | AnswerDone | AnswerFailed
"""Every stream ends in exactly one of `AnswerDone` and `AnswerFailed`."""
