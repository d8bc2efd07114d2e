"""Turn a page so that its text runs from left to right and its lines from top to bottom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Frame", "frame_of"]


@dataclass(frozen=True, slots=True)
class Frame:
    """A reading frame: how far text is turned clockwise on the page, and the frame's size."""

    turn: Literal[0, 90, 180, 270]
    width: float
    height: float

    def turned(self, box: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
        """A box of the page in this frame."""
        x0, y0, x1, y1 = box
        match self.turn:
            case 0:
                return box
            case 90:
                return y0, self.height - x1, y1, self.height - x0
            case 180:
                return self.width - x1, self.height - y1, self.width - x0, self.height - y0
            case 270:
                return self.width - y1, x0, self.width - y0, x1


def frame_of(direction: tuple[float, float], width: float, height: float) -> Frame:
    """The frame of text that runs along `direction` (y down) on a page of this size.

    The direction is taken to the nearest quarter turn: a skewed scan is still read in lines.
    """
    dx, dy = direction
    if abs(dx) >= abs(dy):
        return Frame(0, width, height) if dx >= 0 else Frame(180, width, height)
    return Frame(90, height, width) if dy > 0 else Frame(270, height, width)
