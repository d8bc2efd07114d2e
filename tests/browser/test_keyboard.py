"""With the keyboard alone, with a screen reader's names, at 200 %, from right to left."""

from __future__ import annotations

from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import BrowserContext, Page, expect

from browser.desk import Desk
from browser.service import Service

VALVE = "What is the torque of the blue valve?"
SERIOUS = ("serious", "critical")


def _focused(page: Page) -> str:
    name: str = page.evaluate(
        "() => document.activeElement.ariaLabel || document.activeElement.textContent"
    )
    return name


def _tab_to(page: Page, wanted: str, *, limit: int = 60) -> None:
    for _ in range(limit):
        if wanted in _focused(page):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"no way by Tab to {wanted!r}, only to {_focused(page)!r}")


def test_everything_from_question_to_quote_and_back_is_done_by_keys(desk: Desk) -> None:
    page = desk.page
    page.keyboard.press("Tab")
    assert _focused(page) == "Skip to the question"
    page.keyboard.press("Enter")
    expect(desk.question).to_be_focused()
    page.keyboard.type(VALVE)
    page.keyboard.press("Enter")
    page.wait_for_selector('article.turn[data-phase="done"]')
    page.keyboard.press("Shift+Tab")
    for _ in range(12):
        if "Source 1: valves.md" in _focused(page):
            break
        page.keyboard.press("Shift+Tab")
    page.keyboard.press("Home")
    first = _focused(page)
    assert first.startswith("Source 1: valves.md")
    assert first.endswith("verified")
    expect(page.locator(".card")).to_be_visible()
    page.keyboard.press("ArrowRight")
    assert "not verified" in _focused(page)
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    desk.viewer.locator(".cited").first.wait_for()
    assert _focused(page) == first
    page.keyboard.press("F6")
    page.keyboard.press("F6")
    page.keyboard.press("n")
    expect(desk.viewer).to_contain_text("2 of 4")
    page.keyboard.press("p")
    expect(desk.viewer).to_contain_text("1 of 4")
    page.keyboard.press("Escape")
    expect(desk.viewer).to_be_hidden()
    assert _focused(page) == first


def test_zoom_keys_count_in_the_viewer_alone(desk: Desk) -> None:
    desk.ask("Which clause limits the liability of the carrier?")
    desk.chips.first.click()
    desk.wait_for_pages()
    percent = desk.viewer.locator(".viewer-percent")
    before = percent.inner_text()
    desk.question.press("+")
    assert percent.inner_text() == before
    desk.question.fill("")
    desk.viewer.locator(".pages").press("+")
    expect(percent).to_have_text("100 %")
    desk.viewer.locator(".pages").press("-")
    expect(percent).not_to_have_text("100 %")


def test_screen_reader_hears_the_stages_and_not_the_words(desk: Desk) -> None:
    desk.page.evaluate(
        """() => {
          window.said = [];
          const live = document.getElementById('live');
          const all = { childList: true, characterData: true, subtree: true };
          new MutationObserver(() => window.said.push(live.textContent)).observe(live, all);
        }"""
    )
    desk.ask(VALVE)
    desk.page.wait_for_timeout(200)
    said: list[str] = desk.page.evaluate("() => window.said")
    assert said[-1] == "The answer is there. 2 of 4 sources verified"
    assert any("passages found" in one for one in said) or "Searching…" in said
    assert len(said) <= 4


