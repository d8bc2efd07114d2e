"""A small corpus of tables, and a reader who asks it: for tests of calculations."""

from __future__ import annotations

from collections.abc import Sequence

from fakes import FakeCatalogue, FakeGenerator, FakeRetriever, WordCounter
from rag_source.domain.answers import Answer, AnswerDone
from rag_source.domain.catalogue import DocumentRecord
from rag_source.domain.chunks import Chunk, Segment
from rag_source.domain.documents import FlowPlace, ParsedDocument, RowPlace, SourceFile
from rag_source.domain.evidence import NO_FILTER, SearchFilter
from rag_source.generation.answerer import Answerer
from rag_source.ingest.builder import DocumentBuilder, RowText

__all__ = [
    "TableWorld",
    "arabic_note",
    "delivery_note",
    "document",
    "price_list",
    "stock_list",
    "table_document",
]

ORDINARY = "The model was asked."


def document(*parts: str | Sequence[str], heading: str = "", title: str = "") -> ParsedDocument:
    """A heading, then paragraphs, and tables given as lines of `a|b|c`, the header first."""
    builder = DocumentBuilder()
    if heading:
        builder.heading(heading, 1)
    for part in parts:
        if isinstance(part, str):
            builder.text(part)
        else:
            rows = [
                RowText(
                    cells=tuple(cell.strip() for cell in line.split("|")),
                    header=i == 0,
                    place=FlowPlace(),
                )
                for i, line in enumerate(part)
            ]
            builder.table(rows)
    return builder.build(title=title or heading, loader="test", version=1)


def table_document(lines: Sequence[str]) -> ParsedDocument:
    """A file that is nothing but a table, as a delimited file is."""
    builder = DocumentBuilder()
    builder.table(
        [
            RowText(
                cells=tuple(cell.strip() for cell in line.split("|")),
                header=i == 0,
                place=RowPlace(row=i + 1),
            )
            for i, line in enumerate(lines)
        ]
    )
    return builder.build(title="", loader="test", version=1)


def delivery_note(
    number: str, rows: Sequence[str], *, client: str = "Atelier Benali", total: str = ""
) -> ParsedDocument:
    """A French delivery note: reference, designation, quantity, unit price, amount."""
    table = ["Référence|Désignation|Quantité|P.U. (DH)|Montant (DH)", *rows]
    parts: list[str | Sequence[str]] = [f"Client : {client}, Casablanca", table]
    if total:
        parts.append(f"Total : {total}")
    return document(*parts, heading=f"Bon de livraison n° {number}")


def arabic_note(number: str, rows: Sequence[str]) -> ParsedDocument:
    """An Arabic delivery note: item, quantity, unit price, amount."""
    table = ["الصنف|الكمية|ثمن الوحدة (درهم)|المبلغ (درهم)", *rows]
    return document("المرسل إليه: تعاونية النخيل", table, heading=f"إذن تسليم رقم {number}")


def price_list(*rows: str) -> ParsedDocument:
    """A price list with the currency in a column of its own."""
    return table_document(["reference|description|unit_price|currency", *rows])


def stock_list(*rows: str) -> ParsedDocument:
    """A stock list by warehouse."""
    return table_document(["Référence|Désignation|Dépôt|Quantité", *rows])


class TableWorld:
    """Documents by path, in a catalogue; the search finds those that it is told, or all of them."""

    def __init__(self, documents: dict[str, ParsedDocument]) -> None:
        self.documents = documents
        self.catalogue = FakeCatalogue()
        self.generator = FakeGenerator()
        for path, parsed in documents.items():
            self.add(path, parsed)

    def add(self, path: str, parsed: ParsedDocument, *, fingerprint: str = "") -> None:
        """Put a document into the catalogue."""
        self.documents[path] = parsed
        self.catalogue.save(
            DocumentRecord(
                doc_id=path,
                source=SourceFile(
                    path=path, fingerprint=fingerprint or path, size_bytes=1, mtime_ns=1
                ),
                status="ready",
                title=parsed.title,
                language=parsed.language,
                chunks=1,
                tables=sum(bool(block.rows) for block in parsed.blocks),
            ),
            parsed,
        )

    async def ask(
        self,
        question: str,
        *,
        found: Sequence[str] = (),
        filter: SearchFilter = NO_FILTER,
    ) -> Answer:
        """The answer. A model that is asked has only one thing to say."""
        self.generator.answers = [ORDINARY]
        chunks = [_chunk(path, self.documents[path]) for path in found or self.documents]
        answerer = Answerer(
            retriever=FakeRetriever(*chunks),
            generator=self.generator,
            catalogue=self.catalogue,
            counter=WordCounter(),
        )
        events = [event async for event in answerer.ask(question, filter=filter)]
        last = events[-1]
        assert isinstance(last, AnswerDone), last
        return last.answer

    async def result(self, question: str, *, found: Sequence[str] = ()) -> str | None:
        """The computed figure as an exact decimal; None where nothing was computed."""
        answer = await self.ask(question, found=found)
        return answer.calculation.result if answer.calculation else None


def _chunk(path: str, parsed: ParsedDocument) -> Chunk:
    """The first lines of a document, as a search with a limit finds them."""
    text = parsed.text[:1000]
    return Chunk(
        chunk_id=f"{path}#0",
        doc_id=path,
        path=path,
        ordinal=0,
        text=text,
        segments=(Segment(start=0, end=len(text), document_start=0),),
        sentences=(),
        block_id="b1",
    )
