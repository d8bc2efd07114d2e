"""PDF files: the words of each page with their boxes, in reading order; OCR where it has none.

All use of PyMuPDF is here. It is not thread-safe (PyMuPDF documentation, "Multithreading"), hence
the lock; the indexer also parses in a process of its own.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_source.domain.documents import ParsedDocument
from rag_source.domain.errors import SourceError
from rag_source.domain.ports import DocumentLoader
from rag_source.ingest.bidi import fold_presentation_forms, has_rtl
from rag_source.ingest.builder import DocumentBuilder, one_line
from rag_source.ingest.decoding import read_bytes
from rag_source.ingest.frames import Frame, frame_of
from rag_source.ingest.glyphs import Glyph, clusters
from rag_source.ingest.layout import Fragment, Item
from rag_source.ingest.loader_tools import LoaderTools, ParseLimits
from rag_source.ingest.mupdf import mupdf as _mupdf
from rag_source.ingest.ocr_damage import is_damaged
from rag_source.ingest.ocr_pages import Box, PageRecogniser
from rag_source.ingest.page_rulings import Drawn
from rag_source.ingest.page_texts import PageText, append_pages, listed
from rag_source.ingest.pdf_loss import lost_pages

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["loader"]

_LOCK = threading.Lock()
# The types of a text page's blocks.
_TEXT, _VECTOR = 0, 3
_WHITE = 250
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
# A scan covers its page, give or take its margins; a stamp or a running footer is a line or two.
_SCAN_COVER = 0.6
_STAMP_CHARS = 160
_SENSELESS_TITLE = re.compile(
    r"^(untitled|sans titre|document\d*|title|titre|slide \d+|page \d+|présentation\d*|"
    r"presentation\d*|بدون عنوان)$|^[\w-]*\d{5,}[\w-]*$|\.(indd|qxd|ai|cdr|pmd|dvi|tmp)$",
    re.IGNORECASE,
)
_TITLE_PREFIX = re.compile(r"^microsoft (?:word|powerpoint|excel)\s*-\s*", re.IGNORECASE)
_OFFICE_SUFFIX = re.compile(r"\.(docx?|pptx?|xlsx?|odt|rtf|pdf)$", re.IGNORECASE)
_FILLED_FIELDS = frozenset({"Text", "ComboBox", "ListBox"})


class _PdfLoader:
    name = "pdf"
    version = 2
    suffixes = (".pdf",)

    def __init__(self, tools: LoaderTools | None = None) -> None:
        self._tools = tools or LoaderTools()

    def with_tools(self, tools: LoaderTools) -> DocumentLoader:
        return _PdfLoader(tools)

    def load(self, path: Path) -> ParsedDocument:
        data = read_bytes(path)
        builder = DocumentBuilder()
        recogniser = PageRecogniser.of(self._tools, self, data)
        with _LOCK, _opened(data, path.name) as document:
            if document.is_repaired:
                builder.warn("repaired", "The file's structure is damaged; what could be was read.")
            _check_size(document, path.name, self._tools.limits)
            _refuse_half(document, data, path.name)
            indices = self._tools.counted(document.page_count)
            pages = _read_pages(document, indices, path.name, builder, recogniser)
            title = (document.metadata or {}).get("title") or ""
        recogniser.check(path.name, pages)
        append_pages(builder, pages)
        recogniser.warn(builder, pages)
        _warn_about_pages(builder, pages)
        return builder.build(
            title=_title(title, builder, pages) or path.stem, loader=self.name, version=self.version
        )


@contextmanager
def _opened(data: bytes, name: str) -> Iterator[Any]:
    _mupdf.TOOLS.mupdf_display_errors(False)
    _mupdf.TOOLS.mupdf_display_warnings(False)
    try:
        document = _mupdf.open(stream=data, filetype="pdf")
    except (_mupdf.FileDataError, _mupdf.mupdf.FzErrorBase, RuntimeError, ValueError) as error:
        if b"%PDF-" not in data[:1024]:
            raise SourceError(
                f"{name!r} is not a PDF file",
                code="unsupported",
                hint="Give the file the suffix of its real format.",
            ) from error
        raise _damaged(name) from error
    with document:
        # An owner password alone restricts printing and copying, not reading: the empty user
        # password opens the file.
        if document.needs_pass and not document.authenticate(""):
            raise SourceError(
                f"{name!r} is locked with a password",
                code="encrypted",
                hint="Save a copy without the password and put it in the folder.",
            )
        yield document


def _refuse_half(document: Any, data: bytes, name: str) -> None:
    """Refuse a file that was cut short: half a document must not pass for the whole."""
    lost = lost_pages(document, data) if document.is_repaired else []
    if lost:
        raise SourceError(
            f"{name!r} is cut short: the content of these pages is missing: {listed(lost)}",
            code="damaged",
            hint="Get the file again from where it came from.",
        )


def _damaged(name: str) -> SourceError:
    return SourceError(
        f"{name!r} is damaged and could not be repaired",
        code="damaged",
        hint="Get the file again from where it came from, or print it to a new PDF.",
    )


def _check_size(document: Any, name: str, limits: ParseLimits) -> None:
    try:
        count = document.page_count
    except (_mupdf.mupdf.FzErrorBase, RuntimeError, ValueError) as error:
        raise _damaged(name) from error
    if count > limits.pages:
        raise SourceError(
            f"{name!r} has {count:,} pages, more than the limit of {limits.pages:,}",
            code="too_large",
            hint="Split the file.",
        )


def _read_pages(
    document: Any,
    indices: Iterable[int],
    name: str,
    builder: DocumentBuilder,
    recogniser: PageRecogniser,
) -> list[PageText]:
    pages: list[PageText] = []
    broken: list[int] = []
    for index in indices:
        try:
            page = document[index]
            pages.append(_recognised(page, _read_page(page, index + 1), recogniser))
        except (_mupdf.mupdf.FzErrorBase, RuntimeError, ValueError, IndexError):
            broken.append(index + 1)
    if len(broken) >= len(pages):
        # Half a document must not pass for the whole.
        raise _damaged(name)
    if broken:
        builder.warn("pages_damaged", f"These pages could not be read: {listed(broken)}.")
    return pages


def _read_page(page: Any, number: int) -> PageText:
    # Without TEXT_CID_FOR_UNKNOWN_UNICODE: a glyph of unknown meaning must show as U+FFFD, so that
    # a damaged text layer is seen, not as a made-up character.
    flags = _mupdf.TEXT_PRESERVE_LIGATURES | _mupdf.TEXT_PRESERVE_WHITESPACE | _mupdf.TEXT_CLIP
    # What the page draws comes in the same pass (`find_tables` takes as long as 17 to 70 of them);
    # "lazy", so that a rule between words does not part the line they are on.
    flags |= _mupdf.TEXT_COLLECT_VECTORS | _mupdf.TEXT_LAZY_VECTORS
    textpage = page.get_textpage(flags=flags)
    words = textpage.extractWORDS()
    text = "".join(word[4] for word in words)
    glyphs = has_rtl(text)
    box = page.cropbox
    width, height = float(box.width), float(box.height)
    blocks = (textpage.extractRAWDICT() if glyphs else textpage.extractDICT())["blocks"]
    written = [block["lines"] for block in blocks if block["type"] == _TEXT]
    lines = _glyph_lines(written) if glyphs else _word_lines(written, words)
    lines += _field_lines(page)
    grouped: dict[Frame, list[Fragment]] = {}
    seen: dict[str, list[Fragment]] = {}
    for order, line in enumerate(lines):
        frame = frame_of(line.direction, width, height)
        fragment = _fragment(line, frame, order)
        if fragment is not None and not _is_printed_twice(fragment, seen):
            grouped.setdefault(frame, []).append(fragment)
    frames = sorted(grouped.items(), key=lambda pair: -sum(len(f.text) for f in pair[1]))
    return PageText(
        number=number,
        width=width,
        height=height,
        rotation=page.rotation % 360,
        frames=tuple((frame, tuple(fragments)) for frame, fragments in frames),
        glyphs=glyphs,
        damaged=is_damaged(" ".join(word[4] for word in words)),
        drawn=tuple(_drawn(blocks)),
    )


def _drawn(blocks: Iterable[Any]) -> Iterator[Drawn]:
    """The rectangles among what a page draws; what is white or clear does not show on paper."""
    for block in blocks:
        if block["type"] == _VECTOR and block["isrect"] and block["alpha"]:
            color = block["color"]
            if min(color >> 16 & 255, color >> 8 & 255, color & 255) < _WHITE:
                yield Drawn(block["bbox"], block["stroked"])


def _recognised(page: Any, text: PageText, recogniser: PageRecogniser) -> PageText:
    """The page as its picture reads, if its text layer does not say what it shows."""
    if not recogniser.wants(text, mostly_picture=_is_mostly_picture(page, text)):
        return text
    policy = recogniser.engine.policy
    shown = page.rect
    inches = shown.width * shown.height / 72**2
    dpi = max(1, min(policy.dpi, int((policy.limit_pixels / max(inches, 1e-6)) ** 0.5)))

    def picture() -> Image.Image:
        # Lazy: most PDF files have no page for OCR.
        from PIL import Image

        pixmap = page.get_pixmap(dpi=dpi, colorspace=_mupdf.csGRAY, alpha=False)
        return Image.frombytes("L", (pixmap.width, pixmap.height), pixmap.samples)

    def place(box: Box) -> Box:
        x0, y0, x1, y1 = _mupdf.Rect(box) * page.derotation_matrix
        return x0, y0, x1, y1

    return recogniser.read(text, picture, dpi=dpi, place=place)


def _is_mostly_picture(page: Any, text: PageText) -> bool:
    """Whether the page is a scan on which a program left a stamp, a footer or a page number."""
    letters = sum(len(f.text) for _, fragments in text.frames for f in fragments)
    if not letters or letters > _STAMP_CHARS:
        return False
    shown = page.rect
    for image in page.get_image_info():
        seen = _mupdf.Rect(image["bbox"]) & shown
        if not seen.is_empty and seen.get_area() > _SCAN_COVER * shown.get_area():
            return True
    return False


@dataclass(frozen=True, slots=True)
class _SourceLine:
    """A line as PyMuPDF gives it: items in the page's own frame, size, weight and direction."""

    items: tuple[tuple[str, tuple[float, float, float, float]], ...]
    size: float
    bold: bool
    direction: tuple[float, float]


