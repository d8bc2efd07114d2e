"""Pictures of pages: photographs and scans, one page for each frame, read by OCR."""

from __future__ import annotations

import struct
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from rag_source.domain.documents import ParsedDocument
from rag_source.domain.errors import SourceError
from rag_source.domain.ports import DocumentLoader
from rag_source.ingest.builder import DocumentBuilder
from rag_source.ingest.decoding import read_bytes
from rag_source.ingest.loader_tools import LoaderTools
from rag_source.ingest.ocr_pages import PageRecogniser
from rag_source.ingest.page_texts import PageText, append_pages, listed

if TYPE_CHECKING:
    from PIL import Image

__all__ = ["loader"]

_FORMATS = ("BMP", "GIF", "JPEG", "PNG", "TIFF", "WEBP")
# What Pillow and its codecs raise on bytes that are not what they claim.
_DAMAGE = (
    OSError,
    SyntaxError,
    ValueError,
    EOFError,
    IndexError,
    KeyError,
    TypeError,
    struct.error,
)
# Resolutions outside these are wrong entries of cameras and editors, not of scanners.
_LOWEST_DPI, _HIGHEST_DPI = 60.0, 2400.0
# Without a resolution the longer side is taken for that of a sheet of A4, 842 points.
_LONG_SIDE_PT = 842.0


class _ImageLoader:
    name = "image"
    version = 1
    suffixes = (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp")

    def __init__(self, tools: LoaderTools | None = None) -> None:
        self._tools = tools or LoaderTools()

    def with_tools(self, tools: LoaderTools) -> DocumentLoader:
        return _ImageLoader(tools)

    def load(self, path: Path) -> ParsedDocument:
        data = read_bytes(path)
        builder = DocumentBuilder()
        recogniser = PageRecogniser.of(self._tools, self, data)
        pages: list[PageText] = []
        with _opened(data, path.name) as image:
            count = self._frames(image, path.name)
            for index in self._tools.counted(count):
                number = index + 1
                try:
                    picture = self._decoded(image, number, path.name)
                except _DAMAGE as error:
                    if not pages:
                        raise _damaged(path.name) from error
                    rest = listed(range(number, count + 1))
                    builder.warn("pages_damaged", f"These pages could not be read: {rest}.")
                    break
                pages.append(_read(picture, number, recogniser))
        recogniser.check(path.name, pages)
        append_pages(builder, pages)
        recogniser.warn(builder, pages)
        bare = [page.number for page in pages if not page.frames]
        if bare:
            builder.warn("pages_without_text", f"These pages hold no text: {listed(bare)}.")
        title = builder.first_heading() or path.stem
        return builder.build(title=title, loader=self.name, version=self.version)

    def _frames(self, image: Image.Image, name: str) -> int:
        # Only TIFF has pages; the frames of a GIF, WebP or PNG are an animation.
        count = getattr(image, "n_frames", 1) if image.format == "TIFF" else 1
        if count > self._tools.limits.pages:
            raise SourceError(
                f"{name!r} has {count:,} pages, more than {self._tools.limits.pages:,}",
                code="too_large",
                hint="Split the file.",
            )
        return int(count)

    def _decoded(self, image: Image.Image, number: int, name: str) -> Image.Image:
        """A frame, upright as its camera says, with its resolution."""
        # Lazy, here and below: commands that open no picture do not pay for Pillow.
        from PIL import ImageOps

        image.seek(number - 1)
        limit = self._tools.ocr.policy.limit_pixels
        if image.width * image.height > limit:
            # Known from the header: nothing was unpacked yet.
            raise SourceError(
                f"{name!r} has {image.width:,} x {image.height:,} pixels, "
                f"more than the limit of {limit:,}",
                code="too_large",
                hint="Save it at a lower resolution.",
            )
        image.load()
        upright = ImageOps.exif_transpose(image)
        upright.info["dpi"] = (_resolution(image),) * 2
        return upright


def _read(picture: Image.Image, number: int, recogniser: PageRecogniser) -> PageText:
    dpi = picture.info["dpi"][0]
    page = PageText(
        number=number,
        width=picture.width * 72 / dpi,
        height=picture.height * 72 / dpi,
        rotation=0,
        frames=(),
        glyphs=False,
        damaged=False,
    )
    if not recogniser.wants(page, mostly_picture=True):
        return page
    return recogniser.read(page, lambda: picture, dpi=dpi)


@contextmanager
def _opened(data: bytes, name: str) -> Iterator[Image.Image]:
    from PIL import Image, UnidentifiedImageError

    with warnings.catch_warnings():
        # Pillow's own limit on pixels warns, ours refuses; and odd metadata is no reason to speak.
        warnings.simplefilter("ignore")
        try:
            image = Image.open(BytesIO(data), formats=_FORMATS)
        except UnidentifiedImageError as error:
            raise SourceError(
                f"{name!r} is damaged, or not a picture",
                code="damaged",
                hint="Open it in a picture viewer and save it again, as PNG for example.",
            ) from error
        except Image.DecompressionBombError as error:
            raise SourceError(
                f"{name!r} claims far too many pixels",
                code="too_large",
                hint="Save it at a lower resolution.",
            ) from error
        except _DAMAGE as error:
            raise _damaged(name) from error
        with image:
            yield image


def _damaged(name: str) -> SourceError:
    return SourceError(
        f"{name!r} is damaged",
        code="damaged",
        hint="Get the file again from where it came from.",
    )


def _resolution(image: Image.Image) -> float:
    """Pixels per inch, as the file says or so that the picture is as large as a sheet."""
    declared = image.info.get("dpi")
    if isinstance(declared, tuple) and declared:
        try:
            dpi = float(declared[0])
        except (TypeError, ValueError, ZeroDivisionError):
            dpi = 0.0
        if _LOWEST_DPI <= dpi <= _HIGHEST_DPI:
            return dpi
    return max(image.width, image.height) * 72 / _LONG_SIDE_PT


loader = _ImageLoader()
