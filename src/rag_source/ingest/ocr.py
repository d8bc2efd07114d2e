"""Optical character recognition of one page: from its picture to words with places.

Orientation is decided by what can be read: the page is read as it is shown, and only if that
makes no sense are the other three turns tried on its densest part. (Tesseract's own detection is
unreliable on short pages, tesseract-ocr/tesseract#4409.)
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

from rag_source.domain.errors import SourceError
from rag_source.ingest.ocr_tesseract import Tesseract, TsvWord
from rag_source.ingest.ocr_view import Turn, View

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["OcrEngine", "OcrMode", "OcrPage", "OcrPolicy", "OcrWord"]

OcrMode: TypeAlias = Literal["auto", "off", "force"]

_PAGE, _BLOCK, _SCATTERED = 3, 6, 11
# Measured on scans, photographs and receipts: read the right way up, means are 78 to 97; upside
# down 36 to 57; sideways 36 to 44, or high where Tesseract turned the lines itself (`_runs_down`).
_GOOD_CONFIDENCE = 65.0
_CLEAR_CONFIDENCE = 80.0
# Below this, what was "read" is a photograph or a drawing.
_LEAST_CONFIDENCE = 30.0
_READABLE = 60.0
_PROBE_PX = 1100
# Letters of 10 points at 300 dpi measure 16 (`text_height_px`) and need no enlargement. Small
# pictures, such as photographed receipts, are brought beyond that: 6 to 13 % more words are found
# on them at 2 x than at 1 x, for half a second; on a whole sheet it would only cost time.
_STEM_PX, _STEM_PX_OF_SMALL, _SMALL_PX = 16.0, 24.0, 1_500_000
_CLOSE_ENOUGH, _HIGH_STEM_PX = 0.8, 75.0
_LARGEST_SCALE = 3.0
# A clear verdict on a turn rests on at least this many characters.
_ENOUGH_CHARS = 20.0
# Drawing a page and measuring its picture take 0.6 s of a busy core; more than this is not honest.
_PAGE_S = 2.0
# Raised whenever the same picture and settings give other words: pages that are kept are read anew.
_VERSION = 1
_RULES = re.compile(r"[|¦_\-—–~=.·]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class OcrPolicy:
    """How pages are recognised.

    `auto` reads pages without a usable text layer, `force` reads all, `off` none. `languages` are
    Tesseract's names. `dpi` is the resolution a page is rendered at: 300 is what Tesseract's
    models were trained on. `timeout_s` ends one run on one page; a dense page takes 4 to 5 s of one
    core (eval/bench/parse.py). `limit_pixels` bounds a picture: 100 million, or 100 MB in grey, is
    an A0 sheet at 250 dpi.
    """

    mode: OcrMode = "auto"
    languages: tuple[str, ...] = ("eng", "fra")
    dpi: int = 300
    timeout_s: float = 120.0
    limit_pixels: int = 100_000_000

    def __post_init__(self) -> None:
        if not self.languages or not all(re.fullmatch(r"[\w/-]+", one) for one in self.languages):
            raise ValueError(f"languages are names such as 'eng', not {self.languages!r}")
        if not 72 <= self.dpi <= 1200:
            raise ValueError(f"dpi is between 72 and 1200, not {self.dpi}")
        if self.timeout_s <= 0 or self.limit_pixels < 1_000_000:
            raise ValueError("timeout_s is positive and limit_pixels at least 1,000,000")


@dataclass(frozen=True, slots=True, kw_only=True)
class OcrWord:
    """A word: `box` in the reading frame, `source` in the picture's frame, both in points.

    The reading frame is the picture turned and straightened so that lines run from left to right.
    `line` counts the lines as Tesseract wrote them.
    """

    text: str
    box: tuple[float, float, float, float]
    source: tuple[float, float, float, float]
    confidence: float
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OcrPage:
    """What was read on a page.

    `turn` is how far the text is turned clockwise in the picture, `skew` the degrees beyond that.
    `width` and `height` are those of the reading frame in points. `confidence` is the mean of the
    words, weighted by length, 0 without words.
    """

    words: tuple[OcrWord, ...]
    turn: Turn
    skew: float
    width: float
    height: float
    confidence: float


class OcrEngine:
    """Reads pages one at a time with one thread of Tesseract.

    Args:
        policy: What to read and with which bounds.
        grant: Told how many seconds of waiting a page may now cost, and, negative, how many of
            them it left: whoever watches the clock must not count recognition as a stall.
        now: A monotonic clock in seconds.
    """

    def __init__(
        self,
        policy: OcrPolicy | None = None,
        *,
        grant: Callable[[float], None] = lambda _: None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.policy = policy or OcrPolicy()
        self._grant = grant
        self._now = now
        self._waited_s = 0.0
        self._tesseract = Tesseract(self.policy.languages, self.policy.timeout_s)

    def recipe(self) -> str:
        """Names the settings and versions that shape what is read on a picture.

        Raises:
            SourceError: `ocr_unavailable`.
        """
        policy = self.policy
        settings = (policy.mode, policy.languages, policy.dpi, policy.limit_pixels)
        return repr((_VERSION, settings, self._tesseract.version()))

    @contextmanager
    def page(self) -> Iterator[None]:
        """Around all that it takes to read a page: within reason, it does not count as a stall.

        Otherwise a scan of 500 pages would run out of time though nothing is wrong with it.
        """
        started, waited_s = self._now(), self._waited_s
        try:
            yield
        finally:
            own_s = self._now() - started - (self._waited_s - waited_s)
            self._grant(min(own_s, _PAGE_S))

    def recognise(self, image: Image.Image, *, dpi: float, upright: bool = False) -> OcrPage:
        """Read a page's picture, shown as a viewer would show it.

        Args:
            image: Of any mode.
            dpi: Pixels per inch, which makes pixels into points.
            upright: The page is known to be shown the right way up.

        Raises:
            SourceError: `ocr_unavailable`, `timeout`, `too_large` or `parser_error`.
        """
        # Lazy, here and below: NumPy and Pillow are for those who have a picture, and every command
        # that knows the formats makes an engine.
        from rag_source.ingest.ocr_image import grey, has_ink, skew_degrees

        self._tesseract.check()
        if image.width * image.height > self.policy.limit_pixels:
            raise SourceError(
                f"a page's picture has {image.width} x {image.height} pixels",
                code="too_large",
                hint="Scan it at a lower resolution.",
            )
        picture = grey(image)
        if not has_ink(picture):
            return _page([], View.of(picture.size, turn=0, skew=0.0, scale=1.0), dpi)
        scale = _scale(picture, self.policy.limit_pixels)
        view = View.of(picture.size, turn=0, skew=skew_degrees(picture), scale=scale)
        words = self._read(view.picture(picture))
        if not _is_good(words):
            view, words = self._second_look(picture, view, words, upright=upright)
        return _page(words, view, dpi)

    def _second_look(
        self, picture: Image.Image, view: View, words: list[TsvWord], *, upright: bool
    ) -> tuple[View, list[TsvWord]]:
        """The best of the other turns, and where hardly anything is read, segmentations."""
        # Lines that are upside down or sideways give nonsense, not nothing.
        if words and not upright:
            view, words = self._turned(picture, view, words)
        if _readable(words) < _ENOUGH_CHARS:
            seen = view.picture(picture)
            for segmentation in (_BLOCK, _SCATTERED) if words else (_SCATTERED,):
                again = self._read(seen, segmentation)
                if _readable(again) > 1.1 * _readable(words):
                    words = again
        return view, words

    def _turned(
        self, picture: Image.Image, view: View, words: list[TsvWord]
    ) -> tuple[View, list[TsvWord]]:
        """The page in the turn in which most of its densest part can be read."""
        from rag_source.ingest.ocr_image import densest_area

        box = densest_area(picture, round(_PROBE_PX / view.scale))
        area = picture.crop(box)
        best = _readable([word for word in words if _lies_in(word, view, box)])
        found: tuple[View, list[TsvWord]] | None = None
        for turn in (90, 270, 180) if _runs_down(words) else (180, 90, 270):
            seen = View.of(area.size, turn=turn, skew=_skew(area, turn), scale=view.scale)
            again = self._read(seen.picture(area))
            score = _readable(again)
            if score > 1.3 * best:
                best, found = score, (seen, again)
            if score > _ENOUGH_CHARS and _confidence(again) > _CLEAR_CONFIDENCE:
                break
        if found is None or area.size == picture.size:
            return found or (view, words)
        turn = found[0].turn
        seen = View.of(picture.size, turn=turn, skew=_skew(picture, turn), scale=view.scale)
        again = self._read(seen.picture(picture))
        return (seen, again) if _readable(again) > _readable(words) else (view, words)

    def _read(self, picture: Image.Image, segmentation: int = _PAGE) -> list[TsvWord]:
        with self._granted():
            words = self._tesseract.words(picture, segmentation=segmentation)
        return [word for word in words if not _RULES.fullmatch(word.text)]

    @contextmanager
    def _granted(self) -> Iterator[None]:
        # Recognition is bounded by its own timeout, so the whole of it may be granted.
        started = self._now()
        self._grant(self.policy.timeout_s)
        try:
            yield
        finally:
            waited_s = self._now() - started
            self._waited_s += waited_s
            self._grant(waited_s - self.policy.timeout_s)


def _scale(picture: Image.Image, limit_pixels: int) -> float:
    """The factor that brings letters to the size that is read best."""
    from rag_source.ingest.ocr_image import text_height_px

    pixels = picture.width * picture.height
    wanted = _STEM_PX_OF_SMALL if pixels < _SMALL_PX else _STEM_PX
    stem = text_height_px(picture)
    if not stem or _CLOSE_ENOUGH * wanted <= stem <= _HIGH_STEM_PX:
        return 1.0
    return min(_LARGEST_SCALE, math.sqrt(limit_pixels / pixels), max(0.25, wanted / stem))


def _skew(picture: Image.Image, turn: Turn) -> float:
    from rag_source.ingest.ocr_image import skew_degrees

    view = View.of(picture.size, turn=turn, skew=0.0, scale=1.0)
    return skew_degrees(view.picture(picture))


def _is_good(words: list[TsvWord]) -> bool:
    """Whether the words make sense and their lines run across the picture."""
    # Tesseract also reads lines that run down the picture, but then nothing else fits: where the
    # columns are, which line is next.
    return not _runs_down(words) and _confidence(words) >= _GOOD_CONFIDENCE


def _runs_down(words: list[TsvWord]) -> bool:
    sideways = sum(len(word.text) for word in words if _is_sideways(word))
    return 2 * sideways > sum(len(word.text) for word in words)


def _is_sideways(word: TsvWord) -> bool:
    return len(word.text) >= 3 and word.height > 1.2 * word.width


def _confidence(words: list[TsvWord]) -> float:
    weight = sum(len(word.text) for word in words)
    return sum(word.confidence * len(word.text) for word in words) / weight if weight else 0.0


def _readable(words: list[TsvWord]) -> float:
    """How much was read for sure: characters of confident words that hold letters or digits."""
    return sum(
        len(word.text) * word.confidence / 100
        for word in words
        if word.confidence >= _READABLE
        and sum(map(str.isalnum, word.text)) >= 2
        and not _is_sideways(word)
    )


def _lies_in(word: TsvWord, view: View, area: tuple[int, int, int, int]) -> bool:
    box = (word.left, word.top, word.left + word.width, word.top + word.height)
    x0, y0, x1, y1 = view.original_box(box)
    return area[0] <= (x0 + x1) / 2 <= area[2] and area[1] <= (y0 + y1) / 2 <= area[3]


def _page(words: list[TsvWord], view: View, dpi: float) -> OcrPage:
    confidence = _confidence(words)
    if confidence < _LEAST_CONFIDENCE and _readable(words) == 0:
        words, confidence = [], 0.0
    lines: dict[tuple[int, int, int], int] = {}
    to_points = 72.0 / (dpi * view.scale)
    found: list[OcrWord] = []
    for word in words:
        box = (word.left, word.top, word.left + word.width, word.top + word.height)
        x0, y0, x1, y1 = view.original_box(box)
        found.append(
            OcrWord(
                text=word.text,
                box=tuple(v * to_points for v in box),  # type: ignore[arg-type]  # four of four
                source=(x0 * 72 / dpi, y0 * 72 / dpi, x1 * 72 / dpi, y1 * 72 / dpi),
                confidence=word.confidence,
                line=lines.setdefault(word.line, len(lines)),
            )
        )
    width, height = view.size
    return OcrPage(
        words=tuple(found),
        turn=view.turn,
        skew=view.skew,
        width=width * to_points,
        height=height * to_points,
        confidence=confidence,
    )
