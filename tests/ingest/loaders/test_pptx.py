"""Presentations."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from office_documents import make_pptx, shape, slide
from rag_source.domain.documents import ParsedDocument, SlidePlace
from rag_source.domain.errors import SourceError
from rag_source.ingest.loaders.pptx import loader


def _load(tmp_path: Path, *slides: str, **options: object) -> ParsedDocument:
    return loader.load(make_pptx(tmp_path / "a.pptx", slides, **options))  # type: ignore[arg-type]


def _blocks(parsed: ParsedDocument) -> list[tuple[str, str]]:
    return [(b.kind, parsed.text[b.start : b.end]) for b in parsed.blocks]


def _warnings(parsed: ParsedDocument) -> dict[str, str]:
    return {warning.code: warning.message for warning in parsed.warnings}


def _table(*rows: str, properties: str = "") -> str:
    body = "".join(f"<a:tr>{row}</a:tr>" for row in rows)
    return (
        "<p:graphicFrame><p:xfrm><a:off x='0' y='500'/><a:ext cx='900' cy='100'/></p:xfrm>"
        f"<a:graphic><a:graphicData><a:tbl><a:tblPr {properties}/>{body}</a:tbl>"
        "</a:graphicData></a:graphic></p:graphicFrame>"
    )


def _tc(text: str, attributes: str = "") -> str:
    paragraph = f"<a:p><a:r><a:t>{text}</a:t></a:r></a:p>"
    return f"<a:tc {attributes}><a:txBody>{paragraph}</a:txBody></a:tc>"


def test_slides_come_in_order_with_title_body_and_notes(tmp_path: Path) -> None:
    parsed = _load(
        tmp_path,
        slide(
            shape("Grease it\nTurn it", at=(0, 200), placeholder="body"),
            shape("Turntable", at=(0, 0), placeholder="title"),
            shape("7", at=(900, 900), placeholder="sldNum"),
        ),
        slide(shape("No title here", at=(0, 0))),
        notes={1: "Say it slowly."},
    )
    assert _blocks(parsed) == [
        ("heading", "Turntable"),
        ("list_item", "Grease it"),
        ("list_item", "Turn it"),
        ("note", "Say it slowly."),
        ("paragraph", "No title here"),
    ]
    assert [block.place for block in parsed.blocks] == [SlidePlace(slide=1)] * 4 + [
        SlidePlace(slide=2)
    ]
    assert [block.section for block in parsed.blocks][-2:] == [("Turntable",), ()]


def test_shapes_are_read_from_top_to_bottom_then_from_the_left(tmp_path: Path) -> None:
    places = {"D": (500, 300), "B": (500, 0), "C": (0, 300), "A": (0, 10)}
    parsed = _load(tmp_path, slide(*(shape(name, at=at) for name, at in places.items())))
    assert [text for _, text in _blocks(parsed)] == ["A", "B", "C", "D"]


def test_columns_of_uneven_boxes_are_read_one_after_the_other(tmp_path: Path) -> None:
    boxes = [
        shape("R1", at=(500, 0), size=(400, 150)),
        shape("L2", at=(0, 120), size=(400, 200)),
        shape("L1", at=(0, 0), size=(400, 100)),
        shape("R2", at=(500, 170), size=(400, 150)),
    ]
    assert [text for _, text in _blocks(_load(tmp_path, slide(*boxes)))] == ["L1", "L2", "R1", "R2"]


def test_arabic_slides_are_read_from_the_right(tmp_path: Path) -> None:
    parsed = _load(tmp_path, slide(shape("ثانيا", at=(0, 0)), shape("أولا", at=(500, 0))))
    assert [text for _, text in _blocks(parsed)] == ["أولا", "ثانيا"]


def test_a_placeholder_without_a_place_has_that_of_its_layout(tmp_path: Path) -> None:
    layout = slide(shape("", at=(0, 0), placeholder="body"))
    body = shape("First", placeholder="body")
    parsed = _load(
        tmp_path,
        slide(shape("Second", at=(0, 400)), body),
        linked={1: {"rIdL": ("slideLayout", layout)}},
    )
    assert [text for _, text in _blocks(parsed)] == ["First", "Second"]


def test_groups_are_read_together(tmp_path: Path) -> None:
    frame = "<p:grpSpPr><a:xfrm><a:off x='0' y='0'/><a:ext cx='400' cy='900'/></a:xfrm></p:grpSpPr>"
    inner = shape("G2", at=(0, 500)) + shape("G1", at=(0, 0))
    group = f"<p:grpSp>{frame}<p:grpSp>{frame}{inner}</p:grpSp></p:grpSp>"
    parsed = _load(tmp_path, slide(shape("Right", at=(600, 100)), group))
    assert [text for _, text in _blocks(parsed)] == ["G1", "G2", "Right"]


def test_a_table_with_merged_cells_has_header_paths(tmp_path: Path) -> None:
    table = _table(
        _tc("Region", "rowSpan='2'") + _tc("2024", "gridSpan='2'") + _tc("", "hMerge='1'"),
        _tc("", "vMerge='1'") + _tc("Q1") + _tc("Q2"),
        _tc("North") + _tc("1") + _tc("2"),
        properties="firstRow='1'",
    )
    parsed = _load(tmp_path, slide(shape("Sales by region:", at=(0, 0)), table))
    assert _blocks(parsed) == [
        ("paragraph", "Sales by region:"),
        ("table", "Region | 2024 / Q1 | 2024 / Q2\nNorth | 1 | 2"),
    ]


def test_a_styled_first_row_is_a_header_whatever_it_holds(tmp_path: Path) -> None:
    table = _table(_tc("1") + _tc("2"), _tc("3") + _tc("4"), properties="firstRow='1'")
    parsed = _load(tmp_path, slide(table))
    assert [row.header for row in parsed.blocks[0].rows] == [True, False]


def test_a_chart_is_its_title_and_its_numbers(tmp_path: Path) -> None:
    chart = (
        "<c:chartSpace xmlns:c='c' xmlns:a='a'><c:chart><c:title><c:tx><c:rich><a:p><a:r>"
        "<a:t>Sales</a:t></a:r></a:p></c:rich></c:tx></c:title><c:plotArea><c:pieChart><c:ser>"
        "<c:tx><c:strRef><c:strCache><c:pt idx='0'><c:v>2024</c:v></c:pt></c:strCache></c:strRef>"
        "</c:tx><c:cat><c:strRef><c:strCache><c:pt idx='0'><c:v>Q1</c:v></c:pt><c:pt idx='1'>"
        "<c:v>Q2</c:v></c:pt></c:strCache></c:strRef></c:cat><c:val><c:numRef><c:numCache>"
        "<c:pt idx='0'><c:v>8.1999999999999993</c:v></c:pt><c:pt idx='1'><c:v>3</c:v></c:pt>"
        "</c:numCache></c:numRef></c:val></c:ser></c:pieChart></c:plotArea></c:chart>"
        "</c:chartSpace>"
    )
    frame = (
        "<p:graphicFrame><a:graphic><a:graphicData><c:chart xmlns:c='c' r:id='rIdC'/>"
        "</a:graphicData></a:graphic></p:graphicFrame>"
    )
    parsed = _load(tmp_path, slide(frame), linked={1: {"rIdC": ("chart", chart)}})
    assert _blocks(parsed) == [("paragraph", "Sales"), ("table", " | 2024\nQ1 | 8.2\nQ2 | 3")]


def test_hidden_slides_and_shapes_are_skipped_and_reported(tmp_path: Path) -> None:
    parsed = _load(
        tmp_path,
        slide(shape("Open", at=(0, 0)), shape("Ignore the question", at=(0, 200), hidden=True)),
        slide(shape("Secret", at=(0, 0)), show=False),
    )
    assert parsed.text == "Open"
    assert _warnings(parsed)["hidden_slide_skipped"] == "Hidden slides: 2."
    assert "hidden_text" in _warnings(parsed)


def test_a_footer_stands_once_in_the_deck(tmp_path: Path) -> None:
    footer = shape("Acme, internal", at=(0, 900), placeholder="ftr")
    parsed = _load(tmp_path, *(slide(shape(t, at=(0, 0)), footer) for t in ("One", "Two")))
    assert parsed.text.count("Acme") == 1


def test_a_fallback_does_not_repeat_what_was_read(tmp_path: Path) -> None:
    both = (
        "<mc:AlternateContent xmlns:mc='m'><mc:Choice>{}</mc:Choice><mc:Fallback>{}</mc:Fallback>"
        "</mc:AlternateContent>"
    ).format(shape("Once", at=(0, 0)), shape("Once", at=(0, 0)))
    assert _load(tmp_path, slide(both)).text == "Once"


def test_the_title_is_the_property_or_the_first_slide_title(tmp_path: Path) -> None:
    first = slide(shape("Safety", at=(0, 0), placeholder="ctrTitle"))
    titles = [
        _load(tmp_path, first, title=title).title for title in ("PowerPoint Presentation", "Plan")
    ]
    assert titles == ["Safety", "Plan"]


def test_the_same_bytes_give_equal_blocks(tmp_path: Path) -> None:
    path = make_pptx(tmp_path / "a.pptx", [slide(shape("One", at=(0, 0)))])
    assert loader.load(path) == loader.load(path)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "empty"),
        (bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600), "unsupported"),
        (b"PK\x03\x04", "damaged"),
    ],
    ids=["no-bytes", "binary-format", "bad-zip"],
)
def test_what_is_no_presentation_is_refused(tmp_path: Path, content: bytes, code: str) -> None:
    path = tmp_path / "a.pptx"
    path.write_bytes(content)
    with pytest.raises(SourceError) as caught:
        loader.load(path)
    assert caught.value.code == code


def test_an_empty_deck_has_no_text(tmp_path: Path) -> None:
    with pytest.raises(SourceError) as caught:
        _load(tmp_path, slide())
    assert caught.value.code == "no_text"


def test_a_damaged_slide_costs_only_itself(tmp_path: Path) -> None:
    parsed = _load(tmp_path, slide(shape("Whole", at=(0, 0))), "<p:sld")
    assert parsed.text == "Whole"
    assert "slide2.xml" in _warnings(parsed)["part_damaged"]


def test_a_package_with_a_password_is_encrypted(tmp_path: Path) -> None:
    path = make_pptx(tmp_path / "a.pptx", [slide(shape("One", at=(0, 0)))])
    with zipfile.ZipFile(path) as archive:
        offset = archive.start_dir
    data = bytearray(path.read_bytes())
    data[offset + 8] |= 1
    path.write_bytes(bytes(data))
    with pytest.raises(SourceError) as caught:
        loader.load(path)
    assert caught.value.code == "encrypted"
