"""The words of a Word paragraph as its reader sees them, and what hangs on them.

Insertions are kept and deletions gone; of a field its result is kept; what is marked hidden is
counted and left out. Text boxes, pictures, graphics and notes are handed back to be appended
after the paragraph.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from rag_source.ingest.office_boilerplate import is_generated_description
from rag_source.ingest.office_math import math_text
from rag_source.ingest.office_symbols import symbol, without_private_use
from rag_source.ingest.office_xml import Element, attribute, child, flag, local
from rag_source.ingest.word_styles import Styles

__all__ = ["Inline", "InlineReader"]

_SKIPPED = frozenset(
    "del moveFrom delText instrText delInstrText pPr rPr sdtPr sdtEndPr rt fldData ffData "
    "annotationRef footnoteRef endnoteRef".split()
)
_NOTES = {
    "footnoteReference": "footnote",
    "endnoteReference": "endnote",
    "commentReference": "comment",
}
_PAGE_FIELDS = frozenset({"PAGE", "NUMPAGES", "SECTIONPAGES"})
_SOFT_HYPHEN = "\u00ad"


@dataclass(slots=True)
class Inline:
    """What one paragraph holds.

    Attributes:
        words: Its text in pieces.
        boxes: The contents of its text boxes.
        notes: The kind and id of each note and comment it refers to.
        descriptions: The alternative texts of its pictures and shapes.
        graphics: Relation ids of its charts and diagrams.
        pictures: How many pictures have no description.
        hidden_chars: Characters left out because they are hidden.
        page_numbers: How many page numbers were left out.
    """

    words: list[str] = field(default_factory=list)
    boxes: list[Element] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    descriptions: list[str] = field(default_factory=list)
    graphics: list[str] = field(default_factory=list)
    pictures: int = 0
    hidden_chars: int = 0
    page_numbers: int = 0

    @property
    def text(self) -> str:
        return "".join(self.words).replace(_SOFT_HYPHEN, "")


@dataclass(slots=True)
class _Field:
    """A complex field that has begun: its instruction, and whether its result has been reached."""

    instruction: str = ""
    silent: bool = True


class InlineReader:
    """Reads the paragraphs of one story in order; fields may reach over several of them.

    Args:
        styles: To tell hidden text.
        margin: The story is a header or footer, where page numbers differ on every page and
            are left out.
    """

    def __init__(self, styles: Styles, *, margin: bool = False) -> None:
        self._styles = styles
        self._margin = margin
        self._fields: list[_Field] = []
        self._paragraph: Element | None = None
        self._on_plain_page = False
        self._hidden = False
        self._font = ""
        self._out = Inline()
        self._handlers: dict[str, Callable[[Element], None]] = {
            "AlternateContent": self._alternative,
            "br": lambda _: self._say("\n"),
            "chart": self._graphic,
            "cr": lambda _: self._say("\n"),
            "docPr": self._description,
            "fldChar": self._field_mark,
            "fldSimple": self._simple_field,
            "imagedata": self._picture,
            "noBreakHyphen": lambda _: self._say("-"),
            "oMath": lambda element: self._say(math_text(element)),
            "pic": self._picture,
            "ptab": lambda _: self._say("\t"),
            "r": self._run,
            "relIds": self._graphic,
            "sym": lambda e: self._say(symbol(attribute(e, "font"), attribute(e, "char"))),
            "t": lambda e: self._say(without_private_use(e.text or "", self._font)),
            "tab": lambda _: self._say("\t"),
            "textpath": lambda element: self._say(attribute(element, "string")),
            "txbxContent": lambda element: self._out.boxes.append(element),
        }

    def read(self, paragraph: Element, *, on_plain_page: bool = False) -> Inline:
        """The paragraph's contents.

        Args:
            paragraph: A `w:p`.
            on_plain_page: Nothing lies behind the text but the page, so white text is hidden.
        """
        self._out = Inline()
        self._paragraph = child(paragraph, "pPr")
        shaded = child(self._paragraph, "shd") is not None
        self._on_plain_page = on_plain_page and not shaded
        for element in paragraph:
            self._walk(element)
        return self._out

    def _walk(self, element: Element) -> None:
        name = local(element)
        if name in _SKIPPED:
            if name == "instrText" and self._fields:
                self._fields[-1].instruction += element.text or ""
            return
        if name in _NOTES:
            self._out.notes.append((_NOTES[name], attribute(element, "id")))
            return
        handler = self._handlers.get(name)
        if handler is not None:
            handler(element)
        else:
            for part in element:
                self._walk(part)

    def _say(self, text: str) -> None:
        if any(started.silent for started in self._fields):
            return
        if self._hidden:
            self._out.hidden_chars += len("".join(text.split()))
        else:
            self._out.words.append(text)

    def _run(self, run: Element) -> None:
        # Runs inside a ruby base or a shape stand inside another run.
        outer = self._hidden, self._font
        properties = child(run, "rPr")
        fonts = child(properties, "rFonts")
        self._font = "" if fonts is None else attribute(fonts, "ascii")
        self._hidden = self._styles.is_hidden(properties, self._paragraph) or self._is_white(
            properties
        )
        for element in run:
            self._walk(element)
        self._hidden, self._font = outer

    def _is_white(self, properties: Element | None) -> bool:
        if not self._on_plain_page or properties is None:
            return False
        color = child(properties, "color")
        if color is None or attribute(color, "val").upper() != "FFFFFF":
            return False
        return child(properties, "shd") is None and child(properties, "highlight") is None

    def _alternative(self, element: Element) -> None:
        """One of several forms of the same content: the first, unless it has nothing to read."""
        before = self._weight()
        for choice in element:
            for part in choice:
                self._walk(part)
            if self._weight() != before:
                return

    def _weight(self) -> tuple[int, ...]:
        out = self._out
        return (
            len(out.words),
            len(out.boxes),
            len(out.notes),
            len(out.descriptions),
            len(out.graphics),
            out.pictures,
            out.hidden_chars,
        )

    def _field_mark(self, mark: Element) -> None:
        kind = attribute(mark, "fldCharType")
        if kind == "begin":
            box = child(mark, "ffData", "checkBox")
            if box is not None:
                checked = child(box, "checked")
                state = checked if checked is not None else child(box, "default")
                self._say("☒" if flag(state) else "☐")
            self._fields.append(_Field())
        elif kind == "separate" and self._fields:
            self._fields[-1].silent = self._leaves_out(self._fields[-1].instruction)
        elif kind == "end" and self._fields:
            self._fields.pop()

    def _simple_field(self, element: Element) -> None:
        if self._leaves_out(attribute(element, "instr")):
            return
        for part in element:
            self._walk(part)

    def _leaves_out(self, instruction: str) -> bool:
        """Whether a field's result differs on every page."""
        words = instruction.split()
        if not (self._margin and words and words[0].upper() in _PAGE_FIELDS):
            return False
        self._out.page_numbers += 1
        return True

    def _description(self, element: Element) -> None:
        hidden = attribute(element, "hidden") in ("1", "true")
        text = attribute(element, "descr").strip()
        if text and hidden:
            self._out.hidden_chars += len("".join(text.split()))
        elif text:
            self._out.descriptions.append(text)

    def _picture(self, element: Element) -> None:
        if all(is_generated_description(text) for text in self._out.descriptions):
            self._out.pictures += 1

    def _graphic(self, element: Element) -> None:
        for name in ("dm", "id"):
            relation = attribute(element, name)
            if relation:
                self._out.graphics.append(relation)
                return
