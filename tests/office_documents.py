"""Small Office files, written part by part so that tests can hold what no library writes."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

__all__ = [
    "DOCX_NAMESPACES",
    "cell",
    "inline_row",
    "make_docx",
    "make_pptx",
    "make_xlsx",
    "paragraph",
    "shape",
    "slide",
    "write_package",
]

_OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
_SLIDE = "http://schemas.openxmlformats.org/presentationml/2006/main"
_DRAWING = "http://schemas.openxmlformats.org/drawingml/2006/main"
DOCX_NAMESPACES = (
    f'xmlns:w="{_WORD}" xmlns:r="{_OFFICE}" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:wp="http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    f'xmlns:a="{_DRAWING}" xmlns:v="urn:schemas-microsoft-com:vml"'
)
_PPTX_NAMESPACES = f'xmlns:a="{_DRAWING}" xmlns:r="{_OFFICE}" xmlns:p="{_SLIDE}"'
_CORE = (
    '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/'
    'core-properties" xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{}</dc:title>'
    "</cp:coreProperties>"
)


def write_package(
    path: Path, main: str, parts: Mapping[str, str | bytes], *, title: str = ""
) -> Path:
    """A package whose main part is `main`; the package's own links are added."""
    links = {"rId1": ("officeDocument", main)}
    if title:
        links["rId2"] = ("core-properties", "docProps/core.xml")
        parts = {**parts, "docProps/core.xml": _CORE.format(escape(title))}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("_rels/.rels", relations(links))
        for name, content in parts.items():
            archive.writestr(name, content)
    return path


def relations(links: Mapping[str, tuple[str, str]]) -> str:
    """A relations part: kind and target by id."""
    entries = "".join(
        f'<Relationship Id="{key}" Type="{_OFFICE}/{kind}" Target={quoteattr(target)}/>'
        for key, (kind, target) in links.items()
    )
    return (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f"{entries}</Relationships>"
    )


def paragraph(text: str, *, style: str = "", properties: str = "") -> str:
    """A Word paragraph with one run of text."""
    named = f'<w:pStyle w:val="{style}"/>' if style else ""
    run = f'<w:r><w:t xml:space="preserve">{escape(text)}</w:t></w:r>' if text else ""
    return f"<w:p><w:pPr>{named}{properties}</w:pPr>{run}</w:p>"


def make_docx(
    path: Path,
    body: str,
    *,
    title: str = "",
    linked: Mapping[str, tuple[str, str]] | None = None,
    prolog: str = "",
) -> Path:
    """A Word file.

    Args:
        path: Where to write it.
        body: The XML inside `w:body`.
        title: The title property.
        linked: Further parts by relation id: their kind (which names the file), their XML.
        prolog: What stands before the root of the main part.
    """
    linked = linked or {}
    links = {key: (kind, f"{key}_{kind}.xml") for key, (kind, _) in linked.items()}
    parts: dict[str, str | bytes] = {
        "word/document.xml": f"{prolog}<w:document {DOCX_NAMESPACES}><w:body>{body}</w:body>"
        "</w:document>",
        "word/_rels/document.xml.rels": relations(links),
    }
    for key, (kind, xml) in linked.items():
        parts[f"word/{key}_{kind}.xml"] = xml
    return write_package(path, "word/document.xml", parts, title=title)


def cell(reference: str, value: str, *, kind: str = "n", style: int = 0, formula: str = "") -> str:
    """A stored cell; `kind` is the file's type letter, an empty value is written empty."""
    stored = f"<f>{escape(formula)}</f>" if formula else ""
    return f'<c r="{reference}" s="{style}" t="{kind}">{stored}<v>{escape(value)}</v></c>'


def inline_row(number: int, values: Sequence[str | float | None], *, attributes: str = "") -> str:
    """A row from column A: texts inline, numbers as numbers, None as nothing."""
    cells = []
    for i, value in enumerate(values):
        reference = f"{chr(65 + i)}{number}"
        if isinstance(value, str):
            text = f'<is><t xml:space="preserve">{escape(value)}</t></is>'
            cells.append(f'<c r="{reference}" t="inlineStr">{text}</c>')
        elif value is not None:
            cells.append(cell(reference, repr(value)))
    return f'<row r="{number}" {attributes}>{"".join(cells)}</row>'


