"""A way to look at a picture: turned, straightened and scaled, and the way back for boxes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["Turn", "View"]

Turn: TypeAlias = Literal[0, 90, 180, 270]
Box: TypeAlias = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """Undoes a clockwise `turn` and a clockwise `skew`, then scales.

    `original` and `size` are (width, height) in pixels before and after.
    """

    turn: Turn
    skew: float
    scale: float
    original: tuple[int, int]
    size: tuple[int, int]

    @classmethod
    def of(cls, original: tuple[int, int], *, turn: Turn, skew: float, scale: float) -> View:
        width, height = _scaled(_turned(original, turn), scale)
        if skew:
            sine, cosine = abs(math.sin(math.radians(skew))), abs(math.cos(math.radians(skew)))
            width, height = (
                math.ceil(width * cosine + height * sine),
                math.ceil(width * sine + height * cosine),
            )
        return cls(turn=turn, skew=skew, scale=scale, original=original, size=(width, height))

    def picture(self, image: Image.Image) -> Image.Image:
        """The grey picture seen this way; the paper around it is white."""
        # Lazy: whoever holds a picture has imported Pillow; nobody else should pay for it.
        from PIL import Image

        # Pillow's quarter turns go against the clock, and so undo ours.
        seen = image.transpose(Image.Transpose[f"ROTATE_{self.turn}"]) if self.turn else image
        upright = _scaled(seen.size, self.scale)
        if upright != seen.size:
            seen = seen.resize(upright, Image.Resampling.LANCZOS)
        if not self.skew:
            return seen
        sine, cosine = math.sin(math.radians(self.skew)), math.cos(math.radians(self.skew))
        cx, cy = self.size[0] / 2, self.size[1] / 2
        ox, oy = upright[0] / 2, upright[1] / 2
        # From a point of the view to a point of the turned picture, as `_unskewed` does.
        matrix = (
            cosine,
            -sine,
            ox - cosine * cx + sine * cy,
            sine,
            cosine,
            oy - sine * cx - cosine * cy,
        )
        return seen.transform(
            self.size, Image.Transform.AFFINE, matrix, Image.Resampling.BICUBIC, fillcolor=255
        )

    def original_box(self, box: Box) -> Box:
        """The box of the original picture, in its pixels, that holds a box of the view."""
        x0, y0, x1, y1 = box
        corners = [self._original(x, y) for x, y in ((x0, y0), (x1, y0), (x0, y1), (x1, y1))]
        xs, ys = [x for x, _ in corners], [y for _, y in corners]
        width, height = self.original
        return (
            max(0.0, min(xs)),
            max(0.0, min(ys)),
            min(float(width), max(xs)),
            min(float(height), max(ys)),
        )

    def _original(self, x: float, y: float) -> tuple[float, float]:
        x, y = self._unskewed(x, y)
        x, y = x / self.scale, y / self.scale
        width, height = self.original
        match self.turn:
            case 0:
                return x, y
            case 90:
                return width - y, x
            case 180:
                return width - x, height - y
            case 270:
                return y, height - x

    def _unskewed(self, x: float, y: float) -> tuple[float, float]:
        if not self.skew:
            return x, y
        sine, cosine = math.sin(math.radians(self.skew)), math.cos(math.radians(self.skew))
        width, height = _scaled(_turned(self.original, self.turn), self.scale)
        dx, dy = x - self.size[0] / 2, y - self.size[1] / 2
        return cosine * dx - sine * dy + width / 2, sine * dx + cosine * dy + height / 2


def _turned(size: tuple[int, int], turn: Turn) -> tuple[int, int]:
    return (size[1], size[0]) if turn in (90, 270) else size


def _scaled(size: tuple[int, int], scale: float) -> tuple[int, int]:
    return max(1, round(size[0] * scale)), max(1, round(size[1] * scale))
