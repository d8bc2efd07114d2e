"""Charts and diagrams inside Office files: their numbers as a table, their words as paragraphs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rag_source.domain.documents import Place
from rag_source.ingest.builder import DocumentBuilder, RowText, one_line
from rag_source.ingest.office_package import OfficePackage, Relation
from rag_source.ingest.office_xml import Element, attribute, local
from rag_source.ingest.sheet_values import plain_number

__all__ = ["append_graphic"]

_MOST_POINTS = 5_000


@dataclass(frozen=True, slots=True)
class _Series:
    name: str
    categories: dict[int, str]
    values: dict[int, str]


def append_graphic(
    builder: DocumentBuilder, package: OfficePackage, relation: Relation, place: Place
) -> None:
    """Append the chart or diagram that a drawing links to; other links are ignored."""
    if relation.external:
        return
    if relation.kind == "chart":
        root = package.optional_xml(relation.target)
        if root is not None:
            _append_chart(builder, root, place)
    elif relation.kind == "diagramData":
        root = package.optional_xml(relation.target)
        for text in () if root is None else _paragraphs(root):
            builder.text(text, place=place)


def _append_chart(builder: DocumentBuilder, root: Element, place: Place) -> None:
    for title in _descend(root, "title"):
        builder.text(" ".join(_paragraphs(title)), place=place)
    series = [_series(element) for element in _descend(root, "ser")]
    series = [entry for entry in series if entry.values]
    if not series:
        return
    points = sorted({index for entry in series for index in entry.values})[:_MOST_POINTS]
    rows = [RowText(cells=("", *(entry.name for entry in series)), header=True, place=place)]
    for index in points:
        category = next((e.categories[index] for e in series if index in e.categories), "")
        cells = (category, *(entry.values.get(index, "") for entry in series))
        rows.append(RowText(cells=cells, place=place))
    builder.table(rows, place)


def _series(element: Element) -> _Series:
    name = ""
    categories: dict[int, str] = {}
    values: dict[int, str] = {}
    for part in element:
        match local(part):
            case "tx":
                name = one_line(" ".join(_points(part).values()))
            case "cat" | "xVal":
                categories = _points(part)
            case "val" | "yVal":
                values = {i: plain_number(text) for i, text in _points(part).items()}
    return _Series(name, categories, values)


def _points(element: Element) -> dict[int, str]:
    """The cached values of a reference by their index; a bare value has index 0."""
    found: dict[int, str] = {}
    for point in _descend(element, "pt"):
        index = attribute(point, "idx", "0")
        text = "".join(v.text or "" for v in point if local(v) == "v")
        if index.isdecimal() and text:
            found.setdefault(int(index), text)
    if not found:
        bare = [e.text or "" for e in element if local(e) == "v"]
        return {0: bare[0]} if bare else {}
    return found


def _paragraphs(element: Element) -> list[str]:
    """The text of each DrawingML paragraph that has some."""
    texts = (
        "".join(run.text or "" for run in _descend(paragraph, "t"))
        for paragraph in _descend(element, "p")
    )
    return [text for text in map(one_line, texts) if text]


def _descend(element: Element, name: str) -> Iterator[Element]:
    return (found for found in element.iter() if local(found) == name)