def test_arabic_page_is_mirrored_and_its_numbers_and_names_are_not(
    session: BrowserContext, service: Service
) -> None:
    assert session.browser is not None
    context = session.browser.new_context(
        storage_state=session.storage_state(),
        locale="ar",
        viewport={"width": 1440, "height": 900},
        reduced_motion="reduce",
    )
    desk = Desk(context.new_page(), service.url)
    desk.open()
    expect(desk.page.locator("html")).to_have_attribute("dir", "rtl")
    desk.ask("Which clause limits the liability of the carrier?")
    chip = desk.chips.first
    expect(chip).to_have_attribute("aria-label", "المصدر 1: long.pdf، ص 288، متحقق منه")
    chip.click()
    desk.wait_for_pages()
    width = 1440
    viewer = desk.rect(desk.viewer)
    assert viewer.x == 0
    assert desk.rect(desk.page.locator(".sidebar")).x > width / 2
    # The answer is English, and runs from left to right in the mirrored page.
    assert desk.answer.locator(".prose p").evaluate("e => getComputedStyle(e).direction") == "ltr"
    assert desk.page.locator(".pages-sheet").evaluate("e => getComputedStyle(e).direction") == "ltr"
    assert desk.seen(desk.marks().first)
    desk.page.get_by_role("combobox", name="اللغة").select_option("fr")
    expect(desk.page.get_by_role("textbox", name="Votre question")).to_be_visible()
    expect(desk.page.locator("html")).to_have_attribute("dir", "ltr")
    expect(desk.chips.first).to_be_visible()
    context.close()


def test_at_200_percent_nothing_is_cut_off(page: Page, service: Service) -> None:
    # A window of 1280 by 800 at 200 % has as many CSS pixels.
    page.set_viewport_size({"width": 640, "height": 400})
    desk = Desk(page, service.url)
    desk.open()
    desk.ask(VALVE)
    assert page.evaluate("() => document.documentElement.scrollWidth <= innerWidth")
    for control in (desk.question, desk.page.get_by_role("button", name="Documents", exact=True)):
        box = desk.rect(control)
        assert box.x >= 0
        assert box.x + box.width <= 640
        assert box.y + box.height <= 400
    desk.chips.first.click()
    expect(desk.viewer.locator(".cited").first).to_be_visible()


def _violations(page: Page) -> list[str]:
    result: dict[str, Any] = Axe().run(page).response
    return [
        f"{one['id']}: {node['html'][:120]}"
        for one in result["violations"]
        if one["impact"] in SERIOUS
        for node in one["nodes"]
    ]


@pytest.mark.parametrize(("language", "scheme"), [("en", "light"), ("ar", "dark")])
def test_accessibility_scan_finds_nothing_serious(
    session: BrowserContext, service: Service, scheme: Any, language: str
) -> None:
    assert session.browser is not None
    context = session.browser.new_context(
        storage_state=session.storage_state(),
        # The scan is evaluated in the page, whose own policy is tested elsewhere.
        bypass_csp=True,
        color_scheme=scheme,
        locale=language,
        reduced_motion="reduce",
        viewport={"width": 1440, "height": 900},
    )
    page = context.new_page()
    desk = Desk(page, service.url)
    desk.open()
    assert _violations(page) == []
    desk.ask(VALVE)
    desk.answer.locator(".trace summary").click()
    desk.chips.nth(1).click()
    desk.viewer.locator(".cited").first.wait_for()
    assert _violations(page) == []
    page.locator(".topbar-tab").nth(1).click()
    page.locator(".library-open", has_text="contrat.pdf").click()
    page.locator(".page[data-loaded]").first.wait_for()
    assert _violations(page) == []
    context.close()


def test_forced_colours_keep_marks_and_verdicts_apart(
    session: BrowserContext, service: Service
) -> None:
    assert session.browser is not None
    context = session.browser.new_context(
        storage_state=session.storage_state(), forced_colors="active", locale="en"
    )
    desk = Desk(context.new_page(), service.url)
    desk.open()
    desk.ask(VALVE)
    styles = [
        chip.evaluate(
            "(e) => { const s = getComputedStyle(e); return s.borderStyle + s.backgroundColor; }"
        )
        for chip in desk.chips.all()[:3]
    ]
    assert len(set(styles)) == 3
    context.close()


def test_no_motion_is_left_where_none_is_wanted(desk: Desk) -> None:
    longest = desk.page.evaluate(
        """() => Math.max(...[...document.querySelectorAll('*')].flatMap((e) => {
          const style = getComputedStyle(e);
          return [style.transitionDuration, style.animationDuration].map(parseFloat);
        }))"""
    )
    assert longest <= 0.001
