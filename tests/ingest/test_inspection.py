"""What `inspect` shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from documents import make_csv, make_pdf, make_text, paragraph
from rag_source.domain.errors import RequestError
from rag_source.ingest.inspection import inspect
from rag_source.ingest.parsing import InProcessParser
from rag_source.ingest.registry import LoaderRegistry

PARSER = LoaderRegistry()


async def test_folder_shows_every_file_with_its_state(tmp_path: Path) -> None:
    make_pdf(tmp_path / "a.pdf", [paragraph(["One page of words."])])
    make_csv(tmp_path / "b.csv", [["name", "price"], ["bowl", "2"]])
    make_text(tmp_path / "c.txt", "")
    make_text(tmp_path / "d.xyz", "x")

    files = await inspect(tmp_path, parser=InProcessParser(PARSER))

    assert [(f.path, f.status, f.code, f.loader) for f in files] == [
        ("a.pdf", "ready", "", "pdf"),
        ("b.csv", "ready", "", "delimited"),
        ("c.txt", "failed", "empty", "text"),
        ("d.xyz", "failed", "unsupported", ""),
    ]
    pdf, table = files[:2]
    assert (pdf.pages, pdf.blocks, pdf.chunks, pdf.text) == (1, 1, 1, "One page of words.")
    assert (table.tables, table.chunks) == (1, 1)
    assert files[2].message


async def test_single_file_is_shown_by_its_name(tmp_path: Path) -> None:
    path = make_text(tmp_path / "c.txt", "Words.")

    (file,) = await inspect(path, parser=InProcessParser(PARSER))

    assert (file.path, file.text) == ("c.txt", "Words.")


async def test_missing_path_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(RequestError) as caught:
        await inspect(tmp_path / "nothing", parser=InProcessParser(PARSER))
    assert caught.value.code == "not_found"
