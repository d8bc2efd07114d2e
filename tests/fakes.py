"""Stand-ins for the ports, for tests that need neither network nor models.

Each is as simple as its contract allows; `tests/contracts/` runs the same suite on fake and real.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from rag_source.domain.catalogue import DocumentRecord, FileState, RebuiltDocument
from rag_source.domain.chunks import Chunk, EmbeddedChunk, EmbeddingModel, SparseVector, Vector
from rag_source.domain.documents import Page, ParsedDocument
from rag_source.domain.evidence import (
    NO_FILTER,
    Candidate,
    Evidence,
    SearchFilter,
    SearchMode,
    SearchResult,
)
from rag_source.domain.folding import fold
from rag_source.domain.jobs import Job
from rag_source.domain.ports import ChatMessage, ChunkQuery

DIMENSION = 64


class FakeEmbedder:
    """Bag of hashed words: texts that share words are near. Counts what it was asked to embed.

    By its name it is another packaging of the model that the shipped reranker was fitted to.
    """

    def __init__(
        self,
        *,
        name: str = "multilingual-e5-small-q4@fake",
        dimension: int = DIMENSION,
        limit_tokens: int = 512,
    ) -> None:
        self.model = EmbeddingModel(name=name, dimension=dimension, limit_tokens=limit_tokens)
        self.embedded: list[str] = []

    async def embed_query(self, text: str) -> Vector:
        return _bag(text, self.model.dimension)

    async def embed_passages(self, texts: Sequence[str]) -> list[Vector]:
        self.embedded.extend(texts)
        return [_bag(text, self.model.dimension) for text in texts]

    async def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) + 4 for text in texts]


class FakeGenerator:
    """Streams scripted answers, one for each call, word by word; records the prompts."""

    def __init__(self, *answers: str, context_tokens: int = 4096) -> None:
        self.answers = list(answers)
        self.prompts: list[list[ChatMessage]] = []
        self.closed = 0
        self._context_tokens = context_tokens

    async def context_tokens(self) -> int:
        return self._context_tokens

    async def stream(
        self, messages: Sequence[ChatMessage], *, limit_tokens: int
    ) -> AsyncIterator[str]:
        self.prompts.append(list(messages))
        answer = self.answers.pop(0)
        try:
            for i, word in enumerate(answer.split(" ")):
                yield word if i == 0 else f" {word}"
        finally:
            self.closed += 1


class WordCounter:
    """Counts words as tokens."""

    def count(self, text: str) -> int:
        return len(text.split())


def _bag(text: str, dimension: int) -> list[float]:
    vector = [0.0] * dimension
    for word in fold(text, case=True, accents=True).text.split():
        digest = hashlib.sha256(word.strip(".,;:!?()[]").encode()).digest()
        vector[digest[0] % dimension] += 1.0
    norm = math.sqrt(sum(x * x for x in vector)) or 1.0
    return [x / norm for x in vector]


class FakeChunkStore:
    """A dict of chunks, searched one by one with the engine's formulas."""

    def __init__(self, *, rrf_k: int = 5, dense_weight: float = 1.2) -> None:
        self.documents: dict[str, list[EmbeddedChunk]] = {}
        self._rrf_k = rrf_k
        self._dense_weight = dense_weight

    async def replace(self, doc_id: str, chunks: Sequence[EmbeddedChunk]) -> None:
        if any(chunk.chunk.doc_id != doc_id for chunk in chunks):
            raise ValueError(f"a chunk is not one of {doc_id!r}")
        self.documents.pop(doc_id, None)
        if chunks:
            self.documents[doc_id] = list(chunks)

    async def remove(self, doc_ids: Sequence[str]) -> None:
        for doc_id in doc_ids:
            self.documents.pop(doc_id, None)

    async def rename(self, doc_id: str, path: str) -> None:
        self.documents[doc_id] = [
            replace(one, chunk=replace(one.chunk, path=path))
            for one in self.documents.get(doc_id, [])
        ]
        if not self.documents[doc_id]:
            del self.documents[doc_id]

    async def search(self, query: ChunkQuery) -> list[Candidate]:
        allowed = [one for one in self._all() if _matches(query.filter, one)]
        dense = _ranked({one.chunk.chunk_id: _dot(query.dense, one.dense) for one in allowed})
        bm25 = _ranked({one.chunk.chunk_id: self._bm25(query.sparse, one) for one in allowed})
        bm25 = {chunk_id: score for chunk_id, score in bm25.items() if score > 0}
        if query.mode == "dense":
            scores = dense
        elif query.mode == "bm25":
            scores = bm25
        else:
            scores = {}
            for ranking, weight in ((dense, self._dense_weight), (bm25, 1.0)):
                for position, chunk_id in enumerate(list(ranking)[: query.depth]):
                    share = 1 / ((position + 1) / weight + self._rrf_k - 1)
                    scores[chunk_id] = scores.get(chunk_id, 0.0) + share
        by_id = {one.chunk.chunk_id: one for one in allowed}
        found = []
        for chunk_id in list(_ranked(scores))[: query.limit]:
            one = by_id[chunk_id]
            with_dense = query.mode == "dense" or (query.signals and query.dense)
            with_bm25 = query.mode == "bm25" or query.signals
            sentences = [_dot(query.dense, v) for v in one.sentence_vectors if query.dense]
            found.append(
                Candidate(
                    chunk=one.chunk,
                    score=scores[chunk_id],
                    dense=dense[chunk_id] if with_dense else None,
                    sentence=max(sentences) if query.signals and sentences else None,
                    bm25=bm25.get(chunk_id, 0.0) if with_bm25 else None,
                )
            )
        return sorted(found, key=lambda one: (-one.score, one.chunk.path, one.chunk.ordinal))

    async def term_idf(self, indices: Sequence[int]) -> dict[int, float]:
        return {index: self._idf(index) for index in indices}

    async def count(self) -> int:
        return len(self._all())

    async def doc_ids(self) -> set[str]:
        return set(self.documents)

    async def chunk_counts(self) -> dict[str, int]:
        return {doc_id: len(chunks) for doc_id, chunks in self.documents.items()}

    async def chunk_ids(self, doc_id: str) -> set[str]:
        return {one.chunk.chunk_id for one in self.documents.get(doc_id, [])}

    def _all(self) -> list[EmbeddedChunk]:
        return [one for chunks in self.documents.values() for one in chunks]

    def _idf(self, index: int) -> float:
        known = sum(index in one.sparse.indices for one in self._all())
        return math.log(1 + (len(self._all()) - known + 0.5) / (known + 0.5))

    def _bm25(self, query: SparseVector, one: EmbeddedChunk) -> float:
        weights = dict(zip(one.sparse.indices, one.sparse.values, strict=True))
        terms = zip(query.indices, query.values, strict=True)
        return sum(w * weights.get(i, 0.0) * self._idf(i) for i, w in terms)


