"""The page as its user meets it: found by roles and names, measured in pixels."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image
from playwright.sync_api import Locator, Page

__all__ = ["Desk", "Rect", "ink_in", "pixels"]

_DARK = 110


@dataclass(frozen=True)
class Rect:
    """A rectangle in CSS pixels of the window."""

    x: float
    y: float
    width: float
    height: float


class Desk:
    """Asks, opens citations, and looks at what is shown."""

    def __init__(self, page: Page, url: str) -> None:
        self.page = page
        self.url = url
        self.complaints: list[str] = []
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", lambda said: self._heard(said.type, said.text))

    def _heard(self, kind: str, text: str) -> None:
        # A network that is taken away on purpose is no fault of the page.
        if kind == "error" and "net::ERR_" not in text and "status of" not in text:
            self.complaints.append(text)

    def open(self, fragment: str = "") -> None:
        self.page.goto(self.url + "/" + fragment)
        self.question.wait_for()

    @property
    def question(self) -> Locator:
        return self.page.locator("#question")

    @property
    def viewer(self) -> Locator:
        return self.page.locator("#viewer")

    @property
    def answer(self) -> Locator:
        return self.page.locator("article.turn").last

    @property
    def chips(self) -> Locator:
        return self.answer.locator(".prose .chip")

    def ask(self, question: str, *, wait: bool = True) -> None:
        """Type a question and send it; wait for the whole answer unless told otherwise."""
        self.question.fill(question)
        self.question.press("Enter")
        self.answer.wait_for()
        if wait:
            self.page.wait_for_selector('article.turn:last-of-type[data-phase="done"]')

    def marks(self) -> Locator:
        return self.viewer.locator(".page-mark")

    def wait_for_pages(self) -> None:
        """Until the pages that carry marks are drawn."""
        self.marks().first.wait_for()
        self.page.wait_for_function(
            "() => [...document.querySelectorAll('.page')]"
            ".filter(page => page.querySelector('.page-mark'))"
            ".every(page => page.dataset.loaded === '' && page.querySelector('img').complete)"
        )

    def rect(self, locator: Locator) -> Rect:
        box = locator.bounding_box()
        assert box is not None
        return Rect(box["x"], box["y"], box["width"], box["height"])

    def highlighted(self) -> list[str]:
        """The texts that are painted in a rendition."""
        found: list[str] = self.page.evaluate(
            "() => [...CSS.highlights.values()].flatMap(all => [...all].map(String))"
        )
        return found

    def seen(self, locator: Locator) -> bool:
        """Whether it lies within the window and what scrolls it."""
        return bool(
            locator.evaluate(
                """(element) => {
                  const box = element.getBoundingClientRect();
                  const x = box.x + box.width / 2, y = box.y + box.height / 2;
                  const scroller = element.closest('.scrolls').getBoundingClientRect();
                  return y > scroller.top && y < scroller.bottom && x > scroller.left
                    && x < scroller.right && y < innerHeight && x < innerWidth;
                }"""
            )
        )


def pixels(page: Page) -> np.ndarray[tuple[int, int, int], np.dtype[np.uint8]]:
    """The window as pixels, `(height, width, 3)`."""
    return np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB"))


def ink_in(
    picture: np.ndarray[tuple[int, int, int], np.dtype[np.uint8]],
    rects: Sequence[Rect],
    *,
    within: Rect,
    scale: float = 1.0,
) -> tuple[int, int]:
    """How many dark pixels lie in the rectangles, and how many of the area lie in none of them."""
    dark = picture.max(axis=2) < _DARK
    mask = np.zeros(dark.shape, dtype=bool)
    for rect in rects:
        mask[_slices(rect, scale)] = True
    area = np.zeros(dark.shape, dtype=bool)
    area[_slices(within, scale)] = True
    return int((dark & mask & area).sum()), int((dark & ~mask & area).sum())


def _slices(rect: Rect, scale: float) -> tuple[slice, slice]:
    top, left = max(0, round(rect.y * scale)), max(0, round(rect.x * scale))
    bottom, right = round((rect.y + rect.height) * scale), round((rect.x + rect.width) * scale)
    return slice(top, bottom), slice(left, right)
