"""From PDF points to fractions of the page as the viewer shows it."""

from __future__ import annotations

from rag_source.domain.answers import Box
from rag_source.domain.documents import Page, WordBox

__all__ = ["displayed_box", "merge_line_boxes"]


def displayed_box(page: Page, word: WordBox) -> Box:
    """The word's box as fractions of the *displayed* page, clamped to 0..1.

    A clockwise turn of 90 degrees sends the unrotated point (x, y) of a page w wide and h high to
    (h - y, x); 180 and 270 follow (PDF 32000-1, 7.7.3.3, Rotate).
    """
    w, h = page.width_pt, page.height_pt
    corners = ((word.x0, word.y0), (word.x1, word.y1))
    if page.rotation == 0:
        turned = [(x / w, y / h) for x, y in corners]
    elif page.rotation == 90:
        turned = [((h - y) / h, x / w) for x, y in corners]
    elif page.rotation == 180:
        turned = [((w - x) / w, (h - y) / h) for x, y in corners]
    else:
        turned = [(y / h, (w - x) / w) for x, y in corners]
    xs = sorted(min(1.0, max(0.0, x)) for x, _ in turned)
    ys = sorted(min(1.0, max(0.0, y)) for _, y in turned)
    return Box(page=page.number, x0=xs[0], y0=ys[0], x1=xs[1], y1=ys[1])


def merge_line_boxes(boxes: list[Box]) -> list[Box]:
    """Join boxes of consecutive words that share a line into one rectangle each, order kept.

    Two boxes share a line if their vertical overlap is more than half of the lower one's height.
    """
    merged: list[Box] = []
    for box in boxes:
        last = merged[-1] if merged else None
        if last is not None and last.page == box.page and _share_line(last, box):
            merged[-1] = Box(
                page=box.page,
                x0=min(last.x0, box.x0),
                y0=min(last.y0, box.y0),
                x1=max(last.x1, box.x1),
                y1=max(last.y1, box.y1),
            )
        else:
            merged.append(box)
    return merged


def _share_line(a: Box, b: Box) -> bool:
    overlap = min(a.y1, b.y1) - max(a.y0, b.y0)
    return overlap > 0.5 * min(a.y1 - a.y0, b.y1 - b.y0)
