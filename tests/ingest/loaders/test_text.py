"""Plain text."""

from __future__ import annotations

from pathlib import Path

import pytest

from documents import make_text
from rag_source.domain.documents import ParsedDocument
from rag_source.domain.errors import SourceError
from rag_source.ingest.loaders.text import loader


def _load(tmp_path: Path, text: str, **options: object) -> ParsedDocument:
    return loader.load(make_text(tmp_path / "note.txt", text, **options))  # type: ignore[arg-type]


def test_blank_lines_part_paragraphs_and_nothing_is_added(tmp_path: Path) -> None:
    parsed = _load(tmp_path, "One\nstill one.\n\n \n\nTwo.\r\n\r\nThree.\n")

    assert parsed.text == "One\nstill one.\n\nTwo.\n\nThree."
    assert [parsed.text[b.start : b.end] for b in parsed.blocks] == [
        "One\nstill one.",
        "Two.",
        "Three.",
    ]


def test_long_lines_are_paragraphs_of_their_own(tmp_path: Path) -> None:
    line = "word " * 60

    assert len(_load(tmp_path, f"{line}\n{line}\n").blocks) == 2


def test_ligatures_are_kept_as_they_are(tmp_path: Path) -> None:
    assert "scienti\ufb01c" in _load(tmp_path, "A scienti\ufb01c note.").text


def test_title_is_a_first_line_that_stands_alone(tmp_path: Path) -> None:
    assert _load(tmp_path, "Warranty terms\n\nThe oven.").title == "Warranty terms"


def test_title_is_the_file_name_where_the_text_starts_at_once(tmp_path: Path) -> None:
    assert _load(tmp_path, "The oven is warm.\n\nIndeed.").title == "note"


def test_white_space_alone_is_no_text(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        _load(tmp_path, " \n\t\n")
    assert caught.value.code == "no_text"


def test_nul_in_a_text_never_reaches_the_document(tmp_path: Path) -> None:
    assert _load(tmp_path, "a long enough line with one \x00 in it").text.count("\x00") == 0


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "cp1256"])
def test_arabic_is_read_in_every_usual_encoding(tmp_path: Path, encoding: str) -> None:
    parsed = _load(tmp_path, "مدة ضمان الجهاز سنتان ابتداءً من تاريخ الشراء.", encoding=encoding)

    assert parsed.text == "مدة ضمان الجهاز سنتان ابتداءً من تاريخ الشراء."
    assert parsed.language == "ar"
