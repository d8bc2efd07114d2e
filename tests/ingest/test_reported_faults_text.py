"""Reported faults of text, HTML and Arabic matching, from the file to the quoted words."""

from __future__ import annotations

from pathlib import Path

import pytest

from documents import make_html, make_text
from reading import bm25, cite, read

# B02


@pytest.mark.parametrize(
    ("word", "written"), [("scientific", "scienti\ufb01c"), ("efficient", "e\ufb03cient")]
)
def test_word_with_a_ligature_is_found_and_quoted_in_a_text_file(
    tmp_path: Path, word: str, written: str
) -> None:
    parsed = read(make_text(tmp_path / "a.txt", "The scienti\ufb01c and e\ufb03cient work."))

    cited = cite(parsed, word)

    assert bm25(word, parsed.text) > 0
    assert (cited.quote.score, cited.words) == (97, written)
    assert parsed.text[cited.place.start : cited.place.end] == written


# B04


@pytest.mark.parametrize(
    ("asked", "written"),
    [
        pytest.param("environmental", "environ-\nmental", id="cut"),
        pytest.param("environmental", "environ\u2010\nmental", id="cut-u2010"),
        pytest.param("environmental", "environ\u00ad\nmental", id="cut-soft"),
        pytest.param("well-known", "well-\nknown", id="kept"),
        pytest.param("well-known", "well\u2011\nknown", id="kept-u2011"),
    ],
)
def test_word_at_a_line_end_is_found_and_quoted_in_a_text_file(
    tmp_path: Path, asked: str, written: str
) -> None:
    parsed = read(make_text(tmp_path / "a.txt", f"It is an {written} policy of the firm."))
    cited = cite(parsed, f"an {asked} policy")

    assert bm25(asked, parsed.text) > 0
    assert cited.quote.score == 97
    assert cited.words == f"an {written} policy"


# B27

FRENCH = "L’été : th&eacute; &amp; caf&eacute;&nbsp;vert &#147;5 kg&#148;"
ARABIC = "إذن تسليم &amp; caf&eacute;&nbsp;vert &#147;5 kg&#148;"


@pytest.mark.parametrize(
    ("body", "head", "encoding", "bom"),
    [
        pytest.param(ARABIC, '<meta charset="windows-1256">', "cp1256", False, id="windows-1256"),
        pytest.param(
            FRENCH,
            '<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-1">',
            "cp1252",
            False,
            id="latin-1-is-cp1252",
        ),
        pytest.param(FRENCH, "", "cp1252", False, id="undeclared-cp1252"),
        pytest.param(FRENCH, "", "utf-16-le", True, id="utf-16-mark"),
        pytest.param(
            FRENCH, '<meta charset="windows-1256">', "utf-16-le", True, id="mark-over-declaration"
        ),
        pytest.param(ARABIC, '<meta charset="iso-8859-1">', "utf-8", False, id="utf-8-over-label"),
    ],
)
def test_page_is_read_in_its_encoding_and_a_no_break_space_matches_a_space(
    tmp_path: Path, body: str, head: str, encoding: str, bom: bool
) -> None:
    path = make_html(tmp_path / "a.html", f"<p>{body}</p>", head=head, encoding=encoding, bom=bom)

    parsed = read(path)
    cited = cite(parsed, 'café vert "5 kg"')

    start = "إذن تسليم & " if body is ARABIC else "L’été : thé & "
    assert parsed.text == f"{start}café\u00a0vert “5 kg”"
    assert (cited.quote.score, cited.words) == (97, "café\u00a0vert “5 kg”")


# B32


@pytest.mark.parametrize(
    ("query", "written"),
    [
        pytest.param("نبات", "نبات", id="after-diacritics"),
        pytest.param("كتاب", "كُتَّاَبْ", id="under-diacritics"),
        pytest.param("كُتّاب", "كُتَّاَبْ", id="other-diacritics"),
        pytest.param("ثمار", "ثمــار", id="tatweel"),
        pytest.param("ارز", "أرز", id="alef-in-the-document"),
        pytest.param("أرز", "ارز", id="alef-in-the-question"),
        pytest.param("مدى", "مدي", id="ya"),
    ],
)
def test_arabic_word_is_found_and_its_own_letters_are_marked(
    tmp_path: Path, query: str, written: str
) -> None:
    words = ["كُتَّاَبْ", "بيوت", "نبات", "ثمار"]
    words = [*words[:3], written] if written not in words else words
    parsed = read(make_text(tmp_path / "a.txt", " ".join(words)))

    cited = cite(parsed, query)

    assert bm25(query, parsed.text) > 0
    assert cited.words == written
    assert parsed.text[cited.place.start : cited.place.end] == written
