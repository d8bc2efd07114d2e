"""A Word document in reading order: body, tables where they stand, notes by their references."""

from __future__ import annotations

from dataclasses import dataclass

from rag_source.domain.documents import ParagraphPlace, Place
from rag_source.ingest.builder import CELL_SEPARATOR, DocumentBuilder, one_line
from rag_source.ingest.decoding import decode
from rag_source.ingest.office_boilerplate import is_generated_description, is_page_label
from rag_source.ingest.office_charts import append_graphic
from rag_source.ingest.office_package import OfficePackage
from rag_source.ingest.office_tables import compose_table
from rag_source.ingest.office_xml import Element, attribute, child, flag, local
from rag_source.ingest.word_styles import Numbering, Styles
from rag_source.ingest.word_tables import is_layout, own_cells, own_rows, read_grid, unwrapped
from rag_source.ingest.word_text import Inline, InlineReader

__all__ = ["WordDocument"]

_FLOW_ELEMENTS = frozenset({"p", "tbl", "altChunk"})
_NOTE_PARTS = {"footnote": "footnotes", "endnote": "endnotes", "comment": "comments"}


@dataclass(slots=True)
class _Story:
    """A part that is read from its beginning to its end, and where the reading stands."""

    part: str
    name: str
    reader: InlineReader
    paragraphs: int = 0
    carried: str = ""

    def next_place(self) -> ParagraphPlace:
        self.paragraphs += 1
        return ParagraphPlace(paragraph=self.paragraphs, part=self.name)