def make_xlsx(
    path: Path,
    sheets: Mapping[str, str],
    *,
    states: Mapping[str, str] | None = None,
    formats: Sequence[str] = (),
    date1904: bool = False,
    title: str = "",
    extra: Mapping[str, str] | None = None,
) -> Path:
    """A workbook.

    Args:
        path: Where to write it.
        sheets: The XML inside `worksheet` by sheet name; a bare run of rows gets its `sheetData`.
        states: `hidden` or `veryHidden` sheets.
        formats: Number format codes; cells use them by style 1, 2 and so on.
        date1904: Whether days count from 1904.
        title: The title property.
        extra: Further parts.
    """
    links: dict[str, tuple[str, str]] = {"rId0": ("styles", "styles.xml")}
    entries = ""
    parts: dict[str, str | bytes] = {"xl/styles.xml": _styles(formats), **(extra or {})}
    for i, (name, content) in enumerate(sheets.items(), 1):
        state = (states or {}).get(name, "visible")
        links[f"rId{i}"] = ("worksheet", f"worksheets/sheet{i}.xml")
        entries += f'<sheet name={quoteattr(name)} sheetId="{i}" state="{state}" r:id="rId{i}"/>'
        inner = content if "<sheetData" in content else f"<sheetData>{content}</sheetData>"
        parts[f"xl/worksheets/sheet{i}.xml"] = (
            f'<worksheet xmlns="{_SHEET}" xmlns:r="{_OFFICE}">{inner}</worksheet>'
        )
    epoch = '<workbookPr date1904="1"/>' if date1904 else ""
    parts["xl/workbook.xml"] = (
        f'<workbook xmlns="{_SHEET}" xmlns:r="{_OFFICE}">{epoch}<sheets>{entries}</sheets>'
        "</workbook>"
    )
    parts["xl/_rels/workbook.xml.rels"] = relations(links)
    return write_package(path, "xl/workbook.xml", parts, title=title)


def _styles(formats: Sequence[str]) -> str:
    codes = "".join(
        f'<numFmt numFmtId="{200 + i}" formatCode={quoteattr(code)}/>'
        for i, code in enumerate(formats)
    )
    styles = "".join(f'<xf numFmtId="{200 + i}"/>' for i in range(len(formats)))
    return (
        f'<styleSheet xmlns="{_SHEET}"><numFmts>{codes}</numFmts>'
        f'<cellXfs><xf numFmtId="0"/>{styles}</cellXfs></styleSheet>'
    )


def shape(
    text: str,
    *,
    at: tuple[int, int] | None = None,
    size: tuple[int, int] = (100, 100),
    placeholder: str = "",
    hidden: bool = False,
) -> str:
    """A shape with a paragraph for each line of its text; without `at` it has no place."""
    holder = f'<p:ph type="{placeholder}"/>' if placeholder else ""
    frame = (
        f'<a:xfrm><a:off x="{at[0]}" y="{at[1]}"/><a:ext cx="{size[0]}" cy="{size[1]}"/></a:xfrm>'
        if at
        else ""
    )
    paragraphs = "".join(
        f"<a:p><a:r><a:t>{escape(line)}</a:t></a:r></a:p>" for line in text.split("\n")
    )
    return (
        f'<p:sp><p:nvSpPr><p:cNvPr id="2" name="s" hidden="{int(hidden)}"/><p:cNvSpPr/>'
        f"<p:nvPr>{holder}</p:nvPr></p:nvSpPr><p:spPr>{frame}</p:spPr>"
        f"<p:txBody>{paragraphs}</p:txBody></p:sp>"
    )


def slide(*shapes: str, show: bool = True) -> str:
    """A slide with these shapes, in the file's order."""
    return (
        f'<p:sld {_PPTX_NAMESPACES} show="{int(show)}"><p:cSld><p:spTree>{"".join(shapes)}'
        "</p:spTree></p:cSld></p:sld>"
    )


def make_pptx(
    path: Path,
    slides: Sequence[str],
    *,
    notes: Mapping[int, str] | None = None,
    linked: Mapping[int, Mapping[str, tuple[str, str]]] | None = None,
    title: str = "",
) -> Path:
    """A presentation.

    Args:
        path: Where to write it.
        slides: The XML of each slide.
        notes: Speaker notes by slide number.
        linked: Further parts by slide number and relation id: their kind, their XML.
        title: The title property.
    """
    links: dict[str, tuple[str, str]] = {}
    parts: dict[str, str | bytes] = {}
    ids = ""
    for number, xml in enumerate(slides, 1):
        links[f"rId{number}"] = ("slide", f"slides/slide{number}.xml")
        ids += f'<p:sldId id="{255 + number}" r:id="rId{number}"/>'
        parts[f"ppt/slides/slide{number}.xml"] = xml
        own: dict[str, tuple[str, str]] = {}
        if number in (notes or {}):
            own["rIdNotes"] = ("notesSlide", f"../notesSlides/notes{number}.xml")
            text = (notes or {})[number]
            parts[f"ppt/notesSlides/notes{number}.xml"] = slide(shape(text, placeholder="body"))
        for key, (kind, content) in (linked or {}).get(number, {}).items():
            own[key] = (kind, f"../{kind}/{key}{number}.xml")
            parts[f"ppt/{kind}/{key}{number}.xml"] = content
        parts[f"ppt/slides/_rels/slide{number}.xml.rels"] = relations(own)
    parts["ppt/presentation.xml"] = (
        f"<p:presentation {_PPTX_NAMESPACES}><p:sldIdLst>{ids}</p:sldIdLst></p:presentation>"
    )
    parts["ppt/_rels/presentation.xml.rels"] = relations(links)
    return write_package(path, "ppt/presentation.xml", parts, title=title)
