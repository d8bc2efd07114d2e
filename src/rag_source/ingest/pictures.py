"""A page as a picture, as its reader sees it: rotation and crop applied, annotations drawn.

Runs in a worker process (`workers.ParserPool.picture`): the file is not to be trusted. Only the
page that is asked for is read, so that page 300 costs what page 1 does.
"""

from __future__ import annotations

import math
import struct
import warnings
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_source.domain.errors import SourceError
from rag_source.ingest.mupdf import mupdf as _mupdf
from rag_source.ingest.parsing import ParseFailure

if TYPE_CHECKING:
    from PIL import Image

__all__ = [
    "HIGHEST_WIDTH_PX",
    "LOWEST_WIDTH_PX",
    "PICTURE_SUFFIXES",
    "Picture",
    "PictureRequest",
    "picture_of",
    "picture_outcome",
]

LOWEST_WIDTH_PX, HIGHEST_WIDTH_PX = 100, 4000

_IMAGES = (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp")
PICTURE_SUFFIXES = frozenset({".pdf", *_IMAGES})
"""The formats whose pages can be shown as pictures."""

_IMAGE_FORMATS = ("BMP", "GIF", "JPEG", "PNG", "TIFF", "WEBP")
_LIMIT_PIXELS = 24_000_000
"""Of the picture that is made: A4 at 4,000 pixels of width has 22.6 million. A longer page comes
out smaller than was asked."""
_LIMIT_SOURCE_PIXELS = 100_000_000
_LIMIT_SIDE_PX = 16_383  # WebP's own.
# Above this share of neighbours of one colour, PNG is smaller than WebP, and quicker: drawn pages
# have 0.85 to 0.99, scans and photographs 0.05 to 0.5.
_FLAT = 0.7
_EVERY_ROW = 8
_WEBP_QUALITY, _WEBP_METHOD, _PNG_LEVEL = 85, 1, 1
_MUPDF_ERRORS = (RuntimeError, ValueError, IndexError)
_PILLOW_ERRORS = (
    OSError,
    SyntaxError,
    ValueError,
    EOFError,
    IndexError,
    KeyError,
    TypeError,
    struct.error,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureRequest:
    """Which page of which file (pages count from 1), and how many pixels wide."""

    path: Path
    number: int
    width_px: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """An encoded picture; `media_type` is `image/png` or `image/webp`."""

    data: bytes
    media_type: str


def picture_of(data: bytes) -> Picture:
    """The picture that a worker sent.

    Raises:
        ValueError: The bytes are none.
    """
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return Picture(data=data, media_type="image/png")
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return Picture(data=data, media_type="image/webp")
    raise ValueError("a worker sent something else than a picture")


def picture_outcome(request: PictureRequest, limit_bytes: int) -> Picture | ParseFailure:
    """The picture, or why there is none; raises nothing."""
    name = request.path.name
    try:
        if request.path.stat().st_size > limit_bytes:
            return ParseFailure(
                "too_large", f"{name!r} is too large to be shown", "Split the file."
            )
        if request.path.suffix.lower() == ".pdf":
            return _encoded(_pdf_page(request))
        return _encoded(_image_frame(request))
    except SourceError as error:
        return ParseFailure(error.code, error.message, error.hint)
    except OSError as error:
        return ParseFailure(
            "unreadable",
            f"{name!r} cannot be read: {error.strerror or error}",
            "Check that the file is still there, and its permissions.",
        )
    except MemoryError:
        return ParseFailure(
            "too_large",
            f"page {request.number} of {name!r} needs more memory than it may use",
            "Ask for a smaller width.",
        )
    except Exception as error:
        return ParseFailure(
            "parser_error",
            f"page {request.number} of {name!r} could not be drawn ({type(error).__name__})",
            "Save the file again from its program, or print it to PDF.",
        )


def _pdf_page(request: PictureRequest) -> Image.Image:
    # Lazy, here and below: this module is imported for its constants too.
    from PIL import Image

    _mupdf.TOOLS.mupdf_display_errors(False)
    _mupdf.TOOLS.mupdf_display_warnings(False)
    try:
        document = _mupdf.open(request.path, filetype="pdf")
    except (_mupdf.mupdf.FzErrorBase, *_MUPDF_ERRORS) as error:
        raise _damaged(request) from error
    with document:
        if document.needs_pass and not document.authenticate(""):
            raise SourceError(
                f"{request.path.name!r} is locked with a password",
                code="encrypted",
                hint="Save a copy without the password and put it in the folder.",
            )
        try:
            page = document[request.number - 1]
            scale = _scale(page.rect.width, page.rect.height, request.width_px)
            pixmap = page.get_pixmap(matrix=_mupdf.Matrix(scale, scale), alpha=False)
        except (_mupdf.mupdf.FzErrorBase, *_MUPDF_ERRORS) as error:
            raise _damaged(request) from error
        return Image.frombytes("RGB", (pixmap.width, pixmap.height), pixmap.samples)


def _image_frame(request: PictureRequest) -> Image.Image:
    from PIL import Image

    with warnings.catch_warnings():
        # Pillow's own limit on pixels warns, ours refuses.
        warnings.simplefilter("ignore")
        try:
            with Image.open(request.path, formats=_IMAGE_FORMATS) as image:
                return _shown(image, request)
        except Image.DecompressionBombError as error:
            raise _too_many_pixels(request) from error
        except _PILLOW_ERRORS as error:
            raise _damaged(request) from error


def _shown(image: Image.Image, request: PictureRequest) -> Image.Image:
    """A frame as the loader reads it: upright as its camera says, on white paper."""
    from PIL import ImageOps

    image.seek(request.number - 1)
    if image.width * image.height > _LIMIT_SOURCE_PIXELS:
        raise _too_many_pixels(request)
    if image.format == "JPEG":
        # Unpacks at a half, a quarter or an eighth where that is enough; either side may turn up.
        image.draft("RGB", (request.width_px, request.width_px))
    image.load()
    upright = ImageOps.exif_transpose(image)
    scale = min(1.0, _scale(upright.width, upright.height, request.width_px))
    size = (max(1, round(upright.width * scale)), max(1, round(upright.height * scale)))
    paper = _on_paper(upright)
    return paper if size == paper.size else paper.resize(size, reducing_gap=2.0)


def _on_paper(image: Image.Image) -> Image.Image:
    from PIL import Image

    from rag_source.ingest.ocr_image import grey

    if image.mode in ("L", "RGB"):
        return image
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        layered = image.convert("RGBA")
        paper = Image.new("RGBA", layered.size, "white")
        return Image.alpha_composite(paper, layered).convert("RGB")
    if image.mode in ("1", "I", "F") or image.mode.startswith("I;"):
        return grey(image)
    return image.convert("RGB")


def _scale(width: float, height: float, width_px: int) -> float:
    """Pixels for each unit of the page, so that the picture is as wide as asked, within limits."""
    if not (width > 0 and height > 0 and math.isfinite(width) and math.isfinite(height)):
        raise ValueError("a page without a size")
    scale = width_px / width
    scale = min(scale, math.sqrt(_LIMIT_PIXELS / (width * height)))
    return min(scale, _LIMIT_SIDE_PX / width, _LIMIT_SIDE_PX / height)


def _encoded(image: Image.Image) -> Picture:
    import numpy as np

    values: Any = np.asarray(image)
    if image.mode == "RGB" and _is_grey(values):
        image = image.getchannel(0)
        values = values[:, :, 0]
    some_rows = values[::_EVERY_ROW]
    flat = float((some_rows[:, 1:] == some_rows[:, :-1]).mean()) if image.width > 1 else 1.0
    out = BytesIO()
    if flat >= _FLAT:
        image.save(out, "PNG", compress_level=_PNG_LEVEL)
        return Picture(data=out.getvalue(), media_type="image/png")
    image.save(out, "WEBP", quality=_WEBP_QUALITY, method=_WEBP_METHOD)
    return Picture(data=out.getvalue(), media_type="image/webp")


def _is_grey(values: Any) -> bool:
    """Whether red, green and blue are the same everywhere; a few rows tell most that are not."""
    return all(
        bool((rows[:, :, 0] == rows[:, :, channel]).all())
        for rows in (values[::_EVERY_ROW], values)
        for channel in (1, 2)
    )


def _damaged(request: PictureRequest) -> SourceError:
    return SourceError(
        f"page {request.number} of {request.path.name!r} cannot be drawn",
        code="damaged",
        hint="Get the file again from where it came from, or print it to a new PDF.",
    )


def _too_many_pixels(request: PictureRequest) -> SourceError:
    return SourceError(
        f"{request.path.name!r} has more than {_LIMIT_SOURCE_PIXELS:,} pixels",
        code="too_large",
        hint="Save it at a lower resolution.",
    )
