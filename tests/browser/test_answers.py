"""Asking: three languages, words as they come, stopping, verdicts, refusals, reloading."""

from __future__ import annotations

import re
import time

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from browser.desk import Desk
from browser.service import Service

SLOW = "Which quay number of the harbour is for grain?"


@pytest.mark.parametrize(
    ("question", "words", "badge"),
    [
        pytest.param(
            "Combien de temps dure la qualification du fournisseur ?",
            "deux ans au plus",
            "2 of 2 sources verified",
            id="fr",
        ),
        pytest.param(
            "Which clause limits the liability of the carrier?",
            "8000 units",
            "1 of 1 sources verified",
            id="en",
        ),
        pytest.param("ما مدة ضمان المحرك؟", "خمس سنوات", "1 of 1 sources verified", id="ar"),
    ],
)
def test_question_is_answered_with_verified_sources(
    desk: Desk, question: str, words: str, badge: str
) -> None:
    desk.ask(question)
    expect(desk.answer.locator(".prose")).to_contain_text(words)
    expect(desk.answer.locator(".badge")).to_contain_text(badge)
    expect(desk.chips.first).to_have_attribute("data-status", "verified")
    expect(desk.answer.get_by_role("heading", level=2)).to_have_text(question)


def test_words_appear_one_after_the_other_and_sources_before_them(desk: Desk) -> None:
    desk.ask(SLOW, wait=False)
    desk.answer.locator(".source").first.wait_for()
    prose = desk.answer.locator(".prose")
    lengths: list[int] = []
    began = time.monotonic()
    while time.monotonic() - began < 2.5:
        lengths.append(len(prose.inner_text()) if prose.count() else 0)
        time.sleep(0.1)
    assert len(set(lengths)) > 8, lengths
    assert lengths == sorted(lengths)
    desk.page.get_by_role("button", name="Stop").click()
    expect(desk.answer).to_have_attribute("data-phase", "stopped")


def test_stopped_answer_keeps_its_words_says_so_and_can_be_asked_again(desk: Desk) -> None:
    desk.ask(SLOW, wait=False)
    expect(desk.answer.locator(".prose")).to_contain_text("quay number 3")
    desk.page.get_by_role("button", name="Stop").click()
    expect(desk.answer).to_have_attribute("data-phase", "stopped")
    expect(desk.answer).to_contain_text("has not been verified")
    said = desk.answer.locator(".prose").inner_text()
    time.sleep(0.4)
    assert desk.answer.locator(".prose").inner_text() == said
    expect(desk.question).to_be_focused()
    desk.answer.get_by_role("button", name="Ask again").click()
    expect(desk.answer).to_have_attribute("data-phase", "writing")
    desk.page.get_by_role("button", name="Stop").click()


def test_verdicts_differ_in_shape_and_name_and_the_badge_counts_them(desk: Desk) -> None:
    desk.ask("What is the torque of the blue valve?")
    expect(desk.answer.locator(".badge")).to_contain_text("2 of 4 sources verified")
    names = [chip.get_attribute("aria-label") or "" for chip in desk.chips.all()]
    assert [name.rsplit(" ", 1)[-1] for name in names] == [
        "verified",
        "verified",
        "rejected",
        "verified",
    ]
    assert "not verified" in names[1]
    assert names[0].startswith("Source 1: valves.md")
    looks = [
        chip.evaluate("(e) => [getComputedStyle(e).borderStyle, getComputedStyle(e).borderRadius]")
        for chip in desk.chips.all()
    ]
    assert looks[0] != looks[1] != looks[2]


def test_refusal_shows_the_nearest_passage_and_its_score_against_the_threshold(desk: Desk) -> None:
    desk.ask("Who won the chess championship of 1911?")
    expect(desk.answer.locator(".prose")).to_contain_text("The answer is not in these documents.")
    expect(desk.answer).to_contain_text("an answer needs 0.15")
    expect(desk.chips).to_have_count(0)
    desk.answer.get_by_role("button", name="Ask in other words").click()
    expect(desk.question).to_be_focused()
    assert "1911" in desk.question.input_value()
    desk.question.fill("")


def test_how_it_was_found_lists_every_passage_with_its_score_and_the_times(desk: Desk) -> None:
    desk.ask("When does the lantern festival begin?")
    desk.answer.get_by_text("How this was found").click()
    trace = desk.answer.locator(".trace")
    expect(trace).to_contain_text("Threshold")
    expect(trace.locator("tbody tr")).not_to_have_count(0)
    expect(trace.get_by_role("row").filter(has_text="festival.md")).to_contain_text("kept")
    assert re.search(r"total\s*[\d,.]+ m?s", trace.inner_text())


