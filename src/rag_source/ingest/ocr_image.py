"""What can be measured on a page's picture before any recognition: ink, skew, height of letters.

Arrays are indexed (row, column). Angles are degrees, positive clockwise as seen. Nothing here
knows Tesseract or PDF.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from PIL import Image

__all__ = ["densest_area", "grey", "has_ink", "ink_mask", "skew_degrees", "text_height_px"]

Mask = npt.NDArray[np.bool_]

_MEASURE_PX = 1200
_INK_CONTRAST = 50
# A single short word on a page of A4 covers about 2e-5 of it; specks of dust stay below.
_INK_RATIO = 1.5e-5
_LARGEST_SKEW = 10.0
_LEAST_SKEW = 0.25
_STEM_QUANTILE = 0.65


def grey(image: Image.Image) -> Image.Image:
    """The picture in 8-bit grey; what is transparent becomes white, not black."""
    if image.mode in ("I;16", "I;16B", "I;16L", "I", "F"):
        values = np.asarray(image, dtype=np.float64)
        low, high = float(values.min()), float(values.max())
        scaled = (values - low) * (255.0 / (high - low)) if high > low else values * 0 + 255
        return Image.fromarray(scaled.astype(np.uint8))
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        layered = image.convert("RGBA")
        paper = Image.new("RGBA", layered.size, "white")
        return Image.alpha_composite(paper, layered).convert("L")
    return image if image.mode == "L" else image.convert("L")


def has_ink(image: Image.Image) -> bool:
    """Whether anything stands out from the paper: False for a blank page, scanned or not."""
    counts = np.array(image.histogram(), dtype=np.int64)
    paper = int(np.searchsorted(np.cumsum(counts), counts.sum() / 2))
    levels = np.arange(256)
    marked = int(counts[np.abs(levels - paper) > _INK_CONTRAST].sum())
    return marked > max(8, _INK_RATIO * int(counts.sum()))


def ink_mask(image: Image.Image) -> Mask:
    """True where there is ink, by Otsu's threshold (IEEE SMC 9, 1979); ink is the rarer side."""
    values = np.asarray(image, dtype=np.uint8)
    counts = np.bincount(values.ravel(), minlength=256).astype(np.float64)
    levels = np.arange(256)
    below = np.cumsum(counts)
    above = below[-1] - below
    weighted = np.cumsum(counts * levels)
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = weighted / below - (weighted[-1] - weighted) / above
        variance = np.nan_to_num(below * above * distance**2)
    dark = values <= int(np.argmax(variance))
    return dark if np.count_nonzero(dark) * 2 <= dark.size else ~dark


def skew_degrees(image: Image.Image) -> float:
    """How far the lines of text are turned clockwise, at most 10 degrees; 0 if it cannot be told.

    The lower edges of letters fall into few rows once they are projected along the lines (Baird,
    "The skew angle of printed documents", 1987).
    """
    small = image.copy()
    small.thumbnail((_MEASURE_PX, _MEASURE_PX))
    mask = ink_mask(small)
    edges = mask[:-1] & ~mask[1:]
    ys, xs = np.nonzero(edges)
    if len(ys) < 50:
        return 0.0
    centred = xs - mask.shape[1] / 2

    def sharpness(angle: float) -> float:
        rows = np.rint(ys - centred * math.tan(math.radians(angle))).astype(np.int64)
        counts = np.bincount(rows - rows.min())
        return float(np.square(counts, dtype=np.float64).sum())

    coarse = np.arange(-_LARGEST_SKEW, _LARGEST_SKEW + 0.1, 0.5)
    best = float(max(coarse, key=sharpness))
    best = float(max(np.arange(best - 0.5, best + 0.51, 0.05), key=sharpness))
    if abs(best) < _LEAST_SKEW or sharpness(best) < 1.05 * sharpness(0.0):
        return 0.0
    return best


def text_height_px(image: Image.Image) -> float:
    """About three quarters of a small letter's height, however the text is turned; 0 without ink.

    A quantile of the straight runs of ink, weighted by length: it lies among the stems of letters,
    above the strokes of their curves and below rules and pictures.
    """
    mask = ink_mask(image)
    return max(_run_height(mask), _run_height(mask.T))


def densest_area(image: Image.Image, side: int) -> tuple[int, int, int, int]:
    """The square (left, top, right, bottom) of at most `side` pixels that holds the most edges."""
    width, height = image.size
    if width <= 1.3 * side and height <= 1.3 * side:
        return 0, 0, width, height
    cell = 32
    small = image.resize((max(1, width // cell * 4), max(1, height // cell * 4)))
    values = np.asarray(small, dtype=np.int16)
    edges = np.zeros(values.shape, dtype=np.float64)
    edges[:, 1:] = np.abs(np.diff(values, axis=1)) > 30
    sums = np.pad(edges.cumsum(0).cumsum(1), ((1, 0), (1, 0)))
    rows, columns = len(edges), small.width
    h, w = min(rows, side * 4 // cell), min(columns, side * 4 // cell)
    total = sums[h:, w:] - sums[:-h, w:] - sums[h:, :-w] + sums[:-h, :-w]
    top, left = divmod(int(np.argmax(total)), total.shape[1])
    x, y = left * width // columns, top * height // rows
    return x, y, min(width, x + side), min(height, y + side)


def _run_height(mask: Mask) -> float:
    """Weighted quantile of the lengths of the runs along the columns of a mask."""
    padded = np.zeros((mask.shape[0] + 2, mask.shape[1]), dtype=np.int8)
    padded[1:-1] = mask
    steps = np.diff(padded, axis=0).T
    starts = np.nonzero(steps == 1)
    ends = np.nonzero(steps == -1)
    lengths = ends[1] - starts[1]
    lengths = lengths[(lengths > 2) & (lengths < max(mask.shape) / 8)]
    if not len(lengths):
        return 0.0
    ordered = np.sort(lengths)
    reached = np.cumsum(ordered)
    return float(ordered[int(np.searchsorted(reached, _STEM_QUANTILE * reached[-1]))])