def _word_lines(blocks: Iterable[Any], words: Sequence[Any]) -> list[_SourceLine]:
    grouped: dict[tuple[int, int], list[tuple[str, tuple[float, float, float, float]]]] = {}
    for x0, y0, x1, y1, text, block, line, _ in words:
        grouped.setdefault((block, line), []).append((text, (x0, y0, x1, y1)))
    lines: list[_SourceLine] = []
    for i, written in enumerate(blocks):
        for j, line in enumerate(written):
            items = grouped.get((i, j))
            if items:
                size, bold = _style(line["spans"])
                lines.append(_SourceLine(tuple(items), size, bold, line["dir"]))
    return lines


def _glyph_lines(blocks: Iterable[Any]) -> list[_SourceLine]:
    lines: list[_SourceLine] = []
    for written in blocks:
        for line in written:
            spans = line["spans"]
            size, bold = _style(spans)
            chars = [Glyph(char["c"], *char["bbox"]) for span in spans for char in span["chars"]]
            items = tuple(
                (fold_presentation_forms(glyph.text), (glyph.x0, glyph.y0, glyph.x1, glyph.y1))
                for glyph in clusters(chars, size)
            )
            if any(text.strip() for text, _ in items):
                lines.append(_SourceLine(items, size, bold, line["dir"]))
    return lines


