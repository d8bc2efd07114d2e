"""The ZIP package that DOCX, PPTX and XLSX files are, opened with limits.

Nothing is unpacked before its declared size has been checked, and `zipfile` never yields more
than the declared size, so a bomb costs what its table of contents admits.
"""

from __future__ import annotations

import posixpath
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from urllib.parse import unquote

from rag_source.domain.errors import SourceError
from rag_source.ingest.builder import DocumentBuilder, one_line
from rag_source.ingest.office_boilerplate import is_senseless_title
from rag_source.ingest.office_xml import Element, attribute, local, parse_part

__all__ = ["OfficeKind", "OfficePackage", "PackageLimits", "Relation", "open_package"]

_OLE_MAGIC = bytes.fromhex("d0cf11e0a1b11ae1")
_ENCRYPTED_STREAM = "EncryptedPackage".encode("utf-16-le")
_ZIP_MAGIC = b"PK"
_ZIP_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    OSError,
    UnicodeDecodeError,  # a name in the table of contents that is not UTF-8 though it says so
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageLimits:
    """What one file may cost.

    Attributes:
        part_bytes: The largest part, unpacked. A sheet of a million cells takes 40 to 80 MB.
        total_bytes: All parts that are read (pictures are not), unpacked.
        ratio: Unpacked to packed size of a part above `ratio_from_bytes`. Repetitive sheets of
            real files reach about 60; deflate ends at 1,032.
        ratio_from_bytes: Below this, a ratio does no harm.
        entries: Files in the package.
    """

    part_bytes: int = 256 * 1024 * 1024
    total_bytes: int = 512 * 1024 * 1024
    ratio: int = 200
    ratio_from_bytes: int = 8 * 1024 * 1024
    entries: int = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class OfficeKind:
    """One of the three formats, and how to speak of it.

    Attributes:
        what: Such as "a Word document".
        root: The local name of the main part's root element.
        main: Where the main part is when nothing says where.
        suffix: What to save as, such as `.docx`.
    """

    what: str
    root: str
    main: str
    suffix: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A link from a part: its kind (such as `footnotes`), and the part or address it leads to."""

    kind: str
    target: str
    external: bool


class OfficePackage:
    """The parts of an open package; names are without a leading slash."""

    def __init__(self, archive: zipfile.ZipFile, name: str, limits: PackageLimits) -> None:
        self._archive = archive
        self._limits = limits
        self._spent_bytes = 0
        self._entries = {
            info.filename.replace("\\", "/").lstrip("/").lower(): info
            for info in archive.infolist()
        }
        self.name = name
        self.external_entities = 0
        self.unreadable_parts: list[str] = []

    def __contains__(self, part: str) -> bool:
        return part.lower() in self._entries

    def read(self, part: str) -> bytes:
        """The bytes of a part.

        Raises:
            SourceError: `damaged` or `too_large`.
        """
        with self.stream(part) as stream:
            try:
                return stream.read()
            except _ZIP_ERRORS as error:
                raise _damaged(self.name, f"{part!r} cannot be unpacked") from error

    def stream(self, part: str) -> IO[bytes]:
        """The part as a seekable stream; counts towards the limits.

        Raises:
            SourceError: `damaged` or `too_large`, before anything is unpacked.
        """
        info = self._entries.get(part.lower())
        if info is None:
            raise _damaged(self.name, f"it has no part {part!r}")
        self._charge(info)
        try:
            return self._archive.open(info)
        except _ZIP_ERRORS as error:
            raise _damaged(self.name, f"{part!r} cannot be unpacked") from error

    def xml(self, part: str) -> Element:
        """The root of a part that the file is nothing without. Raises as `read`."""
        parsed = parse_part(self.read(part), part=part, document=self.name)
        self.external_entities += parsed.external
        return parsed.root

    def optional_xml(self, part: str) -> Element | None:
        """The root of a part; None if there is none, or if it is damaged (which is noted).

        Raises:
            SourceError: `too_large`.
        """
        if part not in self:
            return None
        try:
            return self.xml(part)
        except SourceError as error:
            if error.code != "damaged":
                raise
            self.unreadable_parts.append(part)
            return None

    def relations(self, part: str) -> dict[str, Relation]:
        """The links of a part by their ids; the package's own for the part ""."""
        folder, file = posixpath.split(part)
        root = self.optional_xml(posixpath.join(folder, "_rels", f"{file}.rels"))
        found: dict[str, Relation] = {}
        for element in () if root is None else root:
            target = attribute(element, "Target")
            external = attribute(element, "TargetMode") == "External"
            if not external:
                path = posixpath.join("/", folder, unquote(target.replace("\\", "/")))
                target = posixpath.normpath(path).lstrip("/")
            found[attribute(element, "Id")] = Relation(
                kind=attribute(element, "Type").rpartition("/")[2],
                target=target,
                external=external,
            )
        return found

    def related(self, part: str, kind: str) -> list[str]:
        """The parts of one kind that a part links to, in the order of its links."""
        return [
            relation.target
            for relation in self.relations(part).values()
            if relation.kind == kind and not relation.external
        ]

    def title(self) -> str:
        """The title of the file's properties, empty if there is none that says anything."""
        for part in self.related("", "core-properties") or ["docProps/core.xml"]:
            root = self.optional_xml(part)
            for element in () if root is None else root:
                if local(element) == "title":
                    title = one_line("".join(element.itertext()))
                    return "" if is_senseless_title(title) else title
        return ""

    def report(self, builder: DocumentBuilder) -> None:
        """Warn about what was left out of the package."""
        if self.external_entities:
            builder.warn(
                "external_entity_skipped",
                "The file asks for text from another place; that text was left out.",
            )
        if self.unreadable_parts:
            listed = ", ".join(sorted(set(self.unreadable_parts)))
            builder.warn("part_damaged", f"Parts that cannot be read were left out: {listed}.")

    def _charge(self, info: zipfile.ZipInfo) -> None:
        limits = self._limits
        self._spent_bytes += info.file_size
        if info.file_size > limits.part_bytes or self._spent_bytes > limits.total_bytes:
            raise _too_large(self.name, f"unpacks to {self._spent_bytes:,} bytes or more")
        if (
            info.file_size > limits.ratio_from_bytes
            and info.file_size > limits.ratio * info.compress_size
        ):
            raise _too_large(
                self.name, f"holds a part that unpacks to over {limits.ratio} times its size"
            )


