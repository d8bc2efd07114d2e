"""A format is a module: nothing else lists it."""

from __future__ import annotations

from pathlib import Path

import pytest

from rag_source.domain.documents import ParsedDocument
from rag_source.ingest.registry import LoaderRegistry


class _Loader:
    version = 1

    def __init__(self, name: str, *suffixes: str) -> None:
        self.name = name
        self.suffixes = suffixes

    def load(self, path: Path) -> ParsedDocument:
        raise NotImplementedError(path)


def test_every_module_of_the_package_is_found() -> None:
    registry = LoaderRegistry()

    assert {".csv", ".htm", ".html", ".md", ".pdf", ".tsv", ".txt", ".xhtml"} <= set(
        registry.suffixes
    )


def test_suffix_is_matched_whatever_its_case() -> None:
    loader = LoaderRegistry().loader_for("Reports/ANNUAL.PDF")

    assert loader is not None
    assert loader.name == "pdf"


def test_unknown_suffix_has_no_loader() -> None:
    assert LoaderRegistry().loader_for("archive.xyz") is None


def test_two_loaders_for_one_suffix_are_refused() -> None:
    with pytest.raises(ValueError, match="both claim"):
        LoaderRegistry([_Loader("one", ".a"), _Loader("two", ".a")])


def test_suffixes_are_lower_case_with_a_dot() -> None:
    assert all(s.startswith(".") and s == s.lower() for s in LoaderRegistry().suffixes)
