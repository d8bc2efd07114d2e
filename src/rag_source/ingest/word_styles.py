"""What Word's styles and numbering say of a paragraph: heading, list item, label, hidden."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from rag_source.ingest.office_xml import Element, attribute, child, flag, local

__all__ = ["Numbering", "Styles"]

# The names of built-in styles are stored in English whatever the language of the program, but
# converters write the ids and names of theirs.
_HEADING = re.compile(
    r"^(?:heading|titre|überschrift|título|titolo|kop|заголовок|عنوان)\s*([1-9])$", re.IGNORECASE
)
_TITLE = re.compile(r"^(?:title|titre|titel|título|titolo|العنوان)$", re.IGNORECASE)
_MOST_ANCESTORS = 20
_BODY_LEVEL = 9
_TINY_HALF_POINTS = 4
_ROMAN = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"),
    (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"),
)  # fmt: skip
_ARABIC_LETTERS = "أبتثجحخدذرزسشصضطظعغفقكلمنهوي"
_ARABIC_ABJAD = "أبجدهوزحطيكلمنسعفصقرشتثخذضظغ"
_PLACEHOLDER = re.compile(r"%([1-9])")


@dataclass(frozen=True, slots=True)
class _Style:
    name: str
    parent: str
    paragraph: Element | None
    run: Element | None


class Styles:
    """The styles part; an absent one knows nothing, and headings are then told by style ids."""

    def __init__(self, root: Element | None) -> None:
        self._styles: dict[str, _Style] = {}
        self._default = ""
        for element in () if root is None else root:
            if local(element) != "style":
                continue
            style_id = attribute(element, "styleId")
            self._styles[style_id] = _Style(
                name=_value(child(element, "name")),
                parent=_value(child(element, "basedOn")),
                paragraph=child(element, "pPr"),
                run=child(element, "rPr"),
            )
            is_default = attribute(element, "default") in ("1", "true")
            if is_default and attribute(element, "type") == "paragraph":
                self._default = style_id

    def heading_level(self, properties: Element | None) -> int:
        """1 to 6 for a heading (a document's title is of level 1), 0 for other paragraphs."""
        direct = child(properties, "outlineLvl")
        if direct is not None:
            return _outline_level(direct)
        for style_id, style in self._chain(self.style_id(properties)):
            for name in (style.name, style_id):
                match = _HEADING.match(name)
                if match:
                    return min(6, int(match.group(1)))
                if _TITLE.match(name):
                    return 1
            outline = child(style.paragraph, "outlineLvl")
            if outline is not None:
                return _outline_level(outline)
        return 0

    def numbering(self, properties: Element | None) -> tuple[str, int | None]:
        """The paragraph's list and its level there (None: the style does not say); "" for none."""
        number, level = "", None
        direct = child(properties, "numPr")
        sources = [direct] if direct is not None else []
        for _, style in self._chain(self.style_id(properties)):
            inherited = child(style.paragraph, "numPr")
            if inherited is not None:
                sources.append(inherited)
        for source in sources:
            if level is None and (found := _value(child(source, "ilvl"))).isdecimal():
                level = min(8, int(found))
            if not number:
                number = _value(child(source, "numId"))
        return ("", None) if number == "0" else (number, level)

    def is_hidden(self, run: Element | None, paragraph: Element | None) -> bool:
        """Whether a run is marked hidden or is too small to be read."""
        chains = [
            style.run
            for style_id in (_value(child(run, "rStyle")), self.style_id(paragraph))
            for _, style in self._chain(style_id)
        ]
        for properties in (run, *chains):
            vanish = child(properties, "vanish")
            if vanish is not None:
                return flag(vanish)
        size = _value(child(run, "sz"))
        return size.isdecimal() and int(size) <= _TINY_HALF_POINTS

    def style_id(self, properties: Element | None) -> str:
        """The paragraph's style, that of the document's default if it names none."""
        return _value(child(properties, "pStyle")) or self._default

    def _chain(self, style_id: str) -> Iterator[tuple[str, _Style]]:
        """A style and those it is based on; an unknown id is a style by itself."""
        for _ in range(_MOST_ANCESTORS):
            if not style_id:
                return
            style = self._styles.get(style_id)
            yield style_id, style or _Style("", "", None, None)
            style_id = style.parent if style else ""


@dataclass(frozen=True, slots=True)
class _Level:
    start: int = 1
    format: str = "decimal"
    text: str = ""
    style: str = ""


@dataclass(slots=True)
class _List:
    levels: dict[int, _Level] = field(default_factory=dict)
    counters: dict[int, int] = field(default_factory=dict)


class Numbering:
    """Counts the paragraphs of numbered lists, so that `2.1` stands where the reader sees it."""

    def __init__(self, root: Element | None) -> None:
        self._abstract: dict[str, _List] = {}
        self._lists: dict[str, _List] = {}
        self._restarts: dict[str, dict[int, int]] = {}
        elements = [] if root is None else list(root)
        for element in elements:
            if local(element) == "abstractNum":
                self._abstract[attribute(element, "abstractNumId")] = _List(_levels(element))
        for element in elements:
            if local(element) == "num":
                self._add(element)

    def label(self, number: str, level: int | None, style: str = "") -> str:
        """The label of the list's next paragraph; empty for bullets and unknown lists."""
        found = self._lists.get(number)
        if found is None:
            return ""
        if level is None:
            level = next((i for i, known in found.levels.items() if known.style == style), 0)
        for restarted, start in self._restarts.pop(number, {}).items():
            found.counters[restarted] = start - 1
        shape = found.levels.get(level, _Level())
        found.counters[level] = found.counters.get(level, shape.start - 1) + 1
        for deeper in [i for i in found.counters if i > level]:
            del found.counters[deeper]
        if shape.format in ("bullet", "none"):
            return ""
        return _PLACEHOLDER.sub(lambda m: _counter(found, int(m.group(1)) - 1), shape.text).strip()

    def _add(self, element: Element) -> None:
        number = attribute(element, "numId")
        known = self._abstract.get(_value(child(element, "abstractNumId")))
        if known is None:
            return
        self._lists[number] = known
        for override in element:
            start = _value(child(override, "startOverride"))
            if local(override) == "lvlOverride" and start.isdecimal():
                level = attribute(override, "ilvl", "0")
                if level.isdecimal():
                    self._restarts.setdefault(number, {})[int(level)] = int(start)


def _value(element: Element | None) -> str:
    return "" if element is None else attribute(element, "val")


def _outline_level(element: Element) -> int:
    value = _value(element)
    level = int(value) if value.isdecimal() else _BODY_LEVEL
    return 0 if level >= _BODY_LEVEL else min(6, level + 1)


def _levels(abstract: Element) -> dict[int, _Level]:
    levels: dict[int, _Level] = {}
    for element in abstract:
        index = attribute(element, "ilvl")
        if local(element) != "lvl" or not index.isdecimal():
            continue
        start = _value(child(element, "start"))
        levels[int(index)] = _Level(
            start=int(start) if start.isdecimal() else 1,
            format=_value(child(element, "numFmt")) or "decimal",
            text=_value(child(element, "lvlText")),
            style=_value(child(element, "pStyle")),
        )
    return levels


def _counter(numbered: _List, level: int) -> str:
    shape = numbered.levels.get(level, _Level())
    return _formatted(numbered.counters.get(level, shape.start), shape.format)


def _formatted(number: int, style: str) -> str:
    match style:
        case "upperRoman":
            return _roman(number).upper()
        case "lowerRoman":
            return _roman(number)
        case "upperLetter":
            return _letters(number, "ABCDEFGHIJKLMNOPQRSTUVWXYZ")
        case "lowerLetter":
            return _letters(number, "abcdefghijklmnopqrstuvwxyz")
        case "arabicAlpha":
            return _letters(number, _ARABIC_LETTERS)
        case "arabicAbjad":
            return _letters(number, _ARABIC_ABJAD)
        case "decimalZero":
            return f"{number:02d}"
        case "bullet" | "none":
            return ""
        case _:
            return str(number)


def _roman(number: int) -> str:
    if not 0 < number < 4000:
        return str(number)
    out = []
    for value, letters in _ROMAN:
        count, number = divmod(number, value)
        out.append(letters * count)
    return "".join(out)


def _letters(number: int, alphabet: str) -> str:
    """After the last letter Word doubles them: z, aa, bb."""
    if not 0 < number <= 100 * len(alphabet):
        return str(number)
    times, index = divmod(number - 1, len(alphabet))
    return alphabet[index] * (times + 1)
