"""Where a sentence comes from: verdict, place and candidates, over real chunks of real parses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from documents import PdfText, make_pdf, make_text
from fakes import FakeCatalogue
from rag_source.domain.catalogue import DocumentRecord
from rag_source.domain.chunks import Chunk
from rag_source.domain.documents import SourceFile
from rag_source.domain.errors import BackendUnavailableError, NotFoundError, RequestError
from rag_source.domain.evidence import Evidence, SearchFilter, SearchMode, SearchResult
from rag_source.domain.verification import Verification
from rag_source.generation.sourcing import LIMIT_QUOTE_CHARS, QuoteFinder
from rag_source.ingest.chunker import ChunkingPolicy
from reading import chunks_in, read

FILLER = "The pump is checked every week by the person on duty. "


@dataclass
class Corpus:
    """Documents with their chunks, all of which every search finds."""

    catalogue: FakeCatalogue
    chunks: list[Chunk]
    without_embedder: bool = False
    blind: bool = False

    async def search(
        self, query: str, /, *, mode: SearchMode, limit: int, filter: SearchFilter
    ) -> SearchResult:
        if self.without_embedder and mode != "bm25":
            raise BackendUnavailableError("the embedder is down")
        found = [chunk for chunk in self.chunks if not filter.paths or chunk.path in filter.paths]
        evidence = [
            Evidence(chunk=chunk, rank=i, score=1.0, kept=True)
            for i, chunk in enumerate([] if self.blind else found[:limit], 1)
        ]
        return SearchResult(
            query=query, mode=mode, threshold=None, evidence=tuple(evidence), timings_ms={}
        )

    async def find(self, quote: str, *sources: str) -> Verification:
        finder = QuoteFinder(search=self.search, catalogue=self.catalogue)
        return await finder.find(quote, filter=SearchFilter(paths=sources))


def corpus_of(paths: Sequence[Path], policy: ChunkingPolicy | None = None) -> Corpus:
    catalogue, chunks = FakeCatalogue(), []
    for path in paths:
        parsed = read(path)
        source = SourceFile(path=path.name, fingerprint="f" * 64, size_bytes=1, mtime_ns=1)
        record = DocumentRecord(doc_id=path.stem, source=source, status="ready", chunks=1)
        catalogue.save(record, parsed)
        for chunk in chunks_in(parsed, policy):
            chunks.append(
                Chunk(
                    chunk_id=f"{path.stem}-{chunk.ordinal}",
                    doc_id=path.stem,
                    path=path.name,
                    ordinal=chunk.ordinal,
                    text=chunk.text,
                    segments=chunk.segments,
                    sentences=chunk.sentences,
                    block_id=chunk.block_id,
                    page=chunk.page,
                )
            )
    return Corpus(catalogue, chunks)


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    return corpus_of(
        [
            make_text(tmp_path / "a.txt", "Payment is due within 30 days of the invoice date."),
            make_text(tmp_path / "b.txt", "Visitors park behind the church. It is not locked."),
        ]
    )


async def test_quote_is_found_with_its_place_and_the_sources_own_words(corpus: Corpus) -> None:
    found = await corpus.find("payment is due  within 30 days")
    assert found.status == "verified"
    assert found.best is not None
    assert (found.best.path, found.best.doc_id, found.best.page) == ("a.txt", "a", None)
    assert found.best.words == "Payment is due within 30 days"
    text = corpus.catalogue.parses["a"].text
    (part,) = found.best.ranges
    assert text[part.start : part.end] == found.best.words


async def test_changed_fact_is_unverified_with_its_reason(corpus: Corpus) -> None:
    found = await corpus.find("Payment is due within 90 days of the invoice date.")
    assert found.status == "unverified"
    assert found.best is not None
    assert "30" in found.best.reason
    assert found.best.words.startswith("Payment is due within 30 days")


async def test_negation_that_was_dropped_is_unverified(corpus: Corpus) -> None:
    found = await corpus.find("It is locked.")
    assert found.status == "unverified"


async def test_sentence_of_no_document_is_not_found_and_shows_the_nearest(corpus: Corpus) -> None:
    found = await corpus.find("The treaty was signed at Utrecht by three ambassadors.")
    assert (found.status, found.best) == ("not_found", None)
    assert [place.path for place in found.others] == ["a.txt", "b.txt"]
    assert all(place.score == 0 and place.reason for place in found.others)


async def test_sources_restrict_where_it_may_come_from(corpus: Corpus) -> None:
    found = await corpus.find("Payment is due within 30 days", "b.txt")
    assert found.status == "not_found"
    with pytest.raises(NotFoundError, match=r"c\.txt"):
        await corpus.find("Payment is due within 30 days", "c.txt")


async def test_same_words_in_another_document_are_a_candidate(tmp_path: Path) -> None:
    same = "The guarantee lasts two years."
    corpus = corpus_of([make_text(tmp_path / f"{name}.txt", same) for name in "ab"])
    found = await corpus.find(same)
    assert found.best is not None
    assert (found.best.path, [place.path for place in found.others]) == ("a.txt", ["b.txt"])


async def test_place_that_two_overlapping_chunks_hold_comes_once(tmp_path: Path) -> None:
    corpus = corpus_of([make_text(tmp_path / "a.txt", "One sentence only, in one place.")])
    corpus.chunks = corpus.chunks * 3
    found = await corpus.find("One sentence only")
    assert found.others == ()


async def test_quote_over_the_border_of_two_chunks_is_found(tmp_path: Path) -> None:
    text = "\n\n".join(f"Paragraph {i} says this. {FILLER * 6}End of {i}." for i in range(30))
    corpus = corpus_of([make_text(tmp_path / "a.txt", text)])
    assert len(corpus.chunks) > 2
    first, second = corpus.chunks[0], corpus.chunks[1]
    end = max(s.document_start + s.end - s.start for s in first.segments)
    document = corpus.catalogue.parses["a"].text
    begin, stop = document.index("Paragraph", end - 900), document.index(".", end + 100) + 1
    quote = document[begin:stop]
    assert not any(quote in chunk.text for chunk in (first, second))
    found = await corpus.find(quote)
    assert found.status == "verified"
    assert found.best is not None
    (part,) = found.best.ranges
    assert (part.start, part.end) == (begin, stop)


async def test_document_that_is_named_is_read_through_if_the_search_misses_it(
    corpus: Corpus,
) -> None:
    corpus.blind = True
    everywhere = await corpus.find("Visitors park behind the church.")
    named = await corpus.find("visitors park behind the church", "b.txt")
    assert everywhere.status == "not_found"
    assert named.status == "verified"
    assert named.best is not None
    assert named.best.words == "Visitors park behind the church"


async def test_words_are_enough_where_there_is_no_embedder(corpus: Corpus) -> None:
    corpus.without_embedder = True
    assert (await corpus.find("Visitors park behind the church.")).status == "verified"


async def test_quote_on_a_page_has_its_boxes(tmp_path: Path) -> None:
    lines = [
        PdfText(text="The total amounts to 3,240 units.", x=72, y=100),
        PdfText(text="Another line of the page.", x=72, y=300),
    ]
    corpus = corpus_of([make_pdf(tmp_path / "a.pdf", [lines, lines[1:]])])
    found = await corpus.find("The total amounts to 3,240 units.")
    assert found.best is not None
    assert (found.best.page, len(found.best.boxes)) == (1, 1)
    box = found.best.boxes[0]
    assert box.y0 < 100 / 842 < box.y1 + 0.01


@pytest.mark.parametrize(
    ("quote", "code"),
    [
        ("", "empty_quote"),
        (" \n", "empty_quote"),
        ("x" * (LIMIT_QUOTE_CHARS + 1), "quote_too_long"),
    ],
    ids=["empty", "blank", "long"],
)
async def test_senseless_quote_is_refused(corpus: Corpus, quote: str, code: str) -> None:
    with pytest.raises(RequestError) as caught:
        await corpus.find(quote)
    assert caught.value.code == code
