"""Reported faults of tables: from the file to the row that is cited.

Spreadsheets and Word tables have theirs in `loaders/test_xlsx.py` and `loaders/test_docx.py`, PDF
tables in `loaders/test_pdf_tables.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from documents import make_csv, make_text
from fakes import WordCounter
from ingest.chunking_inputs import chunks_of, words
from office_documents import inline_row, make_xlsx
from rag_source.domain.chunks import Chunk
from rag_source.domain.documents import ParsedDocument
from rag_source.generation.prompts import build_prompt
from rag_source.generation.shelf import Passage
from rag_source.ingest.chunker import ChunkingPolicy
from rag_source.ingest.workers import ParserPool, WorkerPolicy
from reading import bm25, chunks_in, cite, read

NAMES = ["Region", "Quarter", "Product", "Sales", "Cost"]
HEADER = " | ".join(NAMES)
ROWS = [
    [f"Region {i}", f"Q{i % 4 + 1}", f"Product {i}", f"{1000 + i}", f"{i}"] for i in range(1, 81)
]
CHUNKS_OF_256 = ChunkingPolicy(target_tokens=256)

Write = Callable[[Path, Sequence[Sequence[str]]], Path]


def _markdown(rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|---" * len(rows[0]) + "|", *lines[1:]]) + "\n"


def _as_markdown(folder: Path, rows: Sequence[Sequence[str]]) -> Path:
    return make_text(folder / "sales.md", f"Sales of the regions:\n\n{_markdown(rows)}")


def _as_csv(folder: Path, rows: Sequence[Sequence[str]]) -> Path:
    return make_csv(folder / "sales.csv", [["Sales of the regions:"], *rows])


def _as_xlsx(folder: Path, rows: Sequence[Sequence[str]]) -> Path:
    lines = [["Sales of the regions:"], [], *rows]
    sheet = "".join(inline_row(i, line) for i, line in enumerate(lines, start=1))
    return make_xlsx(folder / "sales.xlsx", {"Sales": sheet})


def _best(question: str, chunks: Sequence[Chunk]) -> Chunk:
    return max(chunks, key=lambda chunk: bm25(question, chunk.text))


# B15

FORMATS = pytest.mark.parametrize(
    ("write", "first_row"),
    [
        pytest.param(_as_markdown, 2, id="markdown"),
        pytest.param(_as_csv, 3, id="csv"),
        pytest.param(_as_xlsx, 4, id="xlsx"),
    ],
)


@FORMATS
def test_every_piece_of_a_long_table_has_header_and_caption_and_whole_rows(
    tmp_path: Path, write: Write, first_row: int
) -> None:
    chunks = chunks_in(read(write(tmp_path, [NAMES, *ROWS])), CHUNKS_OF_256)

    tables = [chunk for chunk in chunks if HEADER in chunk.text]
    lines = [line for chunk in tables for line in chunk.text.split("\n")]
    assert len(tables) > 3
    assert all(chunk.text.count(HEADER) == 1 for chunk in tables)
    assert all("Sales of the regions:" in chunk.embedded_text for chunk in tables)
    assert all(words(chunk.text).llm <= 256 for chunk in chunks)
    assert [line for line in lines if line.startswith("Region ") and line != HEADER] == [
        " | ".join(row) for row in ROWS
    ]


@FORMATS
def test_row_77_is_found_and_cited_by_its_row_and_column(
    tmp_path: Path, write: Write, first_row: int
) -> None:
    parsed = read(write(tmp_path, [NAMES, *ROWS]))
    chunks = chunks_in(parsed, CHUNKS_OF_256)

    best = _best("What are the sales of Product 77?", chunks)

    row = cite(parsed, "Region 77 | Q2 | Product 77 | 1077 | 77", [best]).place.table
    value = cite(parsed, "1077", [best]).place.table
    assert row is not None
    assert value is not None
    assert row.row == value.row == first_row + 76
    assert (row.columns, value.columns) == (tuple(NAMES), ("Sales",))


# B16


def test_heading_over_a_table_is_kept_apart_from_its_header(tmp_path: Path) -> None:
    text = f"# Report\n\n## Regional\n{_markdown([NAMES, *ROWS])}"

    chunks = chunks_in(read(make_text(tmp_path / "a.md", text)), CHUNKS_OF_256)

    assert len(chunks) > 3
    assert all(HEADER in chunk.text for chunk in chunks)
    assert all(chunk.section == ("Report", "Regional") for chunk in chunks)
    assert all("Regional" in chunk.context for chunk in chunks)
    assert all("Regional" not in chunk.text for chunk in chunks[1:])


# B17


def test_table_of_bare_numbers_is_found_by_the_sentence_before_it(tmp_path: Path) -> None:
    figures = [["", "Q1", "Q2", "Q3", "Q4"], ["2023", "10", "11", "12", "13"]]
    figures.append(["2024", "20", "21", "22", "23"])
    filler = "\n\n".join(f"Paragraph {i} is about something else entirely." for i in range(40))
    text = f"{filler}\n\nQuarterly sales 2023-2024:\n\n{_markdown(figures)}\n{filler}\n"
    parsed = read(make_text(tmp_path / "a.md", text))
    chunks = chunks_in(parsed, CHUNKS_OF_256)

    best = _best("Q3 2024 sales?", chunks)

    assert best.kind == "table"
    assert "Quarterly sales 2023-2024:" in best.text
    table = cite(parsed, "22", [best]).place.table
    assert table is not None
    assert (table.row, table.columns) == (3, ("Q3",))


# B20 and B21


def test_value_below_a_merged_header_is_cited_by_its_header_path(tmp_path: Path) -> None:
    rows = inline_row(1, [2024]) + inline_row(2, ["Q1", "Q2", "Q3"]) + inline_row(3, [10, 20, 30])
    merged = f'<sheetData>{rows}</sheetData><mergeCells><mergeCell ref="A1:C1"/></mergeCells>'

    table = cite(read(make_xlsx(tmp_path / "a.xlsx", {"S": merged})), "20").place.table

    assert table is not None
    assert (table.sheet, table.row, table.columns) == ("S", 3, ("2024 / Q2",))


def test_every_row_carries_the_names_of_its_columns(tmp_path: Path) -> None:
    rows = [["Part", "Unit price"], ["Bolts", "0.12"], ["Nuts", "0.07"]]
    sheet = "".join(inline_row(i, row) for i, row in enumerate(rows, start=1))
    parsed = read(make_xlsx(tmp_path / "a.xlsx", {"Prices": sheet}))

    (packed,) = chunks_of(parsed, ChunkingPolicy())

    asked = "what is the unit price of bolts?"
    alone = [text for text in packed.sentence_texts if ":" in text]
    assert alone == ["Part: Bolts; Unit price: 0.12", "Part: Nuts; Unit price: 0.07"]
    assert max(alone, key=lambda text: bm25(asked, text)) == alone[0]


# B24


@pytest.mark.processes
async def test_giant_sheet_is_cut_in_pieces_that_fit_chunk_and_prompt(tmp_path: Path) -> None:
    rows: list[list[str | float | None]] = [[f"Column {i}" for i in range(20)]]
    rows += [[100.0 * i + column for column in range(20)] for i in range(5000)]
    sheet = "".join(inline_row(i, row) for i, row in enumerate(rows, start=1))
    policy = ChunkingPolicy()

    async with ParserPool(workers=WorkerPolicy(workers=1)) as pool:
        parsed = await pool.parse(make_xlsx(tmp_path / "a.xlsx", {"Data": sheet}))
    chunks = chunks_in(parsed, policy)

    assert len(parsed.blocks[1].rows) == 5001
    assert all("Column 0 | Column 1" in chunk.text for chunk in chunks)
    assert max(words(chunk.text).llm for chunk in chunks) <= policy.target_tokens
    assert max(words(chunk.embedded_text).embed for chunk in chunks) <= policy.embed_limit_tokens
    assert _prompt_tokens(chunks[:6], limit=1024) <= 1024


def _prompt_tokens(chunks: Sequence[Chunk], *, limit: int) -> int:
    counter = WordCounter()
    passages = [Passage(marker=i, chunk=chunk) for i, chunk in enumerate(chunks, start=1)]
    prompt = build_prompt(
        "What is in column 7?", passages, language="en", counter=counter, limit_tokens=limit
    )
    assert prompt.passages
    return sum(counter.count(message.content) for message in prompt.messages)


# B26


def test_line_breaks_in_fields_and_bad_rows_are_kept_with_their_lines(tmp_path: Path) -> None:
    text = 'id,note,price\n1,"two\nlines, with ""quotes""",5\n2,plain,6,extra\n3,last,7\n'

    parsed = read(make_text(tmp_path / "a.csv", text))

    (table,) = parsed.blocks
    places = [row.place.row for row in table.rows if row.place.kind == "row"]
    assert places == [1, 2, 4, 5]
    assert _cells(parsed)[1:] == [
        ["1", 'two lines, with "quotes"', "5"],
        ["2", "plain", "6", "extra"],
        ["3", "last", "7"],
    ]
    (malformed,) = (w.message for w in parsed.warnings if w.code == "rows_malformed")
    assert malformed.startswith("1 row does not have 3 fields (line 4)")


def _cells(parsed: ParsedDocument) -> list[list[str]]:
    rows = parsed.blocks[0].rows
    return [[parsed.text[cell.start : cell.end] for cell in row.cells] for row in rows]
