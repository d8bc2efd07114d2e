"""Loaders run where they can do no harm."""

from __future__ import annotations

from pathlib import Path

import pytest

from documents import make_text
from rag_source.domain.documents import ParsedDocument
from rag_source.domain.errors import SourceError
from rag_source.ingest import parsing
from rag_source.ingest.parsing import InProcessParser, ParsingPolicy
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
