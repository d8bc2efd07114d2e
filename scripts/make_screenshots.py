"""Makes the pictures of the README from the samples: `python -m scripts.make_screenshots`.

The page, the search and the checks of quotes are the real ones; the answer model is scripted and
the embedder without weights (`tests/browser/`), so that the pictures come out the same each time.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from browser.desk import Desk  # noqa: E402 - after the path
from browser.service import Service  # noqa: E402

__all__ = ["main"]

OUT = ROOT / "docs" / "images"
LIMIT_BYTES = 300_000
_DESK: dict[str, Any] = {"viewport": {"width": 1360, "height": 850}}
_PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 780},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}


def main() -> None:
    """Write all pictures into `docs/images`."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        raise SystemExit("no Chromium here; to add it: apt-get install chromium")
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        corpus = Path(folder) / "documents"
        shutil.copytree(ROOT / "data" / "samples", corpus)
        (corpus / "scan-illisible.pdf").write_bytes(b"%PDF-1.4\ncut short\n")
        service = Service(corpus, Path(folder) / "state")
        service.start()
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        try:
            service.wait_until_indexed()
            _picture(browser, service, "answer", _DESK | {"locale": "fr"}, _verified_in_pdf)
            _picture(browser, service, "arabic", _DESK | {"locale": "ar"}, _arabic)
            _picture(
                browser,
                service,
                "documents",
                _DESK | {"locale": "en", "color_scheme": "dark"},
                _documents,
            )
            _picture(browser, service, "phone", _PHONE | {"locale": "en"}, _phone)
        finally:
            browser.close()
            service.stop()


def _picture(
    browser: Browser,
    service: Service,
    name: str,
    options: dict[str, Any],
    show: Callable[[Desk], None],
) -> None:
    """What a reader sees after `show`, as a picture below the limit of a file."""
    context = browser.new_context(reduced_motion="reduce", **options)
    desk = Desk(context.new_page(), service.url)
    desk.open(f"#code={service.new_code()}")
    show(desk)
    path = OUT / f"{name}.png"
    desk.page.mouse.move(2, 2)
    desk.page.wait_for_timeout(300)
    desk.page.screenshot(path=path)
    with Image.open(path) as picture:
        picture.convert("RGB").save(path, optimize=True)
    size = path.stat().st_size
    if size > LIMIT_BYTES:
        raise SystemExit(f"{path.name} has {size} bytes, more than {LIMIT_BYTES}")
    print(f"{path.relative_to(ROOT)}: {size / 1000:.0f} kB")
    context.close()


def _verified_in_pdf(desk: Desk) -> None:
    desk.ask("Quel est le total du bon de livraison BL-2026-0312 ?")
    desk.chips.first.click()
    desk.wait_for_pages()


def _arabic(desk: Desk) -> None:
    desk.ask("ما هي مدة ضمان الجهاز من تاريخ الشراء؟")
    desk.chips.first.click()
    desk.viewer.locator(".cited").first.wait_for()


def _documents(desk: Desk) -> None:
    _tab(desk.page, 1).click()
    desk.page.locator(".library-table").wait_for()


def _phone(desk: Desk) -> None:
    desk.ask("For how long at most shall delivery notes be kept?")
    desk.answer.locator(".trace summary").click()


def _tab(page: Page, index: int) -> Any:
    return page.locator(".topbar-tab").nth(index)


if __name__ == "__main__":
    main()
