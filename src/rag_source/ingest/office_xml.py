"""XML from inside an Office file, which is to say from a stranger.

The standard library's expat reads it; what expat would do for a hostile file is forbidden here
before the tree is built. An Office part has no document type declaration (ECMA-376 part 2, 7.2):
entities declared in the part are refused, references to external ones are left out and reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from io import BytesIO
from typing import IO
from xml.etree import ElementTree
from xml.parsers import expat

from rag_source.domain.errors import SourceError

__all__ = [
    "Element",
    "XmlPart",
    "attribute",
    "checked_stream",
    "child",
    "children",
    "damaged_part",
    "flag",
    "local",
    "parse_part",
    "stream_elements",
]

Element = ElementTree.Element

_MOST_NESTING = 256
_CHUNK_BYTES = 65_536
_STRICT = re.compile(rb"http://purl\.oclc\.org/ooxml/([A-Za-z]+)/([A-Za-z]+)")
_TRANSITIONAL = rb"http://schemas.openxmlformats.org/\1/2006/\2"


@dataclass(frozen=True, slots=True)
class XmlPart:
    """A parsed part; `external` counts references to external entities that were left out."""

    root: Element
    external: int = 0


@dataclass(slots=True)
class _Prolog:
    """What stands before the root element; offsets are in bytes, -1 for "none"."""

    doctype_at: int = -1
    root_at: int = -1
    internal: list[str] = field(default_factory=list)
    external: list[str] = field(default_factory=list)


class _RootReachedError(Exception):
    """Ends the look at the prolog."""


def parse_part(data: bytes, *, part: str, document: str) -> XmlPart:
    """The tree of a part, with the namespaces of strict files made those of ordinary ones.

    Raises:
        SourceError: `damaged`: not well-formed, or built to harm (entities, absurd nesting).
    """
    prolog = _read_prolog(BytesIO(data), part, document)
    data, external = _without_doctype(data, prolog)
    if b"purl.oclc.org/ooxml" in data:
        data = _STRICT.sub(_TRANSITIONAL, data)
    try:
        root = ElementTree.fromstring(data)  # noqa: S314 - no document type is left in it
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise damaged_part(document, part, str(error)) from error
    _refuse_deep(root, part, document)
    return XmlPart(root, external)


def checked_stream(stream: IO[bytes], *, part: str, document: str) -> IO[bytes]:
    """A part to be parsed as it is unpacked: at its beginning, without a document type.

    Args:
        stream: Seekable bytes of the part.
        part: Its name, for messages.
        document: The file's name, for messages.

    Raises:
        SourceError: `damaged`: it declares entities, or does not begin as XML.
    """
    prolog = _read_prolog(stream, part, document)
    stream.seek(0)
    if prolog.doctype_at < 0:
        return stream
    data, _ = _without_doctype(stream.read(), prolog)
    return BytesIO(data)


def stream_elements(stream: IO[bytes], name: str, *, part: str, document: str) -> Iterator[Element]:
    """The elements of a large part that have this local name, each emptied once it was seen.

    Raises:
        SourceError: As `parse_part`.
    """
    checked = checked_stream(stream, part=part, document=document)
    try:
        for _, element in ElementTree.iterparse(checked, ("end",)):  # noqa: S314 - as above
            if local(element) == name:
                yield element
                element.clear()
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise damaged_part(document, part, str(error)) from error


def local(element: Element) -> str:
    """The element's name without its namespace (the parser keeps no comments)."""
    return element.tag.rpartition("}")[2]


def attribute(element: Element, name: str, default: str = "") -> str:
    """The value of an attribute by its local name, whatever its namespace."""
    value = element.get(name)
    if value is not None:
        return value
    for key, value in element.attrib.items():
        if key.endswith(name) and key.rpartition("}")[2] == name:
            return value
    return default


def child(element: Element | None, *path: str) -> Element | None:
    """The first descendant along a path of local names."""
    for name in path:
        if element is None:
            return None
        element = next((e for e in element if local(e) == name), None)
    return element


def children(element: Element | None, *path: str) -> list[Element]:
    """The children of what `child` finds; none if it finds nothing."""
    found = child(element, *path)
    return [] if found is None else list(found)


def flag(element: Element | None, default: bool = False) -> bool:
    """An on/off property: present without a value is on (ECMA-376 part 1, 17.17.4)."""
    if element is None:
        return default
    return attribute(element, "val", "1").lower() not in ("0", "false", "off", "none")


def _read_prolog(stream: IO[bytes], part: str, document: str) -> _Prolog:
    prolog = _Prolog()
    parser = expat.ParserCreate()

    def on_doctype(*_: object) -> None:
        prolog.doctype_at = parser.CurrentByteIndex

    def on_entity(name: str, parameter: bool, value: str | None, *_: object) -> None:
        names = prolog.external if value is None else prolog.internal
        names.append(name)

    def on_root(*_: object) -> None:
        prolog.root_at = parser.CurrentByteIndex
        raise _RootReachedError

    parser.StartDoctypeDeclHandler = on_doctype
    parser.EntityDeclHandler = on_entity
    parser.StartElementHandler = on_root
    try:
        for chunk in _chunks(stream):
            parser.Parse(chunk, False)
        parser.Parse(b"", True)
    except _RootReachedError:
        pass
    except (expat.ExpatError, ValueError, LookupError) as error:
        raise damaged_part(document, part, str(error)) from error
    if prolog.internal:
        raise SourceError(
            f"{document!r} declares XML entities in {part!r}, which no Office program does",
            code="damaged",
            hint="It may be built to harm. Save it again from the program that made it.",
        )
    return prolog


def _chunks(stream: IO[bytes]) -> Iterable[bytes]:
    return iter(lambda: stream.read(_CHUNK_BYTES), b"")


def _without_doctype(data: bytes, prolog: _Prolog) -> tuple[bytes, int]:
    if prolog.doctype_at < 0:
        return data, 0
    # expat reports a declaration somewhere inside it, not where it begins.
    begin = data.rfind(b"<!DOCTYPE", 0, prolog.doctype_at + len(b"<!DOCTYPE"))
    if begin < 0:
        return data, 0
    data = data[:begin] + data[prolog.root_at :]
    if not prolog.external:
        return data, 0
    names = b"|".join(re.escape(name.encode()) for name in prolog.external)
    return re.subn(rb"&(?:" + names + rb");", b"", data)


def _refuse_deep(root: Element, part: str, document: str) -> None:
    """Later walks call themselves for each level, so no level may lie deeper than they can go."""
    level = [root]
    for _ in range(_MOST_NESTING):
        level = [child for element in level for child in element]
        if not level:
            return
    raise damaged_part(document, part, f"nested more than {_MOST_NESTING} deep")


def damaged_part(document: str, part: str, what: str) -> SourceError:
    """The error for a part that cannot be parsed."""
    return SourceError(
        f"{document!r} is damaged: {part!r} is not XML that can be read ({what})",
        code="damaged",
        hint="Open it in the program that made it and save it again.",
    )
