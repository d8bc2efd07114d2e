"""A service that answers from memory, and values to answer with."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from pathlib import Path

from fakes import FakeCatalogue
from fakes_history import FakeAuditLog, FakeConversations
from rag_source.checks import check_corpus
from rag_source.domain.answers import (
    Answer,
    AnswerDone,
    AnswerEvent,
    Box,
    Citation,
    CitationChecked,
    SearchDone,
    TokenDelta,
)
from rag_source.domain.catalogue import DocumentRecord
from rag_source.domain.chunks import Chunk, Segment, TextRange
from rag_source.domain.documents import (
    Block,
    Cell,
    Page,
    PagePlace,
    ParsedDocument,
    SourceFile,
    TableRow,
    WordBox,
)
from rag_source.domain.errors import RequestError
from rag_source.domain.evidence import NO_FILTER, Evidence, SearchFilter, SearchMode, SearchResult
from rag_source.domain.health import Check, Health
from rag_source.domain.jobs import Job, JobAction, QueueStatus
from rag_source.domain.reports import IngestReport, Uploaded
from rag_source.domain.verification import QuotePlace, Verification
from rag_source.history import History
from rag_source.ingest.pictures import Picture, PictureRequest
from rag_source.ingest.uploads import receive_upload
from rag_source.store.audit import AuditTrail
from rag_source.viewing import DocumentViews

TOKEN = "3q8Zr1vLx0pWk7Yt5sNd"


def make_chunk(text: str = "Total : 3 240 unités", path: str = "bl.pdf") -> Chunk:
    return Chunk(
        chunk_id="c1",
        doc_id="d1",
        path=path,
        ordinal=0,
        text=text,
        segments=(Segment(start=0, end=len(text), document_start=0),),
        sentences=(TextRange(start=0, end=len(text)),),
        block_id="b1",
        section=("Bon", "Total"),
        page=1,
    )


def make_search(query: str = "total ?") -> SearchResult:
    evidence = Evidence(chunk=make_chunk(), rank=1, score=0.91, kept=True)
    return SearchResult(
        query=query,
        mode="hybrid+rerank",
        threshold=0.5,
        evidence=(evidence,),
        timings_ms={"total": 4.0},
    )


def make_answer(question: str = "total ?") -> Answer:
    citation = Citation(
        marker=1,
        status="verified",
        score=100.0,
        quote="Total : 3 240 unités",
        path="bl.pdf",
        page=1,
        block="b1",
        start=0,
        end=20,
        boxes=(Box(page=1, x0=0.1, y0=0.2, x1=0.3, y1=0.25),),
        chunk_id="c1",
    )
    return Answer(
        question=question,
        text="Le total est de 3 240 unités [1].",
        refused=False,
        reason="",
        language="fr",
        citations=(citation,),
        uncited_figures=(),
        badge="1 source vérifiée sur 1",
        timings_ms={"total": 10.0},
    )


def make_job(path: str = "été.pdf") -> Job:
    return Job(
        source=SourceFile(path=path, fingerprint="f", size_bytes=1, mtime_ns=1),
        ticket="t",
        doc_id="d2",
        state="embedding",
        done=3,
        total=9,
        queued_at="2026-01-02T03:04:05+00:00",
    )


def make_document() -> ParsedDocument:
    """Two pages, the second one turned, and a table on the first."""
    text = "Total : 3 240 unités\n\nA | B\n1 | 2\n\nsuite"
    rows = (
        TableRow(
            start=22, end=27, cells=(Cell(start=22, end=23), Cell(start=26, end=27)), header=True
        ),
        TableRow(start=28, end=33, cells=(Cell(start=28, end=29), Cell(start=32, end=33))),
    )
    return ParsedDocument(
        text=text,
        blocks=(
            Block(id="b1", kind="paragraph", start=0, end=20, place=PagePlace(page=1)),
            Block(id="b2", kind="table", start=22, end=33, rows=rows, place=PagePlace(page=1)),
            Block(id="b3", kind="paragraph", start=35, end=40, place=PagePlace(page=2)),
        ),
        title="Bon",
        language="fr",
        loader="pdf",
        loader_version=1,
        pages=(
            Page(
                number=1,
                width_pt=200,
                height_pt=400,
                rotation=0,
                start=0,
                end=33,
                words=(
                    WordBox(start=0, end=5, x0=20, y0=40, x1=60, y1=60),
                    WordBox(start=8, end=13, x0=70, y0=40, x1=100, y1=60, confidence=88.0),
                ),
            ),
            Page(
                number=2,
                width_pt=200,
                height_pt=400,
                rotation=90,
                start=35,
                end=40,
                words=(WordBox(start=35, end=40, x0=20, y0=40, x1=60, y1=60),),
            ),
        ),
    )


class FakePicturer:
    """Draws nothing, and remembers what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[PictureRequest] = []

    async def picture(self, request: PictureRequest) -> Picture:
        self.asked.append(request)
        return Picture(data=f"page {request.number}".encode(), media_type="image/png")


