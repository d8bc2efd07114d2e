"""A presentation slide by slide: title, shapes in reading order, tables, charts, notes."""

from __future__ import annotations

from collections.abc import Iterator

from rag_source.domain.documents import BlockKind, SlidePlace
from rag_source.ingest.builder import DocumentBuilder, one_line
from rag_source.ingest.office_boilerplate import is_generated_description
from rag_source.ingest.office_charts import append_graphic
from rag_source.ingest.office_math import math_text
from rag_source.ingest.office_package import OfficePackage, Relation
from rag_source.ingest.office_symbols import without_private_use
from rag_source.ingest.office_tables import GridCell, GridRow, compose_table, is_amount
from rag_source.ingest.office_xml import Element, attribute, child, children, local
from rag_source.ingest.slide_shapes import Shape, SlideFrame, in_reading_order

__all__ = ["SlideDeck"]

_TITLES = frozenset({"title", "ctrTitle"})
_NOT_READ = frozenset({"sldNum", "dt", "sldImg", "hdr"})
_BULLETS = frozenset({"buChar", "buAutoNum", "buBlip"})
_MOST_COLUMNS = 500


class SlideDeck:
    """Appends a presentation to a builder.

    Args:
        package: The open file.
        main: The name of its main part.
        root: That part's root.
        builder: Where the blocks go.
    """

    def __init__(
        self, package: OfficePackage, main: str, root: Element, builder: DocumentBuilder
    ) -> None:
        self._package = package
        self._builder = builder
        relations = package.relations(main)
        ids = map(_relation_id, children(root, "sldIdLst"))
        self._slides = [relations[i].target for i in ids if i in relations]
        self._frames: dict[str, SlideFrame] = {}
        self._footers: set[str] = set()
        self._pictures = 0
        self._hidden_shapes = 0

    def append(self) -> None:
        """All visible slides in order; then warnings about what was left out."""
        hidden: list[str] = []
        for number, part in enumerate(self._slides, 1):
            root = self._package.optional_xml(part)
            if root is None:
                continue
            if attribute(root, "show", "1") in ("0", "false"):
                hidden.append(str(number))
                continue
            self._slide(part, root, SlidePlace(slide=number))
        if hidden:
            self._builder.warn("hidden_slide_skipped", f"Hidden slides: {', '.join(hidden)}.")
        if self._hidden_shapes:
            self._builder.warn("hidden_text", f"{self._hidden_shapes} hidden shapes were left out.")
        if self._pictures:
            self._builder.warn(
                "pictures_not_read",
                f"{self._pictures} pictures without a description; words in them were not read.",
            )

    def _slide(self, part: str, root: Element, place: SlidePlace) -> None:
        relations = self._package.relations(part)
        tree = child(root, "cSld", "spTree")
        shapes = [] if tree is None else self._frame(relations).shapes(tree)
        titles = [s for s in shapes if s.placeholder in _TITLES and not s.hidden]
        self._builder.end_sections()
        for shape in titles:
            self._builder.heading(one_line(" ".join(_texts(shape.element))), 1, place)
        others = [s for s in shapes if s.placeholder not in _TITLES]
        for shape in in_reading_order(others, rtl=tree is not None and _reads_rtl(tree)):
            self._shape(shape, relations, place, self._frame(relations))
        self._notes(relations, place)

    def _frame(self, relations: dict[str, Relation]) -> SlideFrame:
        layout = next((r.target for r in relations.values() if r.kind == "slideLayout"), "")
        if layout not in self._frames:
            masters = self._package.related(layout, "slideMaster") if layout else []
            self._frames[layout] = SlideFrame(
                self._package.optional_xml(layout),
                self._package.optional_xml(masters[0]) if masters else None,
            )
        return self._frames[layout]

    def _shape(
        self, shape: Shape, relations: dict[str, Relation], place: SlidePlace, frame: SlideFrame
    ) -> None:
        if shape.hidden:
            self._hidden_shapes += 1
            return
        if shape.placeholder in _NOT_READ:
            return
        match local(shape.element):
            case "grpSp":
                inner = frame.shapes(shape.element)
                for part in in_reading_order(inner, rtl=_reads_rtl(shape.element)):
                    self._shape(part, relations, place, frame)
            case "graphicFrame":
                self._graphic(shape.element, relations, place)
            case "pic":
                self._picture(shape.element, place)
            case _:
                self._text(shape, place)

    def _text(self, shape: Shape, place: SlidePlace) -> None:
        body = child(shape.element, "txBody")
        paragraphs = [p for p in children(body) if local(p) == "p"]
        texts = [(p, _paragraph_text(p)) for p in paragraphs]
        texts = [(p, text) for p, text in texts if text.strip()]
        if shape.placeholder == "ftr":
            footer = "\n".join(text for _, text in texts)
            if footer not in self._footers:
                self._footers.add(footer)
                self._builder.text(footer, "note", place)
            return
        in_body = shape.is_placeholder and shape.placeholder in ("", "body", "obj")
        for paragraph, text in texts:
            is_item = _is_list_item(paragraph, listed=in_body and len(texts) > 1)
            kind: BlockKind = "list_item" if is_item else "paragraph"
            self._builder.text(text, kind, place)

    def _graphic(self, element: Element, relations: dict[str, Relation], place: SlidePlace) -> None:
        for part in element.iter():
            match local(part):
                case "tbl":
                    self._table(part, place)
                    return
                case "chart":
                    relation = relations.get(attribute(part, "id"))
                case "relIds":
                    relation = relations.get(attribute(part, "dm"))
                case _:
                    continue
            if relation is not None:
                append_graphic(self._builder, self._package, relation, place)
            return

    def _table(self, table: Element, place: SlidePlace) -> None:
        rows: list[GridRow] = []
        width = 0
        for row in (e for e in table if local(e) == "tr"):
            cells: dict[int, GridCell] = {}
            for column, cell in enumerate(e for e in row if local(e) == "tc"):
                width = max(width, column + 1)
                if attribute(cell, "hMerge") in ("1", "true"):
                    continue
                if attribute(cell, "vMerge") in ("1", "true"):
                    continue
                text = "\n".join(_texts(cell))
                spans = (_span(cell, "gridSpan"), _span(cell, "rowSpan"))
                cells[column] = GridCell(text, *spans, place, is_amount(text))
            rows.append(GridRow(cells, place=place))
        properties = child(table, "tblPr")
        styled = properties is not None and attribute(properties, "firstRow") in ("1", "true")
        self._builder.table(compose_table(rows, width, first_is_header=styled), place)

    def _picture(self, element: Element, place: SlidePlace) -> None:
        properties = child(element, "nvPicPr", "cNvPr")
        text = "" if properties is None else attribute(properties, "descr")
        if text.strip() and not is_generated_description(text):
            self._builder.text(text, "image_text", place)
        else:
            self._pictures += 1

    def _notes(self, relations: dict[str, Relation], place: SlidePlace) -> None:
        """The speaker's notes, then the comments of reviewers, as notes."""
        for relation in relations.values():
            if relation.external or relation.kind not in ("notesSlide", "comments"):
                continue
            root = self._package.optional_xml(relation.target)
            if root is None:
                continue
            if relation.kind == "comments":
                for comment in (e for e in root if local(e) == "cm"):
                    plain = "".join(e.text or "" for e in comment if local(e) == "text")
                    self._builder.text(plain or "\n".join(_texts(comment)), "note", place)
                continue
            tree = child(root, "cSld", "spTree")
            for shape in [] if tree is None else SlideFrame(None, None).shapes(tree):
                if shape.placeholder == "body":
                    self._builder.text("\n".join(_texts(shape.element)), "note", place)


