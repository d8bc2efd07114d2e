"""Builders of the files that tests read: no binary lies in the repository if code can write it."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pymupdf

__all__ = [
    "A4",
    "PdfPage",
    "PdfText",
    "columns",
    "make_csv",
    "make_html",
    "make_pdf",
    "make_text",
    "paragraph",
    "remap_unicode",
    "rtl_text",
    "shaped",
]

_mupdf: Any = pymupdf  # It ships no type information.
A4 = (595.0, 842.0)
_ARABIC_SCRIPT = 6  # MuPDF's number for the Noto Naskh Arabic that it carries.


@dataclass(frozen=True, kw_only=True)
class PdfText:
    """A line at (x, y): x is its left end, y its baseline, in points from the top left.

    `font` is `latin` (Helvetica), `bold`, or `arabic`, whose characters are drawn one by one in
    the order given, leftwards from `x` with `leftwards`, without shaping.
    """

    text: str
    x: float
    y: float
    size: float = 11
    font: Literal["latin", "bold", "arabic"] = "latin"
    leftwards: bool = False
    color: tuple[float, float, float] = (0, 0, 0)


@dataclass(frozen=True, kw_only=True)
class PdfPage:
    """Lines in the order in which they are written into the file.

    `crop` is (left, top, right, bottom) in points of the page; `origin` moves the MediaBox's lower
    left corner away from (0, 0); an `image` page has a picture and no text.
    """

    lines: Sequence[PdfText] = ()
    size: tuple[float, float] = A4
    rotation: int = 0
    crop: tuple[float, float, float, float] | None = None
    origin: tuple[float, float] = (0, 0)
    image: bool = False


def make_pdf(
    path: Path,
    pages: Sequence[PdfPage | Sequence[PdfText]],
    *,
    title: str = "",
    user_password: str = "",
    owner_password: str = "",
) -> Path:
    """Write a PDF of these pages."""
    document = _mupdf.open()
    for given in pages:
        page = given if isinstance(given, PdfPage) else PdfPage(lines=given)
        _add_page(document, page)
    if title:
        document.set_metadata({"title": title})
    options: dict[str, Any] = {}
    if user_password or owner_password:
        options = {
            "encryption": _mupdf.PDF_ENCRYPT_AES_256,
            "user_pw": user_password,
            "owner_pw": owner_password,
            "permissions": _mupdf.PDF_PERM_ACCESSIBILITY,
        }
    document.save(path, **options)
    document.close()
    return path


def remap_unicode(path: Path, said: bytes, instead: bytes) -> None:
    """Let the fonts of a PDF claim other characters for a glyph.

    Both are as a ToUnicode map has them: `<fb01>`, or a list where it maps a range.
    """
    document: Any = _mupdf.open(path)
    changed = 0
    for xref in range(1, document.xref_length()):
        kind, value = document.xref_get_key(xref, "ToUnicode")
        if kind == "xref":
            target = int(value.split()[0])
            stream = document.xref_stream(target)
            document.update_stream(target, stream.replace(said, instead))
            changed += stream.count(said)
    assert changed, f"no font says {said!r}"
    document.saveIncr()
    document.close()


def paragraph(
    lines: Sequence[str], *, x: float = 72, y: float = 100, size: float = 11, step: float = 14
) -> list[PdfText]:
    """Lines one below the other."""
    return [PdfText(text=line, x=x, y=y + i * step, size=size) for i, line in enumerate(lines)]


def columns(
    left: Sequence[str],
    right: Sequence[str],
    *,
    right_first: bool = False,
    right_shift: float = 0,
    y: float = 100,
) -> list[PdfText]:
    """Two columns at 72 and 320 points; the right one may be written first or stand lower."""
    a = paragraph(left, x=72, y=y)
    b = paragraph(right, x=320, y=y + right_shift)
    return [*b, *a] if right_first else [*a, *b]


def rtl_text(
    text: str, *, right: float, y: float, order: Literal["logical", "visual"], size: float = 14
) -> list[PdfText]:
    """An Arabic line that ends at `right`, written as one of the two kinds of producers do.

    `text` is given as it is read. `logical`: each character in reading order, going leftwards,
    numbers rightwards. `visual`: one run from left to right, as browsers print.
    """
    font = _mupdf.Font(script=_ARABIC_SCRIPT)
    clusters = _display_order(text)
    widths = [sum(font.text_length(c, size) for c in cluster) for cluster in clusters]
    x = right - sum(widths)
    if order == "visual":
        return [PdfText(text="".join(clusters), x=x, y=y, size=size, font="arabic")]
    placed: list[PdfText] = []
    for cluster, width in zip(clusters, widths, strict=True):
        placed.append(PdfText(text=cluster, x=x, y=y, size=size, font="arabic"))
        x += width
    return placed[::-1]


def shaped(text: str) -> str:
    """Arabic letters as the glyphs they take beside their neighbours, lam and alef as one."""
    out: list[str] = []
    i = 0
    while i < len(text):
        unit = text[i : i + 2] if text[i] == "ل" and text[i : i + 2] in _SHAPES else text[i]
        i += len(unit)
        shapes = _SHAPES.get(unit, {})
        before = text[i - len(unit) - 1 : i - len(unit)]
        joins_before = "final" in shapes and "initial" in _SHAPES.get(before, {})
        joins_after = "initial" in shapes and "final" in _SHAPES.get(text[i : i + 1], {})
        if joins_before:
            name = "medial" if joins_after else "final"
        else:
            name = "initial" if joins_after else "isolated"
        out.append(shapes.get(name, unit))
    return "".join(out)


def _presentation_forms() -> dict[str, dict[str, str]]:
    """The glyphs of each letter, and of lam with alef, by their place in the word."""
    found: dict[str, dict[str, str]] = {}
    for code in range(0xFE70, 0xFEFD):
        place, *letters = unicodedata.decomposition(chr(code)).split() or [""]
        name = "".join(chr(int(letter, 16)) for letter in letters)
        found.setdefault(name, {})[place.strip("<>")] = chr(code)
    return found


_SHAPES = _presentation_forms()


def make_text(path: Path, text: str, *, encoding: str = "utf-8", bom: bool = False) -> Path:
    """Write a text file in an encoding, with a byte order mark if asked."""
    mark = "\ufeff".encode(encoding) if bom else b""
    path.write_bytes(mark + text.encode(encoding))
    return path


def make_html(
    path: Path,
    body: str,
    *,
    head: str = "",
    title: str = "",
    encoding: str = "utf-8",
    bom: bool = False,
) -> Path:
    """Write a page; `head` goes before the title."""
    named = f"<title>{title}</title>" if title else ""
    page = f"<!DOCTYPE html>\n<html><head>{head}{named}</head><body>{body}</body></html>\n"
    return make_text(path, page, encoding=encoding, bom=bom)


def make_csv(
    path: Path,
    rows: Sequence[Sequence[str]],
    *,
    delimiter: str = ",",
    encoding: str = "utf-8",
    bom: bool = False,
) -> Path:
    """Write rows; a field is quoted where it must be."""
    lines = [delimiter.join(_field(cell, delimiter) for cell in row) for row in rows]
    return make_text(path, "\r\n".join(lines) + "\r\n", encoding=encoding, bom=bom)


def _field(cell: str, delimiter: str) -> str:
    if any(c in cell for c in (delimiter, '"', "\n")):
        return '"' + cell.replace('"', '""') + '"'
    return cell


def _add_page(document: Any, given: PdfPage) -> None:
    width, height = given.size
    page = document.new_page(width=width, height=height)
    for line in given.lines:
        if line.font == "arabic":
            writer = _mupdf.TextWriter(page.rect, color=line.color)
            writer.append(
                (line.x, line.y),
                line.text,
                font=_mupdf.Font(script=_ARABIC_SCRIPT),
                fontsize=line.size,
            )
            writer.write_text(page)
        else:
            page.insert_text(
                (line.x, line.y),
                line.text,
                fontsize=line.size,
                fontname="hebo" if line.font == "bold" else "helv",
                color=line.color,
            )
    if given.image:
        picture = _mupdf.Pixmap(_mupdf.csGRAY, _mupdf.IRect(0, 0, 40, 40), False)
        picture.clear_with(128)
        page.insert_image(_mupdf.Rect(100, 100, 300, 300), pixmap=picture)
    left, bottom = given.origin
    if given.origin != (0, 0):
        _move_origin(document, page, left, bottom)
    if given.crop is not None:
        x0, y0, x1, y1 = given.crop
        box = [left + x0, bottom + height - y1, left + x1, bottom + height - y0]
        document.xref_set_key(page.xref, "CropBox", _array(box))
    if given.rotation:
        document.xref_set_key(page.xref, "Rotate", str(given.rotation))


def _move_origin(document: Any, page: Any, left: float, bottom: float) -> None:
    """Shift the MediaBox, and the content with it."""
    width, height = page.rect.width, page.rect.height
    page.clean_contents()
    (xref,) = page.get_contents()
    content = f"q 1 0 0 1 {left} {bottom} cm\n".encode() + document.xref_stream(xref) + b"\nQ"
    document.update_stream(xref, content)
    box = [left, bottom, left + width, bottom + height]
    document.xref_set_key(page.xref, "MediaBox", _array(box))


def _array(numbers: Sequence[float]) -> str:
    return "[" + " ".join(f"{number:g}" for number in numbers) + "]"


def _display_order(text: str) -> list[str]:
    """Characters from left to right as a right-to-left line shows them, numbers and Latin whole."""
    runs: list[str] = []
    for char in text:
        ltr = char.isascii() and char.isalnum()
        if ltr and runs and runs[-1][-1].isascii() and runs[-1][-1].isalnum():
            runs[-1] += char
        else:
            runs.append(char)
    mirrored = str.maketrans("()[]", ")(][")
    return [run.translate(mirrored) if len(run) == 1 else run for run in reversed(runs)]