def test_reloaded_conversation_has_the_same_numbers_and_opens_the_same_place(desk: Desk) -> None:
    desk.ask("What is the torque of the blue valve?")
    desk.ask("ما مدة ضمان المحرك؟")
    before = desk.page.locator(".prose .chip").evaluate_all("all => all.map(e => e.ariaLabel)")
    desk.page.wait_for_url(re.compile("/chat/.+"))
    desk.page.reload()
    expect(desk.page.locator("article.turn")).to_have_count(2)
    after = desk.page.locator(".prose .chip").evaluate_all("all => all.map(e => e.ariaLabel)")
    assert after == before
    desk.chips.first.click()
    expect(desk.viewer.get_by_role("heading", level=2)).to_have_text("daman.txt")


def test_conversation_is_listed_opened_exported_and_deleted(desk: Desk) -> None:
    desk.page.get_by_role("button", name="New conversation").click()
    question = "When does the lantern festival begin?"
    desk.ask(question)
    item = desk.page.locator(".sidebar-item").first
    expect(item).to_contain_text(question)
    count = desk.page.locator(".sidebar-item").count()
    item.hover()
    with desk.page.expect_download() as download:
        item.get_by_role("link").click()
    text = download.value.path().read_text(encoding="utf-8")
    assert "🎉🎉 The lantern festival begins on 14 March." in text
    assert "festival.md" in text
    desk.page.once("dialog", lambda dialog: dialog.accept())
    item.get_by_role("button", name="Delete").click()
    expect(desk.page.locator(".sidebar-item")).to_have_count(count - 1)
    expect(desk.page.locator("article.turn")).to_have_count(0)


def test_feedback_is_sent_and_shown(desk: Desk) -> None:
    desk.ask("When does the lantern festival begin?")
    desk.answer.get_by_role("button", name="Bad answer").click()
    expect(desk.answer.get_by_role("button", name="Bad answer")).to_have_attribute(
        "aria-pressed", "true"
    )
    comment = desk.answer.get_by_role("textbox", name="What is wrong with it?")
    comment.fill("too short")
    comment.press("Enter")
    expect(desk.page.get_by_role("status")).to_contain_text("Noted")


def test_page_without_a_session_says_how_to_get_one(
    session: BrowserContext, service: Service
) -> None:
    assert session.browser is not None
    context = session.browser.new_context(locale="fr")
    page = context.new_page()
    page.goto(service.url)
    expect(page.get_by_role("heading", level=1)).to_have_text("Ouvrir cette page avec un lien")
    expect(page.get_by_text("rag-source link")).to_be_visible()
    page.get_by_role("textbox").fill("no-such-code")
    page.get_by_role("button", name="Ouvrir").click()
    expect(page.get_by_role("alert").filter(has_text="Ce code est faux")).to_be_visible()
    page.get_by_role("textbox").fill(f"{service.url}/#code={service.new_code()}")
    page.get_by_role("button", name="Ouvrir").click()
    expect(page.get_by_role("textbox", name="Votre question")).to_be_visible()
    context.close()


def test_one_time_code_leaves_no_trace_in_address_history_or_scripts(
    session: BrowserContext, service: Service
) -> None:
    assert session.browser is not None
    context = session.browser.new_context(locale="en")
    page = context.new_page()
    code = service.new_code()
    page.goto(f"{service.url}/#code={code}")
    page.get_by_role("textbox", name="Your question").wait_for()
    assert code not in page.url
    kept = page.evaluate(
        "() => JSON.stringify([document.cookie, {...localStorage}, {...sessionStorage}])"
    )
    assert code not in kept
    assert "rag_source_session" not in kept
    cookie = next(one for one in context.cookies() if one["name"] == "rag_source_session")
    assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
    context.close()


def test_narrow_window_shows_one_column_and_the_viewer_slides_over(
    page: Page, service: Service
) -> None:
    page.set_viewport_size({"width": 375, "height": 740})
    desk = Desk(page, service.url)
    desk.open()
    desk.ask("Which clause limits the liability of the carrier?")
    overflow = page.evaluate("() => document.documentElement.scrollWidth - innerWidth")
    assert overflow <= 0
    desk.chips.first.click()
    desk.wait_for_pages()
    box = desk.rect(desk.viewer)
    assert (box.x, round(box.width)) == (0, 375)
    assert desk.seen(desk.marks().first)
    desk.viewer.get_by_role("button", name="Back to the answer").click()
    expect(desk.viewer).to_be_hidden()
    expect(desk.chips.first).to_be_focused()