def _ranked(scores: dict[str, float]) -> dict[str, float]:
    return dict(sorted(scores.items(), key=lambda item: -item[1]))


def _dot(a: Vector, b: Vector) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True)) if len(a) else 0.0


def _matches(wanted: SearchFilter, one: EmbeddedChunk) -> bool:
    chunk = one.chunk
    suffix = PurePosixPath(chunk.path).suffix.lower().removeprefix(".")
    folders = [folder.rstrip("/") for folder in wanted.folders]
    return (
        chunk.doc_id not in wanted.excluded_doc_ids
        and (not wanted.paths or chunk.path in wanted.paths)
        and (not wanted.doc_ids or chunk.doc_id in wanted.doc_ids)
        and (not wanted.languages or chunk.language in wanted.languages)
        and (not wanted.formats or suffix in wanted.formats)
        and (not folders or any(not f or chunk.path.startswith(f"{f}/") for f in folders))
    )


class FakeCatalogue:
    """Two dicts: records and parses."""

    def __init__(self) -> None:
        self.records: dict[str, DocumentRecord] = {}
        self.parses: dict[str, ParsedDocument] = {}
        self.waiting: dict[str, tuple[DocumentRecord, ParsedDocument, str]] = {}
        self.names: dict[str, str] = {}
        self._parses_kept = 0

    def documents(self) -> list[DocumentRecord]:
        return sorted(self.records.values(), key=lambda record: record.source.path)

    def document(self, doc_id: str) -> DocumentRecord | None:
        return self.records.get(doc_id)

    def file_states(self) -> list[FileState]:
        return [
            FileState(
                doc_id=record.doc_id,
                path=record.source.path,
                size_bytes=record.source.size_bytes,
                mtime_ns=record.source.mtime_ns,
                status=record.status,
                code=record.code,
                loader=record.loader,
                loader_version=record.loader_version,
                recipe=record.recipe,
                pages=record.pages,
                chunks=record.chunks,
                warning_codes=" ".join(warning.code for warning in record.warnings),
            )
            for record in self.records.values()
        ]

    def save(self, record: DocumentRecord, parsed: ParsedDocument | None = None) -> None:
        self.records[record.doc_id] = record
        if parsed is not None:
            self._keep_parse(record.doc_id, parsed)

    def stage(self, record: DocumentRecord, parsed: ParsedDocument, *, contents: str) -> None:
        self.waiting[record.doc_id] = (record, parsed, contents)

    def staged(self) -> dict[str, str]:
        return {doc_id: contents for doc_id, (_, _, contents) in self.waiting.items()}

    def promote(self, doc_id: str) -> None:
        if doc_id not in self.waiting:
            raise LookupError(f"no version of {doc_id!r} is staged")
        record, parsed, _ = self.waiting.pop(doc_id)
        self.records[doc_id] = record
        self._keep_parse(doc_id, parsed)

    def _keep_parse(self, doc_id: str, parsed: ParsedDocument) -> None:
        self._parses_kept += 1
        self.parses[doc_id] = parsed
        self.names[doc_id] = f"version {self._parses_kept}"

    def versions(self) -> dict[str, str]:
        return dict(self.names)

    def version(self, doc_id: str) -> str:
        return self.names.get(doc_id, "")

    def unstage(self, doc_id: str) -> None:
        self.waiting.pop(doc_id, None)

    def remove(self, doc_ids: Sequence[str]) -> None:
        for doc_id in doc_ids:
            self.records.pop(doc_id, None)
            self.parses.pop(doc_id, None)
            self.names.pop(doc_id, None)
            self.waiting.pop(doc_id, None)

    def parsed(self, doc_id: str) -> ParsedDocument | None:
        whole = self.parses.get(doc_id)
        if whole is None:
            return None
        return replace(whole, pages=tuple(replace(page, words=()) for page in whole.pages))

    def pages(self, doc_id: str, numbers: Sequence[int]) -> list[Page]:
        whole = self.parses.get(doc_id)
        pages = whole.pages if whole else ()
        return sorted((p for p in pages if p.number in numbers), key=lambda page: page.number)


