"""Bytes to text: read a file, refuse what is not text, find its encoding.

Order of trust: byte order mark, the shape of UTF-16/32 without a mark, strict UTF-8 with non-ASCII
characters, the declared encoding, then a guess. The guess takes its candidates from
charset-normalizer and a fixed list, and ranks them by how well letters sit together, because three
rows of a price list are too few for a statistical detector.
"""

from __future__ import annotations

import codecs
import re
from dataclasses import dataclass
from pathlib import Path

from rag_source.domain.errors import SourceError
from rag_source.ingest.plausibility import plausibility

__all__ = ["Decoded", "decode", "read_bytes"]

_BOMS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_MAGIC = (
    (b"%PDF-", "a PDF file"),
    (b"PK\x03\x04", "a ZIP or Office file"),
    (b"\x89PNG\r\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"\x1f\x8b\x08", "a gzip file"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip file"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office file"),
    (b"\x7fELF", "a program"),
    (b"SQLite format 3\x00", "a database"),
)
# Latin-1 and ASCII labels mean windows-1252 on the web (WHATWG Encoding, 4.2), and so in practice.
_MEANS_CP1252 = frozenset({"ascii", "iso8859-1", "iso8859-15", "cp1252"})
# Ranked ties go to the earlier one.
_CANDIDATES = (
    "cp1252",
    "cp1256",
    "gb18030",
    "cp932",
    "cp1251",
    "cp866",
    "cp1253",
    "cp1255",
    "cp1250",
    "euc_kr",
    "big5",
    "koi8_r",
)
# Keeps near-copies of the usual encodings (Shift JIS 2004, cp1125) from winning by a hair.
_RARE_ENCODING_PENALTY = 0.25
_SAMPLE_BYTES = 65_536
_CONTROLS = frozenset(range(32)) - {9, 10, 12, 13, 27}
# Measured: random bytes hold 10 % of controls, old exports with stray printer codes under 2 %.
_MAX_CONTROL_RATIO = 0.05
_UTF16_CONTROL_RATIO = 0.04


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """Text and the codec that read it. `repaired`: some bytes fitted no encoding."""

    text: str
    encoding: str
    repaired: bool = False


def read_bytes(path: Path) -> bytes:
    """The bytes of a file that is not empty.

    Raises:
        SourceError: `unreadable` or `empty`.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise SourceError(
            f"{path.name!r} cannot be read: {error.strerror or error}",
            code="unreadable",
            hint="Check the permissions of the file.",
        ) from error
    if not data:
        raise SourceError(
            f"{path.name!r} is empty (0 bytes)", code="empty", hint="Save it again with content."
        )
    return data


def decode(data: bytes, *, name: str, declared: str | None = None) -> Decoded:
    """The text of the bytes, whatever encoding they are in; no byte order mark in it.

    Args:
        data: The whole file.
        name: What error messages call it.
        declared: The encoding that the file says it has, if it says so.

    Raises:
        SourceError: `unsupported`: this is not text.
    """
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            return _with_bom(data[len(mark) :], encoding)
    for magic, what in _MAGIC:
        if data.startswith(magic):
            raise SourceError(
                f"{name!r} is {what}, not text",
                code="unsupported",
                hint="Give the file the suffix of its real format.",
            )
    wide = _wide_without_bom(data)
    if wide is not None:
        return wide
    _refuse_binary(data, name)
    return _narrow(data, declared)


def _with_bom(body: bytes, encoding: str) -> Decoded:
    text = body.decode(encoding, errors="replace")
    return Decoded(text=text, encoding=encoding, repaired="\ufffd" in text)


def _wide_without_bom(data: bytes) -> Decoded | None:
    """UTF-16 or UTF-32 without a mark: NULs or controls where text has none, in a regular place."""
    sample = data[: _SAMPLE_BYTES - _SAMPLE_BYTES % 4]
    odd = sum(byte in _CONTROLS for byte in sample) / len(sample)
    if odd < _UTF16_CONTROL_RATIO:
        return None
    for encoding, width in (("utf-32-le", 4), ("utf-32-be", 4), ("utf-16-le", 2), ("utf-16-be", 2)):
        if len(data) % width:
            continue
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if _reads_like_text(text[:8192]):
            return Decoded(text=text, encoding=encoding)
    return None


def _reads_like_text(text: str) -> bool:
    """Almost only letters, digits, spaces and common punctuation, from few Unicode rows."""
    if not text or (len(text) > 40 and not any(c.isspace() for c in text)):
        return False
    good = sum(c.isalnum() or c.isspace() or (c.isprintable() and c < "\u2100") for c in text)
    rows = {ord(c) >> 8 for c in text}
    return good >= 0.97 * len(text) and len(rows) <= max(4, len(text) // 8)


def _refuse_binary(data: bytes, name: str) -> None:
    sample = data[:_SAMPLE_BYTES]
    controls = sum(byte in _CONTROLS for byte in sample)
    if controls > _MAX_CONTROL_RATIO * len(sample):
        raise SourceError(
            f"{name!r} is not text ({100 * controls // len(sample)} % control bytes)",
            code="unsupported",
            hint="Give the file the suffix of its real format, or remove it.",
        )


def _narrow(data: bytes, declared: str | None) -> Decoded:
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = ""
    label = _codec_name(declared)
    if text and (label is None or label.startswith(("utf-16", "utf-32")) or not data.isascii()):
        # A page of ASCII bytes that declares UTF-16 is not UTF-16 (it was just read), and valid
        # multi-byte UTF-8 is never anything else by accident.
        return Decoded(text=text, encoding="utf-8")
    if label is not None:
        try:
            return _declared(data, label)
        except (UnicodeDecodeError, LookupError):
            pass
    if text:
        return Decoded(text=text, encoding="utf-8")
    return _mixed_lines(data) or _guess(data)


def _codec_name(declared: str | None) -> str | None:
    if not declared:
        return None
    label = declared.strip().strip("\"'").lower()
    label = {"x-sjis": "cp932", "shift_jis": "cp932", "gb2312": "gb18030", "gbk": "gb18030"}.get(
        label, label
    )
    try:
        return codecs.lookup(label).name
    except LookupError:
        return None


def _declared(data: bytes, label: str) -> Decoded:
    if label in _MEANS_CP1252 and label != "iso8859-15":
        return Decoded(text=_cp1252(data), encoding="cp1252")
    if label == "utf-8" or label.startswith(("utf-16", "utf-32")):
        raise LookupError(label)
    return Decoded(text=data.decode(label), encoding=label)


def _cp1252(data: bytes) -> str:
    """windows-1252 as browsers read it: its five unused bytes are C1 controls."""
    out = data.decode("cp1252", errors="surrogateescape")
    return re.sub("[\udc80-\udcff]", lambda m: chr(ord(m.group()) - 0xDC00), out)


def _mixed_lines(data: bytes) -> Decoded | None:
    """A file glued from UTF-8 and single-byte lines: each line by itself, if most are UTF-8."""
    lines = data.splitlines(keepends=True)
    wide = [line for line in lines if not line.isascii()]
    texts: dict[bytes, str] = {}
    for line in wide:
        try:
            texts[line] = line.decode("utf-8")
        except UnicodeDecodeError:
            continue
    if not wide or len(texts) < 0.5 * len(wide):
        return None
    rest = [line for line in wide if line not in texts]
    encoding = _guess(b"".join(rest)).encoding
    text = "".join(texts.get(line) or line.decode(encoding, errors="replace") for line in lines)
    return Decoded(text=text, encoding=f"utf-8+{encoding}", repaired=True)


def _guess(data: bytes) -> Decoded:
    sample = _sample(data)
    best, best_score = "cp1252", float("-inf")
    for encoding in dict.fromkeys((*_CANDIDATES, *_library_candidates(sample))):
        try:
            text = sample.decode(encoding)
        except (UnicodeDecodeError, LookupError):
            continue
        score = plausibility(text)
        if encoding not in _CANDIDATES:
            score -= _RARE_ENCODING_PENALTY
        if score > best_score + 1e-9:
            best, best_score = encoding, score
    if best == "cp1252":
        return Decoded(text=_cp1252(data), encoding=best)
    text = data.decode(best, errors="replace")
    return Decoded(text=text, encoding=best, repaired="\ufffd" in text)


def _sample(data: bytes) -> bytes:
    """The lines with non-ASCII bytes, up to the sample size: only they tell encodings apart."""
    picked: list[bytes] = []
    size = 0
    for line in data.splitlines(keepends=True):
        if not line.isascii() and size < _SAMPLE_BYTES:
            picked.append(line)
            size += len(line)
    joined = b"".join(picked)
    if len(joined) <= _SAMPLE_BYTES:
        return joined
    cut = joined.rfind(b" ", 0, _SAMPLE_BYTES)
    return joined[: cut if cut > 0 else _SAMPLE_BYTES]


def _library_candidates(sample: bytes) -> tuple[str, ...]:
    # Imported here: most files are UTF-8 and never need the detector's 40 ms of tables.
    from charset_normalizer import from_bytes

    matches = from_bytes(sample[:16_384])
    return tuple(match.encoding for match in list(matches)[:6])
