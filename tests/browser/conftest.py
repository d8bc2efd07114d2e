"""One browser and one service for all browser tests; where there is no Chromium they skip."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from browser.corpus import build_corpus
from browser.desk import Desk
from browser.service import Service

_CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser"))), None)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    if _CHROMIUM is None:
        pytest.skip("no Chromium here; to add it: apt-get install chromium")
    # A machine that is busy with other things is slow, not wrong.
    expect.set_options(timeout=20_000)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=_CHROMIUM,
            # Without a sandbox, since tests may run as root; pages are our own.
            args=["--no-sandbox", "--force-color-profile=srgb"],
        )
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("desk") / "corpus"
    build_corpus(folder)
    return folder


@pytest.fixture(scope="session")
def service(corpus: Path, chromium: Browser) -> Iterator[Service]:
    service = Service(corpus, corpus.parent / "state")
    service.start()
    service.wait_until_indexed()
    yield service
    service.stop()


@pytest.fixture(scope="session")
def session(chromium: Browser, service: Service) -> Iterator[BrowserContext]:
    """A browser that has opened the one-time link."""
    context = chromium.new_context(
        locale="en-GB", viewport={"width": 1440, "height": 900}, reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(f"{service.url}/#code={service.new_code()}")
    page.get_by_role("textbox", name="Your question").wait_for()
    page.close()
    yield context
    context.close()


@pytest.fixture
def page(session: BrowserContext) -> Iterator[Page]:
    page = session.new_page()
    yield page
    page.close()


@pytest.fixture
def desk(page: Page, service: Service) -> Iterator[Desk]:
    """The page, opened; a test fails if the page's own code complained."""
    desk = Desk(page, service.url)
    desk.open()
    yield desk
    assert desk.complaints == []