class FakeJobTable:
    """A dict of jobs."""

    def __init__(self) -> None:
        self.by_path: dict[str, Job] = {}
        self.paused = False

    def jobs(self) -> list[Job]:
        return sorted(self.by_path.values(), key=lambda j: (-j.priority, j.position, j.path))

    def job(self, path: str) -> Job | None:
        return self.by_path.get(path)

    def next(self, *, after: str = "") -> Job | None:
        return next((j for j in self.jobs() if j.is_runnable and j.path != after), None)

    def waiting(self) -> int:
        return sum(job.is_runnable for job in self.by_path.values())

    def wants(self, fingerprint: str) -> bool:
        wanting = [job for job in self.by_path.values() if job.state != "cancelled"]
        return any(job.source.fingerprint == fingerprint for job in wanting)

    def put(self, jobs: Iterable[Job]) -> None:
        self.by_path.update({job.path: job for job in jobs})

    def drop(self, paths: Iterable[str]) -> None:
        for path in paths:
            self.by_path.pop(path, None)


class FakeSpool:
    """Two dicts: parses and vectors."""

    def __init__(self) -> None:
        self.parses: dict[str, tuple[str, ParsedDocument]] = {}
        self.kept: dict[str, dict[bytes, Vector]] = {}

    def parse(self, fingerprint: str, *, recipe: str) -> ParsedDocument | None:
        made_by, parsed = self.parses.get(fingerprint, ("", None))
        return parsed if made_by == recipe else None

    def keep_parse(self, fingerprint: str, parsed: ParsedDocument, *, recipe: str) -> None:
        self.parses[fingerprint] = (recipe, parsed)

    def vectors(self, fingerprint: str) -> dict[bytes, Vector]:
        return dict(self.kept.get(fingerprint, {}))

    def keep_vectors(self, fingerprint: str, vectors: Mapping[bytes, Vector]) -> None:
        self.kept.setdefault(fingerprint, {}).update(vectors)

    def clear_vectors(self, fingerprint: str) -> None:
        self.kept.pop(fingerprint, None)

    def contents(self) -> set[str]:
        return set(self.parses) | set(self.kept)

    def clear(self, fingerprint: str) -> None:
        self.parses.pop(fingerprint, None)
        self.kept.pop(fingerprint, None)


class FakeRebuildTable:
    """A dict."""

    def __init__(self) -> None:
        self.rows: dict[str, RebuiltDocument] = {}

    def documents(self) -> dict[str, RebuiltDocument]:
        return dict(self.rows)

    def keep(self, one: RebuiltDocument) -> None:
        self.rows[one.doc_id] = one

    def forget(self, doc_ids: Sequence[str]) -> None:
        for doc_id in doc_ids:
            self.rows.pop(doc_id, None)


class FakeRetriever:
    """Gives the same chunks for every question, best first, all of them kept unless told."""

    def __init__(
        self, *chunks: Chunk, scores: Sequence[float] = (), threshold: float | None = 0.5
    ) -> None:
        self.chunks = chunks
        self.scores = list(scores) or [0.8] * len(chunks)
        self.threshold = threshold
        self.asked: list[tuple[str, SearchMode, SearchFilter]] = []

    async def search(
        self,
        question: str,
        *,
        mode: SearchMode,
        limit: int,
        filter: SearchFilter = NO_FILTER,
    ) -> SearchResult:
        self.asked.append((question, mode, filter))
        evidence = tuple(
            Evidence(
                chunk=chunk,
                rank=rank,
                score=score,
                kept=self.threshold is None or score >= self.threshold,
            )
            for rank, (chunk, score) in enumerate(
                zip(self.chunks, self.scores, strict=True), start=1
            )
        )
        return SearchResult(
            query=question,
            mode=mode,
            threshold=self.threshold,
            evidence=evidence[:limit],
            timings_ms={},
        )


class FakeSituatingCache:
    """A dict for each fingerprint; forgets nothing, since it knows no documents."""

    def __init__(self) -> None:
        self.answers: dict[str, dict[str, str]] = {}

    def situating(self, fingerprint: str) -> dict[str, str]:
        return dict(self.answers.get(fingerprint, {}))

    def save_situating(self, doc_id: str, fingerprint: str, key: str, answer: str) -> None:
        self.answers.setdefault(fingerprint, {})[key] = answer
