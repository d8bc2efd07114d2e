"""A quote's place in the document: offsets, block, page and boxes."""

from __future__ import annotations

from fakes import FakeCatalogue
from rag_source.domain.answers import Citation
from rag_source.domain.catalogue import DocumentRecord
from rag_source.domain.chunks import Chunk, Segment
from rag_source.domain.documents import Block, Page, PagePlace, ParsedDocument, SourceFile, WordBox
from rag_source.generation.citing import CheckedMarker
from rag_source.generation.places import place_in_document, resolve
from rag_source.generation.support import whole_line

PAGES = ["The term starts in May and", "Page 1 of 2", "ends in June at noon."]
TEXT = "\n".join(PAGES)


def _words(start: int, text: str, y: float) -> list[WordBox]:
    words, at = [], 0
    for word in text.split():
        at = text.index(word, at)
        words.append(
            WordBox(
                start=start + at,
                end=start + at + len(word),
                x0=10.0 + 5 * at,
                x1=10.0 + 5 * (at + len(word)),
                y0=y,
                y1=y + 10,
            )
        )
        at += len(word)
    return words


def _catalogue() -> FakeCatalogue:
    footer, second = len(PAGES[0]) + 1, len(PAGES[0]) + len(PAGES[1]) + 2
    pages = (
        Page(
            number=1, width_pt=200, height_pt=300, rotation=0, start=0, end=second - 1,
            words=(*_words(0, PAGES[0], 250), *_words(footer, PAGES[1], 280)),
        ),
        Page(
            number=2, width_pt=200, height_pt=300, rotation=0, start=second, end=len(TEXT),
            words=tuple(_words(second, PAGES[2], 20)),
        ),
    )  # fmt: skip
    parsed = ParsedDocument(
        text=TEXT,
        blocks=(
            Block(id="b1", kind="paragraph", start=0, end=footer - 1, place=PagePlace(page=1)),
            Block(id="b2", kind="paragraph", start=second, end=len(TEXT), place=PagePlace(page=2)),
        ),
        title="t", language="en", loader="pdf", loader_version=1, pages=pages,
    )  # fmt: skip
    catalogue = FakeCatalogue()
    catalogue.save(
        DocumentRecord(
            doc_id="d",
            source=SourceFile(path="a.pdf", fingerprint="f", size_bytes=1, mtime_ns=1),
            status="ready",
            chunks=1,
        ),
        parsed,
    )
    return catalogue


def _chunk() -> Chunk:
    """Both paragraphs, the running footer between them left out."""
    second = len(PAGES[0]) + len(PAGES[1]) + 2
    first = len(PAGES[0])
    return Chunk(
        chunk_id="c", doc_id="d", path="a.pdf", ordinal=0, block_id="b0", page=1,
        text=f"{PAGES[0]} {PAGES[2]}",
        segments=(
            Segment(start=0, end=first, document_start=0),
            Segment(start=first + 1, end=first + 1 + len(PAGES[2]), document_start=second),
        ),
        sentences=(),
    )  # fmt: skip


def test_quote_over_a_page_break_has_boxes_on_both_pages_and_none_on_the_footer() -> None:
    chunk = _chunk()
    place = place_in_document(chunk, 4, len(chunk.text) - 9, _catalogue())
    assert [box.page for box in place.boxes] == [1, 2]
    assert (place.page, place.block) == (1, "b1")
    assert TEXT[place.start : place.end].startswith("term starts")
    assert place.boxes[0].y1 < 280 / 300


def test_box_covers_the_quoted_words_only() -> None:
    place = place_in_document(_chunk(), 4, 8, _catalogue())
    assert len(place.boxes) == 1
    assert place.boxes[0].x0 == (10 + 5 * 4) / 200
    assert place.boxes[0].x1 == (10 + 5 * 8) / 200


def test_second_paragraph_lies_in_its_own_block_and_page() -> None:
    chunk = _chunk()
    place = place_in_document(chunk, chunk.text.index("ends"), len(chunk.text), _catalogue())
    assert (place.page, place.block) == (2, "b2")


def test_document_that_is_gone_leaves_the_chunk_as_place() -> None:
    place = place_in_document(_chunk(), 4, 8, FakeCatalogue())
    assert (place.page, place.block, place.boxes) == (1, "b0", ())


def _cited(text: str, start: int, end: int) -> Citation:
    chunk = Chunk(
        chunk_id="c", doc_id="d", path="a.md", ordinal=0, block_id="b0", text=text,
        segments=(Segment(start=0, end=len(text), document_start=0),), sentences=(),
    )  # fmt: skip
    marker = CheckedMarker(
        number=1,
        status="verified",
        support=whole_line(1, start, end),
        reason="",
        sentence=(0, 1),
        added=False,
    )
    return resolve(marker, chunk, FakeCatalogue())


def test_quote_that_stands_several_times_in_its_chunk_says_so() -> None:
    text = "Three times it has returned. three\ntimes it\u00a0has returned. Other words."
    text = f"Three times it has returned.\n{text}"

    assert _cited(text, 0, 28).occurrences == 2
    assert _cited(text, text.index("Other"), len(text)).occurrences == 1


def test_words_inside_other_words_are_no_occurrence() -> None:
    assert _cited("the art of the artist", 4, 7).occurrences == 1
