"""A service that goes away and comes back; nothing that was written is lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from browser.desk import Desk
from browser.service import Service
from documents import make_text


@pytest.fixture
def mortal(tmp_path: Path, chromium: Browser) -> Iterator[Service]:
    """A service of its own, to be killed."""
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    make_text(
        corpus / "valves.md", "# Valves\n\nThe blue valve is tightened to 42 newton metres.\n"
    )
    quays = "\n\n".join(f"The harbour has a quay number {n} for grain." for n in range(1, 41))
    make_text(corpus / "harbour.txt", quays)
    service = Service(corpus, tmp_path / "state")
    service.start()
    service.wait_until_indexed()
    yield service
    service.kill()


def test_service_that_is_killed_and_started_again_loses_no_words(
    mortal: Service, chromium: Browser
) -> None:
    context = chromium.new_context(locale="en", reduced_motion="reduce")
    page = context.new_page()
    desk = Desk(page, mortal.url)
    desk.open(f"#code={mortal.new_code()}")
    desk.ask("Which quay number of the harbour is for grain?", wait=False)
    expect(desk.answer.locator(".prose")).to_contain_text("quay number 2")
    desk.question.fill("half a question")
    mortal.kill()

    expect(page.get_by_role("alert")).to_contain_text("The service does not answer")
    expect(desk.answer).to_have_attribute("data-phase", "cut")
    expect(desk.answer.locator(".prose")).to_contain_text("quay number 2")
    assert desk.question.input_value() == "half a question"
    desk.question.fill("What is the torque of the blue valve?")
    desk.question.press("Enter")
    expect(desk.answer).to_have_attribute("data-phase", "waiting")
    desk.question.fill("the next one")

    mortal.start()
    expect(page.get_by_role("alert")).to_be_hidden(timeout=30_000)
    # The session outlives the service, and the question that waited is asked by itself.
    expect(desk.answer).to_have_attribute("data-phase", "done", timeout=30_000)
    expect(desk.answer.locator(".prose")).to_contain_text("42 newton metres")
    assert desk.question.input_value() == "the next one"
    page.reload()
    desk.question.wait_for()
    assert desk.question.input_value() == "the next one"
    context.close()


def test_network_that_is_away_is_said_and_tried_again(desk: Desk) -> None:
    desk.page.context.set_offline(True)
    try:
        desk.question.fill("When does the lantern festival begin?")
        desk.question.press("Enter")
        expect(desk.page.get_by_role("alert")).to_contain_text("The service does not answer")
        expect(desk.answer).to_have_attribute("data-phase", "waiting")
        expect(desk.page.locator(".sovereignty")).to_have_text("no answer")
    finally:
        desk.page.context.set_offline(False)
    expect(desk.answer).to_have_attribute("data-phase", "done", timeout=15_000)
    expect(desk.page.locator(".sovereignty")).to_have_text("local")
