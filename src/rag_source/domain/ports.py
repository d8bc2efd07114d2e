"""The seams between components: what one asks of another, owned by the caller.

`wiring.py` passes the real objects; `tests/fakes.py` has a fake for each, and one contract suite
in `tests/contracts/` runs on both.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from rag_source.domain.catalogue import DocumentRecord, FileState, RebuiltDocument
from rag_source.domain.chunks import EmbeddedChunk, EmbeddingModel, SparseVector, Vector
from rag_source.domain.documents import Page, ParsedDocument
from rag_source.domain.evidence import (
    NO_FILTER,
    Candidate,
    SearchFilter,
    SearchMode,
    SearchResult,
)
from rag_source.domain.jobs import Job

__all__ = [
    "Catalogue",
    "ChatMessage",
    "ChunkQuery",
    "ChunkStore",
    "DocumentLoader",
    "Embedder",
    "Endpoint",
    "JobTable",
    "RebuildTable",
    "Reranker",
    "Retriever",
    "ServerAddress",
    "SituatingCache",
    "SparseEncoder",
    "Spool",
    "TextGenerator",
    "TokenCounter",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerAddress:
    """Where a model server answers: a URL without a trailing slash, and its key (may be empty)."""

    base_url: str
    api_key: str = field(default="", repr=False)


class Endpoint(Protocol):
    """A model server that may have to be started first."""

    async def address(self) -> ServerAddress:
        """Its address once it is ready to answer; starts it if that is this endpoint's job.

        Raises:
            BackendUnavailableError: It could not be brought up.
            ModelMissingError: Its model file is not in the cache.
        """


class DocumentLoader(Protocol):
    """Reads one format. One module each under `ingest/loaders/`, found by its suffixes."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> int:
        """Raised whenever the same bytes would parse differently."""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """Lower-case suffixes with the dot, such as `.pdf`."""

    def load(self, path: Path) -> ParsedDocument:
        """Parse the file; pure computation, no network.

        Raises:
            SourceError: The file cannot be used, with the reason's code.
        """


class Embedder(Protocol):
    """Turns texts into vectors of one model."""

    @property
    def model(self) -> EmbeddingModel: ...

    async def embed_query(self, text: str) -> Vector:
        """The vector of a question; goes before any waiting passages.

        Raises:
            BackendError: Unreachable, or the vector is not finite or not of the dimension.
        """

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        """One vector for each text, in order. Raises as `embed_query`."""

    async def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Tokens the model would read for each passage, prefix and specials included."""


class SparseEncoder(Protocol):
    """Turns text into BM25 term weights; the engine multiplies by IDF at query time."""

    def encode_document(self, text: str, *, language: str) -> SparseVector: ...

    def encode_query(self, text: str, *, language: str) -> SparseVector: ...


class TokenCounter(Protocol):
    """Counts tokens in the answer model's vocabulary, offline."""

    def count(self, text: str) -> int: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkQuery:
    """One search of the engine.

    `dense` and `sparse` are those that `mode` needs. `depth` is how many candidates each of the
    two contributes before fusion, `limit` how many come out. With `signals` each candidate
    carries its cosine, best sentence cosine and BM25 score, whichever list it came from.
    """

    mode: SearchMode
    limit: int
    depth: int
    dense: Vector = ()
    sparse: SparseVector = field(default_factory=SparseVector)
    filter: SearchFilter = field(default_factory=SearchFilter)
    signals: bool = False


class ChunkStore(Protocol):
    """Vectors and chunks in the engine. One collection, one embedding model."""

    async def replace(self, doc_id: str, chunks: Sequence[EmbeddedChunk]) -> None:
        """Make `chunks` the only ones of the document, in one step for every searcher."""

    async def remove(self, doc_ids: Sequence[str]) -> None:
        """Forget these documents; unknown ids are ignored."""

    async def rename(self, doc_id: str, path: str) -> None:
        """Change the path of a document's chunks, vectors untouched; unknown ids are ignored."""

    async def search(self, query: ChunkQuery) -> list[Candidate]:
        """Best first, at most `query.limit`; the filter holds for every candidate."""

    async def term_idf(self, indices: Sequence[int]) -> dict[int, float]:
        """The engine's IDF of each sparse index; an index no chunk has gets the highest IDF."""

    async def count(self) -> int:
        """How many chunks are stored."""

    async def doc_ids(self) -> set[str]:
        """The documents that have at least one chunk."""

    async def chunk_counts(self) -> dict[str, int]:
        """How many chunks each document has; one without any is left out."""

    async def chunk_ids(self, doc_id: str) -> set[str]:
        """The ids of a document's chunks; empty for an unknown document."""


class Reranker(Protocol):
    """Scores candidates against the question on a calibrated scale."""

    @property
    def threshold(self) -> float:
        """The score (0..1) from which a candidate may support an answer."""

    async def score(self, question: str, candidates: Sequence[Candidate]) -> list[float]:
        """The probability (0..1) that each candidate answers the question, in the same order."""


class Retriever(Protocol):
    """Finds evidence for a question."""

    async def search(
        self,
        question: str,
        *,
        mode: SearchMode,
        limit: int,
        filter: SearchFilter = NO_FILTER,
    ) -> SearchResult: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """A message for the answer model; `role` is `system`, `user` or `assistant`."""

    role: str
    content: str


