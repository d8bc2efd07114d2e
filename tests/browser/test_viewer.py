"""The viewer: the quoted ink is what is highlighted, whatever the page, its turn, and the zoom."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import BrowserContext, Dialog, Page, expect

from browser.corpus import LONG_PAGES, has_ocr
from browser.desk import Desk, Rect, ink_in, pixels
from browser.service import Service

LIABILITY = "Which clause limits the liability of the carrier?"
QUALIFICATION = "Combien de temps dure la qualification du fournisseur ?"
needs_ocr = pytest.mark.skipif(not has_ocr(), reason="Tesseract with English is not installed")


def _quoted_ink(desk: Desk, margin: float = 6.0, scale: float = 1.0) -> tuple[int, int]:
    """Dark pixels under the marks, and beside them at the height or width of the quote.

    The second count is taken in a frame of `margin` pixels around all marks: a box that is astray
    leaves ink of its words there, and one that is too small as well.
    """
    desk.wait_for_pages()
    rects = [desk.rect(mark) for mark in desk.marks().all()]
    frame = Rect(
        min(r.x for r in rects) - margin,
        min(r.y for r in rects) - margin,
        max(r.x + r.width for r in rects) - min(r.x for r in rects) + 2 * margin,
        max(r.y + r.height for r in rects) - min(r.y for r in rects) + 2 * margin,
    )
    # Measured without the fill and the line of the marks, which are no ink.
    desk.page.evaluate(
        "() => document.querySelectorAll('.page-mark').forEach(e => e.style.visibility = 'hidden')"
    )
    picture = pixels(desk.page)
    desk.page.evaluate(
        "() => document.querySelectorAll('.page-mark').forEach(e => e.style.visibility = '')"
    )
    grown = [Rect(r.x - 1, r.y - 1, r.width + 2, r.height + 2) for r in rects]
    return ink_in(picture, grown, within=frame, scale=scale)


def _open(desk: Desk, question: str) -> None:
    desk.ask(question)
    desk.chips.first.click()
    desk.wait_for_pages()


def test_page_of_a_long_pdf_opens_at_the_quoted_words_without_loading_the_file(desk: Desk) -> None:
    asked: list[str] = []
    desk.page.on("request", lambda request: asked.append(request.url))
    _open(desk, LIABILITY)
    expect(desk.viewer).to_contain_text(f"Page 288 of {LONG_PAGES}")
    assert desk.seen(desk.marks().first)
    assert not [url for url in asked if url.endswith("/file") or "/file?" in url]
    pages = {int(m[1]) for url in asked if (m := re.search(r"/pages/(\d+)\?", url))}
    assert 288 in pages
    assert pages <= set(range(285, 292))
    inside, beside = _quoted_ink(desk)
    assert inside > 200
    assert beside == 0


@pytest.mark.parametrize("zoom", [1, 2])
def test_marks_cover_the_quoted_ink_at_every_zoom(desk: Desk, zoom: int) -> None:
    _open(desk, QUALIFICATION)
    percent = desk.viewer.locator(".viewer-percent")
    while percent.inner_text() != f"{zoom * 100} %":
        desk.viewer.get_by_role("button", name="Larger").click()
    desk.page.wait_for_timeout(400)
    desk.marks().first.scroll_into_view_if_needed()
    desk.wait_for_pages()
    image = desk.page.locator(".page", has=desk.page.locator(".page-mark")).locator("img")
    drawn = image.evaluate("(e) => [e.naturalWidth, Math.round(e.getBoundingClientRect().width)]")
    assert abs(drawn[0] - drawn[1]) <= 1
    inside, beside = _quoted_ink(desk)
    assert inside > 200 * zoom
    assert beside == 0


def test_picture_is_as_fine_as_the_screen(session: BrowserContext, service: Service) -> None:
    assert session.browser is not None
    context = session.browser.new_context(
        storage_state=session.storage_state(),
        device_scale_factor=2,
        viewport={"width": 1300, "height": 800},
        locale="en",
        reduced_motion="reduce",
    )
    desk = Desk(context.new_page(), service.url)
    desk.open()
    _open(desk, QUALIFICATION)
    image = desk.page.locator(".page", has=desk.page.locator(".page-mark")).locator("img")
    drawn = image.evaluate("(e) => e.naturalWidth / e.getBoundingClientRect().width")
    assert abs(drawn - 2) < 0.01
    inside, beside = _quoted_ink(desk, scale=2)
    assert inside > 400
    assert beside == 0
    context.close()


@pytest.mark.parametrize(
    ("turn", "word"), [(0, "jasmine"), (90, "hibiscus"), (180, "oleander"), (270, "verbena")]
)
def test_marks_cover_the_ink_of_turned_and_cropped_pages(desk: Desk, turn: int, word: str) -> None:
    _open(desk, f"Which word stands on the page turned by {turn}?")
    expect(desk.viewer.locator(".page-mark").first).to_be_visible()
    expect(desk.answer).to_contain_text(word)
    expect(desk.viewer).to_contain_text(f"Page {1 + turn // 90} of 4")
    inside, beside = _quoted_ink(desk)
    assert inside > 200
    assert beside == 0


@needs_ocr
def test_marks_cover_the_ink_of_a_scan(desk: Desk) -> None:
    _open(desk, "What did the scanned delivery note say about the pallets?")
    expect(desk.viewer).to_contain_text("scan.pdf")
    inside, beside = _quoted_ink(desk, margin=3)
    assert inside > 300
    # Boxes of recognised words may leave a hair of a letter outside.
    assert beside <= inside * 0.02


def test_text_of_a_page_can_be_selected_and_copied_in_reading_order(desk: Desk) -> None:
    _open(desk, LIABILITY)
    page = desk.page.locator('.page[data-page="288"]')
    page.locator(".page-text span").first.wait_for()
    copied = desk.page.evaluate(
        """() => {
          const layer = document.querySelector('.page[data-page="288"] .page-text');
          getSelection().selectAllChildren(layer);
          return getSelection().toString();
        }"""
    )
    assert copied.split("\n")[:2] == [
        "Clause 288",
        "Clause 288 limits the liability of the carrier to 8000 units.",
    ]


def test_words_of_the_text_layer_lie_over_their_ink(desk: Desk) -> None:
    _open(desk, LIABILITY)
    words = desk.page.locator('.page[data-page="288"] .page-text span')
    words.first.wait_for()
    word = words.filter(has_text="liability").first
    shown = desk.rect(desk.page.locator('.page[data-page="288"]'))
    box = desk.rect(word)
    assert shown.width * 0.03 < box.width < shown.width * 0.2
    picture = pixels(desk.page)
    inside, _ = ink_in(picture, [box], within=box)
    assert inside > 20


def test_cell_of_a_table_is_marked_and_in_sight(desk: Desk) -> None:
    desk.ask("What is the unit price of the brass hinge?")
    desk.chips.first.click()
    cells = desk.viewer.locator("td.cited")
    expect(cells.filter(has_text="17.45")).to_be_visible()
    assert "17.45" in desk.highlighted()
    assert desk.seen(cells.first)
    row = desk.viewer.locator("tr", has=desk.page.locator("td.cited"))
    expect(row).to_have_count(1)
    expect(row).to_contain_text("brass hinge")


def test_long_table_loads_as_it_is_scrolled_with_one_header(desk: Desk) -> None:
    desk.ask("What is the unit price of the brass hinge?")
    desk.chips.first.click()
    desk.viewer.locator("td.cited").first.wait_for()
    last = desk.viewer.locator("td", has_text=re.compile("^part 399$"))
    for _ in range(20):
        desk.viewer.locator(".extract").evaluate("(e) => { e.scrollTop = e.scrollHeight; }")
        if last.count():
            break
        desk.page.wait_for_timeout(100)
    expect(last).to_have_count(1)
    expect(desk.viewer.locator("thead")).to_have_count(1)
    expect(desk.viewer.locator("td", has_text=re.compile("^part 250$"))).to_have_count(1)


def test_range_after_emoji_and_arabic_is_highlighted_to_the_letter(desk: Desk) -> None:
    desk.ask("When does the lantern festival begin?")
    desk.chips.first.click()
    desk.viewer.locator(".cited").first.wait_for()
    assert desk.highlighted() == ["🎉🎉 The lantern festival begins on 14 March."]


def test_arabic_sentence_is_highlighted_to_the_letter(desk: Desk) -> None:
    desk.ask("ما مدة ضمان المحرك؟")
    desk.chips.first.click()
    desk.viewer.locator(".cited").first.wait_for()
    assert desk.highlighted() == ["مدة ضمان المحرك خمس سنوات من تاريخ التسليم."]


def test_unverified_citation_is_amber_dashed_and_labelled_and_rejected_one_says_why(
    desk: Desk,
) -> None:
    desk.ask("What is the torque of the blue valve?")
    desk.chips.nth(1).click()
    cited = desk.viewer.locator(".cited").first
    expect(cited).to_have_css("outline-style", "dashed")
    expect(desk.viewer).to_contain_text("Not verified: compare it yourself")
    expect(desk.viewer).to_contain_text("90 days")
    desk.chips.nth(2).click()
    expect(desk.viewer).to_contain_text("This citation was rejected")
    expect(desk.viewer).to_contain_text("no passage has this number")
    desk.viewer.get_by_role("button", name="Next citation").click()
    desk.viewer.locator(".cited").first.wait_for()
    assert desk.highlighted() == ["The red valve is from Ostrava."]
    expect(desk.viewer).to_contain_text("4 of 4")


def test_original_can_be_downloaded_and_the_extracted_text_read(desk: Desk) -> None:
    _open(desk, QUALIFICATION)
    with desk.page.expect_download() as download:
        desk.viewer.get_by_role("link", name="Download the original").click()
    assert download.value.suggested_filename == "contrat.pdf"
    assert download.value.path().read_bytes().startswith(b"%PDF")
    desk.viewer.get_by_role("button", name="Extracted text").click()
    desk.viewer.locator(".cited").first.wait_for()
    assert desk.highlighted() == ["La qualification du fournisseur dure deux ans au plus."]


def test_page_of_another_size_keeps_its_proportions(desk: Desk) -> None:
    _open(desk, QUALIFICATION)
    sizes = desk.page.locator(".page").evaluate_all(
        "all => all.map(e => e.offsetWidth / e.offsetHeight)"
    )
    assert [round(size, 2) for size in sizes] == [0.71, 0.71, 1.41]


def test_hostile_names_and_content_stay_text(desk: Desk, page: Page) -> None:
    outside: list[str] = []
    page.on("request", lambda request: outside.append(request.url))
    dialogs: list[str] = []

    def refuse(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", refuse)
    desk.ask("Who wrote the hostile page?")
    expect(desk.answer.locator(".prose")).to_contain_text("<img src=x onerror=alert(1)>")
    expect(desk.answer.locator(".prose")).to_contain_text("![x](http://203.0.113.9/?q=1)")
    desk.chips.first.click()
    expect(desk.viewer.get_by_role("heading", level=2).first).to_contain_text(
        "<img src=x onerror=alert(1)>.html"
    )
    expect(desk.viewer.locator(".rendition")).to_contain_text("<img src=x onerror=alert(1)>")
    page.get_by_role("button", name="Documents", exact=True).click()
    expect(page.get_by_role("table")).to_contain_text("<img src=x onerror=alert(1)>.html")
    page.wait_for_timeout(300)
    assert page.locator("#app img:not(.page-image)").count() == 0
    assert page.evaluate("() => window.hacked") is None
    assert dialogs == []
    assert [url for url in outside if not url.startswith(desk.url)] == []


def test_pages_own_policy_stops_inline_code_and_markup_from_strings(
    page: Page, service: Service
) -> None:
    page.goto(service.url)
    page.locator("#question").wait_for()
    refused = page.evaluate(
        """() => {
          try { document.body.innerHTML = '<b>x</b>'; return false; } catch { /* refused */ }
          const script = document.createElement('script');
          try { script.text = 'window.hacked = 3'; } catch { return true; }
          document.body.append(script);
          return window.hacked === undefined;
        }"""
    )
    assert refused is True