class FakeService:
    """Answers everything at once; `hold` makes an answer wait after its first word.

    `root` is the folder of its one document, a PDF named `bl.pdf`; it need not be there.
    """

    def __init__(
        self,
        *,
        error: Exception | None = None,
        hold: bool = False,
        root: Path = Path("/nowhere"),
    ) -> None:
        self.error = error
        self.hold = hold
        self.root = root
        self.catalogue = FakeCatalogue()
        source = SourceFile(path="bl.pdf", fingerprint="f" * 64, size_bytes=10, mtime_ns=1)
        self.record = DocumentRecord(
            doc_id="d1", source=source, status="ready", chunks=1, format="pdf"
        )
        self.catalogue.save(self.record, make_document())
        self.picturer = FakePicturer()
        self.conversations = FakeConversations()
        self.audit_log = FakeAuditLog()
        self.views = DocumentViews(
            catalogue=self.catalogue, root=lambda: self.root, picturer=self.picturer
        )
        self.history = History(conversations=self.conversations, audit=AuditTrail(self.audit_log))
        self.verified: list[tuple[str, SearchFilter]] = []
        self.cancelled = asyncio.Event()
        self.jobs = [make_job()]
        self.paused = False
        self.repaired = 0
        self.controlled: list[tuple[JobAction, str | None]] = []
        self.filters: list[SearchFilter] = []

    async def search(
        self, query: str, *, mode: SearchMode, limit: int, filter: SearchFilter = NO_FILTER
    ) -> SearchResult:
        self.filters.append(filter)
        if self.error:
            raise self.error
        return make_search(query)

    async def ask(
        self,
        question: str,
        *,
        mode: SearchMode,
        filter: SearchFilter = NO_FILTER,
        keep: bool = False,
        conversation_id: str = "",
    ) -> AsyncIterator[AnswerEvent]:
        events = self._answer(question)
        if keep:
            events = self.history.recorded(events, conversation_id)
        async with aclosing(events):
            async for event in events:
                yield event

    async def _answer(self, question: str) -> AsyncGenerator[AnswerEvent, None]:
        try:
            yield SearchDone(search=make_search(question))
            if self.error:
                raise self.error
            yield TokenDelta(text="Le total")
            if self.hold:
                await asyncio.sleep(60)
            answer = make_answer(question)
            for citation in answer.citations:
                yield CitationChecked(citation=citation)
            yield AnswerDone(answer=answer)
        except (asyncio.CancelledError, GeneratorExit):
            self.cancelled.set()
            raise

    async def documents(self) -> list[DocumentRecord]:
        return self.catalogue.documents()

    async def verify(self, quote: str, *, filter: SearchFilter = NO_FILTER) -> Verification:
        self.verified.append((quote, filter))
        if self.error:
            raise self.error
        place = QuotePlace(
            status="verified",
            score=100.0,
            reason="",
            path="bl.pdf",
            doc_id="d1",
            page=1,
            ranges=(TextRange(start=0, end=20),),
            boxes=(Box(page=1, x0=0.1, y0=0.1, x1=0.5, y1=0.15),),
            words="Total : 3 240 unités",
        )
        return Verification(quote=quote, status="verified", best=place, others=(place,))

    async def upload(
        self, path: str, pieces: AsyncIterator[bytes], *, overwrite: bool = False
    ) -> Uploaded:
        check_corpus(self.root)
        return await receive_upload(self.root, path, pieces, overwrite=overwrite)

    async def ingest(self, *, force: bool = False) -> IngestReport:
        return IngestReport(
            added=1, updated=0, removed=0, unchanged=0, failed=(), chunks=1, seconds=0.1
        )

    async def checks(self) -> AsyncIterator[Check]:
        yield Check(name="disk", ok=True, detail="9 GB are free")
        yield Check(name="ocr", ok=False, detail="no Tesseract", remedy="install it")

    async def repair(self) -> int:
        self.repaired += 1
        return 0

    async def queue(self) -> QueueStatus:
        return QueueStatus(jobs=tuple(self.jobs), paused=self.paused)

    async def control(self, action: JobAction, path: str | None = None) -> QueueStatus:
        self.controlled.append((action, path))
        if path == "unknown.pdf":
            raise RequestError("not in the queue", code="not_found")
        self.paused = action == "pause"
        return await self.queue()

    async def health(self) -> Health:
        return Health(
            profile="embedded",
            documents=1,
            failed_documents=0,
            chunks=1,
            models={"llm": "x"},
            problems=("models not fetched: run `rag-source models fetch embedded`",),
        )