@contextmanager
def open_package(
    path: Path, kind: OfficeKind, limits: PackageLimits
) -> Iterator[tuple[OfficePackage, str, Element]]:
    """The package, the name of its main part, and that part's root.

    Whatever else goes wrong while the package is open is a `parser_error`: a file that no one
    foresaw must not look like a fault of the program that reads it.

    Raises:
        SourceError: `unreadable`, `empty`, `encrypted`, `unsupported`, `damaged`, `too_large`.
    """
    _check_magic(path, kind)
    try:
        with zipfile.ZipFile(path) as archive:
            _check_entries(archive, path.name, kind, limits)
            package = OfficePackage(archive, path.name, limits)
            main = _main_part(package, kind)
            root = package.xml(main)
            if local(root) != kind.root:
                raise _wrong_kind(path.name, kind)
            yield package, main, root
    except SourceError:
        raise
    except MemoryError as error:
        raise _too_large(path.name, "needs more memory than there is") from error
    except RecursionError as error:
        raise _damaged(path.name, "its parts are nested too deep") from error
    except _ZIP_ERRORS as error:
        raise _damaged(path.name, "its ZIP package cannot be read") from error
    except Exception as error:
        raise SourceError(
            f"{path.name!r} could not be read ({type(error).__name__})",
            code="parser_error",
            hint=f"Open it, save it again as {kind.suffix}, and report the file if that fails.",
        ) from error


def _check_magic(path: Path, kind: OfficeKind) -> None:
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            magic = file.read(len(_OLE_MAGIC))
            encrypted = magic == _OLE_MAGIC and _has_stream(file, _ENCRYPTED_STREAM)
    except OSError as error:
        raise SourceError(
            f"{path.name!r} cannot be read: {error.strerror or error}",
            code="unreadable",
            hint="Check the permissions of the file.",
        ) from error
    if not size:
        raise SourceError(
            f"{path.name!r} is empty (0 bytes)", code="empty", hint="Save it again with content."
        )
    if encrypted:
        raise SourceError(
            f"{path.name!r} is protected by a password",
            code="encrypted",
            hint="Save a copy without a password.",
        )
    if magic == _OLE_MAGIC:
        raise SourceError(
            f"{path.name!r} is in the binary format of Office 97 to 2003",
            code="unsupported",
            hint=f"Open it in an office program and save it as {kind.suffix}.",
        )
    if not magic.startswith(_ZIP_MAGIC):
        if path.suffix.lower() == kind.suffix:
            raise _damaged(path.name, f"it does not begin as {kind.what} does")
        raise _wrong_kind(path.name, kind)


def _has_stream(file: IO[bytes], name: bytes) -> bool:
    """Whether the directory of a compound file names this stream; it may stand anywhere."""
    overlap = b""
    while chunk := file.read(1024 * 1024):
        if name in overlap + chunk:
            return True
        overlap = chunk[-len(name) :]
    return False


def _check_entries(
    archive: zipfile.ZipFile, name: str, kind: OfficeKind, limits: PackageLimits
) -> None:
    entries = archive.infolist()
    if len(entries) > limits.entries:
        raise _too_large(name, f"holds {len(entries):,} files")
    if any(entry.flag_bits & 0x1 for entry in entries):
        raise SourceError(
            f"{name!r} is a package protected by a password",
            code="encrypted",
            hint="Save a copy without a password.",
        )
    if not any(entry.filename.lower().endswith((".xml", ".rels")) for entry in entries):
        raise _wrong_kind(name, kind)


def _main_part(package: OfficePackage, kind: OfficeKind) -> str:
    for part in (*package.related("", "officeDocument"), kind.main):
        if part in package:
            return part
    raise _wrong_kind(package.name, kind)


def _wrong_kind(name: str, kind: OfficeKind) -> SourceError:
    return SourceError(
        f"{name!r} is not {kind.what}",
        code="unsupported",
        hint=f"Give it the suffix of its real format, or save it as {kind.suffix}.",
    )


def _damaged(name: str, what: str) -> SourceError:
    return SourceError(
        f"{name!r} is damaged: {what}",
        code="damaged",
        hint="Get a whole copy, or open it in an office program and save it again.",
    )


def _too_large(name: str, what: str) -> SourceError:
    return SourceError(
        f"{name!r} {what}",
        code="too_large",
        hint="Split the file, or remove what it does not need.",
    )