class TextGenerator(Protocol):
    """The answer model."""

    async def context_tokens(self) -> int:
        """The real context of one slot, prompt and answer together."""

    def stream(self, messages: Sequence[ChatMessage], *, limit_tokens: int) -> AsyncIterator[str]:
        """Text as it is generated. Closing the iterator ends the generation on the server.

        Raises:
            BackendOverflowError: The prompt does not fit the context.
            BackendError: Unreachable, or failed in mid-stream.
        """


class Catalogue(Protocol):
    """The table of documents and their parses. Synchronous: a local file, a few milliseconds."""

    def documents(self) -> list[DocumentRecord]:
        """Every known file, ordered by path."""

    def document(self, doc_id: str) -> DocumentRecord | None: ...

    def file_states(self) -> Sequence[FileState]:
        """Of every record what a look at its file needs, in no order."""

    def save(self, record: DocumentRecord, parsed: ParsedDocument | None = None) -> None:
        """Insert or replace a record, and the parse if given, in one transaction."""

    def stage(self, record: DocumentRecord, parsed: ParsedDocument, *, contents: str) -> None:
        """Keep a document's next version beside the one that answers; a staged one before it goes.

        Args:
            record: What the document's record will be.
            parsed: What its parse will be.
            contents: Names the chunks that go with it, to tell after a crash which version the
                store holds.
        """

    def staged(self) -> dict[str, str]:
        """The `contents` of each staged version, by document."""

    def promote(self, doc_id: str) -> None:
        """Make the staged version the document's own, in one transaction.

        Raises:
            LookupError: None is staged.
        """

    def unstage(self, doc_id: str) -> None:
        """Forget the staged version, if there is one."""

    def versions(self) -> dict[str, str]:
        """Names each document's parse; another parse has another name."""

    def version(self, doc_id: str) -> str:
        """The name of one document's parse; empty if there is none."""

    def remove(self, doc_ids: Sequence[str]) -> None:
        """Forget documents, their parses and what is staged of them; unknown ids are ignored."""

    def parsed(self, doc_id: str) -> ParsedDocument | None:
        """The stored parse, without the words of its pages."""

    def pages(self, doc_id: str, numbers: Sequence[int]) -> list[Page]:
        """Those pages with their words, ordered by number."""


class RebuildTable(Protocol):
    """What a collection that is made anew holds already. Synchronous, like the catalogue."""

    def documents(self) -> dict[str, RebuiltDocument]:
        """All of it, by document."""

    def keep(self, one: RebuiltDocument) -> None:
        """Insert or replace."""

    def forget(self, doc_ids: Sequence[str]) -> None:
        """Unknown ids are ignored."""


class SituatingCache(Protocol):
    """What the answer model wrote to situate chunks, by the bytes of their file.

    Synchronous, like the catalogue. An answer is forgotten with the last document or job of the
    bytes it is about: not while a former version answers, nor while a new one is under way.
    """

    def situating(self, fingerprint: str) -> dict[str, str]:
        """Every answer about a file of these bytes, whichever document asked, by its key."""

    def save_situating(self, doc_id: str, fingerprint: str, key: str, answer: str) -> None:
        """Keep an answer; one of the same fingerprint and key is replaced."""


class JobTable(Protocol):
    """The queue of ingestion: at most one job for a path. Synchronous, like the catalogue."""

    def jobs(self) -> list[Job]:
        """All of them in the order of work: by priority, then position, then path."""

    def job(self, path: str) -> Job | None: ...

    def next(self, *, after: str = "") -> Job | None:
        """The first runnable job, that of the path `after` left out."""

    def waiting(self) -> int:
        """How many jobs are runnable."""

    def wants(self, fingerprint: str) -> bool:
        """Whether a job that is not cancelled is about that content."""

    def put(self, jobs: Iterable[Job]) -> None:
        """Insert or replace, in one transaction."""

    def drop(self, paths: Iterable[str]) -> None:
        """Forget the jobs of these paths; unknown ones are ignored."""

    @property
    def paused(self) -> bool:
        """Whether the whole queue is held back."""

    @paused.setter
    def paused(self, value: bool) -> None: ...


class Spool(Protocol):
    """Parses and vectors of unfinished documents, by fingerprint of the content.

    Pages that OCR has read are put there by the parsers themselves; here they only count among the
    `contents`, and are forgotten with the rest.
    """

    def parse(self, fingerprint: str, *, recipe: str) -> ParsedDocument | None:
        """The parse kept for that content, if it was made by this recipe; words included."""

    def keep_parse(self, fingerprint: str, parsed: ParsedDocument, *, recipe: str) -> None:
        """Keep a parse in place of any other of that content.

        Args:
            fingerprint: That of the file.
            parsed: The parse.
            recipe: Names the loader, its version and the settings that shaped it.
        """

    def vectors(self, fingerprint: str) -> dict[bytes, Vector]:
        """The vectors kept for that content by key, of the spool's embedding model alone."""

    def keep_vectors(self, fingerprint: str, vectors: Mapping[bytes, Vector]) -> None: ...

    def clear_vectors(self, fingerprint: str) -> None:
        """Forget that content's vectors of the spool's embedding model, and nothing else."""

    def contents(self) -> set[str]:
        """The fingerprints for which anything is kept."""

    def clear(self, fingerprint: str) -> None:
        """Forget what is kept for that content."""