def _style(spans: Sequence[Any]) -> tuple[float, bool]:
    """The size of the longest span, and whether all words are bold."""
    filled = [span for span in spans if _span_length(span)] or list(spans)
    longest = max(filled, key=_span_length)
    bold = all(
        span["flags"] & _mupdf.TEXT_FONT_BOLD or "bold" in span["font"].lower() for span in filled
    )
    return float(longest["size"]) or 1.0, bold


def _span_length(span: Any) -> int:
    if "text" in span:
        return len(span["text"].strip())
    return sum(not char["c"].isspace() for char in span["chars"])


def _field_lines(page: Any) -> list[_SourceLine]:
    """The values of filled form fields, which are not part of the page's own text."""
    lines: list[_SourceLine] = []
    for widget in page.widgets():
        value = widget.field_value
        if widget.field_type_string not in _FILLED_FIELDS or not isinstance(value, str):
            continue
        box = widget.rect * page.derotation_matrix
        words = value.split()
        if words:
            step = (box.x1 - box.x0) / len(words)
            items = tuple(
                (word, (box.x0 + i * step, box.y0, box.x0 + (i + 1) * step, box.y1))
                for i, word in enumerate(words)
            )
            lines.append(_SourceLine(items, min(12.0, max(1.0, box.height)), False, (1.0, 0.0)))
    return lines


def _fragment(line: _SourceLine, frame: Frame, order: int) -> Fragment | None:
    """The line in its reading frame; None if it has no words."""
    items: list[Item] = []
    for text, source in line.items:
        cleaned = _CONTROL.sub("", text)
        if cleaned and (items or cleaned.strip()):
            items.append(Item(text=cleaned, box=frame.turned(source), source=source))
    if not any(item.text.strip() for item in items):
        return None
    return Fragment(
        items=tuple(items),
        x0=min(item.box[0] for item in items),
        y0=min(item.box[1] for item in items),
        x1=max(item.box[2] for item in items),
        y1=max(item.box[3] for item in items),
        size=line.size,
        bold=line.bold,
        order=order,
    )


def _is_printed_twice(fragment: Fragment, seen: dict[str, list[Fragment]]) -> bool:
    """Whether the same line was drawn here before, for a shadow or a bold look."""
    twins = seen.setdefault(fragment.text, [])
    near = 0.3 * fragment.size
    if any(abs(t.x0 - fragment.x0) < near and abs(t.y0 - fragment.y0) < near for t in twins):
        return True
    twins.append(fragment)
    return False


def _warn_about_pages(builder: DocumentBuilder, pages: Sequence[PageText]) -> None:
    bare = [page.number for page in pages if not page.frames]
    if bare:
        builder.warn("pages_without_text", f"These pages hold no text: {listed(bare)}.")
    damaged = [page.number for page in pages if page.damaged]
    if damaged:
        builder.warn(
            "text_layer_damaged",
            f"The text of these pages has characters without meaning: {listed(damaged)}.",
        )


def _title(declared: str, builder: DocumentBuilder, pages: Sequence[PageText]) -> str:
    title = one_line(_CONTROL.sub(" ", declared)).removeprefix("\ufeff")
    title = _OFFICE_SUFFIX.sub("", _TITLE_PREFIX.sub("", title)).strip()
    if len(title) > 3 and "\ufffd" not in title and not _SENSELESS_TITLE.search(title):
        return title
    return builder.first_heading()


loader = _PdfLoader()