def _relation_id(element: Element) -> str:
    """The `r:id` of a slide, which has a plain `id` beside it."""
    return next((v for k, v in element.attrib.items() if k.endswith("}id")), "")


def _texts(element: Element) -> list[str]:
    """The paragraphs inside an element that have words."""
    paragraphs = (e for e in element.iter() if local(e) == "p")
    return [text for text in map(_paragraph_text, paragraphs) if text.strip()]


def _paragraph_text(paragraph: Element) -> str:
    return "".join(_pieces(paragraph))


def _pieces(element: Element) -> Iterator[str]:
    for part in element:
        match local(part):
            case "t":
                yield part.text or ""
            case "r":
                yield without_private_use("".join(_pieces(part)), _symbol_font(part))
            case "br":
                yield "\n"
            case "fld" if attribute(part, "type") == "slidenum":
                continue
            case "oMath":
                yield math_text(part)
            case "AlternateContent":
                choices = ["".join(_pieces(choice)) for choice in part]
                yield next((text for text in choices if text), "")
            case "pPr" | "rPr" | "endParaRPr":
                continue
            case _:
                yield from _pieces(part)


def _symbol_font(run: Element) -> str:
    fonts = child(run, "rPr", "sym")
    return "" if fonts is None else attribute(fonts, "typeface")


def _is_list_item(paragraph: Element, *, listed: bool) -> bool:
    properties = child(paragraph, "pPr")
    names = {local(e) for e in children(properties)}
    if names & _BULLETS:
        return True
    if "buNone" in names:
        return False
    return listed


def _reads_rtl(element: Element) -> bool:
    """Whether most letters are of a right-to-left script."""
    rtl = letters = 0
    for part in element.iter():
        if local(part) == "t" and part.text:
            letters += sum(c.isalpha() for c in part.text)
            rtl += sum("\u0590" <= c <= "\u08ff" or "\ufb1d" <= c <= "\ufefc" for c in part.text)
    return rtl * 2 > letters


def _span(cell: Element, name: str) -> int:
    value = attribute(cell, name, "1")
    return min(_MOST_COLUMNS, max(1, int(value))) if value.isdecimal() else 1
