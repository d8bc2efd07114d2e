"""What OCR has read of files that are not finished yet, so that no page is paid for twice.

A page costs seconds and a scan of 200 pages an hour, which a kill, a pause or a crash must not cost
again. Each page is a file of its own, there as soon as the page has been read:

    <folder>/<sha256 of the scanned file's bytes>/<page number>-<digest of the recipe>.page

Workers write and read them; whoever has finished with a content deletes its folder (the store's
spool does). Such a file may be cut short by a power failure, or come from elsewhere: what is not
whole and plausible is as if it were not there.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import stat
import zlib
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from rag_source.ingest.ocr import OcrPage, OcrWord

__all__ = ["SpooledPages"]

logger = logging.getLogger(__name__)

_MAGIC = b"rag-source page 1\n"
_DIGEST_BYTES = hashlib.sha256().digest_size
# A newspaper's page has 10,000 words, of about 100 bytes each before they are compressed.
_LIMIT_BYTES = 8 * 1024**2
_LIMIT_JSON_BYTES = 64 * 1024**2
_LIMIT_WORDS = 200_000
_LIMIT_POINTS = 1e6
_FAST = 1


class SpooledPages:
    """The pages of one file.

    Args:
        folder: Where the pages of all files are; need not exist yet.
        data: The file's bytes; hashed at the first page.
    """

    def __init__(self, folder: Path, data: bytes) -> None:
        self._folder = folder
        self._data = data

    def get(self, number: int, recipe: str) -> OcrPage | None:
        """The page as it was kept by the same recipe."""
        path = self._path(number, recipe)
        try:
            found = path.lstat()
            if not stat.S_ISREG(found.st_mode) or found.st_size > _LIMIT_BYTES:
                return None
            with path.open("rb") as file:
                return _unpacked(file.read(_LIMIT_BYTES))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            logger.warning("page %d was kept, but cannot be read again: %s", number, error)
            return None

    def keep(self, number: int, recipe: str, page: OcrPage) -> None:
        """Keep a page in one step. It is not kept if the disk does not take it."""
        path = self._path(number, recipe)
        # Copies of a file may be parsed side by side.
        temporary = path.with_name(f"{path.name}.{os.getpid()}.new")
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(temporary, "wb", opener=_private) as file:
                file.write(_packed(page))
            temporary.replace(path)
        except (OSError, ValueError) as error:
            logger.warning("page %d could not be kept: %s", number, error)
            with suppress(OSError):
                temporary.unlink()

    def _path(self, number: int, recipe: str) -> Path:
        digest = hashlib.sha256(recipe.encode()).hexdigest()[:16]
        return self._folder / self._fingerprint / f"{number}-{digest}.page"

    @cached_property
    def _fingerprint(self) -> str:
        return hashlib.sha256(self._data).hexdigest()


def _private(path: str, flags: int) -> int:
    """Opens a file that its owner alone may read."""
    return os.open(path, flags, 0o600)


def _packed(page: OcrPage) -> bytes:
    fields = {
        "turn": page.turn,
        "skew": page.skew,
        "size": [page.width, page.height],
        "confidence": page.confidence,
        "words": [
            [word.text, word.line, word.confidence, *word.box, *word.source] for word in page.words
        ],
    }
    text = json.dumps(fields, allow_nan=False, separators=(",", ":"))
    body = zlib.compress(text.encode("ascii"), _FAST)
    return _MAGIC + hashlib.sha256(body).digest() + body


def _unpacked(data: bytes) -> OcrPage:
    """The page that was packed.

    Raises:
        ValueError: The bytes are not such a page.
    """
    start = len(_MAGIC) + _DIGEST_BYTES
    body = data[start:]
    if data[:start] != _MAGIC + hashlib.sha256(body).digest():
        raise ValueError("it is damaged")
    try:
        inflate = zlib.decompressobj()
        text = inflate.decompress(body, _LIMIT_JSON_BYTES)
        if not inflate.eof:
            raise ValueError("it is too large")
        return _page(json.loads(text))
    except (zlib.error, RecursionError, KeyError, TypeError) as error:
        raise ValueError("it is not a page") from error


def _page(fields: dict[str, Any]) -> OcrPage:
    """Raises ValueError, TypeError or KeyError for what no page can be."""
    words = fields["words"]
    width, height = fields["size"]
    turn = fields["turn"]
    is_turn = type(turn) is int and turn in (0, 90, 180, 270)
    if not is_turn or len(words) > _LIMIT_WORDS:
        raise ValueError("it is not a page")
    return OcrPage(
        words=tuple(_word(*word) for word in words),
        turn=turn,
        skew=_number(fields["skew"], -45, 45),
        width=_number(width, 0, _LIMIT_POINTS),
        height=_number(height, 0, _LIMIT_POINTS),
        confidence=_number(fields["confidence"], 0, 100),
    )


def _word(text: object, line: object, confidence: object, *boxes: object) -> OcrWord:
    if not isinstance(text, str) or not text or type(line) is not int or line < 0:
        raise ValueError("it is not a page")
    x0, y0, x1, y1, *source = (_number(one, -_LIMIT_POINTS, _LIMIT_POINTS) for one in boxes)
    left, top, right, bottom = source
    return OcrWord(
        text=text,
        box=(x0, y0, x1, y1),
        source=(left, top, right, bottom),
        confidence=_number(confidence, 0, 100),
        line=line,
    )


def _number(value: object, low: float, high: float) -> float:
    # What is not a number (NaN) is between no two.
    if type(value) not in (int, float) or not low <= value <= high:  # type: ignore[operator]
        raise ValueError("it is not a page")
    return float(value)  # type: ignore[arg-type]
