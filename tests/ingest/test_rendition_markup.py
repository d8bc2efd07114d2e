"""What becomes of each kind of block, and of text that looks like markup."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from documents import make_html, make_text
from ingest.chunking_inputs import document
from ingest.rendition_inputs import FORMATS, HOSTILE, Page, load, make_document, read_page
from office_documents import (
    inline_row,
    make_docx,
    make_pptx,
    make_xlsx,
    paragraph,
    shape,
    slide,
)
from rag_source.domain.documents import (
    Block,
    ParagraphPlace,
    ParsedDocument,
    Place,
    PointerPlace,
    RowPlace,
    SheetPlace,
    SlidePlace,
)
from rag_source.ingest.builder import DocumentBuilder, RowText
from rag_source.ingest.rendition import ATTRIBUTES, TAGS, place_label, render


def page_of(parsed: ParsedDocument) -> Page:
    return read_page(render(parsed).html)


@pytest.mark.parametrize("kind", FORMATS)
def test_ids_are_unique_and_only_listed_tags_and_attributes_occur(
    kind: str, tmp_path: Path
) -> None:
    page = page_of(load(make_document(kind, tmp_path, 2)))

    assert len(page.ids) == len(set(page.ids))
    assert {tag for tag, _ in page.tags} <= TAGS
    assert page.attributes <= ATTRIBUTES
    assert not {"href", "src", "style", "onclick"} & ATTRIBUTES
    assert not {"script", "style", "a", "img", "iframe", "link", "form"} & TAGS


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_text_stays_text_wherever_it_stands(hostile: str) -> None:
    builder = DocumentBuilder()
    builder.heading(hostile, 1, SheetPlace(sheet=hostile, cell="A1"))
    builder.text(hostile, place=PointerPlace(pointer="/" + hostile))
    builder.text(f"{hostile}: {hostile}\nname: {hostile}", "record")
    builder.text(hostile, "list_item", ParagraphPlace(paragraph=1, part=hostile))
    builder.text(hostile, "note")
    rows = [RowText(cells=(hostile, "x"), header=True), RowText(cells=("y", hostile))]
    builder.table(rows)
    parsed = builder.build(title=hostile, loader="test", version=1)

    page = page_of(parsed)

    assert {tag for tag, _ in page.tags} <= TAGS
    assert page.attributes <= ATTRIBUTES
    assert page.title == " ".join(hostile.split())
    assert page.stray.strip() == ""
    assert page.bearers["b1"].text == hostile
    assert page.places["b1"] == f"{hostile}!A1"
    assert page.places["b2"] == f"/{hostile}"
    assert page.under("td")[-1] == page.under("th")[0] == hostile


def test_hostile_file_name_is_only_a_title(tmp_path: Path) -> None:
    path = make_text(tmp_path / "<img src=x onerror=alert(1)>.txt", "Words.")

    page = page_of(load(path))

    assert page.title == "<img src=x onerror=alert(1)>"
    assert {tag for tag, _ in page.tags} == {
        "html",
        "head",
        "meta",
        "title",
        "body",
        "article",
        "p",
    }


def test_script_and_hidden_text_of_a_saved_page_do_not_come_back(tmp_path: Path) -> None:
    body = '<p>Shown.</p><script>steal()</script><p style="display:none">PWNED</p><!-- note -->'

    rendition = render(load(make_html(tmp_path / "a.html", body))).html

    assert read_page(rendition).under("p") == ["Shown."]
    assert not re.search("steal|PWNED|note|style|script", rendition)


def test_what_html_cannot_hold_is_replaced_one_for_one() -> None:
    text = "a\ud83d b\0c\rd\r\ne \udc00\ud83d\udc00f \x85\ufffe😀 end"
    block = Block(id="b1", kind="paragraph", start=0, end=len(text))
    parsed = replace(document(), text=text, blocks=(block,), title="\ud800t")

    rendition = render(parsed)
    read = read_page(rendition.html.encode().decode())

    assert "\r" not in rendition.html
    shown = read.bearers["b1"].text
    assert shown == re.sub("[\0\ud800-\udfff]", "\ufffd", text)
    assert shown.index("end") == text.index("end")
    assert read.title == "\ufffdt"


def test_line_breaks_and_spaces_are_kept_as_they_are() -> None:
    text = "first\n  second\t\tthird\n\n\nfourth\u00a0\u00a0fifth"

    page = page_of(document(("p", text)))

    assert page.bearers["b1"].text == text
    assert "br" not in {tag for tag, _ in page.tags}


def test_blocks_become_the_elements_that_say_what_they_are() -> None:
    builder = DocumentBuilder()
    builder.heading("One", 1)
    builder.heading("Six", 6)
    for item in ("• marked", "1.2. numbered", "plain"):
        builder.text(item, "list_item")
    builder.text("Between.")
    builder.text("another list", "list_item")
    builder.text("a note", "note")
    builder.text("words of a picture", "image_text")
    builder.text("key: value\nsecond key: more\n  and more\nempty:", "record")
    builder.text("no name here", "record")
    builder.table([RowText(cells=("Name", ""), header=True), RowText(cells=("bowl", "2"))])

    page = page_of(builder.build(title="t", loader="test", version=1))

    assert (page.under("h1"), page.under("h6")) == (["One"], ["Six"])
    assert [tag for tag, _ in page.tags].count("ul") == 2
    classes = [attributes.get("class") for tag, attributes in page.tags if tag == "li"]
    assert classes == ["marked", "marked", None, None]
    assert page.under("aside") == ["a note"]
    assert page.under("dl") == ["key: value", "second key: more\n  and more", "empty:"]
    assert page.under("p") == ["Between.", "words of a picture", "no name here"]
    assert (page.under("thead"), page.under("tbody")) == (["Name"], ["bowl", "2"])
    header = [attributes for tag, attributes in page.tags if tag == "th"]
    assert [attributes["scope"] for attributes in header] == ["col"]


def test_header_row_in_mid_table_stays_where_it_is() -> None:
    builder = DocumentBuilder()
    names = RowText(cells=("A", "B"), header=True)
    builder.table([names, RowText(cells=("1", "2")), names, RowText(cells=("3", "4"))])

    page = page_of(builder.build(title="t", loader="test", version=1))

    assert [bearer.text for bearer in page.bearers.values()] == list("AB12AB34")
    assert page.under("thead") == ["A", "B"]
    assert [bearer.tag for bearer in page.bearers.values()][4:6] == ["th", "th"]


def test_document_without_blocks_is_an_empty_page() -> None:
    rendition = render(document())

    assert read_page(rendition.html).bearers == {}
    assert (rendition.start, rendition.end) == (0, 0)


@pytest.mark.parametrize(
    ("text", "language", "direction"),
    [
        ("The plate is clean and it is in the box.", "en", "ltr"),
        ("MW-104 دليل الاستعمال لفرن الميكروويف", "ar", "rtl"),
        ("שלום עולם", "", "rtl"),
        ("12 345", "", "ltr"),
    ],
)
def test_language_and_direction_are_declared(text: str, language: str, direction: str) -> None:
    page = page_of(document(("p", text)))

    for tag, attributes in page.tags:
        if tag in ("html", "article"):
            assert (attributes["lang"], attributes["dir"]) == (language, direction)


def test_arabic_table_runs_from_the_right_and_each_cell_as_its_text_does() -> None:
    page = page_of(document(("table", [["الرمز", "Code"], ["خلل", "E07"]])))

    assert [attributes["dir"] for tag, attributes in page.tags if tag == "table"] == ["rtl"]
    cells = [attributes for tag, attributes in page.tags if tag in ("td", "th")]
    assert {attributes["dir"] for attributes in cells} == {"auto"}


def test_places_of_each_format_can_be_read_off(tmp_path: Path) -> None:
    sheet = inline_row(11, ["Item", "Price"]) + inline_row(12, ["bowl", 2.5])
    xlsx = page_of(load(make_xlsx(tmp_path / "a.xlsx", {"Prix 2026": sheet})))
    pptx = page_of(load(make_pptx(tmp_path / "a.pptx", [slide(), slide(shape("Words here."))])))
    csv = page_of(load(make_text(tmp_path / "a.csv", 'Item,Price\n"glass\nbowl",2\ncup,3\n')))
    items = '{"items": [{"n": "bowl", "p": 2}, {"n": "cup", "p": 3}]}'
    json = page_of(load(make_text(tmp_path / "a.json", items)))
    docx = page_of(load(make_docx(tmp_path / "a.docx", paragraph("One.") + paragraph("Two."))))

    def place(page: Page, text: str) -> str:
        return next(page.places[n] for n, bearer in page.bearers.items() if bearer.text == text)

    assert place(xlsx, "bowl") == "Prix 2026!A12"
    assert place(xlsx, "2.5") == "Prix 2026!B12"
    assert place(pptx, "Words here.") == "slide 2"
    assert (place(csv, "glass bowl"), place(csv, "cup")) == ("row 2", "row 4")
    assert place(json, "cup") == "/items/1/n"
    assert place(docx, "Two.") == "paragraph 2"


@pytest.mark.parametrize(
    ("place", "label"),
    [
        (RowPlace(row=14), "row 14"),
        (SlidePlace(slide=3), "slide 3"),
        (SheetPlace(sheet="Sheet1", cell="C12"), "Sheet1!C12"),
        (SheetPlace(sheet="Sheet1"), "Sheet1"),
        (PointerPlace(pointer="/items/3"), "/items/3"),
        (PointerPlace(pointer=""), ""),
        (ParagraphPlace(paragraph=2, part="footnote"), "footnote 2"),
    ],
    ids=str,
)
def test_place_is_named_shortly(place: Place, label: str) -> None:
    assert place_label(place) == label
