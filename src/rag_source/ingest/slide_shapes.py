"""The shapes of a slide with their places on it, in the order a reader takes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from rag_source.ingest.office_xml import Element, attribute, child, children, local

__all__ = ["Shape", "SlideFrame", "in_reading_order"]

_SHAPES = frozenset({"sp", "grpSp", "graphicFrame", "pic", "cxnSp", "contentPart"})
_SAME_AS_BODY = frozenset({"", "obj", "body", "subTitle", "tbl", "chart", "dgm", "media"})
_MOST_CUTS_DEEP = 12
# Boxes of neighbouring texts overlap a little; this share of the smaller one may.
_OVERLAP = 0.2

_Box: TypeAlias = tuple[float, float, float, float]


@dataclass(frozen=True, slots=True)
class Shape:
    """A shape: its box as left, top, right, bottom, None if nothing says where it lies.

    `placeholder` is its role, such as `title` or `body`; empty for a shape without one.
    `is_placeholder` tells a role that is not named (a body) from none.
    """

    element: Element
    box: _Box | None
    placeholder: str
    is_placeholder: bool
    hidden: bool


class SlideFrame:
    """Knows the places that a slide's placeholders inherit from its layout and master.

    Args:
        layout: The layout's root, None if there is none.
        master: The master's root, None if there is none.
    """

    def __init__(self, layout: Element | None, master: Element | None) -> None:
        self._frames = [_placeholder_boxes(root) for root in (layout, master) if root is not None]

    def shapes(self, tree: Element) -> list[Shape]:
        """The shapes of a shape tree or group, in the file's order."""
        found = []
        for element in _shape_elements(tree):
            holder = _placeholder(element)
            role = "" if holder is None else attribute(holder, "type")
            box = _own_box(element)
            if box is None and holder is not None:
                box = self._inherited(role, attribute(holder, "idx"))
            properties = _properties(element)
            hidden = properties is not None and attribute(properties, "hidden") in ("1", "true")
            found.append(Shape(element, box, role, holder is not None, hidden))
        return found

    def _inherited(self, role: str, index: str) -> _Box | None:
        for frame in self._frames:
            for key in (f"#{index}", _general(role)):
                if key in frame:
                    return frame[key]
        return None


def in_reading_order(shapes: Sequence[Shape], *, rtl: bool) -> list[Shape]:
    """Shapes from top to bottom; those side by side from the side where reading begins.

    Shapes without a place come last, in the file's order.
    """
    placed = [shape for shape in shapes if shape.box is not None]
    return [*_cut(placed, rtl, _MOST_CUTS_DEEP), *(s for s in shapes if s.box is None)]


def _cut(shapes: Sequence[Shape], rtl: bool, depth: int) -> list[Shape]:
    """Cut at horizontal gaps, the pieces at vertical ones, and so on."""
    if len(shapes) < 2:
        return list(shapes)
    if depth:
        for low, high, backwards in ((1, 3, False), (0, 2, rtl)):
            groups = _grouped(shapes, low, high)
            if len(groups) > 1:
                if backwards:
                    groups.reverse()
                return [shape for group in groups for shape in _cut(group, rtl, depth - 1)]
    side: Callable[[_Box], float] = (lambda box: -box[2]) if rtl else (lambda box: box[0])
    return sorted(shapes, key=lambda s: (s.box[1], side(s.box)) if s.box else (0.0, 0.0))


def _grouped(shapes: Sequence[Shape], low: int, high: int) -> list[list[Shape]]:
    """Groups whose extents along one axis do not overlap by more than the tolerance."""
    groups: list[list[Shape]] = []
    end = smallest = 0.0
    for shape in sorted(shapes, key=lambda s: (s.box[low], s.box[high]) if s.box else (0.0, 0.0)):
        box = shape.box
        if box is None:
            continue
        size = box[high] - box[low]
        if not groups or box[low] >= end - _OVERLAP * min(size, smallest):
            groups.append([])
            end, smallest = box[high], size
        groups[-1].append(shape)
        end, smallest = max(end, box[high]), min(smallest, size)
    return groups


def _shape_elements(tree: Element) -> Iterator[Element]:
    for element in tree:
        name = local(element)
        if name in _SHAPES:
            yield element
        elif name == "AlternateContent":
            for choice in element:
                inner = list(_shape_elements(choice))
                if inner:
                    yield from inner
                    break


def _properties(element: Element) -> Element | None:
    for part in element:
        if local(part).startswith("nv"):
            return child(part, "cNvPr")
    return None


def _placeholder(element: Element) -> Element | None:
    for part in element:
        if local(part).startswith("nv"):
            return child(part, "nvPr", "ph")
    return None


def _own_box(element: Element) -> _Box | None:
    frame = child(element, "xfrm")
    for properties in ("spPr", "grpSpPr"):
        frame = frame if frame is not None else child(element, properties, "xfrm")
    offset, extent = child(frame, "off"), child(frame, "ext")
    if offset is None or extent is None:
        return None
    try:
        x, y = float(attribute(offset, "x")), float(attribute(offset, "y"))
        return x, y, x + float(attribute(extent, "cx")), y + float(attribute(extent, "cy"))
    except ValueError:
        return None


def _placeholder_boxes(root: Element) -> dict[str, _Box]:
    """The boxes of a layout's placeholders by `#index` and by general role."""
    boxes: dict[str, _Box] = {}
    for element in children(root, "cSld", "spTree"):
        holder, box = _placeholder(element), _own_box(element)
        if holder is not None and box is not None:
            boxes.setdefault(f"#{attribute(holder, 'idx')}", box)
            boxes.setdefault(_general(attribute(holder, "type")), box)
    return boxes


def _general(role: str) -> str:
    if role in ("title", "ctrTitle"):
        return "title"
    return "body" if role in _SAME_AS_BODY else role
