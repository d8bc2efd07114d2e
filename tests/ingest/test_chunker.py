"""Chunks follow the structure, keep sentences and rows whole, and stay within their limits."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.chunking_inputs import OVERHEAD, chunks_of, document, sentence, words
from rag_source.domain.documents import ParsedDocument
from rag_source.domain.folding import fold
from rag_source.domain.sentences import split_sentences
from rag_source.ingest.chunker import ChunkingPolicy

SMALL = ChunkingPolicy(
    target_tokens=64, embed_limit_tokens=96, smallest_section_tokens=12, introduction_tokens=16
)
ROWS = [["Region", "Quarter", "Sales"], *([f"R{i}", f"Q{i % 4}", f"{i * 10}"] for i in range(80))]


def test_short_document_is_one_chunk() -> None:
    parsed = document(("h1", "Care"), ("p", "Wash the plate. Dry it."))

    (packed,) = chunks_of(parsed)

    assert packed.chunk.text == parsed.text
    assert packed.chunk.section == ("Care",)
    assert packed.sentence_texts == ("Care", "Wash the plate.", "Dry it.")


def test_heading_opens_a_chunk_and_is_part_of_it() -> None:
    prose = " ".join(sentence(i) for i in range(3))
    parsed = document(("h1", "One"), ("p", prose), ("h1", "Two"), ("p", prose))

    first, second = (packed.chunk for packed in chunks_of(parsed, SMALL))

    assert first.text.startswith("One\n\n")
    assert second.text.startswith("Two\n\n")
    assert second.section == ("Two",)


def test_tiny_sections_of_one_parent_share_a_chunk() -> None:
    parsed = document(
        ("h1", "Codes"), ("h2", "E01"), ("p", "Sensor open."), ("h2", "E03"), ("p", "Key stuck.")
    )

    (packed,) = chunks_of(parsed, SMALL)

    assert packed.chunk.section == ("Codes",)


def test_tiny_sections_of_two_parents_stay_apart() -> None:
    long = " ".join(sentence(i) for i in range(3))
    parsed = document(
        ("h1", "A"), ("h2", "A1"), ("p", long), ("h2", "A2"), ("p", "Short."), ("h1", "B"),
        ("p", long),
    )  # fmt: skip

    texts = [packed.chunk.text for packed in chunks_of(parsed, SMALL)]

    assert texts[-1].startswith("B\n\n")


@pytest.mark.parametrize("before", ["p", "table"])
def test_last_heading_with_nothing_under_it_is_never_a_chunk(before: str) -> None:
    content: object = " ".join(sentence(i) for i in range(4)) if before == "p" else ROWS[:4]

    chunks = chunks_of(document((before, content), ("h1", "Appendix")), SMALL)

    assert chunks[-1].chunk.text.endswith("\n\nAppendix")


def test_overlap_repeats_whole_sentences_of_the_same_section_only() -> None:
    parsed = document(
        ("h1", "One"), ("p", " ".join(sentence(i) for i in range(20))),
        ("h1", "Two"), ("p", " ".join(sentence(i) for i in range(20, 40))),
    )  # fmt: skip

    chunks = [p.chunk for p in chunks_of(parsed, ChunkingPolicy(target_tokens=128))]

    for before, after in pairwise(chunks):
        shared = set(split_texts(before.text)) & set(split_texts(after.text))
        assert bool(shared) == (before.section == after.section)


def test_last_part_of_a_section_is_not_a_scrap() -> None:
    parsed = document(("p", " ".join(sentence(i) for i in range(10))))

    sizes = [words(packed.chunk.text).llm for packed in chunks_of(parsed, SMALL)]

    assert len(sizes) > 1
    assert min(sizes) > 0.5 * max(sizes)


def test_every_part_of_a_table_has_its_header_caption_and_whole_rows() -> None:
    parsed = document(("h2", "Regional"), ("p", "Quarterly sales 2023-2024:"), ("table", ROWS))

    chunks = [packed.chunk for packed in chunks_of(parsed, SMALL)]

    assert len(chunks) > 2
    for chunk in chunks:
        assert chunk.kind == "table"
        assert "Quarterly sales 2023-2024:" in chunk.text
        assert "Region | Quarter | Sales\n" in chunk.text
        assert chunk.section == ("Regional",)
    rows = [line for chunk in chunks for line in chunk.text.split("\n") if line.startswith("R")]
    assert [row for row in rows if not row.startswith("Region")] == [
        " | ".join(row) for row in ROWS[1:]
    ]


def test_table_is_a_chunk_of_its_own_between_paragraphs() -> None:
    prose = " ".join(sentence(i) for i in range(3))
    parsed = document(("p", prose), ("table", ROWS[:4]), ("p", prose))

    assert [packed.chunk.kind for packed in chunks_of(parsed, SMALL)] == ["text", "table", "text"]


def test_row_stands_alone_with_the_names_of_its_columns() -> None:
    (packed,) = chunks_of(document(("table", ROWS[:2])))

    assert packed.sentence_texts[-1] == "Region: R0; Quarter: Q0; Sales: 0"


def test_row_too_long_for_any_chunk_is_cut_at_a_cell() -> None:
    row = [f"cell{i} " + "long " * 20 for i in range(8)]

    chunks = [p.chunk for p in chunks_of(document(("table", [["a", "b"], row])), SMALL)]

    assert len(chunks) > 1
    lines = [line for chunk in chunks for line in chunk.text.split("\n") if line != "a | b"]
    assert all(line.startswith("cell") for line in lines)


def test_sentence_too_long_for_any_chunk_is_cut_at_a_space() -> None:
    parsed = document(("p", "word " * 400))

    for packed in chunks_of(parsed, SMALL):
        assert set(packed.chunk.text.split()) == {"word"}


def test_sentence_that_crosses_a_page_is_whole_and_the_footer_comes_after() -> None:
    parsed = document(
        ("p", "The turntable must be"), ("note", "Page 1 of 2"), ("page", ""),
        ("p", "washed by hand. Never alone."), paged=True,
    )  # fmt: skip

    (packed,) = chunks_of(parsed)

    assert packed.sentence_texts[0] == "The turntable must be washed by hand."
    first = packed.chunk.sentences[0]
    quoted = packed.chunk.text[first.start : first.end]
    assert fold(quoted).text == "The turntable must be washed by hand."
    ranges = packed.chunk.document_ranges(first.start, first.end)
    assert [parsed.text[r.start : r.end] for r in ranges] == [
        "The turntable must be",
        "washed by hand.",
    ]


def test_page_number_is_in_the_text_but_no_sentence() -> None:
    parsed = document(("p", "The text is here."), ("note", "Page 7"), paged=True)

    (packed,) = chunks_of(parsed)

    assert "Page 7" in packed.chunk.text
    assert packed.sentence_texts == ("The text is here.",)


def test_lines_broken_on_purpose_are_sentences() -> None:
    (packed,) = chunks_of(document(("p", "Order BC-7781\nTotal : 3 240 units\nPaid in March")))

    assert packed.sentence_texts == ("Order BC-7781", "Total : 3 240 units", "Paid in March")


def test_wrapped_lines_are_one_sentence() -> None:
    text = "The storage charge of 210 euros is ours to pay, please do\nnot accept it from the yard."

    (packed,) = chunks_of(document(("p", text)))

    assert len(packed.sentence_texts) == 1


def test_context_situates_and_is_no_part_of_the_text() -> None:
    parsed = document(("h1", "Care"), ("h2", "Plate"), ("p", "Wash it."), title="Oven MW-104")

    (packed,) = chunks_of(parsed)

    assert packed.chunk.context == "Oven MW-104 › Care › Plate"
    assert packed.chunk.embedded_text.startswith("Oven MW-104 › Care › Plate\n")


def test_title_that_is_the_first_heading_is_said_once() -> None:
    (packed,) = chunks_of(document(("h1", "Oven"), ("p", "Wash it."), title="Oven"))

    assert packed.chunk.context == "Oven"


def test_ids_are_the_same_for_the_same_file_and_differ_in_a_document() -> None:
    parsed = document(("p", " ".join(sentence(i) for i in range(30))))

    ids = [packed.chunk.chunk_id for packed in chunks_of(parsed, SMALL)]

    assert ids == [packed.chunk.chunk_id for packed in chunks_of(parsed, SMALL)]
    assert len(set(ids)) == len(ids)


def test_document_without_blocks_has_no_chunks() -> None:
    assert chunks_of(document()) == ()


@pytest.mark.parametrize(
    "wrong", [{"target_tokens": 1}, {"embed_limit_tokens": 9}, {"overlap": 0.9}]
)
def test_policy_refuses_values_out_of_bounds(wrong: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="must be"):
        ChunkingPolicy(**wrong)  # type: ignore[arg-type]


def split_texts(text: str) -> list[str]:
    return [text[r.start : r.end] for r in split_sentences(text)]


_WORD = st.text(alphabet="abcdefgéàسلام12", min_size=1, max_size=12)
_SENTENCE = st.lists(_WORD, min_size=1, max_size=20).map(lambda ws: "X" + " ".join(ws) + ".")
_PROSE = st.lists(_SENTENCE, min_size=1, max_size=8).map(" ".join)
_TABLE = st.integers(1, 5).flatmap(
    lambda width: st.lists(
        st.lists(_WORD | st.just(""), min_size=width, max_size=width), min_size=1, max_size=30
    )
)
_BLOCK = st.one_of(
    st.tuples(st.sampled_from(["h1", "h2", "h3"]), _WORD),
    st.tuples(st.sampled_from(["p", "li", "note"]), _PROSE),
    st.tuples(st.just("table"), _TABLE),
    st.tuples(st.just("page"), st.just("")),
)
_DOCUMENT = st.builds(
    lambda blocks, paged: document(*blocks, paged=paged),
    st.lists(_BLOCK, min_size=1, max_size=9),
    st.booleans(),
)


@given(_DOCUMENT)
@settings(max_examples=60, deadline=None)
def test_segments_equal_the_document_text_they_point_to(parsed: ParsedDocument) -> None:
    for packed in chunks_of(parsed, SMALL):
        chunk = packed.chunk
        end = 0
        for segment in chunk.segments:
            length = segment.end - segment.start
            source = parsed.text[segment.document_start : segment.document_start + length]
            assert chunk.text[segment.start : segment.end] == source
            assert not chunk.text[end : segment.start].strip()
            end = segment.end
        assert end == len(chunk.text)


@given(_DOCUMENT)
@settings(max_examples=60, deadline=None)
def test_every_character_of_the_document_is_in_some_chunk(parsed: ParsedDocument) -> None:
    covered: set[int] = set()
    for packed in chunks_of(parsed, SMALL):
        for segment in packed.chunk.segments:
            length = segment.end - segment.start
            covered.update(range(segment.document_start, segment.document_start + length))

    missing = [i for i, c in enumerate(parsed.text) if not c.isspace() and i not in covered]

    assert [parsed.text[i] for i in missing if parsed.text[i] != "|"] == []


@given(_DOCUMENT)
@settings(max_examples=60, deadline=None)
def test_chunks_stay_within_both_limits(parsed: ParsedDocument) -> None:
    for packed in chunks_of(parsed, SMALL):
        assert words(packed.chunk.text).llm <= SMALL.target_tokens
        embedded = words(packed.chunk.embedded_text).embed + OVERHEAD
        assert embedded <= SMALL.embed_limit_tokens


def test_list_item_too_long_for_a_chunk_falls_into_its_sentences() -> None:
    sentences = [f"N{n} {'1 ' * 10}end." for n in range(9)]
    item = " ".join(sentences)
    assert len(item) <= 300
    assert words(item).llm > SMALL.target_tokens
    texts = [packed.chunk.text for packed in chunks_of(document(("h1", "A"), ("li", item)), SMALL)]
    assert len(texts) > 1
    for whole in sentences:
        assert any(whole in text for text in texts)


@given(_DOCUMENT)
@settings(max_examples=60, deadline=None)
def test_no_sentence_that_fits_a_chunk_is_cut(parsed: ParsedDocument) -> None:
    texts = [fold(packed.chunk.text).text for packed in chunks_of(parsed, SMALL)]
    for block in parsed.blocks:
        if block.kind == "table":
            pieces = [parsed.text[row.start : row.end] for row in block.rows]
        else:
            pieces = split_texts(parsed.text[block.start : block.end])
        for piece in pieces:
            if words(piece).llm <= 40:
                assert any(fold(piece).text in text for text in texts), piece


@given(_DOCUMENT)
@settings(max_examples=60, deadline=None)
def test_no_chunk_is_headings_alone_beside_others(parsed: ParsedDocument) -> None:
    headings = [b for b in parsed.blocks if b.kind == "heading"]
    if all(block.kind in ("heading", "note") for block in parsed.blocks):
        return
    for packed in chunks_of(parsed, SMALL):
        starts = {segment.document_start for segment in packed.chunk.segments}
        ends = {s.document_start + s.end - s.start for s in packed.chunk.segments}
        assert not any(starts == {b.start} and ends == {b.end} for b in headings)


@given(_DOCUMENT)
@settings(max_examples=60, deadline=None)
def test_each_sentence_has_its_text_and_lies_in_its_chunk(parsed: ParsedDocument) -> None:
    for packed in chunks_of(parsed, SMALL):
        assert len(packed.sentence_texts) == len(packed.chunk.sentences)
        end = 0
        for whole in packed.chunk.sentences:
            assert end <= whole.start < whole.end <= len(packed.chunk.text)
            end = whole.end
