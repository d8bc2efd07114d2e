"""Put characters that share one glyph together: ligatures and the marks on a letter."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from rag_source.ingest.bidi import has_rtl

__all__ = ["Glyph", "clusters"]


class Glyph(NamedTuple):
    """Characters and the box they are drawn in."""

    text: str
    x0: float
    y0: float
    x1: float
    y1: float


def clusters(chars: Sequence[Glyph], size: float) -> list[Glyph]:
    """Characters in stream order, those without a width of their own joined to their base.

    A glyph that stands for several characters comes as one with the glyph's width and others of
    no width at its right edge: after it where the stream is logical, before it where a reader
    turned the stream around. The base is always read first.
    """
    out: list[Glyph] = []
    waiting: list[Glyph] = []
    tolerance = 0.02 * size
    for char in chars:
        if _has_no_width(char, size) and not _is_other_script(char, out):
            if out and not waiting and _belongs(char, out[-1], tolerance):
                out[-1] = out[-1]._replace(text=out[-1].text + char.text)
            else:
                waiting.append(char)
            continue
        text = char.text
        if waiting and _belongs(waiting[-1], char, tolerance):
            text += "".join(c.text for c in reversed(waiting))
        elif waiting and out:
            tail = "".join(c.text for c in waiting)
            out[-1] = out[-1]._replace(text=out[-1].text + tail)
        elif waiting:
            out += waiting
        waiting = []
        out.append(char._replace(text=text))
    if waiting and out:
        out[-1] = out[-1]._replace(text=out[-1].text + "".join(c.text for c in waiting))
    elif waiting:
        out += waiting
    return out


def _has_no_width(char: Glyph, size: float) -> bool:
    if unicodedata.combining(char.text[:1] or " "):
        return True
    return char.x1 - char.x0 < 0.01 * size


def _is_other_script(char: Glyph, out: Sequence[Glyph]) -> bool:
    """A letter of the other direction than the glyph before it is no part of its ligature."""
    return bool(
        out
        and char.text.isalpha()
        and out[-1].text[:1].isalpha()
        and has_rtl(char.text) != has_rtl(out[-1].text)
    )


def _belongs(char: Glyph, base: Glyph, tolerance: float) -> bool:
    if unicodedata.combining(char.text[:1] or " "):
        middle = (char.x0 + char.x1) / 2
        return base.x0 - tolerance <= middle <= base.x1 + tolerance
    return abs(char.x0 - base.x1) <= tolerance
