"""What lies on a sheet without being in a cell: comments and text boxes."""

from __future__ import annotations

from collections.abc import Iterator

from rag_source.domain.documents import SheetPlace
from rag_source.ingest.builder import DocumentBuilder
from rag_source.ingest.office_package import OfficePackage
from rag_source.ingest.office_xml import attribute, children, local
from rag_source.ingest.sheet_workbook import Sheet, SheetEntry, parse_range

__all__ = ["append_comments", "append_text_boxes"]

# What Excel writes for programs that know no threads stands before the comment's own words.
_THREAD_NOTICE = "[Threaded comment]"


def append_comments(
    builder: DocumentBuilder, package: OfficePackage, entry: SheetEntry, sheet: Sheet
) -> None:
    """Append the comments on visible cells as notes, each at its cell."""
    rows, columns = frozenset(sheet.hidden_rows), frozenset(sheet.hidden_columns)
    for cell, text in _comments(package, entry.part):
        area = parse_range(cell)
        if area is None or area[0] in rows or area[1] in columns:
            continue
        builder.text(text, "note", SheetPlace(sheet=entry.name, cell=cell))


def append_text_boxes(builder: DocumentBuilder, package: OfficePackage, entry: SheetEntry) -> None:
    """Append the words of the text boxes and shapes that lie on the sheet."""
    place = SheetPlace(sheet=entry.name)
    for part in package.related(entry.part, "drawing"):
        root = package.optional_xml(part)
        shapes = [] if root is None else [e for e in root.iter() if local(e) == "sp"]
        for shape in shapes:
            paragraphs = (p for p in shape.iter() if local(p) == "p")
            lines = ("".join(t.text or "" for t in p.iter() if local(t) == "t") for p in paragraphs)
            builder.text("\n".join(line for line in lines if line.strip()), place=place)


def _comments(package: OfficePackage, part: str) -> Iterator[tuple[str, str]]:
    threads = package.related(part, "threadedComment")
    for thread in threads:
        root = package.optional_xml(thread)
        for comment in children(root):
            texts = (e.text or "" for e in comment if local(e) == "text")
            yield attribute(comment, "ref"), "".join(texts)
    for legacy in package.related(part, "comments"):
        for comment in children(package.optional_xml(legacy), "commentList"):
            text = "".join(e.text or "" for e in comment.iter() if local(e) == "t")
            if not (threads and text.startswith(_THREAD_NOTICE)):
                yield attribute(comment, "ref"), text
