"""Office formulas (OMML) on one line, as one would type them."""

from __future__ import annotations

from collections.abc import Callable

from rag_source.ingest.office_xml import Element, attribute, local

__all__ = ["math_text"]


def math_text(element: Element) -> str:
    """A formula's text: `(a+b)/2`, `x^2`, `√(x)`; anything unknown is its parts in a row."""
    name = local(element)
    if name == "t":
        return element.text or ""
    if name.endswith("Pr") or name in ("del", "moveFrom"):
        return ""
    write = _WRITERS.get(name)
    return write(element) if write else "".join(math_text(part) for part in element)


def _part(element: Element, name: str) -> str:
    return "".join(math_text(part) for part in element if local(part) == name)


def _grouped(text: str) -> str:
    return text if len(text) < 2 or text.isalnum() else f"({text})"


def _property(element: Element, name: str, default: str) -> str:
    for properties in element:
        if local(properties).endswith("Pr"):
            for entry in properties:
                if local(entry) == name:
                    return attribute(entry, "val")
    return default


def _delimited(element: Element) -> str:
    parts = [math_text(part) for part in element if local(part) == "e"]
    begin, end = _property(element, "begChr", "("), _property(element, "endChr", ")")
    return f"{begin}{_property(element, 'sepChr', '|').join(parts)}{end}"


def _nary(element: Element) -> str:
    low, high = _part(element, "sub"), _part(element, "sup")
    limits = (f"_{_grouped(low)}" if low else "") + (f"^{_grouped(high)}" if high else "")
    return f"{_property(element, 'chr', '∫')}{limits} {_part(element, 'e')}"


def _fraction(element: Element) -> str:
    return f"{_grouped(_part(element, 'num'))}/{_grouped(_part(element, 'den'))}"


def _scripts(element: Element) -> str:
    low, high = _part(element, "sub"), _part(element, "sup")
    below = f"_{_grouped(low)}" if low else ""
    above = f"^{_grouped(high)}" if high else ""
    return f"{_part(element, 'e')}{below}{above}"


def _root(element: Element) -> str:
    return f"{_part(element, 'deg')}√({_part(element, 'e')})"


def _matrix(element: Element) -> str:
    return "; ".join(math_text(row) for row in element if local(row) == "mr")


def _matrix_row(element: Element) -> str:
    return ", ".join(math_text(part) for part in element if local(part) == "e")


_WRITERS: dict[str, Callable[[Element], str]] = {
    "d": _delimited,
    "f": _fraction,
    "m": _matrix,
    "mr": _matrix_row,
    "nary": _nary,
    "rad": _root,
    "sSub": _scripts,
    "sSubSup": _scripts,
    "sSup": _scripts,
}
