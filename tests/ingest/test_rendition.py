"""Renditions hold the document text to the character, and ranges lead to the right ones."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from documents import make_pdf
from documents import paragraph as pdf_lines
from ingest.chunking_inputs import IDENTITY, document
from ingest.rendition_inputs import FORMATS, Page, load, make_document, read_page, words
from rag_source.domain.chunks import TextRange
from rag_source.domain.documents import ParsedDocument
from rag_source.ingest.builder import DocumentBuilder, RowText
from rag_source.ingest.chunker import ChunkingPolicy
from rag_source.ingest.measuring import chunked, estimate
from rag_source.ingest.rendition import Anchor, anchors, render
from rag_source.store.catalogue import SqliteCatalogue
from store_inputs import make_record

SMALL = ChunkingPolicy(target_tokens=128, embed_limit_tokens=128)
SEEDS = range(3)


def page_of(parsed: ParsedDocument, window: TextRange | None = None) -> Page:
    return read_page(render(parsed, window).html)


def separators(parsed: ParsedDocument) -> set[int]:
    """Where the builder joined blocks, cells and rows, told from the parse alone."""
    inside: set[int] = set()
    for block in parsed.blocks:
        parts = [(cell.start, cell.end) for row in block.rows for cell in row.cells]
        for start, end in parts or [(block.start, block.end)]:
            inside.update(range(start, end))
    return set(range(len(parsed.text))) - inside


def field_breaks(parsed: ParsedDocument) -> set[int]:
    """Line breaks inside records: what parts one field from the next."""
    return {
        at
        for block in parsed.blocks
        if block.kind == "record"
        for at in range(block.start, block.end)
        if parsed.text[at] == "\n"
    }


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", FORMATS)
async def test_any_part_of_a_chunk_stands_at_its_anchors(
    kind: str, seed: int, tmp_path: Path
) -> None:
    parsed = load(make_document(kind, tmp_path, seed))
    page = page_of(parsed)
    chunks = [packed.chunk for packed in await chunked(parsed, estimate, SMALL, IDENTITY)]
    random_ = random.Random(seed)
    gaps = separators(parsed) | field_breaks(parsed)
    assert len(chunks) > 1

    for chunk in chunks:
        for _ in range(8):
            start = random_.randrange(len(chunk.text))
            end = random_.randint(start + 1, len(chunk.text))
            found = ""
            for part in chunk.document_ranges(start, end):
                shown = shown_at(page, parsed, part)
                assert set(range(part.start, part.end)) - shown.keys() <= gaps
                found += "".join(shown.values())
            assert squeezed(found) == squeezed(chunk.text[start:end])


def shown_at(page: Page, parsed: ParsedDocument, part: TextRange) -> dict[int, str]:
    """What the anchors of a range show: each position of the document text with its character."""
    shown: dict[int, str] = {}
    for anchor in anchors(parsed, part.start, part.end):
        bearer = page.bearers[anchor.element]
        for offset in range(anchor.start, anchor.end):
            at = bearer.start + offset
            assert part.start <= at < part.end
            assert bearer.text[offset] == parsed.text[at]
            assert at not in shown
            shown[at] = bearer.text[offset]
    return shown


def squeezed(text: str) -> str:
    """The text without anything that may be a separator."""
    return re.sub(r"[ |\n]", "", text)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", FORMATS)
def test_every_code_point_but_separators_appears_exactly_once(
    kind: str, seed: int, tmp_path: Path
) -> None:
    parsed = load(make_document(kind, tmp_path, seed))
    page = page_of(parsed)

    shown: list[int] = []
    for bearer in page.bearers.values():
        assert bearer.text == parsed.text[bearer.start : bearer.end]
        shown += range(bearer.start, bearer.end)

    assert shown == sorted(set(shown))
    missing = set(range(len(parsed.text))) - set(shown)
    assert separators(parsed) <= missing <= separators(parsed) | field_breaks(parsed)
    assert page.stray.strip() == ""


@pytest.mark.parametrize("kind", FORMATS)
def test_rendition_is_the_same_for_two_parses_and_for_the_stored_one(
    kind: str, tmp_path: Path
) -> None:
    path = make_document(kind, tmp_path, 1)
    first, second = load(path), load(path)
    with SqliteCatalogue(tmp_path / "catalogue.db") as catalogue:
        catalogue.save(make_record("d"), first)
        stored = catalogue.parsed("d")

    assert stored is not None
    assert render(first).html == render(first).html == render(second).html == render(stored).html


def test_range_over_several_cells_has_an_anchor_in_each() -> None:
    parsed = document(("table", [["Name", "Price"], ["glass bowl", "2.50"], ["cup", "1"]]))
    start, end = parsed.text.index("bowl"), parsed.text.index("cup") + 2

    assert anchors(parsed, start, end) == (
        Anchor(element="b1-r2-c1", start=6, end=10),
        Anchor(element="b1-r2-c2", start=0, end=4),
        Anchor(element="b1-r3-c1", start=0, end=2),
    )


def test_range_over_two_blocks_has_an_anchor_in_each() -> None:
    parsed = document(("p", "It begins here"), ("li", "and ends there."))

    found = anchors(parsed, parsed.text.index("here"), parsed.text.index(" ends"))

    assert found == (Anchor(element="b1", start=10, end=14), Anchor(element="b2", start=0, end=3))


def test_separators_and_positions_outside_have_no_anchor() -> None:
    parsed = document(("p", "One."), ("table", [["A", "B"], ["1", "2"]]))
    bar = parsed.text.index(" | ")

    assert anchors(parsed, 4, 6) == ()
    assert anchors(parsed, bar, bar + 3) == ()
    assert anchors(parsed, 2, 2) == anchors(parsed, 99, 120) == anchors(parsed, -5, 0) == ()
    assert anchors(parsed, -5, 99)[0] == Anchor(element="b1", start=0, end=4)


def test_third_of_three_equal_sentences_is_the_third_one_found() -> None:
    same = "Three times it has returned."
    parsed = document(("p", f"{same} {same}"), ("p", f"😀 {same}"))
    third = parsed.text.rindex(same)

    (found,) = anchors(parsed, third, third + len(same))

    assert found == Anchor(element="b2", start=2, end=2 + len(same))


def test_positions_count_code_points_through_diacritics_and_pairs() -> None:
    text = "كُتَّاَبْ 👩‍👩‍👧 e\u0301 بيوت نبات ثمار"
    parsed = document(("p", text))

    (found,) = anchors(parsed, text.index("نبات"), text.index("نبات") + 4)
    shown = page_of(parsed).bearers[found.element].text

    assert shown[found.start : found.end] == "نبات"
    utf16 = len(shown[: found.start].encode("utf-16-le")) // 2
    assert utf16 == found.start + 3, "what the page's JavaScript must add: one for each pair"


@pytest.mark.parametrize("kind", FORMATS)
def test_data_start_alone_leads_to_the_same_element(kind: str, tmp_path: Path) -> None:
    """A page needs no parse: the last element that starts at or before a position bears it."""
    parsed = load(make_document(kind, tmp_path, 4))
    starts = {bearer.start: name for name, bearer in page_of(parsed).bearers.items()}
    gaps = separators(parsed) | field_breaks(parsed)

    last = ""
    for position in range(len(parsed.text)):
        last = starts.get(position, last)
        if position not in gaps:
            assert [found.element for found in anchors(parsed, position, position + 1)] == [last]


@pytest.mark.parametrize("kind", FORMATS)
def test_parts_hold_the_whole_document_once_under_the_same_ids(kind: str, tmp_path: Path) -> None:
    parsed = load(make_document(kind, tmp_path, 5))
    whole = page_of(parsed)
    head = set(whole.under("thead"))

    at, found = 0, dict[str, str]()
    while at < len(parsed.text):
        part = render(parsed, TextRange(start=at, end=at + 300))
        for name, bearer in read_page(part.html).bearers.items():
            assert bearer == whole.bearers[name]
            assert name not in found or bearer.text in head
            found[name] = bearer.text
        assert part.end > at or part.start == part.end == at
        at = max(part.end, at + 300 if part.start == part.end else 0)

    assert found == {name: bearer.text for name, bearer in whole.bearers.items()}


def test_part_of_a_long_table_has_its_header_and_few_rows() -> None:
    rows = [["Ref", "Count"], *([f"R{i}", str(i)] for i in range(5_000))]
    parsed = document(("p", "Before."), ("table", rows), ("p", "After."))
    at = parsed.text.index("R2500 ")

    part = render(parsed, TextRange(start=at, end=at + 100))
    page = read_page(part.html)

    assert page.under("thead") == ["Ref", "Count"]
    assert page.under("tbody")[:2] == ["R2500", "2500"]
    assert len(page.under("tbody")) < 30
    assert page.under("p") == []
    assert parsed.text[part.start : part.end].startswith("R2500 | 2500\n")
    article = next(attributes for tag, attributes in page.tags if tag == "article")
    assert (article["data-from"], article["data-to"]) == (str(part.start), str(part.end))
    assert article["data-length"] == str(len(parsed.text))


def test_part_of_a_table_of_nothing_but_headers_is_small_too() -> None:
    builder = DocumentBuilder()
    builder.table([RowText(cells=(f"R{i}", "x"), header=True) for i in range(1_000)])
    parsed = builder.build(title="t", loader="test", version=1)
    at = parsed.text.index("R500 ")

    page = page_of(parsed, TextRange(start=at, end=at + 20))

    assert page.under("tbody")[:2] == ["R500", "x"]
    assert len(page.bearers) < 20


def test_paginated_document_lines_up_as_well(tmp_path: Path) -> None:
    lines = [f"Line {i} of the page says {words(random.Random(i), 2)}." for i in range(9)]
    ascii_lines = [line.encode("ascii", "ignore").decode() for line in lines]
    parsed = load(make_pdf(tmp_path / "a.pdf", [pdf_lines(ascii_lines), pdf_lines(["Two."])]))

    page = page_of(parsed)

    for bearer in page.bearers.values():
        assert bearer.text == parsed.text[bearer.start : bearer.end]
    assert sorted(set(page.places.values())) == ["page 1", "page 2"]
