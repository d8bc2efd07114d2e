"""The documents page: states and reasons, adding files, pausing, projects, and empty folders."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from browser.desk import Desk
from browser.service import Service


@pytest.fixture(scope="module")
def empty_service(tmp_path_factory: pytest.TempPathFactory, chromium: Browser) -> Iterator[Service]:
    """A service on a folder with nothing in it."""
    root = tmp_path_factory.mktemp("empty")
    (root / "corpus").mkdir()
    service = Service(root / "corpus", root / "state")
    service.start()
    yield service
    service.stop()


@pytest.fixture(scope="module")
def empty_session(chromium: Browser, empty_service: Service) -> Iterator[BrowserContext]:
    context = chromium.new_context(locale="en", reduced_motion="reduce")
    page = context.new_page()
    page.goto(f"{empty_service.url}/#code={empty_service.new_code()}")
    page.locator("#question").wait_for()
    page.close()
    yield context
    context.close()


@pytest.fixture
def library(empty_session: BrowserContext, empty_service: Service) -> Iterator[Page]:
    page = empty_session.new_page()
    page.goto(f"{empty_service.url}/#/default/documents")
    page.get_by_role("heading", name="Documents", exact=True).wait_for()
    yield page
    page.close()


def test_failed_documents_come_first_with_reason_and_what_to_do(desk: Desk) -> None:
    desk.page.get_by_role("button", name="Documents", exact=True).click()
    first = desk.page.locator(".library-table tbody tr").first
    expect(first).to_contain_text("broken.pdf")
    expect(first).to_contain_text("Damaged")
    expect(first).to_contain_text("Get the file again")
    expect(first.get_by_role("button", name="Try again: broken.pdf")).to_be_visible()
    ready = desk.page.get_by_role("row").filter(has_text="long.pdf")
    expect(ready).to_contain_text("300")
    expect(ready).to_contain_text("Ready")
    ready.get_by_role("button", name="See what was extracted: long.pdf").click()
    expect(desk.viewer.locator(".rendition")).to_contain_text("Clause 1 is left blank")
    desk.page.get_by_role("searchbox", name="Filter by name").fill("VALV")
    expect(desk.page.locator(".library-table tbody tr")).to_have_count(1)


def test_empty_folder_says_where_documents_go(library: Page, empty_service: Service) -> None:
    expect(library.get_by_role("main")).to_contain_text(str(empty_service.corpus))
    library.get_by_role("button", name="Questions", exact=True).click()
    expect(library.get_by_role("heading", level=1)).to_have_text("There are no documents yet")
    expect(library.get_by_role("main")).to_contain_text(str(empty_service.corpus))


def test_file_that_is_chosen_is_copied_indexed_and_answers(
    library: Page, empty_service: Service, tmp_path: Path
) -> None:
    file = tmp_path / "été 2026 – notes.md"
    file.write_text("# Valves\n\nThe blue valve is tightened to 42 newton metres.\n", "utf-8")
    library.locator('input[type="file"]').set_input_files(file)
    row = library.get_by_role("row").filter(has_text="été 2026 – notes.md")
    expect(row).to_contain_text("Ready", timeout=20_000)
    assert (empty_service.corpus / file.name).read_bytes() == file.read_bytes()
    library.locator('input[type="file"]').set_input_files(file)
    refused = library.locator('.library-uploads li[data-state="failed"]')
    expect(refused).to_be_visible()
    refused.get_by_role("button", name="Replace the file").click()
    expect(library.locator('.library-uploads li[data-state="done"]')).to_be_visible()
    desk = Desk(library, empty_service.url)
    library.get_by_role("button", name="Questions", exact=True).click()
    desk.ask("What is the torque of the blue valve?")
    expect(desk.chips.first).to_have_attribute("data-status", "verified")


def test_file_that_is_dropped_anywhere_is_added_and_an_unknown_kind_is_refused(
    library: Page, empty_service: Service
) -> None:
    library.get_by_role("button", name="Questions", exact=True).click()
    library.evaluate(
        """() => {
          const data = new DataTransfer();
          data.items.add(new File(['Dropped words about lanterns.'], 'dropped.txt'));
          data.items.add(new File(['x'], 'tool.exe'));
          for (const type of ['dragenter', 'dragover', 'drop']) {
            document.body.dispatchEvent(
              new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
          }
        }"""
    )
    row = library.get_by_role("row").filter(has_text="dropped.txt")
    expect(row).to_contain_text("Ready", timeout=20_000)
    expect(library.locator('.library-uploads li[data-state="failed"]')).to_contain_text("tool.exe")
    assert not (empty_service.corpus / "tool.exe").exists()
    expect(library.locator(".drop")).to_be_hidden()


def test_queue_is_paused_and_resumed_and_a_held_file_shows_its_state(
    library: Page, empty_service: Service
) -> None:
    library.get_by_role("button", name="Pause indexing").click()
    expect(library.get_by_role("button", name="Resume indexing")).to_be_visible()
    (empty_service.corpus / "later.txt").write_text("Words for later.", "utf-8")
    row = library.get_by_role("row").filter(has_text="later.txt")
    expect(row).to_contain_text("Waiting", timeout=20_000)
    row.get_by_role("button", name="Cancel: later.txt").click()
    expect(row).to_contain_text("Cancelled")
    row.get_by_role("button", name="Resume: later.txt").click()
    expect(row).to_contain_text("Waiting")
    library.get_by_role("button", name="Resume indexing").click()
    expect(row).to_contain_text("Ready", timeout=20_000)


def test_project_is_made_chosen_and_forgotten(
    library: Page, empty_service: Service, tmp_path: Path
) -> None:
    folder = tmp_path / "second"
    folder.mkdir()
    (folder / "other.txt").write_text("Words of the other project.", "utf-8")
    library.get_by_role("button", name="New project").click()
    dialog = library.get_by_role("dialog", name="New project")
    dialog.get_by_role("textbox", name="Name").fill("second")
    dialog.get_by_role("textbox", name="Folder").fill(str(folder))
    dialog.get_by_role("button", name="Make the project").click()
    expect(library.get_by_role("combobox", name="Project")).to_have_value("second")
    expect(library.get_by_role("row").filter(has_text="other.txt")).to_contain_text(
        "Ready", timeout=20_000
    )
    assert "#/second/documents" in library.url
    library.once("dialog", lambda box: box.accept())
    library.get_by_role("button", name="Forget this project").click()
    expect(library.get_by_role("combobox", name="Project")).to_have_value("default")
    assert (folder / "other.txt").exists()
