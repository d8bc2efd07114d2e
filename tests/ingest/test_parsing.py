"""Loaders run where they can do no harm."""

from __future__ import annotations

from pathlib import Path

import pytest

from documents import make_pdf, make_text, paragraph
from ingest.worker_faults import die, hang
from rag_source.domain.documents import ParsedDocument
from rag_source.domain.errors import SourceError
from rag_source.ingest import parsing
from rag_source.ingest.parsing import InProcessParser, ParserProcess, ParsingPolicy
from rag_source.ingest.registry import LoaderRegistry


class _Broken:
    name = "broken"
    version = 1
    suffixes = (".brk",)

    def load(self, path: Path) -> ParsedDocument:
        raise KeyError(path.name)


async def _code(parser: parsing.Parser, path: Path) -> str:
    with pytest.raises(SourceError) as caught:
        await parser.parse(path)
    assert caught.value.message.startswith(repr(path.name))
    return caught.value.code


async def test_worker_parses_and_passes_on_reasons(tmp_path: Path) -> None:
    good = make_pdf(tmp_path / "a.pdf", [paragraph(["Some words"])])
    empty = make_text(tmp_path / "b.txt", "")

    async with ParserProcess() as parser:
        assert (await parser.parse(good)).text == "Some words"
        assert await _code(parser, empty) == "empty"


async def test_parser_that_hangs_is_ended_and_the_next_file_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_text(tmp_path / "a.txt", "words")
    async with ParserProcess(ParsingPolicy(timeout_s=2)) as parser:
        monkeypatch.setattr(parsing, "_parse_in_worker", hang)
        assert await _code(parser, path) == "timeout"
    monkeypatch.undo()
    async with ParserProcess() as parser:
        assert (await parser.parse(path)).text == "words"


async def test_parser_that_dies_costs_its_worker_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = make_text(tmp_path / "a.txt", "words")
    async with ParserProcess() as parser:
        with monkeypatch.context() as patch:
            patch.setattr(parsing, "_parse_in_worker", die)
            assert await _code(parser, path) == "parser_error"
        assert (await parser.parse(path)).text == "words"


async def test_fault_of_a_loader_is_a_parser_error_that_names_it(tmp_path: Path) -> None:
    path = make_text(tmp_path / "a.brk", "x")
    parser = InProcessParser(LoaderRegistry([_Broken()]))

    with pytest.raises(SourceError, match="KeyError") as caught:
        await parser.parse(path)
    assert caught.value.code == "parser_error"


async def test_file_over_the_size_limit_is_too_large(tmp_path: Path) -> None:
    path = make_text(tmp_path / "a.txt", "x" * 100)

    parser = InProcessParser(LoaderRegistry(), ParsingPolicy(limit_bytes=99))

    assert await _code(parser, path) == "too_large"


async def test_unknown_format_is_unsupported_and_missing_file_unreadable(tmp_path: Path) -> None:
    parser = InProcessParser(LoaderRegistry())

    assert await _code(parser, make_text(tmp_path / "a.xyz", "x")) == "unsupported"
    assert await _code(parser, tmp_path / "gone.txt") == "unreadable"
