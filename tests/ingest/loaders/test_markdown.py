"""Markdown."""

from __future__ import annotations

from pathlib import Path

import pytest

from documents import make_text
from rag_source.domain.documents import ParsedDocument
from rag_source.domain.errors import SourceError
from rag_source.ingest.loaders.markdown import loader


def _load(tmp_path: Path, text: str) -> ParsedDocument:
    return loader.load(make_text(tmp_path / "notes.md", text))


def _blocks(parsed: ParsedDocument) -> list[tuple[str, str]]:
    return [(b.kind, parsed.text[b.start : b.end]) for b in parsed.blocks]


def test_headings_of_both_styles_make_the_section_path(tmp_path: Path) -> None:
    parsed = _load(
        tmp_path, "Manual\n======\n\nIntro.\n\n## Care\n\n### Plate\n\nWash.\n\n## Codes\n\nE07.\n"
    )

    assert parsed.title == "Manual"
    sections = {parsed.text[b.start : b.end]: b.section for b in parsed.blocks}
    assert sections["Intro."] == ("Manual",)
    assert sections["Wash."] == ("Manual", "Care", "Plate")
    assert sections["E07."] == ("Manual", "Codes")


def test_markup_goes_and_words_stay(tmp_path: Path) -> None:
    parsed = _load(tmp_path, "A **bold** [link](http://x.y) and `E07` &eacute;\\*.\n")

    assert parsed.text == "A bold link and E07 é*."


def test_nested_list_items_are_blocks(tmp_path: Path) -> None:
    parsed = _load(tmp_path, "- one\n  - two\n    1. three\n- four\n")

    assert _blocks(parsed) == [("list_item", word) for word in ("one", "two", "three", "four")]


def test_list_thirty_levels_deep_loses_no_text(tmp_path: Path) -> None:
    text = "\n".join(f"{'  ' * depth}- level{depth}" for depth in range(30))

    assert "level29" in _load(tmp_path, text).text


def test_table_keeps_cells_and_marks_its_header(tmp_path: Path) -> None:
    parsed = _load(tmp_path, "| Code | Meaning |\n|---|---|\n| E07 | door **open** |\n| E09 | |\n")

    (block,) = parsed.blocks
    assert parsed.text == "Code | Meaning\nE07 | door open\nE09 | "
    assert [row.header for row in block.rows] == [True, False, False]
    cell = block.rows[1].cells[1]
    assert parsed.text[cell.start : cell.end] == "door open"


def test_code_is_kept_and_not_parsed(tmp_path: Path) -> None:
    parsed = _load(tmp_path, "```sh\n# not a heading\n- not a list\n```\n")

    assert _blocks(parsed) == [("paragraph", "# not a heading\n- not a list")]


def test_front_matter_names_the_document_and_stays_searchable(tmp_path: Path) -> None:
    parsed = _load(tmp_path, '---\ntitle: "Stock rules"\nowner: Idir\n---\n\n# Other\n\nText.\n')

    assert parsed.title == "Stock rules"
    assert _blocks(parsed)[0] == ("record", 'title: "Stock rules"\nowner: Idir')


def test_html_inside_is_read_as_html(tmp_path: Path) -> None:
    parsed = _load(tmp_path, "Before.\n\n<div><b>Inside</b><script>no()</script></div>\n\nAfter.\n")

    assert parsed.text == "Before.\n\nInside\n\nAfter."


def test_no_words_is_no_text(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        _load(tmp_path, "\n---\n\n")
    assert caught.value.code == "no_text"
