"""What `inspect` shows."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path

import pytest

from documents import make_csv, make_pdf, make_text, paragraph
from rag_source.domain.documents import ParsedDocument
from rag_source.domain.errors import RequestError
from rag_source.ingest.inspection import FileInspection, Selection, inspect, select_files
from rag_source.ingest.parsing import InProcessParser, Parser
from rag_source.ingest.registry import LoaderRegistry
from scans import picture_of, scanned_pdf, tesseract_saying, tsv_row

REGISTRY = LoaderRegistry()


async def look(path: Path, *, sample: int = 0) -> list[FileInspection]:
    """Everything that `inspect` says of a path."""
    parser = InProcessParser(REGISTRY)
    return [file async for file in inspect(select_files(path, sample=sample), parser=parser)]


async def test_folder_shows_every_file_with_its_state(tmp_path: Path) -> None:
    make_pdf(tmp_path / "a.pdf", [paragraph(["One page of words."])])
    make_csv(tmp_path / "b.csv", [["name", "price"], ["bowl", "2"]])
    make_text(tmp_path / "c.txt", "")
    make_text(tmp_path / "d.xyz", "x")

    files = await look(tmp_path)

    assert [(f.path, f.status, f.code, f.format, f.loader) for f in files] == [
        ("a.pdf", "ready", "", "pdf", "pdf"),
        ("b.csv", "ready", "", "csv", "delimited"),
        ("c.txt", "failed", "empty", "txt", "text"),
        ("d.xyz", "failed", "unsupported", "xyz", ""),
    ]
    pdf, table = files[:2]
    assert (pdf.pages, pdf.blocks, pdf.chunks, pdf.text) == (1, 1, 1, "One page of words.")
    assert (table.tables, table.chunks) == (1, 1)
    assert files[2].message


async def test_blocks_are_counted_by_kind_most_frequent_first(tmp_path: Path) -> None:
    text = "# Délais\n\nLe four est livré.\n\n- un\n- deux\n- trois\n\nLe prix est le même."
    (file,) = await look(make_text(tmp_path / "a.md", text))

    assert list(file.kinds.items()) == [("list_item", 3), ("paragraph", 2), ("heading", 1)]
    assert (file.blocks, file.language) == (6, "fr")


@pytest.mark.processes
async def test_pages_that_ocr_read_are_counted_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = paragraph(["Delivery note received"], x=40, y=60, size=14)
    boxes = [(100 + 130 * i, 130, 120, 30) for i in range(3)]
    rows = [tsv_row(*said) for said in zip(("Delivery", "note", "received"), boxes, strict=True)]
    tesseract_saying(tmp_path, monkeypatch, *rows)
    path = scanned_pdf(tmp_path / "mixed.pdf", [picture_of(tmp_path, lines), lines])

    (file,) = await look(path)

    assert (file.pages, file.ocr_pages) == (2, 1)
    assert [warning.code for warning in file.warnings] == ["ocr_pages"]


async def test_file_without_a_chunk_is_not_ready(tmp_path: Path) -> None:
    class Blank(InProcessParser):
        async def parse(self, path: Path, **_: object) -> ParsedDocument:
            return ParsedDocument(
                text="", blocks=(), title="", language="und", loader="text", loader_version=1
            )

    selection = select_files(make_text(tmp_path / "c.txt", "x"))
    (file,) = [file async for file in inspect(selection, parser=Blank(REGISTRY))]

    assert (file.status, file.code, file.chunks) == ("failed", "no_text", 0)


async def test_single_file_is_shown_by_its_name(tmp_path: Path) -> None:
    (file,) = await look(make_text(tmp_path / "c.txt", "Words."))

    assert (file.path, file.text) == ("c.txt", "Words.")


def test_missing_path_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(RequestError) as caught:
        select_files(tmp_path / "nothing")
    assert caught.value.code == "not_found"


async def test_name_that_is_not_utf8_is_listed_as_unreadable(tmp_path: Path) -> None:
    make_text(tmp_path / "a.txt", "Words.")
    (tmp_path / "caf\udce9.txt").write_bytes(b"x")

    readable, nameless = await look(tmp_path)

    assert readable.status == "ready"
    assert (nameless.status, nameless.code) == ("failed", "unreadable")
    nameless.path.encode("utf-8")


def test_sample_says_how_many_files_it_leaves_out(tmp_path: Path) -> None:
    for i in range(5):
        make_text(tmp_path / f"{i}.txt", "Words.")

    assert select_files(tmp_path, sample=2).left_out == 3
    assert select_files(tmp_path, sample=9).left_out == 0
    assert select_files(tmp_path).left_out == 0


class _Slow(Parser):
    """Parses a file when it is told to, and counts what it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.go = asyncio.Event()
        self.cancelled = 0

    async def parse(self, path: Path, **_: object) -> ParsedDocument:
        self.asked.append(path.name)
        try:
            if path.name != "0.txt":
                await self.go.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return ParsedDocument(
            text="", blocks=(), title="", language="und", loader="text", loader_version=1
        )


def _selection(names: Sequence[str]) -> Selection:
    return Selection(files=tuple((Path(name), name) for name in names))


async def test_first_file_is_shown_before_the_last_one_is_even_asked_for() -> None:
    parser = _Slow()
    names = [f"{i}.txt" for i in range(1000)]

    async with aclosing(inspect(_selection(names), parser=parser, registry=REGISTRY)) as files:
        async for file in files:
            assert file.path == "0.txt"
            assert len(parser.asked) < 1000
            break


async def test_leaving_early_ends_the_parses_that_are_under_way() -> None:
    parser = _Slow()
    names = [f"{i}.txt" for i in range(1000)]

    async with aclosing(inspect(_selection(names), parser=parser, registry=REGISTRY)) as files:
        await anext(files)

    assert parser.cancelled == len(parser.asked) - 1 > 0