class WordDocument:
    """Appends a document to a builder.

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
        self._root = root
        self._main = main
        self._relations = package.relations(main)
        self._styles = Styles(self._first("styles"))
        self._numbering = Numbering(self._first("numbering"))
        self._notes = {kind: self._read_notes(kind, part) for kind, part in _NOTE_PARTS.items()}
        self._noted: set[tuple[str, str]] = set()
        self._hidden_chars = 0
        self._pictures = 0

    def append(self) -> None:
        """Headers, the body with its notes, footers; then warnings about what was left out."""
        margins = self._margins()
        for name, text in margins:
            if name == "header":
                self._builder.text(text, "note", ParagraphPlace(paragraph=1, part=name))
        story = _Story(self._main, "body", InlineReader(self._styles))
        body = child(self._root, "body")
        if body is not None:
            self._blocks(body, story, depth=0)
        self._flush_carried(story)
        self._builder.end_sections()
        for name, text in margins:
            if name == "footer":
                self._builder.text(text, "note", ParagraphPlace(paragraph=1, part=name))
        self._warn()

    def _first(self, kind: str) -> Element | None:
        for relation in self._relations.values():
            if relation.kind == kind and not relation.external:
                return self._package.optional_xml(relation.target)
        return None

    def _read_notes(self, kind: str, part: str) -> dict[str, tuple[int, Element]]:
        """The notes of one kind by id, each with its position in its part from 1."""
        root = self._first(part)
        notes = [] if root is None else [e for e in root if local(e) == kind]
        return {attribute(note, "id"): (i, note) for i, note in enumerate(notes, 1)}

    def _blocks(self, container: Element, story: _Story, *, depth: int) -> None:
        """Append what a container of paragraphs and tables holds."""
        for element in unwrapped(container, _FLOW_ELEMENTS):
            name = local(element)
            if name == "p":
                self._paragraph(element, story, depth)
            elif name == "tbl":
                self._table(element, story, depth)
            elif name == "altChunk":
                self._inserted_document(attribute(element, "id"))

    def _paragraph(self, paragraph: Element, story: _Story, depth: int) -> None:
        place = story.next_place()
        inline = story.reader.read(paragraph, on_plain_page=depth == 0)
        properties = child(paragraph, "pPr")
        text = story.carried + inline.text
        story.carried = ""
        if _mark_is_deleted(properties):
            # Without its end the paragraph goes on in the next one.
            story.carried = text
        elif text.strip():
            self._append_text(text, properties, place, may_be_heading=depth == 0)
        self._append_attached(inline, story, place, depth)

    def _append_text(
        self, text: str, properties: Element | None, place: Place, *, may_be_heading: bool
    ) -> None:
        number, _ = self._styles.numbering(properties)
        label = self._label(properties)
        text = f"{label} {text.strip()}" if label else text
        heading = self._styles.heading_level(properties) if may_be_heading else 0
        if heading:
            self._builder.heading(one_line(text), heading, place)
        else:
            self._builder.text(text, "list_item" if number else "paragraph", place)

    def _label(self, properties: Element | None) -> str:
        number, level = self._styles.numbering(properties)
        if not number:
            return ""
        return self._numbering.label(number, level, self._styles.style_id(properties))

    def _append_attached(self, inline: Inline, story: _Story, place: Place, depth: int) -> None:
        """What hangs on a paragraph: pictures' descriptions, graphics, text boxes, notes."""
        self._hidden_chars += inline.hidden_chars
        self._pictures += inline.pictures
        for description in dict.fromkeys(inline.descriptions):
            if not is_generated_description(description):
                self._builder.text(description, "image_text", place)
        for relation_id in inline.graphics:
            relation = self._relations.get(relation_id)
            if relation is not None and story.part == self._main:
                append_graphic(self._builder, self._package, relation, place)
        for box in inline.boxes:
            self._blocks(box, story, depth=depth + 1)
        for reference in inline.notes:
            self._append_note(reference)

    def _append_note(self, reference: tuple[str, str]) -> None:
        kind, note_id = reference
        found = self._notes[kind].get(note_id)
        if found is None or reference in self._noted:
            return
        self._noted.add(reference)
        position, note = found
        text = self._flat_text(note, _Story(kind, kind, InlineReader(self._styles)))
        self._builder.text(text, "note", ParagraphPlace(paragraph=position, part=kind))

    def _table(self, table: Element, story: _Story, depth: int) -> None:
        if is_layout(table, self._styles):
            for row in own_rows(table):
                for cell in own_cells(row):
                    self._blocks(cell, story, depth=depth + 1)
            return
        place = ParagraphPlace(paragraph=story.paragraphs + 1, part=story.name)
        attached: list[tuple[Inline, Place]] = []
        nested: list[Element] = []
        rows, width = read_grid(table, lambda cell: self._cell_text(cell, story, attached, nested))
        self._builder.table(compose_table(rows, width), place)
        for inline, where in attached:
            self._append_attached(inline, story, where, depth + 1)
        for inner in nested:
            self._table(inner, story, depth + 1)

    def _cell_text(
        self,
        cell: Element,
        story: _Story,
        attached: list[tuple[Inline, Place]],
        nested: list[Element],
    ) -> tuple[str, Place]:
        lines: list[str] = []
        first = ParagraphPlace(paragraph=story.paragraphs + 1, part=story.name)
        for element in unwrapped(cell, _FLOW_ELEMENTS):
            if local(element) == "tbl":
                nested.append(element)
            elif local(element) == "p":
                place = story.next_place()
                inline = story.reader.read(element)
                label = self._label(child(element, "pPr")) if inline.text.strip() else ""
                lines.append(f"{label} {inline.text}" if label else inline.text)
                attached.append((inline, place))
        return "\n".join(lines), first

    def _flat_text(self, container: Element, story: _Story) -> str:
        """All the words of a note or margin as lines, tables and text boxes included."""
        lines: list[str] = []
        for element in unwrapped(container, _FLOW_ELEMENTS):
            if local(element) == "p":
                inline = story.reader.read(element)
                self._hidden_chars += inline.hidden_chars
                text = inline.text.strip()
                if inline.page_numbers and is_page_label(text):
                    text = ""
                lines.append(text)
                lines += [self._flat_text(box, story) for box in inline.boxes]
            elif local(element) == "tbl":
                for row in own_rows(element):
                    cells = [one_line(self._flat_text(c, story)) for c in own_cells(row)]
                    lines.append(CELL_SEPARATOR.join(cell for cell in cells if cell))
        return "\n".join(line for line in lines if line)

    def _margins(self) -> list[tuple[str, str]]:
        """The distinct headers and footers that are shown, in the order of their sections."""
        settings = self._first("settings")
        even = flag(child(settings, "evenAndOddHeaders"))
        texts: dict[str, tuple[str, str]] = {}
        for section in (e for e in self._root.iter() if local(e) == "sectPr"):
            first = flag(child(section, "titlePg"))
            for reference in section:
                name = local(reference).removesuffix("Reference")
                kind = attribute(reference, "type", "default")
                shown = kind == "default" or (first if kind == "first" else even)
                relation = self._relations.get(attribute(reference, "id"))
                if name not in ("header", "footer") or not shown or relation is None:
                    continue
                part = relation.target
                root = None if part in texts else self._package.optional_xml(part)
                if root is not None:
                    reader = InlineReader(self._styles, margin=True)
                    texts[part] = (name, self._flat_text(root, _Story(part, name, reader)))
        return [margin for margin in dict.fromkeys(texts.values()) if margin[1]]

    def _inserted_document(self, relation_id: str) -> None:
        """A document inserted whole, which Word converts only when it opens the file."""
        relation = self._relations.get(relation_id)
        if relation is None or relation.external or relation.target not in self._package:
            return
        if relation.target.lower().endswith((".htm", ".html", ".xhtml")):
            # Lazy: few documents hold a page of HTML, and its parser costs half a second.
            from rag_source.ingest.html_blocks import append_html

            data = self._package.read(relation.target)
            append_html(self._builder, decode(data, name=relation.target).text)
        else:
            self._builder.warn(
                "embedded_part_skipped",
                f"The inserted document {relation.target!r} was left out; save the file again.",
            )

    def _flush_carried(self, story: _Story) -> None:
        place = ParagraphPlace(paragraph=max(1, story.paragraphs), part=story.name)
        self._builder.text(story.carried, place=place)

    def _warn(self) -> None:
        if self._hidden_chars:
            self._builder.warn(
                "hidden_text", f"{self._hidden_chars} characters marked hidden were left out."
            )
        if self._pictures:
            self._builder.warn(
                "pictures_not_read",
                f"{self._pictures} pictures without a description; words in them were not read.",
            )


def _mark_is_deleted(properties: Element | None) -> bool:
    mark = child(properties, "rPr")
    return any(child(mark, name) is not None for name in ("del", "moveFrom"))
